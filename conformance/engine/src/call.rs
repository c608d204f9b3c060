// SPDX-License-Identifier: GPL-2.0-or-later
//! What one call of the calling side does, packet by packet (states of X.25 Annex B and C).

use crate::caller::{Caller, NEVER};
use crate::config::{Mode, Random};
use crate::flow::{Flow, FlowError};
use crate::incoming::{Incoming, Outcome};
use crate::link::{Link, READS_IN_A_ROW, Received};
use crate::outgoing::Outgoing;
use crate::poll::{self, Socket};
use crate::record;
use crate::stats::{LATE, Sample, count};
use crate::wire::{self, CallPacket, Packet, Unit, Writer};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    Free,
    /// Waits after a failed connection.
    Backoff,
    /// TCP connection under way.
    Connecting,
    /// p2: Call Request sent.
    CallSent,
    /// p4: data transfer.
    Data,
    /// p6: Clear Request sent.
    ClearSent,
}

/// A message whose echo is awaited.
pub(crate) struct Awaited {
    pub(crate) sequence: u32,
    pub(crate) length: usize,
    pub(crate) since: u64,
    pub(crate) q: bool,
}

/// One circuit of the calling side, used for one call after the other.
#[derive(Default)]
pub struct Slot {
    pub phase: Phase,
    pub generation: u32,
    pub call: u32,
    pub link: Option<Link>,
    /// Time of the next time-out, of the next planned step, and of the timer that is set.
    pub deadline: u64,
    pub wake: u64,
    pub armed: u64,
    /// Whether a call occupies it.
    pub taken: bool,
    pub(crate) flow: Flow,
    pub(crate) due: u64,
    pub(crate) connected_at: u64,
    pub(crate) clear_sent: u64,
    pub(crate) random: Random,
    pub(crate) sent: u32,
    pub(crate) outgoing: Option<Outgoing>,
    pub(crate) awaited: VecDeque<Awaited>,
    pub(crate) incoming: Incoming,
    pub(crate) next_message: u64,
    pub(crate) interrupt_sent: u64,
    pub(crate) last_interrupt: u32,
    pub(crate) reset_sent: u64,
    pub(crate) last_reset: u32,
    /// RNR was sent: RR follows at this time (0: not busy).
    pub busy_until: u64,
    pub(crate) ack_now: bool,
    pub(crate) failed: bool,
    pub(crate) received: u32,
    /// Counted as connected or failed, for a trial.
    pub(crate) settled: bool,
}

impl Slot {
    fn restart(&mut self, modulo: wire::Modulo) {
        self.generation = self.generation.wrapping_add(1);
        self.awaited.clear();
        self.flow = Flow::new(modulo);
        self.outgoing = None;
        (self.sent, self.received, self.clear_sent, self.settled) = (0, 0, 0, false);
        (self.interrupt_sent, self.last_interrupt) = (0, u32::MAX);
        (self.reset_sent, self.last_reset) = (0, 0);
        (self.ack_now, self.failed, self.busy_until) = (false, false, 0);
        (self.deadline, self.wake) = (NEVER, NEVER);
        if self.armed == 0 {
            self.armed = NEVER; // a fresh slot
        }
    }
}

/// Writes into the caller's scratch vector, for the circuit in hand.
macro_rules! writer {
    ($caller:ident) => {
        Writer {
            out: &mut $caller.scratch,
            modulo: $caller.plan.modulo,
            lcn: $caller.shared.config.lcn,
        }
    };
}

pub(crate) use writer;

impl Caller {
    /// Occupies a circuit for a call that was due at `due`.
    pub(crate) fn begin(&mut self, index: usize, call: u32, due: u64, now: u64) {
        let slot = &mut self.slots[index];
        slot.restart(self.plan.modulo);
        slot.phase = Phase::Connecting;
        slot.taken = true;
        slot.call = call;
        slot.due = due;
        slot.deadline = now + self.plan.setup_timeout;
        slot.random = Random(record::mix(self.shared.config.seed) ^ record::mix(u64::from(call)));
        slot.incoming = match self.shared.config.mode {
            Mode::Source => Incoming::default(),
            _ => Incoming::expecting(self.shared.config.run, call),
        };
        self.stats.total.calls_started += 1;
    }

