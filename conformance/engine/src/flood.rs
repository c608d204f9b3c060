// SPDX-License-Identifier: GPL-2.0-or-later
//! Impolite callers: connections without a call, calls that nobody answers, clears that nobody
//! confirms, connections closed on one side only. They are opened by schedule and held.

use crate::config::Flood as Config;
use crate::link::{READS_IN_A_ROW, RECEIVE_BUFFER};
use crate::poll::{self, Poller, Socket};
use crate::stats::count;
use crate::wire::{self, Address, FlowParameters, Modulo, Packet, Unit, Writer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;

/// What a caller leaves undone.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Connects and says nothing.
    #[default]
    Connections,
    /// Calls; that nobody answers is the called side's part (by the call user data).
    Calls,
    /// Calls, and clears once connected; that nobody confirms is the called side's part.
    Clears,
    /// Calls, and closes its own direction once connected.
    HalfClosed,
}

/// What a flood counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Due by the schedule, opened, connected (Call Connected received).
    pub offered: u64,
    pub opened: u64,
    pub connected: u64,
    /// Ended by the peer, and cleared by it.
    pub ended: u64,
    pub cleared: u64,
    /// Open at the end, and at most.
    pub open: u64,
    pub open_most: u64,
    pub failures: BTreeMap<String, u64>,
    pub seconds: f64,
}

const MILLISECOND: u64 = 1_000_000;

struct Held {
    socket: Socket,
    sent: bool,
    done: bool,
}

struct FloodThread {
    config: Config,
    stop: Arc<AtomicBool>,
    ended: Arc<AtomicU64>,
    poller: Poller,
    held: Vec<Option<Held>>,
    free: Vec<usize>,
    generations: Vec<u32>,
    report: Report,
    buffer: Vec<u8>,
    /// Tokens of connections with more to read; epoll tells of it once only.
    unread: Vec<u64>,
    open: u64,
}

/// A flood at work, in a thread of its own.
pub struct Flood {
    stop: Arc<AtomicBool>,
    ended: Arc<AtomicU64>,
    thread: Option<JoinHandle<Report>>,
}

impl Flood {
    /// Starts from a JSON configuration.
    pub fn start(json: &str) -> Result<Flood, String> {
        let config: Config =
            serde_json::from_str(json).map_err(|e| format!("configuration: {e}"))?;
        config.check()?;
        poll::raise_file_limit();
        let stop = Arc::new(AtomicBool::new(false));
        let ended = Arc::new(AtomicU64::new(0));
        let work = FloodThread {
            stop: stop.clone(),
            ended: ended.clone(),
            poller: Poller::new().map_err(|e| format!("cannot start: {e}"))?,
            held: Vec::new(),
            free: Vec::new(),
            generations: Vec::new(),
            report: Report::default(),
            buffer: vec![0; RECEIVE_BUFFER],
            unread: Vec::new(),
            open: 0,
            config,
        };
        let thread = std::thread::Builder::new()
            .name("x25-flood".into())
            .spawn(|| work.run())
            .map_err(|e| format!("cannot start: {e}"))?;
        Ok(Flood { stop, ended, thread: Some(thread) })
    }

