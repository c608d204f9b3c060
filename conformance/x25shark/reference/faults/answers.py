# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults in what is read out of an answer, of user data before the answer, of a second setup."""

from dataclasses import replace
from typing import Any

from .. import codec, negotiation
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Call, Clear
from ..codes import Type
from ..facilities import FAST_SELECT, Facilities
from ..negotiation import Negotiation
from ..pvc_setup import Status, encode_setup, parse_setup
from ..tables import P
from .registry import Patch, fault

_NETWORK = bytes(2)


@fault("BUG-FS-28")
def fast_select_of_an_answer(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_accept")
    def check_accept(original: Any, negotiating: Negotiation, accept: Call, far: Channel) -> None:
        if accept.facilities.fast_select:
            far.fast_select = negotiating.relay.near.fast_select = True
            items = accept.facilities.items
            items[:] = [item for item in items if item.code != FAST_SELECT]
        original(negotiating, accept, far)


@fault("BUG-FS-29")
def long_clear_before_the_answer(patch: Patch) -> None:
    @patch.wrap(Clearing, "check_clear")
    def check_clear(original: Any, clearing: Clearing, clear: Clear) -> None:
        pending = clearing.channel.p in (P.CALL_SENT, P.CALL_RECEIVED)
        if not pending or len(clear.user_data) <= codec.FAST_SELECT_LONGEST:
            original(clearing, clear)


@fault("BUG-CALL-72")
def counts_user_data_in_an_octet(patch: Patch) -> None:
    @patch.wrap(negotiation, "check_user_data")
    def check_user_data(original: Any, call: Call, fast_select: bool) -> None:
        original(replace(call, user_data=call.user_data[: len(call.user_data) % 256]), fast_select)


@fault("BUG-FAC-62")
def marked_facilities_of_an_answer(patch: Patch) -> None:
    @patch.wrap(codec, "parse_accept")
    def parse_accept(original: Any, octets: bytes) -> Call:
        call: Call = original(octets)
        if call.facilities.marked[:2] == _NETWORK:
            for item in Facilities.parse(call.facilities.marked[2:]).items:
                call.facilities.put(item.code, item.value)
        return call


@fault("BUG-XOT-181")
def a_setup_amid_a_circuit(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if not channel.permanent or octets[2] != Type.PVC_SETUP:
            original(channel, octets)
            return
        again = parse_setup(octets)._replace(status=Status.WAITING)
        channel.send(encode_setup(channel.lcn, again))
