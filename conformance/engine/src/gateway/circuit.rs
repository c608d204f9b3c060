// SPDX-License-Identifier: GPL-2.0-or-later
//! One virtual call that carries datagrams: the DTE's side of X.25 clauses 4 and 5, without sockets.
//!
//! A datagram is a complete packet sequence: full packets with M bit, the last one without
//! (X.25 4.3.4, RFC 1356 3.4).

use super::config::LONGEST;
use super::encapsulation::{Carries, Family};
use super::report::CircuitReport;
use crate::flow::Flow;
use crate::wire::{self, Address, CallPacket, FlowParameters, Head, Modulo, Packet, Writer};

const MILLISECOND: u64 = 1_000_000;
/// T22 and T23, here without repetition: an answer that late does not come any more.
const ANSWER: u64 = 10_000 * MILLISECOND;
/// The longest prefix of the null encapsulation: SNAP.
const PREFIX: usize = 6;

/// Clearing cause (X.25 5.2.4, table 5-7).
const DTE_ORIGINATED: u8 = 0;
/// Diagnostics (X.25 Annex E, ISO/IEC 8208 table 18).
const INVALID_P_S: u8 = 1;
const INVALID_P_R: u8 = 2;
const INVALID_TYPE: u8 = 32;
const TIMER_EXPIRED: u8 = 48;
const FACILITY_NOT_ALLOWED: u8 = 65;
const TOO_LONG: u8 = 39;
const UNKNOWN_PROTOCOL: u8 = 249;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A connection without a Call yet (p1).
    Ready,
    /// Call Request sent (p2).
    Calling,
    /// p4, d1.
    Data,
    /// Reset Request sent (d2).
    Resetting,
    /// Clear Request sent (p6).
    Clearing,
    Ended,
}

/// What a packet meant to the gateway.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    Nothing,
    Up,
    Datagram(Vec<u8>),
    /// A unit that is not a datagram of this circuit's protocol, or is too long.
    NotUnderstood,
    TooLong,
    Reset(String),
    Refused(String),
    /// By the network, or for an error.
    Cleared(String),
    /// By the other gateway, or as this one asked.
    Ended,
}

#[derive(Debug)]
pub struct Circuit {
    pub phase: Phase,
    pub carries: Carries,
    pub peer: usize,
    /// XOT octets to be sent.
    pub out: Vec<u8>,
    pub report: CircuitReport,
    /// When something that is waited for is given up.
    pub deadline: u64,
    pub last_used: u64,
    flow: Flow,
    lcn: u16,
    asked: FlowParameters,
    outgoing: Vec<u8>,
    sent: usize,
    incoming: Vec<u8>,
    overlong: bool,
    /// The last packet ended a sequence: its acknowledgement waits for nothing.
    ended_sequence: bool,
}

impl Circuit {
    pub fn new(carries: Carries, peer: usize, modulo: Modulo, now: u64) -> Circuit {
        Circuit {
            phase: Phase::Ready,
            carries,
            peer,
            out: Vec::new(),
            report: CircuitReport { carries: carries.name(), ..CircuitReport::default() },
            deadline: u64::MAX,
            last_used: now,
            flow: Flow::new(modulo),
            lcn: 1,
            asked: FlowParameters::default(),
            outgoing: Vec::new(),
            sent: 0,
            incoming: Vec::new(),
            overlong: false,
            ended_sequence: false,
        }
    }

