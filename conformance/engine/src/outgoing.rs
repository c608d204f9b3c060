// SPDX-License-Identifier: GPL-2.0-or-later
//! A message that is being sent, in as many packets as it takes.

/// `offset`: octets of it that were sent; `q` and `d`: bits of its packets.
pub(crate) struct Outgoing {
    pub(crate) record: Vec<u8>,
    pub(crate) offset: usize,
    pub(crate) q: bool,
    pub(crate) d: bool,
}
