// SPDX-License-Identifier: GPL-2.0-or-later
//! A gateway between IP and X.25: datagrams of a TUN device on virtual calls over XOT.
//!
//! Calls are made on demand, up to `circuits` for each peer; one that carries nothing is cleared
//! after a while; after a refusal the peer is left alone for a while (RFC 1356 3.9, 3.10), longer
//! with each further one. The Clear of a call that was up is not a refusal: the next datagram calls.

use crate::link::{Link, Received};
use crate::poll::{self, Poller, Socket, Tun};
use crate::wire::{self, Address, Modulo, Packet, Unit};
use circuit::{Circuit, Heard, Phase};
use config::{Gateway as Config, Prefix};
use report::Report;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

mod calls;
pub mod circuit;
pub mod config;
pub mod encapsulation;
pub mod report;

const LISTENER: u64 = u64::MAX;
const TUN: u64 = u64::MAX - 1;
const MILLISECOND: u64 = 1_000_000;
/// How often what was counted is shown to others.
const SHOWN_EVERY: u64 = 50 * MILLISECOND;
/// Calls from others, over all peers.
const MOST_ANSWERED: usize = 1000;
/// How long open circuits have to be cleared in at the end.
const LAST_CLEARS: u64 = 2000 * MILLISECOND;

struct Peer {
    address: Address,
    name: String,
    /// Datagrams that wait, IPv4 and IPv6.
    queues: [VecDeque<Vec<u8>>; 2],
    held_until: u64,
    /// Calls that were refused since one came up.
    refusals: u32,
}

struct Slot {
    link: Link,
    circuit: Circuit,
}

struct Shared {
    stop: AtomicBool,
    report: Mutex<Report>,
}

/// The gateway at work, in a thread of its own.
pub struct Gateway {
    shared: Arc<Shared>,
    port: u16,
    thread: Option<JoinHandle<Report>>,
}

impl Gateway {
    /// Starts from a JSON configuration; it listens when this returns.
    pub fn start(json: &str) -> Result<Gateway, String> {
        let config: Config =
            serde_json::from_str(json).map_err(|e| format!("configuration: {e}"))?;
        config.check()?;
        let tun = Tun::copy(config.tun).map_err(|e| format!("tun: {e}"))?;
        let listener = config.listen.map(|at| Socket::listen_or_say(at, false)).transpose()?;
        let port = listener.as_ref().and_then(|l| l.local_port().ok()).unwrap_or(0);
        let shared = Arc::new(Shared { stop: AtomicBool::new(false), report: Mutex::default() });
        let work = GatewayThread::new(config, tun, listener, shared.clone())?;
        let thread = std::thread::Builder::new()
            .name("x25-gateway".into())
            .spawn(|| work.run())
            .map_err(|e| format!("cannot start: {e}"))?;
        Ok(Gateway { shared, port, thread: Some(thread) })
    }

