# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults in the second form of what is right in the first: in the answer where the Call is checked,
before the answer where the Clear behind it is, in modulo 128, from type and plan, in one octet."""

from dataclasses import replace
from typing import Any

from .. import addresses, codec
from .. import facilities as fields
from ..addresses import NO_ADDRESSES, Addresses
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Call, Clear
from ..codes import ClearCause, Diag, PacketError, Type
from ..facilities import (
    CLOSED_USER_GROUP,
    DEFAULT_SIZE,
    FAST_SELECT,
    PACKET_SIZE,
    WINDOW_SIZE,
    Facilities,
    Facility,
    Pair,
)
from ..negotiation import Negotiation
from ..router import Router
from ..tables import P
from .registry import Patch, fault

_CUG_EXTENDED = 0x47


@fault("BUG-MALF-48")
def digits_of_an_answer(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_accept")
    def check_accept(original: Any, negotiation: Negotiation, accept: Call, far: Channel) -> None:
        given, accept.addresses = accept.addresses, NO_ADDRESSES
        original(negotiation, accept, far)
        accept.addresses = given


@fault("BUG-MALF-49")
def cut_facilities_of_an_answer(patch: Patch) -> None:
    @patch.wrap(codec, "parse_accept")
    def parse_accept(original: Any, octets: bytes) -> Call:
        try:
            call: Call = original(octets)
        except PacketError as error:
            _, at = addresses.parse(octets, 3, octets[0] & codec.Q_BIT != 0)
            if error.diagnostic != Diag.FACILITY_LENGTH or at + 1 + octets[at] != len(octets):
                raise
            call = original(octets[:at])
        return call


@fault("BUG-MALF-50")
def clears_before_the_answer(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        before = clearing.channel.p
        try:
            original(clearing, octets)
        except PacketError:
            if before is not P.CALL_SENT:
                raise


@fault("BUG-FAC-51")
def full_field_of_an_answer(patch: Patch) -> None:
    @patch.wrap(codec, "parse_accept")
    def parse_accept(original: Any, octets: bytes) -> Call:
        try:
            call: Call = original(octets)
        except PacketError:
            _, at = addresses.parse(octets, 3, octets[0] & codec.Q_BIT != 0)
            if octets[at] != fields.LONGEST + 1:
                raise
            call = original(octets[:at])
        return call


@fault("BUG-FAC-52")
def second_octet_of_an_answer(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_accept")
    def check_accept(original: Any, negotiation: Negotiation, accept: Call, far: Channel) -> None:
        relay = negotiation.relay
        for code, offered in ((PACKET_SIZE, relay.far_size), (WINDOW_SIZE, relay.far_window)):
            pair = accept.facilities.pair(code)
            if pair is not None:
                low, high = (4, 12) if code == PACKET_SIZE else (1, accept.modulo - 1)
                if not low <= pair.calling <= high:
                    accept.facilities.put_pair(code, Pair(pair.called, offered.calling))
        original(negotiation, accept, far)


@fault("BUG-FAC-53")
def size_codes_of_modulo_128(patch: Patch) -> None:
    @patch.wrap(fields, "parameter_is_legal")
    def parameter_is_legal(original: Any, item: Facility, modulo: int) -> bool:
        return (item.code == PACKET_SIZE and modulo == 128) or bool(original(item, modulo))


@fault("BUG-FAC-54")
def on_both_sides_of_the_default(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_call")
    def check_call(original: Any, negotiation: Negotiation, call: Call) -> None:
        size = call.facilities.pair(PACKET_SIZE)
        if size is not None and min(size) < DEFAULT_SIZE < max(size):
            raise PacketError(Diag.FACILITY_PARAMETER, ClearCause.INVALID_FACILITY)
        original(negotiation, call)


def _change(patch: Patch, kind: int, change: Any) -> None:
    """Calls or answers as they go out."""

    @patch.wrap(codec, "encode_call")
    def encode_call(original: Any, packet_type: int, call: Call) -> bytes:
        octets: bytes = original(packet_type, change(call) if packet_type == kind else call)
        return octets


def _without_groups(call: Call) -> Call:
    if call.modulo != 128:
        return call
    kept = [i for i in call.facilities.items if i.code not in (CLOSED_USER_GROUP, _CUG_EXTENDED)]
    return replace(call, facilities=Facilities(kept, call.facilities.marked))


@fault("BUG-FAC-55")
def groups_of_modulo_128(patch: Patch) -> None:
    _change(patch, Type.CALL, _without_groups)


def _seven_bits(call: Call) -> Call:
    changed = call.facilities.copy()
    index = changed.get(CLOSED_USER_GROUP)
    if index is not None:
        changed.put(CLOSED_USER_GROUP, bytes((index[0] & 0x7F,)))
    return replace(call, facilities=changed)


@fault("BUG-FAC-56")
def seven_bits_of_a_group(patch: Patch) -> None:
    _change(patch, Type.CALL, _seven_bits)


@fault("BUG-FAC-57")
def full_field_of_modulo_128(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_call")
    def check_call(original: Any, negotiation: Negotiation, call: Call) -> None:
        if call.modulo == 128 and len(call.facilities.encode()) > 100:
            raise PacketError(Diag.FACILITY_LENGTH)
        original(negotiation, call)


@fault("BUG-LEFT-52")
def size_of_the_call_before(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        state = vars(negotiation.relay.near)
        if call.facilities.pair(PACKET_SIZE) is None and call.facilities.pair(WINDOW_SIZE):
            before = state.get("size_before")
            if before is not None:
                call.facilities.put_pair(PACKET_SIZE, before)
        offered: Call = original(negotiation, call)
        state["size_before"] = negotiation.relay.near_size
        return offered


@fault("BUG-FS-24")
def other_bits_of_the_facility(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_call")
    def check_call(original: Any, negotiation: Negotiation, call: Call) -> None:
        state, user_data = vars(negotiation.relay.near), call.user_data
        there = call.facilities.get(FAST_SELECT) is not None
        if there and state.pop("fast_before", False):
            call.user_data = b""
        original(negotiation, call)
        call.user_data = user_data
        state["fast_before"] = call.facilities.fast_select


@fault("BUG-FS-25")
def last_octet_before_the_answer(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        early = clearing.channel.p is P.CALL_RECEIVED and len(octets) > 7
        original(clearing, octets[:-1] if early else octets)


@fault("BUG-FS-26")
def user_data_before_the_answer(patch: Patch) -> None:
    pending = (P.CALL_SENT, P.CALL_RECEIVED)

    @patch.wrap(Clearing, "check_clear")
    def check_clear(original: Any, clearing: Clearing, clear: Clear) -> None:
        if clearing.channel.p not in pending:
            original(clearing, clear)

    @patch.wrap(Clearing, "send")
    def send(original: Any, clearing: Clearing, clear: Clear) -> None:
        vars(clearing)["early"] = clearing.channel.p in pending
        original(clearing, clear)

    @patch.wrap(Clearing, "permitted")
    def permitted(original: Any, clearing: Clearing, clear: Clear) -> Clear:
        whole: Clear = clear if vars(clearing).get("early") else original(clearing, clear)
        return whole


@fault("BUG-FS-27")
def d_of_a_fast_select_call(patch: Patch) -> None:
    _change(patch, Type.CALL, lambda call: replace(call, d=call.d and not _is_fast(call)))


def _is_fast(call: Call) -> bool:
    return call.facilities.fast_select


@fault("BUG-FORM-24")
def last_digit_of_fifteen(patch: Patch) -> None:
    def changed(call: Call) -> Call:
        called = call.addresses.called
        if len(called) != addresses.LONGEST_PLAIN:
            return call
        return replace(call, addresses=call.addresses._replace(called=called[:-1] + "0"))

    _change(patch, Type.ACCEPT, changed)


@fault("BUG-FORM-25")
def window_size_twice(patch: Patch) -> None:
    def changed(call: Call) -> Call:
        twice = [item for item in call.facilities.items if item.code == WINDOW_SIZE]
        items = [*call.facilities.items, *twice]
        return replace(call, facilities=Facilities(items, call.facilities.marked))

    _change(patch, Type.ACCEPT, changed)


@fault("BUG-CALL-68")
def both_of_fifteen_in_modulo_128(patch: Patch) -> None:
    def changed(call: Call) -> Call:
        parties = call.addresses
        if call.modulo != 128 or {len(parties.called), len(parties.calling)} != {15}:
            return call
        return replace(call, addresses=parties._replace(calling=parties.calling[:-1] + "0"))

    _change(patch, Type.CALL, changed)


@fault("BUG-CALL-69")
def user_data_in_modulo_128(patch: Patch) -> None:
    def changed(call: Call) -> Call:
        short = call.modulo == 128 and not _is_fast(call)
        return replace(call, user_data=call.user_data[:4]) if short else call

    _change(patch, Type.CALL, changed)


@fault("BUG-CALL-70")
def seventeen_half_octets(patch: Patch) -> None:
    @patch.wrap(Router, "check_addresses")
    def check_addresses(original: Any, router: Router, parties: Addresses) -> None:
        if parties.a_bit and max(len(parties.called), len(parties.calling)) > 15:
            raise PacketError(Diag.CALLED_ADDRESS)
        original(router, parties)


@fault("BUG-CALL-71")
def digits_behind_type_and_plan(patch: Patch) -> None:
    @patch.wrap(Router, "check_addresses")
    def check_addresses(original: Any, router: Router, parties: Addresses) -> None:
        if not parties.a_bit:
            original(router, parties)


@fault("BUG-CALL-73")
def three_octets_of_modulo_128(patch: Patch) -> None:
    @patch.wrap(codec, "parse_accept")
    def parse_accept(original: Any, octets: bytes) -> Call:
        if len(octets) == 3 and codec.modulo_of(octets) == 128:
            raise PacketError(Diag.TOO_SHORT)
        call: Call = original(octets)
        return call


@fault("BUG-CALL-74")
def restriction_of_modulo_128(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_accept")
    def check_accept(original: Any, negotiation: Negotiation, accept: Call, far: Channel) -> None:
        far.restricted = far.restricted and accept.modulo == 8
        original(negotiation, accept, far)


@fault("BUG-MALF-51")
def cut_facilities_of_modulo_128(patch: Patch) -> None:
    @patch.wrap(codec, "parse_facility_field")
    def parse_facility_field(original: Any, octets: bytes, at: int) -> tuple[Facilities, int]:
        try:
            parsed: tuple[Facilities, int] = original(octets, at)
        except PacketError:
            if codec.modulo_of(octets) != 128 or octets[2] != Type.CALL:
                raise
            return Facilities(), len(octets)
        return parsed


def _clear_of_four_octets(patch: Patch, is_meant: Any) -> None:
    """Such a Clear is too short."""

    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        if len(octets) == 4 and is_meant(clearing.channel):
            raise PacketError(Diag.TOO_SHORT)
        original(clearing, octets)


@fault("BUG-CLR-35")
def refusal_of_four_octets(patch: Patch) -> None:
    _clear_of_four_octets(patch, lambda channel: channel.p is P.CALL_SENT)


@fault("BUG-CLR-36")
def call_taken_back_in_four_octets(patch: Patch) -> None:
    _clear_of_four_octets(patch, lambda channel: channel.p is P.CALL_RECEIVED)


@fault("BUG-CLR-37")
def clear_of_four_octets_in_modulo_128(patch: Patch) -> None:
    def is_meant(channel: Channel) -> bool:
        return channel.modulo == 128 and channel.p is P.DATA_TRANSFER

    _clear_of_four_octets(patch, is_meant)


@fault("BUG-CALL-75")
def cause_of_a_call_taken_back(patch: Patch) -> None:
    @patch.wrap(Clearing, "send")
    def send(original: Any, clearing: Clearing, clear: Clear) -> None:
        early = clearing.channel.p is P.CALL_SENT and clear.by_peer
        original(clearing, replace(clear, cause=ClearCause.DTE_ORIGINATED) if early else clear)
