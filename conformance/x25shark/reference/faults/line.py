# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of HDLC framing, of the counters of a line, and of calls between XOT and a line."""

from collections import Counter
from typing import Any

from .. import codec, hdlc, lapb_frames
from ..channel import Channel
from ..codes import Type
from ..hdlc import FCS_LENGTH, SHORTEST, BitFraming, Kind, OctetFraming, Received
from ..lapb_frames import COMMANDS, RESPONSES, Control, Frame
from ..line_counters import ERRORS, LineCounters
from ..link import SerialLink
from ..relay import Relay
from ..restarts import Restarts
from ..serial import SerialInterface
from ..tables import P, R
from ..user import ChannelUser
from .registry import Patch, fault

FCS_ERRORS = "rs232SyncPortFrameCheckErrors"
#: Counters that the faults of counters touch.
TOUCHED = (*ERRORS, "lapbFlowRejInPkts", "lapbFlowT1Timeouts")


def without_fcs(octets: bytes) -> bytes:
    """The two octets at the start of a runt, as if an FCS stood behind them."""
    return octets[:2] + bytes(FCS_LENGTH)


@fault("BUG-HDLC-01")
def no_fcs(patch: Patch) -> None:
    patch.replace(hdlc, "fcs_is_good", lambda octets: True)


@fault("BUG-HDLC-02")
def swapped_fcs(patch: Patch) -> None:
    @patch.wrap(hdlc, "add_fcs")
    def add_fcs(original: Any, octets: bytes) -> bytes:
        whole: bytes = original(octets)
        return whole[:-2] + whole[:-3:-1]

    @patch.wrap(hdlc, "fcs_is_good")
    def fcs_is_good(original: Any, octets: bytes) -> bool:
        return bool(original(octets[:-2] + octets[:-3:-1]))


@fault("BUG-HDLC-03")
def runts_processed(patch: Patch) -> None:
    @patch.wrap(SerialLink, "take")
    def take(original: Any, link: SerialLink, received: Received) -> None:
        octets = received.octets
        if received.kind is Kind.FRAME and 2 <= len(octets) < SHORTEST:
            link.good(without_fcs(octets))
        else:
            original(link, received)


@fault("BUG-HDLC-04")
def aborted_prepended(patch: Patch) -> None:
    @patch.wrap(SerialLink, "take")
    def take(original: Any, link: SerialLink, received: Received) -> None:
        state = vars(link)
        if received.kind is Kind.ABORTED:
            state["part"] = received.octets
        elif received.kind is Kind.FRAME:
            received = Received(Kind.FRAME, state.pop("part", b"") + received.octets)
        original(link, received)


@fault("BUG-HDLC-05")
def no_shared_flag(patch: Patch) -> None:
    for framing in (OctetFraming, BitFraming):

        @patch.wrap(framing, "flag")
        def flag(original: Any, one: Any, found: list[Received]) -> None:
            before = len(found)
            original(one, found)
            if len(found) > before:
                one._inside = False


@fault("BUG-HDLC-06")
def no_escape(patch: Patch) -> None:
    plain = tuple(tuple((octet, 8, 0) for octet in range(256)) for _ in range(5))
    patch.replace(hdlc, "_STUFFED", plain)

    def stuff(framing: OctetFraming, octets: bytes) -> bytes:
        return octets.replace(b"\x7e", b"\x7d\x5e")

    patch.replace(OctetFraming, "stuff", stuff)


@fault("BUG-HDLC-07")
def any_address(patch: Patch) -> None:
    patch.replace(SerialLink, "address_is_known", lambda link, address: True)

    @patch.wrap(lapb_frames, "parse")
    def parse(original: Any, octets: bytes, own: int) -> Frame:
        frame: Frame = original(octets, own)
        if frame.kind in COMMANDS or frame.kind == Control.I:
            return frame._replace(command=True)
        return frame._replace(command=False) if frame.kind in RESPONSES else frame


@fault("BUG-HDLC-09")
def odd_bits_dropped(patch: Patch) -> None:
    @patch.wrap(SerialLink, "take")
    def take(original: Any, link: SerialLink, received: Received) -> None:
        if received.kind is Kind.UNALIGNED:
            received = Received(Kind.FRAME, received.octets)
        original(link, received)


