# SPDX-License-Identifier: GPL-2.0-or-later
"""Configuration of the IP end: a host inside the router that answers ICMP echo over circuits.

[ip] address = "10.25.0.1"   of the host; a route leads there with to = "ip"
    mtu = 1500               octets of the longest datagram that it sends, 576 to 1600
    idle = 90                seconds without a datagram after which a circuit is cleared; 0: never
    encapsulations = ["null", "snap"]    what it takes besides 0xCC (RFC 1356 3.2, 3.3)
"""

from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address

from .config_table import Table

NLPID, NULL, SNAP = "nlpid", "null", "snap"
OPTIONAL = (NULL, SNAP)


@dataclass(frozen=True)
class IpSettings:
    """[ip]; its meaning is explained above."""

    address: bytes
    mtu: int = 1500
    idle: float = 90.0
    encapsulations: frozenset[str] = frozenset((NLPID, *OPTIONAL))


def read_ip(table: Table) -> IpSettings:
    """Check [ip]."""
    text = table.text("address")
    try:
        address = IPv4Address(text).packed
    except AddressValueError:
        table.fail("address", f"must be an IPv4 address such as 10.25.0.1, not {text!r}")
    named = table.take("encapsulations", list(OPTIONAL))
    if not isinstance(named, list) or not all(one in OPTIONAL for one in named):
        table.fail("encapsulations", f"must be a list of {', '.join(OPTIONAL)}")
    settings = IpSettings(
        address=address,
        mtu=table.integer("mtu", 1500, 576, 1600),
        idle=table.seconds("idle", 90.0),
        encapsulations=frozenset((NLPID, *named)),
    )
    table.finish()
    return settings
