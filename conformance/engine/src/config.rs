// SPDX-License-Identifier: GPL-2.0-or-later
//! What a run is told to do, as JSON. Unknown names and values out of range are refused with a
//! sentence that names the field.

use crate::flood::Kind;
use crate::line;
use crate::trial::Trial;
use crate::wire::{Address, FlowParameters, Modulo};
use serde::Deserialize;
use std::net::{Ipv4Addr, SocketAddrV4};

/// What the called side does with messages.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Sends every packet sequence back.
    #[default]
    Echo,
    /// Verifies and drops.
    Sink,
    /// Sends messages of its own.
    Source,
}

/// The calling side.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Caller {
    pub connect: SocketAddrV4,
    /// Local addresses, used in turn; empty: as the kernel chooses.
    pub sources: Vec<Ipv4Addr>,
    pub threads: u32,
    /// Circuits (calls at the same time), over all threads.
    pub circuits: u32,
    /// Measured time; none: until `calls` are made.
    pub duration_ms: Option<u64>,
    pub calls: Option<u32>,
    /// Open loop: calls per second by schedule. None: closed loop.
    pub rate: Option<f64>,
    /// Open loop: exponentially distributed gaps instead of equal ones.
    pub poisson: bool,
    pub called_start: String,
    pub called_end: String,
    /// Base of the calling address; HHMM and a 5-digit sequence follow.
    pub calling_base: String,
    pub utc_offset_minutes: i32,
    pub modulo: u16,
    pub packet_size: u16,
    pub window: u8,
    /// Octets of a message, from and to; no record has fewer than 16.
    pub message_length: (u32, u32),
    /// Messages per call.
    pub messages: u32,
    /// Messages under way at the same time in a call.
    pub depth: u32,
    /// Messages per second and circuit by schedule; none: as soon as answered.
    pub message_rate: Option<f64>,
    /// Least duration of a call.
    pub hold_ms: u64,
    /// Calls stay until the run ends.
    pub hold_to_end: bool,
    pub mode: Mode,
    pub q_share: f64,
    pub d_share: f64,
    pub interrupt_every: u32,
    pub reset_every: u32,
    /// RNR after every this many messages, RR 2 ms later.
    pub busy_every: u32,
    pub timeout_ms: u64,
    /// The same for the connection and the answer to the call; none: as the others.
    pub setup_timeout_ms: Option<u64>,
    /// Pause when sockets have run out.
    pub socket_penalty_ms: u64,
    /// Pause after a connection that failed.
    pub backoff_ms: u64,
    /// Calls in set-up at the same time, per thread.
    pub max_setups: u32,
    pub seed: u64,
    pub run: u32,
    pub interval_ms: u64,
    /// Answers later than this are findings.
    pub late_ms: u64,
    pub lcn: u16,
    /// Call user data, hexadecimal.
    pub user_data: String,
    /// In place of messages and rates: one trial over calls that stay up (echo or sink).
    pub trial: Option<Trial>,
    /// Keeps the set-up of every call, to be asked for while the run goes on.
    pub sample: bool,
    /// Largest TCP segment, and socket buffers, octets (0: as the kernel says).
    pub mss: u16,
    pub buffers: u32,
    /// One of several testers: its first call and the step between its calls, which part of the gap
    /// between two calls its schedule is behind, the circuits of all testers (0: its own).
    pub first_call: u32,
    pub call_step: u32,
    pub phase: f64,
    pub all_circuits: u32,
    /// When it begins, and when its trial does, nanoseconds of the monotonic clock (0: at once).
    pub start_ns: u64,
    pub trial_start_ns: u64,
}

impl Default for Caller {
    fn default() -> Self {
        Caller {
            connect: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1998),
            sources: Vec::new(),
            threads: 1,
            circuits: 1,
            duration_ms: None,
            calls: None,
            rate: None,
            poisson: false,
            called_start: "2100001".into(),
            called_end: "2100001".into(),
            calling_base: "310000".into(),
            utc_offset_minutes: 0,
            modulo: 8,
            packet_size: 128,
            window: 2,
            message_length: (24, 8192),
            messages: 1,
            depth: 1,
            message_rate: None,
            hold_ms: 0,
            hold_to_end: false,
            mode: Mode::Echo,
            q_share: 0.0,
            d_share: 0.0,
            interrupt_every: 0,
            reset_every: 0,
            busy_every: 0,
            timeout_ms: 5000,
            setup_timeout_ms: None,
            socket_penalty_ms: 1000,
            backoff_ms: 0,
            max_setups: 512,
            seed: 1,
            run: 1,
            interval_ms: 200,
            late_ms: 500,
            lcn: 1,
            user_data: "c0".into(),
            trial: None,
            sample: false,
            mss: 0,
            buffers: 0,
            first_call: 1,
            call_step: 1,
            phase: 0.0,
            all_circuits: 0,
            start_ns: 0,
            trial_start_ns: 0,
        }
    }
}