    /// Sends the Call Request; on loopback the connection is usually there at once.
    pub(crate) fn send_call(&mut self, index: usize, socket: Socket) {
        let plan = &self.plan;
        let slot = &mut self.slots[index];
        let mut called = plan.called;
        called
            .set_tail(plan.called_digits, plan.called_first + slot.random.below(plan.called_count));
        let mut calling = plan.calling;
        calling.set_tail(9, self.calling_tail(self.slots[index].call));
        writer!(self).call_request(&called, &calling, &self.plan.flow, &self.plan.user_data, false);
        let slot = &mut self.slots[index];
        let mut link = Link::new(socket);
        let sent = link.send(&mut self.scratch);
        let blocked = link.is_blocked();
        slot.link = Some(link);
        match sent {
            Err(e) => self.fail_socket(index, &e),
            Ok(()) if !blocked => self.call_is_sent(index),
            Ok(()) => {}
        }
    }

    /// HHMM and a 5-digit sequence, so that a call can be found in a capture.
    fn calling_tail(&self, call: u32) -> u64 {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let utc = since_epoch.map_or(0, |d| d.as_secs() / 60) as i64;
        let minutes = (utc + i64::from(self.shared.config.utc_offset_minutes)).rem_euclid(1440);
        let hhmm = minutes / 60 * 100 + minutes % 60;
        hhmm as u64 * 100_000 + u64::from(call % 100_000)
    }

    fn call_is_sent(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let now = poll::now();
        slot.phase = Phase::CallSent;
        slot.deadline = now + self.plan.setup_timeout;
        self.refused = 0;
        self.stats.tcp_connect.record(now.saturating_sub(slot.due));
    }

    pub(crate) fn on_writable(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let Some(link) = &mut slot.link else { return };
        if !link.is_blocked() {
            return;
        }
        match link.flush() {
            Err(e) => self.fail_socket(index, &e),
            Ok(()) if link.is_blocked() => {}
            Ok(()) if slot.phase == Phase::Connecting => self.call_is_sent(index),
            Ok(()) => self.step(index, poll::now()),
        }
    }

    /// True if there is more to read: others have their turn first, or a peer that never stops
    /// sending would keep the timers and the end of the run waiting.
    pub(crate) fn on_readable(&mut self, index: usize, buffer: &mut [u8]) -> bool {
        for _ in 0..READS_IN_A_ROW {
            let Some(link) = &mut self.slots[index].link else { return false };
            match link.receive(buffer) {
                Received::Octets { length, more } => {
                    let now = poll::now();
                    self.on_octets(index, &buffer[..length], now);
                    self.step(index, now);
                    if !more {
                        return false;
                    }
                }
                Received::Nothing => return false,
                Received::End => {
                    self.on_end(index);
                    return false;
                }
                Received::Failed(e) => {
                    self.fail_socket(index, &e);
                    return false;
                }
            }
        }
        self.slots[index].link.is_some()
    }

    fn on_octets(&mut self, index: usize, mut stream: &[u8], now: u64) {
        while self.slots[index].link.is_some() {
            match wire::next_unit(stream) {
                Unit::Packet(octets, behind) => {
                    stream = behind;
                    match wire::decode(octets) {
                        Ok((_, packet)) => self.on_packet(index, packet, now),
                        Err(e) => self.protocol_error(index, e.name(), e.diagnostic(), now),
                    }
                }
                Unit::Incomplete => {
                    if let Some(link) = &mut self.slots[index].link {
                        link.keep(stream);
                    }
                    return;
                }
                Unit::Broken(why) => {
                    self.note_protocol_error(index, why, now);
                    return self.abort(index, why, now);
                }
            }
        }
    }

    /// FIN from the peer.
    fn on_end(&mut self, index: usize) {
        let now = poll::now();
        match self.slots[index].phase {
            // On XOT the end of the connection counts as confirmation (RFC 1613 6.1).
            Phase::ClearSent => self.complete(index, now),
            Phase::CallSent => self.abort(index, "connection closed during call set-up", now),
            _ => self.abort(index, "connection closed during data transfer", now),
        }
    }

