# SPDX-License-Identifier: GPL-2.0-or-later
"""Configuration of a serial interface: a line with HDLC, LAPB and the X.25 packet layer.

    [[serial]] name = "s0"
        listen = "127.0.25.1:2001"   the line is a TCP connection that is accepted there (one at a
                                     time), or with `connect` one that is opened to there,
        pty = true                   or a pseudo terminal, whose path is in the ready line
        framing = "octet"            octet-stuffed, or "bit": bit-synchronous, low-order bit first
        role = "dce"                 or "dte"
        modulo = 8                   of the packet layer; LAPB is modulo 8
        lcn_range = [1, 255]         logical channels, all two-way; for a call the DCE takes the
                                     lowest free one, the DTE the highest
        initiate = false             start the link (default for the DTE) and not only answer SABM
        retry = 10                   seconds between rounds of N2 attempts, or of connecting
        t1 = 3, t2 = 0, t3 = 30      seconds; t2 = 0: acknowledge when all input is dealt with,
                                     t3: silence after which RR P=1 asks whether the peer is there
        n1 = 2104                    bits of the longest frame, without flags and inserted bits;
                                     it also bounds the packet size
        n2 = 10, k = 7
        giants = "discard"           what a frame above N1 gets, or "reject": FRMR with Y
        diagnostics = true           the DCE sends Diagnostic packets

A giant frame, like any invalid one, is counted and has no other effect unless it is rejected.
"""

from dataclasses import dataclass, field

from .config_table import Table
from .hdlc import FRAMINGS
from .lapb_station import Parameters
from .routes import Destination

#: Bits of the shortest N1: 128 octets of user data in modulo 128, address, control and FCS.
N1_SHORTEST = 8 * (128 + 4 + 4)
N1_LONGEST = 8 * 8192


@dataclass(frozen=True)
class SerialSettings:
    """One [[serial]]; its meaning is explained above."""

    name: str
    listen: Destination | None = None
    connect: Destination | None = None
    framing: str = "octet"
    dce: bool = True
    modulo: int = 8
    lcns: range = range(1, 256)
    giants: str = "discard"
    diagnostics: bool = True
    lapb: Parameters = field(default_factory=Parameters)

    @property
    def size_limit(self) -> int:
        """log2 of the largest packet size that N1 has room for."""
        octets = self.lapb.n1 // 8 - 4 - (3 if self.modulo == 8 else 4)
        return min(octets.bit_length() - 1, 12)


def read_serial(table: Table) -> SerialSettings:
    """Check one [[serial]]."""
    dce = table.choice("role", "dce", ("dce", "dte")) == "dce"
    defaults = Parameters()
    pty = table.flag("pty", False)
    settings = SerialSettings(
        name=read_name(table),
        listen=table.address("listen", None, low_port=0) if "listen" in table.values else None,
        connect=table.address("connect", None) if "connect" in table.values else None,
        framing=table.choice("framing", "octet", tuple(FRAMINGS)),
        dce=dce,
        modulo=table.integer("modulo", 8, 8, 128),
        lcns=read_lcns(table),
        giants=table.choice("giants", "discard", ("discard", "reject")),
        diagnostics=table.flag("diagnostics", True),
        lapb=Parameters(
            t1=table.seconds("t1", defaults.t1),
            t2=table.seconds("t2", defaults.t2),
            t3=table.seconds("t3", defaults.t3),
            n1=table.integer("n1", defaults.n1, N1_SHORTEST, N1_LONGEST),
            n2=table.integer("n2", defaults.n2, 1, 255),
            k=table.integer("k", defaults.k, 1, 7),
            initiate=table.flag("initiate", not dce),
            retry=table.seconds("retry", defaults.retry),
        ),
    )
    if settings.modulo not in (8, 128):
        table.fail("modulo", "must be 8 or 128")
    if (settings.listen is not None) + (settings.connect is not None) + pty != 1:
        table.fail("listen", "give one of listen, connect and pty = true")
    if not settings.lapb.t1 or settings.lapb.t2 >= settings.lapb.t1:
        table.fail("t1", "must be above 0 and above t2 (X.25 2.4.8)")
    if not settings.lapb.retry:
        table.fail("retry", "must be above 0")
    table.finish()
    return settings


def read_name(table: Table) -> str:
    name = table.text("name")
    if not name.isascii() or not name.isidentifier() or len(name) > 15:
        table.fail("name", "must be a letter and at most 14 more letters, digits or _")
    return name


def read_lcns(table: Table) -> range:
    pair = table.take("lcn_range", [1, 255])
    whole = isinstance(pair, list) and len(pair) == 2 and all(type(one) is int for one in pair)
    if not whole or not 1 <= pair[0] <= pair[1] <= 4095:
        table.fail("lcn_range", "must be two numbers from 1 to 4095, such as [1, 255]")
    return range(pair[0], pair[1] + 1)
