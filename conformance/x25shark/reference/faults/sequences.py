# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of packets that are split or joined, several at a time or beside the other direction."""

from typing import Any

from .. import codec
from ..channel import Channel
from ..codec import Clear
from ..codes import Type
from ..relay import Relay
from ..relay_local import Direction, LocalRelay, Segment, Segmenter
from .registry import Patch, fault


@fault("BUG-SEG-32")
def joined_with_the_next_call(patch: Patch) -> None:
    left: dict[int, bytearray] = {}

    @patch.wrap(LocalRelay, "direction")
    def direction(original: Any, relay: LocalRelay, source: Channel, sink: Channel) -> Direction:
        new: Direction = original(relay, source, sink)
        new.segmenter._waiting += left.pop(id(relay.router), b"")
        return new

    @patch.wrap(LocalRelay, "cleared")
    def cleared(original: Any, relay: LocalRelay, channel: Channel, clear: Clear) -> None:
        for one in (relay.directions or {}).values():
            if one.segmenter.waiting:
                left[id(relay.router)] = bytearray(one.segmenter._waiting)
        original(relay, channel, clear)


@fault("BUG-SEG-33")
def q_of_the_first_part_alone(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, packet: codec.Data) -> None:
        made = len(direction.queue)
        if direction.sink.modulo == 128 and packet.q:
            parts = direction.segmenter.feed(packet)
            direction.queue.extend(one._replace(q=at == 0) for at, one in enumerate(parts))
            direction.made += len(direction.queue) - made
            direction.owed.append((direction.made, packet.d and direction.delivery))
            direction.pump()
        else:
            original(direction, packet)


@fault("BUG-SEG-34")
def joined_until_the_other_direction_speaks(patch: Patch) -> None:
    @patch.wrap(LocalRelay, "data_received")
    def data_received(
        original: Any, relay: LocalRelay, channel: Channel, packet: codec.Data
    ) -> None:
        for source, one in (relay.directions or {}).items():
            if source is not channel and one.segmenter.waiting:
                waiting = bytes(one.segmenter._waiting)
                one.segmenter.clear()
                one.queue.append(Segment(packet.q, False, True, waiting))
                one.made += 1
                one.pump()
        original(relay, channel, packet)


@fault("BUG-SEG-35")
def joined_until_rr_of_modulo_128(patch: Patch) -> None:
    @patch.wrap(LocalRelay, "flow_received")
    def flow_received(
        original: Any, relay: LocalRelay, channel: Channel, packet_type: int, p_r: int
    ) -> None:
        open_one = (relay.directions or {}).get(channel)
        if channel.modulo == 128 and open_one is not None and packet_type == Type.RR:
            open_one.segmenter.clear()
        original(relay, channel, packet_type, p_r)


@fault("BUG-DBIT-30")
def one_open_packet_with_d(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, packet: codec.Data) -> None:
        original(direction, packet)
        if packet.d and _splits(direction.segmenter):
            last = direction.made
            direction.owed = type(direction.owed)((last, d) for _, d in direction.owed)


@fault("BUG-DBIT-31")
def all_that_was_joined_with_d(patch: Patch) -> None:
    @patch.wrap(Direction, "acknowledged")
    def acknowledged(original: Any, direction: Direction, count: int) -> None:
        if not _splits(direction.segmenter) and direction.sink.size_out > direction.source.size_in:
            count = max(count, direction.sent - direction.confirmed)
        original(direction, count)


def _splits(segmenter: Segmenter) -> bool:
    return segmenter.size_in > segmenter.size_out


@fault("BUG-DBIT-32")
def to_be_confirmed_behind_an_error(patch: Patch) -> None:
    @patch.wrap(Relay, "reset_by_error")
    def reset_by_error(
        original: Any, relay: Relay, channel: Channel, cause: int, diagnostic: int
    ) -> None:
        directions = relay.directions if isinstance(relay, LocalRelay) else None
        waiting = [(one, [d for _, d in one.owed if d]) for one in (directions or {}).values()]
        original(relay, channel, cause, diagnostic)
        for one, kept in waiting:
            one.owed.extend((1, d) for d in kept)
