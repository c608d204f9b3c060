// SPDX-License-Identifier: GPL-2.0-or-later
//! Datagrams on circuits: RFC 1356 (and RFC 877, whose one octet 0xCC it keeps).
//!
//! The user data of the Call says what the circuit carries; octets behind it are ignored
//! (RFC 1356 3.2):
//!     0xCC, 0x8E              IPv4, IPv6: datagrams as they are (ISO/IEC TR 9577 identifiers)
//!     0x80 OUI (3) type (2)   SNAP: datagrams of that Ethernet type
//!     0x00                    null encapsulation: each unit begins with one of the above

use serde::{Deserialize, Serialize};

const IPV4: u8 = 0xCC;
const IPV6: u8 = 0x8E;
const SNAP: u8 = 0x80;
const NULL: u8 = 0x00;
const SNAP_IPV4: [u8; 6] = [SNAP, 0, 0, 0, 0x08, 0x00];
const SNAP_IPV6: [u8; 6] = [SNAP, 0, 0, 0, 0x86, 0xDD];

/// How the gateway's own calls carry datagrams. What others ask for is taken in any form.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Encapsulation {
    /// One protocol a circuit, by its identifier: 0xCC or 0x8E.
    #[default]
    Nlpid,
    /// One protocol a circuit, by SNAP.
    Snap,
    /// Both protocols on one circuit.
    Null,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    Ipv4,
    Ipv6,
}

impl Family {
    /// By the version in a datagram's first octet.
    pub fn of(datagram: &[u8]) -> Option<Family> {
        match datagram.first()? >> 4 {
            4 => Some(Family::Ipv4),
            6 => Some(Family::Ipv6),
            _ => None,
        }
    }
}

/// What a circuit carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carries {
    pub encapsulation: Encapsulation,
    /// None: any (null encapsulation).
    pub family: Option<Family>,
}

impl Carries {
    pub fn new(encapsulation: Encapsulation, family: Family) -> Carries {
        let any = encapsulation == Encapsulation::Null;
        Carries { encapsulation, family: (!any).then_some(family) }
    }

    /// From the user data of a Call; None: an identifier that this gateway does not know.
    pub fn from_user_data(user_data: &[u8]) -> Option<Carries> {
        if user_data.first() == Some(&NULL) {
            return Some(Carries { encapsulation: Encapsulation::Null, family: None });
        }
        let (encapsulation, family, _) = identified(user_data)?;
        Some(Carries { encapsulation, family: Some(family) })
    }

    pub fn user_data(&self) -> Vec<u8> {
        self.family.map_or_else(|| vec![NULL], |family| identifier(self.encapsulation, family))
    }

    pub fn takes(&self, family: Family) -> bool {
        self.family.is_none_or(|mine| mine == family)
    }

    /// What precedes a datagram in its packet sequence.
    pub fn prefix(&self, family: Family) -> Vec<u8> {
        if self.family.is_some() {
            return Vec::new();
        }
        identifier(Encapsulation::Nlpid, family)
    }

    /// The datagram in a complete packet sequence; None: another protocol, or cut short.
    pub fn datagram<'a>(&self, unit: &'a [u8]) -> Option<&'a [u8]> {
        let (family, datagram) = match self.family {
            Some(family) => (family, unit),
            None => {
                let (_, family, datagram) = identified(unit)?;
                (family, datagram)
            }
        };
        (Family::of(datagram) == Some(family)).then_some(datagram)
    }

    pub fn name(&self) -> &'static str {
        match (self.encapsulation, self.family) {
            (Encapsulation::Null, _) | (_, None) => "null encapsulation (00)",
            (Encapsulation::Nlpid, Some(Family::Ipv4)) => "IPv4 (CC)",
            (Encapsulation::Nlpid, Some(Family::Ipv6)) => "IPv6 (8E)",
            (Encapsulation::Snap, Some(Family::Ipv4)) => "IPv4 (SNAP)",
            (Encapsulation::Snap, Some(Family::Ipv6)) => "IPv6 (SNAP)",
        }
    }
}

