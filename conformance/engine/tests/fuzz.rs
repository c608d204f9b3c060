// SPDX-License-Identifier: GPL-2.0-or-later
//! The decoder against ten million inputs: random octets, and valid packets with damage. It must
//! answer each one, never panic, and what it decodes must be inside the input.

use x25shark_engine::config::Random;
use x25shark_engine::record::Checker;
use x25shark_engine::wire::{
    self, Address, FlowParameters, Modulo, Packet, Unit, Writer, flow_parameters, next_unit,
};

const INPUTS: u32 = 10_000_000;

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for modulo in [Modulo::M8, Modulo::M128] {
        for kind in 0..12 {
            let mut out = Vec::new();
            let mut writer = Writer { out: &mut out, modulo, lcn: 0x123 };
            let address = Address::parse("310012345678901").unwrap();
            match kind {
                0 => {
                    writer.call_request(&address, &address, &FlowParameters::default(), &[1], true)
                }
                1 => writer.call_accepted(&FlowParameters::default()),
                2 => {
                    writer.data(true, false, true, 3, 5, 16);
                    out.extend_from_slice(&[7; 16]);
                }
                3 => writer.receive_ready(4),
                4 => writer.receive_not_ready(4),
                5 => writer.interrupt(&[9; 32]),
                6 => writer.interrupt_confirmation(),
                7 => writer.reset_request(5, 1),
                8 => writer.reset_confirmation(),
                9 => writer.clear_request(0, 1),
                10 => writer.clear_confirmation(),
                _ => writer.data(false, true, false, 0, 0, 0),
            }
            seeds.push(out);
        }
    }
    seeds
}

#[test]
fn written_packets_are_read_back() {
    for octets in seeds() {
        let Unit::Packet(packet, rest) = next_unit(&octets) else { panic!("{octets:?}") };
        assert!(rest.is_empty());
        let (head, packet) = wire::decode(packet).unwrap();
        assert_eq!(head.lcn, 0x123);
        match packet {
            Packet::CallRequest(call) => {
                assert_eq!(call.called.to_string(), "310012345678901");
                assert_eq!(call.calling, call.called);
                assert_eq!((call.d, call.user_data), (true, &[1u8][..]));
                assert_eq!(
                    flow_parameters(call.facilities, FlowParameters::default()),
                    Ok(FlowParameters::default())
                );
            }
            Packet::Data { q: true, d, m, p_s, p_r, user_data } => {
                assert_eq!((d, m, p_s, p_r, user_data), (false, true, 3, 5, &[7u8; 16][..]));
            }
            Packet::ReceiveReady { p_r } | Packet::ReceiveNotReady { p_r } => assert_eq!(p_r, 4),
            _ => {}
        }
    }
}

#[test]
fn the_example_of_the_standard_decodes() {
    // Modulo 8, LCI 1, called 12345, calling 98765, size 128/128, window 2/2, data 01 00 00 00.
    let octets = [
        0x10, 0x01, 0x0B, 0x55, 0x12, 0x34, 0x59, 0x87, 0x65, 0x06, 0x42, 0x07, 0x07, 0x43, 0x02,
        0x02, 0x01, 0x00, 0x00, 0x00,
    ];
    let (head, Packet::CallRequest(call)) = wire::decode(&octets).unwrap() else { panic!() };
    assert_eq!((head.lcn, head.modulo), (1, Modulo::M8));
    assert_eq!(call.called.to_string(), "12345");
    assert_eq!(call.calling.to_string(), "98765");
    assert_eq!(call.user_data, [1, 0, 0, 0]);
}

#[test]
fn ten_million_inputs() {
    let seeds = seeds();
    let mut random = Random(20_26);
    let mut buffer = Vec::with_capacity(4200);
    let (mut packets, mut errors) = (0u64, 0u64);
    for _ in 0..INPUTS {
        buffer.clear();
        if random.below(4) == 0 {
            let length = random.below(64);
            buffer.extend((0..length).map(|_| random.word() as u8));
        } else {
            buffer.extend_from_slice(&seeds[random.below(seeds.len() as u64) as usize]);
            for _ in 0..=random.below(4) {
                if buffer.is_empty() {
                    break;
                }
                let at = random.below(buffer.len() as u64) as usize;
                match random.below(4) {
                    0 => buffer.truncate(at),
                    1 => buffer.insert(at, random.word() as u8),
                    _ => buffer[at] = random.word() as u8,
                }
            }
        }
        // As a packet, and as a stream of units.
        match wire::decode(&buffer) {
            Ok((_, packet)) => {
                packets += 1;
                if let Packet::CallRequest(call) | Packet::CallAccepted(call) = packet {
                    assert!(call.called.digits().len() <= 15 && call.user_data.len() <= 128);
                    let _ = flow_parameters(call.facilities, FlowParameters::default());
                }
            }
            Err(_) => errors += 1,
        }
        let mut rest: &[u8] = &buffer;
        while let Unit::Packet(packet, behind) = next_unit(rest) {
            assert!(behind.len() < rest.len() && packet.len() >= 3);
            let _ = wire::decode(packet);
            rest = behind;
        }
    }
    assert!(packets > 1_000_000 && errors > 1_000_000, "{packets} packets, {errors} errors");
}

/// What the coverage-guided fuzzer found worth keeping (`make fuzz-engine`), once each.
#[test]
fn the_kept_corpus() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/decode");
    let (mut packets, mut inputs) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let octets = std::fs::read(entry.unwrap().path()).unwrap();
        packets += u32::from(wire::decode(&octets).is_ok());
        let mut rest: &[u8] = &octets;
        while let Unit::Packet(packet, behind) = next_unit(rest) {
            packets += u32::from(wire::decode(packet).is_ok());
            rest = behind;
        }
        inputs += 1;
    }
    assert!(inputs > 100 && packets > 0, "{inputs} inputs, {packets} packets");
}

#[test]
fn the_record_checker_survives_anything() {
    let mut random = Random(7);
    for _ in 0..20_000 {
        let mut checker = Checker::default();
        for _ in 0..random.below(4) {
            let length = random.below(80);
            let octets: Vec<u8> = (0..length).map(|_| random.word() as u8).collect();
            checker.push(&octets, None, 1);
        }
        checker.finish(None, None);
    }
}
