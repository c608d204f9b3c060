# SPDX-License-Identifier: GPL-2.0-or-later
"""HDLC framing of a serial line: flags, transparency, abort, FCS-16 (X.25 2.2; ISO/IEC 13239 4).

A frame is sent as its octets, then the FCS, low octet first. Bit-synchronous framing goes through a
pipe as octets of which bit 1 (the low-order one) is sent first; octet-stuffed framing as it is.
"""

from collections.abc import Callable
from enum import Enum, auto
from typing import Final, NamedTuple, Protocol

FLAG: Final = 0x7E
ESCAPE: Final = 0x7D
#: X.25 2.2.9: 32 bits between flags, of which 16 are the FCS.
SHORTEST: Final = 4
FCS_LENGTH: Final = 2
#: What the register holds behind a frame with its right FCS (X.25 2.2.7).
FCS_GOOD: Final = 0xF0B8
#: X.25 2.2.10: seven ones in a row abort a frame.
ABORT_ONES: Final = 7


class Kind(Enum):
    """What was received."""

    FRAME = auto()
    ABORTED = auto()
    #: Bits that are not a whole number of octets.
    UNALIGNED = auto()
    #: More octets than are kept.
    ENDLESS = auto()


class Received(NamedTuple):
    """Something that ended on the line, with the octets that were whole, FCS included."""

    kind: Kind
    octets: bytes


def _divide(octet: int) -> int:
    """The register behind eight bits: division by x^16 + x^12 + x^5 + 1, low-order bit first."""
    for _ in range(8):
        octet = octet >> 1 ^ 0x8408 if octet & 1 else octet >> 1
    return octet


_REMAINDERS: Final = tuple(_divide(octet) for octet in range(256))


def register(octets: bytes) -> int:
    """The FCS register behind these octets, preset to ones."""
    value = 0xFFFF
    for octet in octets:
        value = value >> 8 ^ _REMAINDERS[(value ^ octet) & 0xFF]
    return value


def add_fcs(octets: bytes) -> bytes:
    """The octets of a frame with the FCS behind them."""
    return octets + (register(octets) ^ 0xFFFF).to_bytes(FCS_LENGTH, "little")


def fcs_is_good(octets: bytes) -> bool:
    """True if the last two octets are the FCS of those before them."""
    return register(octets) == FCS_GOOD


class Framing(Protocol):
    """One way to put frames on a line. longest: octets of a frame that are kept."""

    def frame(self, octets: bytes) -> bytes:
        """Octets for the line: a frame (with its FCS) between flags."""

    def feed(self, octets: bytes) -> list[Received]:
        """What octets of the line, in pieces of any size, have completed."""

    def restart(self) -> None:
        """A new line: forget what was under way."""


