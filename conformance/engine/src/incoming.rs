// SPDX-License-Identifier: GPL-2.0-or-later
//! The records that arrive on one circuit: each is verified, and what is wrong is named as loss,
//! duplication, reordering, corruption or mix-up.

use crate::record::{Checker, Key, Verdict};
use crate::stats::Stats;

/// What a finished record means for the side that waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The record with this sequence arrived unharmed.
    Verified(u32),
    /// Something arrived in place of the record that was due.
    Replaced,
    /// Nothing that was waited for.
    Extra,
}

const MAX_MISSING: usize = 1024;

#[derive(Clone, Debug, Default)]
pub struct Incoming {
    checker: Checker,
    /// The record that is due; run and call are those of the circuit.
    due: Key,
    /// Whether run and call are known (the calling side knows; others learn from the first record).
    known: bool,
    missing: Vec<u32>,
    replaced: Vec<u32>,
}

impl Incoming {
    /// For a side that sent the records itself and gets them echoed.
    pub fn expecting(run: u32, call: u32) -> Self {
        let due = Key { run, call, sequence: 0, direction: 0 };
        Incoming { due, known: true, ..Incoming::default() }
    }

    /// Number of the call as far as known, else 0: for findings.
    pub fn call(&self) -> u32 {
        if self.known { self.due.call } else { self.checker.call().unwrap_or(0) }
    }

    /// After a reset: the record under way is gone, `sequence` is the next.
    pub fn resume(&mut self, sequence: u32) {
        self.checker.restart();
        self.due.sequence = sequence;
    }

    pub fn next_sequence(&self) -> u32 {
        self.due.sequence
    }

    pub fn is_partial(&self) -> bool {
        self.checker.is_partial()
    }

    /// Records passed over and never seen later.
    pub fn missing(&self) -> usize {
        self.missing.len()
    }

    #[inline]
    pub fn push(&mut self, octets: &[u8]) {
        let expected = if self.known { Some(&self.due) } else { None };
        self.checker.push(octets, expected, self.due.run);
    }

    /// The packet sequence ended; `length` is the length of the record that is due, if known.
    pub fn finish(&mut self, stats: &mut Stats, now: u64, length: Option<usize>) -> Outcome {
        let expected = if self.known { Some(&self.due) } else { None };
        match self.checker.finish(expected, length) {
            Verdict::Good(key) => {
                if !self.known {
                    self.due = Key { sequence: 0, ..key };
                    self.known = true;
                }
                self.classify(key, stats, now)
            }
            Verdict::Length { key, announced, actual } => {
                stats.total.short_messages += 1;
                let text = format!(
                    "call {} message {}: {actual} octets where the record has {announced}",
                    key.call, key.sequence
                );
                stats.find("short", (key.call, key.sequence), now, text);
                self.replace()
            }
            Verdict::Corrupt { offset, octets, foreign } => {
                let at = (self.due.call, self.due.sequence);
                if let Some(other) = foreign.filter(|k| self.known && *k != self.due) {
                    stats.total.mixed_up_messages += 1;
                    let text = format!(
                        "call {} message {}: from octet {offset} on data of call {} message {}",
                        at.0, at.1, other.call, other.sequence
                    );
                    stats.find("mixed up", at, now, text);
                } else {
                    stats.total.corrupted_messages += 1;
                    stats.total.corrupted_octets += octets as u64;
                    let text = format!(
                        "call {} message {}: octets that differ: {octets}, the first is octet {offset}",
                        at.0, at.1
                    );
                    stats.find("corrupted", at, now, text);
                }
                self.replace()
            }
        }
    }

    fn replace(&mut self) -> Outcome {
        if self.replaced.len() < MAX_MISSING {
            self.replaced.push(self.due.sequence);
        }
        self.due.sequence = self.due.sequence.wrapping_add(1);
        Outcome::Replaced
    }

