// SPDX-License-Identifier: GPL-2.0-or-later
//! One call of the called side, packet by packet.

use crate::config::Mode;
use crate::flow::{Flow, FlowError};
use crate::incoming::{Incoming, Outcome};
use crate::link::Link;
use crate::outgoing::Outgoing;
use crate::poll;
use crate::record::{self, Key};
use crate::responder::Context;
use crate::stats::{count, note_flow_error};
use crate::trial::Clock;
use crate::wire::{self, Address, CallPacket, FlowParameters, Head, Modulo, Packet, Writer};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// Longest message kept whole (only where the packet sizes of both directions differ).
const MAX_MESSAGE: usize = 16 << 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// p1: nothing but a Call may come.
    #[default]
    Ready,
    /// p4.
    Data,
    /// The Call, or the Clear, is left without an answer on purpose.
    Ignoring,
    /// Reset Request sent (d2).
    Resetting,
    /// Clear Request sent (p6).
    Clearing,
    /// The call is over; the peer is to close the connection.
    Cleared,
}

#[derive(Default)]
pub struct Session {
    pub state: State,
    /// When the connection came.
    pub opened: u64,
    link: Option<Link>,
    flow: Flow,
    lcn: u16,
    incoming: Incoming,
    /// Packets that wait for the window: length (2, little endian), flags (1), user data.
    queue: Vec<u8>,
    queue_at: usize,
    /// A message that is put together or sent in pieces, where packet sizes differ or we are the
    /// source.
    assembly: Vec<u8>,
    outgoing: Option<Outgoing>,
    calling: Address,
    source_call: u32,
    source_sent: u32,
    unconfirmed: bool,
}

const Q: u8 = 1;
const D: u8 = 2;
const M: u8 = 4;

fn flags(q: bool, d: bool, m: bool) -> u8 {
    u8::from(q) * Q + u8::from(d) * D + u8::from(m) * M
}

fn outgoing(record: Vec<u8>, flags: u8) -> Outgoing {
    Outgoing { record, offset: 0, q: flags & Q != 0, d: flags & D != 0 }
}

macro_rules! writer {
    ($session:ident, $context:ident) => {
        Writer { out: &mut $context.scratch, modulo: $session.flow.modulo, lcn: $session.lcn }
    };
}

impl Session {
    pub fn open(&mut self, link: Link, now: u64) {
        self.link = Some(link);
        self.opened = now;
        self.state = State::Ready;
        self.incoming = Incoming::default();
        self.calling = Address::default();
        self.source_sent = 0;
    }

    pub fn link(&mut self) -> &mut Link {
        self.link.as_mut().expect("an open session has a link")
    }

    /// Gives everything back.
    pub(crate) fn finish(&mut self, context: &mut Context) {
        self.forget(context);
        self.incoming.end(&mut context.stats, poll::now());
        if let Some(link) = self.link.take() {
            context.stats.tcp.see(link.socket());
            context.stats.total.wire_octets_sent += link.octets_out;
            context.stats.total.wire_octets_received += link.octets_in;
        }
        context.scratch.clear();
    }

    fn forget(&mut self, context: &mut Context) {
        for buffer in [&mut self.queue, &mut self.assembly] {
            buffer.clear();
            if buffer.capacity() > 0 {
                context.pool.push(std::mem::take(buffer));
            }
        }
        self.queue_at = 0;
        if let Some(outgoing) = self.outgoing.take() {
            context.pool.push(outgoing.record);
        }
    }

    /// The call as findings name it. A side that echoes packets unread knows only who called: the
    /// calling address ends with the call's number, by which it can be found in a capture.
    fn name(&self) -> String {
        match self.incoming.call() {
            0 => format!("call from {}", self.calling),
            number => format!("call {number}"),
        }
    }

    pub(crate) fn note_protocol_error(&mut self, context: &mut Context, what: &str, now: u64) {
        let call = self.incoming.call();
        context.stats.total.protocol_errors += 1;
        count(&mut context.stats.protocol_errors, what);
        let text = format!("called side, {}: {what}", self.name());
        context.stats.find("protocol", (call, 0), now, text);
    }

    fn protocol_error(&mut self, context: &mut Context, what: &str, diagnostic: u8, now: u64) {
        self.note_protocol_error(context, what, now);
        if matches!(self.state, State::Data | State::Resetting) {
            writer!(self, context).clear_request(0, diagnostic);
            context.stats.total.clears_sent += 1;
            self.state = State::Clearing;
            self.forget(context);
        }
    }

