// SPDX-License-Identifier: GPL-2.0-or-later
//! What a gateway is told, as JSON.

use super::encapsulation::Encapsulation;
use crate::config::{packet_size, range};
use crate::wire::{Address, FlowParameters, Modulo};
use serde::Deserialize;
use std::net::{IpAddr, SocketAddrV4};

/// RFC 1356 3.6: a host has to take 1600 octets; less than 576 is no IPv4.
pub const LONGEST: u16 = 1600;
const SHORTEST: u16 = 576;
/// As the paper's gateway had, and as many as its tables go.
const MOST_CIRCUITS: u32 = 10;

/// A gateway at the other end: datagrams for these addresses go to that X.121 address.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    pub address: String,
    /// "192.0.2.0/24", "2001:db8::/32".
    pub prefixes: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gateway {
    /// Descriptor of a TUN device without packet information; the gateway works on a copy.
    pub tun: i32,
    /// Router that calls go to.
    pub connect: Option<SocketAddrV4>,
    /// Where the router sends calls to.
    pub listen: Option<SocketAddrV4>,
    /// X.121 address of this gateway.
    pub address: String,
    pub peers: Vec<Peer>,
    /// Whether it makes calls of its own, or only answers.
    pub calls: bool,
    /// For each peer (and protocol, unless null encapsulation carries all).
    pub circuits: u32,
    pub encapsulation: Encapsulation,
    pub modulo: u16,
    pub packet_size: u16,
    pub window: u8,
    pub mtu: u16,
    /// A circuit that carried nothing for so long is cleared (0: never).
    pub idle_ms: u64,
    /// After refusals in a row no call is made to that peer for so long at most.
    pub hold_down_ms: u64,
    /// T21 (X.25 annex D): a call that is not answered is given up.
    pub setup_ms: u64,
    /// Datagrams that wait for a circuit, for each peer.
    pub queue: u32,
    pub lcn: u16,
}

impl Default for Gateway {
    fn default() -> Self {
        Gateway {
            tun: -1,
            connect: None,
            listen: None,
            address: String::new(),
            peers: Vec::new(),
            calls: true,
            circuits: 1,
            encapsulation: Encapsulation::Nlpid,
            modulo: 8,
            packet_size: 128,
            window: 2,
            mtu: 1500,
            idle_ms: 90_000,
            hold_down_ms: 10_000,
            setup_ms: 200_000,
            queue: 500,
            lcn: 1,
        }
    }
}

impl Gateway {
    pub fn check(&self) -> Result<(), String> {
        range("circuits", self.circuits, 1, MOST_CIRCUITS)?;
        packet_size("packet_size", self.packet_size)?;
        if self.modulo != 8 && self.modulo != 128 {
            return Err(format!("modulo is {}: it must be 8 or 128", self.modulo));
        }
        range("window", self.window, 1, self.modulo_kind().mask())?;
        range("mtu", self.mtu, SHORTEST, LONGEST)?;
        range("idle_ms", self.idle_ms, 0, 86_400_000)?;
        range("hold_down_ms", self.hold_down_ms, 0, 86_400_000)?;
        range("setup_ms", self.setup_ms, 1, 86_400_000)?;
        range("queue", self.queue, 1, 100_000)?;
        range("lcn", self.lcn, 1, 4095)?;
        for text in self.peers.iter().map(|p| &p.address).chain([&self.address]) {
            if text.is_empty() || Address::parse(text).is_none() {
                return Err(format!("address is {text:?}: it must be 1 to 15 decimal digits"));
            }
        }
        if self.calls && self.connect.is_none() {
            return Err("connect is missing: the router that calls go to".into());
        }
        if !self.calls && self.listen.is_none() {
            return Err("listen is missing: a gateway that only answers has to listen".into());
        }
        self.routes().map(|_| ())
    }

    pub fn modulo_kind(&self) -> Modulo {
        if self.modulo == 8 { Modulo::M8 } else { Modulo::M128 }
    }

    /// Where calls come from: routers know a peer by its address, the one where it listens.
    pub fn source(&self) -> Option<SocketAddrV4> {
        let listen = self.listen.filter(|at| !at.ip().is_unspecified())?;
        Some(SocketAddrV4::new(*listen.ip(), 0))
    }

    pub fn flow(&self) -> FlowParameters {
        FlowParameters {
            called_size: self.packet_size,
            calling_size: self.packet_size,
            called_window: self.window,
            calling_window: self.window,
        }
    }

