// SPDX-License-Identifier: GPL-2.0-or-later
//! The decoder under a coverage-guided fuzzer: `make fuzz-engine`.
//!
//! An input is a stream of XOT units as a router could send them. Every unit is answered with a
//! packet or an error; what carries no facilities is written again octet for octet; and test
//! records are judged the same in whatever pieces they come.
#![no_main]

use libfuzzer_sys::fuzz_target;
use x25shark_engine::record::{self, Checker};
use x25shark_engine::wire::{
    self, FlowParameters, Packet, Unit, Writer, XOT_HEADER, flow_parameters, next_unit,
};

fuzz_target!(|stream: &[u8]| {
    let mut rest = stream;
    let mut checker = Checker::default();
    while let Unit::Packet(packet, behind) = next_unit(rest) {
        assert!(behind.len() < rest.len());
        if let Some(user_data) = read(packet) {
            checker.push(user_data, None, 0);
        }
        rest = behind;
    }
    let _ = checker.finish(None, None);
    // Octets that no header announces reach the decoder and the records as well.
    let _ = read(stream);
    let mut pieces = Checker::default();
    for piece in stream.chunks(7) {
        pieces.push(piece, None, 0);
    }
    assert_eq!(pieces.finish(None, None), record::check(stream));
});

/// Decodes a packet and checks what came of it; the user data of a Data packet.
fn read(octets: &[u8]) -> Option<&[u8]> {
    let (head, packet) = wire::decode(octets).ok()?;
    let mut again = Vec::new();
    let mut writer = Writer { out: &mut again, modulo: head.modulo, lcn: head.lcn };
    let mut data: Option<&[u8]> = None;
    // Parts that only one way of writing is left for; the others have octets of free choice.
    match packet {
        Packet::CallRequest(call) | Packet::CallAccepted(call) => {
            assert!(call.called.digits().len() <= 15 && call.calling.digits().len() <= 15);
            assert!(call.user_data.len() <= 128);
            let _ = flow_parameters(call.facilities, FlowParameters::default());
            return None;
        }
        Packet::Data { q, d, m, p_s, p_r, user_data } => {
            writer.data(q, d, m, p_s, p_r, user_data.len());
            again.extend_from_slice(user_data);
            data = Some(user_data);
        }
        Packet::Interrupt(user_data) => writer.interrupt(user_data),
        Packet::ResetRequest { cause, diagnostic } => writer.reset_request(cause, diagnostic),
        Packet::InterruptConfirmation => writer.interrupt_confirmation(),
        Packet::ResetConfirmation => writer.reset_confirmation(),
        Packet::ReceiveReady { p_r } => writer.receive_ready(p_r),
        Packet::ReceiveNotReady { p_r } => writer.receive_not_ready(p_r),
        Packet::Reject { .. } | Packet::ClearRequest { .. } | Packet::ClearConfirmation => {
            return None;
        }
    }
    let written = &again[XOT_HEADER..];
    assert_eq!(wire::decode(written), Ok((head, packet)));
    if data.is_some() {
        // Q and D are in the first octet; everything else of it is the format and the channel.
        assert_eq!(written, octets);
    }
    data
}