/// The called side.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Responder {
    pub listen: SocketAddrV4,
    /// Other processes answer there too, each a share of the calls.
    pub shared: bool,
    pub threads: u32,
    pub mode: Mode,
    /// Upper bounds of what is agreed to.
    pub max_packet_size: u16,
    pub max_window: u8,
    /// Source: messages per call and their length.
    pub messages: u32,
    pub message_length: u32,
    pub run: u32,
    pub interval_ms: u64,
    /// Circuits at the same time, per thread; more are cleared (number busy).
    pub max_circuits: u32,
    /// Calls with this user data (hexadecimal) are not answered; their Clears are not confirmed.
    pub unanswered: String,
    pub unconfirmed: String,
    /// Largest TCP segment, and socket buffers, octets (0: as the kernel says).
    pub mss: u16,
    pub buffers: u32,
    /// Ends by itself after this time; none: until stopped.
    pub duration_ms: Option<u64>,
}

impl Default for Responder {
    fn default() -> Self {
        Responder {
            listen: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1998),
            shared: false,
            threads: 1,
            mode: Mode::Echo,
            max_packet_size: 4096,
            max_window: 127,
            messages: 1,
            message_length: 4096,
            run: 1,
            interval_ms: 200,
            max_circuits: 100_000,
            unanswered: String::new(),
            unconfirmed: String::new(),
            mss: 0,
            buffers: 0,
            duration_ms: None,
        }
    }
}

/// What the relay does to the stream. Data packets are counted over all connections, from 1.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Faults {
    /// Added to each direction.
    pub delay_ms: f64,
    /// Everything stands still once: from `stall_at_ms` after the start for `stall_ms`.
    pub stall_at_ms: u64,
    pub stall_ms: u64,
    /// And again every so often (0: once).
    pub stall_every_ms: u64,
    /// The connection with this number (from 1) is held up for `delay_call_ms` at its start.
    pub delay_call: u32,
    pub delay_call_ms: u64,
    /// Numbers of Data packets to drop, to send twice, and to swap with the next one of another
    /// circuit in the same direction.
    pub drop: Vec<u64>,
    /// Every Data packet with a number that this divides is dropped (0: none).
    pub drop_every: u64,
    pub duplicate: Vec<u64>,
    pub swap: Vec<u64>,
    /// Probability that an octet of Data packets' user data is changed.
    pub corrupt: f64,
    pub seed: u64,
    /// Largest TCP segment on both sides (0: as the kernel says).
    pub mss: u16,
    /// Windows that a Call asks for are lowered to this (0: as asked).
    pub window: u8,
    /// Every Call with a number that this divides is cleared, out of order (0: none).
    pub refuse_every: u32,
    /// So often all circuits are cleared, network congestion (0: never).
    pub clear_every_ms: u64,
    /// All circuits are cleared each time so many Data packets have come (0: never).
    pub clear_after: u64,
}

/// The line that the relay stands for; all its circuits share it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmulatedLine {
    /// From the calling to the called side, and back.
    pub directions: [line::Config; 2],
    pub framing: line::Framing,
    /// What becomes of a packet for which the queue has no room.
    pub overflow: Overflow,
    pub seed: u64,
}

/// What a relay does with a message for which its queue has no room.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Overflow {
    /// Nothing more is read from that connection until there is room.
    #[default]
    Hold,
    Drop,
}

/// What the relay carries. A message is a complete packet sequence.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capacity {
    /// Messages per second from the calling side, and from the called side (0: no limit).
    pub rate: (f64, f64),
    /// Call Requests per second (0: no limit).
    pub calls: f64,
    /// How many messages wait in each direction, how many calls.
    pub queue: u32,
    pub call_queue: u32,
    pub overflow: Overflow,
}

impl Default for Capacity {
    fn default() -> Self {
        Capacity {
            rate: (0.0, 0.0),
            calls: 0.0,
            queue: 100,
            call_queue: 100,
            overflow: Overflow::Hold,
        }
    }
}

