# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the framing of a serial line that show where octets and bits lie as they seldom do."""

from typing import Any

from .. import hdlc
from ..hdlc import BitFraming, Kind, OctetFraming, Received
from ..line_counters import LineCounters
from ..link import SPARE, SerialLink
from .registry import Patch, fault

_MANY_FLAGS = 64
# Octets of a frame with its escapes: two for each that stands in a packet of the default size.
_ROOM = 256
_FOR_ESCAPES = 64
_ONES_OF_A_FLAG = 6
_HALF_AND_0 = 5
_IDLE_ONES, _IDLE = 15, b"idle"


@fault("BUG-HDLC-12")
def ones_modulo_7(patch: Patch) -> None:
    @patch.wrap(BitFraming, "feed")
    def feed(original: Any, framing: BitFraming, octets: bytes) -> list[Received]:
        found: list[Received] = []
        for octet in octets:
            for place in range(8):
                if octet >> place & 1:
                    framing._ones = framing._ones % hdlc.ABORT_ONES + 1
                    if framing._ones == hdlc.ABORT_ONES and framing._inside:
                        framing.abort(found)
                else:
                    framing.zero(found)
        return found


@fault("BUG-HDLC-13")
def half_a_register(patch: Patch) -> None:
    patch.replace(
        hdlc, "fcs_is_good", lambda octets: not (hdlc.register(octets) ^ hdlc.FCS_GOOD) & 0xFF
    )


@fault("BUG-HDLC-14")
def no_fcs(patch: Patch) -> None:
    @patch.wrap(hdlc, "fcs_is_good")
    def fcs_is_good(original: Any, octets: bytes) -> bool:
        return octets.endswith(b"\0\0") or original(octets)


@fault("BUG-HDLC-15")
def stuffed_fcs(patch: Patch) -> None:
    @patch.wrap(hdlc, "fcs_is_good")
    def fcs_is_good(original: Any, octets: bytes) -> bool:
        return not {hdlc.FLAG, hdlc.ESCAPE} & set(octets[-2:]) and original(octets)


@fault("BUG-HDLC-16")
def escape_at_the_end(patch: Patch) -> None:
    @patch.wrap(OctetFraming, "feed")
    def feed(original: Any, framing: OctetFraming, octets: bytes) -> list[Received]:
        framing._escaped = False
        found: list[Received] = original(framing, octets)
        return found


@fault("BUG-HDLC-17")
def tired_of_flags(patch: Patch) -> None:
    @patch.wrap(OctetFraming, "flag")
    def flag(original: Any, framing: OctetFraming, found: list[Received]) -> None:
        state = vars(framing)
        before = len(found)
        state["flags"] = state.get("flags", 0) + 1
        original(framing, found)
        if len(found) > before:
            if state["flags"] > _MANY_FLAGS:
                found.pop()
            state["flags"] = 0


@fault("BUG-HDLC-18")
def deadly_runt(patch: Patch) -> None:
    @patch.wrap(SerialLink, "bad")
    def bad(original: Any, link: SerialLink, counter: str, octets: bytes) -> None:
        original(link, counter, octets)
        if len(octets) == hdlc.SHORTEST - 1 and hdlc.fcs_is_good(octets):
            link.lapb.phases.disconnect()


@fault("BUG-HDLC-19")
def ones_at_the_end(patch: Patch) -> None:
    @patch.wrap(BitFraming, "feed")
    def feed(original: Any, framing: BitFraming, octets: bytes) -> list[Received]:
        if framing._ones >= 5:
            framing._ones = 0
        found: list[Received] = original(framing, octets)
        return found


@fault("BUG-SER-09")
def bad_are_good(patch: Patch) -> None:
    @patch.wrap(LineCounters, "error")
    def error(original: Any, counters: LineCounters, name: str) -> None:
        original(counters, name)
        counters.count("ifInUcastPkts")


@fault("BUG-HDLC-20")
def no_shared_flag(patch: Patch) -> None:
    @patch.wrap(BitFraming, "flag")
    def flag(original: Any, framing: BitFraming, found: list[Received]) -> None:
        ended = bool(framing._octets)
        original(framing, found)
        framing._inside = not ended


@fault("BUG-HDLC-26")
def no_flag_shared_with_odd_bits(patch: Patch) -> None:
    @patch.wrap(BitFraming, "flag")
    def flag(original: Any, framing: BitFraming, found: list[Received]) -> None:
        before = len(found)
        original(framing, found)
        framing._inside = all(one.kind is not Kind.UNALIGNED for one in found[before:])


@fault("BUG-SER-10")
def octets_without_fcs(patch: Patch) -> None:
    @patch.wrap(LineCounters, "frame_out")
    def frame_out(original: Any, counters: LineCounters, kind: str, octets: int) -> None:
        original(counters, kind, octets - hdlc.FCS_LENGTH)


@fault("BUG-HDLC-21")
def one_below_n1(patch: Patch) -> None:
    @patch.wrap(SerialLink, "send")
    def send(original: Any, link: SerialLink, packet: bytes) -> None:
        if len(packet) < link.longest_packet:
            original(link, packet)


@fault("BUG-HDLC-22")
def abort_is_unaligned(patch: Patch) -> None:
    @patch.wrap(SerialLink, "bad")
    def bad(original: Any, link: SerialLink, counter: str, octets: bytes) -> None:
        bits = isinstance(link.framing, BitFraming) and counter == "rs232SyncPortAbortedFrames"
        original(link, "hdlcInUnaligned" if bits else counter, octets)


