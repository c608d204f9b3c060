// SPDX-License-Identifier: GPL-2.0-or-later
//! Calling DTEs under load: many circuits per thread, closed loop or by schedule.
//!
//! Life of a call: TCP connection, Call Request (with packet size and window), messages, Clear,
//! end of the connection (RFC 1613 6.1: one connection per virtual call). This module keeps the
//! circuits, the timers and the schedule; `call.rs` has what one call does.

use crate::call::{Phase, Slot};
use crate::config::{Caller as Config, Random};
use crate::poll::{self, Poller, Ready, Socket};
use crate::stats::{Live, Stats};
use crate::trial::Clock;
use crate::wire::{Address, FlowParameters, Modulo};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

pub const NEVER: u64 = u64::MAX;
/// Connections that may fail before any waits.
const AT_ONCE: usize = 16;
const MILLISECOND: u64 = 1_000_000;
/// RFC 2544 clause 24: two seconds for what is still under way after a trial.
const TRIAL_CLEAR: u64 = 2_000 * MILLISECOND;

/// What the callers of a run have in common.
pub struct Shared {
    pub config: Config,
    pub start: u64,
    pub stop: AtomicBool,
    /// Calls are numbered from 1, over all threads.
    next_call: AtomicU32,
    pub trial: Option<Arc<Clock>>,
}

/// The configuration as the hot path wants it.
pub(crate) struct Plan {
    pub modulo: Modulo,
    pub flow: FlowParameters,
    pub user_data: Vec<u8>,
    pub called: Address,
    pub called_digits: usize,
    pub called_first: u64,
    pub called_count: u64,
    pub calling: Address,
    pub timeout: u64,
    pub setup_timeout: u64,
    pub late: u64,
    pub message_gap: Option<u64>,
}

pub struct Caller {
    pub(crate) shared: Arc<Shared>,
    pub(crate) plan: Plan,
    pub(crate) stats: Stats,
    pub(crate) slots: Vec<Slot>,
    /// Octets to send by the circuit in hand.
    pub(crate) scratch: Vec<u8>,
    pub(crate) pool: Vec<Vec<u8>>,
    pub(crate) draining: bool,
    pub(crate) setups: u32,
    pub(crate) live: Arc<Live>,
    poller: Poller,
    free: Vec<u32>,
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    buffer: Vec<u8>,
    /// Tokens of circuits with more to read; epoll tells of it once only.
    unread: Vec<u64>,
    open: u64,
    /// Connections that failed one after the other.
    pub(crate) refused: u32,
    /// No new call before this time (sockets have run out).
    penalty_until: u64,
    next_arrival: Option<u64>,
    arrival_gap: f64,
    random: Random,
    calls_left: bool,
    source_turn: usize,
    /// The trial's schedule has begun.
    pub(crate) trial_begun: bool,
    /// The first of the threads: it counts what is of all of them.
    pub(crate) is_first: bool,
}

/// How long a circuit waits after so many connections in a row failed, in nanoseconds. A router that
/// is not there is asked less and less often, up to twice a second for each circuit.
fn retry_pause(refused: u32, circuits: usize) -> u64 {
    let rounds = (refused as usize).saturating_sub(AT_ONCE) / circuits.max(1);
    if rounds == 0 { 0 } else { MILLISECOND << rounds.min(9) }
}

fn number(text: &str) -> u64 {
    text.bytes().fold(0, |n, c| n * 10 + u64::from(c - b'0'))
}

impl Shared {
    pub fn new(config: Config) -> Result<Arc<Self>, String> {
        config.check()?;
        let trial = config.trial.map(|t| {
            Clock::new(t, config.whole(), config.circuits, config.trial_start_ns, config.run)
        });
        Ok(Arc::new(Shared {
            trial,
            start: if config.start_ns > 0 { config.start_ns } else { poll::now() },
            stop: AtomicBool::new(false),
            next_call: AtomicU32::new(config.first_call),
            config,
        }))
    }
}