    /// Connections that the peer has ended so far.
    pub fn ended(&self) -> u64 {
        self.ended.load(Relaxed)
    }

    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    pub fn join(&mut self) -> Result<Report, String> {
        let thread = self.thread.take().ok_or("the result was already taken")?;
        thread.join().map_err(|_| "the flood died (a defect)".to_owned())
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl FloodThread {
    fn run(mut self) -> Report {
        let start = poll::now();
        let end = start + self.config.duration_ms * MILLISECOND;
        let gap = 1e9 / self.config.rate;
        loop {
            let now = poll::now();
            if now >= end || self.stop.load(Relaxed) {
                break;
            }
            let due = start + (self.report.offered as f64 * gap) as u64;
            if due <= now {
                self.report.offered += 1;
                self.open_one();
            }
            let wait = due.min(end).saturating_sub(now).min(20 * MILLISECOND);
            let unread = std::mem::take(&mut self.unread);
            let wait = if unread.is_empty() { wait } else { 0 };
            let Ok(ready) = self.poller.wait(wait) else { break };
            for token in unread {
                self.on_event(token, true);
            }
            for i in 0..ready {
                let event = self.poller.get(i);
                self.on_event(event.token, event.readable || event.failed);
            }
        }
        self.report.open = self.open;
        self.report.seconds = (poll::now() - start) as f64 / 1e9;
        self.report
    }

    fn open_one(&mut self) {
        if self.open >= u64::from(self.config.most) {
            return count(&mut self.report.failures, "as many as asked are open");
        }
        let sources = &self.config.sources;
        let source = (!sources.is_empty())
            .then(|| SocketAddrV4::new(sources[self.report.offered as usize % sources.len()], 0));
        let socket = match Socket::connect(self.config.connect, source) {
            Ok(socket) => socket,
            Err(e) => return count(&mut self.report.failures, poll::error_name(&e)),
        };
        let index = self.free.pop().unwrap_or_else(|| {
            self.held.push(None);
            self.generations.push(0);
            self.held.len() - 1
        });
        let token = u64::from(self.generations[index]) << 32 | index as u64;
        if let Err(e) = self.poller.add_stream(&socket, token) {
            self.free.push(index);
            return count(&mut self.report.failures, poll::error_name(&e));
        }
        self.report.opened += 1;
        self.open += 1;
        self.report.open_most = self.report.open_most.max(self.open);
        self.held[index] = Some(Held { socket, sent: false, done: false });
    }

    fn on_event(&mut self, token: u64, readable: bool) {
        let (index, generation) = ((token as u32) as usize, (token >> 32) as u32);
        if self.generations.get(index) != Some(&generation) {
            return;
        }
        let Some(held) = &mut self.held[index] else { return };
        let mut out = Vec::new();
        if !held.sent && self.config.kind != Kind::Connections {
            // Writable, or failed; the write tells.
            held.sent = true;
            call(&self.config, self.report.opened, &mut out);
            if let Err(e) = held.socket.send(&out) {
                count(&mut self.report.failures, poll::error_name(&e));
                return self.close(index);
            }
        }
        if readable && self.read(index) {
            self.unread.push(token);
        }
    }

    /// True if there may be more to read; others have their turn first.
    fn read(&mut self, index: usize) -> bool {
        for _ in 0..READS_IN_A_ROW {
            let Some(held) = &mut self.held[index] else { return false };
            match held.socket.recv(&mut self.buffer) {
                Ok(0) => {
                    self.report.ended += 1;
                    self.ended.store(self.report.ended, Relaxed);
                    self.close(index);
                    return false;
                }
                Ok(n) => {
                    let mut rest = &self.buffer[..n];
                    while let Unit::Packet(packet, behind) = wire::next_unit(rest) {
                        rest = behind;
                        match wire::decode(packet) {
                            Ok((_, Packet::CallAccepted(_))) if !held.done => {
                                held.done = true;
                                self.report.connected += 1;
                                leave_undone(&self.config, &held.socket);
                            }
                            Ok((_, Packet::ClearRequest { .. })) => self.report.cleared += 1,
                            _ => {}
                        }
                    }
                }
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => return false,
                Err(e) => {
                    count(&mut self.report.failures, poll::error_name(&e));
                    self.close(index);
                    return false;
                }
            }
        }
        true
    }

    fn close(&mut self, index: usize) {
        if self.held[index].take().is_some() {
            self.open -= 1;
            self.generations[index] = self.generations[index].wrapping_add(1);
            self.free.push(index);
        }
    }
}

/// A Call Request of the flood; number tells its calls apart.
fn call(config: &Config, number: u64, out: &mut Vec<u8>) {
    let called = Address::parse(&config.called).unwrap_or_default();
    let mut calling = Address::parse("310000000000000").unwrap_or_default();
    calling.set_tail(9, number);
    let mut writer = Writer { out, modulo: Modulo::M8, lcn: 1 };
    writer.call_request(&called, &calling, &FlowParameters::default(), &config.user_data, false);
}

/// Connected: do what this kind does, and no more.
fn leave_undone(config: &Config, socket: &Socket) {
    match config.kind {
        Kind::Clears => {
            let mut out = Vec::new();
            Writer { out: &mut out, modulo: Modulo::M8, lcn: 1 }.clear_request(0, 0);
            let _ = socket.send(&out); // it failed: there is nothing to leave undone
        }
        Kind::HalfClosed => socket.shutdown_send(),
        Kind::Connections | Kind::Calls => {}
    }
}
