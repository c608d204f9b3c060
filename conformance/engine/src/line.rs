// SPDX-License-Identifier: GPL-2.0-or-later
//! An emulated access line: rate, propagation delay, queue and loss of one direction.
//!
//! The kernel's own emulation (tc netem, tbf) does not serve here: it knows TCP segments and no X.25
//! packets. It would charge the line for TCP and IP headers, acknowledgements and retransmissions,
//! which an access line of 56 kbit/s never carries, join several packets to one, and count its queue
//! in segments. This line charges each X.25 packet with the octets that it has on the wire, and all
//! circuits share it.
//!
//! The line is a virtual clock with its remainder kept: a packet takes exactly octets x 8 / rate
//! seconds however late the relay's timers fire, so the rate is exact over any time.

use crate::config::Overflow;
use crate::config::Random;
use crate::service::Admission;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const SECOND: u128 = 1_000_000_000;

/// What a packet is charged with.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Framing {
    /// The XOT header (RFC 1613 4.1) and the packet.
    #[default]
    Xot,
    /// An information frame of LAPB with one flag and FCS, bit-stuffed (ISO/IEC 3309 4.5.1).
    Hdlc,
    /// The same octet-stuffed (ISO/IEC 3309 4.5.2).
    HdlcOctet,
}

/// One direction, as the configuration says it. Zero stands for no limit.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// bit/s.
    pub rate: u64,
    /// Propagation delay.
    pub delay_ms: f64,
    /// What may wait while another packet is sent: packets, and octets of the wire.
    pub queue_packets: u32,
    pub queue_octets: u64,
    /// Probability that a packet is lost behind the line's sender.
    pub loss: f64,
}

impl Config {
    pub fn check(&self) -> Result<(), String> {
        let refuse = |name: &str, low: &str, high: &str| {
            Err(format!("line: {name} must be from {low} to {high}"))
        };
        if self.rate > 10_000_000_000 {
            return refuse("rate", "0", "10000000000 bit/s");
        }
        if !(0.0..=60_000.0).contains(&self.delay_ms) {
            return refuse("delay_ms", "0", "60000");
        }
        if !(0.0..=1.0).contains(&self.loss) {
            return refuse("loss", "0", "1");
        }
        Ok(())
    }

    pub fn is_ideal(&self) -> bool {
        self.rate == 0 && self.delay_ms == 0.0 && self.loss == 0.0
    }
}

/// What one direction has carried.
#[derive(Clone, Copy, Debug, Default, Serialize, PartialEq, Eq)]
pub struct Carried {
    pub packets: u64,
    /// Of the wire.
    pub octets: u64,
    pub lost: u64,
    /// Dropped because the queue was full.
    pub overflowed: u64,
    /// Most that ever waited.
    pub longest_queue: u64,
    pub longest_queue_octets: u64,
    /// Time the line was sending.
    pub busy_ns: u64,
}

/// One direction of a line at work. Times are nanoseconds of one clock.
#[derive(Debug)]
pub struct Line {
    config: Config,
    drops: bool,
    delay: u64,
    free_at: u64,
    /// Below a nanosecond: numerator over the rate.
    remainder: u128,
    /// Packets that wait: when each begins to be sent, and its octets.
    waiting: VecDeque<(u64, u64)>,
    waiting_octets: u64,
    random: Random,
    pub carried: Carried,
}

impl Line {
    pub fn new(config: Config, overflow: Overflow, seed: u64) -> Line {
        Line {
            config,
            drops: overflow == Overflow::Drop,
            delay: (config.delay_ms * 1e6).round() as u64,
            free_at: 0,
            remainder: 0,
            waiting: VecDeque::new(),
            waiting_octets: 0,
            random: Random(seed),
            carried: Carried::default(),
        }
    }