class OctetFraming:
    """Octet-stuffed: 0x7D and the octet xor 0x20 for 0x7D and 0x7E; 0x7D 0x7E aborts."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.restart()

    def restart(self) -> None:
        self._frame = bytearray()
        self._inside = False
        self._escaped = False
        self._endless = False

    def frame(self, octets: bytes) -> bytes:
        return bytes((FLAG,)) + self.stuff(octets) + bytes((FLAG,))

    def stuff(self, octets: bytes) -> bytes:
        escaped = octets.replace(b"\x7d", b"\x7d\x5d")
        return escaped.replace(b"\x7e", b"\x7d\x5e")

    def feed(self, octets: bytes) -> list[Received]:
        found: list[Received] = []
        for octet in octets:
            if octet == FLAG:
                self.flag(found)
            elif not self._inside:
                continue
            elif octet == ESCAPE and not self._escaped:
                self._escaped = True
            else:
                if len(self._frame) < self.longest:
                    self._frame.append(octet ^ 0x20 if self._escaped else octet)
                else:
                    self._endless = True
                self._escaped = False
        return found

    def flag(self, found: list[Received]) -> None:
        """One flag ends a frame and begins the next (X.25 2.2.2)."""
        octets, aborted, endless = bytes(self._frame), self._escaped, self._endless
        was_inside = self._inside
        self.clear()
        self._inside = True
        if was_inside and aborted:
            found.append(Received(Kind.ABORTED, octets))
        elif endless:
            found.append(Received(Kind.ENDLESS, octets))
        elif octets:
            found.append(Received(Kind.FRAME, octets))

    def clear(self) -> None:
        """Forget the frame under way."""
        self._frame.clear()
        self._escaped = self._endless = False


def _stuffed(ones: int, octet: int) -> tuple[int, int, int]:
    """Zero insertion: the bits of an octet behind so many ones, their number, ones at the end."""
    bits = count = 0
    for _ in range(8):
        bit = octet & 1
        octet >>= 1
        bits |= bit << count
        count += 1
        ones = ones + 1 if bit else 0
        if ones == 5:
            count += 1
            ones = 0
    return bits, count, ones


_STUFFED: Final = tuple(tuple(_stuffed(ones, octet) for octet in range(256)) for ones in range(5))


class BitFraming:
    """Bit-synchronous: a 0 behind every five 1s; seven 1s abort (X.25 2.2.6, 2.2.10)."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.restart()

    def restart(self) -> None:
        # Bits that wait to fill an octet of the line: the rest of a flag that was begun.
        self._unsent = self._unsent_count = 0
        self._fresh = True
        self._inside = False
        self._ones = 0
        self._octets = bytearray()
        self._partial = self._filled = 0
        self._endless = False

    # -- to the line ----------------------------------------------------------------------------

    def frame(self, octets: bytes) -> bytes:
        """Between two frames there is one more flag, whose last bits go out with the next one."""
        out = bytearray()
        if self._fresh:
            self._put(FLAG, 8, out)
            self._fresh = False
        ones = 0
        for octet in octets:
            bits, count, ones = _STUFFED[ones][octet]
            self._put(bits, count, out)
        self._put(FLAG, 8, out)
        self._put(FLAG, 8, out)
        return bytes(out)

    def _put(self, bits: int, count: int, out: bytearray) -> None:
        """Bits behind those that wait; whole octets go out."""
        self._unsent |= bits << self._unsent_count
        self._unsent_count += count
        while self._unsent_count >= 8:
            out.append(self._unsent & 0xFF)
            self._unsent >>= 8
            self._unsent_count -= 8

    # -- from the line --------------------------------------------------------------------------

    def feed(self, octets: bytes) -> list[Received]:
        found: list[Received] = []
        for octet in octets:
            for place in range(8):
                if octet >> place & 1:
                    self._ones += 1
                    if self._ones == ABORT_ONES and self._inside:
                        self.abort(found)
                else:
                    self.zero(found)
        return found

    def zero(self, found: list[Received]) -> None:
        """A 0 ends a row of 1s, whose length says what they were."""
        ones, self._ones = self._ones, 0
        if ones == 6:
            self.flag(found)
        elif self._inside:
            for _ in range(ones):
                self._keep(1)
            if ones < 5:
                self._keep(0)

    def _keep(self, bit: int) -> None:
        """One more bit of the frame."""
        if len(self._octets) > self.longest:
            self._endless = True
            return
        self._partial |= bit << self._filled
        self._filled += 1
        if self._filled == 8:
            self._octets.append(self._partial)
            self._partial = self._filled = 0

    def flag(self, found: list[Received]) -> None:
        """One flag ends a frame and begins the next (X.25 2.2.2)."""
        octets, filled = bytes(self._octets), self._filled
        endless = self._endless
        was_inside, self._inside = self._inside, True
        self.clear()
        # The 0 that the flag begins with was kept; two flags in a row may share theirs.
        if not was_inside or (not octets and filled <= 1):
            return
        if endless:
            found.append(Received(Kind.ENDLESS, octets[: self.longest]))
        elif filled == 1:
            found.append(Received(Kind.FRAME, octets))
        else:
            whole = octets if filled else octets[:-1]
            found.append(Received(Kind.UNALIGNED, whole))

    def abort(self, found: list[Received]) -> None:
        """Seven 1s: the frame does not count, and the next one begins with a flag."""
        octets = bytes(self._octets)
        self._inside = False
        self.clear()
        if octets:
            found.append(Received(Kind.ABORTED, octets[: self.longest]))

    def clear(self) -> None:
        """Forget the frame under way."""
        self._octets.clear()
        self._partial = self._filled = 0
        self._endless = False


FRAMINGS: dict[str, Callable[[int], Framing]] = {"octet": OctetFraming, "bit": BitFraming}