impl Caller {
    pub fn new(shared: Arc<Shared>, index: u32, live: Arc<Live>) -> io::Result<Self> {
        let config = &shared.config;
        let share =
            config.circuits / config.threads + u32::from(index < config.circuits % config.threads);
        let arrival_gap = config.rate.map_or(0.0, |r| 1e9 * f64::from(config.threads) / r);
        let invalid = |m: String| io::Error::new(io::ErrorKind::InvalidInput, m);
        let plan = Plan {
            modulo: config.modulo_kind(),
            flow: config.flow(),
            user_data: config.user_data_octets().map_err(invalid)?,
            called: Address::parse(&config.called_start).unwrap_or_default(),
            called_digits: config.called_start.len(),
            called_first: number(&config.called_start),
            called_count: number(&config.called_end) - number(&config.called_start) + 1,
            calling: Address::parse(&format!("{}000000000", config.calling_base))
                .unwrap_or_default(),
            timeout: config.timeout_ms * MILLISECOND,
            setup_timeout: config.setup_timeout_ms.unwrap_or(config.timeout_ms) * MILLISECOND,
            late: config.late_ms * MILLISECOND,
            message_gap: config.message_rate.map(|r| (1e9 / r) as u64),
        };
        let mut caller = Caller {
            stats: Stats::new(shared.start, config.interval_ms * MILLISECOND),
            slots: (0..share).map(|_| Slot::default()).collect(),
            free: (0..share).rev().collect(),
            scratch: Vec::with_capacity(1 << 20),
            pool: Vec::new(),
            draining: false,
            setups: 0,
            live,
            poller: Poller::new()?,
            timers: BinaryHeap::with_capacity(2 * share as usize + 16),
            buffer: vec![0; crate::link::RECEIVE_BUFFER],
            unread: Vec::new(),
            open: 0,
            refused: 0,
            penalty_until: 0,
            // The threads' schedules interleave.
            next_arrival: config.rate.map(|_| {
                let turn = (f64::from(index) + config.phase) / f64::from(config.threads);
                shared.start + (arrival_gap * turn) as u64
            }),
            arrival_gap,
            random: Random(crate::record::mix(
                config.seed ^ u64::from(index) << 48 ^ u64::from(config.first_call - 1) << 20,
            )),
            calls_left: true,
            source_turn: index as usize,
            trial_begun: false,
            is_first: index == 0,
            plan,
            shared,
        };
        if caller.shared.config.poisson {
            caller.schedule_next();
        }
        Ok(caller)
    }

    /// Runs to the end of the load and of the calls still open.
    pub fn run(mut self) -> Stats {
        self.await_start();
        let config = &self.shared.config;
        let end = config.duration_ms.map_or(NEVER, |d| self.shared.start + d * MILLISECOND);
        let mut abort_at = NEVER;
        loop {
            let now = poll::now();
            let over = self.watch_trial(now);
            if !self.draining && (over || now >= end || self.shared.stop.load(Relaxed)) {
                self.close_measurement(now.min(end));
                self.draining = true;
                abort_at = now + self.plan.timeout;
                if self.shared.trial.is_some() {
                    self.end_trial(now);
                    abort_at = now + self.plan.timeout.min(TRIAL_CLEAR);
                }
                (0..self.slots.len()).for_each(|i| self.step(i, now));
            }
            if self.draining && now >= abort_at {
                let in_trial = self.shared.trial.is_some();
                for index in 0..self.slots.len() {
                    if in_trial {
                        self.release(index, now); // a path that is full may not clear in time
                    } else {
                        self.abort(index, "run ended", now);
                    }
                    self.settle(index);
                }
            }
            let more = !self.draining && self.start_calls(now);
            if self.open == 0 && (self.draining || !self.calls_left) {
                break;
            }
            self.stats.tick(now);
            self.live.show(&self.stats.total, self.open);
            let next = self.timers.peek().map_or(NEVER, |Reverse((t, _))| *t);
            let arrival = if self.draining || self.free.is_empty() || !self.may_start(now) {
                self.penalty_until
            } else {
                self.next_arrival.unwrap_or(NEVER)
            };
            let nap = if self.shared.trial.is_some() { MILLISECOND } else { 50 * MILLISECOND };
            // Behind the end there is nothing to do but to wait for the open calls.
            let limit = if self.draining { abort_at } else { end };
            let mut wait = next.min(limit).min(now + nap).saturating_sub(now);
            if more || !self.unread.is_empty() {
                wait = 0;
            } else if arrival > now {
                wait = wait.min(arrival - now);
            }
            let unread = std::mem::take(&mut self.unread);
            let Ok(ready) = self.poller.wait(wait) else { break };
            for token in unread {
                self.on_event(Ready { token, readable: true, writable: false, failed: false });
            }
            for index in 0..ready {
                let event = self.poller.get(index);
                self.on_event(event);
            }
            self.fire_timers(poll::now());
        }
        let now = poll::now();
        if self.stats.end_ns == 0 {
            self.close_measurement(now);
        }
        self.stats.tick(now);
        self.stats.finished_ns = now;
        (self.stats.cpu_user_ns, self.stats.cpu_system_ns) = poll::thread_cpu();
        self.live.show(&self.stats.total, 0);
        self.stats
    }