/// The relay.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relay {
    pub listen: SocketAddrV4,
    pub connect: SocketAddrV4,
    #[serde(default)]
    pub faults: Faults,
    #[serde(default)]
    pub capacity: Capacity,
    #[serde(default)]
    pub line: EmulatedLine,
}

pub(crate) fn range<T: PartialOrd + std::fmt::Display>(
    name: &str,
    value: T,
    low: T,
    high: T,
) -> Result<(), String> {
    if value < low || value > high {
        return Err(format!("{name} is {value}: it must be from {low} to {high}"));
    }
    Ok(())
}

/// Call user data: up to 16 octets (X.25 5.2.2).
pub(crate) fn hexadecimal(name: &str, text: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("{name} is {text:?}: up to 16 octets in hexadecimal");
    if !text.len().is_multiple_of(2) || text.len() > 32 {
        return Err(wrong());
    }
    let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
    text.as_bytes()
        .chunks(2)
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect::<Option<_>>()
        .ok_or_else(wrong)
}

fn octets_of<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    hexadecimal("user_data", &text).map_err(serde::de::Error::custom)
}

/// Impolite callers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    pub connect: SocketAddrV4,
    #[serde(default)]
    pub sources: Vec<Ipv4Addr>,
    pub kind: Kind,
    /// Per second, for so long; at most so many are open.
    pub rate: f64,
    pub duration_ms: u64,
    pub most: u32,
    pub called: String,
    #[serde(deserialize_with = "octets_of")]
    pub user_data: Vec<u8>,
}

impl Flood {
    pub fn check(&self) -> Result<(), String> {
        range("rate", self.rate, 1e-3, 1e6)?;
        range("duration_ms", self.duration_ms, 1, 86_400_000)?;
        range("most", self.most, 1, 1_000_000)?;
        match Address::parse(&self.called) {
            Some(_) => Ok(()),
            None => Err(format!("called is {:?}: up to 15 decimal digits", self.called)),
        }
    }
}

fn tcp_settings(mss: u16, buffers: u32) -> Result<(), String> {
    if mss > 0 {
        range("mss", mss, 88, 32_767)?;
    }
    range("buffers", buffers, 0, 1 << 30)
}

pub(crate) fn packet_size(name: &str, size: u16) -> Result<(), String> {
    if !size.is_power_of_two() || !(16..=4096).contains(&size) {
        return Err(format!("{name} is {size}: X.25 has 16, 32, 64, ... 4096 octets"));
    }
    Ok(())
}

impl Caller {
    /// Reads and checks a configuration.
    pub fn parse(json: &str) -> Result<Caller, String> {
        let config: Caller =
            serde_json::from_str(json).map_err(|e| format!("configuration: {e}"))?;
        config.check()?;
        Ok(config)
    }

    pub fn check(&self) -> Result<(), String> {
        packet_size("packet_size", self.packet_size)?;
        if self.modulo != 8 && self.modulo != 128 {
            return Err(format!("modulo is {}: it must be 8 or 128", self.modulo));
        }
        range("window", self.window, 1, self.modulo_kind().mask())?;
        range("threads", self.threads, 1, 256)?;
        range("circuits", self.circuits, self.threads, 1_000_000)?;
        range("lcn", self.lcn, 1, 4095)?;
        range("depth", self.depth, 1, 4096)?;
        range("message_length (to)", self.message_length.1, 1, 16_777_215)?;
        range("message_length (from)", self.message_length.0, 1, self.message_length.1)?;
        range("q_share", self.q_share, 0.0, 1.0)?;
        range("d_share", self.d_share, 0.0, 1.0)?;
        range("timeout_ms", self.timeout_ms, 1, 86_400_000)?;
        if let Some(setup_timeout) = self.setup_timeout_ms {
            range("setup_timeout_ms", setup_timeout, 1, 86_400_000)?;
        }
        for (name, rate) in [("rate", self.rate), ("message_rate", self.message_rate)] {
            if let Some(rate) = rate {
                range(name, rate, 1e-6, 1e7)?;
            }
        }
        tcp_settings(self.mss, self.buffers)?;
        range("first_call", self.first_call, 1, 100_000)?;
        range("call_step", self.call_step, 1, 100_000)?;
        range("phase", self.phase, 0.0, 1.0)?;
        if self.all_circuits > 0 {
            range("all_circuits", self.all_circuits, self.circuits, 1_000_000)?;
        }
        if let Some(trial) = &self.trial {
            trial.check()?;
            if self.calls != Some(self.circuits) || self.mode == Mode::Source {
                return Err("trial: needs as many calls as circuits, and mode echo or sink".into());
            }
        }
        if self.duration_ms.is_none() && self.calls.is_none() {
            return Err("give duration_ms or calls: the run would never end".into());
        }
        if self.hold_to_end && self.duration_ms.is_none() {
            return Err("hold_to_end needs duration_ms: the run would never end".into());
        }
        if self.called_start.len() != self.called_end.len() || self.called_start > self.called_end {
            return Err(format!(
                "called address range {},{}: both ends need the same number of digits, in order",
                self.called_start, self.called_end
            ));
        }
        for (name, text) in [
            ("called_start", &self.called_start),
            ("called_end", &self.called_end),
            ("calling_base", &self.calling_base),
        ] {
            if Address::parse(text).is_none() {
                return Err(format!("{name} is {text:?}: it must be up to 15 decimal digits"));
            }
        }
        if self.calling_base.len() > 6 {
            return Err("calling_base: at most 6 digits, HHMM and a sequence follow".into());
        }
        self.user_data_octets().map(|_| ())
    }

