# SPDX-License-Identifier: GPL-2.0-or-later
"""The facility field and its negotiation (X.25 clause 7, 6.12, 6.13; RFC 1613 6.1).

Class by bits 8-7 of the code: A one octet of parameter, B two, C three, D a length octet and that
many. 0xFF says that the next octet is a further code. A marker (code 0x00) opens another section:
0x0F DTE facilities of Annex G, which the network passes unchanged, 0x00 and 0xFF facilities of the
local or the remote network that X.25 does not define; nothing behind a marker is an X.25 facility.
"""

from typing import Final, NamedTuple

from .codes import ClearCause, Diag, PacketError

#: X.25 5.2.2: greatest length of the facility field.
LONGEST = 109

MARKER: Final = 0x00
FAST_SELECT: Final = 0x01
THROUGHPUT: Final = 0x02
CLOSED_USER_GROUP: Final = 0x03
CHARGING_REQUEST: Final = 0x04
CALLED_LINE_MODIFIED: Final = 0x08
CUG_OUTGOING_ACCESS: Final = 0x09
PACKET_SIZE: Final = 0x42
WINDOW_SIZE: Final = 0x43
TRANSIT_DELAY: Final = 0x49
EXTENDED_THROUGHPUT: Final = 0x4C
DEFLECTION: Final = 0xD1
EXTENSION: Final = 0xFF

#: Facilities that a Call Request may carry, outside the marked sections.
IN_CALL: Final = frozenset(
    {0x01, 0x02, 0x03, 0x04, 0x09, 0x41, 0x42, 0x43, 0x44, 0x47, 0x48, 0x49, 0x4C}
    | {0xC3, 0xC4, 0xC6}
)
#: Facilities that a Call Accepted may carry.
IN_ACCEPT: Final = frozenset({0x02, 0x04, 0x08, 0x42, 0x43, 0x49, 0x4C})
#: Facilities that a Clear may carry in its extended format.
IN_CLEAR: Final = frozenset({0x08, 0xC1, 0xC2, 0xC5, 0xD1})

#: Standard default values (X.25 5.4.2 and 4.4.1.1): 128 octets (log2 = 7), window 2.
DEFAULT_SIZE: Final = 7
DEFAULT_WINDOW: Final = 2
SMALLEST_SIZE: Final = 4
LARGEST_SIZE: Final = 12


class Facility(NamedTuple):
    """One facility: code (the second one behind 0xFF), parameter, and all its octets."""

    code: int
    value: bytes
    octets: bytes


class Pair(NamedTuple):
    """A parameter per direction, in the order of the octets: from the called, from the calling."""

    called: int
    calling: int


def parameter_length(code: int, field: bytes, at: int) -> tuple[int, int]:
    """Octets of length and of parameter behind a code whose parameter starts at `at`."""
    facility_class = code >> 6
    if facility_class < 3:
        return 0, facility_class + 1
    if at >= len(field):
        raise PacketError(Diag.FACILITY_LENGTH)
    return 1, field[at]