    /// Sleeps until the instant at which all testers begin, unless it is stopped before.
    fn await_start(&mut self) {
        loop {
            let now = poll::now();
            if now >= self.shared.start || self.shared.stop.load(Relaxed) {
                self.stats.began_ns = now;
                return;
            }
            let rest = (self.shared.start - now).min(20 * MILLISECOND);
            std::thread::sleep(std::time::Duration::from_nanos(rest));
        }
    }

    fn close_measurement(&mut self, now: u64) {
        self.stats.end_ns = now;
        self.stats.circuit_octets = self.circuit_octets();
        self.stats.measured = self.stats.total;
        // What was due by schedule and found no free circuit counts as offered all the same.
        while let Some(due) = self.next_arrival.filter(|due| *due < now) {
            self.stats.calls_offered += 1;
            self.schedule_next();
            debug_assert!(self.next_arrival > Some(due));
        }
    }

    fn may_start(&self, now: u64) -> bool {
        self.calls_left && self.setups < self.shared.config.max_setups && now >= self.penalty_until
    }

    fn schedule_next(&mut self) {
        let Some(at) = self.next_arrival else { return };
        let gap = if self.shared.config.poisson {
            -self.arrival_gap * (1.0 - self.random.unit()).ln()
        } else {
            self.arrival_gap
        };
        self.next_arrival = Some(at + (gap as u64).max(1));
    }

    /// Starts what is due; true if there was too much of it for one go. Calls that fail at once
    /// give their circuit back at once: without a bound this would never end.
    fn start_calls(&mut self, now: u64) -> bool {
        for _ in 0..self.slots.len().max(64) {
            if !self.may_start(now) || self.next_arrival.is_some_and(|due| due > now) {
                return false;
            }
            let Some(index) = self.free.pop() else { return false };
            let config = &self.shared.config;
            let call = self.shared.next_call.fetch_add(config.call_step, Relaxed);
            let made = call.wrapping_sub(config.first_call) / config.call_step;
            if config.calls.is_some_and(|most| made >= most) {
                self.free.push(index);
                self.calls_left = false;
                return false;
            }
            // Latency counts from the scheduled time: waiting for a circuit is part of it.
            let due = self.next_arrival.unwrap_or(now);
            if self.next_arrival.is_some() {
                self.stats.calls_offered += 1;
                self.schedule_next();
            }
            self.start_call(index, call, due);
        }
        true
    }

    fn start_call(&mut self, index: u32, call: u32, due: u64) {
        let slot = index as usize;
        self.open += 1;
        self.setups += 1;
        self.stats.circuits_peak = self.stats.circuits_peak.max(self.open);
        let started = poll::now();
        self.begin(slot, call, due, started);
        let config = &self.shared.config;
        let source = (!config.sources.is_empty()).then(|| {
            self.source_turn += 1;
            SocketAddrV4::new(config.sources[self.source_turn % config.sources.len()], 0)
        });
        match Socket::connect_with(config.connect, source, config.mss, config.buffers) {
            Ok(socket) => {
                let token = u64::from(index) | u64::from(self.slots[slot].generation) << 32;
                self.send_call(slot, socket);
                if let Some(link) = &self.slots[slot].link
                    && let Err(e) = self.poller.add_stream(link.socket(), token)
                {
                    self.fail_socket(slot, &e);
                }
            }
            Err(e) => self.fail_socket(slot, &e),
        }
        self.settle(slot);
    }

