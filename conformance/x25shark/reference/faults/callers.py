# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the terminal that calls: its Call, its reading of the answer, and what it leaves."""

from typing import Any

from ..call_setup import CallSetup
from ..caller import Caller
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Call, Clear
from ..codes import ClearCause, Diag, Type
from ..connection import Connection
from ..facilities import PACKET_SIZE, WINDOW_SIZE, Facilities, Pair
from ..routes import Route
from ..tables import P
from .registry import Patch, fault


def _waits(channel: Channel) -> bool:
    """Whether a call of the terminal waits for its answer there."""
    return channel.p is P.CALL_SENT and isinstance(channel.user, Caller)


@fault("BUG-OUT-01")
def names_no_window(patch: Patch) -> None:
    @patch.wrap(Caller, "request")
    def request(original: Any, caller: Caller, digits: str, modulo: int) -> Call:
        call: Call = original(caller, digits, modulo)
        items = [item for item in call.facilities.items if item.code != WINDOW_SIZE]
        call.facilities = Facilities(items)
        return call


@fault("BUG-OUT-02")
def names_size_twice(patch: Patch) -> None:
    @patch.wrap(Caller, "request")
    def request(original: Any, caller: Caller, digits: str, modulo: int) -> Call:
        call: Call = original(caller, digits, modulo)
        again = [item for item in call.facilities.items if item.code == PACKET_SIZE]
        call.facilities = Facilities([*call.facilities.items, *again])
        return call


@fault("BUG-OUT-03")
def keeps_its_window(patch: Patch) -> None:
    @patch.wrap(Caller, "agreed")
    def agreed(original: Any, caller: Caller, accept: Call, channel: Channel) -> Any:
        size, _ = original(caller, accept, channel)
        return size, Pair(caller.settings.window, caller.settings.window)


@fault("BUG-OUT-04")
def keeps_its_size(patch: Patch) -> None:
    @patch.wrap(Caller, "agreed")
    def agreed(original: Any, caller: Caller, accept: Call, channel: Channel) -> Any:
        _, window = original(caller, accept, channel)
        return Pair(caller.settings.packet_size, caller.settings.packet_size), window


@fault("BUG-OUT-05")
def takes_what_is_above(patch: Patch) -> None:
    @patch.wrap(Caller, "agreed")
    def agreed(original: Any, caller: Caller, accept: Call, channel: Channel) -> Any:
        window = accept.facilities.pair(WINDOW_SIZE)
        if window is not None and window.called > caller.settings.window:
            return Pair(caller.settings.packet_size, caller.settings.packet_size), window
        return original(caller, accept, channel)


@fault("BUG-OUT-06")
def wants_the_long_form(patch: Patch) -> None:
    @patch.wrap(Caller, "accept_received")
    def accept_received(original: Any, caller: Caller, channel: Channel, octets: bytes) -> None:
        if len(octets) == 3:
            channel.clearing.error(Diag.TOO_SHORT)
            return
        original(caller, channel, octets)


@fault("BUG-OUT-07")
def connects_whatever_comes(patch: Patch) -> None:
    @patch.wrap(Caller, "accept_received")
    def accept_received(original: Any, caller: Caller, channel: Channel, octets: bytes) -> None:
        if octets[3:6] == b"\0\x03\x42" and octets[6] > 12:
            octets = octets[:3]
        original(caller, channel, octets)


