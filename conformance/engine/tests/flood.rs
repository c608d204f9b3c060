// SPDX-License-Identifier: GPL-2.0-or-later
//! Impolite callers against the called side: each leaves undone what its kind says, and a polite
//! caller beside them is served.

use x25shark_engine::flood::{Flood, Report};
use x25shark_engine::run::Run;

/// Opens as many as `most` and lets go once the called side has seen them all.
fn flood(kind: &str, user_data: &str) -> (Report, x25shark_engine::stats::Stats) {
    let mut called =
        Run::responder(r#"{"listen":"127.0.0.1:0","unanswered":"c0aa","unconfirmed":"c0bb"}"#)
            .unwrap();
    let port = called.port();
    let mut flood = Flood::start(&format!(
        r#"{{"connect":"127.0.0.1:{port}","kind":"{kind}","rate":2000,"duration_ms":600,"most":30,
        "called":"2100001","user_data":"{user_data}"}}"#
    ))
    .unwrap();
    let mut polite = Run::caller(&format!(
        r#"{{"connect":"127.0.0.1:{port}","calls":20,"sample":true,"late_ms":60000}}"#
    ))
    .unwrap();
    let stats = polite.join().unwrap();
    assert_eq!(stats.total.calls_completed, 20, "{:?}", stats.failures);
    let samples = polite.take_samples();
    assert!(samples.iter().all(|s| s.took_ns.is_some()), "{samples:?}");
    let report = flood.join().unwrap();
    called.stop();
    (report, called.join().unwrap())
}

#[test]
fn connections_without_a_call() {
    let (report, b) = flood("connections", "c0");
    assert_eq!((report.open, report.connected), (30, 0));
    assert_eq!(b.total.calls_accepted, 20);
}

#[test]
fn calls_that_nobody_answers() {
    let (report, b) = flood("calls", "c0aa");
    assert_eq!((report.open, report.connected), (30, 0));
    assert_eq!(b.total.calls_accepted, 20);
}

#[test]
fn clears_that_nobody_confirms() {
    let (report, b) = flood("clears", "c0bb");
    assert_eq!((report.open, report.connected, report.cleared), (30, 30, 0));
    assert_eq!((b.total.calls_accepted, b.total.clears_received), (50, 20));
}

#[test]
fn what_is_ignored_can_be_let_go_of() {
    let mut called = Run::responder(r#"{"listen":"127.0.0.1:0","unanswered":"c0aa"}"#).unwrap();
    let mut flood = Flood::start(&format!(
        r#"{{"connect":"127.0.0.1:{}","kind":"calls","rate":1000,"duration_ms":60000,"most":10,
        "called":"2100001","user_data":"c0aa"}}"#,
        called.port()
    ))
    .unwrap();
    while called.snapshot().1 < 10 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(flood.ended(), 0);
    called.release();
    while flood.ended() < 10 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    flood.stop();
    flood.join().unwrap();
    called.stop();
    called.join().unwrap();
}

#[test]
fn connections_that_are_closed_on_one_side() {
    let (report, b) = flood("half-closed", "c0");
    // The called side ends them, so places become free again and again.
    assert!(report.connected >= 30 && report.ended > 0, "{report:?}");
    assert!(b.total.calls_accepted >= 50);
}

#[test]
fn configuration_errors_name_the_field() {
    for (field, word) in [
        (r#""rate":0,"most":1,"called":"21","user_data":"""#, "rate"),
        (r#""rate":1,"most":0,"called":"21","user_data":"""#, "most"),
        (r#""rate":1,"most":1,"called":"x","user_data":"""#, "called"),
        (r#""rate":1,"most":1,"called":"21","user_data":"xy""#, "user_data"),
    ] {
        let json = format!(r#"{{"connect":"127.0.0.1:1","kind":"calls","duration_ms":9,{field}}}"#);
        let error = Flood::start(&json).err().unwrap();
        assert!(error.contains(word), "{json}: {error}");
    }
}
