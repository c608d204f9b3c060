// SPDX-License-Identifier: GPL-2.0-or-later
//! A relay of XOT connections: what comes in goes out unread. It is the control run's stand-in for
//! a router, and with faults it is what the tester is tested against.
//!
//! Without faults on packets the octets are not even looked at. With them the stream is cut into
//! XOT units, and Data packets are dropped, doubled, swapped or damaged in their user data. With a
//! capacity (see service.rs) messages and calls wait their turn.

use crate::config::{EmulatedLine, Random, Relay as Config};
use crate::line::{self, Carried, Line};
use crate::poll::{self, Poller, Socket};
use crate::service::Services;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

mod packets;

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
    /// Complete packet sequences, of both directions.
    pub messages: u64,
    /// Messages and calls dropped because a queue was full.
    pub overflowed: u64,
    pub injected: Vec<Injected>,
    /// What the emulated line carried from the calling to the called side, and back.
    pub line: [Carried; 2],
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
    /// A queue is full: nothing more is taken before this time (0: it is not).
    held_until: u64,
    /// When the last of what is delayed is due: nothing overtakes it.
    last_due: u64,
    ended: bool,
    end_sent: bool,
}

struct Pair {
    number: u32,
    sockets: [Socket; 2],
    /// `pipes[0]`: from the calling to the called side.
    pipes: [Pipe; 2],
    lcn: u16,
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

struct RelayThread {
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
    services: Services,
    lines: Option<[Line; 2]>,
    carried: Arc<Mutex<[Carried; 2]>>,
    delay: u64,
    calls: u32,
    clear_at: u64,
    /// Number of the Data packet behind which all circuits are cleared.
    clear_behind: u64,
    timers: std::collections::BinaryHeap<std::cmp::Reverse<(u64, usize)>>,
}

/// The relay at work, in a thread of its own.
pub struct Relay {
    shared: Arc<(Socket, AtomicBool)>,
    carried: Arc<Mutex<[Carried; 2]>>,
    thread: Option<JoinHandle<Report>>,
}

impl Relay {
    /// Starts from a JSON configuration; it listens when this returns.
    pub fn start(json: &str) -> Result<Relay, String> {
        let config: Config =
            serde_json::from_str(json).map_err(|e| format!("configuration: {e}"))?;
        config.check()?;
        poll::raise_file_limit();
        let listener = Socket::listen_or_say(config.listen, false)?;
        if config.faults.mss > 0 {
            listener.set_mss(config.faults.mss).map_err(|e| format!("mss: {e}"))?;
        }
        let shared = Arc::new((listener, AtomicBool::new(false)));
        let carried = Arc::default();
        let work = RelayThread::new(config, shared.clone(), Arc::clone(&carried))
            .map_err(|e| format!("relay: {e}"))?;
        let thread = std::thread::Builder::new()
            .name("x25-relay".into())
            .spawn(|| work.run())
            .map_err(|e| format!("cannot start: {e}"))?;
        Ok(Relay { shared, carried, thread: Some(thread) })
    }

    /// What the emulated line has carried so far.
    pub fn carried(&self) -> [Carried; 2] {
        *self.carried.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
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

/// The two directions, unless neither limits anything.
fn lines_of(config: &EmulatedLine) -> Option<[Line; 2]> {
    if config.directions.iter().all(line::Config::is_ideal) {
        return None;
    }
    let [forward, backward] = config.directions;
    Some([
        Line::new(forward, config.overflow, config.seed),
        Line::new(backward, config.overflow, config.seed ^ 1),
    ])
}

fn clearing_after(now: u64, every_ms: u64) -> u64 {
    if every_ms == 0 { u64::MAX } else { now + every_ms * MILLISECOND }
}

fn clearing_behind(packets: u64, after: u64) -> u64 {
    if after == 0 { u64::MAX } else { packets.saturating_add(after) }
}

impl RelayThread {
    fn meters(&self) -> [Carried; 2] {
        self.lines.as_ref().map_or_else(Default::default, |l| [l[0].carried, l[1].carried])
    }

    fn new(
        config: Config,
        shared: Arc<(Socket, AtomicBool)>,
        carried: Arc<Mutex<[Carried; 2]>>,
    ) -> std::io::Result<Self> {
        let poller = Poller::new()?;
        poller.add_listener(&shared.0, LISTENER)?;
        let f = &config.faults;
        let services = Services::new(&config.capacity);
        let lines = lines_of(&config.line);
        let parses = !f.drop.is_empty()
            || !f.duplicate.is_empty()
            || !f.swap.is_empty()
            || f.corrupt > 0.0
            || f.drop_every > 0
            || f.window > 0
            || f.refuse_every > 0
            || f.clear_after > 0
            || lines.is_some()
            || !services.is_unlimited();
        let mut work = RelayThread {
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
            services,
            lines,
            carried,
            calls: 0,
            clear_at: clearing_after(poll::now(), f.clear_every_ms),
            clear_behind: clearing_behind(0, f.clear_after),
            timers: std::collections::BinaryHeap::new(),
            config,
        };
        work.plan_corruption();
        Ok(work)
    }

    fn run(mut self) -> Report {
        while !self.shared.1.load(Relaxed) {
            let now = poll::now();
            let due = self.timers.peek().map_or(u64::MAX, |t| t.0.0).min(self.clear_at);
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
            let packets = self.report.data_packets;
            if self.clear_at <= now || self.clear_behind <= packets {
                self.clear_at = clearing_after(now, self.config.faults.clear_every_ms);
                self.clear_behind = clearing_behind(packets, self.config.faults.clear_after);
                self.clear_all();
            }
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
        self.report.line = self.meters();
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
            let mss = self.config.faults.mss;
            let Ok(called) = Socket::connect_with(self.config.connect, None, mss, 0) else {
                continue;
            };
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
                    lcn: 0,
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
            let mut closed = false;
            if pair.pipes[side].held_until > 0 && poll::now() >= pair.pipes[side].held_until {
                self.on_units(index, &mut pair, side, &[]);
            }
            let pipe = &mut pair.pipes[side];
            if pipe.held_until > 0 || pipe.out.len() - pipe.sent + pipe.waiting.len() > HIGH_WATER {
                pair.unread[side] = true;
                self.pairs[index] = Some(pair);
                return;
            }
            pair.unread[side] = false;
            let mut buffer = std::mem::take(&mut self.buffer);
            let received = pair.sockets[side].recv(&mut buffer);
            let mut more = false;
            match received {
                Ok(0) => pair.pipes[side].ended = true,
                Ok(n) => {
                    more = true;
                    self.report.octets += n as u64;
                    if self.parses {
                        self.on_units(index, &mut pair, side, &buffer[..n]);
                    } else {
                        self.enqueue(index, &mut pair.pipes[side], &buffer[..n], poll::now());
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

    /// Time until which everything stands still (0: it does not).
    fn stalled_until(&self, now: u64) -> u64 {
        let f = &self.config.faults;
        let from = self.start + f.stall_at_ms * MILLISECOND;
        let Some(mut since) = now.checked_sub(from) else { return 0 };
        if f.stall_every_ms > 0 {
            since %= f.stall_every_ms * MILLISECOND;
        }
        let length = f.stall_ms * MILLISECOND;
        if since < length { now + length - since } else { 0 }
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
