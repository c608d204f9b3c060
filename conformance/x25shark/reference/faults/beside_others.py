# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that show amid a sequence, beside something that is open, or with a wrong GFI."""

from typing import Any, cast

from .. import codec
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Clear
from ..codes import Diag, ResetCause, Type
from ..connection import Connection
from ..data_flow import DataFlow
from ..facilities import PACKET_SIZE, WINDOW_SIZE, Facilities, Pair
from ..framing import Framer, FramingError
from ..interrupts import Interrupts
from ..negotiation import Negotiation
from ..relay_local import Direction
from ..resets import Resets
from ..tables import D, P
from .registry import Patch, fault

_MODULO_BITS = 0x30
# Octet 3 of a REJ; in modulo 8 its upper three bits are P(R).
_REJECT = 0x09
# Octets of a stream with the packet type of its first unit.
_A_TYPE = 7


def _with_its_gfi(channel: Channel, octets: bytes) -> bytes:
    """The packet with the modulo of the circuit."""
    modulo = codec.MODULO_128 if channel.modulo == 128 else codec.MODULO_8
    return bytes((octets[0] & ~_MODULO_BITS | modulo,)) + octets[1:]


def _is_wrong(channel: Channel, octets: bytes) -> bool:
    return channel.joined is None and codec.modulo_of(octets) != channel.modulo


@fault("BUG-MALF-45")
def gfi_of_modulo_8_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        in_a_call = channel.p is P.DATA_TRANSFER and channel.modulo == 128
        without_numbers = octets[2] in (Type.INTERRUPT, Type.RESET, Type.CLEAR)
        of_modulo_8 = codec.modulo_of(octets) == 8 and _is_wrong(channel, octets)
        if in_a_call and without_numbers and of_modulo_8:
            octets = _with_its_gfi(channel, octets)
        original(channel, octets)


@fault("BUG-MALF-46")
def gfi_of_interrupt_confirmations(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        in_a_call = channel.p is P.DATA_TRANSFER and octets[2] == Type.INTERRUPT_CONFIRMATION
        if in_a_call and _is_wrong(channel, octets):
            octets = _with_its_gfi(channel, octets)
        original(channel, octets)


@fault("BUG-MALF-47")
def gfi_while_a_call_is_pending(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        pending = channel.p in (P.CALL_RECEIVED, P.CALL_SENT)
        if pending and octets[2] in (Type.ACCEPT, Type.CLEAR) and _is_wrong(channel, octets):
            octets = _with_its_gfi(channel, octets)
        original(channel, octets)


@fault("BUG-RST-50")
def no_t12_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Channel, "start_timer")
    def start_timer(original: Any, channel: Channel, name: str, *rest: Any) -> None:
        if name != "T12" or channel.modulo == 8:
            original(channel, name, *rest)


@fault("BUG-LEFT-53")
def t12_behind_a_collision_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        channel = resets.channel
        goes_on = channel.d is D.RESET_SENT and channel.modulo == 128
        original(resets, octets)
        if goes_on:
            channel.start_timer("T12", channel.settings.t12, resets.t12_expired)


@fault("BUG-DATA-53")
def an_octet_more_within_a_sequence(patch: Patch) -> None:
    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Any, flow: DataFlow, data: codec.Data) -> None:
        channel = flow.channel
        if channel.sequence_q is not None and len(data.user_data) == channel.size_in + 1:
            data = data._replace(user_data=data.user_data[:-1])
        original(flow, data)


@fault("BUG-DATA-54")
def q_from_1_to_0(patch: Patch) -> None:
    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Any, flow: DataFlow, data: codec.Data) -> None:
        if flow.channel.sequence_q and not data.q:
            data = data._replace(q=True)
        original(flow, data)


