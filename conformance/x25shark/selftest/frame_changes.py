# SPDX-License-Identifier: GPL-2.0-or-later
"""Changed frames of serial lines, for judge_mutants: their fields, and their place in a capture.

A packet of a logical channel is changed within its I frame. Every changed frame has a right FCS
again and its old length, so that all that follows stays where it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from scapy.packet import Packet
from scapy_x25 import hdlc

from ..judges.expectation import Expectation, PacketView, Quiet
from ..judges.frames import decode_frame
from ..judges.template import matches
from ..links.carrier import FRAMES, LineEnd

# Address and control octet in front of a packet, FCS behind it (X.25 2.3.2).
PACKET_AT, FCS_OCTETS = 2, 2
# Control octets of other kinds, without P/F: DM, UA, DISC, SABM, RR, REJ.
_KINDS = (0x0F, 0x63, 0x43, 0x2F, 0x01, 0x09)
_P_F = 0x10
_RR = 0x01
# Fields of which nobody's sequence depends.
_HARMLESS = ("p_f", "n_r")
_HARMLESS_IN_PACKETS = ("p_r", "diagnostic", "cause")
_BITS = (1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80)

# Field, whether the template names it, and the frame or packet with another value in it.
FieldChange = tuple[str, bool, bytes]


def frame_changes(expectation: Expectation, octets: bytes) -> Iterator[FieldChange]:
    """Changes to the frame that met an expectation: each named field, its kind, and one field
    that is not named."""
    frame = decode_frame(octets)
    template = next((t for t in expectation.leading() if matches(t, octets)), None)
    if frame is None or template is None:
        return
    # What may pass is passed over, and a later frame may be as good as the one expected.
    allowed = (*expectation.leading(), *getattr(expectation, "passing", ()))
    for name in template.fields:
        if name != "type":
            changed = _with_other(frame, name, allowed, matching=False)
            if changed is not None:
                yield name, True, changed
    for kind in _KINDS:
        changed = hdlc.with_fcs(
            octets[:1] + bytes([kind | octets[1] & _P_F]) + octets[PACKET_AT:-FCS_OCTETS]
        )
        if not any(matches(t, changed) for t in allowed):
            yield "kind", True, changed
            break
    for name in _HARMLESS:
        if name in frame.fields and name not in template.fields:
            changed = _with_other(frame, name, expectation.leading(), matching=True)
            if changed is not None:
                yield name, False, changed
                return


def _with_other(
    frame: Packet, name: str, templates: Sequence[Packet], *, matching: bool
) -> bytes | None:
    value = frame.fields.get(name)
    length = len(bytes(frame))
    for bit in _BITS if isinstance(value, int) else ():
        other = frame.copy()
        other.setfieldval(name, value ^ bit)
        try:
            content = bytes(other)
        except ValueError:
            continue
        whole = hdlc.with_fcs(content)
        same_length = len(content) == length and content != bytes(frame)
        if same_length and matching is any(matches(t, whole) for t in templates):
            return whole
    return None


def harmless_change(packet: Packet, template: Packet) -> FieldChange | None:
    """A change to a packet of a channel in a field that the template does not name."""
    for name in _HARMLESS_IN_PACKETS:
        value = packet.fields.get(name)
        if isinstance(value, int) and name not in template.fields:
            other = packet.copy()
            other.setfieldval(name, value ^ 1)
            octets = bytes(other)
            if len(octets) == len(bytes(packet)) and matches(template, octets):
                return name, False, octets
    return None


def quiet_frame(expectation: Quiet, view: PacketView) -> bytes | None:
    """An RR that may pass as a DM, which may not; None: this frame is none to change."""
    relaxed = expectation.relaxed_from
    if view.type != _RR or (relaxed is not None and view.offset >= relaxed):
        return None
    changed = hdlc.with_fcs(view.octets[:1] + bytes([_KINDS[0] | _P_F]))
    return None if any(matches(t, changed) for t in expectation.passing) else changed


class FramePlaces:
    """Counts the frames of a capture, to find those to change."""

    def __init__(self) -> None:
        self._octets: dict[LineEnd, int] = {}

    def patched(
        self, block: bytes, sender: LineEnd, made: Sequence[tuple[int, int | None, bytes]]
    ) -> bytes:
        """The block of the next frame of a sender with its changes (plane, offset, octets)."""
        size = int.from_bytes(block[20:24], sys.byteorder)
        place = self._octets.get(sender, 0)
        self._octets[sender] = place + size
        frame = block[28 : 28 + size]
        for plane, offset, octets in made:
            if offset == place:
                whole = frame[:PACKET_AT] + octets
                frame = octets if plane == FRAMES else hdlc.with_fcs(whole)
        assert len(frame) == size
        return block[:28] + frame + block[28 + size :]