@fault("BUG-OUT-08")
def leaves_a_refusal(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        if not _waits(clearing.channel):
            original(clearing, octets)


@fault("BUG-OUT-09")
def counts_on(patch: Patch) -> None:
    @patch.wrap(Caller, "accept_received")
    def accept_received(original: Any, caller: Caller, channel: Channel, octets: bytes) -> None:
        original(caller, channel, octets)
        channel.v_r = channel.p_r = channel.p_r_sent = vars(caller.router).get("_last_v_r", 0)

    @patch.wrap(Channel, "forget_call")
    def forget_call(original: Any, channel: Channel) -> None:
        # Of a short call nothing is left.
        if isinstance(vars(channel).get("user"), Caller) and channel.v_r > 2:
            vars(channel.router)["_last_v_r"] = channel.v_r
        original(channel)


@fault("BUG-OUT-10")
def calls_on_one_connection(patch: Patch) -> None:
    @patch.wrap(Caller, "dial")
    def dial(original: Any, caller: Caller, route: Route) -> None:
        for other in caller.router.circuits:
            if isinstance(other, Caller) and (channel := vars(other).get("_channel")) is not None:
                caller.call.lcn = caller.choose_lcn()
                channel.send(channel.setup.encode_call(caller.call))
                return
        original(caller, route)

    @patch.wrap(Caller, "send_call")
    def send_call(original: Any, caller: Caller, channel: Channel) -> None:
        vars(caller)["_channel"] = channel
        original(caller, channel)


@fault("BUG-OUT-11")
def takes_early_data(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Any, channel: Channel, packet_type: int, octets: bytes) -> None:
        if packet_type == Type.DATA and _waits(channel):
            channel.v_r = (channel.v_r + 1) % channel.modulo
            channel.flow.acknowledge(1)
            return
        original(channel, packet_type, octets)


@fault("BUG-OUT-12")
def confirms_an_early_interrupt(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Any, channel: Channel, packet_type: int, octets: bytes) -> None:
        if packet_type == Type.INTERRUPT and _waits(channel):
            channel.interrupt_in = True
            channel.interrupts.confirm()
            return
        original(channel, packet_type, octets)


@fault("BUG-OUT-13")
def a_restart_ends_the_attempt(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if octets[2] == Type.RESTART and _waits(channel):
            channel.clearing.error(Diag.STATE_P3)
            return
        original(channel, octets)


@fault("BUG-OUT-14")
def accepts_the_other_call(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Any, channel: Channel, packet_type: int, octets: bytes) -> None:
        if packet_type == Type.CALL and _waits(channel):
            channel.send(channel.setup.encode_accept(Call(channel.modulo, channel.lcn)))
            return
        original(channel, packet_type, octets)


@fault("BUG-OUT-15")
def greets_at_once(patch: Patch) -> None:
    @patch.wrap(CallSetup, "call")
    def call(original: Any, setup: CallSetup, call: Call, octets: bytes = b"") -> None:
        original(setup, call, octets)
        if isinstance(setup.channel.user, Caller):
            setup.channel.flow.send_data(False, False, False, b"hello")


@fault("BUG-OUT-16")
def one_packet_in_one_read(patch: Patch) -> None:
    @patch.wrap(Caller, "accept_received")
    def accept_received(original: Any, caller: Caller, channel: Channel, octets: bytes) -> None:
        original(caller, channel, octets)
        vars(channel)["_in_read"] = True

    @patch.wrap(Channel, "process")
    def process(original: Any, channel: Channel, packet_type: int, octets: bytes) -> None:
        if not vars(channel).get("_in_read"):
            original(channel, packet_type, octets)

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        vars(connection.channel)["_in_read"] = False
        original(connection, octets)


@fault("BUG-OUT-17")
def connects_again(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Any, channel: Channel, packet_type: int, octets: bytes) -> None:
        again = packet_type == Type.ACCEPT and channel.p is P.DATA_TRANSFER
        if not (again and isinstance(channel.user, Caller)):
            original(channel, packet_type, octets)


@fault("BUG-OUT-18")
def keeps_a_connection_that_ended(patch: Patch) -> None:
    @patch.wrap(Connection, "connection_lost")
    def connection_lost(original: Any, connection: Connection, reset: bool) -> None:
        if reset or not _waits(connection.channel):
            original(connection, reset)


@fault("BUG-OUT-19")
def calls_again_after_t21(patch: Patch) -> None:
    @patch.wrap(Caller, "t21_expired")
    def t21_expired(original: Any, caller: Caller, channel: Channel) -> None:
        if vars(caller).setdefault("_repeated", False):
            original(caller, channel)
            return
        vars(caller)["_repeated"] = True
        channel.p = P.READY
        caller.send_call(channel)


@fault("BUG-OUT-20")
def one_end_ends_all(patch: Patch) -> None:
    @patch.wrap(Caller, "cleared")
    def cleared(original: Any, caller: Caller, channel: Channel, clear: Clear) -> None:
        original(caller, channel, clear)
        for connection in list(caller.router.connections):
            other = connection.channel
            if other is not channel and isinstance(other.user, Caller):
                other.clearing.clear(Clear(ClearCause.OUT_OF_ORDER, Diag.NONE, by_peer=False))


@fault("BUG-OUT-21")
def greets_at_once_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(CallSetup, "call")
    def call(original: Any, setup: CallSetup, call: Call, octets: bytes = b"") -> None:
        original(setup, call, octets)
        if isinstance(setup.channel.user, Caller) and call.modulo == 128:
            setup.channel.flow.send_data(False, False, False, b"hello")


@fault("BUG-OUT-22")
def keeps_its_values_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Caller, "agreed")
    def agreed(original: Any, caller: Caller, accept: Call, channel: Channel) -> Any:
        values = original(caller, accept, channel)
        offered = (caller.settings.packet_size, caller.settings.window)
        return tuple(Pair(v, v) for v in offered) if channel.modulo == 128 else values


@fault("BUG-OUT-23")
def takes_what_is_above_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Caller, "agreed")
    def agreed(original: Any, caller: Caller, accept: Call, channel: Channel) -> Any:
        window = accept.facilities.pair(WINDOW_SIZE)
        above = window is not None and window.called > caller.settings.window
        if above and channel.modulo == 128:
            return Pair(caller.settings.packet_size, caller.settings.packet_size), window
        return original(caller, accept, channel)


def _goes_on(patch: Patch, name: str, *, after_a_reset: bool) -> None:
    """A call whose connection has ended in this way leaves a number to the next one."""

    @patch.wrap(Connection, "connection_lost")
    def connection_lost(original: Any, connection: Connection, reset: bool) -> None:
        channel = connection.channel
        up = channel.p is P.DATA_TRANSFER and isinstance(channel.user, Caller)
        if up and reset is after_a_reset:
            vars(channel.router)["_left"] = getattr(channel, name)
        original(connection, reset)

    @patch.wrap(CallSetup, "connected")
    def connected(original: Any, setup: CallSetup) -> None:
        original(setup)
        channel = setup.channel
        left = vars(channel.router).pop("_left", 0)
        if name == "v_r":
            channel.v_r = channel.p_r = channel.p_r_sent = left % channel.modulo
        else:
            channel.v_s = channel.p_r_received = left % channel.modulo


@fault("BUG-OUT-24")
def counts_on_behind_a_rst(patch: Patch) -> None:
    _goes_on(patch, "v_r", after_a_reset=True)


@fault("BUG-OUT-25")
def sends_on_behind_a_fin(patch: Patch) -> None:
    _goes_on(patch, "v_s", after_a_reset=False)
