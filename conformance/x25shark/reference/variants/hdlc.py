# SPDX-License-Identifier: GPL-2.0-or-later
"""Flags, fill and transparency between and in the frames of a line (X.25 2.2; ISO/IEC 13239 4)."""

from typing import Any

from ..hdlc import ESCAPE, FLAG, BitFraming, OctetFraming, Received
from ..lapb_recovery import TimerRecovery
from ..link import SerialLink
from .registry import Original, Patch, variant

FLAGS = 8
# Fifteen 1s and more are an idle line (X.25 2.2.12).
IDLE_ONES = 32
IDLE = b"\xff\xff\xff"
ABORTED_OCTETS = 3


@variant("MAY-HDLC-01")
def one_flag_between_frames(patch: Patch) -> None:
    @patch.wrap(OctetFraming, "restart")
    def restart(original: Original, framing: OctetFraming) -> None:
        original(framing)
        vars(framing)["flagged"] = False

    @patch.wrap(OctetFraming, "frame")
    def frame(original: Original, framing: OctetFraming, octets: bytes) -> bytes:
        whole: bytes = original(framing, octets)
        flagged = vars(framing).get("flagged", False)
        vars(framing)["flagged"] = True
        return whole[1:] if flagged else whole


@variant("MAY-HDLC-02", number=FLAGS)
def flags_between_frames(patch: Patch) -> None:
    @patch.wrap(OctetFraming, "frame")
    def octet_frame(original: Original, framing: OctetFraming, octets: bytes) -> bytes:
        return bytes((FLAG,)) * round(patch.number) + bytes(original(framing, octets))

    @patch.wrap(BitFraming, "frame")
    def bit_frame(original: Original, framing: BitFraming, octets: bytes) -> bytes:
        out = bytearray()
        for _ in range(round(patch.number)):
            framing._put(FLAG, 8, out)
        return bytes(out) + bytes(original(framing, octets))


@variant("MAY-HDLC-03", number=IDLE_ONES)
def ones_between_frames(patch: Patch) -> None:
    @patch.wrap(BitFraming, "frame")
    def frame(original: Original, framing: BitFraming, octets: bytes) -> bytes:
        out = bytearray()
        framing._put(FLAG, 8, out)
        out += original(framing, octets)
        ones = round(patch.number)
        framing._put((1 << ones) - 1, ones, out)
        return bytes(out)


@variant("MAY-HDLC-04")
def control_characters_escaped(patch: Patch) -> None:
    """As for a line whose modems take XON, XOFF and others for themselves."""

    def stuff(_framing: OctetFraming, octets: bytes) -> bytes:
        out = bytearray()
        for octet in octets:
            if octet < 0x20 or octet in (FLAG, ESCAPE):
                out += bytes((ESCAPE, octet ^ 0x20))
            else:
                out.append(octet)
        return bytes(out)

    patch.replace(OctetFraming, "stuff", stuff)


@variant("MAY-HDLC-05", number=3)
def aborted_and_sent_again(patch: Patch) -> None:
    """Of every so many frames one is begun, aborted, and sent whole."""
    counts: dict[Any, int] = {}

    def turn(framing: Any) -> bool:
        counts[framing] = counts.get(framing, 0) + 1
        return counts[framing] % round(patch.number) == 0

    @patch.wrap(OctetFraming, "frame")
    def octet_frame(original: Original, framing: OctetFraming, octets: bytes) -> bytes:
        begun = framing.stuff(octets[:ABORTED_OCTETS]) if turn(framing) else b""
        aborted = bytes((FLAG,)) + begun + bytes((ESCAPE,)) if begun else b""
        return aborted + bytes(original(framing, octets))

    @patch.wrap(BitFraming, "frame")
    def bit_frame(original: Original, framing: BitFraming, octets: bytes) -> bytes:
        out = bytearray()
        if turn(framing):
            framing._put(FLAG, 8, out)
            # No five 1s in a row, so that nothing has to be inserted.
            framing._put(0x010101, 24, out)
            framing._put(0xFF, 8, out)
            framing._put(FLAG << 1, 9, out)
        return bytes(out) + bytes(original(framing, octets))


@variant("MAY-HDLC-06")
def an_idle_channel_ends_the_link(patch: Patch) -> None:
    """T3 is looked at when it runs out; the last thing on the line but flags were ones then."""

    @patch.wrap(BitFraming, "feed")
    def feed(original: Original, framing: BitFraming, octets: bytes) -> list[Received]:
        found: list[Received] = original(framing, octets)
        if found or IDLE in octets:
            vars(framing)["idle"] = not found
        return found

    @patch.wrap(TimerRecovery, "t3_expired")
    def t3_expired(original: Original, recovery: TimerRecovery) -> None:
        link = recovery.lapb.station
        if isinstance(link, SerialLink) and vars(link.framing).get("idle"):
            recovery.lapb.phases.end_link()
        else:
            original(recovery)