    pub(crate) fn on_octets(&mut self, context: &mut Context, octets: &[u8], now: u64) {
        match wire::decode(octets) {
            Ok((head, packet)) => self.on_packet(context, head, packet, now),
            Err(e) => self.protocol_error(context, e.name(), e.diagnostic(), now),
        }
    }

    fn on_packet(&mut self, context: &mut Context, head: Head, packet: Packet<'_>, now: u64) {
        match (self.state, packet) {
            (State::Data, Packet::Data { q, d, m, p_s, p_r, user_data }) => {
                match self.flow.on_data(p_s, p_r) {
                    Ok(()) if user_data.len() <= usize::from(self.flow.size_in) => {
                        let flags = flags(q, d, m);
                        self.on_user_data(context, flags, user_data, now);
                    }
                    Ok(()) => self.protocol_error(context, "packet too long", 39, now),
                    Err(e) => self.on_flow_error(context, e, p_s, now),
                }
            }
            (State::Data, Packet::ReceiveReady { p_r }) => {
                context.stats.total.receive_ready_received += 1;
                if let Err(e) = self.flow.on_ready(p_r, true) {
                    self.on_flow_error(context, e, 0, now);
                }
            }
            (State::Data, Packet::ReceiveNotReady { p_r }) => {
                context.stats.total.receive_not_ready_received += 1;
                if let Err(e) = self.flow.on_ready(p_r, false) {
                    self.on_flow_error(context, e, 0, now);
                }
            }
            (State::Ready, Packet::CallRequest(call)) => self.on_call(context, head, &call, now),
            (State::Clearing, Packet::ClearConfirmation | Packet::ClearRequest { .. }) => {
                self.state = State::Cleared;
                self.link().socket().shutdown_send();
            }
            (State::Ignoring, _) => {}
            (State::Data | State::Resetting, Packet::ClearRequest { .. }) if self.unconfirmed => {
                self.state = State::Ignoring;
                self.forget(context);
            }
            (State::Data | State::Resetting, Packet::ClearRequest { cause, diagnostic }) => {
                context.stats.total.clears_received += 1;
                count(&mut context.stats.clears, &format!("{cause}/{diagnostic}"));
                writer!(self, context).clear_confirmation();
                context.stats.total.calls_completed += 1;
                self.state = State::Cleared;
                self.forget(context);
            }
            (State::Clearing | State::Cleared, _) => {}
            (State::Data | State::Resetting, Packet::ResetRequest { cause, diagnostic }) => {
                context.stats.total.resets_received += 1;
                count(&mut context.stats.resets, &format!("{cause}/{diagnostic}"));
                if self.state == State::Data {
                    writer!(self, context).reset_confirmation();
                    self.restart_flow(context);
                }
                self.state = State::Data;
            }
            (State::Resetting, Packet::ResetConfirmation) => self.state = State::Data,
            (State::Resetting, _) => {}
            (State::Data, Packet::Interrupt(_)) => {
                context.stats.total.interrupts_received += 1;
                writer!(self, context).interrupt_confirmation();
            }
            (State::Ready, _) => {
                self.note_protocol_error(context, "packet before the Call", now);
                self.state = State::Cleared;
                self.link().socket().shutdown_send();
            }
            _ => self.protocol_error(context, "packet not allowed in data transfer", 27, now),
        }
    }

    fn on_call(&mut self, context: &mut Context, head: Head, call: &CallPacket<'_>, now: u64) {
        self.flow = Flow::new(head.modulo);
        self.lcn = head.lcn;
        let Ok(asked) = wire::flow_parameters(call.facilities, FlowParameters::default()) else {
            self.note_protocol_error(context, "invalid facility field in the Call", now);
            writer!(self, context).clear_request(0, 69);
            self.state = State::Clearing;
            return;
        };
        if context.shared.unanswered.as_deref() == Some(call.user_data) {
            self.state = State::Ignoring;
            return;
        }
        self.unconfirmed = context.shared.unconfirmed.as_deref() == Some(call.user_data);
        let config = &context.shared.config;
        // Towards the defaults, never past them (X.25 6.12).
        let size = |s: u16| if s > 128 { s.min(config.max_packet_size.max(128)) } else { s };
        let most = config.max_window.max(2).min(head.modulo.mask());
        let window = |w: u8| if w > 2 { w.min(most) } else { w };
        let agreed = FlowParameters {
            called_size: size(asked.called_size),
            calling_size: size(asked.calling_size),
            called_window: window(asked.called_window),
            calling_window: window(asked.calling_window),
        };
        (self.flow.size_in, self.flow.size_out) = (agreed.calling_size, agreed.called_size);
        (self.flow.window_in, self.flow.window_out) = (agreed.calling_window, agreed.called_window);
        let n = &mut context.stats.negotiated;
        n.packet_size_in.see(self.flow.size_in.into());
        n.packet_size_out.see(self.flow.size_out.into());
        n.window_in.see(self.flow.window_in.into());
        n.window_out.see(self.flow.window_out.into());
        context.stats.total.calls_accepted += 1;
        self.calling = call.calling;
        self.expect_trial(context);
        self.source_call = context.shared.next_call.fetch_add(1, Relaxed);
        writer!(self, context).call_accepted(&agreed);
        self.state = State::Data;
    }

