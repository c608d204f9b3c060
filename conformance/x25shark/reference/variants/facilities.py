# SPDX-License-Identifier: GPL-2.0-or-later
"""Facilities: values of each side, what the network adds and takes out (X.25 6.12 to 6.28, 7)."""

from collections.abc import Callable
from dataclasses import replace

from .. import codec
from .. import facilities as fields
from ..addresses import NO_ADDRESSES
from ..call_setup import CallSetup
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Call, Clear
from ..codes import ClearCause, Diag, PacketError
from ..facilities import (
    DEFAULT_SIZE,
    DEFAULT_WINDOW,
    IN_CALL,
    PACKET_SIZE,
    THROUGHPUT,
    TRANSIT_DELAY,
    WINDOW_SIZE,
    Facilities,
    Facility,
    Pair,
    answer_is_legal,
    pair_answer_is_legal,
)
from ..negotiation import Negotiation, limit
from ..relay_endtoend import EndToEndRelay
from ..relay_local import LocalNegotiation
from ..relayed import RelayedCall
from ..router import Router
from .registry import Original, Patch, variant

Values = tuple[Pair, Pair]
REDIRECTION = 0xC3
CUG = (fields.CLOSED_USER_GROUP, 0x47)
# ROA selection in both formats, NUI, charging information: for the network that reads them.
ROA_SELECTION, NUI = (0x44, 0xC4), 0xC6
FOR_THE_NETWORK = (*ROA_SELECTION, NUI, fields.CHARGING_REQUEST)
ROA_OUT_OF_ORDER, NUI_PROBLEM = 0x15, 84

# Bit 7 says whether the response is restricted, of fast select alone.
NO_FAST_SELECT = 0x40
# The packet size asked for with which one variant offers more towards B than from it.
TOWARDS_B = 8
# Behind the marker of the local network: a facility that X.25 does not know.
OF_THE_NETWORK = bytes((fields.MARKER, 0x00, 0x05, 0x01))


def one(code: int, *octets: int) -> Facility:
    """A facility of class A, B or C."""
    return Facility(code, bytes(octets), bytes((code, *octets)))


def both(value: int) -> Pair:
    """The same in both directions."""
    return Pair(value, value)


