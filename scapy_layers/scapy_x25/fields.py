# SPDX-License-Identifier: GPL-2.0-or-later
# This file is part of Scapy
# See https://scapy.net/ for more information
# mypy: disallow-subclassing-any=False

# scapy.contrib.description = Fields of X.25 packets
# scapy.contrib.status = library

"""Scapy fields for packets whose tail may be missing (X.25 clause 5).

Three states of a field matter, and they are told apart by packet.fields:
- not in packet.fields: the default holds; a field with an automatic value computes it;
- given as None: the field is absent, unless a field behind it is present;
- given with a value: it is sent as given, however wrong (lengths too).
Dissection never raises. A field that the packet ends inside of is absent, as are all behind it;
its octets go to the payload.

Scapy's own fields always have a value, and a ConditionalField asks other fields whether it is
there; neither can say that a packet ends before a field, nor build one that does. So these are
classes of their own, above BitField and Field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from scapy.fields import BitField, Field
from scapy.packet import Packet

Automatic = Callable[[Packet], int]


def number(field: Any, value: Any, bits: int) -> int:
    """The value as a number of so many bits; ValueError names the field if it is none."""
    if not isinstance(value, int):
        raise ValueError(
            f"{field.name}: {value!r} is not a number, so the packet cannot be built "
            "(templates describe packets, they cannot be sent)"
        )
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{field.name}: {value} does not fit into {bits} bits")
    return value


def is_empty(value: Any) -> bool:
    """True for None and for an empty string, octet string or list."""
    return value is None or (isinstance(value, (bytes, str, list)) and not value)


def is_sent(pkt: Packet, name: str) -> bool:
    """True if the field, or any field behind it, is present when the packet is built."""
    behind = False
    for field in pkt.fields_desc:
        behind = behind or field.name == name
        if not behind:
            continue
        if field.name in pkt.fields:
            if not is_empty(pkt.fields[field.name]):
                return True
        elif not is_empty(field.default) or getattr(field, "always", False):
            return True
    return False


def is_cut(pkt: Packet, name: str) -> bool:
    """True if, while dissecting, a field in front of this one was missing already."""
    for field in pkt.fields_desc:
        if field.name == name:
            return False
        if getattr(field, "structural", False) and pkt.fields.get(field.name) is None:
            return True
    return False


class OptionalBits(BitField):
    """Bits of a group of whole octets that is present or absent as one.

    group: names of all fields of the group, in order; octets: size of the group.
    """

    __slots__ = ["always", "automatic", "group", "octets", "text"]
    structural = True

    def __init__(
        self,
        name: str,
        default: int | None,
        size: int,
        group: tuple[str, ...],
        octets: int = 1,
        *,
        automatic: Automatic | None = None,
        always: bool = False,
        text: Callable[[int], str] | None = None,
    ) -> None:
        super().__init__(name, default, size)
        self.group = group
        self.octets = octets
        self.automatic = automatic
        self.always = always
        self.text = text

    def getfield(self, pkt: Packet, s: Any) -> tuple[Any, int | None]:
        if not isinstance(s, tuple) and (
            self.name != self.group[0] or len(s) < self.octets or is_cut(pkt, self.name)
        ):
            return s, None
        rest, value = super().getfield(pkt, s)
        return rest, int(value)

    def addfield(self, pkt: Packet, s: Any, val: Any) -> Any:
        if not isinstance(s, tuple) and not (
            self.name == self.group[0] and is_sent(pkt, self.name)
        ):
            return s
        if val is None:
            val = self.automatic(pkt) if self.automatic else self.default or 0
        return super().addfield(pkt, s, number(self, val, self.size))

    def i2repr(self, pkt: Packet, x: Any) -> str:
        return _with_meaning(x, self.text)


class OptionalInteger(Field):
    """Unsigned number of 1, 2 or more octets; order: big or little endian.

    automatic: computes the value if none was given; always: present even then;
    text: gives the meaning of a value, for display.
    """

    __slots__ = ["always", "automatic", "octets", "order", "text"]
    structural = True

    def __init__(
        self,
        name: str,
        default: int | None,
        octets: int = 1,
        *,
        automatic: Automatic | None = None,
        always: bool = False,
        text: Callable[[int], str] | None = None,
        order: Literal["big", "little"] = "big",
    ) -> None:
        super().__init__(name, default, "B")
        self.octets = octets
        self.automatic = automatic
        self.always = always
        self.text = text
        self.order = order

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, int | None]:
        if len(s) < self.octets or is_cut(pkt, self.name):
            return s, None
        return s[self.octets :], int.from_bytes(s[: self.octets], self.order)

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:
        if not is_sent(pkt, self.name):
            return s
        if val is None:
            val = self.automatic(pkt) if self.automatic else self.default or 0
        return s + number(self, val, 8 * self.octets).to_bytes(self.octets, self.order)

    def i2repr(self, pkt: Packet, x: Any) -> str:
        return _with_meaning(x, self.text)


class DecimalDigits(OptionalInteger):
    """Number in decimal digits, two per octet (BCD). Digits above 9 are left to the payload."""

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, int | None]:
        digits = s[: self.octets].hex()
        if len(s) < self.octets or not digits.isdecimal() or is_cut(pkt, self.name):
            return s, None
        return s[self.octets :], int(digits)

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:
        if not is_sent(pkt, self.name):
            return s
        digits = f"{number(self, val or 0, 32):0{2 * self.octets}d}"
        if len(digits) > 2 * self.octets:
            raise ValueError(f"{self.name}: {val} has more than {2 * self.octets} digits")
        return s + bytes.fromhex(digits)


def _with_meaning(value: Any, text: Callable[[int], str] | None) -> str:
    if text is not None and isinstance(value, int):
        meaning = text(value)
        return f"{value:#04x} ({meaning})" if meaning else f"{value:#04x}"
    return repr(value)


class Octets(Field):
    """Octet string: so many octets as another field says (length_from), or all the rest.

    A str is taken as its UTF-8 octets; with width, a number as so many octets, big endian.
    Absent fields (None) are left absent. length_from returns None for 'absent'.
    """

    __slots__ = ["length_from", "structural", "width"]

    def __init__(
        self,
        name: str,
        default: bytes | None,
        length_from: Callable[[Packet], int | None] | None = None,
        width: int | None = None,
    ) -> None:
        self.width = width
        self.length_from = length_from
        self.structural = length_from is not None
        super().__init__(name, default, "B")

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        if isinstance(x, str):
            return x.encode()
        if isinstance(x, (bytearray, memoryview)):
            return bytes(x)
        if isinstance(x, int) and self.width is not None:
            return number(self, x, 8 * self.width).to_bytes(self.width, "big")
        return x

    def i2len(self, pkt: Packet, x: Any) -> int:
        return len(x) if isinstance(x, bytes) else 0

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, bytes | None]:
        if is_cut(pkt, self.name):
            return s, None
        if self.length_from is None:
            return b"", s
        length = self.length_from(pkt)
        if length is None or length > len(s):
            return s, None
        return s[length:], s[:length]

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:
        if val is None:
            return s
        if not isinstance(val, bytes):
            raise ValueError(f"{self.name}: {val!r} is not an octet string, so it cannot be built")
        return s + val


def octet_count(pkt: Packet, name: str) -> int:
    """Octets of an Octets field; 0 if it is not an octet string (building it will fail)."""
    value = pkt.getfieldval(name)
    return len(value) if isinstance(value, bytes) else 0


class HalfOctet(Field):
    """One half-octet of an address field.

    wanted(packet, half-octets left) says if it is there when dissecting; sent(packet) gives the
    value to send, or None for none.
    """

    __slots__ = ["sent", "wanted"]

    def __init__(
        self,
        name: str,
        wanted: Callable[[Packet, int], bool],
        sent: Callable[[Packet], int | None],
    ) -> None:
        super().__init__(name, None, "B")
        self.wanted = wanted
        self.sent = sent

    def getfield(self, pkt: Packet, s: Any) -> tuple[Any, int | None]:
        if not self.wanted(pkt, half_octets_in(s)):
            return s, None
        rest, digits = take_half_octets(s, 1)
        return rest, int(digits, 16)

    def addfield(self, pkt: Packet, s: Any, val: Any) -> Any:
        value = self.sent(pkt)
        return s if value is None else put_half_octets(s, f"{number(self, value, 4):x}")


class Digits(Field):
    """String of digits, one per half-octet, high half first (X.25 5.2.1.1).

    count(packet, half-octets left): digits there are; None if the field is absent or cut off.
    Digits above 9 show as a to f. The half-octet state passes through Scapy's bit-field tuples;
    a Filler must follow the last Digits field.
    """

    __slots__ = ["count"]
    structural = True

    def __init__(self, name: str, count: Callable[[Packet, int], int | None]) -> None:
        super().__init__(name, None, "B")
        self.count = count

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        return x.lower() if isinstance(x, str) else x

    def getfield(self, pkt: Packet, s: Any) -> tuple[Any, str | None]:
        count = self.count(pkt, half_octets_in(s))
        return (s, None) if count is None else take_half_octets(s, count)

    def addfield(self, pkt: Packet, s: Any, val: Any) -> Any:
        return s if val is None else put_half_octets(s, check_digits(self.name, val))


class Filler(Field):
    """The low half-octet behind an odd number of digits: 0 unless given; else absent."""

    def __init__(self, name: str) -> None:
        super().__init__(name, None, "B")

    def getfield(self, pkt: Packet, s: Any) -> tuple[bytes, int | None]:
        if not isinstance(s, tuple):
            return s, None
        rest, digit = take_half_octets(s, 1)
        return rest, int(digit, 16)

    def addfield(self, pkt: Packet, s: Any, val: Any) -> bytes:
        if not isinstance(s, tuple):
            return bytes(s)
        done: bytes = put_half_octets(s, f"{number(self, val or 0, 4):x}")
        return done


def check_digits(name: str, value: Any) -> str:
    """The value if it is a string of hexadecimal digits; ValueError otherwise."""
    if not isinstance(value, str) or value.strip("0123456789abcdef"):
        raise ValueError(f"{name}: {value!r} is not a string of digits 0-9 (or a-f)")
    return value


def half_octets_in(s: Any) -> int:
    """Half-octets left to dissect."""
    return 2 * len(s[0]) - 1 if isinstance(s, tuple) else 2 * len(s)


def take_half_octets(s: Any, count: int) -> tuple[Any, str]:
    """That many half-octets from the front of s: (what is left, hexadecimal digits)."""
    octets, skip = (s[0], 1) if isinstance(s, tuple) else (s, 0)
    end = skip + count
    digits = octets[: (end + 1) // 2].hex()[skip:end]
    rest = octets[end // 2 :]
    return ((rest, 4) if end % 2 else rest), digits


def put_half_octets(s: Any, digits: str) -> Any:
    """Hexadecimal digits appended to s, in Scapy's bit-field state if their number is odd."""
    octets, pending = (s[0], f"{s[2]:x}") if isinstance(s, tuple) else (s, "")
    text = pending + digits
    whole = len(text) & ~1
    octets += bytes.fromhex(text[:whole])
    return (octets, 4, int(text[-1], 16)) if len(text) % 2 else octets