    fn on_packet(&mut self, index: usize, packet: Packet<'_>, now: u64) {
        let slot = &mut self.slots[index];
        match (slot.phase, packet) {
            (Phase::CallSent, Packet::CallAccepted(call)) => self.on_connected(index, &call, now),
            (_, Packet::ClearRequest { cause, diagnostic }) => {
                self.on_clear(index, cause, diagnostic, now);
            }
            (Phase::ClearSent, Packet::ClearConfirmation) => self.complete(index, now),
            (Phase::ClearSent, _) => {} // p6: everything else is discarded (Table C-2)
            (Phase::Data, Packet::Data { q, d, m, p_s, p_r, user_data }) => {
                if slot.reset_sent != 0 {
                    return; // d2: discarded
                }
                match slot.flow.on_data(p_s, p_r) {
                    Ok(()) if user_data.len() <= usize::from(slot.flow.size_in) => {
                        slot.ack_now |= d;
                        self.on_user_data(index, q, m, user_data, now);
                    }
                    Ok(()) => self.protocol_error(index, "packet too long", 39, now),
                    Err(e) => self.on_flow_error(index, e, p_s, now),
                }
            }
            (Phase::Data, Packet::ReceiveReady { p_r }) => {
                self.stats.total.receive_ready_received += 1;
                self.on_flow(index, p_r, true, now);
            }
            (Phase::Data, Packet::ReceiveNotReady { p_r }) => {
                self.stats.total.receive_not_ready_received += 1;
                self.on_flow(index, p_r, false, now);
            }
            (Phase::Data, Packet::Interrupt(_)) => {
                self.stats.total.interrupts_received += 1;
                writer!(self).interrupt_confirmation();
            }
            (Phase::Data, Packet::InterruptConfirmation) => {
                if slot.interrupt_sent == 0 {
                    if slot.reset_sent == 0 {
                        self.protocol_error(index, "unauthorised interrupt confirmation", 43, now);
                    }
                    return;
                }
                self.stats.interrupt.record(now.saturating_sub(slot.interrupt_sent));
                self.stats.total.interrupts_confirmed += 1;
                slot.interrupt_sent = 0;
            }
            (Phase::Data, Packet::ResetRequest { cause, diagnostic }) => {
                self.on_reset(index, cause, diagnostic, now);
            }
            (Phase::Data, Packet::ResetConfirmation) => {
                if slot.reset_sent == 0 {
                    return self.protocol_error(index, "unexpected Reset Confirmation", 27, now);
                }
                self.stats.reset.record(now.saturating_sub(slot.reset_sent));
                slot.reset_sent = 0;
            }
            (Phase::CallSent, _) => {
                self.protocol_error(index, "packet not allowed before Call Connected", 21, now);
            }
            _ => self.protocol_error(index, "packet not allowed in data transfer", 27, now),
        }
    }

    fn on_connected(&mut self, index: usize, call: &CallPacket<'_>, now: u64) {
        let Ok(agreed) = wire::flow_parameters(call.facilities, self.plan.flow) else {
            return self.protocol_error(index, "invalid facility field", 69, now);
        };
        let asked = &self.plan.flow;
        // Each value may move towards 128 octets and window 2 only (X.25 6.12).
        let towards = |asked: u16, got: u16, fixed: u16| {
            if asked >= fixed {
                (fixed..=asked).contains(&got)
            } else {
                (asked..=fixed).contains(&got)
            }
        };
        let fine = towards(asked.called_size, agreed.called_size, 128)
            && towards(asked.calling_size, agreed.calling_size, 128)
            && towards(asked.called_window.into(), agreed.called_window.into(), 2)
            && towards(asked.calling_window.into(), agreed.calling_window.into(), 2);
        let slot = &mut self.slots[index];
        slot.flow.size_out = agreed.calling_size;
        slot.flow.size_in = agreed.called_size;
        slot.flow.window_out = agreed.calling_window.min(slot.flow.modulo.mask());
        slot.flow.window_in = agreed.called_window.min(slot.flow.modulo.mask());
        slot.phase = Phase::Data;
        slot.connected_at = now;
        slot.next_message = now;
        self.settle_for_trial(index);
        let slot = &mut self.slots[index];
        self.setups -= 1;
        let setup = now.saturating_sub(slot.due);
        let n = &mut self.stats.negotiated;
        n.packet_size_in.see(slot.flow.size_in.into());
        n.packet_size_out.see(slot.flow.size_out.into());
        n.window_in.see(slot.flow.window_in.into());
        n.window_out.see(slot.flow.window_out.into());
        self.stats.total.calls_connected += 1;
        self.stats.call_setup.record(setup);
        let call = slot.call;
        self.sample(index, Some(setup));
        self.note_late(call, 0, "call set-up", setup, now);
        if !fine {
            self.protocol_error(index, "negotiation away from the defaults", 66, now);
        }
    }

    /// Keeps when a call was due and how long its set-up took (None: it failed).
    fn sample(&self, index: usize, took_ns: Option<u64>) {
        if self.shared.config.sample {
            self.live.sample(Sample { due_ns: self.slots[index].due, took_ns });
        }
    }

    fn note_late(&mut self, call: u32, sequence: u32, what: &str, took: u64, now: u64) {
        if took > self.plan.late {
            self.stats.total.late += 1;
            let ms = took as f64 / 1e6;
            let text = format!("call {call}: {what} took {ms:.1} ms");
            self.stats.find(LATE, (call, sequence), now, text);
        }
    }

