# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of memory that no list names: python -m x25shark.selftest.planted --fault PLANTED-01 ...

The reference router with faults that a random walk has to find (walk_faults.py). Each is in what
the router remembers: it shows at the third time, behind a dirty end, or on another circuit than the
one on which it was brought about. All arguments are those of the router.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..reference.__main__ import main
from ..reference.channel import Channel
from ..reference.circuit import Circuit
from ..reference.codec import Call, Clear, Data
from ..reference.codes import PacketError, Type
from ..reference.data_flow import DataFlow
from ..reference.interrupts import Interrupts
from ..reference.negotiation import Negotiation
from ..reference.relay import Relay
from ..reference.relay_local import Direction, LocalRelay
from ..reference.resets import Resets
from ..reference.switches import Patch, Switches
from ..reference.tables import P

PLANTED = Switches("fault")
planted = PLANTED.register
THIRD = 3


def _count(owner: Any, name: str) -> int:
    """How often this has been asked of the owner, with this time."""
    memory: dict[str, Any] = vars(owner)
    memory[name] = memory.get(name, 0) + 1
    return int(memory[name])


def _set(owner: Any, name: str, value: object) -> None:
    vars(owner)[name] = value


def _take(owner: Any, name: str) -> Any:
    """What was set, once."""
    return vars(owner).pop(name, None)


@planted("PLANTED-01", text="the third Interrupt of a call is lost")
def third_interrupt(patch: Patch) -> None:
    @patch.wrap(Relay, "interrupt_received")
    def received(original: Any, relay: Relay, channel: Channel, octets: bytes) -> None:
        if _count(relay, "interrupts") != THIRD:
            original(relay, channel, octets)


@planted("PLANTED-02", text="the third reset of a call is confirmed and not passed on")
def third_reset(patch: Patch) -> None:
    @patch.wrap(Relay, "reset_received")
    def received(original: Any, relay: Relay, channel: Channel, *told: int) -> None:
        if _count(relay, "resets") != THIRD:
            original(relay, channel, *told)
        else:
            channel.resets.confirm()


@planted("PLANTED-03", text="an Interrupt that a Clear left open changes that of the next call")
def interrupt_of_another_call(patch: Patch) -> None:
    @patch.wrap(Relay, "cleared")
    def cleared(original: Any, relay: Relay, channel: Channel, clear: Clear) -> None:
        if channel.interrupt_in or channel.interrupt_out:
            _set(relay.router, "open", True)
        original(relay, channel, clear)

    @patch.wrap(Relay, "interrupt_received")
    def received(original: Any, relay: Relay, channel: Channel, octets: bytes) -> None:
        if _take(relay.router, "open"):
            octets = bytes((octets[0] ^ 1,)) + octets[1:]
        original(relay, channel, octets)


@planted(
    "PLANTED-04", text="a side that was not ready when it was cleared stays so in its next call"
)
def busy_in_the_next_call(patch: Patch) -> None:
    @patch.wrap(Circuit, "forget_call")
    def forget_call(original: Callable[[Circuit], None], circuit: Circuit) -> None:
        was = vars(circuit).get("peer_busy", False)
        original(circuit)
        peer = f"busy {circuit.wire.peer}"
        if was:
            _set(circuit.router, peer, True)
        elif circuit.p is P.READY and _take(circuit.router, peer):
            circuit.peer_busy = True


@planted("PLANTED-05", text="Data that waited for a side that is not ready comes behind the reset")
def data_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Direction, "clear")
    def clear(original: Callable[[Direction], None], direction: Direction) -> None:
        kept = list(direction.queue)
        original(direction)
        direction.queue.extend(kept)
        direction.made = len(kept)


@planted("PLANTED-06", text="half a sequence survives the second reset")
def half_a_sequence(patch: Patch) -> None:
    @patch.wrap(Direction, "clear")
    def clear(original: Callable[[Direction], None], direction: Direction) -> None:
        waiting = bytes(direction.segmenter._waiting)
        original(direction)
        if _count(direction, "cleared") > 1:
            direction.segmenter._waiting += waiting


@planted(
    "PLANTED-07", text="with Interrupts open on two calls, the confirmation goes to the other one"
)
def confirms_another(patch: Patch) -> None:
    @patch.wrap(Relay, "interrupt_confirmed")
    def confirmed(original: Any, relay: Relay, channel: Channel) -> None:
        for one in relay.router.circuits:
            if isinstance(one, Relay) and one is not relay and one.near.interrupt_in:
                one.near.interrupts.confirm()
                return
        original(relay, channel)


@planted("PLANTED-08", text="the called side's P(S) go wrong at the first wrap behind a reset")
def wrap_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Channel, "restart_numbers")
    def restart(original: Callable[[Channel], None], channel: Channel) -> None:
        original(channel)
        _set(channel, "restarted", channel.p is P.DATA_TRANSFER and not channel.accepted)

    @patch.wrap(DataFlow, "forward_data")
    def forward(original: Any, flow: DataFlow, data: Data) -> None:
        channel = flow.channel
        if data.p_s == channel.modulo - 1 and _take(channel, "restarted"):
            data = data._replace(p_s=0)
        original(flow, data)


@planted("PLANTED-09", text="a message with Q of one side gives Q to the next of the other side")
def q_of_the_other_side(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, data: Data) -> None:
        if data.q:
            _set(direction.sink, "q", True)
        elif _take(direction.source, "q"):
            data = data._replace(q=True)
        original(direction, data)


