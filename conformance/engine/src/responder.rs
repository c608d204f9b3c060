// SPDX-License-Identifier: GPL-2.0-or-later
//! The called side: accepts calls and echoes, verifies or sends messages.
//!
//! Echo works packet by packet: what cannot go out because the window is closed waits, and is not
//! acknowledged before it has gone out, so that a slow reader slows the sender down.

use crate::config::{self, Responder as Config};
use crate::link::{self, Link, READS_IN_A_ROW, Received};
use crate::poll::{self, Poller, Socket};
use crate::session::{Session, State};
use crate::stats::{Live, Stats, count};
use crate::trial::Clock;
use crate::wire::{self, Unit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

const LISTENER: u64 = u64::MAX;

/// What the threads of a called side have in common.
pub struct Shared {
    pub config: Config,
    pub listener: Socket,
    pub start: u64,
    pub stop: AtomicBool,
    /// Numbers the calls that a source makes up records for.
    pub(crate) next_call: AtomicU32,
    /// Call user data of the calls that are left without an answer, and without confirmation.
    pub(crate) unanswered: Option<Vec<u8>>,
    pub(crate) unconfirmed: Option<Vec<u8>>,
    /// Raised each time that what is ignored on purpose shall be let go of.
    pub(crate) released: AtomicU32,
}

impl Shared {
    pub fn new(config: Config) -> Result<Arc<Self>, String> {
        config.check()?;
        let marker = |name: &str, text: &str| -> Result<Option<Vec<u8>>, String> {
            let octets = config::hexadecimal(name, text)?;
            Ok((!octets.is_empty()).then_some(octets))
        };
        let unanswered = marker("unanswered", &config.unanswered)?;
        let unconfirmed = marker("unconfirmed", &config.unconfirmed)?;
        let listener = Socket::listen_or_say(config.listen, config.shared)?;
        listener.set_tcp(config.mss, config.buffers).map_err(|e| format!("mss, buffers: {e}"))?;
        Ok(Arc::new(Shared {
            unanswered,
            unconfirmed,
            config,
            listener,
            start: poll::now(),
            stop: AtomicBool::new(false),
            next_call: AtomicU32::new(1),
            released: AtomicU32::new(0),
        }))
    }
}

/// What sessions need of their responder.
pub(crate) struct Context {
    pub shared: Arc<Shared>,
    pub stats: Stats,
    /// Octets to send by the session in hand.
    pub scratch: Vec<u8>,
    pub pool: Vec<Vec<u8>>,
    /// The schedule, where the run is a trial: known with the first call.
    pub trial: Option<Arc<Clock>>,
}

/// Nanoseconds without a Call after which a connection may be closed where descriptors run out.
const IDLE: u64 = 1_000_000_000;
const LET_GO_AT_ONCE: usize = 16;

/// What a look at a connection came to: all was read, there is more, or it is over.
enum Read {
    All,
    Part,
    Ended,
}

pub struct Responder {
    context: Context,
    live: Arc<Live>,
    poller: Poller,
    sessions: Vec<Option<Box<Session>>>,
    // Boxed as they are in `sessions`: a free circuit costs a pointer, not a session.
    #[expect(clippy::vec_box)]
    spare: Vec<Box<Session>>,
    generations: Vec<u32>,
    free: Vec<u32>,
    buffer: Vec<u8>,
    /// Tokens of connections with more to read; epoll tells of it once only.
    unread: Vec<u64>,
    released: u32,
}

impl Responder {
    pub fn new(shared: Arc<Shared>, live: Arc<Live>) -> std::io::Result<Self> {
        let poller = Poller::new()?;
        poller.add_listener(&shared.listener, LISTENER)?;
        let stats = Stats::new(shared.start, shared.config.interval_ms * 1_000_000);
        Ok(Responder {
            context: Context {
                shared,
                stats,
                scratch: Vec::with_capacity(1 << 20),
                pool: Vec::new(),
                trial: None,
            },
            live,
            poller,
            sessions: Vec::new(),
            spare: Vec::new(),
            generations: Vec::new(),
            free: Vec::new(),
            buffer: vec![0; link::RECEIVE_BUFFER],
            unread: Vec::new(),
            released: 0,
        })
    }

    fn open(&self) -> u64 {
        (self.sessions.len() - self.free.len()) as u64
    }

    pub fn run(mut self) -> Stats {
        let config = &self.context.shared.config;
        let end =
            config.duration_ms.map_or(u64::MAX, |d| self.context.shared.start + d * 1_000_000);
        while !self.context.shared.stop.load(Relaxed) && poll::now() < end {
            let unread = std::mem::take(&mut self.unread);
            let wait = if unread.is_empty() { 50_000_000 } else { 0 };
            let Ok(ready) = self.poller.wait(wait) else { break };
            for token in unread {
                self.on_event(token, false);
            }
            for i in 0..ready {
                let event = self.poller.get(i);
                if event.token == LISTENER {
                    self.accept();
                } else {
                    self.on_event(event.token, event.writable);
                }
            }
            self.let_go();
            self.context.stats.tick(poll::now());
            self.live.show(&self.context.stats.total, self.open());
        }
        for index in 0..self.sessions.len() {
            self.close(index);
        }
        let now = poll::now();
        let stats = &mut self.context.stats;
        stats.tick(now);
        (stats.end_ns, stats.finished_ns) = (now, now);
        (stats.cpu_user_ns, stats.cpu_system_ns) = poll::thread_cpu();
        stats.measured = stats.total;
        self.live.show(&stats.total, 0);
        self.context.stats
    }

    /// Closes what is ignored on purpose, if that was asked for.
    fn let_go(&mut self) {
        let released = self.context.shared.released.load(Relaxed);
        if released == self.released {
            return;
        }
        self.released = released;
        for index in 0..self.sessions.len() {
            if self.sessions[index].as_ref().is_some_and(|s| s.state == State::Ignoring) {
                self.close(index);
            }
        }
    }

    fn accept(&mut self) {
        for _ in 0..64 {
            match self.context.shared.listener.accept() {
                Ok(Some(socket)) => self.open_session(socket),
                Ok(None) => return,
                Err(e) => {
                    count(&mut self.context.stats.failures, poll::error_name(&e));
                    if poll::is_exhaustion(&e) && self.make_room() {
                        continue;
                    }
                    // The listener stays readable: without a pause this would spin.
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    return;
                }
            }
        }
    }

    /// Closes connections on which nobody has called for a while: whoever only keeps descriptors
    /// must not keep callers out. True if there were any.
    fn make_room(&mut self) -> bool {
        let before = poll::now().saturating_sub(IDLE);
        let idle = |s: &Session| s.state == State::Ready && s.opened < before;
        let mut found: Vec<(u64, usize)> = (0..self.sessions.len())
            .filter_map(|i| self.sessions[i].as_ref().filter(|s| idle(s)).map(|s| (s.opened, i)))
            .collect();
        found.sort_unstable();
        found.truncate(LET_GO_AT_ONCE);
        for (_, index) in &found {
            count(
                &mut self.context.stats.failures,
                "closed without a call, for want of descriptors",
            );
            self.close(*index);
        }
        !found.is_empty()
    }

    fn open_session(&mut self, socket: Socket) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.sessions.push(None);
            self.generations.push(0);
            (self.sessions.len() - 1) as u32
        });
        let at = index as usize;
        if self.open() > u64::from(self.context.shared.config.max_circuits) {
            count(&mut self.context.stats.failures, "too many circuits");
            self.free.push(index);
            return;
        }
        let token = u64::from(index) | u64::from(self.generations[at]) << 32;
        if self.poller.add_stream(&socket, token).is_err() {
            count(&mut self.context.stats.failures, "epoll");
            self.free.push(index);
            return;
        }
        let mut session = self.spare.pop().unwrap_or_default();
        session.open(Link::new(socket), poll::now());
        self.sessions[at] = Some(session);
        self.context.stats.circuits_peak = self.context.stats.circuits_peak.max(self.open());
    }

    fn on_event(&mut self, token: u64, writable: bool) {
        let (index, generation) = ((token as u32) as usize, (token >> 32) as u32);
        if self.generations.get(index) != Some(&generation) {
            return;
        }
        let Some(session) = &mut self.sessions[index] else { return };
        if writable && session.on_writable(&mut self.context).is_err() {
            return self.close(index);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = Self::read(session, &mut self.context, &mut buffer);
        self.buffer = buffer;
        match read {
            Read::All => {}
            Read::Part => self.unread.push(token),
            Read::Ended => self.close(index),
        }
    }

    /// Reads what there is, but not for ever.
    fn read(session: &mut Session, context: &mut Context, buffer: &mut [u8]) -> Read {
        for _ in 0..READS_IN_A_ROW {
            match session.link().receive(buffer) {
                Received::Octets { length, more } => {
                    let mut stream = &buffer[..length];
                    let now = poll::now();
                    loop {
                        match wire::next_unit(stream) {
                            Unit::Packet(octets, behind) => {
                                session.on_octets(context, octets, now);
                                stream = behind;
                            }
                            Unit::Incomplete => {
                                session.link().keep(stream);
                                break;
                            }
                            Unit::Broken(why) => {
                                session.note_protocol_error(context, why, now);
                                return Read::Ended;
                            }
                        }
                    }
                    if session.after_batch(context).is_err() {
                        return Read::Ended;
                    }
                    if !more {
                        return Read::All;
                    }
                }
                Received::Nothing => return Read::All,
                Received::End | Received::Failed(_) => {
                    if session.state == State::Data {
                        count(&mut context.stats.failures, "connection closed during a call");
                    }
                    return Read::Ended;
                }
            }
        }
        Read::Part
    }

    fn close(&mut self, index: usize) {
        let Some(mut session) = self.sessions[index].take() else { return };
        session.finish(&mut self.context);
        self.generations[index] = self.generations[index].wrapping_add(1);
        self.free.push(index as u32);
        if self.spare.len() < 1024 {
            self.spare.push(session); // its vectors keep their capacity
        }
    }
}