def change_offer(patch: Patch, change: Callable[[RelayedCall, Call], None]) -> None:
    """Change the Call that goes to the far side; a splice passes facilities as they are."""

    @patch.wrap(Negotiation, "offer")
    def offer(original: Original, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        change(negotiation.relay, offered)
        return offered


def change_connected(patch: Patch, change: Callable[[Channel, Call], None]) -> None:
    """Change the Call Connected of a relay that writes its own, or of a terminal."""

    @patch.wrap(CallSetup, "accept")
    def accept(original: Original, setup: CallSetup, answer: Call) -> None:
        change(setup.channel, answer)
        original(setup, answer)


def add_to_every_call(packet: Call, facility: Facility) -> None:
    """Add a facility; a Call that leaves no room for it cannot go on."""
    packet.facilities.items.append(facility)
    has_room(packet)


def has_room(packet: Call) -> None:
    """Raises PacketError if the facility field is too long with what was added (X.25 5.2.2)."""
    if len(packet.facilities.encode()) > fields.LONGEST:
        raise PacketError(Diag.FACILITY_LENGTH)


def add(packet: Call, facility: Facility, *, first: bool = False) -> bool:
    """Add a facility where there is room for it (X.25 5.2.2). Whether there was."""
    items = packet.facilities.items
    there = len(packet.facilities.encode()) + len(facility.octets) <= fields.LONGEST
    if there:
        items.insert(0 if first else len(items), facility)
    return there


def without(facilities: Facilities, *codes: int) -> None:
    facilities.items = [item for item in facilities.items if item.code not in codes]


# values of each side


def far_values(patch: Patch, choose: Callable[[RelayedCall, int, Values], Values]) -> None:
    """The far side has values of its own, whatever comes of the near one (RFC 1613 6.2)."""

    @patch.wrap(LocalNegotiation, "far_values")
    def own(original: Original, negotiation: LocalNegotiation, modulo: int) -> Values:
        relay = negotiation.relay
        values: Values = original(negotiation, modulo)
        if relay.route.independent or relay.route.modulo8_only or relay.route.to.serial:
            return values
        return choose(relay, modulo, values)

    patch.replace(LocalNegotiation, "settle_near", lambda negotiation, size, window: None)


@variant("MAY-FAC-01", number=10)
def larger_at_b(patch: Patch) -> None:
    size = round(patch.number)
    far_values(patch, lambda relay, modulo, values: (both(size), values[1]))


@variant("MAY-FAC-02", number=5)
def smaller_at_b(patch: Patch) -> None:
    size = round(patch.number)
    far_values(patch, lambda relay, modulo, values: (both(size), values[1]))


@variant("MAY-FAC-03")
def wider_at_b(patch: Patch) -> None:
    far_values(patch, lambda relay, modulo, values: (values[0], both(7 if modulo == 8 else 127)))


@variant("MAY-FAC-04")
def narrower_at_b(patch: Patch) -> None:
    far_values(patch, lambda relay, modulo, values: (values[0], both(1)))


@variant("MAY-FAC-05")
def directions_at_b(patch: Patch) -> None:
    """More from B than to it; where 256 octets are asked for, more to it."""

    def choose(relay: RelayedCall, modulo: int, values: Values) -> Values:
        if values[0].calling == TOWARDS_B:
            return Pair(7, 8), Pair(4, 3)
        return Pair(9, 8), Pair(3, 4)

    far_values(patch, choose)


def near_values(patch: Patch, size: int | None, window: int | None) -> None:
    """The near side is held to these values, as far as what it asked for lets it."""

    def towards(asked: Pair, value: int | None, default: int) -> Pair:
        if value is None:
            return asked
        return Pair(*(value if answer_is_legal(one, value, default) else one for one in asked))

    @patch.wrap(LocalNegotiation, "offer")
    def offer(original: Original, negotiation: LocalNegotiation, call: Call) -> Call:
        relay = negotiation.relay
        offered: Call = original(negotiation, call)
        relay.near_size = towards(relay.near_size, size, DEFAULT_SIZE)
        relay.near_window = towards(relay.near_window, window, DEFAULT_WINDOW)
        return offered

    patch.replace(LocalNegotiation, "settle_near", lambda negotiation, size, window: None)


@variant("MAY-FAC-06")
def default_size_at_a(patch: Patch) -> None:
    near_values(patch, DEFAULT_SIZE, None)


@variant("MAY-FAC-07")
def default_window_at_a(patch: Patch) -> None:
    near_values(patch, None, DEFAULT_WINDOW)


@variant("MAY-FAC-08")
def as_asked_at_a(patch: Patch) -> None:
    near_values(patch, None, None)


@variant("MAY-FAC-09")
def constrained(patch: Patch) -> None:
    @patch.wrap(Negotiation, "far_values")
    def limited(original: Original, negotiation: Negotiation, modulo: int) -> Values:
        size, window = original(negotiation, modulo)
        if not isinstance(negotiation.relay, EndToEndRelay):
            return size, window
        return (
            Pair(min(size.called, 8), min(size.calling, 8)),
            Pair(min(window.called, 3), min(window.calling, 3)),
        )


# what the answer names


@variant("MAY-FAC-10")
def only_what_differs(patch: Patch) -> None:
    def change(channel: Channel, answer: Call) -> None:
        call: Call = vars(channel.user)["call"]
        for code in (PACKET_SIZE, WINDOW_SIZE):
            asked = call.facilities.pair(code)
            if asked is not None and asked == answer.facilities.pair(code):
                without(answer.facilities, code)

    change_connected(patch, change)


@variant("MAY-FAC-11")
def throughput_at_b(patch: Patch) -> None:
    def change(relay: RelayedCall, offered: Call) -> None:
        if offered.facilities.get(THROUGHPUT) is None:
            add_to_every_call(offered, one(THROUGHPUT, 0xAA))

    change_offer(patch, change)


@variant("MAY-FAC-12")
def throughput_at_a(patch: Patch) -> None:
    def change(channel: Channel, answer: Call) -> None:
        call: Call = vars(channel.user)["call"]
        if call.facilities.get(THROUGHPUT) is None and answer.facilities.get(THROUGHPUT) is None:
            add(answer, one(THROUGHPUT, 0xAA))

    change_connected(patch, change)


@variant("MAY-FAC-13")
def throughput_kept_from_b(patch: Patch) -> None:
    change_offer(patch, lambda relay, offered: without(offered.facilities, THROUGHPUT))


@variant("MAY-FAC-14")
def lower_throughput(patch: Patch) -> None:
    def change(relay: RelayedCall, offered: Call) -> None:
        if offered.facilities.get(THROUGHPUT) is not None:
            offered.facilities.put(THROUGHPUT, b"\x77")

    change_offer(patch, change)


@variant("MAY-FAC-15")
def defaults_spelled_out(patch: Patch) -> None:
    def change(relay: RelayedCall, offered: Call) -> None:
        if offered.facilities.get(fields.FAST_SELECT) is None:
            add(offered, one(fields.FAST_SELECT, 0))

    def answer(channel: Channel, connected: Call) -> None:
        if connected.facilities.get(fields.FAST_SELECT) is None:
            add(connected, one(fields.FAST_SELECT, NO_FAST_SELECT))

    change_offer(patch, change)
    change_connected(patch, answer)


@variant("MAY-FAC-16")
def other_order(patch: Patch) -> None:
    change_offer(patch, lambda relay, offered: offered.facilities.items.reverse())
    change_connected(patch, lambda channel, answer: answer.facilities.items.reverse())


@variant("MAY-FAC-17")
def kept_by_the_network(patch: Patch) -> None:
    change_offer(patch, lambda relay, offered: without(offered.facilities, *FOR_THE_NETWORK))


@variant("MAY-FAC-18")
def local_network_only(patch: Patch) -> None:
    def change(relay: RelayedCall, offered: Call) -> None:
        local, dte, of_dtes = offered.facilities.marked.partition(b"\0\x0f")
        if local[:2] == b"\0\0":
            offered.facilities.marked = dte + of_dtes

    change_offer(patch, change)


@variant("MAY-FAC-38")
def section_of_the_network(patch: Patch) -> None:
    @patch.wrap(Negotiation, "put_pairs")
    def put_pairs(
        original: Original, negotiation: Negotiation, call: Call, size: Pair, window: Pair
    ) -> None:
        original(negotiation, call, size, window)
        field = call.facilities
        field.marked = OF_THE_NETWORK + field.marked
        has_room(call)


# what is not known, not right, or not subscribed to


@variant("MAY-FAC-19")
def unknown_dropped(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_call")
    def check_call(original: Original, negotiation: Negotiation, call: Call) -> None:
        known = [i for i in call.facilities.items if i.code in IN_CALL]
        call.facilities.items = known
        original(negotiation, call)


@variant("MAY-FAC-20")
def unknown_passed(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_call")
    def check_call(original: Original, negotiation: Negotiation, call: Call) -> None:
        everything = call.facilities.items
        call.facilities.items = [i for i in everything if i.code in IN_CALL]
        original(negotiation, call)
        call.facilities.items = everything


@variant("MAY-FAC-21")
def last_counts(patch: Patch) -> None:
    @patch.wrap(Facilities, "check")
    def check(
        original: Original, facilities: Facilities, allowed: frozenset[int], modulo: int
    ) -> None:
        last = {item.code: item for item in facilities.items}
        facilities.items = [i for i in facilities.items if last[i.code] is i]
        original(facilities, allowed, modulo)


@variant("MAY-FAC-22")
def reserved_bits_ignored(patch: Patch) -> None:
    @patch.wrap(Facilities, "check")
    def check(
        original: Original, facilities: Facilities, allowed: frozenset[int], modulo: int
    ) -> None:
        size = facilities.pair(PACKET_SIZE)
        if size is not None and facilities.items:
            facilities.put_pair(PACKET_SIZE, Pair(size.called & 15, size.calling & 15))
        original(facilities, allowed, modulo)


@variant("MAY-FAC-23")
def window_lowered(patch: Patch) -> None:
    @patch.wrap(Facilities, "check")
    def check(
        original: Original, facilities: Facilities, allowed: frozenset[int], modulo: int
    ) -> None:
        window = facilities.pair(WINDOW_SIZE)
        if window is not None:
            most = Pair(min(window.called, modulo - 1), min(window.calling, modulo - 1))
            facilities.put_pair(WINDOW_SIZE, most)
        original(facilities, allowed, modulo)


@variant("MAY-FAC-24")
def answer_reduced(patch: Patch) -> None:
    @patch.wrap(Negotiation, "answered_pair")
    def answered_pair(
        original: Original, negotiation: Negotiation, accept: Call, code: int, offered: Pair
    ) -> Pair:
        answer = accept.facilities.pair(code)
        if answer is not None and not pair_answer_is_legal(code, offered, answer):
            default = DEFAULT_SIZE if code == PACKET_SIZE else DEFAULT_WINDOW
            answer = limit(answer, *(max(octet, default) for octet in offered))
            accept.facilities.put_pair(code, answer)
        pair: Pair = original(negotiation, accept, code, offered)
        return pair


@variant("MAY-FAC-25")
def below_the_default(patch: Patch) -> None:
    @patch.wrap(fields, "answer_is_legal")
    def legal(original: Original, requested: int, answered: int, default: int) -> bool:
        below = default == DEFAULT_SIZE and answered < default
        return bool(below or original(requested, answered, default))


def refuse_facility(patch: Patch, codes: tuple[int, ...], cause: int, diagnostic: int) -> None:
    """Calls that ask for these facilities are refused."""

    @patch.wrap(Router, "refusal")
    def refusal(original: Original, router: Router, *arguments: object) -> object:
        call = arguments[-1]
        assert isinstance(call, Call)
        if any(item.code in codes for item in call.facilities.items):
            return cause, diagnostic
        return original(router, *arguments)


@variant("MAY-FAC-26")
def closed_user_group_refused(patch: Patch) -> None:
    refuse_facility(patch, CUG, ClearCause.ACCESS_BARRED, Diag.FACILITY_CODE)


@variant("MAY-FAC-27")
def other_index(patch: Patch) -> None:
    def change(relay: RelayedCall, offered: Call) -> None:
        for code in CUG:
            index = offered.facilities.get(code)
            if index is not None and index.hex().isdecimal():
                digits = len(index.hex())
                another = (int(index.hex()) + 22) % 10**digits
                offered.facilities.put(code, bytes.fromhex(f"{another:0{digits}}"))

    change_offer(patch, change)


@variant("MAY-FAC-39")
def extended_format_at_b(patch: Patch) -> None:
    def change(relay: RelayedCall, offered: Call) -> None:
        items = offered.facilities.items
        room = len(offered.facilities.encode()) < fields.LONGEST
        for at, item in enumerate(items):
            if item.code == fields.CLOSED_USER_GROUP and room:
                items[at] = one(CUG[1], 0, *item.value)

    change_offer(patch, change)


@variant("MAY-FAC-28")
def network_facilities_refused(patch: Patch) -> None:
    cause = ClearCause.INVALID_FACILITY
    refuse_facility(patch, FOR_THE_NETWORK, cause, Diag.FACILITY_CODE)


@variant("MAY-FAC-29")
def redirection_refused(patch: Patch) -> None:
    cause = ClearCause.INVALID_FACILITY
    refuse_facility(patch, (REDIRECTION,), cause, Diag.FACILITY_CODE)


@variant("MAY-FAC-30", number=250)
def transit_delay_adds_up(patch: Patch) -> None:
    def change(relay: RelayedCall, offered: Call) -> None:
        delay = offered.facilities.get(TRANSIT_DELAY)
        if delay is not None:
            total = min(int.from_bytes(delay, "big") + round(patch.number), 0xFFFF)
            offered.facilities.put(TRANSIT_DELAY, total.to_bytes(2, "big"))

    change_offer(patch, change)


@variant("MAY-FAC-31")
def transit_delay_kept_from_b(patch: Patch) -> None:
    change_offer(patch, lambda relay, offered: without(offered.facilities, TRANSIT_DELAY))


@variant("MAY-FAC-32")
def procedure_errors_only(patch: Patch) -> None:
    @patch.wrap(Clearing, "error")
    def clear_error(
        original: Original, clearing: Clearing, diagnostic: int, cause: int | None = None
    ) -> None:
        original(clearing, diagnostic, None if cause == ClearCause.INVALID_FACILITY else cause)


@variant("MAY-FAC-33")
def invalid_facility_request(patch: Patch) -> None:
    @patch.wrap(Clearing, "error")
    def clear_error(
        original: Original, clearing: Clearing, diagnostic: int, cause: int | None = None
    ) -> None:
        of_facilities = diagnostic in (
            Diag.FACILITY_CODE,
            Diag.FACILITY_PARAMETER,
            Diag.FACILITY_LENGTH,
            Diag.FACILITY_DUPLICATE,
        )
        original(clearing, diagnostic, ClearCause.INVALID_FACILITY if of_facilities else cause)


@variant("MAY-FAC-34")
def no_call_without_values(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_call")
    def check_call(original: Original, negotiation: Negotiation, call: Call) -> None:
        original(negotiation, call)
        for code in (PACKET_SIZE, WINDOW_SIZE):
            if call.facilities.pair(code) is None:
                raise PacketError(Diag.FACILITY_CODE, ClearCause.INVALID_FACILITY)


@variant("MAY-FAC-35")
def plain_clear(patch: Patch) -> None:
    @patch.wrap(Clearing, "permitted")
    def permitted(original: Original, clearing: Clearing, clear: Clear) -> Clear:
        kept: Clear = original(clearing, clear)
        if not kept.extended or kept.user_data:
            return kept
        return replace(kept, extended=False, facilities=Facilities())


@variant("MAY-FAC-36")
def group_diagnostics(patch: Patch) -> None:
    @patch.wrap(Clearing, "emit")
    def emit_clear(original: Original, clearing: Clearing, clear: Clear) -> None:
        whole = clear if clear.by_peer else replace(clear, diagnostic=clear.diagnostic // 16 * 16)
        original(clearing, whole)


@variant("MAY-FAC-37")
def no_called_line_modified(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_accept")
    def check_accept(
        original: Original, negotiation: Negotiation, accept: Call, far: Channel
    ) -> None:
        if accept.facilities.get(fields.CALLED_LINE_MODIFIED) is not None:
            raise PacketError(Diag.FACILITY_CODE, ClearCause.INVALID_FACILITY)
        original(negotiation, accept, far)

    @patch.wrap(Clearing, "check_clear")
    def check_clear(original: Original, clearing: Clearing, clear: Clear) -> None:
        if clear.facilities.get(fields.CALLED_LINE_MODIFIED) is not None:
            raise PacketError(Diag.FACILITY_CODE)
        original(clearing, clear)


@variant("MAY-FAC-40")
def called_line_modified_is_ignored(patch: Patch) -> None:
    def change(_channel: Channel, answer: Call) -> None:
        if answer.facilities.get(fields.CALLED_LINE_MODIFIED) is not None:
            without(answer.facilities, fields.CALLED_LINE_MODIFIED)
            answer.addresses = NO_ADDRESSES

    change_connected(patch, change)


@variant("MAY-FAC-41")
def no_such_roa_or_user(patch: Patch) -> None:
    @patch.wrap(Router, "call_received")
    def call_received(original: Original, router: Router, channel: Channel, call: Call) -> None:
        if any(call.facilities.get(code) is not None for code in ROA_SELECTION):
            raise PacketError(Diag.NONE, ROA_OUT_OF_ORDER)
        if call.facilities.get(NUI) is not None:
            raise PacketError(NUI_PROBLEM, ClearCause.INVALID_FACILITY)
        original(router, channel, call)


@variant("MAY-FAC-42")
def facilities_of_a_network_refused(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_call")
    def check_call(original: Original, negotiation: Negotiation, call: Call) -> None:
        original(negotiation, call)
        if call.facilities.marked[:2] in (b"\0\0", b"\0\xff"):
            raise PacketError(Diag.FACILITY_CODE, ClearCause.INVALID_FACILITY)


@variant("MAY-FAC-43")
def own_values_for_none(patch: Patch) -> None:
    """256 and 3 in place of the defaults."""

    @patch.wrap(Negotiation, "offer")
    def offer(original: Original, negotiation: Negotiation, call: Call) -> Call:
        for code, value in ((PACKET_SIZE, Pair(8, 8)), (WINDOW_SIZE, Pair(3, 3))):
            if call.facilities.pair(code) is None:
                call.facilities.put_pair(code, value)
        offered: Call = original(negotiation, call)
        return offered


@variant("MAY-FAC-44")
def cut_facility_is_a_parameter(patch: Patch) -> None:
    @patch.wrap(codec, "parse_facility_field")
    def parse_facility_field(original: Original, octets: bytes, at: int) -> tuple[Facilities, int]:
        try:
            parsed: tuple[Facilities, int] = original(octets, at)
        except PacketError:
            if octets[at] > fields.LONGEST or at + 1 + octets[at] > len(octets):
                raise
            raise PacketError(Diag.FACILITY_PARAMETER, ClearCause.INVALID_FACILITY) from None
        return parsed


@variant("MAY-FAC-45")
def preferential_group_is_not_named(patch: Patch) -> None:
    """12 is B's preferential group."""

    def change(_relay: RelayedCall, offered: Call) -> None:
        for code in CUG:
            index = offered.facilities.get(code)
            if index is not None and int.from_bytes(index) == 0x12:
                without(offered.facilities, code)

    change_offer(patch, change)


@variant("MAY-FAC-46")
def group_of_the_subscription(patch: Patch) -> None:
    """A Call that names no closed user group is one of A's preferential group, which B has as 7."""

    def change(_relay: RelayedCall, offered: Call) -> None:
        if all(offered.facilities.get(code) is None for code in CUG):
            add_to_every_call(offered, one(fields.CLOSED_USER_GROUP, 0x07))

    change_offer(patch, change)
