# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of data transfer, of re-segmentation, of the D bit and of modulo 128."""

from collections.abc import Callable
from typing import Any

from .. import codec
from ..channel import Channel
from ..codec import Data
from ..codes import Diag, PacketError, Type
from ..data_flow import DataFlow
from ..negotiation import Negotiation
from ..relay_endtoend import EndToEndRelay
from ..relay_local import Direction, Segment, Segmenter
from .common import came_with_accept, mark_reads
from .registry import Patch, fault

# Packets of so many octets have a length that takes more than one octet.
_LARGE = 256


def change_data(patch: Patch, change: Any) -> None:
    """Change each Data packet that the router sends."""

    @patch.wrap(DataFlow, "forward_data")
    def forward_data(original: Any, flow: DataFlow, data: Data) -> None:
        original(flow, change(flow.channel, data))


def tolerate(patch: Patch, diagnostic: int) -> None:
    """One check of Data packets is missing."""

    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Any, flow: DataFlow, data: Data) -> None:
        try:
            original(flow, data)
        except PacketError as error:
            if error.diagnostic != diagnostic:
                raise


@fault("BUG-DATA-01")
def drops_q(patch: Patch) -> None:
    change_data(patch, lambda channel, data: data._replace(q=False))


@fault("BUG-DATA-02")
def first_q(patch: Patch) -> None:
    def change(channel: Channel, data: Data) -> Data:
        state: dict[str, Any] = vars(channel)
        return data._replace(q=state.setdefault("first_q", data.q))

    change_data(patch, change)


@fault("BUG-DATA-03")
def any_p_s(patch: Patch) -> None:
    def p_s_is_valid(channel: Channel, p_s: int) -> bool:
        channel.v_r = p_s
        return True

    patch.replace(Channel, "p_s_is_valid", p_s_is_valid)


@fault("BUG-DATA-12")
def no_window(patch: Patch) -> None:
    patch.replace(Channel, "p_s_is_valid", lambda channel, p_s: p_s == channel.v_r)


@fault("BUG-DATA-04")
def wraps_at_7(patch: Patch) -> None:
    def change(channel: Channel, data: Data) -> Data:
        return data._replace(p_s=data.p_s % 7) if channel.modulo == 8 else data

    change_data(patch, change)


@fault("BUG-DATA-05")
def p_r_in_data(patch: Patch) -> None:
    tolerate(patch, Diag.INVALID_P_R)
    ignore_invalid_p_r(patch)


def ignore_invalid_p_r(patch: Patch) -> None:
    """An invalid P(R) does not rotate the window."""

    @patch.wrap(DataFlow, "take_p_r")
    def take_p_r(original: Any, flow: DataFlow, p_r: int) -> None:
        channel = flow.channel
        if channel.p_r_received != p_r and Channel.p_r_is_valid(channel, p_r):
            original(flow, p_r)