    fn on_user_data(&mut self, index: usize, q: bool, m: bool, user_data: &[u8], now: u64) {
        let slot = &mut self.slots[index];
        self.stats.total.data_packets_received += 1;
        self.stats.total.octets_received += user_data.len() as u64;
        slot.incoming.push(user_data);
        if m {
            return;
        }
        let length = slot.awaited.front().map(|a| a.length);
        let outcome = slot.incoming.finish(&mut self.stats, now, length);
        slot.received += 1;
        let awaited = match outcome {
            Outcome::Verified(sequence) => {
                let place = slot.awaited.iter().position(|a| a.sequence == sequence);
                place.and_then(|i| slot.awaited.remove(i))
            }
            Outcome::Replaced => {
                slot.awaited.pop_front();
                None
            }
            Outcome::Extra => None,
        };
        let every = self.shared.config.busy_every;
        if every > 0 && slot.received.is_multiple_of(every) && slot.busy_until == 0 {
            slot.busy_until = now + 2_000_000;
            let p_r = slot.flow.acknowledge();
            self.stats.total.receive_not_ready_sent += 1;
            writer!(self).receive_not_ready(p_r);
        }
        if let Some(awaited) = awaited {
            if let Some(clock) = &self.shared.trial {
                self.stats.trial.arrive(clock, slot.call, awaited.sequence, now);
            }
            let took = now.saturating_sub(awaited.since);
            self.stats.message.record(took);
            let call = slot.call;
            if awaited.q != q {
                self.note_protocol_error(index, "Q bit changed", now);
            }
            self.note_late(call, awaited.sequence, "message round trip", took, now);
        }
    }

    fn on_flow(&mut self, index: usize, p_r: u8, ready: bool, now: u64) {
        let slot = &mut self.slots[index];
        if slot.reset_sent == 0
            && let Err(e) = slot.flow.on_ready(p_r, ready)
        {
            self.on_flow_error(index, e, 0, now);
        }
    }

    fn on_flow_error(&mut self, index: usize, error: FlowError, p_s: u8, now: u64) {
        let slot = &mut self.slots[index];
        let at = (slot.call, slot.incoming.next_sequence());
        let name = format!("call {}", slot.call);
        let diagnostic = crate::stats::note_flow_error(&mut self.stats, at, &name, error, p_s, now);
        self.reset_circuit(index, diagnostic, now);
    }

    /// Sends a Reset Request (d2) and gives up what is under way.
    pub(crate) fn reset_circuit(&mut self, index: usize, diagnostic: u8, now: u64) {
        writer!(self).reset_request(0, diagnostic);
        self.stats.total.resets_sent += 1;
        self.slots[index].reset_sent = now;
        self.forget_messages(index);
    }

    fn forget_messages(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.flow.restart();
        if let Some(outgoing) = slot.outgoing.take() {
            self.pool.push(outgoing.record);
        }
        self.stats.total.discarded_messages += slot.awaited.len() as u64;
        slot.awaited.clear();
        slot.interrupt_sent = 0;
        slot.busy_until = 0;
        let next = slot.sent;
        slot.incoming.resume(next);
    }

    fn on_reset(&mut self, index: usize, cause: u8, diagnostic: u8, now: u64) {
        self.stats.total.resets_received += 1;
        count(&mut self.stats.resets, &format!("{cause}/{diagnostic}"));
        let slot = &mut self.slots[index];
        if slot.reset_sent != 0 {
            // A collision: the received Reset is the confirmation (X.25 4.4.3.3).
            self.stats.reset.record(now.saturating_sub(slot.reset_sent));
            slot.reset_sent = 0;
            return;
        }
        let at = (slot.call, slot.sent);
        let text =
            format!("call {}: reset by the peer, cause {cause} diagnostic {diagnostic}", at.0);
        self.stats.find("reset", at, now, text);
        writer!(self).reset_confirmation();
        self.forget_messages(index);
    }

    fn note_protocol_error(&mut self, index: usize, what: &str, now: u64) {
        let slot = &mut self.slots[index];
        self.stats.total.protocol_errors += 1;
        count(&mut self.stats.protocol_errors, what);
        let text = format!("call {}: {what}", slot.call);
        self.stats.find("protocol", (slot.call, slot.sent), now, text);
    }

