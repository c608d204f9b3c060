// SPDX-License-Identifier: GPL-2.0-or-later
//! What a run counted: counters, latencies (HdrHistogram), errors by kind, findings, a time line.

use crate::flow::FlowError;
use crate::poll::Socket;
use crate::trial::TrialStats;
use hdrhistogram::Histogram;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Mutex;

macro_rules! counters {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Everything that is counted. Data packets, messages and octets of user data are counted
        /// where they are sent and where they are received; `wire_octets` include XOT headers.
        #[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Counters { $($(#[$doc])* pub $field: u64,)* }
        impl Counters {
            pub fn add(&mut self, other: &Counters) { $(self.$field += other.$field;)* }
        }
    };
}

counters! {
    calls_started,
    calls_connected,
    calls_completed,
    calls_failed,
    calls_accepted,
    messages_sent,
    messages_verified,
    data_packets_sent,
    data_packets_received,
    octets_sent,
    octets_received,
    wire_octets_sent,
    wire_octets_received,
    receive_ready_sent,
    receive_ready_received,
    receive_not_ready_sent,
    receive_not_ready_received,
    interrupts_sent,
    interrupts_received,
    interrupts_confirmed,
    resets_sent,
    resets_received,
    clears_sent,
    clears_received,
    /// Messages that never came back though later ones did, or the call ended.
    lost_messages,
    /// Data packets missing according to P(S).
    lost_packets,
    duplicated_messages,
    duplicated_packets,
    reordered_messages,
    corrupted_messages,
    corrupted_octets,
    /// Octets that belong to another call.
    mixed_up_messages,
    /// Complete packet sequences of another length than the record says.
    short_messages,
    /// Messages given up because of a reset.
    discarded_messages,
    /// Answers later than the limit.
    late,
    protocol_errors,
}

impl Counters {
    /// Sum of what must not happen to data.
    pub fn integrity_errors(&self) -> u64 {
        self.lost_messages
            + self.lost_packets
            + self.duplicated_messages
            + self.duplicated_packets
            + self.reordered_messages
            + self.corrupted_messages
            + self.mixed_up_messages
            + self.short_messages
    }
}

/// One thing found, named so that it can be found again in a capture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    pub kind: Cow<'static, str>,
    pub call: u32,
    pub sequence: u32,
    /// Nanoseconds since the start of the run.
    pub at_ns: u64,
    pub text: String,
    /// Number of the tester, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tester: Option<u32>,
}

const MAX_FINDINGS: usize = 500;
/// Kind of the findings that are slow answers.
pub const LATE: &str = "late";
const MAX_INTERVALS: usize = 200_000;
/// 100 ns to 10 minutes, three digits.
const LOWEST: u64 = 100;
const HIGHEST: u64 = 600_000_000_000;

/// A latency distribution in nanoseconds.
#[derive(Clone, Debug)]
pub struct Latency(Histogram<u64>);

impl Default for Latency {
    fn default() -> Self {
        Latency(Histogram::new_with_bounds(LOWEST, HIGHEST, 3).expect("constant bounds are valid"))
    }
}

#[derive(Serialize)]
struct LatencyJson {
    unit: &'static str,
    count: u64,
    min: u64,
    max: u64,
    mean: f64,
    percentiles: BTreeMap<String, u64>,
    /// [highest value of the bucket, count]: what merging needs.
    buckets: Vec<(u64, u64)>,
}

impl Latency {
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.0.saturating_record(nanoseconds);
    }

    pub fn add(&mut self, other: &Latency) {
        self.0.add(&other.0).expect("equal bounds");
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    pub fn percentile(&self, p: f64) -> u64 {
        self.0.value_at_percentile(p)
    }
}

impl Serialize for Latency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let h = &self.0;
        let names = ["50", "75", "90", "95", "99", "99.9", "99.99"];
        let value = |p: &str| h.value_at_percentile(p.parse().expect("a number"));
        LatencyJson {
            unit: "ns",
            count: h.len(),
            min: if h.is_empty() { 0 } else { h.min() },
            max: h.max(),
            mean: h.mean(),
            percentiles: names.iter().map(|p| (format!("p{p}"), value(p))).collect(),
            buckets: h
                .iter_recorded()
                .map(|v| (v.value_iterated_to(), v.count_since_last_iteration()))
                .collect(),
        }
        .serialize(serializer)
    }
}

