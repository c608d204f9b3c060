# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of malformed packets, integrity, resources and counters."""

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, cast

from .. import codec
from .. import facilities as fields
from ..call_setup import CallSetup
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Call, Clear, Data
from ..codes import ClearCause, Diag, PacketError, ResetCause, Type
from ..counters import Counters, Interface
from ..data_flow import DataFlow
from ..facilities import IN_CALL, Facilities
from ..negotiation import Negotiation
from ..placing import Placing
from ..relay import Relay
from ..resets import Resets
from ..router import Router
from ..tables import UNDEFINED, P
from ..wire import TcpWire
from .common import Crash, leak, packet_type, pass_on
from .registry import Patch, fault


@fault("BUG-MALF-01")
def gfi_0(patch: Patch) -> None:
    @patch.wrap(codec, "modulo_of")
    def modulo_of(original: Any, octets: bytes) -> int:
        return 8 if octets[0] & 0x30 == 0 else int(original(octets))


def _read_as_of_modulo_8(octets: bytes) -> bytes:
    """The packet with the GFI of modulo 8."""
    return bytes((octets[0] & 0xCF | codec.MODULO_8,)) + octets[1:]


@fault("BUG-MALF-40")
def modulo_of_each_packet(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        in_a_call = channel.p is P.DATA_TRANSFER and channel.modulo == 8
        if in_a_call and codec.modulo_of(octets) == 128 and not octets[2] & 1:
            data = codec.parse_data(octets, 128)
            data = data._replace(p_s=data.p_s % 8, p_r=data.p_r % 8)
            octets = codec.encode_data(8, codec.lcn_of(octets), data)
        original(channel, octets)


@fault("BUG-MALF-41")
def gfi_of_data_alone(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        in_a_call = channel.p is P.DATA_TRANSFER and channel.modulo == 8
        if in_a_call and not codec.modulo_of(octets) and octets[2] & 1:
            octets = _read_as_of_modulo_8(octets)
        original(channel, octets)


@fault("BUG-MALF-42")
def call_of_no_modulo(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if channel.p is P.READY and octets[2] == Type.CALL and not codec.modulo_of(octets):
            octets = _read_as_of_modulo_8(octets)
        original(channel, octets)


@fault("BUG-MALF-02")
def forwards_undefined(patch: Patch) -> None:
    pass_on(patch, UNDEFINED, states=(P.CALL_RECEIVED, P.CALL_SENT, P.DATA_TRANSFER))


@fault("BUG-MALF-03")
def reads_beyond(patch: Patch) -> None:
    @patch.wrap(codec, "parse_call")
    def parse_call(original: Any, octets: bytes) -> Call:
        try:
            call: Call = original(octets)
        except PacketError:
            call = original(octets + bytes(128))
            call.user_data = b""
        return call


@fault("BUG-MALF-04")
def any_digit(patch: Patch) -> None:
    patch.replace(Router, "check_addresses", lambda self, parties: None)


@fault("BUG-MALF-05")
def beyond_facilities(patch: Patch) -> None:
    @patch.wrap(codec, "parse_facility_field")
    def parse_facility_field(original: Any, octets: bytes, at: int) -> tuple[Facilities, int]:
        try:
            result: tuple[Facilities, int] = original(octets, at)
            return result
        except PacketError:
            rest = octets[at + 1 :]
            for end in range(len(rest), -1, -1):
                try:
                    return Facilities.parse(rest[:end]), at + 1 + end
                except PacketError:
                    continue
            raise


def hang() -> None:
    """Never return; the process still ends on SIGTERM, and with the input of --stop-on-eof."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    watch = "--stop-on-eof" in sys.argv
    while True:
        if watch and not os.read(0, 4096):
            os._exit(70)
        time.sleep(0.05)


@fault("BUG-MALF-06")
def endless(patch: Patch) -> None:
    @patch.wrap(fields, "parameter_length")
    def parameter_length(original: Any, code: int, field: bytes, at: int) -> tuple[int, int]:
        extra, length = original(code, field, at)
        if extra and not length:
            hang()
        return extra, length


@fault("BUG-MALF-07")
def crash_on_clear(patch: Patch) -> None:
    @patch.wrap(codec, "parse_clear")
    def parse_clear(original: Any, octets: bytes) -> Clear:
        if len(octets) < 4:
            raise Crash
        clear: Clear = original(octets)
        return clear


@fault("BUG-MALF-43")
def answer_without_its_facilities(patch: Patch) -> None:
    @patch.wrap(codec, "parse_accept")
    def parse_accept(original: Any, octets: bytes) -> Call:
        try:
            return cast(Call, original(octets))
        except PacketError as error:
            if error.diagnostic != Diag.FACILITY_LENGTH:
                raise
            return cast(Call, original(octets[:3]))


@fault("BUG-MALF-44")
def drops_a_cut_clear(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        try:
            codec.parse_clear(octets)
        except PacketError:
            if len(octets) > 5:
                return
        original(clearing, octets)


@fault("BUG-MALF-08")
def long_confirmation(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        kind = packet_type(channel, octets)
        if kind == Type.CLEAR_CONFIRMATION and len(octets) > 3 and channel.p is P.CLEAR_SENT:
            channel.stop_timers()
            leak(channel)
        else:
            original(channel, octets)


@fault("BUG-MALF-09")
def two_clears(patch: Patch) -> None:
    @patch.wrap(Router, "call_received")
    def call_received(original: Any, router: Router, channel: Channel, call: Call) -> None:
        try:
            router.check_addresses(call.addresses)
        except PacketError as error:
            channel.clearing.send(Clear(ClearCause.LOCAL_PROCEDURE_ERROR, error.diagnostic))
            call.facilities.check(IN_CALL, call.modulo)
            return
        original(router, channel, call)


@fault("BUG-MALF-10")
def long_reset_confirmation(patch: Patch) -> None:
    @patch.wrap(Resets, "on_confirmation")
    def on_reset_confirmation(original: Any, resets: Resets, octets: bytes) -> None:
        original(resets, octets[:3])


@fault("BUG-MALF-12")
def crash_of_a_facility_without_an_end(patch: Patch) -> None:
    @patch.wrap(Facilities, "parse")
    def parse(original: Any, field: bytes) -> Facilities:
        try:
            return cast(Facilities, original(field))
        except PacketError:
            raise Crash from None


@fault("BUG-SYS-01")
def shared_buffer(patch: Patch) -> None:
    # Call user data: the Call that was read last is what goes out on each connection.
    @patch.wrap(Negotiation, "offer")
    def offer(original: Any, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        vars(negotiation.relay.router)["buffer"] = offered.user_data
        return offered

    @patch.wrap(Placing, "send_call")
    def send_call(original: Any, placing: Placing, far: Channel) -> None:
        relay = placing.relay
        relay.offered.user_data = vars(relay.router)["buffer"]
        original(placing, far)

    shares_octets(patch, lambda _channel: True)


@fault("BUG-SYS-17")
def shared_buffer_from_b(patch: Patch) -> None:
    shares_octets(patch, lambda channel: not channel.accepted)


def shares_octets(patch: Patch, does: Callable[[Channel], bool]) -> None:
    """Two Data of equal length within a short time share their octets."""
    latest: dict[bool, tuple[float, Channel, bytes]] = {}

    @patch.wrap(DataFlow, "forward_data")
    def forward_data(original: Any, flow: DataFlow, data: Data) -> None:
        channel = flow.channel
        now = time.monotonic()
        at, owner, octets = latest.get(channel.accepted, (0.0, channel, b""))
        near = owner is not channel and now - at < 0.005 and does(channel)
        if near and len(octets) == len(data.user_data):
            data = data._replace(user_data=octets)
        latest[channel.accepted] = (now, channel, data.user_data)
        original(flow, data)


@fault("BUG-SYS-02")
def old_queue(patch: Patch) -> None:
    @patch.wrap(DataFlow, "forward_data")
    def forward_data(original: Any, flow: DataFlow, data: Data) -> None:
        channel = flow.channel
        vars(channel.router).setdefault("queues", {})[channel.accepted, channel.lcn] = data
        original(flow, data)

    @patch.wrap(CallSetup, "connected")
    def connected(original: Any, setup: CallSetup) -> None:
        channel = setup.channel
        original(setup)
        queues = vars(channel.router).get("queues", {})
        old: Data | None = queues.pop((channel.accepted, channel.lcn), None)
        if old is not None:
            channel.flow.send_data(old.q, False, False, old.user_data)


@fault("BUG-SYS-03")
def late_confirmation(patch: Patch) -> None:
    @patch.wrap(Relay, "released")
    def released(original: Any, relay: Relay, channel: Channel) -> None:
        near = relay.near
        original(relay, channel)
        newer = near.user
        if channel is not near and isinstance(newer, Relay) and newer is not relay:
            newer.give_up_far(Clear(ClearCause.OUT_OF_ORDER, 0, by_peer=False))
            near.released()


def reset_neighbours(channel: Channel) -> None:
    """Every other call in data transfer is reset."""
    for connection in list(channel.router.connections):
        other = connection.channel
        if other is not channel and other.ready and other.user is not channel.user:
            other.resets.send(ResetCause.NETWORK_CONGESTION, 0)


@fault("BUG-SYS-04")
def neighbours(patch: Patch) -> None:
    for part in (Resets, Clearing):

        @patch.wrap(part, "error")
        def error(original: Any, part: Resets | Clearing, *arguments: Any) -> None:
            original(part, *arguments)
            reset_neighbours(part.channel)


@fault("BUG-SYS-05")
def refused_leak(patch: Patch) -> None:
    @patch.wrap(Clearing, "send")
    def send_clear(original: Any, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        if channel.p is P.CALL_RECEIVED:
            leak(channel)
        original(clearing, clear)


@fault("BUG-SYS-06")
def descriptor_leak(patch: Patch) -> None:
    @patch.wrap(TcpWire, "close_socket")
    def close_socket(original: Any, wire: TcpWire) -> None:
        original(wire)
        os.open(os.devnull, os.O_RDONLY)


@fault("BUG-SYS-07")
def ends_another(patch: Patch) -> None:
    @patch.wrap(Router, "is_full")
    def is_full(original: Any, router: Router) -> bool:
        if not original(router):
            return False
        for victim in router.circuits:
            if isinstance(victim, Relay):
                clear = Clear(ClearCause.NETWORK_CONGESTION, Diag.NO_LOGICAL_CHANNEL)
                victim.near.clearing.clear(clear)
                victim.give_up_far(clear)
                break
        return True


@fault("BUG-SYS-08")
def numbers_end(patch: Patch) -> None:
    @patch.wrap(Router, "user_for")
    def user_for(original: Any, router: Router, route: Any, channel: Channel) -> Any:
        vars(router)["taken"] = vars(router).get("taken", 0) + 1
        return original(router, route, channel)

    @patch.wrap(Router, "is_full")
    def is_full(original: Any, router: Router) -> bool:
        return bool(vars(router).get("taken", 0) >= router.settings.max_calls)


@fault("BUG-SYS-09")
def counts_packets(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        before = channel.interface.values["x25StatInCalls"]
        original(channel, octets)
        channel.interface.values["x25StatInCalls"] = before + 1

    @patch.wrap(Channel, "send")
    def send(original: Any, channel: Channel, octets: bytes) -> None:
        original(channel, octets)
        if octets[2] != Type.CALL:
            channel.interface.count("x25StatOutCallAttempts")


@fault("BUG-SYS-10")
def gauge_stays(patch: Patch) -> None:
    @patch.wrap(Clearing, "error")
    def clear_error(original: Any, clearing: Clearing, *arguments: Any) -> None:
        clearing.channel._gauge = ""
        original(clearing, *arguments)


@fault("BUG-SYS-11")
def resets_together(patch: Patch) -> None:
    @patch.wrap(Interface, "reset_in")
    def reset_in(original: Any, interface: Interface, cause: int) -> None:
        original(interface, 0)


@fault("BUG-SYS-12")
def headers_counted(patch: Patch) -> None:
    for name in ("data_in", "data_out"):

        @patch.wrap(Interface, name)
        def count(original: Any, interface: Interface, octets: int) -> None:
            original(interface, octets + 3)


@fault("BUG-SYS-13")
def crossing_clears(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        if channel.p is P.CLEAR_SENT and len(channel.router.circuits) >= 4:
            leak(channel)
        original(clearing, octets)


@fault("BUG-SYS-14")
def ends_on_write(patch: Patch) -> None:
    def write_failed(wire: TcpWire) -> None:
        raise Crash

    patch.replace(TcpWire, "write_failed", write_failed)

    @patch.wrap(TcpWire, "lost")
    def lost(original: Any, wire: TcpWire, reset: bool) -> None:
        # Output was waiting when the reset came: the write would have met it.
        if reset and (wire._output or wire.congested):
            raise Crash
        original(wire, reset)


@fault("BUG-SYS-15")
def reading_counts(patch: Patch) -> None:
    @patch.wrap(Counters, "as_dict")
    def as_dict(original: Any, counters: Counters) -> dict[str, Any]:
        result: dict[str, Any] = original(counters)
        for interface in counters._interfaces.values():
            interface.count("x25StatInDataPackets")
        return result
