# SPDX-License-Identifier: GPL-2.0-or-later
# This file is part of Scapy
# See https://scapy.net/ for more information
# mypy: disallow-subclassing-any=False

# scapy.contrib.description = HDLC framing with FCS-16
# scapy.contrib.status = loads

"""HDLC framing: flags, transparency, abort, FCS-16 (X.25 2.2; ISO/IEC 13239 4).

Bit-synchronous: flag 01111110, a 0 after five 1s, abort = seven 1s or more, idle = fifteen or
more; bit 1 (the low-order bit) of an octet is sent first. Octet-stuffed: flag 0x7E, escape 0x7D
before the octet xor 0x20, abort = 0x7D 0x7E.
FCS-16: polynomial x^16 + x^12 + x^5 + 1, register preset to ones, complemented, low octet first.
"""

from __future__ import annotations

from binascii import crc_hqx
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from scapy.config import conf
from scapy.packet import Packet

from .fields import OptionalInteger
from .lapb import ADDRESS_A, ADDRESS_B, LAPB, LAPB128

FLAG = 0x7E
ESCAPE = 0x7D
FCS_GOOD = 0xF0B8
FCS_OCTETS = 2
SHORTEST = 4  # octets between flags: 32 bits
SHORTEST_EXTENDED = 5  # modulo 128, frames with sequence numbers: 40 bits
LONGEST = 16384  # octets a deframer keeps of one frame

ABORT_ONES = 7
_IDLE_ONES = 15


# Each octet with its bits the other way round.
_MIRRORED = bytes(int(f"{octet:08b}"[::-1], 2) for octet in range(256))


def fcs_register(octets: bytes) -> int:
    """The FCS register behind these octets; FCS_GOOD if a right FCS is at their end."""
    # The generator is that of CRC-CCITT, which crc_hqx takes with the high bit of an octet first; a
    # line sends the low one first.
    mirrored = crc_hqx(octets.translate(_MIRRORED), 0xFFFF)
    return _MIRRORED[mirrored & 0xFF] << 8 | _MIRRORED[mirrored >> 8]


def fcs16(octets: bytes) -> int:
    """The FCS of these octets; it is sent low octet first."""
    return fcs_register(octets) ^ 0xFFFF


def with_fcs(octets: bytes) -> bytes:
    """These octets and their FCS."""
    return octets + fcs16(octets).to_bytes(FCS_OCTETS, "little")


class HDLC(Packet):
    """A frame between two flags: LAPB (modulo 8), then fcs, which counts itself unless given."""

    name = "HDLC"
    fields_desc: ClassVar[list[Any]] = [
        OptionalInteger("fcs", None, 2, always=True, order="little")
    ]
    carried: ClassVar[type[Packet]] = LAPB

    def pre_dissect(self, s: bytes) -> bytes:
        # Scapy dissects from the front: the FCS is brought there, and back in post_build.
        return s if len(s) < FCS_OCTETS else s[-FCS_OCTETS:] + s[:-FCS_OCTETS]

    def post_dissect(self, s: bytes) -> bytes:
        self.raw_packet_cache = None  # its order is not the one on the line
        return s

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        if "fcs" not in self.fields:
            return with_fcs(pay)
        return pay + pkt

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        return conf.raw_layer if self.fields.get("fcs") is None else self.carried

    def fcs_is_good(self) -> bool:
        """True if the FCS, as given or counted, is that of the frame."""
        return fcs_register(bytes(self)) == FCS_GOOD


class HDLC128(HDLC):
    """As HDLC, with LAPB modulo 128."""

    name = "HDLC (LAPB modulo 128)"
    carried = LAPB128


@dataclass(frozen=True)
class Frame:
    """What stood between two flags, FCS included."""

    octets: bytes

    def invalid(self, extended: bool = False) -> str:
        """Why X.25 2.3.5.3 has the frame discarded; empty if it is valid. extended: modulo 128."""
        octets = self.octets
        numbered = len(octets) > 1 and octets[1] & 3 != 3
        shortest = SHORTEST_EXTENDED if extended and numbered else SHORTEST
        if len(octets) < shortest:
            return f"{8 * len(octets)} bits between flags, at least {8 * shortest} are needed"
        if fcs_register(octets) != FCS_GOOD:
            return "FCS is wrong"
        if octets[0] not in (ADDRESS_A, ADDRESS_B):
            return f"address {octets[0]:#04x} is neither A nor B"
        return ""


@dataclass(frozen=True)
class Aborted:
    """A frame that an abort ended, as far as it came (octets that were whole)."""

    octets: bytes


@dataclass(frozen=True)
class Broken:
    """What stood between two flags and is not whole octets, or is too long to keep."""

    reason: str
    octets: bytes


@dataclass(frozen=True)
class Idle:
    """Fifteen 1s or more on a bit-synchronous line."""


Event = Frame | Aborted | Broken | Idle

# -- octet-stuffed ---------------------------------------------------------------------------------


def stuff_octets(octets: bytes) -> bytes:
    """Flag and escape octets escaped; no flags around."""
    return octets.replace(b"\x7d", b"\x7d\x5d").replace(b"\x7e", b"\x7d\x5e")


def frame_octets(frames: Iterable[bytes], shared_flags: bool = False) -> bytes:
    """Octet-stuffed frames (each with its FCS) between flags; shared_flags: the closing flag of
    one frame opens the next."""
    flag = bytes([FLAG])
    bodies = [stuff_octets(frame) for frame in frames]
    if shared_flags:
        return flag + b"".join(body + flag for body in bodies)
    return b"".join(flag + body + flag for body in bodies)


