# SPDX-License-Identifier: GPL-2.0-or-later
"""Expectations of IP datagrams on a circuit: each a complete packet sequence (RFC 1356 3.1).

A datagram (RFC 791): IHL x 4 octets of header, with total length at octet 2, identification 4,
flags and fragment offset 6, protocol 9, checksum 10, source 12, destination 16. An echo reply
(RFC 792) gives identifier, sequence number and data back; identification, TTL, TOS, options and
how it is cut into fragments are the router's own matter, and so are its other datagrams.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from scapy.packet import Packet
from scapy_x25.x25 import (
    CALL_ACCEPTED,
    CALL_REQUEST,
    CLEAR_CONFIRMATION,
    CLEAR_REQUEST,
    RESET_CONFIRMATION,
    RESET_REQUEST,
)

from .expectation import Consumed, Expectation, Judge, Next, PacketView, Seen

_HEADER = 20
_ICMP, _ECHO_REPLY, _ECHO = 1, 0, 8
# Reset, Clear, their confirmations, Call and Call Accepted: what is under way is lost.
_BORDERS = frozenset(
    (
        RESET_REQUEST,
        RESET_CONFIRMATION,
        CLEAR_REQUEST,
        CLEAR_CONFIRMATION,
        CALL_REQUEST,
        CALL_ACCEPTED,
    )
)
_D_BIT = 0x40
_MORE_FRAGMENTS, _FRAGMENT = 0x2000, 0x1FFF
# First octets of units that need not be datagrams in the null encapsulation (RFC 1356 3.3).
IP_IDENTIFIERS = (b"\xcc", b"\x80\x00\x00\x00\x08\x00")


def checksum(octets: bytes) -> int:
    """The Internet checksum (RFC 1071); 0 over octets that hold a right one."""
    padded = octets + b"\0" * (len(octets) % 2)
    total = sum(int.from_bytes(padded[at : at + 2], "big") for at in range(0, len(padded), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclass(frozen=True)
class Echo:
    """An ICMP echo request of the tester, and what answers it. Addresses: four octets each."""

    tester: bytes
    router: bytes
    identifier: int
    number: int
    data: bytes

    @property
    def datagram(self) -> bytes:
        """The request as a datagram of 28 octets and the data."""
        message = bytes((_ECHO, 0, 0, 0)) + self._tail
        message = message[:2] + checksum(message).to_bytes(2, "big") + message[4:]
        length = (_HEADER + len(message)).to_bytes(2, "big")
        front = b"\x45\0" + length + self.number.to_bytes(2, "big") + b"\0\0"
        header = front + bytes((64, _ICMP, 0, 0)) + self.tester + self.router
        return header[:10] + checksum(header).to_bytes(2, "big") + header[12:] + message

    @property
    def _tail(self) -> bytes:
        return self.identifier.to_bytes(2, "big") + self.number.to_bytes(2, "big") + self.data

    def is_family(self, message: bytes) -> bool:
        """Whether an ICMP message is an echo reply of this identifier, whatever its number."""
        same = message[4:6] == self.identifier.to_bytes(2, "big")
        return message[:1] == bytes((_ECHO_REPLY,)) and same

    def is_answered_by(self, message: bytes) -> bool:
        """Whether an ICMP message is the reply to this request, octet for octet."""
        head = bytes((_ECHO_REPLY, 0))
        return message[:2] == head and message[4:] == self._tail and not checksum(message)


class Unreadable(Exception):
    """What is wrong with a unit; the message says it."""


def read_datagram(octets: bytes) -> bytes:
    """A datagram that is whole, or raises Unreadable. Those of IPv6 (RFC 8200) pass unread."""
    version = octets[0] >> 4 if octets else 0
    if version == 6:
        return octets
    header = (octets[0] & 15) * 4 if octets else 0
    if version != 4 or len(octets) < _HEADER or not _HEADER <= header <= len(octets):
        raise Unreadable(f"a unit of {len(octets)} octets that is not an IP datagram")
    length = int.from_bytes(octets[2:4], "big")
    if length != len(octets):
        raise Unreadable(f"a unit of {len(octets)} octets with a datagram of {length}")
    if checksum(octets[:header]):
        raise Unreadable("a datagram with a wrong header checksum")
    return octets


class Fragments:
    """Puts the messages of ICMP together that came in fragments (RFC 791 3.2)."""

    def __init__(self) -> None:
        self._parts: dict[bytes, dict[int, bytes]] = {}
        self._lengths: dict[bytes, int] = {}

    def message(self, datagram: bytes, source: bytes, destination: bytes) -> bytes | None:
        """The ICMP message that is whole with this datagram between these hosts; None: none."""
        between = datagram[12:16] == source and datagram[16:20] == destination
        if datagram[0] >> 4 != 4 or datagram[9] != _ICMP or not between:
            return None
        data = datagram[(datagram[0] & 15) * 4 :]
        where = int.from_bytes(datagram[6:8], "big")
        if not where & (_MORE_FRAGMENTS | _FRAGMENT):
            return data
        key = datagram[4:6]
        parts = self._parts.setdefault(key, {})
        at = (where & _FRAGMENT) * 8
        parts[at] = data
        if not where & _MORE_FRAGMENTS:
            self._lengths[key] = at + len(data)
        whole = b""
        for offset in sorted(parts):
            if offset != len(whole):
                return None
            whole += parts[offset]
        if self._lengths.get(key) != len(whole):
            return None
        del self._parts[key], self._lengths[key]
        return whole


@dataclass
class _Units:
    """Puts complete packet sequences together, packet by packet.

    identifiers: what may precede an IP datagram; none: each unit is a datagram.
    full: octets of user data of a full packet; M = 1 counts in such ones only (X.25 4.3.4).
    """

    identifiers: Sequence[bytes]
    full: int
    longest: int | None
    _unit: bytes = b""
    taken: list[PacketView] = field(default_factory=list)

    def datagram(self, view: PacketView) -> bytes | None:
        """The datagram that ends with this packet; None: none does. Raises Unreadable."""
        self.taken.append(view)
        if view.q:
            raise Unreadable("a packet with Q=1 (RFC 1356 3.13)")
        if len(view.user_data) > self.full:
            raise Unreadable(f"a packet of {len(view.user_data)} octets; {self.full} are agreed")
        self._unit += view.user_data
        if view.m and len(view.user_data) == self.full and not view.octets[0] & _D_BIT:
            return None
        unit, self._unit = self._unit, b""
        if self.identifiers:
            found = [one for one in self.identifiers if unit.startswith(one)]
            if not found:
                self._other(unit)
                return b""
            unit = unit[len(found[0]) :]
        datagram = read_datagram(unit)
        if self.longest is not None and len(datagram) > self.longest:
            raise Unreadable(f"a datagram of {len(datagram)} octets; the MTU is {self.longest}")
        return datagram

    @staticmethod
    def _other(unit: bytes) -> None:
        """A unit of another protocol; it may not be a datagram in disguise."""
        for start, what in ((0, "without a protocol identifier"), (1, "behind another protocol's")):
            try:
                read_datagram(unit[start:])
            except Unreadable:
                continue
            if unit[start] >> 4 == 4:
                raise Unreadable(f"a datagram {what} (unit {unit[:6].hex()}...)")

    def forget(self) -> None:
        """A reset ended the sequence under way."""
        self._unit = b""


@dataclass
class NextReply(Next):
    """The reply to an echo request comes, in one or more whole datagrams; others may pass.

    alternatives: Data, and what may come in place of the reply.
    asked: all requests of the case: a reply with their identifier to anything else is wrong.
    """

    echo: Echo | None = None
    asked: Sequence[Echo] = ()
    identifiers: tuple[bytes, ...] = ()
    full: int = 128
    longest: int | None = None
    in_parts: ClassVar[bool] = True

    @property
    def text(self) -> str:
        assert self.echo is not None
        return f"ICMP echo reply {self.echo.number} with {len(self.echo.data)} octets of data"

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        assert self.echo is not None
        if self.direction is None:
            return Seen(False, None, "no connection came from the router")
        units = _Units(self.identifiers, self.full, self.longest)
        fragments = Fragments()
        others = 0
        for view in self.window(judge):
            if not self.any_match(judge, self.leading()[:1], view):
                if self.any_match(judge, self.passing, view):
                    continue
                instead = self.any_match(judge, self.leading()[1:], view)
                if instead:
                    consumed.add((self.direction, view.offset))
                return Seen(instead, view)
            try:
                datagram = units.datagram(view)
            except Unreadable as error:
                return Seen(False, view, str(error))
            if not datagram:
                continue
            message = fragments.message(datagram, self.echo.router, self.echo.tester)
            if message is not None and self.echo.is_answered_by(message):
                consumed |= {(self.direction, taken.offset) for taken in units.taken}
                return Seen(True, view, self.text)
            family = message is not None and self.echo.is_family(message)
            if family and not any(echo.is_answered_by(message or b"") for echo in self.asked):
                return Seen(False, view, "an echo reply that answers nothing that was asked")
            others += 1
        seen = self._at_end(judge)
        left = f" behind {others} other datagrams" if others else ""
        return Seen(False, None, f"{seen.saw}{left}")


@dataclass
class OnlyDatagrams(Expectation):
    """All that a circuit brings are whole datagrams, and each request is answered once at most.

    A sequence that a reset or the end of the circuit ends is left aside.
    """

    data: Packet | None = None
    asked: Sequence[Echo] = ()
    identifiers: tuple[bytes, ...] = ()
    full: int = 128
    longest: int | None = None

    @property
    def text(self) -> str:
        return "nothing but whole datagrams, and no reply that was not asked for"

    def templates(self) -> tuple[Packet, ...]:
        assert self.data is not None
        return (self.data,)

    def leading(self) -> tuple[Packet, ...]:
        return ()

    def evaluate(self, judge: Judge, consumed: Consumed) -> Seen:
        units = _Units(self.identifiers, self.full, self.longest)
        fragments = Fragments()
        answered: set[int] = set()
        for view in self.window(judge):
            if view.type in _BORDERS:
                units.forget()
            if not self.any_match(judge, self.templates(), view):
                continue
            try:
                datagram = units.datagram(view)
            except Unreadable as error:
                return Seen(False, view, str(error))
            for wrong in self._wrong(datagram, fragments, answered):
                return Seen(False, view, wrong)
        return Seen(True, None, "nothing else")

    def _wrong(
        self, datagram: bytes | None, fragments: Fragments, answered: set[int]
    ) -> Iterator[str]:
        if not datagram or not self.asked:
            return
        ends = self.asked[0]
        message = fragments.message(datagram, ends.router, ends.tester)
        if message is None or not ends.is_family(message):
            return
        found = [echo.number for echo in self.asked if echo.is_answered_by(message)]
        if not found:
            yield "an echo reply that answers nothing that was asked"
        elif found[0] in answered:
            yield f"echo reply {found[0]} once more"
        answered.update(found)