class Facilities:
    """A facility field: X.25 facilities first, then everything from the first marker on."""

    def __init__(self, items: list[Facility] | None = None, marked: bytes = b"") -> None:
        self.items = items if items is not None else []
        self.marked = marked

    @classmethod
    def parse(cls, field: bytes) -> "Facilities":
        """Read a facility field. Raises PacketError 69 if a facility runs past its end."""
        items: list[Facility] = []
        marker_at = len(field)
        at = 0
        while at < len(field):
            start = at
            code = field[at]
            at += 1
            if code == EXTENSION:
                if at >= len(field):
                    raise PacketError(Diag.FACILITY_LENGTH)
                code = field[at]
                at += 1
            extra, length = parameter_length(code, field, at)
            at += extra
            if at + length > len(field):
                raise PacketError(Diag.FACILITY_LENGTH)
            value = field[at : at + length]
            at += length
            if field[start] == MARKER and marker_at == len(field):
                marker_at = start
            if start < marker_at:
                items.append(Facility(code, value, field[start:at]))
        return cls(items, field[marker_at:])

    def encode(self) -> bytes:
        """The facility field without its length octet."""
        return b"".join(item.octets for item in self.items) + self.marked

    def get(self, code: int) -> bytes | None:
        """Parameter of an X.25 facility, or None."""
        for item in self.items:
            if item.code == code and item.octets[0] != EXTENSION:
                return item.value
        return None

    def put(self, code: int, value: bytes) -> None:
        """Replace a facility where it stands, or add it behind the last X.25 facility."""
        new = Facility(code, value, bytes((code,)) + value)
        for index, item in enumerate(self.items):
            if item.code == code and item.octets[0] != EXTENSION:
                self.items[index] = new
                return
        self.items.append(new)

    def copy(self) -> "Facilities":
        return Facilities(list(self.items), self.marked)

    def pair(self, code: int) -> Pair | None:
        """The two octets of packet size or window size, or None if the facility is absent."""
        value = self.get(code)
        return Pair(value[0], value[1]) if value is not None else None

    def put_pair(self, code: int, pair: Pair) -> None:
        self.put(code, bytes(pair))

    @property
    def fast_select(self) -> bool:
        """Bits 8-7 of facility 0x01 are 10 or 11 (X.25 7.2.2)."""
        value = self.get(FAST_SELECT)
        return value is not None and value[0] & 0x80 != 0

    @property
    def restricted(self) -> bool:
        """Fast select with restriction on response: bits 8-7 are 11."""
        value = self.get(FAST_SELECT)
        return value is not None and value[0] & 0xC0 == 0xC0

    @property
    def reverse_charging(self) -> bool:
        value = self.get(FAST_SELECT)
        return value is not None and value[0] & 0x01 != 0

    def check(self, allowed: frozenset[int], modulo: int) -> None:
        """Raise PacketError for an unknown code (65), a repetition (73) or a parameter (66)."""
        seen: set[int] = set()
        for item in self.items:
            if item.octets[0] == EXTENSION or item.code not in allowed:
                raise PacketError(Diag.FACILITY_CODE, ClearCause.INVALID_FACILITY)
            if item.code in seen:
                raise PacketError(Diag.FACILITY_DUPLICATE)
            seen.add(item.code)
            if not parameter_is_legal(item, modulo):
                raise PacketError(Diag.FACILITY_PARAMETER, ClearCause.INVALID_FACILITY)


def parameter_is_legal(item: Facility, modulo: int) -> bool:
    """X.25 7.2.2: values that a parameter may have."""
    if item.code == PACKET_SIZE:
        return all(SMALLEST_SIZE <= octet <= LARGEST_SIZE for octet in item.value)
    if item.code == WINDOW_SIZE:
        return all(1 <= octet < modulo for octet in item.value)
    if item.code in (CLOSED_USER_GROUP, CUG_OUTGOING_ACCESS):
        return item.value.hex().isdecimal()
    return True


def answer_is_legal(requested: int, answered: int, default: int) -> bool:
    """X.25 6.12: the answer lies between the request and the standard default."""
    return min(requested, default) <= answered <= max(requested, default)


def pair_answer_is_legal(code: int, requested: Pair, answered: Pair) -> bool:
    """Both directions of packet size or window size."""
    default = DEFAULT_SIZE if code == PACKET_SIZE else DEFAULT_WINDOW
    return answer_is_legal(requested.called, answered.called, default) and answer_is_legal(
        requested.calling, answered.calling, default
    )


def throughput_answer_is_legal(requested: bytes | None, answered: bytes) -> bool:
    """X.25 6.13: each half of the throughput class may only fall."""
    if requested is None:
        return True
    return answered[0] >> 4 <= requested[0] >> 4 and answered[0] & 0x0F <= requested[0] & 0x0F