@fault("BUG-DATA-55")
def last_number_once_more(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        channel = flow.channel
        repeated = codec.parse_data(octets, channel.modulo).p_s == channel.modulo - 1
        if channel.v_r or not repeated or channel.modulo == 8:
            original(flow, octets)


@fault("BUG-DBIT-26")
def p_r_of_a_second_rnr(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        channel = flow.channel
        if channel.peer_busy and packet_type == Type.RNR:
            last = channel.p_r_received
            octets = codec.encode_flow(channel.modulo, channel.lcn, packet_type, last)
        original(flow, packet_type, octets)


def _is_no_delivery(direction: Direction) -> None:
    """The last packet of the source is dealt with once it was sent."""
    if direction.owed:
        last, _ = direction.owed.pop()
        direction.owed.append((last, False))
        direction.settle()


@fault("BUG-DBIT-27")
def last_of_a_large_window(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, packet: codec.Data) -> None:
        original(direction, packet)
        sink = direction.sink
        count = (sink.v_s - sink.p_r_received) % sink.modulo
        if packet.d and count > 2 and not sink.window_open() and not direction.queue:
            _is_no_delivery(direction)


@fault("BUG-DBIT-28")
def of_a_busy_sender(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, packet: codec.Data) -> None:
        original(direction, packet)
        if packet.d and direction.source.peer_busy:
            _is_no_delivery(direction)


@fault("BUG-INT-18")
def second_interrupt_behind_data(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_interrupt")
    def on_interrupt(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        channel = interrupts.channel
        if channel.interrupt_in and channel.v_r != vars(interrupts).get("v_r", channel.v_r):
            return
        vars(interrupts)["v_r"] = channel.v_r
        original(interrupts, octets)


@fault("BUG-INT-19")
def longest_interrupts_that_cross(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_interrupt")
    def on_interrupt(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        longest = len(octets) == 3 + codec.INTERRUPT_LONGEST
        if interrupts.channel.interrupt_out and longest:
            octets = octets[:-1]
        original(interrupts, octets)


@fault("BUG-INT-20")
def longest_interrupts_to_a_busy_side(patch: Patch) -> None:
    @patch.wrap(Interrupts, "send")
    def send(original: Any, interrupts: Interrupts, user_data: bytes) -> None:
        longest = len(user_data) == codec.INTERRUPT_LONGEST
        cut = interrupts.channel.peer_busy and longest
        original(interrupts, user_data[:-1] if cut else user_data)


@fault("BUG-INT-21")
def a_busy_side_has_none_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(Interrupts, "send")
    def send(original: Any, interrupts: Interrupts, user_data: bytes) -> None:
        channel = interrupts.channel
        if channel.modulo == 128 and channel.peer_busy:
            vars(channel)["held"] = user_data
        else:
            original(interrupts, user_data)

    @patch.wrap(DataFlow, "on_flow")
    def on_flow(original: Any, flow: DataFlow, packet_type: int, octets: bytes) -> None:
        original(flow, packet_type, octets)
        channel = flow.channel
        if not channel.peer_busy and "held" in vars(channel):
            channel.interrupts.send(vars(channel).pop("held"))

    @patch.wrap(Channel, "restart_numbers")
    def restart_numbers(original: Any, channel: Channel) -> None:
        vars(channel).pop("held", None)
        original(channel)


@fault("BUG-XOT-178")
def first_bit_of_the_version(patch: Patch) -> None:
    patch.replace(Framer, "version_is_legal", lambda _framer, version: version & 0x7FFF == 0)


@fault("BUG-XOT-176")
def reject_within_a_sequence(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        is_reject = octets[2] & 0x1F == _REJECT
        if channel.joined is None and is_reject and channel.sequence_q is not None:
            channel.resets.error(Diag.UNIDENTIFIABLE)
        else:
            original(channel, octets)


@fault("BUG-XOT-177")
def restart_beside_an_interrupt(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if channel.joined is None and octets[2] == Type.RESTART and channel.interrupt_in:
            channel.resets.error(Diag.UNIDENTIFIABLE)
        else:
            original(channel, octets)


@fault("BUG-MOD-49")
def unit_of_256_octets(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        if flow.channel.modulo == 128 and len(octets) == 0x100:
            octets = octets[:-1]
        original(flow, octets)


@fault("BUG-MOD-50")
def reset_without_diagnostic(patch: Patch) -> None:
    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        if resets.channel.modulo == 128 and len(octets) == 4:
            octets = octets[:3] + b"\0"
        original(resets, octets)


@fault("BUG-XOT-179")
def clear_behind_the_end_of_a_pending_call(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if channel.p is P.CALL_SENT and octets[2:3] == bytes((Type.CLEAR,)):
            # Behind a close that was read meanwhile the timers of the channel are stopped.
            channel.start_timer("refused", 0.02, lambda: original(channel, octets))
        else:
            original(channel, octets)


@fault("BUG-FAC-61")
def values_behind_the_marker(patch: Patch) -> None:
    @patch.wrap(Negotiation, "put_pairs")
    def put_pairs(
        original: Any, negotiation: Negotiation, call: codec.Call, size: Pair, window: Pair
    ) -> None:
        named = {item.code for item in call.facilities.items} & {PACKET_SIZE, WINDOW_SIZE}
        if named or not call.facilities.marked:
            original(negotiation, call, size, window)
            return
        added = Facilities()
        added.put_pair(PACKET_SIZE, size)
        added.put_pair(WINDOW_SIZE, window)
        call.facilities.marked += added.encode()


@fault("BUG-DBIT-29")
def parts_counted_modulo_8(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, packet: codec.Data) -> None:
        before = direction.made
        original(direction, packet)
        parts = direction.made - before
        if packet.d and parts >= 8 and direction.owed:
            _, d = direction.owed.pop()
            direction.owed.append((before + parts % 8, d))
            direction.settle()


@fault("BUG-SEG-31")
def parts_behind_a_reset(patch: Patch) -> None:
    @patch.wrap(Direction, "clear")
    def clear(original: Any, direction: Direction) -> None:
        waiting = list(direction.queue)
        original(direction)
        if direction.segmenter.size_in > direction.segmenter.size_out:
            direction.queue.extend(waiting)
            direction.made = len(waiting)


@fault("BUG-XOT-180")
def setup_in_one_read(patch: Patch) -> None:
    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        vars(connection).setdefault("first", octets)
        original(connection, octets)

    @patch.wrap(Connection, "channel_for")
    def channel_for(original: Any, connection: Connection, packet: bytes) -> Channel:
        if packet[2:3] == bytes((Type.PVC_SETUP,)) and len(vars(connection)["first"]) < _A_TYPE:
            raise FramingError
        return cast(Channel, original(connection, packet))


@fault("BUG-RST-51")
def t12_behind_a_clear(patch: Patch) -> None:
    @patch.wrap(Clearing, "send")
    def send(original: Any, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        goes_on = channel.p is P.DATA_TRANSFER and channel.d is D.RESET_SENT
        original(clearing, clear)
        if goes_on:
            resets = channel.resets
            channel.start_timer(
                "T12",
                channel.settings.t12,
                lambda: resets.emit(ResetCause.LOCAL_PROCEDURE_ERROR, Diag.TIME_RESET),
            )
