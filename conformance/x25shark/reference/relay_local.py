# SPDX-License-Identifier: GPL-2.0-or-later
"""Relay model 'local': each side has its own numbers, window and packet size (RFC 1613 6.2).

Data is re-segmented under the rules of X.25 4.3.4 and 4.3.5. A packet with D = 0 is acknowledged
when its octets have left towards the other side (or wait only to be joined with more), a packet
with D = 1 when the other side has acknowledged its last part. Interrupts are confirmed end to end,
resets at once: what the resetting side sends next waits until the other side has confirmed.
"""

from collections import deque
from typing import NamedTuple

from .channel import Channel
from .codec import Call, Data
from .negotiation import Negotiation
from .relay import Relay
from .routes import Route
from .switchboard import Switchboard


class Segment(NamedTuple):
    """A Data packet without numbers."""

    q: bool
    d: bool
    m: bool
    user_data: bytes


class Segmenter:
    """Turns packets of one size into packets of another without changing the sequences.

    Category A: full, M = 1, D = 0. Category B: any other packet; it ends a complete packet
    sequence. Only category A is joined with what follows.
    """

    def __init__(self, size_in: int, size_out: int) -> None:
        self.size_in = size_in
        self.size_out = size_out
        self._waiting = bytearray()

    def clear(self) -> None:
        """Forget the part of a sequence that waits to be joined."""
        self._waiting.clear()

    @property
    def waiting(self) -> int:
        """Octets of a sequence that wait to be joined."""
        return len(self._waiting)

    def feed(self, data: Data) -> list[Segment]:
        """Segments that can go out now that this packet is known."""
        waiting = self._waiting
        self.hold(data)
        more = self.more_after(data)
        if self.joins_next(data):
            return self.cut(data.q, len(waiting) // self.size_out)
        # Everything goes; the last part has D and M of the packet that ended the sequence.
        parts = max(1, -(-len(waiting) // self.size_out))
        segments = self.cut(data.q, parts - 1)
        segments.append(self.last(data, more, bytes(waiting)))
        waiting.clear()
        return segments

    def hold(self, data: Data) -> None:
        """Join this packet's octets to those that wait."""
        self._waiting += data.user_data

    def joins_next(self, data: Data) -> bool:
        """Category A."""
        return data.m and not data.d and len(data.user_data) == self.size_in

    def more_after(self, data: Data) -> bool:
        """X.25 Table 4-1: M = 1 in a part-filled packet with D = 0 counts as M = 0."""
        return data.m and (data.d or len(data.user_data) == self.size_in)

    def cut(self, q: bool, parts: int) -> list[Segment]:
        """Full packets with M = 1 from the front of what waits."""
        segments = []
        for _ in range(parts):
            segments.append(self.part(q, bytes(self._waiting[: self.size_out])))
            del self._waiting[: self.size_out]
        return segments

    def part(self, q: bool, user_data: bytes) -> Segment:
        return Segment(q, False, True, user_data)

    def last(self, data: Data, more: bool, user_data: bytes) -> Segment:
        return Segment(data.q, data.d, more, user_data)


class Direction:
    """Data from one channel to another, or back to the same one (echo)."""

    def __init__(self, source: Channel, sink: Channel, delivery: bool = True) -> None:
        self.source = source
        self.sink = sink
        #: True if D = 1 waits for the other end; False where this router is the end.
        self.delivery = delivery
        self.segmenter = Segmenter(source.size_in, sink.size_out)
        self.queue: deque[Segment] = deque()
        #: Segments made, sent and acknowledged so far.
        self.made = self.sent = self.confirmed = 0
        #: For each packet of the source that is not acknowledged: its last segment, and D.
        self.owed: deque[tuple[int, bool]] = deque()

    def clear(self) -> None:
        """After a reset nothing from before it is delivered or acknowledged."""
        self.segmenter.clear()
        self.queue.clear()
        self.owed.clear()
        self.made = self.sent = self.confirmed = 0

    def data(self, data: Data) -> None:
        """A packet of the source."""
        segments = self.segmenter.feed(data)
        self.queue.extend(segments)
        self.made += len(segments)
        self.owed.append((self.made, data.d and self.delivery))
        self.pump()

    def pump(self) -> None:
        """Send as the window of the sink allows."""
        while self.queue and self.sink.flow.can_send():
            segment = self.queue.popleft()
            self.sent += 1
            # First, so that the Data packet of an echo carries the acknowledgement.
            self.settle()
            self.sink.flow.send_data(*segment)
        self.settle()

    def acknowledged(self, count: int) -> None:
        """The sink's peer acknowledged segments."""
        self.confirmed += count
        self.pump()

    def settle(self) -> None:
        """Acknowledge to the source, in order, what is dealt with."""
        count = 0
        while self.owed and self.is_settled(*self.owed[0]):
            self.owed.popleft()
            count += 1
        if count:
            self.source.flow.acknowledge(count)

    def is_settled(self, last_segment: int, d: bool) -> bool:
        """Sent, or with D = 1 confirmed by the other end (X.25 4.4.1.4)."""
        return (self.confirmed if d else self.sent) >= last_segment


class LocalNegotiation(Negotiation):
    """Opens the two directions of Data with the values that are agreed on."""

    def __init__(self, relay: "LocalRelay") -> None:
        super().__init__(relay)
        self.local = relay

    def connected_packet(self, accept: Call) -> Call:
        relay = self.local
        connected = super().connected_packet(accept)
        assert relay.far is not None
        relay.directions = {
            relay.near: relay.direction(relay.near, relay.far),
            relay.far: relay.direction(relay.far, relay.near),
        }
        return connected


class LocalRelay(Relay):
    """See the module's text."""

    model = "local"
    directions: "dict[Channel, Direction] | None" = None

    def __init__(self, router: Switchboard, route: Route) -> None:
        super().__init__(router, route)
        self.negotiation = LocalNegotiation(self)

    def direction(self, source: Channel, sink: Channel) -> Direction:
        return Direction(source, sink)

    def towards(self, channel: Channel) -> Direction | None:
        """The direction that ends at a channel."""
        other = self.other(channel)
        return self.directions.get(other) if self.directions and other is not None else None

    def data_received(self, channel: Channel, data: Data) -> None:
        if self.directions is not None and self.far is not None:
            self.directions[channel].data(data)

    def acknowledged(self, channel: Channel, count: int) -> None:
        direction = self.towards(channel)
        if direction is not None:
            direction.acknowledged(count)

    def flow_received(self, channel: Channel, packet_type: int, p_r: int) -> None:
        """An RR may end a busy condition without acknowledging anything."""
        direction = self.towards(channel)
        if direction is not None:
            direction.pump()

    def writable(self, channel: Channel) -> None:
        super().writable(channel)
        direction = self.towards(channel)
        if direction is not None:
            direction.pump()

    def settle_reset(self, channel: Channel) -> None:
        channel.resets.confirm()

    def drop(self) -> None:
        super().drop()
        for direction in (self.directions or {}).values():
            direction.clear()
