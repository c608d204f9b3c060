// SPDX-License-Identifier: GPL-2.0-or-later
//! A relay of XOT connections: what comes in goes out unread. It is the control run's stand-in for
//! a router, and with faults it is what the tester is tested against.
//!
//! Without faults on packets the octets are not even looked at. With them the stream is cut into
//! XOT units, and Data packets are dropped, doubled, swapped or damaged in their user data.

use crate::config::{Random, Relay as Config};
use crate::poll::{self, Poller, Socket};
use crate::wire::{self, Packet, Unit};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;

const LISTENER: u64 = u64::MAX;
const MILLISECOND: u64 = 1_000_000;
/// A direction that holds more than this is not read any further.
const HIGH_WATER: usize = 1 << 20;
const MAX_NOTES: usize = 10_000;

/// One fault that was made.
#[derive(Clone, Debug, Serialize)]
pub struct Injected {
    pub kind: &'static str,
    /// Number of the connection, from 1, and whether towards the called side.
    pub connection: u32,
    pub forward: bool,
    /// Number of the Data packet, from 1 (0: no single packet).
    pub packet: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    pub connections: u32,
    pub octets: u64,
    pub data_packets: u64,
    pub injected: Vec<Injected>,
    pub cpu_ns: u64,
}

/// One direction of a connection: octets that wait to go out.
#[derive(Default)]
struct Pipe {
    out: Vec<u8>,
    sent: usize,
    /// Octets not yet due: time and number of octets, in order, and the octets.
    delayed: VecDeque<(u64, usize)>,
    waiting: VecDeque<u8>,
    /// Start of a unit (only when packets are looked at).
    partial: Vec<u8>,
    ended: bool,
    end_sent: bool,
}

struct Pair {
    number: u32,
    sockets: [Socket; 2],
    /// `pipes[0]`: from the calling to the called side.
    pipes: [Pipe; 2],
    hold_until: u64,
    /// Held back by backpressure: read again once the other side has taken its octets.
    unread: [bool; 2],
}

/// A Data packet that waits for its partner of another connection.
struct Swap {
    pair: usize,
    number: u32,
    direction: usize,
    unit: Vec<u8>,
    /// What came behind it in the meantime, so that the order stays.
    behind: Vec<u8>,
    packet: u64,
}

struct Worker {
    config: Config,
    shared: Arc<(Socket, AtomicBool)>,
    poller: Poller,
    pairs: Vec<Option<Box<Pair>>>,
    generations: Vec<u32>,
    free: Vec<usize>,
    buffer: Vec<u8>,
    random: Random,
    report: Report,
    start: u64,
    /// Octets of user data until the next one is damaged.
    corrupt_in: u64,
    swap: Option<Swap>,
    parses: bool,
    delay: u64,
    timers: std::collections::BinaryHeap<std::cmp::Reverse<(u64, usize)>>,
}

/// The relay at work, in a thread of its own.
pub struct Relay {
    shared: Arc<(Socket, AtomicBool)>,
    thread: Option<JoinHandle<Report>>,
}

impl Relay {
    /// Starts from a JSON configuration; it listens when this returns.
    pub fn start(json: &str) -> Result<Relay, String> {
        let config: Config =
            serde_json::from_str(json).map_err(|e| format!("configuration: {e}"))?;
        config.check()?;
        poll::raise_file_limit();
        let listener = Socket::listen_or_say(config.listen)?;
        let shared = Arc::new((listener, AtomicBool::new(false)));
        let worker = Worker::new(config, shared.clone()).map_err(|e| format!("relay: {e}"))?;
        let thread = std::thread::Builder::new()
            .name("x25-relay".into())
            .spawn(|| worker.run())
            .map_err(|e| format!("cannot start: {e}"))?;
        Ok(Relay { shared, thread: Some(thread) })
    }

    pub fn port(&self) -> u16 {
        self.shared.0.local_port().unwrap_or(0)
    }

    pub fn stop(&self) {
        self.shared.1.store(true, Relaxed);
    }

