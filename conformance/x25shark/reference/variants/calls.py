# SPDX-License-Identifier: GPL-2.0-or-later
"""Call set-up and fast select: addresses, answers, refusals, routes (X.25 4.1, 5.2, 6.16, 6.24)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .. import addresses, codec, terminal
from ..addresses import NO_ADDRESSES, Addresses
from ..call_setup import CallSetup
from ..channel import Channel
from ..channel_rules import Rules
from ..clearing import Clearing
from ..codec import Call, Clear
from ..codes import ClearCause, Diag, PacketError, Type
from ..connection import Connection
from ..facilities import CALLED_LINE_MODIFIED, Facilities, Facility
from ..negotiation import Negotiation
from ..placing import Placing
from ..ports import Wire
from ..relay import Relay
from ..relay_splice import SpliceNegotiation
from ..relayed import RelayedCall
from ..router import Router
from ..routes import Destination, Route
from ..tables import P
from .facilities import add, change_connected, change_offer, one
from .registry import Original, Patch, variant

PUT_IN = "3199999"
ADDRESS_OF_B = "2100001"
PREFIX_OF_A = "31"


# addresses of the two packets


@variant("MAY-CALL-01")
def no_addresses_in_the_answer(patch: Patch) -> None:
    def change(_channel: Channel, answer: Call) -> None:
        if answer.facilities.get(CALLED_LINE_MODIFIED) is None:
            answer.addresses = NO_ADDRESSES

    change_connected(patch, change)


@variant("MAY-CALL-02")
def addresses_in_the_answer(patch: Patch) -> None:
    def change(channel: Channel, answer: Call) -> None:
        call: Call = vars(channel.user)["call"]
        if not answer.addresses.called and not answer.addresses.a_bit:
            answer.addresses = call.addresses

    change_connected(patch, change)


@variant("MAY-CALL-03")
def three_octets(patch: Patch) -> None:
    @patch.wrap(CallSetup, "encode_accept")
    def encode_accept(original: Original, setup: CallSetup, answer: Call) -> bytes:
        asked: Call = vars(setup.channel.user)["call"]
        pairs = {item.code: item.value for item in asked.facilities.items}
        same = all(pairs.get(item.code) == item.value for item in answer.facilities.items)
        octets: bytes = original(setup, answer)
        known = answer.addresses.called in ("", asked.addresses.called)
        if same and known and not answer.user_data:
            return octets if answer.facilities.marked else octets[:3]
        return octets


@variant("MAY-CALL-04")
def calling_address_put_in(patch: Patch) -> None:
    def change(_relay: RelayedCall, offered: Call) -> None:
        if not offered.addresses.calling and not offered.addresses.a_bit:
            offered.addresses = offered.addresses._replace(calling=PUT_IN)

    change_offer(patch, change)

    @patch.wrap(SpliceNegotiation, "offer")
    def offer(original: Original, negotiation: SpliceNegotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        change(negotiation.relay, offered)
        offered.octets = codec.encode_call(Type.CALL, offered)
        return offered


@variant("MAY-CALL-05")
def line_address_modified(patch: Patch) -> None:
    """The answer of a rewritten address says which address was reached."""

    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Original, negotiation: Negotiation, accept: Call) -> Call:
        connected: Call = original(negotiation, accept)
        if connected.facilities.get(CALLED_LINE_MODIFIED) is None:
            say_modified(connected, 0x0F, negotiation.relay.offered.addresses.called)
        return connected


def say_modified(connected: Call, reason: int, called: str) -> None:
    """The called line address was modified to this one, where there is room to say so."""
    if add(connected, one(CALLED_LINE_MODIFIED, reason), first=True):
        connected.addresses = Addresses(called, "", connected.addresses.a_bit)


# refusals


def other_refusal(patch: Patch, of: int, cause: int, diagnostic: int) -> None:
    """Another cause and diagnostic in place of those of a refusal of this router."""

    @patch.wrap(Clearing, "emit")
    def emit_clear(original: Original, clearing: Clearing, clear: Clear) -> None:
        mine = not clear.by_peer and clear.cause == of
        original(clearing, replace(clear, cause=cause, diagnostic=diagnostic) if mine else clear)


@variant("MAY-CALL-06")
def out_of_order(patch: Patch) -> None:
    other_refusal(patch, ClearCause.NOT_OBTAINABLE, ClearCause.OUT_OF_ORDER, Diag.CALLED_ADDRESS)


@variant("MAY-CALL-07")
def unknown_dnic(patch: Patch) -> None:
    other_refusal(patch, ClearCause.NOT_OBTAINABLE, ClearCause.NOT_OBTAINABLE, 121)


@variant("MAY-CALL-08")
def congestion(patch: Patch) -> None:
    cause = ClearCause.NETWORK_CONGESTION
    other_refusal(patch, ClearCause.OUT_OF_ORDER, cause, Diag.TEMPORARY_ROUTING)


@variant("MAY-CALL-09")
def not_obtainable(patch: Patch) -> None:
    other_refusal(patch, ClearCause.OUT_OF_ORDER, ClearCause.NOT_OBTAINABLE, Diag.NONE)


@variant("MAY-CALL-10")
def default_route(patch: Patch) -> None:
    @patch.wrap(Router, "call_received")
    def call_received(original: Original, router: Router, channel: Channel, call: Call) -> None:
        if call.addresses.called or call.addresses.a_bit:
            original(router, channel, call)
            return
        b = Destination("", "127.0.25.3", 1998)
        route = Route(prefix="", to=b, model=router.settings.model)
        user = router.user_for(route, channel)
        router.circuits.add(user)
        channel.user = user
        user.call_received(channel, call)


@variant("MAY-CALL-11")
def too_much_user_data(patch: Patch) -> None:
    """A Call with too many octets of user data asks for a facility: fast select."""

    @patch.wrap(Clearing, "error")
    def clear_error(
        original: Original, clearing: Clearing, diagnostic: int, cause: int | None = None
    ) -> None:
        called = clearing.channel.p is P.CALL_RECEIVED and diagnostic == Diag.TOO_LONG
        original(clearing, diagnostic, ClearCause.INVALID_FACILITY if called else cause)


@variant("MAY-CALL-39")
def too_much_called_user_data(patch: Patch) -> None:
    @patch.wrap(Clearing, "error")
    def clear_error(
        original: Original, clearing: Clearing, diagnostic: int, cause: int | None = None
    ) -> None:
        answered = clearing.channel.p is P.CALL_SENT and diagnostic == Diag.TOO_LONG
        original(clearing, diagnostic, ClearCause.INVALID_FACILITY if answered else cause)


@variant("MAY-CALL-40")
def calls_of_b_have_no_fast_select(patch: Patch) -> None:
    """The side that calls first has not subscribed to fast select acceptance."""

    @patch.wrap(Router, "refusal")
    def refusal(original: Original, router: Router, route: Route, call: Call) -> Any:
        if call.facilities.fast_select and route.prefix == PREFIX_OF_A:
            return ClearCause.FAST_SELECT_REFUSED, Diag.NONE
        return original(router, route, call)


@variant("MAY-CALL-34")
def takes_calls_of_any_length(patch: Patch) -> None:
    patch.replace(terminal, "check_user_data", lambda call, fast_select: None)
    patch.replace(codec, "LONGEST", 0xFF)
    patch.replace(codec, "FAST_SELECT_LONGEST", 0xFFFF)


@variant("MAY-CALL-37")
def takes_calls_without_facility_length(patch: Patch) -> None:
    @patch.wrap(codec, "parse_call")
    def parse_call(original: Original, octets: bytes) -> Any:
        _, at = addresses.parse(octets, 3, octets[0] & 0x80 != 0)
        return original(octets + bytes(at == len(octets)))


@variant("MAY-CALL-12")
def a_bit_discarded(patch: Patch) -> None:
    @patch.wrap(Rules, "gfi_is_valid")
    def gfi_is_valid(original: Original, rules: Rules, octets: bytes, packet_type: int) -> bool:
        if packet_type == Type.CALL and octets[0] & 0x80 and not rules.channel.settings.toa:
            return False
        return bool(original(rules, octets, packet_type))


def toa_refused_with(patch: Patch, instead: int) -> None:
    """Calls with the A bit are refused with this diagnostic in place of 74."""

    @patch.wrap(Clearing, "error")
    def clear_error(
        original: Original, clearing: Clearing, diagnostic: int, cause: int | None = None
    ) -> None:
        of_the_a_bit = diagnostic == Diag.TOA_NPI_NOT_SUBSCRIBED
        original(clearing, instead if of_the_a_bit else diagnostic, cause)


@variant("MAY-CALL-13")
def a_bit_is_an_invalid_gfi(patch: Patch) -> None:
    toa_refused_with(patch, Diag.INVALID_GFI)


@variant("MAY-CALL-35")
def a_bit_is_not_known(patch: Patch) -> None:
    @patch.wrap(addresses, "parse")
    def parse(original: Original, octets: bytes, at: int, _a_bit: bool) -> tuple[Addresses, int]:
        parties: tuple[Addresses, int] = original(octets, at, False)
        return parties


@variant("MAY-CALL-28")
def a_bit_is_an_invalid_address(patch: Patch) -> None:
    toa_refused_with(patch, Diag.CALLED_ADDRESS)


@variant("MAY-CALL-14")
def no_way_back(patch: Patch) -> None:
    @patch.wrap(Router, "refusal")
    def refusal(
        original: Original, router: Router, route: Route, call: Call
    ) -> tuple[int, int] | None:
        caller = route.to.host == "127.0.25.2" and route.prefix == "41"
        if caller:
            return ClearCause.NETWORK_CONGESTION, Diag.TEMPORARY_ROUTING
        found: tuple[int, int] | None = original(router, route, call)
        return found


@variant("MAY-CALL-15")
def barred_without_a_reason(patch: Patch) -> None:
    other_refusal(patch, ClearCause.ACCESS_BARRED, ClearCause.ACCESS_BARRED, 64)


def before_a_call(patch: Patch, answer: Callable[[Channel], None]) -> None:
    """What is not a Call on a free channel is not answered by a Clear."""

    @patch.wrap(Clearing, "error")
    def clear_error(
        original: Original, clearing: Clearing, diagnostic: int, cause: int | None = None
    ) -> None:
        channel = clearing.channel
        if channel.p is P.READY and diagnostic == Diag.STATE_P1 and not channel.on_line:
            answer(channel)
        else:
            original(clearing, diagnostic, cause)


@variant("MAY-CALL-16")
def closed_before_a_call(patch: Patch) -> None:
    """What is not a Call on a free channel ends the connection."""

    before_a_call(patch, lambda channel: channel.wire.close())


@variant("MAY-CALL-17")
def discarded_before_a_call(patch: Patch) -> None:
    before_a_call(patch, Channel.discard)


# destinations


@variant("MAY-CALL-18")
def another_attempt(patch: Patch) -> None:
    """A destination that refuses TCP is tried once more before the call fails."""

    @patch.wrap(Placing, "connect_failed")
    def connect_failed(original: Original, placing: Placing, reason: str) -> None:
        relay = placing.relay
        tried = vars(relay).setdefault("tried", set())
        if relay.destination in tried:
            original(placing, reason)
            return
        tried.add(relay.destination)
        relay.destinations.insert(0, relay.destination)
        placing.connect()


@variant("MAY-CALL-19")
def redirection_told(patch: Patch) -> None:
    """B2 is told that the call was meant for another place, A that it came to another one."""
    said = bytes((0x01, 7)) + bytes.fromhex("26000010")

    @patch.wrap(Placing, "call_on")
    def call_on(original: Original, placing: Placing, connection: Connection) -> None:
        relay = placing.relay
        if relay.destination in relay.route.alternates:
            octets = bytes((0xC3, len(said))) + said
            add(relay.offered, Facility(0xC3, said, octets))
        original(placing, connection)


@variant("MAY-CALL-20")
def hunted(patch: Patch) -> None:
    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Original, negotiation: Negotiation, accept: Call) -> Call:
        relay = negotiation.relay
        connected: Call = original(negotiation, accept)
        if relay.destination in relay.route.alternates:
            say_modified(connected, 0x07, relay.call.addresses.called)
        return connected


# user data of answers


@variant("MAY-CALL-21")
def clear_user_data_dropped(patch: Patch) -> None:
    @patch.wrap(Clearing, "check_clear")
    def check_clear(original: Original, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        if channel.fast_select or channel.p is P.READY:
            original(clearing, clear)
            return
        clear.extended, clear.user_data, clear.facilities = False, b"", Facilities()


@variant("MAY-CALL-22")
def called_user_data_dropped(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_accept")
    def check_accept(
        original: Original, negotiation: Negotiation, accept: Call, far: Channel
    ) -> None:
        if not far.fast_select:
            accept.user_data = b""
        original(negotiation, accept, far)


@variant("MAY-CALL-23")
def lengths_left_to_the_ends(patch: Patch) -> None:
    patch.replace(codec, "USER_DATA_LONGEST", 4096)
    patch.replace(codec, "FAST_SELECT_LONGEST", 4096)


@variant("MAY-CALL-24")
def remote_at_the_other_end(patch: Patch) -> None:
    """A local procedure error at one end is a remote one at the other."""

    @patch.wrap(Relay, "cleared")
    def cleared(original: Original, relay: Relay, channel: Channel, clear: Clear) -> None:
        if clear.by_peer and clear.cause == ClearCause.LOCAL_PROCEDURE_ERROR:
            clear = replace(clear, cause=ClearCause.REMOTE_PROCEDURE_ERROR)
        original(relay, channel, clear)


# what a splice leaves to the ends


@variant("MAY-CALL-25")
def digits_left_to_the_ends(patch: Patch) -> None:
    patch.replace(Router, "check_addresses", lambda router, parties: None)


@variant("MAY-CALL-26")
def fields_left_to_the_ends(patch: Patch) -> None:
    """A Call that ends behind its addresses is passed on."""

    @patch.wrap(codec, "parse_call")
    def parse_call(original: Original, octets: bytes) -> Call:
        try:
            call: Call = original(octets)
        except PacketError:
            call = Call(codec.modulo_of(octets), codec.lcn_of(octets), octets=octets)
            call.addresses, _ = addresses.parse(octets, 3, octets[0] & codec.Q_BIT != 0)
        return call


@variant("MAY-CALL-27", number=0.1)
def slow_to_call(patch: Patch) -> None:
    """The Call goes to B a moment after the connection to it is open."""

    @patch.wrap(Placing, "connected")
    def connected(original: Original, placing: Placing, wire: Wire) -> Connection:
        relay = placing.relay
        connection = relay.router.new_connection(wire, accepted=False)
        relay.pending = None

        def call() -> None:
            if relay.near.p is P.CALL_RECEIVED and not connection.over:
                placing.call_on(connection)
            else:
                connection.wire.close()

        relay.router.timers.start(patch.number, call)
        return connection


def change_called(patch: Patch, change: Callable[[str], str]) -> None:
    """Change the called address of Calls to B that no route has rewritten."""

    def rewrite(relay: RelayedCall, offered: Call) -> None:
        called = offered.addresses.called
        mine = called.startswith(ADDRESS_OF_B) and called == relay.call.addresses.called
        if mine and not offered.addresses.a_bit:
            offered.addresses = offered.addresses._replace(called=change(called))

    change_offer(patch, rewrite)

    @patch.wrap(SpliceNegotiation, "offer")
    def offer(original: Original, negotiation: SpliceNegotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        before = offered.addresses
        rewrite(negotiation.relay, offered)
        if offered.addresses != before:
            offered.octets = codec.encode_call(Type.CALL, offered)
        return offered


@variant("MAY-CALL-29")
def called_address_rewritten(patch: Patch) -> None:
    change_called(patch, lambda called: "77" + called[2:])


@variant("MAY-CALL-30")
def called_address_left_out(patch: Patch) -> None:
    change_called(patch, lambda _called: "")


# calling addresses that are checked

NUMBERS = ("3100001", "2100001")
PREFIX = "0"


def strange(digits: str, a_bit: int | bool) -> bool:
    """Whether a calling address is none of A and B."""
    return bool(digits) and not a_bit and digits not in NUMBERS


@variant("MAY-CALL-31")
def strange_caller_refused(patch: Patch) -> None:
    @patch.wrap(Router, "call_received")
    def call_received(original: Original, router: Router, channel: Channel, call: Call) -> None:
        if strange(call.addresses.calling_digits, call.addresses.a_bit):
            raise PacketError(Diag.CALLING_ADDRESS)
        original(router, channel, call)


@variant("MAY-CALL-32")
def own_address_in_the_place_of_a_strange_one(patch: Patch) -> None:
    @patch.wrap(Router, "call_received")
    def call_received(original: Original, router: Router, channel: Channel, call: Call) -> None:
        if strange(call.addresses.calling_digits, call.addresses.a_bit):
            to_a = call.addresses.called_digits.startswith(NUMBERS[0][:2])
            call.addresses = Addresses(call.addresses.called, NUMBERS[to_a])
            call.octets = codec.encode_call(Type.CALL, call)
        original(router, channel, call)


@variant("MAY-CALL-33")
def prefix_before_the_calling_address(patch: Patch) -> None:
    @patch.wrap(Router, "call_received")
    def call_received(original: Original, router: Router, channel: Channel, call: Call) -> None:
        called, calling, a_bit = call.addresses
        if calling and not a_bit and len(calling) < addresses.LONGEST_PLAIN:
            call.addresses = Addresses(called, PREFIX + calling)
            call.octets = codec.encode_call(Type.CALL, call)
        original(router, channel, call)


@variant("MAY-CALL-36")
def address_of_the_default_route(patch: Patch) -> None:
    @patch.wrap(Router, "call_received")
    def call_received(original: Original, router: Router, channel: Channel, call: Call) -> None:
        if not call.addresses.called and not call.addresses.a_bit:
            call.addresses = call.addresses._replace(called=ADDRESS_OF_B)
            call.octets = codec.encode_call(Type.CALL, call)
        original(router, channel, call)


@variant("MAY-CALL-38")
def only_the_calling_address_in_the_answer(patch: Patch) -> None:
    def change(channel: Channel, answer: Call) -> None:
        call: Call = vars(channel.user)["call"]
        if not answer.addresses.called and not answer.addresses.a_bit:
            answer.addresses = call.addresses._replace(called="")

    change_connected(patch, change)
