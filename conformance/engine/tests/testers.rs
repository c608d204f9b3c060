// SPDX-License-Identifier: GPL-2.0-or-later
//! Several testers of one run: their numbers never meet, and their results add up exactly.

use std::collections::BTreeSet;
use x25shark_engine::config::Random;
use x25shark_engine::poll;
use x25shark_engine::run::Run;
use x25shark_engine::stats::{Latency, Stats};

const MILLISECOND: u64 = 1_000_000;

#[test]
fn histograms_add_up_to_what_one_would_have_counted() {
    let mut random = Random(7);
    let (mut whole, mut parts) = (Stats::default(), vec![Stats::default(); 3]);
    for n in 0..30_000 {
        let value = 1 << random.below(42);
        let value = value + random.below(value);
        whole.message.record(value);
        parts[n % 3].message.record(value);
    }
    let texts: Vec<_> = parts.iter().map(|p| serde_json::to_string(p).unwrap()).collect();
    let merged = Stats::merge_all(&texts).unwrap();
    let text = |l: &Latency| serde_json::to_string(l).unwrap();
    assert_eq!(text(&merged.message), text(&whole.message));
    assert_eq!(Stats::merge_all(&[]).unwrap().total.calls_started, 0);
    assert!(Stats::merge_all(&["{}".into()]).is_err());
}

fn tester(port: u16, number: u32, start: u64) -> Run {
    let config = format!(
        r#"{{"connect": "127.0.0.1:{port}", "rate": 100, "duration_ms": 400, "circuits": 50,
            "message_length": [64, 64], "first_call": {number}, "call_step": 3, "phase": {},
            "start_ns": {start}, "seed": 5, "calls": 30, "run": 9}}"#,
        f64::from(number - 1) / 3.0
    );
    Run::caller(&config).unwrap()
}

#[test]
fn three_testers_begin_at_one_instant_and_never_use_a_number_twice() {
    let mut answering = Run::responder(r#"{"listen": "127.0.0.1:0", "run": 9}"#).unwrap();
    let start = poll::now() + 200 * MILLISECOND;
    let mut testers: Vec<_> = (1..=3).map(|n| tester(answering.port(), n, start)).collect();
    let results: Vec<_> = testers.iter_mut().map(|t| t.join().unwrap()).collect();
    answering.stop();
    let answered = answering.join().unwrap();
    for result in &results {
        assert!(result.began_ns >= start);
        assert_eq!(result.start_ns, start);
        assert_eq!(result.total.calls_completed, 30);
    }
    let last: BTreeSet<_> = results.iter().map(|r| r.last_completed % 3).collect();
    assert_eq!(last.len(), 3);
    let texts: Vec<_> = results.iter().map(|r| serde_json::to_string(r).unwrap()).collect();
    let merged = Stats::merge_all(&texts).unwrap();
    assert_eq!(merged.total.calls_completed, 90);
    assert_eq!(merged.last_completed, 90);
    assert_eq!(answered.total.calls_accepted, 90);
    assert_eq!(merged.total.integrity_errors() + answered.total.integrity_errors(), 0);
    assert_eq!(merged.message.count(), 90);
}
