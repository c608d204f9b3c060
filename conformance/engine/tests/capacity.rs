// SPDX-License-Identifier: GPL-2.0-or-later
//! The relay as a router of known capacity: what it is told to be is what a load meets.

use x25shark_engine::relay::{Relay, Report};
use x25shark_engine::run::Run;
use x25shark_engine::stats::Stats;

fn run(relay: &str, caller: &str) -> (Stats, Report) {
    let mut called = Run::responder(r#"{"listen":"127.0.0.1:0"}"#).unwrap();
    let mut between = Relay::start(&format!(
        r#"{{"listen":"127.0.0.1:0","connect":"127.0.0.1:{}",{relay}}}"#,
        called.port()
    ))
    .unwrap();
    let mut calling = Run::caller(&format!(
        r#"{{"connect":"127.0.0.1:{}","window":7,"late_ms":60000,{caller}}}"#,
        between.port()
    ))
    .unwrap();
    let stats = calling.join().unwrap();
    between.stop();
    let report = between.join().unwrap();
    called.stop();
    called.join().unwrap();
    (stats, report)
}

/// Seconds from the start to the end of the run.
fn seconds(stats: &Stats) -> f64 {
    (stats.finished_ns - stats.start_ns) as f64 / 1e9
}

const ONE_PACKET: &str = r#""message_length":[100,100]"#;

#[test]
fn messages_take_their_time_in_the_slower_direction() {
    let load = format!(r#""calls":4,"circuits":4,"messages":100,"depth":7,{ONE_PACKET}"#);
    for rate in ["[1000,0]", "[0,1000]", "[1000,5000]"] {
        let (stats, report) = run(&format!(r#""capacity":{{"rate":{rate}}}"#), &load);
        assert_eq!(stats.total.messages_verified, 400, "{:?}", stats.failures);
        assert_eq!(report.overflowed, 0);
        assert!(seconds(&stats) >= 0.399, "{rate}: {} s", seconds(&stats));
    }
}

#[test]
fn a_message_of_many_packets_is_served_once() {
    let load = r#""calls":1,"messages":20,"message_length":[1280,1280]"#;
    let (stats, report) = run(r#""capacity":{"rate":[100,0]}"#, load);
    assert_eq!(stats.total.messages_verified, 20);
    assert_eq!((report.data_packets, report.messages), (400, 40));
    assert!(seconds(&stats) >= 0.199, "{} s", seconds(&stats));
}

#[test]
fn what_finds_no_room_is_held_or_dropped() {
    let load = format!(r#""calls":8,"circuits":8,"messages":20,"depth":7,{ONE_PACKET}"#);
    let held = r#""capacity":{"rate":[2000,0],"queue":3}"#;
    let (stats, report) = run(held, &load);
    assert_eq!((stats.total.messages_verified, report.overflowed), (160, 0));
    assert_eq!(stats.total.integrity_errors(), 0, "{:?}", stats.findings);
    assert!(seconds(&stats) >= 0.079, "{} s", seconds(&stats));

    let load = format!(r#"{load},"timeout_ms":1000"#);
    let dropped = r#""capacity":{"rate":[20,0],"queue":3,"overflow":"drop"}"#;
    let (stats, report) = run(dropped, &load);
    assert!(report.overflowed > 0);
    assert!(stats.total.messages_verified < 160);
}

#[test]
fn calls_have_a_rate_of_their_own() {
    let load = format!(r#""calls":40,"circuits":40,{ONE_PACKET}"#);
    let (stats, _) = run(r#""capacity":{"calls":100,"call_queue":50}"#, &load);
    assert_eq!(stats.total.calls_completed, 40, "{:?}", stats.failures);
    assert!(stats.call_setup.percentile(100.0) >= 399_000_000);
    assert!(stats.message.count() == 40);
}

#[test]
fn every_so_many_packets_one_is_dropped() {
    let load = format!(r#""calls":1,"messages":50,"timeout_ms":1000,{ONE_PACKET}"#);
    let (_, report) = run(r#""faults":{"drop_every":20}"#, &load);
    assert_eq!(report.injected.first().map(|i| (i.kind, i.packet)), Some(("drop", 20)));
}

#[test]
fn a_lower_window_is_what_both_sides_agree_to() {
    let load = format!(r#""calls":3,{ONE_PACKET}"#);
    let (stats, _) = run(r#""faults":{"window":3}"#, &load);
    assert_eq!((stats.negotiated.window_out.max, stats.negotiated.window_in.max), (3, 3));
    assert_eq!(stats.total.calls_completed, 3, "{:?}", stats.failures);
}

#[test]
fn a_smaller_segment_is_what_the_kernel_says() {
    let load = format!(r#""calls":3,{ONE_PACKET}"#);
    let (plain, _) = run(r#""faults":{}"#, &load);
    assert_eq!(plain.tcp.connections, 3);
    assert!(plain.tcp.segment.min > 1000, "{:?}", plain.tcp);
    let (clamped, _) = run(r#""faults":{"mss":1000}"#, &load);
    assert!(clamped.tcp.segment.max <= 1000, "{:?}", clamped.tcp);
    let (own, _) = run(r#""faults":{}"#, &format!(r#"{load},"mss":900,"buffers":65536"#));
    assert!(own.tcp.segment.max <= 900, "{:?}", own.tcp);
}

#[test]
fn a_standstill_can_come_again() {
    // 100 ms of each 200: what is sent in the first half of a period waits for the second.
    let load = r#""calls":1,"messages":100000,"message_length":[100,100],"duration_ms":1000,
        "message_rate":100,"depth":4000"#;
    let faults = r#""faults":{"stall_ms":100,"stall_every_ms":200}"#;
    let (stats, _) = run(faults, load);
    assert!(stats.total.messages_verified > 20);
    assert!(stats.message.percentile(95.0) >= 60_000_000, "{}", stats.message.percentile(95.0));
}

#[test]
fn configuration_errors_name_the_field() {
    for (json, word) in [
        (r#""capacity":{"rate":[-1,0]}"#, "rate (A to B)"),
        (r#""capacity":{"calls":1e9}"#, "calls"),
        (r#""capacity":{"queue":9999999}"#, "queue"),
        (r#""faults":{"stall_ms":9,"stall_every_ms":9}"#, "stall_every_ms"),
        (r#""faults":{"mss":10}"#, "mss"),
        (r#""faults":{"window":200}"#, "window"),
    ] {
        let text = format!(r#"{{"listen":"127.0.0.1:0","connect":"127.0.0.1:1",{json}}}"#);
        let error = Relay::start(&text).err().unwrap();
        assert!(error.contains(word), "{json}: {error}");
    }
}
