# SPDX-License-Identifier: GPL-2.0-or-later
"""[caller]: the router has a terminal that calls (caller.py).

listen = "127.0.25.1:2025"     where it is told to call: a line with the digits
address = "1115"               its calling address
user_data = "c0637531"         call user data, in hexadecimal
packet_size = 128, window = 2  what it offers
greeting = 0                   Data packets that it sends once it is connected
"""

from dataclasses import dataclass
from ipaddress import ip_address

from .config_table import Table
from .routes import Destination

_LONGEST_USER_DATA = 16


@dataclass(frozen=True)
class CallerSettings:
    """The table, checked. packet_size: log2."""

    listen: Destination
    address: str
    user_data: bytes = b"\xc0cu1"
    packet_size: int = 7
    window: int = 2
    greeting: int = 0


def read_caller(table: Table) -> CallerSettings:
    """Check the table. Raises ConfigError."""
    listen = table.address("listen", None, low_port=0)
    if not ip_address(listen.host).is_loopback:
        table.fail("listen", "must be a loopback address: whoever reaches it has calls placed")
    user_data = b""
    try:
        user_data = bytes.fromhex(table.text("user_data", "c0637531"))
    except ValueError:
        table.fail("user_data", "must be octets in hexadecimal")
    if len(user_data) > _LONGEST_USER_DATA:
        table.fail("user_data", "must be 16 octets at most")
    settings = CallerSettings(
        listen=listen,
        address=table.digits("address", ""),
        user_data=user_data,
        packet_size=table.packet_size("packet_size", 128).bit_length() - 1,
        window=table.integer("window", 2, 1, 7),
        greeting=table.integer("greeting", 0, 0, 1000),
    )
    table.finish()
    return settings
