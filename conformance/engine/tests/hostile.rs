// SPDX-License-Identifier: GPL-2.0-or-later
//! Peers that send anything: the engine goes on, names what it got, and never dies.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;
use x25shark_engine::config::Random;
use x25shark_engine::run::Run;
use x25shark_engine::wire::{Address, FlowParameters, Modulo, Writer};

/// A packet of any kind with any numbers, mostly well framed, sometimes damaged.
fn packet(random: &mut Random, modulo: Modulo, out: &mut Vec<u8>) {
    let from = out.len();
    let mut writer = Writer { out, modulo, lcn: 1 };
    let (a, b) = (random.word() as u8 & modulo.mask(), random.word() as u8 & modulo.mask());
    let length = random.below(200) as usize;
    match random.below(14) {
        0 => writer.receive_ready(a),
        1 => writer.receive_not_ready(a),
        2 => writer.interrupt(&[1; 32][..1 + random.below(31) as usize]),
        3 => writer.interrupt_confirmation(),
        4 => writer.reset_request(a, b),
        5 => writer.reset_confirmation(),
        6 => writer.clear_confirmation(),
        7 => writer.call_accepted(&FlowParameters::default()),
        8 if random.below(8) == 0 => writer.clear_request(a, b),
        _ => {
            // Numbers that are often the right ones keep the circuit alive for longer.
            let (p_s, p_r) = if random.below(2) == 0 { (a & 1, 0) } else { (a, b) };
            writer.data(a & 1 == 0, b & 1 == 0, random.below(2) == 0, p_s, p_r, length);
            out.extend((0..length).map(|_| random.word() as u8));
        }
    }
    if random.below(30) == 0 {
        let at = from + random.below((out.len() - from) as u64) as usize;
        out[at] = random.word() as u8;
    }
}

fn babble(random: &mut Random, stream: &mut TcpStream, modulo: Modulo) {
    stream.set_nodelay(true).unwrap();
    let mut out = Vec::new();
    for _ in 0..random.below(60) {
        packet(random, modulo, &mut out);
    }
    // In pieces of any size, so that units are cut everywhere.
    for piece in out.chunks(1 + random.below(700) as usize) {
        if stream.write_all(piece).is_err() {
            return;
        }
    }
}

fn finish(stream: &mut TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(50)));
    let mut sink = [0; 4096];
    while stream.read(&mut sink).is_ok_and(|n| n > 0) {}
}

#[test]
fn a_hostile_caller_does_not_stop_the_called_side() {
    for mode in ["echo", "sink", "source"] {
        let mut called = Run::responder(&format!(
            r#"{{"listen":"127.0.0.1:0","mode":"{mode}","messages":3,"max_packet_size":256}}"#
        ))
        .unwrap();
        let port = called.port();
        let mut random = Random(11);
        for round in 0..400 {
            let modulo = if round % 2 == 0 { Modulo::M8 } else { Modulo::M128 };
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let mut out = Vec::new();
            let address = Address::parse("21").unwrap();
            let flow = FlowParameters {
                called_size: 16 << random.below(9),
                calling_size: 16 << random.below(9),
                called_window: 1 + random.below(7) as u8,
                calling_window: 1 + random.below(7) as u8,
            };
            if random.below(10) > 0 {
                Writer { out: &mut out, modulo, lcn: 1 }.call_request(
                    &address,
                    &address,
                    &flow,
                    &[],
                    false,
                );
            }
            let _ = stream.write_all(&out);
            babble(&mut random, &mut stream, modulo);
            if round % 3 > 0 {
                finish(&mut stream);
            }
        }
        // It still answers an honest caller.
        let mut calling = Run::caller(&format!(
            r#"{{"connect":"127.0.0.1:{port}","calls":20,"run":5,"mode":"{mode}","messages":3}}"#
        ))
        .unwrap();
        let a = calling.join().unwrap();
        assert_eq!(a.total.calls_completed, 20, "{mode}: {:?}", a.failures);
        called.stop();
        let b = called.join().unwrap();
        assert!(b.total.protocol_errors > 50, "{mode}: {:?}", b.protocol_errors);
        assert!(b.total.calls_accepted > 300);
    }
}