    /// A call failed below XOT: name it, and hold back as configured.
    pub(crate) fn fail_socket(&mut self, index: usize, e: &io::Error) {
        let slot = &self.slots[index];
        let when = match slot.phase {
            Phase::Free | Phase::Backoff => return,
            Phase::Connecting => "connect",
            Phase::CallSent => "call set-up",
            Phase::Data => "data transfer",
            Phase::ClearSent => "clearing",
        };
        let now = poll::now();
        let config = &self.shared.config;
        let connecting = slot.phase == Phase::Connecting;
        let mut pause = if connecting { config.backoff_ms * MILLISECOND } else { 0 };
        if connecting && config.rate.is_none() && config.trial.is_none() {
            self.refused = self.refused.saturating_add(1);
            pause = pause.max(retry_pause(self.refused, self.slots.len()));
        }
        if poll::is_exhaustion(e) {
            self.penalty_until = now + config.socket_penalty_ms * MILLISECOND;
            let call = slot.call;
            self.stats.first_exhaustion =
                Some(self.stats.first_exhaustion.map_or(call, |first| first.min(call)));
        }
        self.abort(index, &format!("{when}: {}", poll::error_name(e)), now);
        if pause > 0 && self.slots[index].phase == Phase::Free {
            self.slots[index].phase = Phase::Backoff;
            self.slots[index].wake = now + pause;
        }
    }

    fn on_event(&mut self, event: Ready) {
        let (index, generation) = ((event.token as u32) as usize, (event.token >> 32) as u32);
        if self.slots.get(index).is_none_or(|s| s.generation != generation || s.link.is_none()) {
            return; // the call this was for has ended
        }
        if event.failed
            && self.slots[index].phase == Phase::Connecting
            && let Some(link) = &self.slots[index].link
        {
            let e = link.socket().take_error();
            self.fail_socket(index, &e);
            return self.settle(index);
        }
        if event.writable {
            self.on_writable(index);
        }
        if event.readable || event.failed {
            let mut buffer = std::mem::take(&mut self.buffer);
            if self.on_readable(index, &mut buffer) {
                self.unread.push(event.token);
            }
            self.buffer = buffer;
        }
        self.settle(index);
    }

    fn fire_timers(&mut self, now: u64) {
        while let Some(Reverse((at, index))) = self.timers.peek().copied() {
            if at > now {
                return;
            }
            self.timers.pop();
            let index = index as usize;
            self.slots[index].armed = NEVER;
            if self.slots[index].phase == Phase::Backoff {
                if self.slots[index].wake <= now {
                    self.slots[index].phase = Phase::Free;
                }
            } else if self.slots[index].deadline <= now {
                self.on_timeout(index, now);
            } else {
                let slot = &mut self.slots[index];
                let busy = slot.busy_until != 0 && slot.busy_until <= now;
                if slot.wake <= now || busy {
                    if slot.wake <= now {
                        slot.wake = NEVER;
                    }
                    self.step(index, now);
                }
            }
            self.settle(index);
        }
    }

    /// After anything was done to a circuit: give it back if its call ended, else set its timer.
    pub(crate) fn settle(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        if slot.phase == Phase::Free {
            if slot.taken {
                slot.taken = false;
                self.open -= 1;
                self.free.push(index as u32);
            }
            return;
        }
        let busy = if slot.busy_until == 0 { NEVER } else { slot.busy_until };
        let at = slot.deadline.min(slot.wake).min(busy);
        if at < slot.armed {
            slot.armed = at;
            self.timers.push(Reverse((at, index as u32)));
        }
    }
}
