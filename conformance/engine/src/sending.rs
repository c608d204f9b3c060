// SPDX-License-Identifier: GPL-2.0-or-later
//! What one call of the calling side sends, and when: messages within the window, Interrupts and
//! Resets as planned, acknowledgements, at the end the Clear.

use crate::call::{Awaited, Phase, Slot, writer};
use crate::caller::{Caller, NEVER};
use crate::config::Mode;
use crate::link::Link;
use crate::outgoing::Outgoing;
use crate::record::{self, Key};
use crate::wire::Writer;

impl Caller {
    /// Sends what may be sent now: messages, Interrupts, Resets, RR, at the end the Clear.
    pub(crate) fn step(&mut self, index: usize, now: u64) {
        if self.slots[index].phase == Phase::Data {
            if self.slots[index].reset_sent == 0
                && !self.slots[index].link.as_ref().is_none_or(Link::is_blocked)
            {
                self.send_messages(index, now);
            }
            self.acknowledge(index, now);
        }
        let slot = &mut self.slots[index];
        let Some(link) = &mut slot.link else {
            self.scratch.clear();
            return;
        };
        if let Err(e) = link.send(&mut self.scratch) {
            return self.fail_socket(index, &e);
        }
        if slot.phase == Phase::Data {
            let waiting = !slot.awaited.is_empty()
                || slot.outgoing.is_some()
                || slot.reset_sent != 0
                || slot.interrupt_sent != 0
                || (self.shared.config.mode == Mode::Sink && slot.flow.unacknowledged() > 0)
                || (self.shared.config.mode == Mode::Source
                    && slot.received < self.shared.config.messages);
            slot.deadline = if waiting { now + self.plan.timeout } else { NEVER };
        }
    }

    fn acknowledge(&mut self, index: usize, now: u64) {
        let slot = &mut self.slots[index];
        if slot.phase != Phase::Data || slot.reset_sent != 0 {
            return;
        }
        if slot.busy_until > now {
            return;
        } else if slot.busy_until != 0 {
            slot.busy_until = 0;
        } else if slot.flow.owed() == 0 {
            return;
        } else if !slot.ack_now
            && slot.outgoing.is_none()
            && !slot.awaited.is_empty()
            && slot.flow.owed() < slot.flow.window_in.div_ceil(2)
        {
            return; // the rest of the echo is coming: one RR for several packets
        }
        slot.ack_now = false;
        let p_r = slot.flow.acknowledge();
        self.stats.total.receive_ready_sent += 1;
        writer!(self).receive_ready(p_r);
    }

    fn send_messages(&mut self, index: usize, now: u64) {
        if self.shared.trial.is_some() {
            return self.send_of_trial(index, now);
        }
        loop {
            if self.slots[index].outgoing.is_some() && !self.send_packets(index) {
                return;
            }
            let config = &self.shared.config;
            let slot = &mut self.slots[index];
            let done = match config.mode {
                Mode::Source => slot.received >= config.messages,
                _ => slot.sent >= config.messages,
            };
            // A call that was in set-up when the time ran out still sends its message.
            let ending = self.draining && (slot.sent > 0 || config.mode == Mode::Source);
            if done || ending {
                let quiet = slot.awaited.is_empty() && slot.interrupt_sent == 0;
                let delivered = config.mode != Mode::Sink || slot.flow.unacknowledged() == 0;
                if !quiet || !delivered {
                    return;
                }
                let until = if config.hold_to_end {
                    NEVER
                } else {
                    slot.connected_at + config.hold_ms * 1_000_000
                };
                if !self.draining && until > now {
                    slot.wake = until;
                    return;
                }
                return self.send_clear(index, 0, now);
            }
            if config.mode == Mode::Source
                || (config.mode == Mode::Echo && slot.awaited.len() >= config.depth as usize)
            {
                return;
            }
            let mut since = now;
            if let Some(gap) = self.plan.message_gap {
                if slot.next_message > now {
                    slot.wake = slot.next_message;
                    return;
                }
                since = slot.next_message;
                slot.next_message += gap;
            }
            if config.reset_every > 0
                && slot.sent > slot.last_reset
                && slot.sent.is_multiple_of(config.reset_every)
            {
                if slot.awaited.is_empty() && slot.flow.unacknowledged() == 0 {
                    slot.last_reset = slot.sent;
                    self.reset_circuit(index, 250, now); // user resynchronisation
                }
                return;
            }
            if config.interrupt_every > 0
                && slot.interrupt_sent == 0
                && slot.last_interrupt != slot.sent
                && slot.sent.is_multiple_of(config.interrupt_every)
            {
                (slot.last_interrupt, slot.interrupt_sent) = (slot.sent, now);
                self.stats.total.interrupts_sent += 1;
                let octet = [slot.sent as u8];
                writer!(self).interrupt(&octet);
            }
            self.next_message(index, since);
        }
    }

    pub(crate) fn next_message(&mut self, index: usize, since: u64) {
        let config = &self.shared.config;
        let slot = &mut self.slots[index];
        let (from, to) = config.message_length;
        let length = from + slot.random.below(u64::from(to - from) + 1) as u32;
        let q = config.q_share > 0.0 && slot.random.unit() < config.q_share;
        let d = config.d_share > 0.0 && slot.random.unit() < config.d_share;
        let key = Key { run: config.run, call: slot.call, sequence: slot.sent, direction: 0 };
        let mut buffer = self.pool.pop().unwrap_or_default();
        record::build(&key, length as usize, &mut buffer);
        let length = buffer.len();
        slot.outgoing = Some(Outgoing { record: buffer, offset: 0, q, d });
        if config.mode == Mode::Echo {
            slot.awaited.push_back(Awaited { sequence: slot.sent, length, since, q });
        }
        slot.sent += 1;
        self.stats.total.messages_sent += 1;
    }

    /// Sends packets of the message under way while the window is open; true when it is all sent.
    pub(crate) fn send_packets(&mut self, index: usize) -> bool {
        let slot = &mut self.slots[index];
        let Some(outgoing) = &mut slot.outgoing else { return true };
        let size = usize::from(slot.flow.size_out);
        while outgoing.offset < outgoing.record.len() {
            if !slot.flow.may_send() {
                return false;
            }
            let rest = &outgoing.record[outgoing.offset..];
            let piece = &rest[..rest.len().min(size)];
            let more = piece.len() < rest.len();
            let (p_s, p_r) = slot.flow.next_numbers();
            // D asks for delivery confirmation of the whole sequence: in its last packet.
            writer!(self).data(outgoing.q, outgoing.d && !more, more, p_s, p_r, piece.len());
            self.scratch.extend_from_slice(piece);
            outgoing.offset += piece.len();
            self.stats.total.data_packets_sent += 1;
            self.stats.total.octets_sent += piece.len() as u64;
        }
        if let Some(done) = slot.outgoing.take() {
            self.pool.push(done.record);
        }
        true
    }

    /// Octets this side holds for its circuits.
    pub fn circuit_octets(&self) -> u64 {
        let own = size_of::<Slot>() * self.slots.len();
        let held: usize = self.slots.iter().filter_map(|s| s.link.as_ref()).map(Link::held).sum();
        let awaited: usize =
            self.slots.iter().map(|s| s.awaited.capacity() * size_of::<Awaited>()).sum();
        (own + held + awaited) as u64
    }
}