#[test]
fn a_hostile_called_side_does_not_stop_the_caller() {
    for modulo in [8, 128] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let mut random = Random(modulo);
            let kind = if modulo == 8 { Modulo::M8 } else { Modulo::M128 };
            for _ in 0..300 {
                let Ok((mut stream, _)) = listener.accept() else { return };
                let mut out = Vec::new();
                if random.below(10) > 0 {
                    Writer { out: &mut out, modulo: kind, lcn: 1 }
                        .call_accepted(&FlowParameters::default());
                }
                let _ = stream.write_all(&out);
                babble(&mut random, &mut stream, kind);
                finish(&mut stream);
            }
        });
        let mut calling = Run::caller(&format!(
            r#"{{"connect":"127.0.0.1:{port}","calls":300,"circuits":3,"modulo":{modulo},
            "messages":4,"depth":2,"timeout_ms":100,"interrupt_every":2,"reset_every":3}}"#
        ))
        .unwrap();
        let a = calling.join().unwrap();
        server.join().unwrap();
        assert_eq!(a.total.calls_started, 300);
        assert_eq!(a.total.calls_completed + a.total.calls_failed, 300);
        assert!(a.total.protocol_errors > 50, "{:?}", a.protocol_errors);
        assert!(a.failures.values().sum::<u64>() == a.total.calls_failed);
    }
}

#[test]
fn a_caller_that_never_reads_is_given_up() {
    let mut called = Run::responder(r#"{"listen":"127.0.0.1:0"}"#).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", called.port())).unwrap();
    let address = Address::parse("21").unwrap();
    let mut out = Vec::new();
    let mut writer = Writer { out: &mut out, modulo: Modulo::M8, lcn: 1 };
    writer.call_request(&address, &address, &FlowParameters::default(), &[], false);
    stream.write_all(&out).unwrap();
    out.clear();
    for _ in 0..10_000 {
        Writer { out: &mut out, modulo: Modulo::M8, lcn: 1 }.interrupt(&[1]);
    }
    // Each Interrupt is answered; nobody takes the answers.
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut written = 0usize;
    while written < 400 << 20 {
        match stream.write_all(&out) {
            Ok(()) => written += out.len(),
            Err(_) => break,
        }
    }
    assert!(written < 400 << 20, "the called side took {written} octets without an end");
    called.stop();
    called.join().unwrap();
}

/// A router that only sends RR, faster than anybody reads: the run ends on time, and it is the
/// tester that ends the connection.
#[test]
fn a_peer_that_never_stops_sending_does_not_keep_the_run() {
    const MOST: usize = 3 << 30;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut out = Vec::new();
        for _ in 0..100_000 {
            Writer { out: &mut out, modulo: Modulo::M8, lcn: 1 }.receive_ready(0);
        }
        let mut sent = 0;
        while sent < MOST && stream.write_all(&out).is_ok() {
            sent += out.len();
        }
        sent
    });
    let mut calling = Run::caller(&format!(
        r#"{{"connect":"127.0.0.1:{port}","duration_ms":200,"calls":1,"timeout_ms":200}}"#
    ))
    .unwrap();
    let a = calling.join().unwrap();
    assert_eq!((a.total.calls_started, a.total.calls_failed), (1, 1));
    assert!(server.join().unwrap() < MOST, "the caller read all that came");
}

/// The answer to a call may be waited for less than any other.
#[test]
fn a_call_that_is_not_answered_has_a_time_of_its_own() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut calling = Run::caller(&format!(
        r#"{{"connect":"127.0.0.1:{port}","calls":1,"timeout_ms":3600000,"setup_timeout_ms":50}}"#
    ))
    .unwrap();
    let a = calling.join().unwrap();
    assert_eq!(a.failures.get("timeout: call not answered"), Some(&1));
}

/// Where nobody listens the attempts become fewer, and do not cease.
#[test]
fn a_router_that_is_not_there_is_asked_less_and_less() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut calling = Run::caller(&format!(
        r#"{{"connect":"127.0.0.1:{port}","duration_ms":1500,"circuits":4}}"#
    ))
    .unwrap();
    let a = calling.join().unwrap();
    // 16 at once; then in 1.5 s no circuit waits 2, 4 ... 512 ms more than ten times.
    assert!((20..=70).contains(&a.total.calls_failed), "{}", a.total.calls_failed);
}
