// SPDX-License-Identifier: GPL-2.0-or-later
//! The calling side of a trial (see trial.rs): when it begins, what is due, when it is over.

use crate::call::Phase;
use crate::caller::Caller;

impl Caller {
    /// The circuit is connected or its call has failed: the trial need not wait for it.
    pub(crate) fn settle_for_trial(&mut self, index: usize) {
        if let Some(clock) = &self.shared.trial
            && !std::mem::replace(&mut self.slots[index].settled, true)
        {
            clock.settle();
        }
    }

    /// Begins the schedule once all circuits are settled; true when the trial is over.
    pub(crate) fn watch_trial(&mut self, now: u64) -> bool {
        let Some(clock) = self.shared.trial.clone() else { return false };
        let Some(start) = clock.start(now) else { return false };
        if !self.trial_begun {
            self.trial_begun = true;
            for index in 0..self.slots.len() {
                if self.slots[index].phase == Phase::Data {
                    self.slots[index].wake = start;
                    self.settle(index);
                }
            }
        }
        let end = clock.end(start);
        if now < end {
            // A burst may be over long before its time.
            return clock.is_burst() && clock.arrived() >= clock.offered(start, now);
        }
        if clock.is_flood() {
            let sent = self.stats.total.messages_sent;
            return clock.arrived() >= sent || now >= end + clock.grace();
        }
        let waits_too_long = self.slots.iter().any(|slot| {
            let due = clock.due(slot.call, slot.sent, now);
            slot.phase == Phase::Data && due.is_some_and(|due| due + clock.grace() < now)
        });
        let arrived = clock.arrived() >= clock.offered(start, now);
        arrived || waits_too_long || now >= end + clock.grace()
    }

    /// The trial is over, or was stopped: what was offered is known now.
    pub(crate) fn end_trial(&mut self, now: u64) {
        let Some(clock) = self.shared.trial.clone() else { return };
        let start = clock.start(now).unwrap_or(now);
        self.stats.trial.by_schedule = !clock.is_flood();
        self.stats.trial.offered = if clock.is_flood() {
            self.stats.total.messages_sent
        } else {
            // Of all circuits, so one thread counts for all of them.
            if self.is_first { clock.offered(start, now) } else { 0 }
        };
    }

    /// Sends what is due of the trial on one circuit.
    pub(crate) fn send_of_trial(&mut self, index: usize, now: u64) {
        if self.draining {
            return self.send_clear(index, 0, now);
        }
        let Some(clock) = self.shared.trial.clone() else { return };
        match clock.start(now) {
            None => return,
            Some(start) if start > now => {
                self.slots[index].wake = start;
                return;
            }
            Some(_) => {}
        }
        loop {
            if self.slots[index].outgoing.is_some() && !self.send_packets(index) {
                return;
            }
            let slot = &mut self.slots[index];
            let Some(due) = clock.due(slot.call, slot.sent, now) else { return };
            if due > now {
                slot.wake = due;
                return;
            }
            self.next_message(index, due);
        }
    }
}