/// Counts in buckets are exact: a bucket's highest value leads back to the same bucket.
impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Buckets {
            buckets: Vec<(u64, u64)>,
        }
        let mut latency = Latency::default();
        for (value, count) in Buckets::deserialize(deserializer)?.buckets {
            latency.0.saturating_record_n(value, count);
        }
        Ok(latency)
    }
}

/// Counts of one interval of the time line.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Interval {
    pub calls_completed: u64,
    pub calls_failed: u64,
    pub messages_verified: u64,
    pub data_packets: u64,
    pub octets_received: u64,
}

/// Smallest and largest value seen.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Range {
    pub min: u64,
    pub max: u64,
}

impl Default for Range {
    fn default() -> Self {
        Range { min: u64::MAX, max: 0 }
    }
}

impl Range {
    pub fn see(&mut self, value: u64) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }
    fn add(&mut self, other: &Range) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// Negotiated values, in and out as seen from this side.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Negotiated {
    pub packet_size_in: Range,
    pub packet_size_out: Range,
    pub window_in: Range,
    pub window_out: Range,
}

/// What the kernel says of the TCP connections of this side when they end.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Tcp {
    pub connections: u64,
    /// Segments that were sent again.
    pub retransmitted: u64,
    /// Largest segment that this side may send, octets.
    pub segment: Range,
}

impl Tcp {
    pub fn see(&mut self, socket: &Socket) {
        if let Some((retransmitted, segment)) = socket.tcp_info() {
            self.connections += 1;
            self.retransmitted += retransmitted;
            self.segment.see(segment);
        }
    }

    fn add(&mut self, other: &Tcp) {
        self.connections += other.connections;
        self.retransmitted += other.retransmitted;
        self.segment.add(&other.segment);
    }
}

/// Results of one worker, and of a run when merged.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stats {
    pub start_ns: u64,
    /// When it really began: later than that where the machine was busy.
    pub began_ns: u64,
    /// End of the measured time: what happens later is only the orderly end of open calls.
    pub end_ns: u64,
    pub finished_ns: u64,
    pub cpu_user_ns: u64,
    pub cpu_system_ns: u64,
    /// Calls due by schedule (open loop); 0 in closed loop.
    pub calls_offered: u64,
    /// Counters at the end of the measured time.
    pub measured: Counters,
    /// Counters at the very end.
    pub total: Counters,
    pub interval_ns: u64,
    pub timeline: Vec<Interval>,
    pub tcp_connect: Latency,
    pub call_setup: Latency,
    pub message: Latency,
    pub interrupt: Latency,
    pub reset: Latency,
    pub clear: Latency,
    pub call_duration: Latency,
    pub negotiated: Negotiated,
    /// Failed calls by reason.
    pub failures: BTreeMap<String, u64>,
    /// Received Clear packets, "cause/diagnostic" in decimal.
    pub clears: BTreeMap<String, u64>,
    /// Received Reset packets, "cause/diagnostic" in decimal.
    pub resets: BTreeMap<String, u64>,
    pub protocol_errors: BTreeMap<String, u64>,
    pub findings: Vec<Finding>,
    pub findings_omitted: u64,
    /// Number of the first call that failed for want of a channel, socket or descriptor.
    pub first_exhaustion: Option<u32>,
    /// Number and reason of the first call that failed.
    pub first_failure: Option<(u32, String)>,
    /// Highest number of a completed call.
    pub last_completed: u32,
    /// Octets held by this side for its circuits at their highest count.
    pub circuit_octets: u64,
    pub circuits_peak: u64,
    /// Of the side that verifies (echo: calling, sink: called), where the run is a trial.
    pub trial: TrialStats,
    pub tcp: Tcp,
    #[serde(skip)]
    last: Counters,
}

fn add_maps(into: &mut BTreeMap<String, u64>, from: &BTreeMap<String, u64>) {
    for (key, count) in from {
        *into.entry(key.clone()).or_default() += count;
    }
}

