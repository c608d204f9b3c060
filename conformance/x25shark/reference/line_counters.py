# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters of a serial interface, besides those that every interface has.

Names are those of IF-MIB (RFC 2863), of the RS-232 MIB (RFC 1659), of the LAPB MIB (RFC 1381) and
of the X.25 packet layer MIB (RFC 1382) where they have an object; hdlcIn..., lapb...Frames and
x25...Packets are this router's own.

    ifInOctets, ifOutOctets     octets between flags, FCS included, stuffing and flags not; received
                                octets count if flags bound them and they are whole octets
    ifInUcastPkts, ifOutUcastPkts   valid frames received, frames sent
    ifInErrors                  sum of all frames that were discarded as invalid
    hdlcInUnknownAddresses      valid FCS, and an address that is neither A nor B
"""

from collections import Counter
from typing import Any

from .counters import STATISTICS, Interface

#: Each invalid frame moves one of these, and ifInErrors.
ERRORS = (
    "rs232SyncPortFrameCheckErrors",
    "rs232SyncPortAbortedFrames",
    "hdlcInUnaligned",
    "hdlcInRunts",
    "hdlcInGiants",
    "hdlcInUnknownAddresses",
)
LINE_STATISTICS = (
    "ifInOctets",
    "ifInUcastPkts",
    "ifInDiscards",
    "ifInErrors",
    "ifOutOctets",
    "ifOutUcastPkts",
    "ifOutDiscards",
    *ERRORS,
    "lapbFlowStateChanges",
    "lapbFlowT1Timeouts",
    "lapbFlowRejOutPkts",
    "lapbFlowRejInPkts",
    "lapbInFrameRejects",
    "lapbOutFrameRejects",
    "x25StatRestartTimeouts",
)
#: IF-MIB ifOperStatus.
UP, DOWN = 1, 2


class LineCounters(Interface):
    """The counters of one serial interface."""

    def __init__(self) -> None:
        super().__init__()
        kept = [name for name in STATISTICS if not name.startswith("xot")]
        self.values = dict.fromkeys((*LINE_STATISTICS, *kept), 0)
        self.status = DOWN
        #: Information fields of the last FRMR, in hexadecimal (RFC 1381).
        self.rejections = {"lapbFlowFrmrSent": "", "lapbFlowFrmrReceived": ""}
        self.frames_in: Counter[str] = Counter()
        self.frames_out: Counter[str] = Counter()

    def line(self, up: bool) -> None:
        """ifOperStatus."""
        self.status = UP if up else DOWN

    def error(self, name: str) -> None:
        """An invalid frame."""
        self.count(name)
        self.count("ifInErrors")

    def frame_in(self, kind: str) -> None:
        """A valid frame."""
        self.count("ifInUcastPkts")
        self.frames_in[kind] += 1

    def frame_out(self, kind: str, octets: int) -> None:
        """A frame was sent."""
        self.count("ifOutUcastPkts")
        self.count("ifOutOctets", octets)
        self.frames_out[kind] += 1

    def as_dict(self) -> dict[str, Any]:
        return {
            "ifOperStatus": self.status,
            **super().as_dict(),
            **self.rejections,
            "lapbInFramesByType": dict(sorted(self.frames_in.items())),
            "lapbOutFramesByType": dict(sorted(self.frames_out.items())),
        }