    fn restart_flow(&mut self, context: &mut Context) {
        self.flow.restart();
        self.forget(context);
        let next = self.incoming.next_sequence() + u32::from(self.incoming.is_partial());
        self.incoming.resume(next);
    }

    fn on_flow_error(&mut self, context: &mut Context, error: FlowError, p_s: u8, now: u64) {
        let at = (self.incoming.call(), self.incoming.next_sequence());
        let name = self.name();
        let diagnostic = note_flow_error(&mut context.stats, at, &name, error, p_s, now);
        writer!(self, context).reset_request(0, diagnostic);
        context.stats.total.resets_sent += 1;
        self.state = State::Resetting;
        self.restart_flow(context);
    }

    #[inline]
    fn on_user_data(&mut self, context: &mut Context, flags: u8, user_data: &[u8], now: u64) {
        let total = &mut context.stats.total;
        total.data_packets_received += 1;
        total.octets_received += user_data.len() as u64;
        match context.shared.config.mode {
            Mode::Echo if self.flow.size_in == self.flow.size_out => {
                if self.queue.is_empty() && self.flow.may_send() && !self.is_blocked() {
                    self.send_data(context, flags, user_data);
                } else {
                    if self.queue.capacity() == 0 {
                        self.queue = context.pool.pop().unwrap_or_default();
                    }
                    self.queue.extend_from_slice(&(user_data.len() as u16).to_le_bytes());
                    self.queue.push(flags);
                    self.queue.extend_from_slice(user_data);
                    self.flow.held += 1;
                }
            }
            Mode::Echo => {
                if self.assembly.len() + user_data.len() > MAX_MESSAGE {
                    return self.protocol_error(context, "message too long to be echoed", 39, now);
                }
                self.assembly.extend_from_slice(user_data);
                if flags & M == 0 {
                    self.echo_assembled(context, flags);
                }
            }
            Mode::Sink | Mode::Source => {
                self.incoming.push(user_data);
                if flags & M == 0 {
                    self.finish_message(context, now);
                }
            }
        }
    }

    fn finish_message(&mut self, context: &mut Context, now: u64) {
        let outcome = self.incoming.finish(&mut context.stats, now, None);
        if let (Outcome::Verified(sequence), Some(clock)) = (outcome, &context.trial) {
            context.stats.trial.arrive(clock, self.incoming.call(), sequence, now);
        }
    }

    /// In a trial the calling address tells which call this is, if the router left it alone: so
    /// circuits that are mixed up from the first message on are noticed.
    fn expect_trial(&mut self, context: &mut Context) {
        let run = context.shared.config.run;
        if context.trial.is_none() {
            context.trial = Clock::of_run(run);
        }
        let call = self.calling.tail(5);
        let Some(clock) = &context.trial else { return };
        if self.calling.digits().len() == 15 && (1..=clock.circuits()).contains(&call) {
            self.incoming = Incoming::expecting(run, call as u32);
        }
    }

    /// Packet sizes differ: packets that are not full may not carry M, so the message is cut anew.
    fn echo_assembled(&mut self, context: &mut Context, flags: u8) {
        match &mut self.outgoing {
            None => {
                let fresh = context.pool.pop().map_or_else(Vec::new, |mut v| {
                    v.clear();
                    v
                });
                let whole = std::mem::replace(&mut self.assembly, fresh);
                self.outgoing = Some(outgoing(whole, flags));
            }
            // The one before is still going out. Its packets are held, so this is rare.
            Some(_) => {
                self.queue.extend_from_slice(&(self.assembly.len() as u32).to_le_bytes());
                self.queue.push(flags);
                self.queue.extend_from_slice(&self.assembly);
                self.assembly.clear();
                if self.queue.len() > MAX_MESSAGE {
                    self.protocol_error(context, "messages pile up", 39, poll::now());
                }
            }
        }
    }

