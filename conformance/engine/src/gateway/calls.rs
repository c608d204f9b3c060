// SPDX-License-Identifier: GPL-2.0-or-later
//! Which circuit takes a datagram, and when a call is made (RFC 1356 3.9, 3.10).

use super::circuit::{Circuit, Phase};
use super::config;
use super::encapsulation::{Carries, Encapsulation, Family};
use super::{GatewayThread, MILLISECOND, MOST_ANSWERED, Slot};
use crate::link::Link;
use crate::poll::{self, Socket};

/// After the first refusal.
const FIRST_HOLD_DOWN_MS: u64 = 1000;

impl GatewayThread {
    /// A datagram from IP.
    pub(super) fn offer(&mut self, datagram: &[u8]) {
        self.report.totals.datagrams_offered += 1;
        let peer = config::destination(datagram)
            .and_then(|to| self.routes.iter().find(|(prefix, _)| prefix.holds(&to)))
            .map(|(_, peer)| *peer);
        let (Some(peer), Some(family)) = (peer, Family::of(datagram)) else {
            self.report.totals.no_route += 1;
            return;
        };
        let queue = &mut self.peers[peer].queues[family as usize];
        if queue.len() >= self.config.queue as usize {
            self.report.totals.queue_full += 1;
            return;
        }
        queue.push_back(datagram.to_vec());
        let longest = &mut self.report.totals.longest_queue;
        *longest = (*longest).max(queue.len() as u64);
        self.dispatch(peer);
    }

    /// Gives waiting datagrams to circuits that are free, and calls where none is.
    pub(super) fn dispatch(&mut self, peer: usize) {
        for family in [Family::Ipv4, Family::Ipv6] {
            while !self.peers[peer].queues[family as usize].is_empty() {
                let free = self.slots.iter().position(|slot| {
                    slot.as_ref().is_some_and(|s| {
                        s.circuit.peer == peer
                            && s.circuit.carries.takes(family)
                            && s.circuit.is_free()
                    })
                });
                let Some(index) = free else { break };
                let datagram = self.peers[peer].queues[family as usize].pop_front();
                if let (Some(slot), Some(datagram)) = (&mut self.slots[index], datagram) {
                    slot.circuit.load(&datagram, family, poll::now());
                    self.send(index);
                }
            }
            self.call_for(peer, family);
        }
    }

    /// Makes as many calls as datagrams wait and the limit allows.
    pub(super) fn call_for(&mut self, peer: usize, family: Family) {
        let of_peer = |slot: &&Slot| {
            let c = &slot.circuit;
            c.peer == peer
                && c.carries.takes(family)
                && !matches!(c.phase, Phase::Clearing | Phase::Ended | Phase::Ready)
        };
        let waiting = self.peers[peer].queues[family as usize].len();
        if waiting == 0 || !self.config.calls {
            return;
        }
        let live = self.slots.iter().flatten().filter(of_peer).count();
        if self.peers[peer].held_until > 0 {
            if live == 0 && self.peers[peer].refusals > 1 {
                self.peers[peer].queues[family as usize].clear();
                self.report.totals.held_down += waiting as u64;
            }
            return;
        }
        let calling = |slot: &&Slot| slot.circuit.phase == Phase::Calling;
        let opening = self.slots.iter().flatten().filter(of_peer).filter(calling).count();
        let room = (self.config.circuits as usize).saturating_sub(live);
        for _ in 0..room.min(waiting.saturating_sub(opening)) {
            if !self.call(peer, family) {
                break;
            }
        }
    }

    pub(super) fn call(&mut self, peer: usize, family: Family) -> bool {
        let Some(connect) = self.config.connect else { return false };
        let now = poll::now();
        self.report.totals.calls += 1;
        let socket = match Socket::connect(connect, self.config.source()) {
            Ok(socket) => socket,
            Err(error) => {
                let why = format!("no connection to {connect}: {}", poll::error_name(&error));
                self.hold_down(peer, &why);
                return false;
            }
        };
        let carries = Carries::new(self.config.encapsulation, family);
        let mut circuit = Circuit::new(carries, peer, self.modulo, now);
        let (called, asked) = (self.peers[peer].address, self.config.flow());
        let deadline = now + self.config.setup_ms * MILLISECOND;
        circuit.call(self.config.lcn, &called, &self.address, asked, deadline);
        match self.insert(socket, circuit, now) {
            Some(index) => self.send(index),
            None => return false,
        }
        true
    }

    pub(super) fn accept(&mut self) {
        while let Some(Ok(Some(socket))) = self.listener.as_ref().map(Socket::accept) {
            let now = poll::now();
            if self.slots.iter().flatten().count() >= MOST_ANSWERED {
                continue; // closed at once
            }
            let carries = Carries::new(Encapsulation::Null, Family::Ipv4);
            let circuit = Circuit::new(carries, usize::MAX, self.modulo, now);
            self.insert(socket, circuit, now);
        }
    }

    pub(super) fn insert(
        &mut self,
        socket: Socket,
        mut circuit: Circuit,
        now: u64,
    ) -> Option<usize> {
        self.numbered += 1;
        circuit.report.number = self.numbered;
        circuit.report.opened_ms = self.ms(now);
        if let Some(peer) = self.peers.get(circuit.peer) {
            circuit.report.peer.clone_from(&peer.name);
        }
        let index = self.slots.iter().position(Option::is_none).unwrap_or_else(|| {
            self.slots.push(None);
            self.generations.push(0);
            self.slots.len() - 1
        });
        let token = u64::from(self.generations[index]) << 32 | index as u64;
        self.poller.add_stream(&socket, token).ok()?;
        self.slots[index] = Some(Slot { link: Link::new(socket), circuit });
        Some(index)
    }

    /// After a refusal. What waits outlasts one: a network that was busy takes the next call. From
    /// the second one in a row on it is dropped, for nobody knows when a call comes through.
    pub(super) fn hold_down(&mut self, peer: usize, why: &str) {
        let refused = &mut self.peers[peer];
        let mut text = format!("call to {} refused, {why}", refused.name);
        if refused.held_until == 0 {
            // Calls made at the same time are refused together: that is once.
            refused.refusals = refused.refusals.saturating_add(1);
            let hold = wait_after(refused.refusals, self.config.hold_down_ms);
            refused.held_until = poll::now() + hold.max(1) * MILLISECOND;
            text += &format!("; no more calls for {} s", hold as f64 / 1e3);
        }
        self.note(text);
        for family in [Family::Ipv4, Family::Ipv6] {
            self.call_for(peer, family);
        }
    }
}

/// Milliseconds without calls after so many refusals in a row: twice as many each time.
fn wait_after(refusals: u32, most: u64) -> u64 {
    let doubled = FIRST_HOLD_DOWN_MS << (refusals.saturating_sub(1)).min(32);
    doubled.min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_with_refusals_in_a_row_up_to_the_most() {
        let waits: Vec<u64> = (1..=6).map(|refusals| wait_after(refusals, 10_000)).collect();
        assert_eq!(waits, [1000, 2000, 4000, 8000, 10_000, 10_000]);
        assert_eq!(wait_after(1, 50), 50);
        assert_eq!(wait_after(u32::MAX, 86_400_000), 86_400_000);
        assert_eq!(wait_after(3, 0), 0);
    }
}