    /// A packet of so many octets of the wire reaches the line; when its last bit arrives at the
    /// other end.
    pub fn admit(&mut self, now: u64, octets: u64) -> Admission {
        while let Some(&(start, gone)) = self.waiting.front()
            && start <= now
        {
            self.waiting.pop_front();
            self.waiting_octets -= gone;
        }
        if let Some(room_at) = self.full_until(now, octets) {
            if self.drops {
                self.carried.overflowed += 1;
                return Admission::Dropped;
            }
            return Admission::Later(room_at);
        }
        if self.free_at <= now {
            (self.free_at, self.remainder) = (now, 0);
        }
        let start = self.free_at;
        self.send(octets);
        if start > now {
            self.waiting.push_back((start, octets));
            self.waiting_octets += octets;
        }
        let c = &mut self.carried;
        c.longest_queue = c.longest_queue.max(self.waiting.len() as u64);
        c.longest_queue_octets = c.longest_queue_octets.max(self.waiting_octets);
        if self.config.loss > 0.0 && self.random.unit() < self.config.loss {
            c.lost += 1;
            return Admission::Dropped;
        }
        Admission::At(self.free_at + self.delay)
    }

    /// When there is room for so many octets more; None: at once.
    fn full_until(&self, now: u64, octets: u64) -> Option<u64> {
        let (packets, most) = (u64::from(self.config.queue_packets), self.config.queue_octets);
        if self.free_at <= now {
            return None; // nothing waits for an idle line
        }
        let (mut count, mut sum) = (self.waiting.len() as u64 + 1, self.waiting_octets + octets);
        let fits = |count, sum| {
            (packets == 0 || count <= packets) && (most == 0 || sum <= most || count == 1)
        };
        if fits(count, sum) {
            return None;
        }
        for &(start, gone) in &self.waiting {
            (count, sum) = (count - 1, sum - gone);
            if fits(count, sum) {
                return Some(start);
            }
        }
        Some(self.free_at)
    }

    fn send(&mut self, octets: u64) {
        self.carried.packets += 1;
        self.carried.octets += octets;
        if self.config.rate == 0 {
            return;
        }
        let rate = u128::from(self.config.rate);
        let bits = u128::from(octets) * 8 * SECOND + self.remainder;
        let time = (bits / rate) as u64;
        self.remainder = bits % rate;
        self.carried.busy_ns += time;
        self.free_at += time;
    }
}

/// The octets that an X.25 packet has on the wire; a rest of bits counts as a whole octet.
pub fn wire_octets(packet: &[u8], framing: Framing) -> u64 {
    const ADDRESS_CONTROL: [u8; 2] = [0x03, 0x00];
    const FLAG_BITS: u64 = 8;
    if framing == Framing::Xot {
        return packet.len() as u64 + crate::wire::XOT_HEADER as u64;
    }
    let fcs = fcs16(ADDRESS_CONTROL.iter().chain(packet)).to_le_bytes();
    let frame = ADDRESS_CONTROL.iter().chain(packet).chain(&fcs);
    if framing == Framing::HdlcOctet {
        return FLAG_BITS / 8 + frame.map(|o| 1 + u64::from(matches!(o, 0x7D | 0x7E))).sum::<u64>();
    }
    let (mut ones, mut bits) = (0, FLAG_BITS);
    for octet in frame {
        for place in 0..8 {
            bits += 1;
            ones = if octet >> place & 1 == 1 { ones + 1 } else { 0 };
            if ones == 5 {
                bits += 1;
                ones = 0;
            }
        }
    }
    bits.div_ceil(8)
}

