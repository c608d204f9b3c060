# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of a serial line as judges see them: their octets with FCS, and what is wrong with them.

A frame is valid if it was not aborted, has whole octets, 32 bits or more between flags, and a
right FCS (X.25 2.2.9); the address is a matter of LAPB. Only a valid frame is a LAPB frame.
"""

from __future__ import annotations

from typing import Any, ClassVar

from scapy.packet import Packet
from scapy_x25 import hdlc, summary_line
from scapy_x25.lapb import ADDRESS_A, ADDRESS_B, LAPB
from scapy_x25.remembered import remembered
from scapy_x25.summary import counted

_FCS_OCTETS = 2
_LONGEST_NAME = 160


class Damaged(bytes):
    """Octets of a frame that was aborted (or too long to keep), or that has no whole octets.

    how: "aborted" or "unaligned".
    """

    how: str

    def __new__(cls, octets: bytes, how: str = "aborted") -> Damaged:
        made = super().__new__(cls, octets)
        made.how = how
        return made


class InvalidFrame(Packet):  # type: ignore[misc]
    """Template: a frame that is not valid."""

    name = "invalid frame"
    fields_desc: ClassVar[list[Any]] = []


class FrameOf(Packet):  # type: ignore[misc]
    """Template: a frame of one kind, whatever it carries; made by frame_of()."""

    name = "frame"
    fields_desc: ClassVar[list[Any]] = []
    kind: str
    longest: int


# Each frame is of one kind: the first whose condition holds (X.25 2.2.9, 2.3.5.3).
_WHOLE = "hdlcs.aborted#{k} == 0 && hdlcs.unaligned#{k} == 0"
_BOUNDED = _WHOLE + " && hdlcs.length#{k} >= 4 && hdlcs.length#{k} <= %d"
_KNOWN = "lapbs.address#{k} in {1, 3}"
KINDS: dict[str, tuple[str, str]] = {
    "aborted": ("an aborted frame", "hdlcs.aborted#{k} == 1"),
    "unaligned": (
        "a frame of no whole octets",
        "hdlcs.aborted#{k} == 0 && hdlcs.unaligned#{k} == 1",
    ),
    "runt": ("a runt frame", _WHOLE + " && hdlcs.length#{k} < 4"),
    "giant": ("a giant frame", _WHOLE + " && hdlcs.length#{k} > %d"),
    "bad_fcs": ("a frame with a wrong FCS", _BOUNDED + " && hdlcs.fcs_status#{k} == 0"),
    "unknown_address": (
        "a frame with an address that is neither A nor B",
        f"{_BOUNDED} && hdlcs.fcs_status#{{k}} == 1 && !({_KNOWN})",
    ),
    "good": ("a good frame", f"{_BOUNDED} && hdlcs.fcs_status#{{k}} == 1 && {_KNOWN}"),
}


def frame_of(kind: str, n1: int = 2104) -> FrameOf:
    """A template for all frames of one of KINDS; n1: bits of the longest frame of the line."""
    made = FrameOf()
    made.kind, made.longest = kind, n1 // 8
    return made


# A station may abort what it has begun, and send it again (X.25 2.2.10).
ABORTED = frame_of("aborted")


def frame_filter(template: FrameOf) -> str:
    """The template as a display filter."""
    condition = KINDS[template.kind][1]
    return condition % template.longest if "%d" in condition else condition


def kind_of(octets: bytes, longest: int) -> str:
    """Of which of KINDS a frame is."""
    if isinstance(octets, Damaged):
        return octets.how
    if len(octets) < hdlc.SHORTEST:
        return "runt"
    if len(octets) > longest:
        return "giant"
    if hdlc.fcs_register(octets) != hdlc.FCS_GOOD:
        return "bad_fcs"
    return "good" if octets[0] in (ADDRESS_A, ADDRESS_B) else "unknown_address"


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


@remembered
def _decode(octets: bytes) -> Packet:
    return LAPB(octets[:-_FCS_OCTETS])


def describe_frame(frame: Packet) -> str:
    """A frame or a template of one in words."""
    if isinstance(frame, InvalidFrame):
        return "an invalid frame"
    if isinstance(frame, FrameOf):
        return KINDS[frame.kind][0]
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
        return f"{octets.how} frame, {counted(octets)}"
    if len(octets) < hdlc.SHORTEST:
        return f"runt frame, {counted(octets)}"
    if hdlc.fcs_register(octets) != hdlc.FCS_GOOD:
        return f"frame with wrong FCS, {counted(octets)}"
    frame = _decode(octets)
    text = describe_frame(frame)
    packet = octets[2:-_FCS_OCTETS]
    if octets[1] & 1 == 0 and packet:
        return f"{text} | {summary_line(packet, to_dte)}"
    return text
