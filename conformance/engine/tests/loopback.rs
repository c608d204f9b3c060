// SPDX-License-Identifier: GPL-2.0-or-later
//! Calling side against called side over loopback: everything arrives, whatever the options.

use x25shark_engine::run::Run;
use x25shark_engine::stats::Stats;

/// Runs `caller` (JSON fields without braces) against a responder with `responder`.
fn run(responder: &str, caller: &str) -> (Stats, Stats) {
    let comma = if responder.is_empty() { "" } else { "," };
    let mut called =
        Run::responder(&format!(r#"{{"listen":"127.0.0.1:0"{comma}{responder}}}"#)).unwrap();
    let port = called.port();
    let mut calling =
        Run::caller(&format!(r#"{{"connect":"127.0.0.1:{port}","run":77,{caller}}}"#)).unwrap();
    let a = calling.join().unwrap();
    called.stop();
    let b = called.join().unwrap();
    (a, b)
}

fn clean(stats: &Stats) {
    assert_eq!(stats.total.integrity_errors(), 0, "{:?}", stats.findings);
    assert_eq!(stats.total.protocol_errors, 0, "{:?}", stats.findings);
    assert_eq!(stats.total.calls_failed, 0, "{:?}", stats.failures);
}

#[test]
fn calls_with_one_message_each() {
    let (a, b) = run("", r#""calls":500,"circuits":8,"threads":2"#);
    clean(&a);
    clean(&b);
    assert_eq!((a.total.calls_completed, b.total.calls_completed), (500, 500));
    assert_eq!((a.total.messages_sent, a.total.messages_verified), (500, 500));
    assert_eq!(a.total.octets_sent, a.total.octets_received);
    assert_eq!(a.call_setup.count(), 500);
    assert_eq!(a.message.count(), 500);
}

#[test]
fn every_packet_size_window_and_modulo() {
    for (modulo, windows) in [(8, vec![1, 2, 7]), (128, vec![1, 7, 8, 127])] {
        for window in windows {
            for size in [16, 32, 128, 1024, 4096] {
                let caller = format!(
                    r#""calls":6,"circuits":2,"messages":4,"depth":3,"modulo":{modulo},
                    "window":{window},"packet_size":{size},"message_length":[1,20000]"#
                );
                let (a, b) = run("", &caller);
                clean(&a);
                clean(&b);
                assert_eq!(a.total.messages_verified, 24, "{caller}");
                let n = a.negotiated;
                assert_eq!((n.packet_size_in.min, n.packet_size_out.max), (size, size));
                assert_eq!((n.window_in.min, n.window_out.max), (window, window));
            }
        }
    }
}

#[test]
fn the_called_side_may_agree_to_less() {
    let (a, b) = run(
        r#""max_packet_size":256,"max_window":3"#,
        r#""calls":5,"packet_size":2048,"window":7,"message_length":[9000,9000]"#,
    );
    clean(&a);
    clean(&b);
    assert_eq!((a.negotiated.packet_size_out.max, a.negotiated.window_out.max), (256, 3));
    assert_eq!(a.total.data_packets_sent, 5 * 9000u64.div_ceil(256));
}

#[test]
fn q_d_interrupts_resets_and_busy_under_load() {
    let (a, b) = run(
        "",
        r#""calls":20,"circuits":4,"messages":20,"q_share":0.5,"d_share":0.5,
        "interrupt_every":3,"reset_every":5,"busy_every":4,"window":3"#,
    );
    clean(&a);
    clean(&b);
    assert_eq!(a.total.messages_verified, 400);
    assert_eq!(a.total.interrupts_confirmed, 20 * 7);
    assert_eq!(a.total.resets_sent, 20 * 3);
    assert_eq!(b.total.resets_received, 20 * 3);
    assert_eq!(a.total.receive_not_ready_sent, 20 * 5);
}

#[test]
fn sink_and_source_verify_at_the_other_end() {
    let (a, b) = run(
        r#""mode":"sink""#,
        r#""calls":10,"circuits":2,"mode":"sink","messages":30,"window":7"#,
    );
    clean(&a);
    clean(&b);
    assert_eq!(b.total.messages_verified, 300);
    let (a, b) = run(
        r#""mode":"source","messages":25,"message_length":5000,"run":3"#,
        r#""calls":10,"circuits":2,"mode":"source","messages":25,"window":7"#,
    );
    clean(&a);
    clean(&b);
    assert_eq!(a.total.messages_verified, 250);
}

#[test]
fn the_seed_repeats_a_run() {
    let options = r#""calls":50,"circuits":5,"threads":2,"message_length":[1,9999],"seed":"#;
    let sent = |seed: u32| run("", &format!("{options}{seed}")).0.total.octets_sent;
    assert_eq!(sent(5), sent(5));
    assert_ne!(sent(5), sent(6));
}

#[test]
fn open_loop_offers_what_the_schedule_says() {
    let (a, _) = run("", r#""rate":500,"duration_ms":1000,"circuits":50"#);
    clean(&a);
    assert_eq!(a.calls_offered, 500);
    assert!((1..=500).contains(&a.total.calls_completed)); // a slow machine starts fewer
}

#[test]
fn a_port_where_nobody_listens_is_a_named_failure() {
    let mut calling = Run::caller(r#"{"connect":"127.0.0.1:1","calls":3,"circuits":1}"#).unwrap();
    let a = calling.join().unwrap();
    assert_eq!(a.failures.get("connect: connection refused"), Some(&3));
    assert_eq!(a.total.calls_completed, 0);
}

#[test]
fn calls_that_fail_at_once_do_not_hang_the_run() {
    let mut calling =
        Run::caller(r#"{"connect":"127.0.0.1:1","duration_ms":300,"circuits":2}"#).unwrap();
    let a = calling.join().unwrap();
    assert!(a.total.calls_failed > 0 && a.total.calls_connected == 0);
    // With a pause after each failure there are few of them.
    let mut calling =
        Run::caller(r#"{"connect":"127.0.0.1:1","duration_ms":300,"circuits":2,"backoff_ms":100}"#)
            .unwrap();
    let a = calling.join().unwrap();
    assert!((2..=8).contains(&a.total.calls_failed), "{}", a.total.calls_failed);
}

#[test]
fn stopping_clears_the_open_calls() {
    let mut called = Run::responder(r#"{"listen":"127.0.0.1:0"}"#).unwrap();
    let port = called.port();
    let mut calling = Run::caller(&format!(
        r#"{{"connect":"127.0.0.1:{port}","circuits":200,"hold_to_end":true,
        "duration_ms":600000}}"#
    ))
    .unwrap();
    while calling.snapshot().0.messages_verified < 200 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(calling.snapshot().1, 200);
    calling.stop();
    let a = calling.join().unwrap();
    called.stop();
    let b = called.join().unwrap();
    clean(&a);
    assert_eq!((a.total.calls_completed, b.total.calls_completed), (200, 200));
}

#[test]
fn configuration_errors_name_the_field() {
    for (json, word) in [
        (r#"{"calls":1,"packet_size":100}"#, "packet_size"),
        (r#"{"calls":1,"window":8}"#, "window"),
        (r#"{"calls":1,"modulo":9}"#, "modulo"),
        (r#"{}"#, "duration_ms"),
        (r#"{"calls":1,"called_start":"12","called_end":"9"}"#, "called address"),
        (r#"{"calls":1,"colour":1}"#, "colour"),
        (r#"{"calls":1,"user_data":"xyz"}"#, "user_data"),
    ] {
        let error = Run::caller(json).err().unwrap();
        assert!(error.contains(word), "{json}: {error}");
    }
}