@fault("BUG-DATA-06")
def p_r_of_data_ignored(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        channel = flow.channel
        vars(channel)["in_data"] = True
        try:
            original(flow, octets)
        finally:
            vars(channel)["in_data"] = False

    @patch.wrap(DataFlow, "take_p_r")
    def take_p_r(original: Any, flow: DataFlow, p_r: int) -> None:
        if not vars(flow.channel).get("in_data"):
            original(flow, p_r)


@fault("BUG-DATA-07")
def no_wrap(patch: Patch) -> None:
    @patch.wrap(DataFlow, "take_p_r")
    def take_p_r(original: Any, flow: DataFlow, p_r: int) -> None:
        if p_r >= flow.channel.p_r_received:
            original(flow, p_r)


@fault("BUG-DATA-08")
def drops_under_load(patch: Patch) -> None:
    patch.replace(Direction, "is_settled", lambda self, last_segment, d: True)

    @patch.wrap(Direction, "data")
    def data_(original: Any, direction: Direction, data: Data) -> None:
        if len(direction.queue) < 2:
            original(direction, data)
        else:
            direction.source.flow.acknowledge(1)


@fault("BUG-DATA-09")
def data_with_accept(patch: Patch) -> None:
    mark_reads(patch)

    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        channel = flow.channel
        if came_with_accept(channel):
            channel.discard()
        else:
            original(flow, octets)


@fault("BUG-DATA-10")
def any_size(patch: Patch) -> None:
    tolerate(patch, Diag.TOO_LONG)


@fault("BUG-DATA-11")
def text_mode(patch: Patch) -> None:
    change_data(
        patch,
        lambda channel, data: data._replace(user_data=data.user_data.replace(b"\r", b"\n")),
    )


@fault("BUG-SEG-01")
def clears_m(patch: Patch) -> None:
    change_data(patch, lambda channel, data: data._replace(m=False))


def change_segments(patch: Patch, change: Any) -> None:
    """Change what the segmenter makes of a packet."""

    @patch.wrap(Segmenter, "feed")
    def feed(original: Any, segmenter: Segmenter, data: Data) -> list[Segment]:
        segments: list[Segment] = change(segmenter, data, original(segmenter, data))
        return segments


@fault("BUG-SEG-02")
def m_on_last(patch: Patch) -> None:
    def change(segmenter: Segmenter, data: Data, parts: list[Segment]) -> list[Segment]:
        return [part._replace(m=True) for part in parts] if len(parts) > 1 else parts

    change_segments(patch, change)


@fault("BUG-SEG-03")
def joins_b(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data_(original: Any, direction: Direction, data: Data) -> None:
        state = vars(direction)
        held: Data | None = state.pop("held", None)
        if held is not None:
            state.pop("timer").cancel()
            direction.source.flow.acknowledge(1)
            data = data._replace(user_data=held.user_data + data.user_data)
        elif not data.m and not data.d and len(data.user_data) < direction.source.size_in:

            def release() -> None:
                original(direction, state.pop("held"))
                direction.source.router.flush()

            state["held"] = data
            state["timer"] = direction.source.router.timers.start(0.1, release)
            return
        original(direction, data)


@fault("BUG-SEG-04")
def empty_tail(patch: Patch) -> None:
    def change(segmenter: Segmenter, data: Data, parts: list[Segment]) -> list[Segment]:
        if not parts or parts[-1].m or len(parts[-1].user_data) != segmenter.size_out:
            return parts
        last = parts[-1]
        return [*parts[:-1], last._replace(d=False, m=True), last._replace(user_data=b"")]

    change_segments(patch, change)


@fault("BUG-SEG-05")
def collects(patch: Patch) -> None:
    def feed(segmenter: Segmenter, data: Data) -> list[Segment]:
        kept: list[Segment] = vars(segmenter).setdefault("kept", [])
        kept += make(segmenter, data)
        if segmenter.joins_next(data):
            return []
        complete, vars(segmenter)["kept"] = kept, []
        return complete

    make = Segmenter.feed
    patch.replace(Segmenter, "feed", feed)

    # In the end-to-end model the same packets are held until the sequence is complete.
    @patch.wrap(EndToEndRelay, "data_received")
    def data_received(original: Any, relay: EndToEndRelay, channel: Channel, data: Data) -> None:
        kept: list[Data] = vars(channel).setdefault("kept", [])
        kept.append(data)
        if data.m and not data.d and len(data.user_data) == channel.size_in:
            channel.flow.forward_flow(Type.RR, (data.p_s + 1) % channel.modulo)
            return
        vars(channel)["kept"] = []
        for one in kept:
            original(relay, channel, one)


@fault("BUG-SEG-06")
def p_r_untouched(patch: Patch) -> None:
    patch.replace(Direction, "settle", lambda self: None)

    @patch.wrap(Direction, "acknowledged")
    def acknowledged(original: Any, direction: Direction, count: int) -> None:
        original(direction, count)
        direction.source.flow.forward_flow(
            Type.RR, direction.sink.p_r_received % direction.source.modulo
        )


@fault("BUG-SEG-07")
def above_size(patch: Patch) -> None:
    @patch.wrap(Segmenter, "__init__")
    def init(original: Any, segmenter: Segmenter, size_in: int, size_out: int) -> None:
        original(segmenter, size_in, max(size_in, size_out))


@fault("BUG-SEG-08")
def q_on_first(patch: Patch) -> None:
    def change(segmenter: Segmenter, data: Data, parts: list[Segment]) -> list[Segment]:
        return [part._replace(q=part.q and at == 0) for at, part in enumerate(parts)]

    change_segments(patch, change)


@fault("BUG-SEG-09")
def d_on_every(patch: Patch) -> None:
    def change(segmenter: Segmenter, data: Data, parts: list[Segment]) -> list[Segment]:
        return [part._replace(d=data.d) for part in parts]

    change_segments(patch, change)


@fault("BUG-SEG-10")
def keeps_half(patch: Patch) -> None:
    patch.replace(Segmenter, "clear", lambda self: None)


@fault("BUG-SEG-11")
def window_ignored(patch: Patch) -> None:
    @patch.wrap(Direction, "pump")
    def pump(original: Any, direction: Direction) -> None:
        original(direction)
        # The rest of a packet of which a part has gone out goes out at once.
        while direction.queue and direction.sink.ready and direction.owed:
            first = direction.owed[0][0]
            if direction.sent >= first or direction.sink.v_s in (None, 127):
                break
            segment = direction.queue.popleft()
            direction.sent += 1
            direction.sink.flow.send_data(*segment)
        direction.settle()


@fault("BUG-DBIT-01")
def local_d(patch: Patch) -> None:
    @patch.wrap(Direction, "is_settled")
    def is_settled(original: Any, direction: Direction, last_segment: int, d: bool) -> bool:
        return bool(original(direction, last_segment, False))

    @patch.wrap(EndToEndRelay, "data_received")
    def data_received(original: Any, relay: EndToEndRelay, channel: Channel, data: Data) -> None:
        original(relay, channel, data)
        if data.d:
            channel.flow.forward_flow(Type.RR, (data.p_s + 1) % channel.modulo)


@fault("BUG-DBIT-02")
def clears_d(patch: Patch) -> None:
    change_data(patch, lambda channel, data: data._replace(d=False))


@fault("BUG-DBIT-03")
def first_part(patch: Patch) -> None:
    def data_(direction: Direction, data: Data) -> None:
        segments = direction.segmenter.feed(data)
        direction.queue.extend(segments)
        direction.owed.append((direction.made + 1, data.d and direction.delivery))
        direction.made += len(segments)
        direction.pump()

    patch.replace(Direction, "data", data_)


@fault("BUG-DBIT-04")
def half_supported(patch: Patch) -> None:
    local_d(patch)

    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Any, flow: DataFlow, data: Data) -> None:
        original(flow, data._replace(d=False))


@fault("BUG-DBIT-24")
def clears_d_at_the_wrap(patch: Patch) -> None:
    change_data(patch, lambda channel, data: data._replace(d=data.d and data.p_s != 7))


@fault("BUG-DBIT-23")
def local_at_the_end_of_a_sequence(patch: Patch) -> None:
    def is_behind_m(state: dict[str, Any], data: Data) -> bool:
        before, state["m_before"] = state.get("m_before", False), data.m
        return before and data.d

    @patch.wrap(Direction, "data")
    def data_(original: Any, direction: Direction, data: Data) -> None:
        behind_m = is_behind_m(vars(direction), data)
        original(direction, data)
        if behind_m and direction.owed:
            direction.owed[-1] = (direction.made, False)
            direction.settle()

    @patch.wrap(EndToEndRelay, "data_received")
    def data_received(original: Any, relay: EndToEndRelay, channel: Channel, data: Data) -> None:
        behind_m = is_behind_m(vars(channel), data)
        original(relay, channel, data)
        if behind_m:
            channel.flow.forward_flow(Type.RR, (data.p_s + 1) % channel.modulo)


@fault("BUG-MOD-01")
def always_8(patch: Patch) -> None:
    @patch.wrap(codec, "modulo_of")
    def modulo_of(original: Any, octets: bytes) -> int:
        return 8 if original(octets) else 0


@fault("BUG-MOD-02")
def three_bits(patch: Patch) -> None:
    @patch.wrap(codec, "encode_data")
    def encode_data(original: Any, modulo: int, lcn: int, data: Data) -> bytes:
        octets: bytes = original(modulo, lcn, data._replace(p_s=data.p_s & 7))
        return octets


@fault("BUG-MOD-03")
def m_from_bit_5(patch: Patch) -> None:
    @patch.wrap(codec, "parse_data")
    def parse_data(original: Any, octets: bytes, modulo: int) -> Data:
        data: Data = original(octets, modulo)
        return data._replace(m=octets[2] & 0x10 != 0)


@fault("BUG-MOD-04")
def wide_window(patch: Patch) -> None:
    @patch.wrap(Negotiation, "far_values")
    def far_values(original: Any, negotiation: Negotiation, modulo: int) -> Any:
        relay = negotiation.relay
        size, window = original(negotiation, modulo)
        return size, relay.near_window if modulo != relay.call.modulo else window


@fault("BUG-SEG-12")
def m_lost_with_d(patch: Patch) -> None:
    @patch.wrap(Segmenter, "more_after")
    def more_after(original: Any, segmenter: Segmenter, data: Data) -> bool:
        return data.m and len(data.user_data) == segmenter.size_in


@fault("BUG-SEG-13")
def empty_end_lost(patch: Patch) -> None:
    @patch.wrap(Segmenter, "feed")
    def feed(original: Any, segmenter: Segmenter, data: Data) -> list[Segment]:
        state = vars(segmenter)
        before, state["more"] = state.get("more"), data.m
        lost = before and not data.m and not data.user_data and not segmenter.waiting
        return [] if lost else original(segmenter, data)


@fault("BUG-SEG-22")
def no_empty_end_behind_two(patch: Patch) -> None:
    @patch.wrap(Segmenter, "feed")
    def feed(original: Any, segmenter: Segmenter, data: Data) -> list[Segment]:
        state = vars(segmenter)
        before = state.get("full", 0)
        state["full"] = before + 1 if segmenter.joins_next(data) else 0
        empty = not data.m and not data.user_data and not segmenter.waiting
        return [] if before >= 2 and empty else original(segmenter, data)

    @patch.wrap(Segmenter, "clear")
    def clear(original: Any, segmenter: Segmenter) -> None:
        vars(segmenter).pop("full", None)
        original(segmenter)


@fault("BUG-SEG-14")
def full_at_the_other_side(patch: Patch) -> None:
    @patch.wrap(Segmenter, "more_after")
    def more_after(original: Any, segmenter: Segmenter, data: Data) -> bool:
        return data.m and (data.d or len(data.user_data) == segmenter.size_out)


def _full_but_one(patch: Patch, where: Callable[[Segmenter], bool]) -> None:
    """A packet that lacks one octet counts as full, where the function says so."""

    def enough(segmenter: Segmenter, data: Data) -> Data:
        lacks_one = len(data.user_data) == segmenter.size_in - 1
        if lacks_one and where(segmenter):
            return data._replace(user_data=bytes(segmenter.size_in))
        return data

    for name in ("joins_next", "more_after"):

        @patch.wrap(Segmenter, name)
        def ask(original: Any, segmenter: Segmenter, data: Data) -> bool:
            return bool(original(segmenter, enough(segmenter, data)))


@fault("BUG-SEG-19")
def full_but_one_where_large(patch: Patch) -> None:
    _full_but_one(patch, lambda segmenter: segmenter.size_in >= _LARGE)


@fault("BUG-SEG-20")
def full_but_one_where_smaller(patch: Patch) -> None:
    _full_but_one(patch, lambda segmenter: segmenter.size_in < segmenter.size_out)


@fault("BUG-SEG-21")
def no_more_behind_one_octet_less(patch: Patch) -> None:
    @patch.wrap(Segmenter, "more_after")
    def more_after(original: Any, segmenter: Segmenter, data: Data) -> bool:
        lacks_one = len(data.user_data) == segmenter.size_in - 1
        return bool(original(segmenter, data)) and not (data.d and lacks_one)


@fault("BUG-SEG-15")
def q_behind_a_part(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        original(flow, octets)
        data = codec.parse_data(octets, flow.channel.modulo)
        flow.channel.sequence_q = data.q if data.m and not data.d else None


@fault("BUG-DATA-13")
def p_r_of_data_128_ignored(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        if flow.channel.modulo == 128:
            vars(flow)["take_p_r"] = lambda p_r: None
        try:
            original(flow, octets)
        finally:
            vars(flow).pop("take_p_r", None)
