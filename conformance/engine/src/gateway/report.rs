// SPDX-License-Identifier: GPL-2.0-or-later
//! What a gateway counted, for each circuit and as a whole.

use serde::Serialize;
use std::collections::VecDeque;

/// Of a run that goes on for days, the latest circuits and events are kept.
const KEPT: usize = 10_000;

/// One circuit. Times are milliseconds from the gateway's start.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CircuitReport {
    pub number: u32,
    pub peer: String,
    pub called_by_us: bool,
    pub carries: &'static str,
    pub opened_ms: f64,
    /// From the first octet of the connection to the answer to the Call.
    pub setup_ms: Option<f64>,
    pub closed_ms: Option<f64>,
    pub end: String,
    pub packet_size_out: u16,
    pub packet_size_in: u16,
    pub window_out: u8,
    pub window_in: u8,
    pub datagrams_out: u64,
    pub datagrams_in: u64,
    pub packets_out: u64,
    pub packets_in: u64,
    /// User data of Data packets.
    pub octets_out: u64,
    pub octets_in: u64,
    pub resets: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Totals {
    /// Datagrams that IP gave and took.
    pub datagrams_offered: u64,
    pub datagrams_delivered: u64,
    /// Data packets given to X.25, and taken from it.
    pub packets_out: u64,
    pub packets_in: u64,
    pub octets_out: u64,
    pub octets_in: u64,
    pub calls: u64,
    pub calls_refused: u64,
    pub calls_answered: u64,
    pub clears_in: u64,
    pub resets: u64,
    /// Datagrams dropped: for no peer, a full queue, a peer held down, a circuit that ended.
    pub no_route: u64,
    pub queue_full: u64,
    pub held_down: u64,
    pub cut_off: u64,
    /// Units dropped: no datagram of the circuit's protocol, longer than 1600 octets.
    pub not_understood: u64,
    pub too_long: u64,
    /// Datagrams that the TUN device did not take.
    pub not_taken: u64,
    pub longest_queue: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Event {
    pub ms: f64,
    pub text: String,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    pub totals: Totals,
    pub circuits: VecDeque<CircuitReport>,
    pub events: VecDeque<Event>,
    pub events_forgotten: u64,
    pub cpu_ns: u64,
}

impl Report {
    pub fn note(&mut self, ms: f64, text: String) {
        if self.events.len() == KEPT {
            self.events.pop_front();
            self.events_forgotten += 1;
        }
        self.events.push_back(Event { ms, text });
    }

    pub fn close(&mut self, circuit: CircuitReport) {
        if self.circuits.len() == KEPT {
            self.circuits.pop_front();
        }
        self.circuits.push_back(circuit);
    }
}