class OctetDeframer:
    """Frames out of an octet-stuffed stream, however it is cut into pieces."""

    def __init__(self, longest: int = LONGEST) -> None:
        self.longest = longest
        self._frame = bytearray()
        self._open = False
        self._escaped = False
        self._too_long = False

    def feed(self, octets: bytes) -> list[Event]:
        """What these octets completed. Octets in front of the first flag are skipped."""
        events: list[Event] = []
        for octet in octets:
            if octet == FLAG:
                events += self._end()
            elif not self._open:
                continue
            elif octet == ESCAPE and not self._escaped:
                self._escaped = True
            elif len(self._frame) >= self.longest:
                self._too_long = True
                self._escaped = False
            else:
                self._frame.append(octet ^ 0x20 if self._escaped else octet)
                self._escaped = False
        return events

    def _end(self) -> list[Event]:
        octets, was_open = bytes(self._frame), self._open
        escaped, too_long = self._escaped, self._too_long
        self._frame.clear()
        self._open, self._escaped, self._too_long = True, False, False
        if not was_open:
            return []
        if escaped:
            return [Aborted(octets)]
        if too_long:
            return [Broken(f"more than {self.longest} octets", octets)]
        return [Frame(octets)] if octets else []


# -- bit-synchronous -------------------------------------------------------------------------------


class BitFramer:
    """Bits of a bit-synchronous line, collected into octets (bit 1 first).

    Whole octets are taken with take(); finish() fills the last one with 1s.
    """

    def __init__(self) -> None:
        self._bits: list[int] = []

    def bits(self, *bits: int) -> None:
        """These bits as they are, without zero insertion."""
        self._bits += bits

    def flag(self) -> None:
        self.bits(0, 1, 1, 1, 1, 1, 1, 0)

    def abort(self) -> None:
        """Seven 1s."""
        self.bits(*[1] * ABORT_ONES)

    def idle(self) -> None:
        """Fifteen 1s."""
        self.bits(*[1] * _IDLE_ONES)

    def body(self, octets: bytes, last_bits: int = 8) -> None:
        """Octets with a 0 behind every five 1s; of the last octet only so many bits."""
        ones = 0
        count = 8 * len(octets) - 8 + last_bits if octets else 0
        for position in range(count):
            bit = octets[position // 8] >> position % 8 & 1
            self._bits.append(bit)
            ones = ones + 1 if bit else 0
            if ones == 5:
                self._bits.append(0)
                ones = 0

    def frames(self, frames: Iterable[bytes], shared_flags: bool = False) -> None:
        """Frames (each with its FCS) between flags, as frame_octets()."""
        for number, frame in enumerate(frames):
            if number == 0 or not shared_flags:
                self.flag()
            self.body(frame)
            self.flag()

    def take(self) -> bytes:
        """The whole octets so far; bits left over stay for the next."""
        whole = len(self._bits) & ~7
        octets = octets_of(self._bits[:whole])
        del self._bits[:whole]
        return octets

    def finish(self) -> bytes:
        """All that is left, the last octet filled with 1s."""
        self._bits += [1] * (-len(self._bits) % 8)
        return self.take()


def octets_of(bits: list[int]) -> bytes:
    """Bits, the low-order one of each octet first, as octets; bits of a last part are dropped."""
    return bytes(
        sum(bit << position for position, bit in enumerate(bits[start : start + 8]))
        for start in range(0, len(bits) & ~7, 8)
    )


class BitDeframer:
    """Frames out of a bit-synchronous stream, however it is cut into pieces."""

    def __init__(self, longest: int = LONGEST) -> None:
        self.longest = longest
        self._bits: list[int] = []
        self._ones = 0
        self._open = False
        self._too_long = False

    def feed(self, octets: bytes) -> list[Event]:
        """What these octets completed. Bits in front of the first flag are skipped."""
        events: list[Event] = []
        for octet in octets:
            for position in range(8):
                if octet >> position & 1:
                    events += self._one()
                else:
                    events += self._zero()
        return events

    def _keep(self, bit: int) -> None:
        if len(self._bits) >= 8 * self.longest + 8:
            # Room for the closing flag is there, so this is data.
            self._too_long = True
            del self._bits[-8:]
        self._bits.append(bit)

    def _one(self) -> list[Event]:
        self._ones += 1
        if self._ones == ABORT_ONES and self._open:
            self._open = False
            # The six 1s before belong to the abort as well; what is left may be nothing.
            octets = octets_of(self._bits[: -(ABORT_ONES - 1)])
            self._bits.clear()
            return [Aborted(octets)] if octets else []
        if self._ones == _IDLE_ONES:
            return [Idle()]
        if self._open:
            self._keep(1)
        return []

    def _zero(self) -> list[Event]:
        ones, self._ones = self._ones, 0
        if ones == 6:
            return self._flag()
        if self._open and ones != 5:
            self._keep(0)
        return []

    def _flag(self) -> list[Event]:
        # The first seven bits of the flag were kept as data (fewer if it shares a 0).
        bits, was_open, too_long = self._bits[:-7], self._open, self._too_long
        self._bits = []
        self._open, self._too_long = True, False
        if not was_open or not bits:
            return []
        octets = octets_of(bits)
        if too_long:
            return [Broken(f"more than {self.longest} octets", octets)]
        if len(bits) % 8:
            return [Broken(f"{len(bits)} bits are not whole octets", octets)]
        return [Frame(octets)]
