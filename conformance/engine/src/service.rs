// SPDX-License-Identifier: GPL-2.0-or-later
//! A server of known rate with a queue in front of it. With it the relay is a router of known
//! capacity, and a measuring command can be held against the truth.
//!
//! The server is a virtual clock: each message takes 1/rate seconds, however late the relay's own
//! timers fire, so the rate is exact over any time.

use crate::config::{Capacity, Overflow};

/// What becomes of a message that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Served: it leaves at this time.
    At(u64),
    /// The queue is full until this time: keep it back and ask again then.
    Later(u64),
    /// The queue is full.
    Dropped,
}

/// One server and its queue. Times are nanoseconds of the monotonic clock.
#[derive(Debug)]
pub struct Service {
    gap: u64,
    queue: u64,
    drops: bool,
    free_at: u64,
}

impl Service {
    /// None where `rate` (messages/s) is 0: no limit.
    pub fn new(rate: f64, queue: u32, overflow: Overflow) -> Option<Service> {
        (rate > 0.0).then(|| Service {
            gap: ((1e9 / rate) as u64).max(1),
            queue: u64::from(queue),
            drops: overflow == Overflow::Drop,
            free_at: 0,
        })
    }

    /// A message arrives at `now`; one is served while `queue` more wait.
    pub fn admit(&mut self, now: u64) -> Admission {
        let start = self.free_at.max(now);
        if (start - now).div_ceil(self.gap) > self.queue {
            return if self.drops {
                Admission::Dropped
            } else {
                Admission::Later(start - self.queue * self.gap)
            };
        }
        self.free_at = start + self.gap;
        Admission::At(self.free_at)
    }
}

/// The servers of a relay: Data of each direction, and Call Requests.
#[derive(Debug)]
pub struct Services {
    data: [Option<Service>; 2],
    calls: Option<Service>,
}

impl Services {
    pub fn new(capacity: &Capacity) -> Services {
        let data = |rate| Service::new(rate, capacity.queue, capacity.overflow);
        Services {
            data: [data(capacity.rate.0), data(capacity.rate.1)],
            calls: Service::new(capacity.calls, capacity.call_queue, capacity.overflow),
        }
    }

    pub fn is_unlimited(&self) -> bool {
        self.data.iter().all(Option::is_none) && self.calls.is_none()
    }

    /// A Data packet without M bit, which ends a message, on its way from `side`.
    pub fn message(&mut self, side: usize, now: u64) -> Admission {
        self.data[side].as_mut().map_or(Admission::At(now), |s| s.admit(now))
    }

    /// A Call Request.
    pub fn call(&mut self, now: u64) -> Admission {
        self.calls.as_mut().map_or(Admission::At(now), |s| s.admit(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn the_rate_is_exact_whenever_the_messages_come() {
        let mut s = Service::new(100.0, 1000, Overflow::Hold).unwrap();
        let left: Vec<_> = (0..200).map(|_| s.admit(SECOND)).collect();
        assert_eq!(left[199], Admission::At(SECOND + 2 * SECOND));
        assert_eq!(s.admit(10 * SECOND), Admission::At(10 * SECOND + SECOND / 100));
    }

    #[test]
    fn one_is_served_and_the_queue_waits() {
        for (overflow, refused) in [
            (Overflow::Drop, Admission::Dropped),
            (Overflow::Hold, Admission::Later(SECOND + SECOND / 10)),
        ] {
            let mut s = Service::new(10.0, 50, overflow).unwrap();
            for _ in 0..51 {
                assert!(matches!(s.admit(SECOND), Admission::At(_)));
            }
            assert_eq!(s.admit(SECOND), refused);
            // One place is free as soon as the first has left, and not before.
            assert_eq!(s.admit(SECOND + SECOND / 10 - 1), refused);
            assert!(matches!(s.admit(SECOND + SECOND / 10), Admission::At(_)));
        }
    }

    #[test]
    fn no_rate_is_no_limit() {
        let mut all = Services::new(&Capacity::default());
        assert!(all.is_unlimited());
        assert_eq!((all.message(0, 7), all.call(8)), (Admission::At(7), Admission::At(8)));
    }
}
