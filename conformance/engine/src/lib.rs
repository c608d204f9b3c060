// SPDX-License-Identifier: GPL-2.0-or-later
//! Load engine of x25shark: calling and called X.25 DTEs over XOT (RFC 1613), and a relay.
//!
//! Everything is driven from outside by a JSON configuration ([`config`]) and answers with JSON
//! ([`stats::Stats`]); `python.rs` is the only part that knows Python.

pub mod call;
pub mod caller;
pub mod config;
pub mod flood;
pub mod flow;
pub mod gateway;
pub mod incoming;
pub mod line;
pub mod link;
mod outgoing;
pub mod poll;
pub mod record;
pub mod relay;
pub mod responder;
pub mod run;
mod sending;
pub mod service;
pub mod session;
pub mod stats;
pub mod trial;
mod trial_calls;
pub mod wire;

#[cfg(feature = "python")]
mod python;
