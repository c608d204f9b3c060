# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the counters that every interface has (those of a line are in line.py)."""

from typing import Any

from .. import codec
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Clear
from ..codes import Type
from ..connection import Connection
from ..counters import Counters, Interface
from ..data_flow import DataFlow
from ..pvc import PvcEnd
from ..relay_splice import SpliceRelay
from ..resets import Resets
from ..tables import P
from .registry import Patch, fault


@fault("BUG-MIB-01")
def not_counted(patch: Patch) -> None:
    left_out = {"x25StatInCallRefusals", "x25StatInAccusedOfProtocolErrors"}

    @patch.wrap(Interface, "count")
    def count(original: Any, interface: Interface, name: str, step: int = 1) -> None:
        original(interface, name, 0 if name in left_out else step)


@fault("BUG-MIB-02")
def interrupts_as_sent(patch: Patch) -> None:
    @patch.wrap(Interface, "count")
    def count(original: Any, interface: Interface, name: str, step: int = 1) -> None:
        original(interface, name.replace("InInterrupts", "OutInterrupts"), step)


@fault("BUG-MIB-03")
def all_of_the_network(patch: Patch) -> None:
    @patch.wrap(Interface, "clear_in")
    def clear_in(original: Any, interface: Interface, cause: int) -> None:
        before = interface.values["x25StatInProviderInitiatedClears"]
        original(interface, cause)
        interface.values["x25StatInProviderInitiatedClears"] = before + 1


@fault("BUG-MIB-04")
def exchanged(patch: Patch) -> None:
    @patch.wrap(Counters, "circuit_cleared")
    def circuit_cleared(
        original: Any, counters: Counters, called: str, calling: str, cause: int, diagnostic: int
    ) -> None:
        original(counters, called, calling, diagnostic, cause)


@fault("BUG-MIB-05")
def every_third(patch: Patch) -> None:
    for name in ("data_in", "data_out"):

        @patch.wrap(Interface, name)
        def count(original: Any, interface: Interface, octets: int) -> None:
            seen = vars(interface)["data_seen"] = vars(interface).get("data_seen", 0) + 1
            if seen % 3:
                original(interface, octets)


@fault("BUG-MIB-06")
def no_counters(patch: Patch) -> None:
    @patch.wrap(Interface, "as_dict")
    def as_dict(original: Any, interface: Interface) -> dict[str, Any]:
        page: dict[str, Any] = original(interface)
        calls = ("x25StatInCalls", "x25StatOutCallAttempts", "x25StatOutCallFailures")
        return {name: value for name, value in page.items() if name not in calls}


@fault("BUG-MIB-07")
def private_clears(patch: Patch) -> None:
    @patch.wrap(Interface, "clear_in")
    def clear_in(original: Any, interface: Interface, cause: int) -> None:
        original(interface, cause)
        if cause >= 0x80:
            interface.count("x25StatInProviderInitiatedClears")


@fault("BUG-MIB-08")
def private_resets(patch: Patch) -> None:
    @patch.wrap(Interface, "reset_in")
    def reset_in(original: Any, interface: Interface, cause: int) -> None:
        original(interface, cause)
        if cause >= 0x80:
            interface.count("x25StatInProviderInitiatedResets")
            interface.count("x25StatInRemotelyInitiatedResets", -1)


@fault("BUG-MIB-09")
def seven_bits_of_a_cause(patch: Patch) -> None:
    @patch.wrap(Interface, "clear_in")
    def clear_in(original: Any, interface: Interface, cause: int) -> None:
        original(interface, cause)
        interface.clears_in[cause] -= 1
        interface.clears_in[cause & 0x7F] += 1


def _uncounted(patch: Patch, bits: int, octet: int, *names: str) -> None:
    """Data with one of these bits in this octet of the packet do not move the counters."""

    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        values = flow.channel.interface.values
        before = {name: values[name] for name in names}
        original(flow, octets)
        if octets[octet] & bits:
            values.update(before)


@fault("BUG-MIB-10")
def more_data(patch: Patch) -> None:
    _uncounted(patch, 0x10, 2, "x25StatInDataPackets", "x25CircuitInPdus")


@fault("BUG-MIB-11")
def qualified_data(patch: Patch) -> None:
    _uncounted(patch, 0x80, 0, "x25CircuitInOctets")


@fault("BUG-MIB-12")
def seven_bits_of_a_length(patch: Patch) -> None:
    @patch.wrap(Interface, "data_out")
    def data_out(original: Any, interface: Interface, octets: int) -> None:
        original(interface, min(octets, 127))


@fault("BUG-MIB-13")
def gauge_of_the_lost(patch: Patch) -> None:
    @patch.wrap(Channel, "connection_lost")
    def connection_lost(original: Any, channel: Channel) -> None:
        channel._gauge = ""
        original(channel)