    /// TCP port it listens on (0: it does not listen).
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What was counted up to about now, open circuits included.
    pub fn snapshot(&self) -> Report {
        self.shared.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn stop(&self) {
        self.shared.stop.store(true, Relaxed);
    }

    pub fn join(&mut self) -> Result<Report, String> {
        let thread = self.thread.take().ok_or("the result was already taken")?;
        thread.join().map_err(|_| "the gateway died (a defect)".to_owned())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct GatewayThread {
    config: Config,
    modulo: Modulo,
    address: Address,
    routes: Vec<(Prefix, usize)>,
    peers: Vec<Peer>,
    tun: Tun,
    listener: Option<Socket>,
    poller: Poller,
    slots: Vec<Option<Slot>>,
    generations: Vec<u32>,
    buffer: Vec<u8>,
    shared: Arc<Shared>,
    report: Report,
    start: u64,
    shown_at: u64,
    numbered: u32,
}

impl GatewayThread {
    fn new(
        config: Config,
        tun: Tun,
        listener: Option<Socket>,
        shared: Arc<Shared>,
    ) -> Result<GatewayThread, String> {
        let poller = Poller::new().map_err(|e| format!("cannot start: {e}"))?;
        poller.add_level(tun.fd(), TUN).map_err(|e| format!("tun: {e}"))?;
        if let Some(listener) = &listener {
            poller.add_listener(listener, LISTENER).map_err(|e| format!("listen: {e}"))?;
        }
        let peers = config.peers.iter().map(|peer| Peer {
            address: Address::parse(&peer.address).unwrap_or_default(),
            name: peer.address.clone(),
            queues: Default::default(),
            held_until: 0,
            refusals: 0,
        });
        Ok(GatewayThread {
            modulo: config.modulo_kind(),
            address: Address::parse(&config.address).unwrap_or_default(),
            routes: config.routes()?,
            peers: peers.collect(),
            tun,
            listener,
            poller,
            slots: Vec::new(),
            generations: Vec::new(),
            buffer: vec![0; crate::link::RECEIVE_BUFFER],
            shared,
            report: Report::default(),
            start: poll::now(),
            shown_at: 0,
            numbered: 0,
            config,
        })
    }

    fn run(mut self) -> Report {
        let mut end = u64::MAX;
        loop {
            let now = poll::now();
            if end == u64::MAX && self.shared.stop.load(Relaxed) {
                end = now + LAST_CLEARS;
                self.clear_all(now);
            }
            if end != u64::MAX && (now >= end || self.slots.iter().all(Option::is_none)) {
                break;
            }
            let due = self.next_deadline().saturating_sub(now).min(20 * MILLISECOND);
            let Ok(ready) = self.poller.wait(due) else { break };
            for i in 0..ready {
                let event = self.poller.get(i);
                match event.token {
                    LISTENER => self.accept(),
                    TUN if end == u64::MAX => self.read_tun(),
                    TUN => {}
                    token => self.on_event(token, event),
                }
            }
            self.on_time(poll::now());
        }
        for index in 0..self.slots.len() {
            self.close(index, "the gateway ended");
        }
        let (user, system) = poll::thread_cpu();
        self.report.cpu_ns = user + system;
        self.report
    }

    fn ms(&self, at: u64) -> f64 {
        at.saturating_sub(self.start) as f64 / 1e6
    }

    fn note(&mut self, text: String) {
        let at = self.ms(poll::now());
        self.report.note(at, text);
    }

    fn next_deadline(&self) -> u64 {
        let circuits = self.slots.iter().flatten().map(|s| s.circuit.deadline);
        let held = self.peers.iter().filter(|p| p.held_until > 0).map(|p| p.held_until);
        circuits.chain(held).min().unwrap_or(u64::MAX)
    }

    fn on_time(&mut self, now: u64) {
        for index in 0..self.slots.len() {
            let idle = self.config.idle_ms * MILLISECOND;
            let Some(slot) = &mut self.slots[index] else { continue };
            let circuit = &mut slot.circuit;
            if circuit.deadline <= now {
                circuit.deadline = u64::MAX;
                let heard = circuit.expire(now);
                self.on_heard(index, heard);
                self.send(index);
            } else if idle > 0 && circuit.is_idle() && now - circuit.last_used >= idle {
                circuit.report.end = "idle".into();
                circuit.clear(0, now);
                self.send(index);
            }
        }
        for peer in 0..self.peers.len() {
            if (1..=now).contains(&self.peers[peer].held_until) {
                self.peers[peer].held_until = 0;
                self.dispatch(peer);
            }
        }
        if now - self.shown_at >= SHOWN_EVERY {
            self.shown_at = now;
            let mut shown = self.report.clone();
            shown.circuits.extend(self.slots.iter().flatten().map(|s| s.circuit.report.clone()));
            *self.shared.report.lock().unwrap_or_else(PoisonError::into_inner) = shown;
        }
    }

    fn read_tun(&mut self) {
        // A bounded number at a time, so that the circuits get their turn.
        for _ in 0..64 {
            let mut buffer = [0; 65_536];
            let length = match self.tun.read(&mut buffer) {
                Ok(length) => length,
                Err(_) => return,
            };
            self.offer(&buffer[..length]);
        }
    }

    fn on_event(&mut self, token: u64, event: poll::Ready) {
        let index = (token & 0xFFFF_FFFF) as usize;
        if self.generations.get(index) != Some(&((token >> 32) as u32)) {
            return;
        }
        if event.failed
            && let Some(slot) = &self.slots[index]
        {
            let error = slot.link.socket().take_error();
            return self.lose(index, poll::error_name(&error));
        }
        if event.writable
            && let Some(slot) = &mut self.slots[index]
            && let Err(error) = slot.link.flush()
        {
            return self.lose(index, poll::error_name(&error));
        }
        if event.readable {
            self.receive(index);
        }
    }

    fn receive(&mut self, index: usize) {
        let mut buffer = std::mem::take(&mut self.buffer);
        while let Some(slot) = &mut self.slots[index] {
            match slot.link.receive(&mut buffer) {
                Received::Octets { length, more } => {
                    let whole = self.on_octets(index, &buffer[..length]);
                    if let (Some(whole), Some(slot)) = (whole, &mut self.slots[index]) {
                        slot.link.keep(&buffer[whole..length]);
                    }
                    if !more {
                        break;
                    }
                }
                Received::Nothing => break,
                Received::End => self.lose(index, "the connection was closed"),
                Received::Failed(error) => self.lose(index, poll::error_name(&error)),
            }
        }
        self.buffer = buffer;
        let Some(slot) = &self.slots[index] else { return };
        let peer = slot.circuit.peer;
        self.send(index);
        if peer < self.peers.len() {
            self.dispatch(peer);
        }
    }

    /// Handles whole units; how many octets they were, or None where the connection is gone.
    fn on_octets(&mut self, index: usize, octets: &[u8]) -> Option<usize> {
        let mut rest = octets;
        loop {
            match wire::next_unit(rest) {
                Unit::Packet(packet, behind) => {
                    rest = behind;
                    let heard = match wire::decode(packet) {
                        Ok((head, packet)) => self.on_packet(index, head, packet),
                        Err(_) => continue, // not to be understood: as if it had not come
                    };
                    self.on_heard(index, heard);
                    self.slots[index].as_ref()?;
                }
                Unit::Incomplete => return Some(octets.len() - rest.len()),
                Unit::Broken(why) => {
                    self.lose(index, why);
                    return None;
                }
            }
        }
    }

    fn on_packet(&mut self, index: usize, head: wire::Head, packet: Packet<'_>) -> Heard {
        let now = poll::now();
        let Some(slot) = &mut self.slots[index] else { return Heard::Nothing };
        let circuit = &mut slot.circuit;
        if circuit.phase == Phase::Ready
            && let Packet::CallRequest(call) = &packet
        {
            let peers = &self.peers;
            let most = self.config.flow();
            return circuit.answer(
                head,
                call,
                &most,
                |from| match peers.iter().position(|p| p.address == *from) {
                    // Some routers pass no calling address on: one peer is enough to know who.
                    None if from.digits().is_empty() && peers.len() == 1 => Some(0),
                    found => found,
                },
                now,
            );
        }
        let data = matches!(packet, Packet::Data { .. });
        let before = circuit.report.octets_in;
        let heard = circuit.on_packet(head, packet, now);
        let octets = circuit.report.octets_in - before;
        self.report.totals.packets_in += u64::from(data);
        self.report.totals.octets_in += octets;
        heard
    }

    fn on_heard(&mut self, index: usize, heard: Heard) {
        match heard {
            Heard::Nothing => {}
            Heard::Up => self.on_up(index),
            Heard::Datagram(datagram) => match self.tun.write(&datagram) {
                Ok(_) => self.report.totals.datagrams_delivered += 1,
                Err(_) => self.report.totals.not_taken += 1,
            },
            Heard::NotUnderstood => self.report.totals.not_understood += 1,
            Heard::TooLong => self.report.totals.too_long += 1,
            Heard::Reset(why) => {
                self.report.totals.resets += 1;
                let name = self.name(index);
                self.note(format!("{name}: reset, {why}"));
            }
            Heard::Refused(why) => self.on_refused(index, &why),
            Heard::Cleared(why) => {
                self.report.totals.clears_in += 1;
                let name = self.name(index);
                self.note(format!("{name}: cleared, {why}; the next datagram calls again"));
                self.finish(index, &format!("cleared, {why}"));
            }
            Heard::Ended => self.finish(index, "cleared"),
        }
    }

    fn on_up(&mut self, index: usize) {
        let at = self.ms(poll::now());
        let Some(slot) = &mut self.slots[index] else { return };
        let r = &mut slot.circuit.report;
        r.setup_ms = Some(at - r.opened_ms);
        let answered = !r.called_by_us;
        if let Some(peer) = self.peers.get_mut(slot.circuit.peer) {
            peer.refusals = 0;
            r.peer.clone_from(&peer.name);
        }
        let text = format!(
            "circuit {} {} {}: up after {:.1} ms, {}, packet size {}/{}, window {}/{}",
            r.number,
            if answered { "from" } else { "to" },
            r.peer,
            at - r.opened_ms,
            r.carries,
            r.packet_size_out,
            r.packet_size_in,
            r.window_out,
            r.window_in,
        );
        self.report.totals.calls_answered += u64::from(answered);
        self.note(text);
    }

    fn on_refused(&mut self, index: usize, why: &str) {
        let Some(slot) = &self.slots[index] else { return };
        let (peer, ours) = (slot.circuit.peer, slot.circuit.report.called_by_us);
        self.report.totals.calls_refused += 1;
        if ours {
            self.finish(index, &format!("refused, {why}"));
            self.hold_down(peer, why);
        } else {
            self.note(format!("a call was refused: {why}"));
        }
    }

    fn name(&self, index: usize) -> String {
        self.slots[index].as_ref().map_or_else(String::new, |slot| {
            let r = &slot.circuit.report;
            format!(
                "circuit {} {} {}",
                r.number,
                if r.called_by_us { "to" } else { "from" },
                r.peer
            )
        })
    }

    /// The TCP connection has ended before the call did.
    fn lose(&mut self, index: usize, why: &str) {
        let Some(slot) = &self.slots[index] else { return };
        let (phase, peer) = (slot.circuit.phase, slot.circuit.peer);
        match phase {
            Phase::Calling => {
                self.report.totals.calls_refused += 1;
                self.close(index, why);
                self.hold_down(peer, why);
            }
            Phase::Data | Phase::Resetting => {
                let name = self.name(index);
                self.note(format!("{name}: lost, {why}; the next datagram calls again"));
                self.close(index, why);
            }
            _ => self.close(index, why),
        }
    }

    /// The call is over: the rest is sent, and the connection closed.
    fn finish(&mut self, index: usize, why: &str) {
        self.send(index);
        if self.slots[index].as_ref().is_some_and(|s| s.circuit.phase == Phase::Ended) {
            self.close(index, why);
        }
    }

    fn close(&mut self, index: usize, why: &str) {
        let at = self.ms(poll::now());
        let Some(mut slot) = self.slots[index].take() else { return };
        self.generations[index] = self.generations[index].wrapping_add(1);
        let cut = slot.circuit.is_under_way();
        let r = &mut slot.circuit.report;
        r.closed_ms = Some(at);
        if r.end.is_empty() {
            // Neither gateway wanted it.
            self.report.totals.cut_off += u64::from(cut);
            r.end = why.into();
        }
        self.report.close(std::mem::take(r));
    }

    fn clear_all(&mut self, now: u64) {
        for index in 0..self.slots.len() {
            let Some(slot) = &mut self.slots[index] else { continue };
            match slot.circuit.phase {
                Phase::Ready => self.close(index, "the gateway ended"),
                Phase::Clearing | Phase::Ended => {}
                _ => {
                    slot.circuit.report.end = "the gateway ended".into();
                    slot.circuit.clear(0, now);
                    self.send(index);
                }
            }
        }
    }

    /// Sends what the circuit has to say: Data within the window, acknowledgements behind it.
    fn send(&mut self, index: usize) {
        let Some(slot) = &mut self.slots[index] else { return };
        let (packets, octets) = slot.circuit.pump();
        slot.circuit.acknowledge();
        self.report.totals.packets_out += packets;
        self.report.totals.octets_out += octets;
        if let Err(error) = slot.link.send(&mut slot.circuit.out) {
            self.lose(index, poll::error_name(&error));
        }
    }
}
