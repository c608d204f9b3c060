// SPDX-License-Identifier: GPL-2.0-or-later
//! A relay with faults between both sides: each fault is found and named, none without it.

use x25shark_engine::relay::{Relay, Report};
use x25shark_engine::run::Run;
use x25shark_engine::stats::{Finding, Stats};

fn run(faults: &str, caller: &str) -> (Stats, Stats, Report) {
    let mut called = Run::responder(r#"{"listen":"127.0.0.1:0"}"#).unwrap();
    let mut relay = Relay::start(&format!(
        r#"{{"listen":"127.0.0.1:0","connect":"127.0.0.1:{}","faults":{{{faults}}}}}"#,
        called.port()
    ))
    .unwrap();
    let mut calling = Run::caller(&format!(
        r#"{{"connect":"127.0.0.1:{}","run":99,"window":7,{caller}}}"#,
        relay.port()
    ))
    .unwrap();
    let a = calling.join().unwrap();
    relay.stop();
    let report = relay.join().unwrap();
    called.stop();
    (a, called.join().unwrap(), report)
}

const LOAD: &str = r#""calls":40,"circuits":4,"messages":5,"message_length":[4096,4096],
    "late_ms":60000"#;

fn kinds<'a>(a: &'a Stats, b: &'a Stats) -> Vec<&'a str> {
    let mut kinds: Vec<_> = a.findings.iter().chain(&b.findings).map(|f| f.kind.as_ref()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

#[test]
fn without_faults_nothing_is_found() {
    let (a, b, report) = run("", LOAD);
    assert_eq!(kinds(&a, &b), Vec::<&str>::new());
    assert_eq!((a.total.calls_completed, a.total.messages_verified), (40, 200));
    assert_eq!(report.connections, 40);
    assert_eq!(report.octets, a.total.wire_octets_sent + a.total.wire_octets_received);
}

#[test]
fn every_damaged_octet_is_found() {
    // 200 messages of 4096 octets, both ways: about 16 octets of 1.6 million.
    let (a, b, report) = run(r#""corrupt":1e-5,"seed":4"#, LOAD);
    let damaged = report.injected.iter().filter(|i| i.kind == "corrupt").count() as u64;
    assert!(damaged > 3, "the relay damaged {damaged} octets");
    assert_eq!(a.total.corrupted_octets, damaged, "{:?}", a.findings);
    assert!(a.total.corrupted_messages >= 1 && a.total.corrupted_messages <= damaged);
    assert_eq!(kinds(&a, &b), ["corrupted"]);
}

#[test]
fn a_dropped_packet_is_a_lost_packet() {
    let (a, b, report) = run(r#""drop":[777]"#, LOAD);
    assert_eq!(report.injected.len(), 1);
    let lost = a.total.lost_packets + b.total.lost_packets + a.total.lost_messages;
    assert!(lost >= 1, "{:?} {:?}", a.findings, b.findings);
    assert!(kinds(&a, &b).iter().any(|k| *k == "packet lost" || *k == "lost"));
    assert_eq!(a.total.duplicated_packets + b.total.duplicated_packets, 0);
    assert_eq!(a.total.corrupted_messages + a.total.mixed_up_messages, 0);
}

#[test]
fn a_doubled_packet_is_a_duplicate() {
    let (a, b, report) = run(r#""duplicate":[500]"#, LOAD);
    assert_eq!(report.injected.len(), 1);
    assert_eq!(a.total.duplicated_packets + b.total.duplicated_packets, 1);
    assert_eq!(a.total.lost_packets + b.total.lost_packets, 0);
    assert_eq!(a.total.corrupted_messages + a.total.mixed_up_messages, 0);
}

#[test]
fn swapped_data_is_named_with_the_other_call() {
    let (a, b, report) = run(r#""swap":[600]"#, LOAD);
    assert_eq!(report.injected.len(), 2, "{:?}", report.injected);
    assert_eq!(a.total.mixed_up_messages, 2, "{:?}", a.findings);
    assert_eq!(kinds(&a, &b), ["mixed up"]);
    let calls: Vec<u32> = a.findings.iter().map(|f| f.call).collect();
    for (finding, other) in a.findings.iter().zip([calls[1], calls[0]]) {
        assert!(finding.text.contains(&format!("data of call {other} ")), "{}", finding.text);
    }
}

#[test]
fn swapped_whole_messages_are_named_too() {
    let load = r#""calls":40,"circuits":4,"messages":5,"message_length":[4096,4096],
        "packet_size":4096"#;
    let (a, _, report) = run(r#""swap":[100]"#, load);
    assert_eq!(report.injected.len(), 2);
    assert_eq!(a.total.mixed_up_messages, 2, "{:?}", a.findings);
}

#[test]
fn a_call_held_up_by_a_second_is_late() {
    let load = LOAD.replace("60000", "900");
    let (a, b, report) = run(r#""delay_call":11,"delay_call_ms":1000"#, &load);
    assert_eq!(report.injected.len(), 1);
    assert_eq!(kinds(&a, &b), ["late"]);
    let named = |f: &Finding| f.text.contains("call set-up took 1");
    assert!(a.findings.iter().any(named), "{:?}", a.findings);
    assert_eq!(a.total.calls_completed, 40);
}

#[test]
fn open_loop_latency_counts_from_the_schedule() {
    // 5 ms each way and one stall of 1 s in 8 s. Round trip: 10 ms. Messages due during the stall
    // wait for its end: of 8 s, a share (1 - x) / 8 waits longer than x seconds, so p99.9 lies at
    // 1 - 0.008 s above the 10 ms, give or take what the machine adds.
    let faults = r#""delay_ms":5,"stall_at_ms":4000,"stall_ms":1000"#;
    let load = r#""circuits":8,"messages":1000000,"message_length":[128,128],"duration_ms":8000,
        "late_ms":60000,"depth":4000,"timeout_ms":20000,"message_rate":"#;
    let (a, _, _) = run(faults, &format!("{load}50"));
    let p50 = a.message.percentile(50.0) as f64 / 1e6;
    let p999 = a.message.percentile(99.9) as f64 / 1e6;
    // Idle: 10.5 and 1008 ms. The upper bounds leave room for a machine under full load.
    assert!((10.0..300.0).contains(&p50), "p50 {p50} ms");
    assert!((900.0..3000.0).contains(&p999), "p99.9 {p999} ms");
    assert!(a.total.messages_verified > 1500);
}

#[test]
fn a_caller_that_waits_for_open_calls_does_not_compute() {
    // Connections are taken, and nothing is ever answered.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let config = format!(
        r#"{{"connect": "{}", "rate": 50, "duration_ms": 100, "circuits": 10, "timeout_ms": 1500}}"#,
        silent.local_addr().unwrap()
    );
    let stats = Run::caller(&config).unwrap().join().unwrap();
    assert_eq!(stats.total.calls_failed, stats.total.calls_started);
    assert!(stats.cpu_user_ns + stats.cpu_system_ns < 700_000_000, "it span while it waited");
}