@fault("BUG-MIB-14")
def resets_twice(patch: Patch) -> None:
    @patch.wrap(Resets, "emit")
    def emit_reset(original: Any, resets: Resets, cause: int, diagnostic: int) -> None:
        original(resets, cause, diagnostic)
        resets.channel.interface.resets_out[cause] += 1


@fault("BUG-MIB-15")
def one_octet_of_a_length(patch: Patch) -> None:
    @patch.wrap(Interface, "data_in")
    def data_in(original: Any, interface: Interface, octets: int) -> None:
        original(interface, octets & 0xFF)


@fault("BUG-MIB-16")
def clears_as_refusals(patch: Patch) -> None:
    @patch.wrap(Clearing, "send")
    def send_clear(original: Any, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        if channel.p is P.DATA_TRANSFER and channel.accepted:
            channel.interface.count("x25StatInCallRefusals")
        original(clearing, clear)


@fault("BUG-MIB-17")
def segments(patch: Patch) -> None:
    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        values = connection.channel.interface.values
        before = values["xotInUnits"]
        original(connection, octets)
        values["xotInUnits"] = min(values["xotInUnits"], before + 1)


@fault("BUG-MIB-18")
def header_octet(patch: Patch) -> None:
    @patch.wrap(SpliceRelay, "count")
    def count(
        original: Any,
        relay: SpliceRelay,
        channel: Channel,
        other: Channel,
        packet_type: int,
        octets: bytes,
    ) -> None:
        more = channel.modulo == 128 and packet_type == Type.DATA
        original(relay, channel, other, packet_type, octets + b"\0" * more)


@fault("BUG-MIB-22")
def not_ready_as_ready(patch: Patch) -> None:
    @patch.wrap(codec, "kind_of")
    def kind_of(original: Any, octets: bytes) -> str:
        kind: str = original(octets)
        return "RR" if kind == "RNR" else kind


@fault("BUG-MIB-23")
def ready_of_modulo_128(patch: Patch) -> None:
    @patch.wrap(codec, "kind_of")
    def kind_of(original: Any, octets: bytes) -> str:
        kind: str = original(octets)
        return codec.UNDEFINED if kind == "RR" and codec.modulo_of(octets) == 128 else kind


@fault("BUG-MIB-24")
def confirmations_as_interrupts(patch: Patch) -> None:
    @patch.wrap(codec, "kind_of")
    def kind_of(original: Any, octets: bytes) -> str:
        return str(original(octets)).replace("INTERRUPT_CONFIRMATION", "INTERRUPT")


def _without(patch: Patch, way: str, kind: str, called: bool = False) -> None:
    """Packets of a type are not counted; called: at the side that is called alone."""

    @patch.wrap(Channel, way)
    def pass_packet(original: Any, channel: Channel, octets: bytes) -> None:
        counts = getattr(channel.interface, {"receive": "packets_in", "send": "packets_out"}[way])
        if codec.kind_of(octets) == kind and not (called and channel.accepted):
            counts[kind] -= 1
        original(channel, octets)


@fault("BUG-MIB-25")
def reset_confirmations_out(patch: Patch) -> None:
    _without(patch, "send", "RESET_CONFIRMATION")


@fault("BUG-MIB-26")
def clear_confirmations_of_the_called(patch: Patch) -> None:
    _without(patch, "receive", "CLEAR_CONFIRMATION", called=True)


@fault("BUG-MIB-27")
def gauge_of_the_refused(patch: Patch) -> None:
    @patch.wrap(Clearing, "send")
    def send_clear(original: Any, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        if channel.p is P.CALL_RECEIVED and not clear.by_peer:
            channel._gauge = ""
        original(clearing, clear)


@fault("BUG-MIB-28")
def gauge_of_the_called(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        if channel.p is P.CALL_SENT:
            channel._gauge = ""
        original(clearing, octets)


@fault("BUG-MIB-29")
def gauge_of_a_call_lost(patch: Patch) -> None:
    @patch.wrap(Channel, "connection_lost")
    def connection_lost(original: Any, channel: Channel) -> None:
        if channel.p is P.CALL_SENT:
            channel._gauge = ""
        original(channel)


@fault("BUG-MIB-30")
def gauge_of_circuits(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "cleared")
    def cleared(original: Any, end: PvcEnd, channel: Channel, clear: Clear) -> None:
        if channel is end.channel:
            channel._gauge = ""
        original(end, channel, clear)


@fault("BUG-SYS-18")
def higher_causes(patch: Patch) -> None:
    @patch.wrap(Interface, "clear_in")
    def clear_in(original: Any, interface: Interface, cause: int) -> None:
        before = interface.values["x25StatInProviderInitiatedClears"]
        original(interface, cause)
        if cause > 0x20:
            interface.values["x25StatInProviderInitiatedClears"] = before


@fault("BUG-SYS-19")
def clears_of_the_calling_side(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        values = channel.interface.values
        before = values["x25StatInProviderInitiatedClears"]
        original(clearing, octets)
        if channel.accepted:
            values["x25StatInProviderInitiatedClears"] = before
