# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults in the form of the packets that the router makes itself."""

from dataclasses import replace
from typing import Any

from .. import addresses, codec
from ..call_setup import CallSetup
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Call, Clear, Data
from ..codes import Type
from ..facilities import FAST_SELECT, PACKET_SIZE, WINDOW_SIZE, Facilities, Facility, Pair
from ..interrupts import Interrupts
from ..negotiation import Negotiation
from ..relay_local import Segment, Segmenter
from ..resets import Resets
from ..tables import P
from .common import send_rr
from .registry import Patch, fault

D_BIT, BIT_8 = 0x40, 0x80


@fault("BUG-FORM-01")
def octet_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Channel, "send")
    def send(original: Any, channel: Channel, octets: bytes) -> None:
        longer = octets[2] == Type.RESET and not channel.accepted
        original(channel, octets + b"\0" if longer else octets)


@fault("BUG-FORM-02")
def octet_behind_rr(patch: Patch) -> None:
    @patch.wrap(codec, "encode_flow")
    def encode_flow(original: Any, modulo: int, lcn: int, kind: int, p_r: int) -> bytes:
        return bytes(original(modulo, lcn, kind, p_r)) + b"\0"


@fault("BUG-FORM-03")
def d_bit_in_clear(patch: Patch) -> None:
    _bits_in_clear(patch, D_BIT)


@fault("BUG-FORM-04")
def bit_8_in_clear(patch: Patch) -> None:
    _bits_in_clear(patch, BIT_8)


def _bits_in_clear(patch: Patch, bits: int) -> None:
    @patch.wrap(codec, "encode_clear")
    def encode_clear(original: Any, modulo: int, lcn: int, clear: Clear) -> bytes:
        octets: bytes = original(modulo, lcn, clear)
        return bytes((octets[0] | bits,)) + octets[1:]


@fault("BUG-FORM-05")
def filler_f(patch: Patch) -> None:
    @patch.wrap(addresses, "encode")
    def encode(original: Any, parties: addresses.Addresses) -> bytes:
        octets: bytes = original(parties)
        if len(parties.called + parties.calling) % 2:
            octets = octets[:-1] + bytes((octets[-1] | 0x0F,))
        return octets