@planted("PLANTED-10", text="behind a reset for a second Interrupt the first one still counts")
def interrupt_behind_an_error(patch: Patch) -> None:
    @patch.wrap(Resets, "error")
    def reset_error(original: Any, resets: Resets, diagnostic: int) -> None:
        channel = resets.channel
        was = channel.interrupt_in
        original(resets, diagnostic)
        _set(channel, "was", was)

    @patch.wrap(Resets, "complete")
    def complete(original: Callable[[Resets], None], resets: Resets) -> None:
        channel = resets.channel
        original(resets)
        channel.interrupt_in = bool(_take(channel, "was"))


@planted("PLANTED-11", text="the other side of a second procedure error in a call is told cause 0")
def cause_of_the_second_error(patch: Patch) -> None:
    @patch.wrap(Relay, "reset_by_error")
    def by_error(original: Any, relay: Relay, channel: Channel, cause: int, code: int) -> None:
        original(relay, channel, 0 if _count(relay, "errors") > 1 else cause, code)


@planted("PLANTED-12", text="the Call behind a withdrawn one carries its user data")
def user_data_of_a_withdrawn_call(patch: Patch) -> None:
    @patch.wrap(Relay, "cleared")
    def cleared(original: Any, relay: Relay, channel: Channel, clear: Clear) -> None:
        if channel is relay.near and relay.far is not None and relay.far.p is P.CALL_SENT:
            _set(relay.router, "withdrawn", relay.call.user_data)
        original(relay, channel, clear)

    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Any:
        offered = original(negotiation, call)
        offered.user_data = _take(negotiation.relay.router, "withdrawn") or offered.user_data
        return offered


@planted("PLANTED-13", text="the Clear behind a refused call has its diagnostic")
def diagnostic_of_a_refused_call(patch: Patch) -> None:
    @patch.wrap(Relay, "cleared")
    def cleared(original: Any, relay: Relay, channel: Channel, clear: Clear) -> None:
        last = _take(relay.router, "refused")
        if channel is relay.far and channel.p is P.CLEAR_RECEIVED and not relay.near.ready:
            _set(relay.router, "refused", clear.diagnostic + 1)
        elif last:
            clear = replace(clear, diagnostic=last - 1)
        original(relay, channel, clear)


@planted(
    "PLANTED-14", text="what waited for a side when its connection ended comes in the next call"
)
def data_of_a_lost_call(patch: Patch) -> None:
    @patch.wrap(Channel, "connection_lost")
    def lost(original: Callable[[Channel], None], channel: Channel) -> None:
        for direction in (getattr(channel.user, "directions", None) or {}).values():
            if direction.queue:
                _set(channel.router, "queue", list(direction.queue))
        original(channel)

    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, data: Data) -> None:
        direction.queue.extend(_take(direction.source.router, "queue") or [])
        original(direction, data)


@planted(
    "PLANTED-15", text="Interrupts that were open at a reset: the next one is confirmed at once"
)
def confirmed_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Relay, "drop")
    def drop(original: Callable[[Relay], None], relay: Relay) -> None:
        _set(relay, "early", _take(relay, "both"))
        original(relay)

    @patch.wrap(Relay, "interrupt_received")
    def received(original: Any, relay: Relay, channel: Channel, octets: bytes) -> None:
        original(relay, channel, octets)
        other = relay.other(channel)
        _set(relay, "both", other is not None and other.interrupt_in)
        if _take(relay, "early"):
            channel.interrupts.confirm()


@planted("PLANTED-16", text="behind the second reset of a call of modulo 128 numbers begin with 1")
def numbers_behind_the_second_reset(patch: Patch) -> None:
    @patch.wrap(Channel, "restart_numbers")
    def restart(original: Callable[[Channel], None], channel: Channel) -> None:
        original(channel)
        if channel.p is P.READY:
            _set(channel, "restarts", 0)
        elif channel.modulo != 8 and _count(channel, "restarts") > 2:
            channel.v_s = channel.p_r_received = 1


@planted("PLANTED-17", text="an RR behind RNR lets one message pass and loses the others")
def one_of_several(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        channel = flow.channel
        relay = channel.user
        if channel.peer_busy and packet_type == Type.RR and isinstance(relay, LocalRelay):
            direction = relay.towards(channel)
            while direction is not None and len(direction.queue) > 1:
                direction.queue.pop()
        original(flow, packet_type, octets)


@planted("PLANTED-18", text="with three calls up, the last octet of what the third sends is lost")
def the_third_call(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, data: Data) -> None:
        third = len(direction.source.router.circuits) >= THIRD
        if third and len(data.user_data) > 1 and not data.m:
            data = data._replace(user_data=data.user_data[:-1])
        original(direction, data)


@planted(
    "PLANTED-19", text="behind an Interrupt that was confirmed a stray confirmation is ignored"
)
def stray_confirmation(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_confirmation")
    def confirmation(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        channel = interrupts.channel
        due = channel.interrupt_out
        try:
            original(interrupts, octets)
        except PacketError:
            if not vars(channel).get("confirmed"):
                raise
        if due:
            _set(channel, "confirmed", True)


@planted("PLANTED-20", text="no RR behind the third RNR of a side makes it ready again")
def third_rnr(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        channel = flow.channel
        if packet_type == Type.RNR and not channel.peer_busy:
            _count(channel, "rnr")
        stuck = vars(channel).get("rnr", 0) >= THIRD
        original(flow, Type.RNR if stuck else packet_type, octets)


def run() -> int:
    """Run the router with what is planted in the place of its own faults."""
    from ..reference import faults

    faults.FAULTS.update(PLANTED)
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(run())
