# SPDX-License-Identifier: GPL-2.0-or-later
"""The expectation that the router keeps the information field of the last FRMR (RFC 1381)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from scapy.packet import Packet
from scapy_x25.lapb import LapbFRMR

from ..counters.paths import Missing, Path
from .counter_events import Cut
from .expectation import Consumed, Expectation, Judge, Seen

# Address and control octet precede the field, which has three octets.
_BEFORE, _FIELD = 2, 3


def field(document: Any, path: Path) -> bytes | None:
    """What the router keeps: hexadecimal text ("0x22 00 08", "220008") or a list of octets."""
    try:
        value = path.value(document)
    except Missing:
        return None
    if isinstance(value, str):
        digits = re.sub(r"0x|[\s:.-]", "", value[:100])
        return bytes.fromhex(digits) if re.fullmatch(r"(?:[0-9a-fA-F]{2})*", digits) else None
    if isinstance(value, list) and all(type(v) is int and 0 <= v <= 255 for v in value[:100]):
        return bytes(value[:100])
    return None


@dataclass
class FrameRejectKept(Expectation):
    """What the page holds is the field of the last FRMR. received: of one that the router got."""

    path: str = ""
    received: bool = False
    kept: bytes | None = None
    cuts: tuple[Cut, ...] = ()

    @property
    def text(self) -> str:
        way = "received" if self.received else "sent"
        return f"the field of the last FRMR {way} to be kept ({self.path})"

    def templates(self) -> tuple[Packet, ...]:
        return (LapbFRMR(),)

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        fields = []
        for cut in self.cuts:
            match = cut.match(judge)
            for sent, view in cut.events(judge):
                if sent is self.received and match(self.templates()[0], (sent, view)):
                    fields.append(view.octets[_BEFORE : _BEFORE + _FIELD])
        if not fields:
            return Seen(False, None, "no FRMR in the capture", count=0)
        kept = "nothing" if self.kept is None else (self.kept[:20].hex() or "nothing")
        words = f"{kept} is kept; the capture has {fields[-1].hex()}"
        return Seen(self.kept == fields[-1], None, words, count=len(fields))
