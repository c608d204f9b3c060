# SPDX-License-Identifier: GPL-2.0-or-later
"""What several faults need."""

from collections.abc import Callable
from typing import Any

from .. import codec
from ..call_setup import CallSetup
from ..channel import Channel
from ..circuit import Circuit
from ..codes import Type
from ..relay import Relay
from ..tables import P
from ..user import ChannelUser
from .registry import Patch


class Crash(SystemExit):
    """The router ends here, as a crash would end it."""

    def __init__(self) -> None:
        super().__init__(70)


def other_end(channel: Channel) -> Channel | None:
    """The other half of a channel's call."""
    return channel.user.other(channel) if isinstance(channel.user, Relay) else None


def packet_type(channel: Channel, octets: bytes) -> int:
    """Type of a packet; a channel without a call takes the modulo from the packet."""
    modulo = codec.modulo_of(octets) if channel.p is P.READY else channel.modulo
    return codec.type_of(octets, modulo or 8) if len(octets) >= 3 else -2


def send_rr(channel: Channel) -> None:
    """An RR with P(R) 0, whatever the state."""
    channel.send(codec.encode_flow(channel.modulo, channel.lcn, Type.RR, 0))


def leak(channel: Channel) -> None:
    """An entry of the circuit table that nothing frees."""
    channel.router.circuits.add(ChannelUser())


def keep(patch: Patch, name: str, where: Callable[[Circuit], bool]) -> None:
    """What a circuit has under that name survives the end of a call, or a reset.

    where: given the circuit behind it, whether it does.
    """

    @patch.wrap(Circuit, "restart_numbers")
    def restart_numbers(original: Callable[[Circuit], None], circuit: Circuit) -> None:
        kept = vars(circuit).get(name)
        original(circuit)
        if kept is not None and where(circuit):
            setattr(circuit, name, kept)


def pass_on(patch: Patch, *types: int, states: tuple[P, ...] = (P.DATA_TRANSFER,)) -> None:
    """Packets of these types go to the other end unchanged but for the LCN."""

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        other = other_end(channel)
        if packet_type(channel, octets) in types and channel.p in states and other is not None:
            other.send(bytes((octets[0] & 0xF0 | other.lcn >> 8, other.lcn & 0xFF)) + octets[2:])
        else:
            original(channel, octets)


def without_timer(patch: Patch, *names: str) -> None:
    """These timers are never started."""

    @patch.wrap(Channel, "start_timer")
    def start_timer(original: Any, channel: Channel, name: str, *rest: Any) -> None:
        if name not in names:
            original(channel, name, *rest)


def keeps_timer(patch: Patch, kind: type[Circuit | CallSetup], method: str, name: str) -> None:
    """The method of a circuit, or of its call set-up, does not stop this timer."""

    @patch.wrap(kind, method)
    def keep(original: Any, owner: Circuit | CallSetup, *rest: Any) -> None:
        circuit = owner if isinstance(owner, Circuit) else owner.channel
        running = circuit._timers.pop(name, None)
        original(owner, *rest)
        if running is not None:
            circuit._timers[name] = running


def mark_reads(patch: Patch) -> None:
    """Channels know which TCP read a packet came in, and the read of their Call Accepted."""
    from ..connection import Connection

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        state = vars(connection.channel)
        state["read"] = state.get("read", 0) + 1
        original(connection, octets)

    @patch.wrap(CallSetup, "connected")
    def connected(original: Any, setup: CallSetup) -> None:
        channel = setup.channel
        vars(channel)["accept_read"] = vars(channel).get("read")
        original(setup)


def came_with_accept(channel: Channel) -> bool:
    """The packet that is being processed came in the same read as the Call Accepted."""
    state = vars(channel)
    return "accept_read" in state and state["accept_read"] == state.get("read")


#: Types of local significance, by name.
REGISTRATION = (Type.DIAGNOSTIC, Type.REGISTRATION, Type.REGISTRATION_CONFIRMATION)