impl Stats {
    pub fn new(start_ns: u64, interval_ns: u64) -> Self {
        Stats { start_ns, interval_ns: interval_ns.max(1_000_000), ..Stats::default() }
    }

    pub fn fail(&mut self, call: u32, reason: &str) {
        self.total.calls_failed += 1;
        if self.first_failure.as_ref().is_none_or(|(first, _)| call < *first) {
            self.first_failure = Some((call, reason.to_owned()));
        }
        count(&mut self.failures, reason);
    }

    pub fn find(&mut self, kind: &'static str, key: (u32, u32), now: u64, text: String) {
        // Slow answers are not flaws: they leave room for those.
        let room = if kind == LATE { MAX_FINDINGS / 2 } else { MAX_FINDINGS };
        if self.findings.len() < room {
            let at_ns = now.saturating_sub(self.start_ns);
            let kind = Cow::Borrowed(kind);
            let (call, sequence) = key;
            self.findings.push(Finding { kind, call, sequence, at_ns, text, tester: None });
        } else {
            self.findings_omitted += 1;
        }
    }

    /// Closes the intervals that have passed.
    pub fn tick(&mut self, now: u64) {
        let index = now.saturating_sub(self.start_ns) / self.interval_ns;
        while (self.timeline.len() as u64) < index && self.timeline.len() < MAX_INTERVALS {
            let (t, l) = (&self.total, &self.last);
            let packets = |c: &Counters| c.data_packets_sent + c.data_packets_received;
            self.timeline.push(Interval {
                calls_completed: t.calls_completed - l.calls_completed,
                calls_failed: t.calls_failed - l.calls_failed,
                messages_verified: t.messages_verified - l.messages_verified,
                data_packets: packets(t) - packets(l),
                octets_received: t.octets_received - l.octets_received,
            });
            self.last = self.total;
        }
    }

    /// Merges what several testers counted, as JSON.
    pub fn merge_all(results: &[String]) -> Result<Stats, String> {
        let mut merged: Option<Stats> = None;
        for result in results {
            let one: Stats = serde_json::from_str(result).map_err(|e| format!("results: {e}"))?;
            match &mut merged {
                None => merged = Some(one),
                Some(sum) => {
                    // By schedule each tester counts what is due of all of them.
                    let offered = sum.trial.offered.max(one.trial.offered);
                    let by_schedule = sum.trial.by_schedule;
                    sum.merge(&one);
                    if by_schedule {
                        sum.trial.offered = offered;
                    }
                }
            }
        }
        Ok(merged.unwrap_or_default())
    }