/// Frame check sequence of 16 bits (ISO/IEC 3309 4.6.2), least significant bit first.
fn fcs16<'a>(octets: impl Iterator<Item = &'a u8>) -> u16 {
    !octets.fold(0xFFFF_u16, |fcs, octet| {
        (0..8).fold(fcs ^ u16::from(*octet), |fcs, _| {
            if fcs & 1 == 1 { fcs >> 1 ^ 0x8408 } else { fcs >> 1 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;
    const S: u64 = 1_000_000_000;

    fn line(config: Config, overflow: Overflow) -> Line {
        Line::new(config, overflow, 1)
    }

    fn at(admission: Admission) -> u64 {
        match admission {
            Admission::At(at) => at,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_hour_at_any_rate_is_exact_to_a_nanosecond() {
        for rate in
            [9600, 14_400, 19_200, 28_800, 56_000, 64_000, 128_000, 512_000, 2_048_000, 10_000_000]
        {
            let mut l = line(Config { rate, delay_ms: 42.5, ..Config::default() }, Overflow::Hold);
            let mut octets = 0;
            let mut last = 0;
            let mut length = 7;
            while octets * 8 < rate * 3600 {
                last = at(l.admit(0, length));
                octets += length;
                length = 7 + (length * 31) % 4090;
            }
            let due = u128::from(octets) * 8 * SECOND / u128::from(rate) + 42_500_000;
            assert_eq!(u128::from(last), due, "{rate} bit/s");
            assert_eq!(l.carried.octets, octets);
        }
    }

    #[test]
    fn an_idle_line_sends_at_once() {
        let mut l =
            line(Config { rate: 56_000, delay_ms: 80.0, ..Config::default() }, Overflow::Hold);
        let time = 70 * 8 * S / 56_000;
        assert_eq!(at(l.admit(5 * S, 70)), 5 * S + time + 80 * MILLISECOND);
        assert_eq!(at(l.admit(9 * S, 70)), 9 * S + time + 80 * MILLISECOND);
        // The token bucket holds no credit: two at once take twice the time.
        assert_eq!(at(l.admit(9 * S, 70)), 9 * S + 2 * time + 80 * MILLISECOND);
        assert_eq!(l.carried.busy_ns, 3 * time);
    }

    #[test]
    fn a_queue_of_packets_holds_exactly_as_many() {
        // 1000 octets take a second; one is sent, three wait.
        let config = Config { rate: 8000, queue_packets: 3, ..Config::default() };
        for (overflow, refused) in
            [(Overflow::Drop, Admission::Dropped), (Overflow::Hold, Admission::Later(S))]
        {
            let mut l = line(config, overflow);
            for n in 1..=4 {
                assert_eq!(at(l.admit(0, 1000)), n * S);
            }
            assert_eq!(l.admit(0, 1000), refused);
            assert_eq!(l.admit(S - 1, 1000), refused);
            assert_eq!(at(l.admit(S, 1000)), 5 * S);
            assert_eq!(l.carried.longest_queue, 3);
            assert_eq!(l.carried.overflowed, if overflow == Overflow::Drop { 2 } else { 0 });
        }
    }

    #[test]
    fn a_queue_of_octets_holds_exactly_as_many() {
        let mut l =
            line(Config { rate: 8000, queue_octets: 1500, ..Config::default() }, Overflow::Hold);
        l.admit(0, 1000);
        l.admit(0, 1000);
        assert_eq!(l.admit(0, 501), Admission::Later(S));
        assert_eq!(at(l.admit(0, 500)), 2 * S + S / 2);
        assert_eq!(l.admit(0, 1), Admission::Later(S));
        assert_eq!(l.carried.longest_queue_octets, 1500);
        // One that is longer than the queue waits until nothing else does.
        assert_eq!(l.admit(0, 2000), Admission::Later(2 * S));
        assert_eq!(at(l.admit(2 * S, 2000)), 4 * S + S / 2);
    }

    #[test]
    fn loss_is_the_share_it_says_and_the_seed_repeats_it() {
        let config = Config { rate: 0, loss: 0.1, ..Config::default() };
        let lost = |seed| {
            let mut l = Line::new(config, Overflow::Hold, seed);
            (0..100_000).filter(|_| l.admit(0, 100) == Admission::Dropped).count()
        };
        assert!((9_700..10_300).contains(&lost(1)), "{}", lost(1));
        assert_eq!(lost(2), lost(2));
        assert_ne!(lost(1), lost(2));
    }

    #[test]
    fn the_octets_of_the_wire() {
        let packet = [0x10, 0x01, 0x00, 0x7E, 0x7D];
        assert_eq!(wire_octets(&packet, Framing::Xot), 9);
        // Flag, address, control, five octets of which two are escaped, FCS.
        let fcs = fcs16([0x03, 0x00].iter().chain(&packet)).to_le_bytes();
        let escaped = fcs.iter().filter(|o| matches!(o, 0x7D | 0x7E)).count() as u64;
        assert_eq!(wire_octets(&packet, Framing::HdlcOctet), 1 + 2 + 7 + 2 + escaped);
        // 128 octets of ones: a zero behind every five of the 1024 bits.
        let ones = wire_octets(&[0xFF; 128], Framing::Hdlc);
        assert!((1 + 2 + 2 + 128 + 1024 / 5 / 8..=1 + 2 + 2 + 128 + 27).contains(&ones), "{ones}");
        assert_eq!(wire_octets(&[0; 3], Framing::Hdlc), 1 + 2 + 3 + 2);
    }

    #[test]
    fn the_fcs_of_the_usual_check_string() {
        assert_eq!(fcs16(b"123456789".iter()), 0x906E);
    }
}