    pub fn user_data_octets(&self) -> Result<Vec<u8>, String> {
        hexadecimal("user_data", &self.user_data)
    }

    pub fn modulo_kind(&self) -> Modulo {
        if self.modulo == 8 { Modulo::M8 } else { Modulo::M128 }
    }

    /// Circuits of all testers together.
    pub fn whole(&self) -> u32 {
        if self.all_circuits > 0 { self.all_circuits } else { self.circuits }
    }

    pub fn flow(&self) -> FlowParameters {
        FlowParameters {
            called_size: self.packet_size,
            calling_size: self.packet_size,
            called_window: self.window,
            calling_window: self.window,
        }
    }
}

impl Responder {
    pub fn check(&self) -> Result<(), String> {
        packet_size("max_packet_size", self.max_packet_size)?;
        range("max_window", self.max_window, 1, 127)?;
        range("threads", self.threads, 1, 256)?;
        range("max_circuits", self.max_circuits, 1, 1_000_000)?;
        tcp_settings(self.mss, self.buffers)?;
        hexadecimal("unanswered", &self.unanswered)?;
        hexadecimal("unconfirmed", &self.unconfirmed)?;
        range("message_length", self.message_length, 1, 16_777_215)
    }
}

impl Relay {
    pub fn check(&self) -> Result<(), String> {
        let f = &self.faults;
        range("delay_ms", f.delay_ms, 0.0, 60_000.0)?;
        range("corrupt", f.corrupt, 0.0, 1.0)?;
        range("stall_at_ms", f.stall_at_ms, 0, 86_400_000)?;
        range("stall_ms", f.stall_ms, 0, 86_400_000)?;
        range("stall_every_ms", f.stall_every_ms, 0, 86_400_000)?;
        if f.stall_every_ms > 0 && f.stall_ms >= f.stall_every_ms {
            return Err(format!(
                "stall_ms is {}: it must be less than stall_every_ms, {}",
                f.stall_ms, f.stall_every_ms
            ));
        }
        range("window", f.window, 0, 127)?;
        if f.mss > 0 {
            range("mss", f.mss, 88, 32_767)?;
        }
        let c = &self.capacity;
        for (name, rate) in
            [("rate (A to B)", c.rate.0), ("rate (B to A)", c.rate.1), ("calls", c.calls)]
        {
            range(name, rate, 0.0, 1e7)?;
        }
        range("clear_every_ms", f.clear_every_ms, 0, 86_400_000)?;
        self.line.directions.iter().try_for_each(line::Config::check)?;
        let unlimited = (c.rate.0, c.rate.1, c.calls) == (0.0, 0.0, 0.0);
        if !unlimited && !self.line.directions.iter().all(line::Config::is_ideal) {
            return Err("line: a relay has an emulated line or a capacity, not both".into());
        }
        range("queue", c.queue, 0, 1_000_000)?;
        range("call_queue", c.call_queue, 0, 1_000_000)
    }
}

/// SplitMix64: the only source of chance, so that a seed repeats a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        crate::record::mix(self.0)
    }

    /// From 0 to below `bound`; the bias is below 2^-32 for the bounds used here.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound.max(1))) >> 64) as u64
    }

    /// From 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }
}