@fault("BUG-FORM-06")
def confirmation_with_data(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_interrupt")
    def on_interrupt(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        vars(interrupts.channel)["interrupt_octets"] = octets[3:]
        original(interrupts, octets)

    @patch.wrap(Channel, "send")
    def send(original: Any, channel: Channel, octets: bytes) -> None:
        if octets[2] == Type.INTERRUPT_CONFIRMATION:
            octets += vars(channel).get("interrupt_octets", b"")
        original(channel, octets)


@fault("BUG-FORM-07")
def bit_1_of_rr(patch: Patch) -> None:
    @patch.wrap(codec, "encode_flow")
    def encode_flow(original: Any, modulo: int, lcn: int, kind: int, p_r: int) -> bytes:
        octets: bytes = original(modulo, lcn, kind, p_r)
        return octets[:3] + bytes(octet | 1 for octet in octets[3:])


@fault("BUG-FORM-08")
def window_twice(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, call: Call) -> None:
        pair = call.facilities.pair(WINDOW_SIZE) or Pair(2, 2)
        again = Facility(WINDOW_SIZE, bytes(pair), bytes((WINDOW_SIZE, *pair)))
        items = [*call.facilities.items, again]
        original(setup, replace(call, facilities=Facilities(items, call.facilities.marked)))


@fault("BUG-FORM-09")
def user_data_back(patch: Patch) -> None:
    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Any, negotiation: Negotiation, accept: Call) -> Call:
        connected: Call = original(negotiation, accept)
        return replace(connected, user_data=connected.user_data or negotiation.relay.call.user_data)


@fault("BUG-FORM-10")
def clear_of_modulo_8(patch: Patch) -> None:
    @patch.wrap(codec, "encode_clear")
    def encode_clear(original: Any, _modulo: int, lcn: int, clear: Clear) -> bytes:
        return bytes(original(8, lcn, clear))


@fault("BUG-FORM-11")
def undefined_cause(patch: Patch) -> None:
    @patch.wrap(Resets, "remote_cause")
    def remote_reset_cause(original: Any, resets: Resets, cause: int) -> int:
        return 0x02 if resets.channel.accepted else int(original(resets, cause))


def _of_modulo_8(patch: Patch, kind: int) -> None:
    """Packets of this type always have the GFI of modulo 8."""

    @patch.wrap(codec, "header")
    def header(original: Any, modulo: int, lcn: int, packet_type: int, *bits: int) -> bytes:
        return bytes(original(8 if packet_type == kind else modulo, lcn, packet_type, *bits))


@fault("BUG-MOD-05")
def reset_confirmation_of_modulo_8(patch: Patch) -> None:
    _of_modulo_8(patch, Type.RESET_CONFIRMATION)


@fault("BUG-MOD-06")
def interrupt_of_modulo_8(patch: Patch) -> None:
    _of_modulo_8(patch, Type.INTERRUPT)


@fault("BUG-FORM-12")
def fast_select_in_an_answer(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, call: Call) -> None:
        if setup.channel.fast_select:
            call.facilities.put(FAST_SELECT, b"\x80")
        original(setup, call)


def _one_more_is_answered(patch: Patch, code: int, octet: int, asked: int) -> None:
    """Call Connected names one more than this in an octet of a facility, where it would name it."""

    @patch.wrap(Negotiation, "connected_packet")
    def connected_packet(original: Any, negotiation: Negotiation, accept: Call) -> Call:
        connected: Call = original(negotiation, accept)
        value = bytearray(connected.facilities.get(code) or b"")
        if value and value[octet] == asked:
            value[octet] += 1
            connected.facilities.put(code, bytes(value))
        return connected


@fault("BUG-FORM-13")
def a_size_more(patch: Patch) -> None:
    _one_more_is_answered(patch, PACKET_SIZE, 0, 7)


@fault("BUG-FORM-14")
def a_window_more(patch: Patch) -> None:
    _one_more_is_answered(patch, WINDOW_SIZE, 1, 2)


@fault("BUG-FORM-15")
def confirms_what_crossed(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        if clearing.channel.p is P.CLEAR_SENT:
            clearing.confirm()
            clearing.confirm()
        original(clearing, octets)


@fault("BUG-FORM-16")
def rr_behind_a_clear(patch: Patch) -> None:
    @patch.wrap(Clearing, "emit")
    def emit(original: Any, clearing: Clearing, clear: Clear) -> None:
        original(clearing, clear)
        send_rr(clearing.channel)


@fault("BUG-FORM-20")
def rr_in_front_of_call_connected(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, call: Call) -> None:
        send_rr(setup.channel)
        original(setup, call)


@fault("BUG-FORM-21")
def rr_behind_a_call(patch: Patch) -> None:
    @patch.wrap(CallSetup, "call")
    def call(original: Any, setup: CallSetup, *arguments: Any) -> None:
        original(setup, *arguments)
        send_rr(setup.channel)


@fault("BUG-FORM-22")
def rr_behind_a_clear_confirmation(patch: Patch) -> None:
    @patch.wrap(Clearing, "confirm")
    def confirm(original: Any, clearing: Clearing) -> None:
        original(clearing)
        send_rr(clearing.channel)


@fault("BUG-FORM-23")
def rr_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Resets, "emit")
    def emit(original: Any, resets: Resets, cause: int, diagnostic: int) -> None:
        original(resets, cause, diagnostic)
        send_rr(resets.channel)


@fault("BUG-FORM-17")
def one_octet_short_of_full(patch: Patch) -> None:
    @patch.wrap(Segmenter, "cut")
    def cut(original: Any, segmenter: Segmenter, q: bool, parts: int) -> list[Segment]:
        if segmenter.size_out != 128:
            return list(original(segmenter, q, parts))
        segmenter.size_out -= 1
        try:
            return list(original(segmenter, q, parts))
        finally:
            segmenter.size_out += 1


@fault("BUG-CLR-24")
def confirmation_with_a_cause(patch: Patch) -> None:
    @patch.wrap(Clearing, "confirm")
    def confirm(_original: Any, clearing: Clearing) -> None:
        channel = clearing.channel
        octets = codec.header(channel.modulo, channel.lcn, Type.CLEAR_CONFIRMATION)
        channel.send(octets + b"\0\0")


@fault("BUG-DATA-18")
def p_r_behind_that_of_rr(patch: Patch) -> None:
    @patch.wrap(codec, "encode_data")
    def encode_data(original: Any, modulo: int, lcn: int, data: Data) -> bytes:
        return bytes(original(modulo, lcn, data._replace(p_r=max(data.p_r - 1, 0))))


@fault("BUG-FORM-26")
def rr_of_modulo_128_ahead_of_call_connected(patch: Patch) -> None:
    @patch.wrap(CallSetup, "accept")
    def accept(original: Any, setup: CallSetup, call: Call) -> None:
        if setup.channel.modulo == 128:
            send_rr(setup.channel)
        original(setup, call)


@fault("BUG-FORM-27")
def rr_of_modulo_128_behind_a_clear(patch: Patch) -> None:
    @patch.wrap(Clearing, "emit")
    def emit(original: Any, clearing: Clearing, clear: Clear) -> None:
        original(clearing, clear)
        if clearing.channel.modulo == 128:
            send_rr(clearing.channel)