    fn is_blocked(&self) -> bool {
        self.link.as_ref().is_none_or(Link::is_blocked)
    }

    #[inline]
    fn send_data(&mut self, context: &mut Context, flags: u8, user_data: &[u8]) {
        let (p_s, p_r) = self.flow.next_numbers();
        let (q, d, m) = (flags & Q != 0, flags & D != 0, flags & M != 0);
        writer!(self, context).data(q, d, m, p_s, p_r, user_data.len());
        context.scratch.extend_from_slice(user_data);
        context.stats.total.data_packets_sent += 1;
        context.stats.total.octets_sent += user_data.len() as u64;
        if !m {
            context.stats.total.messages_sent += 1;
        }
    }

    /// After a batch of packets: send what the window allows, then acknowledge.
    pub(crate) fn after_batch(&mut self, context: &mut Context) -> io::Result<()> {
        if self.state == State::Data {
            if !self.is_blocked() {
                if self.flow.size_in == self.flow.size_out
                    && context.shared.config.mode == Mode::Echo
                {
                    self.send_queue(context);
                } else {
                    self.send_outgoing(context);
                }
            }
            if self.flow.owed() > 0 {
                let p_r = self.flow.acknowledge();
                context.stats.total.receive_ready_sent += 1;
                writer!(self, context).receive_ready(p_r);
            }
        }
        self.link().send(&mut context.scratch)
    }

    fn send_queue(&mut self, context: &mut Context) {
        let queue = std::mem::take(&mut self.queue);
        while self.flow.may_send()
            && let [low, high, flags, rest @ ..] = &queue[self.queue_at..]
        {
            let length = usize::from(u16::from_le_bytes([*low, *high]));
            self.flow.held -= 1;
            self.queue_at += 3 + length;
            self.send_data(context, *flags, &rest[..length]);
        }
        self.queue = queue;
        if self.queue_at == self.queue.len() && self.queue.capacity() > 0 {
            self.queue.clear();
            self.queue_at = 0;
            context.pool.push(std::mem::take(&mut self.queue));
        } else if self.queue_at > 256 * 1024 {
            self.queue.drain(..self.queue_at);
            self.queue_at = 0;
        }
    }

    fn send_outgoing(&mut self, context: &mut Context) {
        loop {
            if self.outgoing.is_none() && !self.next_outgoing(context) {
                return;
            }
            let Some(mut message) = self.outgoing.take() else { return };
            let whole = message.record.len();
            let size = usize::from(self.flow.size_out);
            // A message without octets is still one packet.
            let mut first = message.offset == 0;
            while self.flow.may_send() && (first || message.offset < whole) {
                first = false;
                let end = whole.min(message.offset + size);
                let more = end < whole;
                let flags = flags(message.q, message.d && !more, more);
                self.send_data(context, flags, &message.record[message.offset..end]);
                message.offset = end;
            }
            if message.offset < whole || first {
                self.outgoing = Some(message);
                return;
            }
            context.pool.push(message.record);
        }
    }

    /// The next message to send: one that waited, or of the source.
    fn next_outgoing(&mut self, context: &mut Context) -> bool {
        let config = &context.shared.config;
        if config.mode == Mode::Echo {
            let [l0, l1, l2, l3, flags, rest @ ..] = &self.queue[self.queue_at..] else {
                self.queue.clear();
                self.queue_at = 0;
                return false;
            };
            let length = u32::from_le_bytes([*l0, *l1, *l2, *l3]) as usize;
            let message = rest[..length].to_vec();
            self.outgoing = Some(outgoing(message, *flags));
            self.queue_at += 5 + length;
            return true;
        }
        if config.mode == Mode::Sink || self.source_sent >= config.messages {
            return false;
        }
        let key = Key {
            run: config.run,
            call: self.source_call,
            sequence: self.source_sent,
            direction: 1,
        };
        let mut record = context.pool.pop().unwrap_or_default();
        record::build(&key, config.message_length as usize, &mut record);
        self.outgoing = Some(outgoing(record, 0));
        self.source_sent += 1;
        true
    }

    pub(crate) fn on_writable(&mut self, context: &mut Context) -> io::Result<()> {
        if self.is_blocked() {
            self.link().flush()?;
            if !self.is_blocked() {
                self.after_batch(context)?;
            }
        }
        Ok(())
    }

    /// Sequence numbers of the circuit.
    pub fn modulo(&self) -> Modulo {
        self.flow.modulo
    }
}
