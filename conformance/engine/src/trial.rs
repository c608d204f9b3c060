// SPDX-License-Identifier: GPL-2.0-or-later
//! A trial (RFC 2544 clause 24): messages of one size at a stated rate over circuits that are
//! already up, by one schedule for all of them.
//!
//! Message k of the trial is due at start + k / rate, on circuit k modulo the number of circuits.
//! Both sides of the tester live in one process and know the schedule by the number of the run, so
//! the called side can tell how long a message took one way.

use crate::stats::Latency;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};

/// What a trial consists of.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Messages per second over all circuits; 0 without a burst: as fast as the windows allow.
    pub rate: f64,
    pub duration_ms: u64,
    /// What arrives later than this after it was due is late.
    pub grace_ms: u64,
    /// So many messages at once, and the duration for them to arrive; 0: by the rate.
    #[serde(default)]
    pub burst: u64,
}

const MILLISECOND: u64 = 1_000_000;
/// Parts of the trial's time for which delays are summed up apart.
pub const PARTS: u64 = 20;

impl Trial {
    pub fn check(&self) -> Result<(), String> {
        if !(0.0..=1e8).contains(&self.rate) || !(1..=86_400_000).contains(&self.duration_ms) {
            return Err("trial: rate must be from 0 to 1e8, duration_ms from 1 to a day".into());
        }
        if self.grace_ms > 3_600_000 || self.burst > 10_000_000 {
            return Err("trial: grace_ms is at most an hour, burst at most 10000000".into());
        }
        Ok(())
    }
}

/// The schedule of a trial, shared by all threads of both sides.
#[derive(Debug)]
pub struct Clock {
    trial: Trial,
    circuits: u64,
    /// Circuits of this tester, which are all unless there are several testers.
    own: u64,
    total: u64,
    settled: AtomicU32,
    /// 0: circuits are still being set up.
    start: AtomicU64,
    arrived: AtomicU64,
}

static CLOCKS: Mutex<BTreeMap<u32, Weak<Clock>>> = Mutex::new(BTreeMap::new());

impl Clock {
    /// A clock that [`Clock::of_run`] finds as long as it lives.
    ///
    /// own: circuits of this tester; start: when the schedule begins (0: once these are settled).
    pub fn new(trial: Trial, circuits: u32, own: u32, start: u64, run: u32) -> Arc<Clock> {
        let by_rate = trial.rate * trial.duration_ms as f64 / 1000.0;
        let total = match (trial.burst, trial.rate > 0.0) {
            (0, true) => by_rate.round() as u64,
            (0, false) => u64::MAX,
            (burst, _) => burst,
        };
        let clock = Arc::new(Clock {
            trial,
            circuits: u64::from(circuits),
            own: u64::from(own),
            total,
            settled: AtomicU32::new(0),
            start: AtomicU64::new(start),
            arrived: AtomicU64::new(0),
        });
        let mut clocks = CLOCKS.lock().unwrap_or_else(|e| e.into_inner());
        clocks.retain(|_, known| known.strong_count() > 0);
        clocks.insert(run, Arc::downgrade(&clock));
        clock
    }

    pub fn of_run(run: u32) -> Option<Arc<Clock>> {
        let clocks = CLOCKS.lock().unwrap_or_else(|e| e.into_inner());
        clocks.get(&run).and_then(Weak::upgrade)
    }

    /// One circuit more is connected, or has failed.
    pub fn settle(&self) {
        self.settled.fetch_add(1, Relaxed);
    }

    /// The start of the schedule, once all circuits are settled.
    pub fn start(&self, now: u64) -> Option<u64> {
        match self.start.load(Relaxed) {
            0 if u64::from(self.settled.load(Relaxed)) >= self.own => {
                // Whoever is first sets it; the others learn of it before it comes.
                let soon = now + 5 * MILLISECOND;
                Some(
                    self.start
                        .compare_exchange(0, soon, Relaxed, Relaxed)
                        .map_or_else(|s| s, |_| soon),
                )
            }
            0 => None,
            start => Some(start),
        }
    }

    pub fn number_of(&self, call: u32, sequence: u32) -> u64 {
        u64::from(call.max(1) - 1) + u64::from(sequence) * self.circuits
    }

    pub fn circuits(&self) -> u64 {
        self.circuits
    }

    pub fn is_flood(&self) -> bool {
        self.total == u64::MAX
    }

    pub fn is_burst(&self) -> bool {
        self.trial.burst > 0
    }

    /// When a message is due; None: it is not part of the trial. In a flood every message is due
    /// when it can be sent.
    pub fn due(&self, call: u32, sequence: u32, now: u64) -> Option<u64> {
        let start = self.start.load(Relaxed);
        let number = self.number_of(call, sequence);
        if start == 0 || number >= self.total {
            return None;
        }
        if self.is_flood() {
            return (now < self.end(start)).then(|| now.max(start));
        }
        if self.trial.burst > 0 {
            return Some(start);
        }
        Some(start + (number as f64 * 1e9 / self.trial.rate) as u64)
    }

    /// End of the trial's time.
    pub fn end(&self, start: u64) -> u64 {
        start + self.trial.duration_ms * MILLISECOND
    }

    pub fn grace(&self) -> u64 {
        self.trial.grace_ms * MILLISECOND
    }