fn identifier(encapsulation: Encapsulation, family: Family) -> Vec<u8> {
    match (encapsulation, family) {
        (Encapsulation::Snap, Family::Ipv4) => SNAP_IPV4.to_vec(),
        (Encapsulation::Snap, Family::Ipv6) => SNAP_IPV6.to_vec(),
        (_, Family::Ipv4) => vec![IPV4],
        (_, Family::Ipv6) => vec![IPV6],
    }
}

fn identified(octets: &[u8]) -> Option<(Encapsulation, Family, &[u8])> {
    match *octets.first()? {
        IPV4 => Some((Encapsulation::Nlpid, Family::Ipv4, &octets[1..])),
        IPV6 => Some((Encapsulation::Nlpid, Family::Ipv6, &octets[1..])),
        SNAP => {
            let (snap, rest) = octets.split_at_checked(SNAP_IPV4.len())?;
            let family = match snap {
                _ if snap == SNAP_IPV4 => Family::Ipv4,
                _ if snap == SNAP_IPV6 => Family::Ipv6,
                _ => return None,
            };
            Some((Encapsulation::Snap, family, rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATAGRAM_4: &[u8] = &[0x45, 1, 2, 3];
    const DATAGRAM_6: &[u8] = &[0x60, 1, 2, 3];

    #[test]
    fn the_user_data_says_what_a_circuit_carries() {
        for (octets, name) in [
            (&[0xCC][..], "IPv4 (CC)"),
            (&[0xCC, 1, 2, 3], "IPv4 (CC)"), // RFC 1356 3.2: what follows is ignored
            (&[0x8E], "IPv6 (8E)"),
            (&[0x80, 0, 0, 0, 8, 0], "IPv4 (SNAP)"),
            (&[0x80, 0, 0, 0, 0x86, 0xDD], "IPv6 (SNAP)"),
            (&[0x00], "null encapsulation (00)"),
        ] {
            let carries = Carries::from_user_data(octets).unwrap();
            assert_eq!(carries.name(), name);
            assert!(octets.starts_with(&carries.user_data()));
        }
        for octets in [&[][..], &[0x3F], &[0x80], &[0x80, 0, 0, 0, 8], &[0x80, 0, 0, 0, 8, 6]] {
            assert_eq!(Carries::from_user_data(octets), None, "{octets:x?}");
        }
    }

    #[test]
    fn null_encapsulation_names_the_protocol_in_each_unit() {
        let null = Carries::new(Encapsulation::Null, Family::Ipv4);
        assert!(null.takes(Family::Ipv4) && null.takes(Family::Ipv6));
        for (family, datagram) in [(Family::Ipv4, DATAGRAM_4), (Family::Ipv6, DATAGRAM_6)] {
            let unit = [&null.prefix(family), datagram].concat();
            assert_eq!(null.datagram(&unit), Some(datagram));
        }
        let snap = [&SNAP_IPV4[..], DATAGRAM_4].concat();
        assert_eq!(null.datagram(&snap), Some(DATAGRAM_4));
        for wrong in [&[][..], &[0xCC], &[0xCC, 0x60], &[0x81, 0x45], &[0x80, 0, 0, 0, 8]] {
            assert_eq!(null.datagram(wrong), None, "{wrong:x?}");
        }
    }

    #[test]
    fn a_circuit_of_one_protocol_takes_no_other() {
        let four = Carries::new(Encapsulation::Nlpid, Family::Ipv4);
        assert!(four.takes(Family::Ipv4) && !four.takes(Family::Ipv6));
        assert_eq!(four.datagram(DATAGRAM_4), Some(DATAGRAM_4));
        assert_eq!(four.datagram(DATAGRAM_6), None);
    }
}
