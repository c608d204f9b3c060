# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of facilities and of their negotiation."""

from typing import Any, cast

from .. import codec
from .. import facilities as fields
from .. import relay as relays
from ..addresses import Addresses
from ..call_setup import CallSetup
from ..channel import Channel
from ..codec import Call
from ..codes import Type
from ..facilities import (
    CALLED_LINE_MODIFIED,
    DEFAULT_SIZE,
    DEFAULT_WINDOW,
    IN_CALL,
    PACKET_SIZE,
    WINDOW_SIZE,
    Facilities,
    Facility,
    Pair,
)
from ..negotiation import Negotiation
from .registry import Patch, fault

BOTH = (PACKET_SIZE, WINDOW_SIZE)


def strip(facilities: Facilities, codes: tuple[int, ...] = BOTH) -> None:
    """Take facilities out."""
    facilities.items = [item for item in facilities.items if item.code not in codes]


@fault("BUG-FAC-01")
def omits(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        strip(offered.facilities)
        return offered


@fault("BUG-FAC-02")
def confirms_without(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, answer: Call) -> None:
        call: Call = vars(setup.channel.user)["call"]
        missing = tuple(code for code in BOTH if call.facilities.get(code) is None)
        strip(answer.facilities, missing)
        original(setup, answer)


@fault("BUG-FORM-18")
def goes_on_without_window(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        lacking = call.facilities.get(WINDOW_SIZE) is None
        offered: Call = original(negotiation, call)
        if lacking:
            strip(offered.facilities, (WINDOW_SIZE,))
        return offered


@fault("BUG-FORM-19")
def confirms_without_window(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, answer: Call) -> None:
        call: Call = vars(setup.channel.user)["call"]
        named = [code for code in BOTH if call.facilities.get(code) is not None]
        if named == [PACKET_SIZE]:
            strip(answer.facilities, (WINDOW_SIZE,))
        original(setup, answer)


@fault("BUG-FAC-43")
def confirms_more_than_it_takes(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, answer: Call) -> None:
        call: Call = vars(setup.channel.user)["call"]
        if call.facilities.get(PACKET_SIZE) is None:
            answer.facilities.put_pair(PACKET_SIZE, Pair(DEFAULT_SIZE + 1, DEFAULT_SIZE + 1))
        original(setup, answer)


@fault("BUG-FAC-28")
def values_of_the_call_before(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        before = vars(negotiation.relay.near.wire).setdefault("values", {})
        named = {c: call.facilities.pair(c) for c in BOTH if call.facilities.pair(c) is not None}
        if not named:
            for code, pair in before.items():
                call.facilities.put_pair(code, pair)
        before.update(named)
        return cast(Call, original(negotiation, call))


@fault("BUG-CALL-43")
def address_in_the_other_field(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, answer: Call) -> None:
        if answer.facilities.get(CALLED_LINE_MODIFIED) is not None:
            answer.addresses = Addresses("", answer.addresses.called, answer.addresses.a_bit)
        original(setup, answer)


def swap(patch: Patch, swapped: int) -> None:
    """Write the two octets of a facility in the wrong order."""

    @patch.wrap(Facilities, "put_pair")
    def put_pair(original: Any, facilities: Facilities, code: int, pair: Pair) -> None:
        original(facilities, code, Pair(pair.calling, pair.called) if code == swapped else pair)


@fault("BUG-FS-20")
def eight_bits_of_a_call(patch: Patch) -> None:
    @patch.wrap(codec, "parse_call")
    def parse_call(original: Any, octets: bytes) -> Call:
        return cast(Call, original(octets[: len(octets) & 0xFF] if len(octets) > 255 else octets))


@fault("BUG-FS-21")
def buffer_of_255(patch: Patch) -> None:
    @patch.wrap(codec, "encode_call")
    def encode_call(original: Any, packet_type: int, call: Call) -> bytes:
        octets: bytes = original(packet_type, call)
        return octets[:255] if packet_type == Type.ACCEPT else octets


@fault("BUG-FAC-03")
def swaps_packet_size(patch: Patch) -> None:
    swap(patch, PACKET_SIZE)


@fault("BUG-FAC-04")
def swaps_window_size(patch: Patch) -> None:
    swap(patch, WINDOW_SIZE)


@fault("BUG-FAC-05")
def ignores_answer(patch: Patch) -> None:
    patch.replace(Negotiation, "answered_pair", lambda self, accept, code, offered: offered)


@fault("BUG-FAC-06")
def larger_answer(patch: Patch) -> None:
    patch.replace(
        Negotiation,
        "answered_pair",
        lambda self, accept, code, offered: accept.facilities.pair(code) or offered,
    )


@fault("BUG-FAC-07")
def window_0(patch: Patch) -> None:
    @patch.wrap(fields, "parameter_is_legal")
    def parameter_is_legal(original: Any, item: Facility, modulo: int) -> bool:
        if item.code == WINDOW_SIZE:
            return all(octet < modulo for octet in item.value)
        return bool(original(item, modulo))

    patch.replace(fields, "answer_is_legal", lambda requested, answered, default: True)


@fault("BUG-FAC-08")
def stops_parsing(patch: Patch) -> None:
    parse = Facilities.parse

    def stopping(field: bytes) -> Facilities:
        facilities = parse(field)
        for at, item in enumerate(facilities.items):
            if item.code not in IN_CALL | fields.IN_ACCEPT | fields.IN_CLEAR:
                return Facilities(facilities.items[:at])
        return facilities

    patch.replace(Facilities, "parse", staticmethod(stopping))


@fault("BUG-FAC-09")
def class_c(patch: Patch) -> None:
    @patch.wrap(fields, "parameter_length")
    def parameter_length(original: Any, code: int, field: bytes, at: int) -> tuple[int, int]:
        extra, length = original(code, field, at)
        return extra, 2 if code >> 6 == 2 else length

    strip_unknown(patch)


@fault("BUG-FAC-10")
def class_d(patch: Patch) -> None:
    @patch.wrap(fields, "parameter_length")
    def parameter_length(original: Any, code: int, field: bytes, at: int) -> tuple[int, int]:
        extra, length = original(code, field, at)
        return (0, length) if extra else (extra, length)

    strip_unknown(patch)


@fault("BUG-FAC-32")
def eight_bits(patch: Patch) -> None:
    @patch.wrap(fields, "parameter_length")
    def parameter_length(original: Any, code: int, field: bytes, at: int) -> tuple[int, int]:
        extra, length = original(code, field, at)
        start = at + extra
        return extra, (start + length & 0xFF) - start if extra else length

    strip_unknown(patch)


def strip_unknown(patch: Patch) -> None:
    """Unknown facilities are taken out instead of refused, so that the ones behind them count."""

    @patch.wrap(Facilities, "check")
    def check(original: Any, facilities: Facilities, allowed: frozenset[int], modulo: int) -> None:
        facilities.items = [item for item in facilities.items if item.code in allowed]
        original(facilities, allowed, modulo)


@fault("BUG-FAC-11")
def behind_marker(patch: Patch) -> None:
    @patch.wrap(Facilities, "pair")
    def pair(original: Any, facilities: Facilities, code: int) -> Pair | None:
        if facilities.marked[:2] == b"\0\0":
            for item in Facilities.parse(facilities.marked[2:]).items:
                if item.code == code:
                    return Pair(item.value[0], item.value[1])
        found: Pair | None = original(facilities, code)
        return found


@fault("BUG-FAC-12")
def drops_dte(patch: Patch) -> None:
    patch.replace(Facilities, "copy", lambda self: Facilities(list(self.items)))


@fault("BUG-FAC-31")
def drops_from_the_first_marker(patch: Patch) -> None:
    @patch.wrap(Facilities, "copy")
    def copy(original: Any, facilities: Facilities) -> Facilities:
        if facilities.marked[:2] == b"\0\0":
            return Facilities(list(facilities.items))
        return cast(Facilities, original(facilities))


@fault("BUG-FAC-13")
def fixed_order(patch: Patch) -> None:
    @patch.wrap(Facilities, "pair")
    def pair(original: Any, facilities: Facilities, code: int) -> Pair | None:
        codes = [item.code for item in facilities.items]
        behind = codes[codes.index(WINDOW_SIZE) :] if WINDOW_SIZE in codes else []
        if code == PACKET_SIZE and PACKET_SIZE in behind:
            return None
        found: Pair | None = original(facilities, code)
        return found


@fault("BUG-FAC-14")
def old_facility_length(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_call")
    def check_call(original: Any, negotiation: Negotiation, call: Call) -> None:
        before = len(call.facilities.encode())
        strip(call.facilities, tuple({item.code for item in call.facilities.items} - IN_CALL))
        vars(negotiation.relay)["stripped"] = before - len(call.facilities.encode())
        original(negotiation, call)

    @patch.wrap(CallSetup, "encode_call")
    def encode_call(original: Any, setup: CallSetup, call: Call) -> bytes:
        octets: bytes = codec.encode_call(Type.CALL, call)
        stripped: int = vars(setup.channel.user).get("stripped", 0)
        at = 3 + len(codec.addresses.encode(call.addresses))  # type: ignore[attr-defined]
        return octets[:at] + bytes((octets[at] + stripped & 0xFF,)) + octets[at + 1 :]


@fault("BUG-FAC-15")
def back_to_default(patch: Patch) -> None:
    @patch.wrap(Negotiation, "answered_pair")
    def answered_pair(
        original: Any, negotiation: Negotiation, accept: Call, code: int, offered: Pair
    ) -> Pair:
        if accept.facilities.pair(code) is None:
            default = DEFAULT_SIZE if code == PACKET_SIZE else DEFAULT_WINDOW
            return Pair(default, default)
        pair: Pair = original(negotiation, accept, code, offered)
        return pair


def _far_values(patch: Patch, size: Pair | None, window: Pair | None) -> None:
    """In a fast select call the called side runs with these in place of what was agreed."""

    @patch.wrap(relays, "set_values")
    def set_values(
        original: Any, channel: Channel, sizes: Pair, windows: Pair, peer_calls: bool
    ) -> None:
        if channel.fast_select and not peer_calls:
            sizes, windows = size or sizes, window or windows
        original(channel, sizes, windows, peer_calls)


@fault("BUG-FS-05")
def default_sizes(patch: Patch) -> None:
    _far_values(patch, Pair(DEFAULT_SIZE, DEFAULT_SIZE), None)


@fault("BUG-FS-06")
def offered_window(patch: Patch) -> None:
    @patch.wrap(Negotiation, "answered")
    def answered(original: Any, negotiation: Negotiation, accept: Call) -> tuple[Pair, Pair]:
        call = negotiation.relay
        size, window = original(negotiation, accept)
        return size, call.far_window if call.call.facilities.fast_select else window


@fault("BUG-FAC-16")
def throughput_halves(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        asked = offered.facilities.get(fields.THROUGHPUT)
        if asked is not None:
            offered.facilities.put(
                fields.THROUGHPUT, bytes(((asked[0] & 0x0F) << 4 | asked[0] >> 4,))
            )
        return offered


@fault("BUG-FAC-17")
def throughput_of_the_call(patch: Patch) -> None:
    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Any, negotiation: Negotiation, accept: Call) -> Call:
        connected: Call = original(negotiation, accept)
        asked = negotiation.relay.offered.facilities.get(fields.THROUGHPUT)
        if asked is not None and connected.facilities.get(fields.THROUGHPUT) is not None:
            connected.facilities.put(fields.THROUGHPUT, asked)
        return connected


@fault("BUG-FAC-27")
def exchanged_in_the_offer(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        size = negotiation.relay.far_size
        offered.facilities.put_pair(PACKET_SIZE, Pair(size.calling, size.called))
        return offered


def first_counts(patch: Patch, code: int) -> None:
    """Of a facility that is there twice the first one counts, and nothing is refused."""

    @patch.wrap(Facilities, "check")
    def check(original: Any, facilities: Facilities, allowed: frozenset[int], modulo: int) -> None:
        first = next((item for item in facilities.items if item.code == code), None)
        facilities.items = [i for i in facilities.items if i.code != code or i is first]
        original(facilities, allowed, modulo)


@fault("BUG-FAC-29")
def first_window_counts(patch: Patch) -> None:
    first_counts(patch, WINDOW_SIZE)


@fault("BUG-FAC-30")
def first_throughput_class_counts(patch: Patch) -> None:
    first_counts(patch, fields.THROUGHPUT)


@fault("BUG-FAC-58")
def throughput_raised(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        asked = offered.facilities.get(fields.THROUGHPUT)
        if asked is not None and asked[0] < 0xD0:
            offered.facilities.put(fields.THROUGHPUT, bytes((asked[0] + 0x10,)))
        return offered