    /// Names the error and clears the call.
    fn protocol_error(&mut self, index: usize, what: &str, diagnostic: u8, now: u64) {
        self.note_protocol_error(index, what, now);
        if matches!(self.slots[index].phase, Phase::CallSent | Phase::Data) {
            self.slots[index].failed = true;
            self.stats.fail(self.slots[index].call, what);
            self.send_clear(index, diagnostic, now);
        }
    }

    pub(crate) fn send_clear(&mut self, index: usize, diagnostic: u8, now: u64) {
        writer!(self).clear_request(0, diagnostic);
        self.stats.total.clears_sent += 1;
        let slot = &mut self.slots[index];
        if slot.phase == Phase::CallSent {
            self.setups -= 1;
        }
        slot.phase = Phase::ClearSent;
        slot.clear_sent = now;
        slot.wake = NEVER;
        slot.deadline = now + self.plan.timeout;
    }

    fn on_clear(&mut self, index: usize, cause: u8, diagnostic: u8, now: u64) {
        self.stats.total.clears_received += 1;
        count(&mut self.stats.clears, &format!("{cause}/{diagnostic}"));
        if self.slots[index].phase == Phase::ClearSent {
            return self.complete(index, now); // clear collision (X.25 4.1.9)
        }
        writer!(self).clear_confirmation();
        if let Some(link) = &mut self.slots[index].link {
            let _ = link.send(&mut self.scratch); // the call is over whether it arrives or not
        }
        let call = self.slots[index].call;
        if diagnostic == 71 {
            let first = &mut self.stats.first_exhaustion;
            *first = Some(first.map_or(call, |f| f.min(call)));
        }
        self.abort(index, &format!("cleared: cause {cause} diagnostic {diagnostic}"), now);
    }

    pub(crate) fn on_timeout(&mut self, index: usize, now: u64) {
        let slot = &mut self.slots[index];
        let reason = match slot.phase {
            Phase::Free | Phase::Backoff => return,
            Phase::Connecting => "timeout: TCP connection",
            Phase::CallSent => "timeout: call not answered",
            Phase::ClearSent => "timeout: clear not confirmed",
            Phase::Data if slot.reset_sent != 0 => "timeout: reset not confirmed",
            Phase::Data if !slot.awaited.is_empty() => "timeout: message not answered",
            Phase::Data => "timeout: data not acknowledged",
        };
        if slot.phase == Phase::Data && slot.reset_sent == 0 {
            let call = slot.call;
            let lost: Vec<u32> = slot.awaited.drain(..).map(|a| a.sequence).collect();
            for sequence in lost {
                self.stats.total.lost_messages += 1;
                let text = format!("call {call} message {sequence}: no answer in time");
                self.stats.find("lost", (call, sequence), now, text);
            }
        }
        self.abort(index, reason, now);
    }

    /// Ends the call as failed, wherever it is.
    pub(crate) fn abort(&mut self, index: usize, reason: &str, now: u64) {
        if matches!(self.slots[index].phase, Phase::Free | Phase::Backoff) {
            return;
        }
        if !self.slots[index].failed {
            self.stats.fail(self.slots[index].call, reason);
        }
        if matches!(self.slots[index].phase, Phase::Connecting | Phase::CallSent) {
            self.sample(index, None);
        }
        self.release(index, now);
    }

    fn complete(&mut self, index: usize, now: u64) {
        let slot = &mut self.slots[index];
        self.stats.clear.record(now.saturating_sub(slot.clear_sent));
        if !slot.failed {
            self.stats.total.calls_completed += 1;
            self.stats.call_duration.record(now.saturating_sub(slot.due));
            self.stats.last_completed = self.stats.last_completed.max(slot.call);
        }
        self.release(index, now);
    }

    pub(crate) fn release(&mut self, index: usize, now: u64) {
        self.settle_for_trial(index);
        let slot = &mut self.slots[index];
        self.stats.total.discarded_messages += slot.awaited.len() as u64;
        slot.awaited.clear();
        slot.incoming.end(&mut self.stats, now);
        if let Some(outgoing) = slot.outgoing.take() {
            self.pool.push(outgoing.record);
        }
        if let Some(link) = slot.link.take() {
            if slot.phase != Phase::Connecting {
                self.stats.tcp.see(link.socket());
            }
            self.stats.total.wire_octets_sent += link.octets_out;
            self.stats.total.wire_octets_received += link.octets_in;
        }
        if matches!(slot.phase, Phase::Connecting | Phase::CallSent) {
            self.setups -= 1;
        }
        self.scratch.clear();
        slot.phase = Phase::Free;
        slot.generation = slot.generation.wrapping_add(1);
        (slot.deadline, slot.wake) = (NEVER, NEVER);
    }
}
