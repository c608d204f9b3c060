# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of a serial line as judges see them: their octets with FCS, and what is wrong with them.

A frame is valid if it was not aborted, has whole octets, 32 bits or more between flags, and a
right FCS (X.25 2.2.9); the address is a matter of LAPB. Only a valid frame is a LAPB frame.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

from scapy.packet import Packet
from scapy_x25 import hdlc, summary_line
from scapy_x25.lapb import LAPB

_FCS_OCTETS = 2
_LONGEST_NAME = 160


class Damaged(bytes):
    """Octets of a frame that was aborted, or has no whole octets, or was too long to keep."""


class InvalidFrame(Packet):  # type: ignore[misc]
    """Template: a frame that is not valid."""

    name = "invalid frame"
    fields_desc: ClassVar[list[Any]] = []
    strict_conditions: ClassVar[dict[str, int]] = {}


def is_invalid(octets: bytes) -> bool:
    """Whether a frame does not count."""
    return (
        isinstance(octets, Damaged)
        or len(octets) < hdlc.SHORTEST
        or hdlc.fcs_register(octets) != hdlc.FCS_GOOD
    )


def decode_frame(octets: bytes) -> Packet | None:
    """A valid frame as a LAPB packet (modulo 8); None for another. Do not change it."""
    return None if is_invalid(octets) else _decode(octets)


@lru_cache(maxsize=2048)
def _decode(octets: bytes) -> Packet:
    return LAPB(octets[:-_FCS_OCTETS])


def describe_frame(frame: Packet) -> str:
    """A frame or a template of one in words."""
    if isinstance(frame, InvalidFrame):
        return "an invalid frame"
    shown = []
    for field, label in _LABELS:
        value = frame.fields.get(field)
        if value is not None:
            shown.append(
                f"{label}={value:#04x}"
                if label in _HEX and isinstance(value, int)
                else f"{label}={value}"
            )
    return " ".join([str(frame.name), *shown])[:_LONGEST_NAME]


_HEX = ("address", "control", "rejected")
_LABELS = (
    ("address", "address"),
    ("control", "control"),
    ("n_s", "N(S)"),
    ("n_r", "N(R)"),
    ("p_f", "P/F"),
    ("rejected_control", "rejected"),
    ("v_s", "V(S)"),
    ("v_r", "V(R)"),
    ("c_r", "C/R"),
    ("w", "W"),
    ("x", "X"),
    ("y", "Y"),
    ("z", "Z"),
)


def frame_line(octets: bytes, *, to_dte: bool | None = None) -> str:
    """A frame in one line, with the packet that it carries."""
    if isinstance(octets, Damaged):
        return f"damaged frame, {len(octets)} octets"
    if len(octets) < hdlc.SHORTEST:
        return f"runt frame, {len(octets)} octets"
    if hdlc.fcs_register(octets) != hdlc.FCS_GOOD:
        return f"frame with wrong FCS, {len(octets)} octets"
    frame = _decode(octets)
    text = describe_frame(frame)
    packet = octets[2:-_FCS_OCTETS]
    if octets[1] & 1 == 0 and packet:
        return f"{text} | {summary_line(packet, to_dte)}"
    return text
