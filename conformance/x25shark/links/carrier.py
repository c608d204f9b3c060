# SPDX-License-Identifier: GPL-2.0-or-later
"""What a link is to everything above it: packets in order, the end of each direction, times.

Sides, judges and evidence know links by these protocols and by the types of their ends, so that a
new link is a module of its own. An XOT connection (xot.py), a logical channel (circuits.py) and the
frames of a line (hdlc.py) declare them. This module imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

#: In place of a logical channel: the frames of the line themselves.
FRAMES = -1

#: An end of a TCP connection: address and port.
TcpAddress = tuple[str, int]


class LineEnd(NamedTuple):
    """An end of a serial line, or of a logical channel on it. line: its name, such as "line.a"."""

    line: str
    channel: int
    of_router: bool

    def __str__(self) -> str:
        return f"the {'router' if self.of_router else 'tester'}'s end of {self.line}"


End = TcpAddress | LineEnd


class Unit(Protocol):
    """One packet or frame as a link keeps it.

    offset, end: octets of its direction before it (before its XOT header), and up to its last one.
    time: seconds, on the monotonic clock. version: of the XOT header; 0 where there is none.
    damage: how a frame is broken: "aborted", "unaligned", or "".
    """

    @property
    def offset(self) -> int: ...
    @property
    def packet(self) -> bytes: ...
    @property
    def end(self) -> int: ...
    @property
    def time(self) -> float: ...
    @property
    def version(self) -> int: ...
    @property
    def damage(self) -> str: ...


class Packets(Protocol):
    """Units of both directions in order, and how the router ended its own."""

    @property
    def received(self) -> Sequence[Unit]: ...
    @property
    def sent(self) -> Sequence[Unit]: ...
    @property
    def end(self) -> str | None: ...


class Traffic(Packets, Protocol):
    """What a judge needs of a link besides.

    end_at: the octet of a line at which its link ended; it may be set up again behind it. None:
    nothing comes behind the end.
    finished_first: the tester ended its direction before, not amid a unit of the router.
    octets_read: all octets of the router, where units are not all there is; None: not counted.
    syn_octets: octets that came with the SYN; None where there is none, or it is not known.
    sent_in_part: what the tester has sent ends amid a unit.
    """

    @property
    def end_at(self) -> int | None: ...
    @property
    def finished_first(self) -> bool: ...
    @property
    def octets_read(self) -> int | None: ...
    @property
    def syn_octets(self) -> int | None: ...
    @property
    def sent_in_part(self) -> bool: ...


class Carrier(Packets, Protocol):
    """What a side needs of what carries its packets, besides.

    closed: the tester has closed it. flooded: the router sent more than the tester reads.
    sent_in_part: as in Traffic.
    received_octets: where the next unit of the router would be. on_unit sees each unit that comes.
    """

    on_unit: Callable[[Any], None] | None

    @property
    def local(self) -> End: ...
    @property
    def remote(self) -> End: ...
    @property
    def closed(self) -> bool: ...
    @property
    def flooded(self) -> bool: ...
    @property
    def sent_in_part(self) -> bool: ...
    @property
    def received_octets(self) -> int: ...
    @property
    def amid_a_unit(self) -> bool: ...
    def close(self) -> None: ...