    pub fn join(&mut self) -> Result<Report, String> {
        let thread = self.thread.take().ok_or("the result was already taken")?;
        thread.join().map_err(|_| "the relay died (a defect)".to_owned())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Worker {
    fn new(config: Config, shared: Arc<(Socket, AtomicBool)>) -> std::io::Result<Self> {
        let poller = Poller::new()?;
        poller.add_listener(&shared.0, LISTENER)?;
        let f = &config.faults;
        let parses =
            !f.drop.is_empty() || !f.duplicate.is_empty() || !f.swap.is_empty() || f.corrupt > 0.0;
        let mut worker = Worker {
            random: Random(f.seed),
            delay: (f.delay_ms * 1e6) as u64,
            shared,
            poller,
            pairs: Vec::new(),
            generations: Vec::new(),
            free: Vec::new(),
            buffer: vec![0; 256 * 1024],
            report: Report::default(),
            start: poll::now(),
            corrupt_in: u64::MAX,
            swap: None,
            parses,
            timers: std::collections::BinaryHeap::new(),
            config,
        };
        worker.plan_corruption();
        Ok(worker)
    }

    fn plan_corruption(&mut self) {
        let p = self.config.faults.corrupt;
        if p > 0.0 {
            // Gaps between independent events of probability p are geometrically distributed.
            let gap = (1.0 - self.random.unit()).ln() / (1.0 - p).ln();
            self.corrupt_in = if gap.is_finite() { gap as u64 } else { 0 };
        }
    }

    fn run(mut self) -> Report {
        while !self.shared.1.load(Relaxed) {
            let now = poll::now();
            let due = self.timers.peek().map_or(u64::MAX, |t| t.0.0);
            let wait = due.saturating_sub(now).min(50 * MILLISECOND);
            let Ok(ready) = self.poller.wait(wait) else { break };
            for i in 0..ready {
                let event = self.poller.get(i);
                if event.token == LISTENER {
                    self.accept();
                    continue;
                }
                let index = (event.token as u32 >> 1) as usize;
                let side = (event.token & 1) as usize;
                if self.generations.get(index) != Some(&((event.token >> 32) as u32)) {
                    continue;
                }
                if event.readable || event.failed {
                    self.read(index, side);
                }
                if event.writable || event.failed {
                    self.push(index, 1 - side);
                }
            }
            let now = poll::now();
            while let Some(std::cmp::Reverse((at, index))) = self.timers.peek().copied() {
                if at > now {
                    break;
                }
                self.timers.pop();
                self.push(index, 0);
                self.push(index, 1);
            }
        }
        let (user, system) = poll::thread_cpu();
        self.report.cpu_ns = user + system;
        self.report
    }

    fn accept(&mut self) {
        loop {
            let calling = match self.shared.0.accept() {
                Ok(Some(socket)) => socket,
                Ok(None) => return,
                Err(_) => {
                    // The listener stays readable: without a pause this would spin.
                    return std::thread::sleep(std::time::Duration::from_millis(5));
                }
            };
            let Ok(called) = Socket::connect(self.config.connect, None) else { continue };
            self.report.connections += 1;
            let number = self.report.connections;
            let index = self.free.pop().unwrap_or_else(|| {
                self.pairs.push(None);
                self.generations.push(0);
                self.pairs.len() - 1
            });
            let f = &self.config.faults;
            let mut hold_until = 0;
            if f.delay_call == number {
                hold_until = poll::now() + f.delay_call_ms * MILLISECOND;
                self.timers.push(std::cmp::Reverse((hold_until, index)));
                self.note("delay", number, true, 0);
            }
            let base = u64::from(self.generations[index]) << 32 | (index as u64) << 1;
            let sockets = [calling, called];
            let added = self.poller.add_stream(&sockets[0], base).is_ok()
                && self.poller.add_stream(&sockets[1], base | 1).is_ok();
            if added {
                self.pairs[index] = Some(Box::new(Pair {
                    number,
                    sockets,
                    pipes: Default::default(),
                    hold_until,
                    unread: [false; 2],
                }));
            } else {
                self.free.push(index);
            }
        }
    }

    fn note(&mut self, kind: &'static str, connection: u32, forward: bool, packet: u64) {
        if self.report.injected.len() < MAX_NOTES {
            self.report.injected.push(Injected { kind, connection, forward, packet });
        }
    }

    /// Reads from one side into the pipe towards the other.
    fn read(&mut self, index: usize, side: usize) {
        loop {
            let Some(mut pair) = self.pairs[index].take() else { return };
            let pipe = &mut pair.pipes[side];
            if pipe.out.len() - pipe.sent + pipe.waiting.len() > HIGH_WATER {
                pair.unread[side] = true;
                self.pairs[index] = Some(pair);
                return;
            }
            pair.unread[side] = false;
            let mut buffer = std::mem::take(&mut self.buffer);
            let received = pair.sockets[side].recv(&mut buffer);
            let mut closed = false;
            let mut more = false;
            match received {
                Ok(0) => pair.pipes[side].ended = true,
                Ok(n) => {
                    more = n == buffer.len();
                    self.report.octets += n as u64;
                    if self.parses {
                        self.on_units(index, &mut pair, side, &buffer[..n]);
                    } else {
                        self.enqueue(index, &mut pair.pipes[side], &buffer[..n]);
                    }
                }
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => closed = true,
            }
            self.buffer = buffer;
            self.pairs[index] = Some(pair);
            if closed {
                return self.close(index);
            }
            self.push(index, side);
            if !more {
                return;
            }
        }
    }

    fn enqueue(&mut self, index: usize, pipe: &mut Pipe, octets: &[u8]) {
        if self.delay == 0 {
            pipe.out.extend_from_slice(octets);
        } else {
            let due = poll::now() + self.delay;
            pipe.delayed.push_back((due, octets.len()));
            pipe.waiting.extend(octets);
            self.timers.push(std::cmp::Reverse((due, index)));
        }
    }

    /// Cuts units and lets Data packets pass through the faults.
    fn on_units(&mut self, index: usize, pair: &mut Pair, side: usize, octets: &[u8]) {
        let mut stream = std::mem::take(&mut pair.pipes[side].partial);
        stream.extend_from_slice(octets);
        let mut rest: &[u8] = &stream;
        loop {
            match wire::next_unit(rest) {
                Unit::Packet(packet, behind) => {
                    let unit = &rest[..wire::XOT_HEADER + packet.len()];
                    rest = behind;
                    if let Some(swap) = &mut self.swap
                        && (swap.pair, swap.direction) == (index, side)
                    {
                        swap.behind.extend_from_slice(unit);
                        continue;
                    }
                    match wire::decode(packet) {
                        Ok((_, Packet::Data { user_data, .. })) => {
                            let header = unit.len() - user_data.len();
                            self.on_data(index, pair, side, unit.to_vec(), header);
                        }
                        _ => self.enqueue(index, &mut pair.pipes[side], unit),
                    }
                }
                Unit::Incomplete => break,
                Unit::Broken(_) => {
                    // Not for the relay to judge: pass it on as it is.
                    self.enqueue(index, &mut pair.pipes[side], rest);
                    rest = &[];
                    break;
                }
            }
        }
        pair.pipes[side].partial = rest.to_vec();
    }

    fn on_data(
        &mut self,
        index: usize,
        pair: &mut Pair,
        side: usize,
        mut unit: Vec<u8>,
        header: usize,
    ) {
        self.report.data_packets += 1;
        let packet = self.report.data_packets;
        let forward = side == 0;
        let octets = (unit.len() - header) as u64;
        let mut at = header as u64;
        let mut left = octets;
        while self.corrupt_in < left {
            at += self.corrupt_in;
            left -= self.corrupt_in + 1;
            unit[at as usize] ^= 1 + self.random.below(255) as u8;
            at += 1;
            self.note("corrupt", pair.number, forward, packet);
            self.plan_corruption();
        }
        if self.corrupt_in != u64::MAX {
            self.corrupt_in -= left;
        }
        if self.config.faults.drop.contains(&packet) {
            return self.note("drop", pair.number, forward, packet);
        }
        if self.config.faults.duplicate.contains(&packet) {
            self.note("duplicate", pair.number, forward, packet);
            self.enqueue(index, &mut pair.pipes[side], &unit);
        }
        if let Some(mut swap) = self.swap.take() {
            // The partner needs user data of the same length, on another circuit.
            let fits =
                swap.direction == side && swap.pair != index && swap.unit.len() == unit.len();
            if !fits {
                self.swap = Some(swap);
            } else {
                swap.unit[header..].swap_with_slice(&mut unit[header..]);
                self.note("swap", swap.number, forward, swap.packet);
                self.note("swap", pair.number, forward, packet);
                if let Some(mut other) = self.pairs[swap.pair].take() {
                    swap.unit.extend_from_slice(&swap.behind);
                    self.enqueue(swap.pair, &mut other.pipes[side], &swap.unit);
                    self.pairs[swap.pair] = Some(other);
                    self.push(swap.pair, side);
                }
            }
        } else if self.config.faults.swap.contains(&packet) {
            let number = pair.number;
            let behind = Vec::new();
            self.swap = Some(Swap { pair: index, number, direction: side, unit, behind, packet });
            return;
        }
        self.enqueue(index, &mut pair.pipes[side], &unit);
    }

    /// Time until which everything stands still (0: it does not).
    fn stalled_until(&self, now: u64) -> u64 {
        let from = self.start + self.config.faults.stall_at_ms * MILLISECOND;
        let until = from + self.config.faults.stall_ms * MILLISECOND;
        if (from..until).contains(&now) { until } else { 0 }
    }

    /// Sends what is due in the pipe that side `from` fills.
    fn push(&mut self, index: usize, from: usize) {
        let now = poll::now();
        let stalled = self.stalled_until(now);
        let Some(pair) = self.pairs.get_mut(index).and_then(Option::as_mut) else { return };
        let hold = stalled.max(if now < pair.hold_until { pair.hold_until } else { 0 });
        if hold > 0 {
            self.timers.push(std::cmp::Reverse((hold, index)));
            return;
        }
        let pipe = &mut pair.pipes[from];
        while let Some((due, n)) = pipe.delayed.front().copied() {
            if due > now {
                break;
            }
            pipe.delayed.pop_front();
            pipe.out.extend(pipe.waiting.drain(..n));
        }
        let to = &pair.sockets[1 - from];
        while pipe.sent < pipe.out.len() {
            match to.send(&pipe.out[pipe.sent..]) {
                Ok(n) => pipe.sent += n,
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => return self.close(index),
            }
        }
        pipe.out.clear();
        pipe.sent = 0;
        if pipe.ended && pipe.waiting.is_empty() && !pipe.end_sent {
            pipe.end_sent = true;
            to.shutdown_send();
        }
        if pair.pipes.iter().all(|p| p.end_sent) {
            return self.close(index);
        }
        if pair.unread[from] {
            self.read(index, from);
        }
    }

    fn close(&mut self, index: usize) {
        if self.pairs[index].take().is_some() {
            self.swap.take_if(|swap| swap.pair == index);
            self.generations[index] = self.generations[index].wrapping_add(1);
            self.free.push(index);
        }
    }
}