    /// Merges another worker of the same run.
    pub fn merge(&mut self, other: &Stats) {
        self.began_ns = self.began_ns.max(other.began_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.finished_ns = self.finished_ns.max(other.finished_ns);
        self.cpu_user_ns += other.cpu_user_ns;
        self.cpu_system_ns += other.cpu_system_ns;
        self.calls_offered += other.calls_offered;
        self.measured.add(&other.measured);
        self.total.add(&other.total);
        if self.timeline.len() < other.timeline.len() {
            self.timeline.resize(other.timeline.len(), Interval::default());
        }
        for (a, b) in self.timeline.iter_mut().zip(&other.timeline) {
            a.calls_completed += b.calls_completed;
            a.calls_failed += b.calls_failed;
            a.messages_verified += b.messages_verified;
            a.data_packets += b.data_packets;
            a.octets_received += b.octets_received;
        }
        for (a, b) in [
            (&mut self.tcp_connect, &other.tcp_connect),
            (&mut self.call_setup, &other.call_setup),
            (&mut self.message, &other.message),
            (&mut self.interrupt, &other.interrupt),
            (&mut self.reset, &other.reset),
            (&mut self.clear, &other.clear),
            (&mut self.call_duration, &other.call_duration),
        ] {
            a.add(b);
        }
        let (n, o) = (&mut self.negotiated, &other.negotiated);
        n.packet_size_in.add(&o.packet_size_in);
        n.packet_size_out.add(&o.packet_size_out);
        n.window_in.add(&o.window_in);
        n.window_out.add(&o.window_out);
        add_maps(&mut self.failures, &other.failures);
        add_maps(&mut self.clears, &other.clears);
        add_maps(&mut self.resets, &other.resets);
        add_maps(&mut self.protocol_errors, &other.protocol_errors);
        self.findings.extend(other.findings.iter().cloned());
        self.findings_omitted += other.findings_omitted;
        if self.findings.len() > MAX_FINDINGS {
            self.findings.sort_by_key(|f| (f.kind == LATE, f.at_ns));
            self.findings_omitted += (self.findings.len() - MAX_FINDINGS) as u64;
            self.findings.truncate(MAX_FINDINGS);
        }
        self.findings.sort_by_key(|f| f.at_ns);
        self.first_exhaustion = match (self.first_exhaustion, other.first_exhaustion) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.first_failure = match (self.first_failure.take(), &other.first_failure) {
            (Some(a), Some(b)) => Some(if b.0 < a.0 { b.clone() } else { a }),
            (a, b) => a.or_else(|| b.clone()),
        };
        self.last_completed = self.last_completed.max(other.last_completed);
        self.circuit_octets += other.circuit_octets;
        self.circuits_peak += other.circuits_peak;
        self.trial.add(&other.trial);
        self.tcp.add(&other.tcp);
    }
}

/// Counts one more under `key`; allocates only for a new key.
pub fn count(map: &mut BTreeMap<String, u64>, key: &str) {
    if let Some(n) = map.get_mut(key) {
        *n += 1;
    } else if map.len() < 10_000 {
        map.insert(key.to_owned(), 1);
    }
}

/// What a running worker shows of itself.
#[derive(Debug, Default)]
pub struct Live {
    shown: Mutex<(Counters, u64)>,
    samples: Mutex<Vec<Sample>>,
}

/// A call that was set up or failed: when it was due and how long it took (None: it failed),
/// nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sample {
    pub due_ns: u64,
    pub took_ns: Option<u64>,
}

const MAX_SAMPLES: usize = 1_000_000;

impl Live {
    pub fn show(&self, counters: &Counters, open_circuits: u64) {
        if let Ok(mut shown) = self.shown.try_lock() {
            *shown = (*counters, open_circuits);
        }
    }

    pub fn sample(&self, sample: Sample) {
        let mut samples = self.samples.lock().unwrap_or_else(|e| e.into_inner());
        if samples.len() < MAX_SAMPLES {
            samples.push(sample);
        }
    }

    /// The samples since the last time.
    pub fn take_samples(&self) -> Vec<Sample> {
        std::mem::take(&mut *self.samples.lock().unwrap_or_else(|e| e.into_inner()))
    }

    pub fn read(&self) -> (Counters, u64) {
        self.shown.lock().map_or_else(|e| *e.into_inner(), |shown| *shown)
    }
}

/// Counts and names what P(S) or P(R) showed; `at` is call and message, `call` its name. Returns the diagnostic of
/// the Reset that answers it (X.25 Annex E).
pub fn note_flow_error(
    stats: &mut Stats,
    at: (u32, u32),
    call: &str,
    error: FlowError,
    p_s: u8,
    now: u64,
) -> u8 {
    match error {
        FlowError::Gap(missing) => {
            stats.total.lost_packets += u64::from(missing);
            let text = format!("{call}: Data packets missing before P(S) {p_s}: {missing}");
            stats.find("packet lost", at, now, text);
            1
        }
        FlowError::Repeated => {
            stats.total.duplicated_packets += 1;
            let text = format!("{call}: Data packet P(S) {p_s} came again");
            stats.find("packet duplicated", at, now, text);
            1
        }
        FlowError::BeyondWindow | FlowError::InvalidPr => {
            let (what, diagnostic) = match error {
                FlowError::InvalidPr => ("invalid P(R)", 2),
                _ => ("P(S) beyond the window", 1),
            };
            stats.total.protocol_errors += 1;
            count(&mut stats.protocol_errors, what);
            stats.find("protocol", at, now, format!("{call}: {what}"));
            diagnostic
        }
    }
}