    /// All prefixes with the index of their peer, the longest first.
    pub fn routes(&self) -> Result<Vec<(Prefix, usize)>, String> {
        let mut routes = Vec::new();
        for (index, peer) in self.peers.iter().enumerate() {
            for text in &peer.prefixes {
                routes.push((Prefix::parse(text)?, index));
            }
        }
        routes.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.length));
        Ok(routes)
    }
}

/// An IPv4 or IPv6 prefix; its octets begin with those of the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    bits: u128,
    width: u8,
    length: u8,
}

impl Prefix {
    fn parse(text: &str) -> Result<Prefix, String> {
        let wrong = || format!("prefix {text:?}: an IP address and a length, as 192.0.2.0/24");
        let (address, length) = text.split_once('/').ok_or_else(wrong)?;
        let (bits, width) = number(&address.parse().map_err(|_| wrong())?);
        let length: u8 = length.parse().map_err(|_| wrong())?;
        if length > width {
            return Err(wrong());
        }
        Ok(Prefix { bits, width, length })
    }

    pub fn holds(&self, address: &IpAddr) -> bool {
        let (bits, width) = number(address);
        width == self.width
            && (bits ^ self.bits).checked_shr(u32::from(width - self.length)).unwrap_or(0) == 0
    }
}

fn number(address: &IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(a) => (u32::from(*a).into(), 32),
        IpAddr::V6(a) => (u128::from(*a), 128),
    }
}

/// Where a datagram is to go; None: it is none.
pub fn destination(datagram: &[u8]) -> Option<IpAddr> {
    match super::encapsulation::Family::of(datagram)? {
        super::encapsulation::Family::Ipv4 => {
            let octets: [u8; 4] = datagram.get(16..20)?.try_into().ok()?;
            Some(octets.into())
        }
        super::encapsulation::Family::Ipv6 => {
            let octets: [u8; 16] = datagram.get(24..40)?.try_into().ok()?;
            Some(octets.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_decides() {
        let peer = |address: &str, prefixes: &[&str]| Peer {
            address: address.into(),
            prefixes: prefixes.iter().map(|p| (*p).into()).collect(),
        };
        let gateway = Gateway {
            peers: vec![
                peer("1", &["0.0.0.0/0", "::/0"]),
                peer("2", &["10.1.0.0/16", "2001:db8::/32"]),
                peer("3", &["10.1.2.3/32"]),
            ],
            ..Gateway::default()
        };
        let routes = gateway.routes().unwrap();
        for (address, peer) in [
            ("10.1.2.3", 2),
            ("10.1.2.4", 1),
            ("10.2.2.4", 0),
            ("2001:db8::1", 1),
            ("2001:db9::1", 0),
        ] {
            let address: IpAddr = address.parse().unwrap();
            let found = routes.iter().find(|(prefix, _)| prefix.holds(&address)).unwrap().1;
            assert_eq!(found, peer, "{address}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (json, name) in [
            (r#"{"circuits": 11}"#, "circuits is 11: it must be from 1 to 10"),
            (r#"{"packet_size": 100}"#, "packet_size"),
            (r#"{"window": 8}"#, "window"),
            (r#"{"mtu": 1601}"#, "mtu"),
            (r#"{"address": "12a"}"#, "address"),
            (r#"{"address": "1"}"#, "connect"),
            (r#"{"address": "1", "calls": false}"#, "listen"),
        ] {
            let gateway: Gateway = serde_json::from_str(json).unwrap();
            assert!(gateway.check().unwrap_err().contains(name), "{json}");
        }
        for wrong in ["10.0.0.1", "10.0.0.1/33", "x/8", "::/129", "10.0.0.1/"] {
            assert!(Prefix::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn calls_come_from_the_address_where_the_gateway_listens() {
        let source = |listen: &str| {
            Gateway { listen: listen.parse().ok(), ..Gateway::default() }
                .source()
                .map(|from| from.to_string())
        };
        assert_eq!(source("192.0.2.1:1998"), Some("192.0.2.1:0".into()));
        assert_eq!(source("0.0.0.0:1998"), None);
        assert_eq!(source(""), None);
    }

    #[test]
    fn octets_that_are_no_datagram_go_nowhere() {
        assert_eq!(destination(&[]), None);
        assert_eq!(destination(&[0x45; 19]), None);
        assert_eq!(destination(&[0x60; 39]), None);
        assert_eq!(destination(&[0x10; 60]), None);
    }
}