@fault("BUG-HDLC-23")
def n_r_of_bad_frames(patch: Patch) -> None:
    @patch.wrap(SerialLink, "bad")
    def bad(original: Any, link: SerialLink, counter: str, octets: bytes) -> None:
        original(link, counter, octets)
        numbered = len(octets) > 1 and octets[1] & 3 != 3
        if counter == "rs232SyncPortFrameCheckErrors" and numbered and link.lapb.open:
            link.lapb.transfer.take_n_r(octets[1] >> 5)


@fault("BUG-HDLC-24")
def half_an_octet_more(patch: Patch) -> None:
    @patch.wrap(BitFraming, "flag")
    def flag(original: Any, framing: BitFraming, found: list[Received]) -> None:
        # The flag has begun with a 0, which was kept.
        if framing._filled == _HALF_AND_0:
            framing._partial, framing._filled = 0, 1
        original(framing, found)


@fault("BUG-HDLC-25")
def idle_is_the_end(patch: Patch) -> None:
    @patch.wrap(BitFraming, "zero")
    def zero(original: Any, framing: BitFraming, found: list[Received]) -> None:
        if framing._ones >= _IDLE_ONES:
            found.append(Received(Kind.ABORTED, _IDLE))
        original(framing, found)

    @patch.wrap(SerialLink, "take")
    def take(original: Any, link: SerialLink, received: Received) -> None:
        if received.octets == _IDLE:
            link.lapb.phases.end_link()
        else:
            original(link, received)


@fault("BUG-HDLC-30")
def deaf_behind_an_endless_frame(patch: Patch) -> None:
    @patch.wrap(SerialLink, "take")
    def take(original: Any, link: SerialLink, received: Received) -> None:
        state = vars(link)
        if state.get("deaf"):
            state["deaf"] = False
            return
        state["deaf"] = received.kind is Kind.ENDLESS
        original(link, received)


@fault("BUG-HDLC-27")
def escape_in_its_fcs(patch: Patch) -> None:
    @patch.wrap(OctetFraming, "stuff")
    def stuff(original: Any, framing: OctetFraming, octets: bytes) -> bytes:
        fcs = octets[-hdlc.FCS_LENGTH :].replace(b"\x7e", b"\x7d\x5e")
        return bytes(original(framing, octets[: -hdlc.FCS_LENGTH])) + fcs


@fault("BUG-HDLC-28")
def ones_at_the_end_of_its_fcs(patch: Patch) -> None:
    def frame(framing: BitFraming, octets: bytes) -> bytes:
        out = bytearray()
        if framing._fresh:
            framing._put(hdlc.FLAG, 8, out)
            framing._fresh = False
        ones = 0
        for place, octet in enumerate(octets, 1):
            bits, count, ones = hdlc._STUFFED[ones][octet]
            ends_in_ones = place == len(octets) and not ones and octet & 0x80
            framing._put(bits, count - bool(ends_in_ones), out)
        for _ in range(2):
            framing._put(hdlc.FLAG, 8, out)
        return bytes(out)

    patch.replace(BitFraming, "frame", frame)


@fault("BUG-HDLC-29")
def whole_in_front_of_an_abort(patch: Patch) -> None:
    @patch.wrap(BitFraming, "abort")
    def abort(original: Any, framing: BitFraming, found: list[Received]) -> None:
        octets = bytes(framing._octets)
        whole = not framing._filled and hdlc.fcs_is_good(octets)
        original(framing, found)
        if whole and octets:
            found[-1:] = [Received(Kind.FRAME, octets)]


@fault("BUG-HDLC-31")
def half_an_address(patch: Patch) -> None:
    @patch.wrap(SerialLink, "take")
    def take(original: Any, link: SerialLink, received: Received) -> None:
        octets = received.octets
        if octets and hdlc.fcs_is_good(octets):
            half = bytes((octets[0] & 0x0F,))
            received = Received(received.kind, hdlc.add_fcs(half + octets[1:-2]))
        original(link, received)


@fault("BUG-HDLC-32")
def no_room_for_escapes(patch: Patch) -> None:
    @patch.wrap(OctetFraming, "stuff")
    def stuff(original: Any, framing: OctetFraming, octets: bytes) -> bytes:
        return bytes(original(framing, octets)[:_ROOM])


@fault("BUG-HDLC-33")
def little_room_for_escapes(patch: Patch) -> None:
    @patch.wrap(OctetFraming, "stuff")
    def stuff(original: Any, framing: OctetFraming, octets: bytes) -> bytes:
        return bytes(original(framing, octets)[: framing.longest - SPARE + _FOR_ESCAPES])


@fault("BUG-HDLC-34")
def flag_that_ends_the_ones_of_an_abort(patch: Patch) -> None:
    @patch.wrap(BitFraming, "zero")
    def zero(original: Any, framing: BitFraming, found: list[Received]) -> None:
        ended, ones = vars(framing).pop("ended", False), framing._ones
        if ended and ones == _ONES_OF_A_FLAG:
            framing._ones = 0
            return
        if ones >= hdlc.ABORT_ONES:
            vars(framing)["ended"] = True
        original(framing, found)