    /// Whether the trial's time is over, or a burst is, and all that is due has arrived, here or
    /// elsewhere.
    pub fn is_over(&self, now: u64, elsewhere: u64) -> bool {
        let start = self.start.load(Relaxed);
        let passed = start > 0 && now >= self.end(start);
        (passed || self.is_burst()) && !self.is_flood() && self.arrived() + elsewhere >= self.total
    }

    pub fn arrived(&self) -> u64 {
        self.arrived.load(Relaxed)
    }

    /// Messages due until `now`, of all circuits.
    pub fn offered(&self, start: u64, now: u64) -> u64 {
        if self.is_flood() {
            return 0;
        }
        if self.trial.burst > 0 {
            return self.total;
        }
        let elapsed = now.min(self.end(start)).saturating_sub(start) as f64 / 1e9;
        ((elapsed * self.trial.rate).ceil() as u64).min(self.total)
    }
}

/// Delays of the messages that were due in one part of the trial's time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Part {
    pub count: u64,
    pub sum_ns: u64,
}

/// What the side that verifies counted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TrialStats {
    /// Due by the schedule (of a flood: sent), counted by the calling side.
    pub offered: u64,
    /// The former: it is that of all testers.
    pub by_schedule: bool,
    /// Whole and right, within the grace.
    pub delivered: u64,
    /// Whole and right, but too late.
    pub late: u64,
    /// Of both, those that came before the end of the trial's time.
    pub in_time: u64,
    /// From the time a message was due to its arrival. In a flood nothing is due: no delays.
    pub delay: Latency,
    pub parts: Vec<Part>,
    /// When the trial began, and the last message arrived; 0: never.
    pub start_ns: u64,
    pub last_ns: u64,
}

impl TrialStats {
    /// A whole and right message arrived.
    pub fn arrive(&mut self, clock: &Clock, call: u32, sequence: u32, now: u64) {
        let start = clock.start.load(Relaxed);
        clock.arrived.fetch_add(1, Relaxed);
        self.start_ns = start;
        self.last_ns = self.last_ns.max(now);
        let end = clock.end(start);
        self.in_time += u64::from(now <= end);
        let by_schedule = !clock.is_flood() && clock.trial.burst == 0;
        let due = if by_schedule { clock.due(call, sequence, now).unwrap_or(end) } else { end };
        if now > due + clock.grace() {
            self.late += 1;
        } else {
            self.delivered += 1;
        }
        if by_schedule {
            let delay = now.saturating_sub(due);
            self.delay.record(delay);
            self.parts.resize(PARTS as usize, Part::default());
            let part = ((due - start) * PARTS / (end - start)).min(PARTS - 1) as usize;
            self.parts[part].count += 1;
            self.parts[part].sum_ns += delay;
        }
    }

    pub fn add(&mut self, other: &TrialStats) {
        self.offered += other.offered;
        self.by_schedule |= other.by_schedule;
        self.delivered += other.delivered;
        self.late += other.late;
        self.in_time += other.in_time;
        self.delay.add(&other.delay);
        if self.parts.len() < other.parts.len() {
            self.parts.resize(other.parts.len(), Part::default());
        }
        for (a, b) in self.parts.iter_mut().zip(&other.parts) {
            a.count += b.count;
            a.sum_ns += b.sum_ns;
        }
        self.start_ns = self.start_ns.max(other.start_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(rate: f64, burst: u64) -> Trial {
        Trial { rate, duration_ms: 1000, grace_ms: 100, burst }
    }

    #[test]
    fn messages_are_due_in_turn_over_the_circuits() {
        let clock = Clock::new(trial(10.0, 0), 2, 2, 0, 1);
        assert_eq!(clock.start(5), None);
        clock.settle();
        clock.settle();
        let start = clock.start(5).unwrap();
        assert_eq!(clock.start(9), Some(start));
        let tenth = 100 * MILLISECOND;
        assert_eq!(clock.due(1, 0, 0), Some(start));
        assert_eq!(clock.due(2, 0, 0), Some(start + tenth));
        assert_eq!(clock.due(1, 4, 0), Some(start + 8 * tenth));
        assert_eq!(clock.due(1, 5, 0), None);
        assert_eq!(clock.offered(start, start + 450 * MILLISECOND), 5);
        assert_eq!(clock.offered(start, start + 9999 * MILLISECOND), 10);
    }

    #[test]
    fn late_counts_from_the_time_a_message_was_due() {
        let clock = Clock::new(trial(10.0, 0), 1, 1, 0, 2);
        clock.settle();
        let start = clock.start(0).unwrap();
        let mut stats = TrialStats::default();
        stats.arrive(&clock, 1, 5, start + 550 * MILLISECOND);
        stats.arrive(&clock, 1, 6, start + 701 * MILLISECOND);
        assert_eq!((stats.delivered, stats.late, stats.in_time), (1, 1, 2));
        assert_eq!((stats.parts[10].count, stats.parts[10].sum_ns), (1, 50 * MILLISECOND));
        assert_eq!(clock.arrived(), 2);
    }

    #[test]
    fn a_run_finds_its_clock_while_it_lives() {
        let clock = Clock::new(trial(0.0, 7), 3, 3, 0, 99);
        assert!(Clock::of_run(99).is_some());
        assert!(Clock::of_run(98).is_none());
        assert_eq!(clock.offered(1, 2), 7);
        drop(clock);
        assert!(Clock::of_run(99).is_none());
    }
}