    fn classify(&mut self, key: Key, stats: &mut Stats, now: u64) -> Outcome {
        let due = self.due;
        if (key.run, key.call, key.direction) != (due.run, due.call, due.direction) {
            stats.total.mixed_up_messages += 1;
            let whose = if key.run == due.run { "" } else { " of another run" };
            let text = format!(
                "call {} got message {} of call {}{whose} where its message {} was due",
                due.call, key.sequence, key.call, due.sequence
            );
            stats.find("mixed up", (due.call, due.sequence), now, text);
            return self.replace();
        }
        if key.sequence == due.sequence {
            self.due.sequence = due.sequence.wrapping_add(1);
            stats.total.messages_verified += 1;
            return Outcome::Verified(key.sequence);
        }
        let at = (key.call, key.sequence);
        if key.sequence > due.sequence {
            let gap = due.sequence..key.sequence;
            self.missing.extend(gap.take(MAX_MISSING - self.missing.len().min(MAX_MISSING)));
            self.due.sequence = key.sequence.wrapping_add(1);
            stats.total.messages_verified += 1;
            return Outcome::Verified(key.sequence);
        }
        if let Some(i) = self.missing.iter().position(|s| *s == key.sequence) {
            self.missing.swap_remove(i);
            stats.total.reordered_messages += 1;
            stats.total.messages_verified += 1;
            let text = format!("call {} message {} came after a later one", key.call, key.sequence);
            stats.find("reordered", at, now, text);
            return Outcome::Verified(key.sequence);
        }
        if let Some(i) = self.replaced.iter().position(|s| *s == key.sequence) {
            self.replaced.swap_remove(i);
            stats.total.messages_verified += 1;
            return Outcome::Verified(key.sequence);
        }
        stats.total.duplicated_messages += 1;
        let text = format!("call {} message {} came again", key.call, key.sequence);
        stats.find("duplicated", at, now, text);
        Outcome::Extra
    }

    /// The circuit ended: what is missing stays lost.
    pub fn end(&mut self, stats: &mut Stats, now: u64) {
        for sequence in std::mem::take(&mut self.missing) {
            stats.total.lost_messages += 1;
            let call = self.due.call;
            let text = format!("call {call} message {sequence} never arrived, later ones did");
            stats.find("lost", (call, sequence), now, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record;

    fn feed(incoming: &mut Incoming, stats: &mut Stats, key: Key) -> Outcome {
        let mut r = Vec::new();
        record::build(&key, 100, &mut r);
        incoming.push(&r);
        incoming.finish(stats, 0, None)
    }

    fn key(call: u32, sequence: u32) -> Key {
        Key { run: 9, call, sequence, direction: 0 }
    }

    #[test]
    fn each_disorder_has_its_own_count() {
        let mut stats = Stats::default();
        let mut incoming = Incoming::expecting(9, 1);
        for sequence in [0, 1, 3, 2, 3, 5] {
            feed(&mut incoming, &mut stats, key(1, sequence));
        }
        assert_eq!(feed(&mut incoming, &mut stats, key(2, 6)), Outcome::Replaced);
        incoming.end(&mut stats, 0);
        let t = &stats.total;
        assert_eq!((t.reordered_messages, t.duplicated_messages), (1, 1));
        assert_eq!((t.lost_messages, t.mixed_up_messages), (1, 1));
        assert_eq!((t.corrupted_messages, t.short_messages), (0, 0));
        let kinds: Vec<_> = stats.findings.iter().map(|f| (f.kind.as_ref(), f.sequence)).collect();
        assert_eq!(kinds, [("reordered", 2), ("duplicated", 3), ("mixed up", 6), ("lost", 4)]);
    }

    #[test]
    fn a_side_that_did_not_send_learns_the_call() {
        let mut stats = Stats::default();
        let mut incoming = Incoming::default();
        let mut begun = Vec::new();
        record::build(&key(7, 0), 100, &mut begun);
        incoming.push(&begun[..record::HEADER]);
        assert_eq!(incoming.call(), 7, "by the header alone");
        incoming.resume(0);
        assert_eq!(incoming.call(), 0);
        for sequence in 0..4 {
            assert_eq!(
                feed(&mut incoming, &mut stats, key(7, sequence)),
                Outcome::Verified(sequence)
            );
        }
        assert_eq!(incoming.call(), 7);
        assert_eq!(stats.total.integrity_errors(), 0);
    }
}