    fn writer(&mut self) -> Writer<'_> {
        Writer { out: &mut self.out, modulo: self.flow.modulo, lcn: self.lcn }
    }

    pub fn call(
        &mut self,
        lcn: u16,
        called: &Address,
        calling: &Address,
        asked: FlowParameters,
        deadline: u64,
    ) {
        (self.lcn, self.asked) = (lcn, asked);
        let user_data = self.carries.user_data();
        self.writer().call_request(called, calling, &asked, &user_data, false);
        (self.phase, self.deadline) = (Phase::Calling, deadline);
        self.report.called_by_us = true;
    }

    /// Answers a Call. `peer_of` finds who calls; `most` is what this gateway agrees to.
    pub fn answer(
        &mut self,
        head: Head,
        call: &CallPacket<'_>,
        most: &FlowParameters,
        peer_of: impl Fn(&Address) -> Option<usize>,
        now: u64,
    ) -> Heard {
        (self.flow, self.lcn) = (Flow::new(head.modulo), head.lcn);
        let Some(carries) = Carries::from_user_data(call.user_data) else {
            let why = format!("protocol identifier {:02x?} is not known", call.user_data);
            return self.refuse(UNKNOWN_PROTOCOL, why, now);
        };
        let Some(peer) = peer_of(&call.calling) else {
            return self.refuse(0, format!("{} is not a peer", call.calling), now);
        };
        let Ok(asked) = wire::flow_parameters(call.facilities, FlowParameters::default()) else {
            return self.refuse(FACILITY_NOT_ALLOWED, "invalid facility field".into(), now);
        };
        (self.carries, self.peer) = (carries, peer);
        self.report.carries = carries.name();
        // Towards 128 octets and window 2, never past them (X.25 6.12).
        let size = |size: u16| if size > 128 { size.min(most.called_size.max(128)) } else { size };
        let window = |window: u8| {
            if window > 2 {
                window.min(most.called_window.max(2)).min(self.flow.modulo.mask())
            } else {
                window
            }
        };
        let agreed = FlowParameters {
            called_size: size(asked.called_size),
            calling_size: size(asked.calling_size),
            called_window: window(asked.called_window),
            calling_window: window(asked.calling_window),
        };
        self.writer().call_accepted(&agreed);
        (self.flow.size_in, self.flow.size_out) = (agreed.calling_size, agreed.called_size);
        (self.flow.window_in, self.flow.window_out) = (agreed.calling_window, agreed.called_window);
        self.up(now)
    }

    fn up(&mut self, now: u64) -> Heard {
        (self.phase, self.deadline, self.last_used) = (Phase::Data, u64::MAX, now);
        let r = &mut self.report;
        (r.packet_size_out, r.packet_size_in) = (self.flow.size_out, self.flow.size_in);
        (r.window_out, r.window_in) = (self.flow.window_out, self.flow.window_in);
        Heard::Up
    }

    fn refuse(&mut self, diagnostic: u8, why: String, now: u64) -> Heard {
        self.clear(diagnostic, now);
        Heard::Refused(why)
    }

    /// Clears with cause 0: DTE originated.
    pub fn clear(&mut self, diagnostic: u8, now: u64) {
        self.writer().clear_request(0, diagnostic);
        (self.phase, self.deadline) = (Phase::Clearing, now + ANSWER);
    }

    /// What was waited for did not come.
    pub fn expire(&mut self, now: u64) -> Heard {
        match self.phase {
            Phase::Calling => {
                self.clear(TIMER_EXPIRED + 1, now);
                Heard::Refused("the call was not answered in time".into())
            }
            Phase::Resetting => {
                self.clear(TIMER_EXPIRED + 3, now);
                Heard::Cleared("the reset was not confirmed".into())
            }
            _ => {
                self.phase = Phase::Ended;
                Heard::Ended
            }
        }
    }

    /// Whether it could take a datagram now.
    pub fn is_free(&self) -> bool {
        self.phase == Phase::Data && self.sent == self.outgoing.len()
    }

    /// Whether a datagram is under way to the other end, as far as this one knows.
    pub fn is_under_way(&self) -> bool {
        self.sent < self.outgoing.len() || self.flow.unacknowledged() > 0
    }

    /// Whether no datagram is under way in either direction.
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Data && self.incoming.is_empty() && !self.is_under_way()
    }

    pub fn load(&mut self, datagram: &[u8], family: Family, now: u64) {
        self.outgoing = self.carries.prefix(family);
        self.outgoing.extend_from_slice(datagram);
        (self.sent, self.last_used) = (0, now);
        self.report.datagrams_out += 1;
    }

    /// Sends what the window allows; returns packets and octets of user data.
    pub fn pump(&mut self) -> (u64, u64) {
        let (mut packets, mut octets) = (0, 0);
        while self.phase == Phase::Data && self.sent < self.outgoing.len() && self.flow.may_send() {
            let end = (self.sent + usize::from(self.flow.size_out)).min(self.outgoing.len());
            let more = end < self.outgoing.len();
            let (p_s, p_r) = self.flow.next_numbers();
            let length = end - self.sent;
            Writer { out: &mut self.out, modulo: self.flow.modulo, lcn: self.lcn }
                .data(false, false, more, p_s, p_r, length);
            self.out.extend_from_slice(&self.outgoing[self.sent..end]);
            self.sent = end;
            packets += 1;
            octets += length as u64;
        }
        self.report.packets_out += packets;
        self.report.octets_out += octets;
        (packets, octets)
    }

    /// Acknowledges by itself what no Data packet has: half a window, or a whole sequence.
    pub fn acknowledge(&mut self) {
        let owed = self.flow.owed();
        if self.phase != Phase::Data || owed == 0 {
            return;
        }
        if self.ended_sequence || owed >= (self.flow.window_in / 2).max(1) {
            let p_r = self.flow.acknowledge();
            self.writer().receive_ready(p_r);
            self.ended_sequence = false;
        }
    }

    pub fn on_packet(&mut self, head: Head, packet: Packet<'_>, now: u64) -> Heard {
        if head.lcn != self.lcn || head.modulo != self.flow.modulo {
            return Heard::Nothing; // not of this circuit (X.25 5.1)
        }
        match (self.phase, packet) {
            (Phase::Calling, Packet::CallAccepted(call)) => self.on_connected(&call, now),
            (Phase::Clearing, Packet::ClearConfirmation | Packet::ClearRequest { .. }) => {
                self.phase = Phase::Ended;
                Heard::Ended
            }
            (Phase::Clearing | Phase::Ended, _) => Heard::Nothing,
            (phase, Packet::ClearRequest { cause, diagnostic }) => {
                self.writer().clear_confirmation();
                self.phase = Phase::Ended;
                let text = format!("cause {cause}, diagnostic {diagnostic}");
                if phase == Phase::Data && cause == DTE_ORIGINATED {
                    self.report.end = "cleared by the other end".into();
                    Heard::Ended
                } else if matches!(phase, Phase::Calling | Phase::Ready) {
                    Heard::Refused(text)
                } else {
                    Heard::Cleared(text)
                }
            }
            (Phase::Data | Phase::Resetting, packet) => self.in_data(packet, now),
            _ => {
                self.clear(INVALID_TYPE, now);
                Heard::Cleared("a packet that fits no call in set-up".into())
            }
        }
    }

    fn on_connected(&mut self, call: &CallPacket<'_>, now: u64) -> Heard {
        let Ok(agreed) = wire::flow_parameters(call.facilities, self.asked) else {
            self.clear(FACILITY_NOT_ALLOWED, now);
            return Heard::Refused("invalid facility field in the answer".into());
        };
        let mask = self.flow.modulo.mask();
        (self.flow.size_out, self.flow.size_in) = (agreed.calling_size, agreed.called_size);
        self.flow.window_out = agreed.calling_window.min(mask);
        self.flow.window_in = agreed.called_window.min(mask);
        self.up(now)
    }

    fn in_data(&mut self, packet: Packet<'_>, now: u64) -> Heard {
        match packet {
            Packet::ResetConfirmation if self.phase == Phase::Resetting => {
                self.restart();
                Heard::Nothing
            }
            Packet::ResetRequest { cause, diagnostic } => {
                // In d2 it is a collision, and stands for the confirmation (X.25 4.4.3.3).
                if self.phase == Phase::Data {
                    self.writer().reset_confirmation();
                }
                self.restart();
                Heard::Reset(format!("cause {cause}, diagnostic {diagnostic}"))
            }
            Packet::Interrupt(_) => {
                self.writer().interrupt_confirmation();
                Heard::Nothing
            }
            _ if self.phase == Phase::Resetting => Heard::Nothing,
            Packet::Data { q, d, m, p_s, p_r, user_data } => {
                self.last_used = now;
                self.on_data(q, d, m, p_s, p_r, user_data, now)
            }
            Packet::ReceiveReady { p_r } => self.on_ready(p_r, true, now),
            Packet::ReceiveNotReady { p_r } => self.on_ready(p_r, false, now),
            Packet::InterruptConfirmation => Heard::Nothing,
            _ => self.reset(INVALID_TYPE, now),
        }
    }

    fn on_ready(&mut self, p_r: u8, ready: bool, now: u64) -> Heard {
        match self.flow.on_ready(p_r, ready) {
            Ok(()) => Heard::Nothing,
            Err(_) => self.reset(INVALID_P_R, now),
        }
    }

    #[allow(clippy::too_many_arguments)] // the fields of a Data packet
    fn on_data(
        &mut self,
        q: bool,
        d: bool,
        m: bool,
        p_s: u8,
        p_r: u8,
        user_data: &[u8],
        now: u64,
    ) -> Heard {
        if let Err(error) = self.flow.on_data(p_s, p_r) {
            let is_p_r = error == crate::flow::FlowError::InvalidPr;
            return self.reset(if is_p_r { INVALID_P_R } else { INVALID_P_S }, now);
        }
        if user_data.len() > usize::from(self.flow.size_in) {
            return self.reset(TOO_LONG, now);
        }
        self.report.packets_in += 1;
        self.report.octets_in += user_data.len() as u64;
        self.overlong |= self.incoming.len() + user_data.len() > usize::from(LONGEST) + PREFIX;
        if !self.overlong {
            self.incoming.extend_from_slice(user_data);
        }
        self.ended_sequence |= !m || d;
        if m && user_data.len() == usize::from(self.flow.size_in) {
            return Heard::Nothing; // not full with M=1 ends a sequence all the same (X.25 4.3.4)
        }
        let unit = std::mem::take(&mut self.incoming);
        if std::mem::take(&mut self.overlong) {
            return Heard::TooLong;
        }
        match self.carries.datagram(&unit).filter(|_| !q) {
            Some(datagram) => {
                self.report.datagrams_in += 1;
                Heard::Datagram(datagram.to_vec())
            }
            None => Heard::NotUnderstood,
        }
    }

    fn reset(&mut self, diagnostic: u8, now: u64) -> Heard {
        self.writer().reset_request(0, diagnostic);
        self.drop_datagrams();
        (self.phase, self.deadline) = (Phase::Resetting, now + ANSWER);
        Heard::Reset(format!("by this gateway, diagnostic {diagnostic}"))
    }

    /// After a reset: the datagrams that were under way are lost, and no others (RFC 1356 3.8).
    fn restart(&mut self) {
        self.flow.restart();
        self.drop_datagrams();
        (self.phase, self.deadline) = (Phase::Data, u64::MAX);
        self.report.resets += 1;
    }

    fn drop_datagrams(&mut self) {
        self.sent = self.outgoing.len();
        self.incoming.clear();
        (self.overlong, self.ended_sequence) = (false, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::encapsulation::Encapsulation;
    use crate::wire::Unit;

    /// Octets of a circuit as whole packets.
    fn units(octets: &[u8]) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut rest = octets;
        while let Unit::Packet(packet, behind) = wire::next_unit(rest) {
            found.push(packet.to_vec());
            rest = behind;
        }
        assert!(rest.is_empty());
        found
    }

    fn circuit(encapsulation: Encapsulation) -> Circuit {
        Circuit::new(Carries::new(encapsulation, Family::Ipv4), 0, Modulo::M8, 0)
    }

    /// Two circuits that are up with each other.
    fn connected(encapsulation: Encapsulation, size: u16, window: u8) -> (Circuit, Circuit) {
        let flow = FlowParameters {
            called_size: size,
            calling_size: size,
            called_window: window,
            calling_window: window,
        };
        let (mut a, mut b) = (circuit(encapsulation), circuit(Encapsulation::Nlpid));
        let address = |text| Address::parse(text).unwrap();
        a.call(1, &address("21"), &address("31"), flow, u64::MAX);
        let call = units(&std::mem::take(&mut a.out)).remove(0);
        let Ok((head, Packet::CallRequest(call))) = wire::decode(&call) else { panic!() };
        assert_eq!(
            b.answer(head, &call, &flow, |from| (from == &address("31")).then_some(0), 0),
            Heard::Up
        );
        assert_eq!(pass(&mut b, &mut a), [Heard::Up]);
        (a, b)
    }

    /// Everything that one circuit has to say reaches the other; what that made of it.
    fn pass(from: &mut Circuit, to: &mut Circuit) -> Vec<Heard> {
        let packets = units(&std::mem::take(&mut from.out));
        let heard = packets.iter().map(|packet| {
            let (head, packet) = wire::decode(packet).unwrap();
            to.on_packet(head, packet, 0)
        });
        heard.filter(|heard| *heard != Heard::Nothing).collect()
    }

    fn datagram(length: usize) -> Vec<u8> {
        let mut octets: Vec<u8> = (0..length).map(|n| (n * 7) as u8).collect();
        octets[0] = 0x45;
        octets
    }

    /// Sends one datagram through the windows of both.
    fn carry(a: &mut Circuit, b: &mut Circuit, datagram: &[u8]) -> Vec<Heard> {
        a.load(datagram, Family::Ipv4, 0);
        let mut heard = Vec::new();
        for _ in 0..1000 {
            a.pump();
            heard.extend(pass(a, b));
            b.acknowledge();
            heard.extend(pass(b, a));
            if a.is_idle() {
                return heard;
            }
        }
        panic!("stuck with {heard:?}");
    }

    #[test]
    fn datagrams_of_every_length_are_whole_packet_sequences() {
        for encapsulation in [Encapsulation::Nlpid, Encapsulation::Snap, Encapsulation::Null] {
            for (size, window) in [(16, 1), (128, 2), (1024, 7)] {
                let (mut a, mut b) = connected(encapsulation, size, window);
                for length in [20, 127, 128, 129, 256, 576, 1500, 1600] {
                    let sent = datagram(length);
                    let heard = carry(&mut a, &mut b, &sent);
                    assert_eq!(heard, [Heard::Datagram(sent)], "{length} over {size}/{window}");
                }
            }
        }
    }

    #[test]
    fn the_m_bit_is_on_all_packets_but_the_last() {
        let (mut a, _) = connected(Encapsulation::Nlpid, 128, 7);
        a.load(&datagram(600), Family::Ipv4, 0);
        assert_eq!(a.pump(), (5, 600));
        let bits: Vec<_> = units(&a.out)
            .iter()
            .map(|packet| match wire::decode(packet) {
                Ok((_, Packet::Data { m, user_data, .. })) => (m, user_data.len()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(bits, [(true, 128), (true, 128), (true, 128), (true, 128), (false, 88)]);
    }

    #[test]
    fn a_window_holds_back_what_is_not_acknowledged() {
        let (mut a, _) = connected(Encapsulation::Nlpid, 128, 2);
        a.load(&datagram(600), Family::Ipv4, 0);
        assert_eq!(a.pump(), (2, 256));
        assert_eq!(a.pump(), (0, 0));
        assert!(!a.is_free());
    }

    #[test]
    fn a_reset_drops_the_datagram_that_was_under_way_and_no_other() {
        let (mut a, mut b) = connected(Encapsulation::Nlpid, 128, 2);
        a.load(&datagram(600), Family::Ipv4, 0);
        a.pump();
        assert_eq!(pass(&mut a, &mut b), []);
        b.reset(0, 0);
        assert!(matches!(pass(&mut b, &mut a)[..], [Heard::Reset(_)]));
        assert_eq!(pass(&mut a, &mut b), []);
        let next = datagram(300);
        assert_eq!(carry(&mut a, &mut b, &next), [Heard::Datagram(next)]);
    }

    #[test]
    fn a_wrong_number_is_answered_by_a_reset() {
        let (mut a, _) = connected(Encapsulation::Nlpid, 128, 2);
        let head = Head { modulo: Modulo::M8, lcn: 1 };
        let data =
            Packet::Data { q: false, d: false, m: false, p_s: 1, p_r: 0, user_data: &[0x45] };
        assert!(matches!(a.on_packet(head, data, 0), Heard::Reset(_)));
        assert_eq!(units(&a.out), [vec![0x10, 1, 0x1B, 0, INVALID_P_S]]);
    }

    #[test]
    fn an_unknown_protocol_and_a_stranger_are_refused() {
        for (user_data, from, diagnostic) in
            [(&[0x3F][..], Some(0), UNKNOWN_PROTOCOL), (&[0xCC], None, 0)]
        {
            let mut b = circuit(Encapsulation::Nlpid);
            let call = CallPacket { user_data, ..CallPacket::default() };
            let head = Head { modulo: Modulo::M8, lcn: 1 };
            let heard = b.answer(head, &call, &FlowParameters::default(), |_| from, 0);
            assert!(matches!(heard, Heard::Refused(_)));
            assert_eq!(units(&b.out), [vec![0x10, 1, 0x13, 0, diagnostic]]);
        }
    }

    #[test]
    fn units_that_are_too_long_or_no_datagrams_are_dropped() {
        let (mut a, mut b) = connected(Encapsulation::Nlpid, 1024, 7);
        assert_eq!(carry(&mut a, &mut b, &datagram(1700)), [Heard::TooLong]);
        assert_eq!(carry(&mut a, &mut b, &[0x60; 100]), [Heard::NotUnderstood]);
        let good = datagram(1600);
        assert_eq!(carry(&mut a, &mut b, &good), [Heard::Datagram(good)]);
    }

    #[test]
    fn what_is_not_answered_in_time_is_given_up() {
        let mut a = circuit(Encapsulation::Nlpid);
        let address = Address::parse("21").unwrap();
        a.call(1, &address, &address, FlowParameters::default(), 5);
        assert!(matches!(a.expire(5), Heard::Refused(_)));
        assert_eq!(a.phase, Phase::Clearing);
        assert_eq!(a.expire(ANSWER + 5), Heard::Ended);
    }
}
