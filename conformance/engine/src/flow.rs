// SPDX-License-Identifier: GPL-2.0-or-later
//! Flow control of one circuit (X.25 4.4.1): P(S), P(R), windows, RNR.

use crate::wire::Modulo;

/// What is wrong with the numbers of a received packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowError {
    /// P(S) is ahead of the one that is due: this many packets were lost.
    Gap(u8),
    /// P(S) is one that was received before.
    Repeated,
    /// The P(S) that is due, but the window was closed.
    BeyondWindow,
    /// P(R) is outside what was sent and not yet acknowledged.
    InvalidPr,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Flow {
    pub modulo: Modulo,
    pub window_out: u8,
    pub window_in: u8,
    pub size_out: u16,
    pub size_in: u16,
    v_s: u8,
    lower: u8,
    v_r: u8,
    announced: u8,
    remote_busy: bool,
    /// Received Data packets whose acknowledgement is held back (they wait to be echoed).
    pub held: u8,
}

impl Flow {
    pub fn new(modulo: Modulo) -> Self {
        Flow { modulo, window_out: 2, window_in: 2, size_out: 128, size_in: 128, ..Flow::default() }
    }

    /// Numbering starts again (after a reset).
    pub fn restart(&mut self) {
        *self = Flow {
            window_out: self.window_out,
            window_in: self.window_in,
            size_out: self.size_out,
            size_in: self.size_in,
            ..Flow::new(self.modulo)
        };
    }

    #[inline]
    fn distance(&self, from: u8, to: u8) -> u8 {
        to.wrapping_sub(from) & self.modulo.mask()
    }

    /// Whether a Data packet may be sent now.
    #[inline]
    pub fn may_send(&self) -> bool {
        !self.remote_busy && self.distance(self.lower, self.v_s) < self.window_out
    }

    /// Data packets sent and not acknowledged.
    pub fn unacknowledged(&self) -> u8 {
        self.distance(self.lower, self.v_s)
    }

    /// P(S) and P(R) of the next Data packet.
    #[inline]
    pub fn next_numbers(&mut self) -> (u8, u8) {
        let p_s = self.v_s;
        self.v_s = p_s.wrapping_add(1) & self.modulo.mask();
        (p_s, self.acknowledge())
    }

    /// P(R) to send now; received packets count as acknowledged from here on.
    #[inline]
    pub fn acknowledge(&mut self) -> u8 {
        self.announced = self.v_r.wrapping_sub(self.held) & self.modulo.mask();
        self.announced
    }

    /// Received packets that an acknowledgement sent now would cover.
    #[inline]
    pub fn owed(&self) -> u8 {
        self.distance(self.announced, self.v_r.wrapping_sub(self.held))
    }

    #[inline]
    pub fn on_data(&mut self, p_s: u8, p_r: u8) -> Result<(), FlowError> {
        self.on_p_r(p_r)?;
        if p_s == self.v_r && self.distance(self.announced, p_s) < self.window_in {
            self.v_r = p_s.wrapping_add(1) & self.modulo.mask();
            return Ok(());
        }
        let ahead = self.distance(self.v_r, p_s);
        if ahead == 0 {
            Err(FlowError::BeyondWindow)
        } else if self.distance(self.announced, p_s) < self.window_in && ahead < self.window_in {
            Err(FlowError::Gap(ahead))
        } else {
            Err(FlowError::Repeated)
        }
    }

    #[inline]
    pub fn on_p_r(&mut self, p_r: u8) -> Result<(), FlowError> {
        if self.distance(self.lower, p_r) > self.unacknowledged() {
            return Err(FlowError::InvalidPr);
        }
        self.lower = p_r;
        Ok(())
    }

    pub fn on_ready(&mut self, p_r: u8, ready: bool) -> Result<(), FlowError> {
        self.remote_busy = !ready;
        self.on_p_r(p_r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(modulo: Modulo, window: u8) -> Flow {
        Flow { window_in: window, window_out: window, ..Flow::new(modulo) }
    }

    #[test]
    fn the_window_closes_and_opens() {
        for (modulo, window) in [(Modulo::M8, 7), (Modulo::M8, 1), (Modulo::M128, 127)] {
            let mut f = flow(modulo, window);
            for round in 0..300u32 {
                for _ in 0..window {
                    assert!(f.may_send());
                    f.next_numbers();
                }
                assert!(!f.may_send());
                let all = ((round + 1) * u32::from(window)) as u8 & modulo.mask();
                f.on_ready(all, true).unwrap();
                assert_eq!(f.unacknowledged(), 0);
            }
        }
    }

    #[test]
    fn gaps_and_repeats_are_told_apart() {
        let mut f = flow(Modulo::M8, 4);
        f.on_data(0, 0).unwrap();
        f.on_data(1, 0).unwrap();
        assert_eq!(f.on_data(3, 0), Err(FlowError::Gap(1)));
        assert_eq!(f.on_data(1, 0), Err(FlowError::Repeated));
        assert_eq!(f.on_data(0, 0), Err(FlowError::Repeated));
        f.acknowledge();
        assert_eq!(f.on_data(5, 0), Err(FlowError::Gap(3)));
        assert_eq!(f.on_data(6, 0), Err(FlowError::Repeated)); // outside the window
    }

    #[test]
    fn p_r_must_lie_in_the_window() {
        let mut f = flow(Modulo::M8, 3);
        f.next_numbers();
        f.next_numbers();
        assert_eq!(f.on_p_r(3), Err(FlowError::InvalidPr));
        f.on_p_r(1).unwrap();
        assert_eq!(f.on_p_r(0), Err(FlowError::InvalidPr));
    }

    #[test]
    fn a_busy_peer_stops_data() {
        let mut f = flow(Modulo::M128, 10);
        f.on_ready(0, false).unwrap();
        assert!(!f.may_send());
        f.on_ready(0, true).unwrap();
        assert!(f.may_send());
    }

    #[test]
    fn held_packets_are_not_acknowledged() {
        let mut f = flow(Modulo::M8, 7);
        (0..3).for_each(|p_s| f.on_data(p_s, 0).unwrap());
        f.held = 2;
        assert_eq!((f.owed(), f.acknowledge()), (1, 1));
        f.held = 0;
        assert_eq!((f.owed(), f.acknowledge()), (2, 3));
    }
}