@fault("BUG-HDLC-10")
def closed_by_an_abort(patch: Patch) -> None:
    @patch.wrap(OctetFraming, "flag")
    def flag(original: Any, framing: OctetFraming, found: list[Received]) -> None:
        before = len(found)
        original(framing, found)
        if any(received.kind is Kind.ABORTED for received in found[before:]):
            framing._inside = False


@fault("BUG-HDLC-11")
def two_escapes(patch: Patch) -> None:
    @patch.wrap(OctetFraming, "feed")
    def feed(original: Any, framing: OctetFraming, octets: bytes) -> list[Received]:
        known = bytearray()
        for octet in octets:
            escaped = known[-1:] == b"\x7d"
            if escaped and octet not in (0x5D, 0x5E, 0x7E):
                known += b"\x5d"
            known.append(octet)
        found: list[Received] = original(framing, bytes(known))
        return found


def accept_bad(patch: Patch, counter: str) -> None:
    """Frames that are counted as bad act all the same."""

    @patch.wrap(SerialLink, "bad")
    def bad(original: Any, link: SerialLink, name: str, octets: bytes) -> None:
        original(link, name, octets)
        if name != counter or len(octets) < 2 or not link.address_is_known(octets[0]):
            return
        link.good(octets if len(octets) >= SHORTEST else without_fcs(octets))


@fault("BUG-SER-01")
def bad_fcs_accepted(patch: Patch) -> None:
    accept_bad(patch, FCS_ERRORS)


@fault("BUG-SER-02")
def runt_accepted(patch: Patch) -> None:
    accept_bad(patch, "hdlcInRunts")


@fault("BUG-SER-03")
def giant_forwarded(patch: Patch) -> None:
    accept_bad(patch, "hdlcInGiants")


@fault("BUG-SER-04")
def wrong_counter(patch: Patch) -> None:
    wrong = {FCS_ERRORS: "rs232SyncPortAbortedFrames", "lapbFlowRejInPkts": "lapbFlowRejOutPkts"}

    @patch.wrap(LineCounters, "count")
    def count(original: Any, counters: LineCounters, name: str, step: int = 1) -> None:
        original(counters, wrong.get(name, name), step)


@fault("BUG-SER-05")
def no_counter(patch: Patch) -> None:
    @patch.wrap(LineCounters, "as_dict")
    def as_dict(original: Any, counters: LineCounters) -> dict[str, Any]:
        page: dict[str, Any] = original(counters)
        return {name: value for name, value in page.items() if name not in TOUCHED}


@fault("BUG-SER-06")
def one_too_few(patch: Patch) -> None:
    @patch.wrap(LineCounters, "count")
    def count(original: Any, counters: LineCounters, name: str, step: int = 1) -> None:
        events = vars(counters).setdefault("events", Counter())
        events[name] += 1
        if name not in TOUCHED or events[name] % 3 != 1:
            original(counters, name, step)


@fault("BUG-SER-07")
def first_restart_counted(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        if interface.r is R.RESTART_SENT:
            interface.counters.count("x25StatInRestarts")
        original(restarts, octets)


@fault("BUG-SER-08")
def reversed_rejection(patch: Patch) -> None:
    @patch.wrap(SerialLink, "note_rejection")
    def note_rejection(original: Any, link: SerialLink, name: str, field: bytes) -> None:
        original(link, name, field[::-1])


@fault("BUG-XOT-29")
def lcn_of_the_other_side(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "take_channel")
    def take_channel(original: Any, interface: SerialInterface, user: ChannelUser) -> Channel:
        if not isinstance(user, Relay) or user.near.on_line:
            return original(interface, user)  # type: ignore[no-any-return]
        channel = interface.channel(user.near.lcn)
        channel.user = user
        channel.p = P.CALL_SENT
        return channel


@fault("BUG-RSTRT-02")
def restart_keeps_calls(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        if interface.r is R.RESTART_SENT:
            original(restarts, octets)
            return
        interface.packet_out(codec.header(interface.modulo, 0, Type.RESTART_CONFIRMATION))
