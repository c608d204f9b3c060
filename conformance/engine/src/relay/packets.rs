// SPDX-License-Identifier: GPL-2.0-or-later
//! What the relay does with packets: faults, and waiting for a server.

use super::{Pair, Pipe, RelayThread, Swap};
use crate::line;
use crate::poll;
use crate::service::Admission;
use crate::wire::{self, Packet, Unit, Writer};

/// Clearing causes (X.25 5.2.4, table 5-7).
const CONGESTION: u8 = 5;
const OUT_OF_ORDER: u8 = 9;

impl RelayThread {
    pub(super) fn plan_corruption(&mut self) {
        let p = self.config.faults.corrupt;
        if p > 0.0 {
            // Gaps between independent events of probability p are geometrically distributed.
            let gap = (1.0 - self.random.unit()).ln() / (1.0 - p).ln();
            self.corrupt_in = if gap.is_finite() { gap as u64 } else { 0 };
        }
    }

    /// Octets leave in order, `at` this time at the earliest, and the delay later.
    pub(super) fn enqueue(&mut self, index: usize, pipe: &mut Pipe, octets: &[u8], at: u64) {
        let due = (at + self.delay).max(pipe.last_due);
        if pipe.waiting.is_empty() && due <= poll::now() {
            pipe.out.extend_from_slice(octets);
        } else {
            pipe.last_due = due;
            pipe.delayed.push_back((due, octets.len()));
            pipe.waiting.extend(octets);
            self.timers.push(std::cmp::Reverse((due, index)));
        }
    }

    /// Cuts units and lets Data packets pass through the faults, and all through the servers.
    pub(super) fn on_units(&mut self, index: usize, pair: &mut Pair, side: usize, octets: &[u8]) {
        let mut stream = std::mem::take(&mut pair.pipes[side].partial);
        stream.extend_from_slice(octets);
        // What was kept back stood in line all the time: it arrives when its place was free, however
        // late the timer fired.
        let held = std::mem::take(&mut pair.pipes[side].held_until);
        let arrival = if held > 0 { held } else { poll::now() };
        let mut rest: &[u8] = &stream;
        loop {
            match wire::next_unit(rest) {
                Unit::Packet(packet, behind) => {
                    let unit = &rest[..wire::XOT_HEADER + packet.len()];
                    if let Some(swap) = &mut self.swap
                        && (swap.pair, swap.direction) == (index, side)
                    {
                        swap.behind.extend_from_slice(unit);
                        rest = behind;
                        continue;
                    }
                    let decoded = wire::decode(packet);
                    let admission = match &decoded {
                        Ok((_, Packet::Data { m: false, .. })) => {
                            self.services.message(side, arrival)
                        }
                        Ok((_, Packet::CallRequest(_))) => self.services.call(arrival),
                        _ => Admission::At(arrival),
                    };
                    let admission = match admission {
                        Admission::At(at) => self.on_line(side, at, packet),
                        other => other,
                    };
                    let at = match admission {
                        Admission::At(at) => at,
                        Admission::Dropped => {
                            self.report.overflowed += u64::from(self.lines.is_none());
                            rest = behind;
                            continue;
                        }
                        Admission::Later(free) => {
                            pair.pipes[side].held_until = free;
                            self.timers.push(std::cmp::Reverse((free, index)));
                            break;
                        }
                    };
                    rest = behind;
                    pair.lcn = decoded.as_ref().map_or(pair.lcn, |(head, _)| head.lcn);
                    match decoded {
                        Ok((head, Packet::CallRequest(_))) if self.refuses() => {
                            self.refuse(index, &mut pair.pipes[1 - side], head.lcn, at);
                            self.note("refuse", pair.number, true, 0);
                        }
                        Ok((_, Packet::Data { m, user_data, .. })) => {
                            let header = unit.len() - user_data.len();
                            self.report.messages += u64::from(!m);
                            self.on_data(index, pair, side, unit.to_vec(), header, at);
                        }
                        Ok((_, Packet::CallRequest(call))) if self.config.faults.window > 0 => {
                            let lowered = lower_window(unit, &call, self.config.faults.window);
                            self.enqueue(index, &mut pair.pipes[side], &lowered, at);
                        }
                        _ => self.enqueue(index, &mut pair.pipes[side], unit, at),
                    }
                }
                Unit::Incomplete => break,
                Unit::Broken(_) => {
                    // Not for the relay to judge: pass it on as it is.
                    self.enqueue(index, &mut pair.pipes[side], rest, arrival);
                    rest = &[];
                    break;
                }
            }
        }
        pair.pipes[side].partial = rest.to_vec();
    }

