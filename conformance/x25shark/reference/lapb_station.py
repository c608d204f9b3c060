# SPDX-License-Identifier: GPL-2.0-or-later
"""What the parts of a LAPB station share: its values, its phases, and what stands around it."""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

#: Sequence numbers count modulo this.
MODULO = 8


@dataclass(frozen=True)
class Parameters:
    """X.25 2.4.8: times in seconds (0: not run), N1 in bits."""

    t1: float = 3.0
    t2: float = 0.0
    t3: float = 30.0
    n1: int = 2104
    n2: int = 10
    k: int = 7
    #: Start the link and not only answer; pause between two rounds of N2 attempts.
    initiate: bool = False
    retry: float = 10.0


class Phase(Enum):
    """What the text of X.25 2.4 calls phases and conditions."""

    DISCONNECTED = "L1"
    SET_UP = "L2"
    DISCONNECT = "L3"
    TRANSFER = "L4"
    REJECT = "L5"


class Station(Protocol):
    """What stands around the machine: the line below, the packet layer above, the counters."""

    def frame_out(self, octets: bytes) -> None:
        """Send a frame; the FCS is not there yet."""

    def link_up(self) -> None:
        """The link is set up, or was reset: numbers are 0, and packets may have been lost."""

    def link_down(self) -> None:
        """The link is gone."""

    def packet_in(self, packet: bytes) -> None:
        """The information field of an I frame, once and in order."""

    def window_moved(self) -> None:
        """Packets that waited may have gone out."""

    def count(self, name: str) -> None:
        """Move a counter."""

    def note_rejection(self, name: str, field: bytes) -> None:
        """Keep the information field of the last FRMR."""
