# SPDX-License-Identifier: GPL-2.0-or-later
"""The four-octet XOT header around each packet (RFC 1613 4.1).

Octets 1-2 version (0), octets 3-4 length of the packet that follows, both big endian.
A version other than 0, or a length that no X.25 packet can have, ends the TCP connection.
"""

from collections.abc import Iterator

HEADER = 4
#: X.25 5.1: a packet has at least three octets.
SHORTEST = 3


class FramingError(Exception):
    """The octet stream is not XOT: the TCP connection has to be closed (RFC 1613 4.1)."""


class Framer:
    """Cuts an octet stream into packets; knows nothing of their content."""

    def __init__(self, longest: int = 4100) -> None:
        self.longest = longest
        self._input = bytearray()
        self.units = 0

    def version_is_legal(self, version: int) -> bool:
        """RFC 1613 4.1: the version is 0."""
        return version == 0

    def length_is_legal(self, length: int) -> bool:
        """RFC 1613 4.1: lengths that no packet can have are illegal."""
        return SHORTEST <= length <= self.longest

    def length_of(self, header: bytes | bytearray, at: int) -> int:
        """Length field of the header that starts at `at`."""
        return header[at + 2] << 8 | header[at + 3]

    def feed(self, octets: bytes) -> Iterator[bytes]:
        """Take octets as TCP gave them, yield each complete packet.

        Raises FramingError as soon as a bad header is complete, without waiting for its body;
        the packets before it have been yielded by then.
        """
        if self.is_one_packet(octets):
            # The common case needs no copy into the buffer.
            self.check(octets, 0)
            self.units += 1
            yield octets[HEADER:]
            return
        buffer = self._input
        buffer += octets
        at = 0
        try:
            while len(buffer) - at >= HEADER:
                self.check(buffer, at)
                end = at + HEADER + self.length_of(buffer, at)
                if len(buffer) < end:
                    break
                packet = bytes(buffer[at + HEADER : end])
                at = end
                self.units += 1
                yield packet
        finally:
            del buffer[:at]

    def is_one_packet(self, octets: bytes) -> bool:
        """A read that is one whole packet, with nothing waiting before it."""
        return (
            not self._input
            and len(octets) >= HEADER
            and len(octets) - HEADER == self.length_of(octets, 0)
        )

    def check(self, buffer: bytes | bytearray, at: int) -> None:
        """Raise FramingError if the header at `at` is illegal."""
        version = buffer[at] << 8 | buffer[at + 1]
        if not self.version_is_legal(version):
            raise FramingError(f"XOT version {version}")
        length = self.length_of(buffer, at)
        if not self.length_is_legal(length):
            raise FramingError(f"XOT length {length}")

    def clear(self) -> None:
        """Forget what was read of an incomplete packet."""
        self._input.clear()

    def take_rest(self) -> bytes:
        """What was read of an incomplete packet, for somebody else to pass on."""
        rest = bytes(self._input)
        self._input.clear()
        return rest


def frame(packet: bytes) -> bytes:
    """The packet with its XOT header."""
    return b"\0\0" + len(packet).to_bytes(2, "big") + packet