    /// When the last bit of a packet has passed the emulated line.
    fn on_line(&mut self, side: usize, at: u64, packet: &[u8]) -> Admission {
        let octets = line::wire_octets(packet, self.config.line.framing);
        let Some(lines) = &mut self.lines else { return Admission::At(at) };
        let admission = lines[side].admit(at, octets);
        let meters = self.meters();
        *self.carried.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = meters;
        admission
    }

    /// Whether the next Call is one of those that are refused.
    fn refuses(&mut self) -> bool {
        self.calls += 1;
        let every = self.config.faults.refuse_every;
        every > 0 && self.calls.is_multiple_of(every)
    }

    /// A Clear in answer to a Call, in the pipe that leads back.
    fn refuse(&mut self, index: usize, back: &mut Pipe, lcn: u16, at: u64) {
        self.enqueue(index, back, &clear_request(lcn, OUT_OF_ORDER), at);
        back.ended = true;
        self.timers.push(std::cmp::Reverse((back.last_due.max(at), index)));
    }

    /// Clears all circuits on both sides, and closes their connections behind it.
    pub(super) fn clear_all(&mut self) {
        for index in 0..self.pairs.len() {
            let Some(mut pair) = self.pairs[index].take() else { continue };
            let number = pair.number;
            let now = poll::now();
            for pipe in &mut pair.pipes {
                self.enqueue(index, pipe, &clear_request(pair.lcn, CONGESTION), now);
                pipe.ended = true;
                self.timers.push(std::cmp::Reverse((pipe.last_due.max(now), index)));
            }
            self.pairs[index] = Some(pair);
            self.note("clear", number, true, 0);
        }
    }

    fn on_data(
        &mut self,
        index: usize,
        pair: &mut Pair,
        side: usize,
        mut unit: Vec<u8>,
        header: usize,
        at: u64,
    ) {
        self.report.data_packets += 1;
        let packet = self.report.data_packets;
        let forward = side == 0;
        let octets = (unit.len() - header) as u64;
        let mut place = header as u64;
        let mut left = octets;
        while self.corrupt_in < left {
            place += self.corrupt_in;
            left -= self.corrupt_in + 1;
            unit[place as usize] ^= 1 + self.random.below(255) as u8;
            place += 1;
            self.note("corrupt", pair.number, forward, packet);
            self.plan_corruption();
        }
        if self.corrupt_in != u64::MAX {
            self.corrupt_in -= left;
        }
        let every = self.config.faults.drop_every;
        if self.config.faults.drop.contains(&packet) || every > 0 && packet.is_multiple_of(every) {
            return self.note("drop", pair.number, forward, packet);
        }
        if self.config.faults.duplicate.contains(&packet) {
            self.note("duplicate", pair.number, forward, packet);
            self.enqueue(index, &mut pair.pipes[side], &unit, at);
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
                    self.enqueue(swap.pair, &mut other.pipes[side], &swap.unit, at);
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
        self.enqueue(index, &mut pair.pipes[side], &unit, at);
    }
}

fn clear_request(lcn: u16, cause: u8) -> Vec<u8> {
    let mut unit = Vec::new();
    Writer { out: &mut unit, modulo: wire::Modulo::M8, lcn }.clear_request(cause, 0);
    unit
}

/// A Call Request with the windows of its facility field lowered (X.25 6.12: code 0x43).
fn lower_window(unit: &[u8], call: &wire::CallPacket<'_>, most: u8) -> Vec<u8> {
    let mut changed = unit.to_vec();
    let mut at = call.facilities.as_ptr() as usize - unit.as_ptr() as usize;
    let end = at + call.facilities.len();
    while at + 2 < end && changed[at] != 0 {
        if changed[at] == wire::FACILITY_WINDOW_SIZE {
            for window in &mut changed[at + 1..at + 3] {
                *window = (*window).min(most);
            }
        }
        at += match changed[at] >> 6 {
            class @ 0..=2 => 2 + usize::from(class),
            _ => 2 + usize::from(changed[at + 1]),
        };
    }
    changed
}
