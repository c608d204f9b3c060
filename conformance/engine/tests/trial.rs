// SPDX-License-Identifier: GPL-2.0-or-later
//! Trials: what is offered, what arrives, and how it is counted.

use x25shark_engine::relay::Relay;
use x25shark_engine::run::Run;
use x25shark_engine::stats::Stats;

/// A caller's and a responder's results; `relay` may stand between them.
fn run(run: u32, mode: &str, trial: &str, more: &str, relay: Option<&str>) -> (Stats, Stats) {
    let mut called =
        Run::responder(&format!(r#"{{"listen":"127.0.0.1:0","mode":"{mode}","run":{run}}}"#))
            .unwrap();
    let mut port = called.port();
    let between = relay.map(|json| {
        Relay::start(&format!(r#"{{"listen":"127.0.0.1:0","connect":"127.0.0.1:{port}",{json}}}"#))
            .unwrap()
    });
    if let Some(relay) = &between {
        port = relay.port();
    }
    let mut calling = Run::caller(&format!(
        r#"{{"connect":"127.0.0.1:{port}","mode":"{mode}","run":{run},"window":7,"calls":4,
        "circuits":4,"message_length":[100,100],"trial":{trial}{more}}}"#
    ))
    .unwrap();
    let a = calling.join().unwrap();
    called.stop();
    (a, called.join().unwrap())
}

#[test]
fn what_is_offered_arrives_in_both_modes() {
    let trial = r#"{"rate":1000,"duration_ms":300,"grace_ms":60000}"#;
    for (number, mode, more) in [
        (501, "sink", ""),
        (502, "echo", ""),
        (503, "sink", r#","threads":2"#),
        (504, "echo", r#","threads":2"#),
    ] {
        let (a, b) = run(number, mode, trial, more, None);
        let verifier = if mode == "sink" { &b } else { &a };
        assert_eq!(a.trial.offered, 300, "{mode} {more}");
        assert_eq!((verifier.trial.delivered, verifier.trial.late), (300, 0), "{mode} {more}");
        assert_eq!(verifier.trial.delay.count(), 300);
        assert_eq!(verifier.trial.parts.iter().map(|p| p.count).sum::<u64>(), 300);
        assert_eq!((a.total.calls_completed, a.total.calls_failed), (4, 0), "{:?}", a.failures);
        assert_eq!(a.total.integrity_errors() + b.total.integrity_errors(), 0);
    }
}

#[test]
fn a_flood_sends_what_the_windows_allow() {
    let trial = r#"{"rate":0,"duration_ms":200,"grace_ms":60000}"#;
    let (a, b) = run(511, "sink", trial, "", None);
    assert!(a.trial.offered > 0);
    assert_eq!(a.trial.offered, a.total.messages_sent);
    assert_eq!(b.trial.delivered, a.trial.offered);
    assert_eq!(b.trial.delay.count(), 0);
}

#[test]
fn a_burst_is_due_at_once() {
    let trial = r#"{"rate":0,"duration_ms":60000,"grace_ms":0,"burst":150}"#;
    let (a, b) = run(512, "sink", trial, "", None);
    assert_eq!((a.trial.offered, b.trial.delivered, b.trial.late), (150, 150, 0));
}

#[test]
fn a_slow_path_delivers_late_and_holds_back() {
    // 2000 messages in half a second through a path of 100 per second: 0.5 s of its work is done in
    // time, what comes later than the grace is late, and most never leaves the tester.
    let trial = r#"{"rate":4000,"duration_ms":500,"grace_ms":100}"#;
    let relay = r#""capacity":{"rate":[100,0],"queue":10}"#;
    let (a, b) = run(513, "sink", trial, "", Some(relay));
    assert_eq!(a.trial.offered, 2000);
    assert!(b.trial.in_time <= 50, "{}", b.trial.in_time);
    assert!(b.trial.delivered < 100);
    assert!(a.total.messages_sent < 200);
    assert_eq!(b.total.integrity_errors(), 0);
}

#[test]
fn a_lost_packet_is_no_delivered_message() {
    let trial = r#"{"rate":2000,"duration_ms":200,"grace_ms":1000}"#;
    let (a, b) = run(514, "sink", trial, "", Some(r#""faults":{"drop":[100]}"#));
    assert_eq!(a.trial.offered, 400);
    assert_eq!(b.total.lost_packets, 1, "{:?}", b.findings);
    assert!(b.trial.delivered + b.trial.late < 400);
}

#[test]
fn configuration_errors_name_the_field() {
    for (json, word) in [
        (r#""trial":{"rate":-1,"duration_ms":1,"grace_ms":1}"#, "rate"),
        (r#""trial":{"rate":1,"duration_ms":0,"grace_ms":1}"#, "duration_ms"),
        (r#""trial":{"rate":1,"duration_ms":1,"grace_ms":1},"calls":9"#, "circuits"),
        (r#""trial":{"rate":1,"duration_ms":1,"grace_ms":1},"mode":"source""#, "mode"),
    ] {
        let calls = if json.contains("calls") { "" } else { r#""calls":1,"# };
        let error = Run::caller(&format!("{{{calls}{json}}}")).err().unwrap();
        assert!(error.contains(word), "{json}: {error}");
    }
}
