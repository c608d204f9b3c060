# SPDX-License-Identifier: GPL-2.0-or-later
"""Templates: a Scapy packet of which only the named fields matter.

One template serves both judges: matches() compares it with the octets of a packet, to_filter()
writes it as a Wireshark display filter over the strict dissector's fields. In that filter {k}
stands for the number of the packet within its frame, so that the fields of one packet are never
mixed with those of another packet of the same TCP segment.

A facility list in a template means: these facilities are there, whatever else is there. Exactly
these, octet for octet, is said with facilities=bytes. lacks(PacketSize) says that one is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scapy.packet import Packet, Raw
from scapy_x25 import (
    X25,
    ClearRequest,
    Facility,
    ResetRequest,
    decoded,
    describe,
    summary_line,
)
from scapy_x25.lapb import LAPB
from scapy_x25.summary import counted

from .frames import (
    FrameOf,
    InvalidFrame,
    decode_frame,
    describe_frame,
    frame_filter,
    is_invalid,
    kind_of,
)
from .strict import facility_meaning, strict_conditions, strict_fields
from .values import ABSENT, Absent, Matcher, literal

ANY_PACKET = "x25s.length#{k} >= 1"
ANY_FRAME = "lapbs.address#{k} >= 0"
INVALID_FRAME = "hdlcs.length#{k} >= 1 && !(lapbs.address#{k})"


@dataclass(frozen=True)
class Lacks:
    """In a facility list: no facility of this class, which is not a generic one."""

    facility: type[Facility]

    def __str__(self) -> str:
        return f"no {self.facility.__name__}"


def lacks(facility: type[Facility]) -> Lacks:
    """In the facility list of a template: a facility that must not be there."""
    return Lacks(facility)


def matches(template: Packet, octets: bytes) -> bool:
    """Judge one: whether the octets are as the template says.

    They are those of an X.25 packet, or for a LAPB template those of a frame with FCS.
    """
    if isinstance(template, InvalidFrame):
        return is_invalid(octets)
    if isinstance(template, FrameOf):
        return kind_of(octets, template.longest) == template.kind
    if isinstance(template, LAPB):
        frame = decode_frame(octets)
        if frame is None:
            return False
        packet = frame
    else:
        packet = decode(octets)
    if type(template) not in (X25, LAPB) and type(packet) is not type(template):
        return False
    return all(
        _field_matches(name, wanted, packet)
        or (packet.fields.get(name) is None and _may_be_left_out(template, name, wanted))
        for name, wanted in template.fields.items()
    ) and (not isinstance(template.payload, Raw) or bytes(template.payload) == packet_rest(packet))


def wrong_fields(template: Packet, octets: bytes) -> list[str]:
    """The fields in which a packet (or frame) of the template's kind is not as it says, in words.

    Nothing if it is of another kind.
    """
    if isinstance(template, (InvalidFrame, FrameOf)):
        return []
    packet = decode_frame(octets) if isinstance(template, LAPB) else decode(octets)
    if packet is None or type(packet) is not type(template):
        return []
    found = []
    for name, wanted in template.fields.items():
        left_out = packet.fields.get(name) is None and _may_be_left_out(template, name, wanted)
        if _field_matches(name, wanted, packet) or left_out:
            continue
        if name == "facilities" and isinstance(wanted, list):
            found += _wrong_facilities(wanted, packet.fields.get(name))
        else:
            found.append(_in_a_word(name, wanted, packet.fields.get(name)))
    if isinstance(template.payload, Raw) and bytes(template.payload) != packet_rest(packet):
        found.append("the packet in it" if isinstance(template, LAPB) else "octets behind it")
    return found


def _wrong_facilities(wanted: list[Any], value: Any) -> list[str]:
    return [
        f"{item.facility().name}, which is there" if isinstance(item, Lacks) else str(item.name)
        for item in wanted
        if not _facilities_match([item], value)
    ]


_WORDS = {
    **{"p_s": "P(S)", "p_r": "P(R)", "n_s": "N(S)", "n_r": "N(R)", "v_s": "V(S)", "v_r": "V(R)"},
    **{"p_f": "P/F", "c_r": "C/R", "lcn": "LCI", "rejected_control": "rejected"},
}


# By the value of bits 6 and 5 of octet 1.
_MODULI = {1: 8, 2: 128}


def _in_a_word(name: str, wanted: Any, value: Any) -> str:
    """A field, and for octets where they differ."""
    word = _WORDS.get(name, name.upper() if len(name) == 1 else name.replace("_", " "))
    if name == "modulo" and isinstance(wanted, int) and {wanted, value} <= set(_MODULI):
        return f"{word} ({_MODULI[value]} in place of {_MODULI[wanted]})"
    if not isinstance(wanted, bytes) or not isinstance(value, bytes):
        return word
    same = next((i for i, (a, b) in enumerate(zip(wanted, value, strict=False)) if a != b), None)
    if same is None:
        return f"{word} ({counted(value)} in place of {len(wanted)})"
    return f"{word} (from octet {same} on)"


# The octets of a packet as a Scapy packet, which is shared.
decode = decoded


def type_of(packet: Packet) -> int | None:
    """Octet 3 without sequence numbers; None if there is none."""
    kind: int | None = strict_conditions(type(packet)).get("x25s.type", packet.fields.get("type"))
    return kind


def packet_rest(packet: Packet) -> bytes:
    """The octets behind the last field that the packet's class knows."""
    return bytes(packet.payload)


def _field_matches(name: str, wanted: Any, packet: Packet) -> bool:
    value = packet.fields.get(name)
    if type(wanted) is int:  # most are
        return bool(value == wanted)
    if name == "facilities" and not isinstance(wanted, (bytes, Matcher)):
        return _facilities_match(wanted, value)
    if name == "facilities":
        value = _facility_octets(value)
    if isinstance(wanted, Matcher):
        return wanted.matches(value)
    return _empty(value) if _empty(wanted) else bool(value == wanted)


def _may_be_left_out(template: Packet, name: str, wanted: Any) -> bool:
    """Without the octet of the diagnostic it is 0, and no end of XOT is the DCE (X.25 5.2.4)."""
    if name != "diagnostic" or not isinstance(template, (ClearRequest, ResetRequest)):
        return False
    return wanted.matches(0) if isinstance(wanted, Matcher) else bool(wanted == 0)


def _empty(value: Any) -> bool:
    """No octets, no digits, or not there: the strict dissector shows no field for either."""
    return value is None or (isinstance(value, (bytes, str, list)) and not value)


def _facility_octets(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return b"".join(bytes(f) for f in value or ())


def _facilities_match(wanted: list[Any], value: Any) -> bool:
    present = value if isinstance(value, list) else []
    for item in wanted:
        if isinstance(item, Lacks):
            if any(type(f) is item.facility for f in present):
                return False
        elif not any(_facility_matches(item, f) for f in present):
            return False
    return True


def _facility_matches(wanted: Packet, facility: Packet) -> bool:
    if type(wanted) is not type(facility):
        return False
    for name, value in wanted.fields.items():
        seen = facility.getfieldval(name)
        if not (value.matches(seen) if isinstance(value, Matcher) else seen == value):
            return False
    return True


# Filters by the identity of the template, kept with it: an expectation asks for its filter several
# times, and many expectations share templates.
_written: dict[int, tuple[Packet, str]] = {}
_MOST_WRITTEN = 4096


def to_filter(template: Packet) -> str:
    """Judge two: the template as a display filter, {k} standing for the packet's layer number.

    A template that has been written must not be changed.
    """
    known = _written.get(id(template))
    if known is None or known[0] is not template:
        if len(_written) >= _MOST_WRITTEN:
            _written.clear()
        known = _written[id(template)] = (template, _filter(template))
    return known[1]


def _filter(template: Packet) -> str:
    if isinstance(template, InvalidFrame):
        return INVALID_FRAME
    if isinstance(template, FrameOf):
        return frame_filter(template)
    conditions = strict_conditions(type(template))
    parts = [f"{field}#{{k}} == {literal(value)}" for field, value in conditions.items()]
    if "x25s.type" in conditions and "x25s.modulo" not in conditions:
        parts.append("x25s.modulo#{k} in {1, 2}")
    names = strict_fields(type(template))
    for name, wanted in template.fields.items():
        if name == "facilities" and not isinstance(wanted, (bytes, Matcher)):
            parts += [part for item in wanted for part in _facility_filter(item)]
        elif name == "type" and {"x25s.type", "lapbs.type"} & conditions.keys():
            continue
        elif _may_be_left_out(template, name, wanted):
            absent = ABSENT.filter(f"{names[name]}#{{k}}")
            parts.append(f"({_condition(names[name], wanted)} || {absent})")
        else:
            parts.append(_condition(names[name], wanted))
    if isinstance(template.payload, Raw):
        rest = "lapbs.information" if isinstance(template, LAPB) else "x25s.trailing"
        parts.append(_condition(rest, bytes(template.payload)))
    anything = ANY_FRAME if isinstance(template, LAPB) else ANY_PACKET
    return " && ".join(parts) if parts else anything


def _condition(field: str, wanted: Any) -> str:
    numbered = f"{field}#{{k}}"
    if isinstance(wanted, Absent) or _empty(wanted):
        # An octet field without octets is not shown; an address of length 0 is shown as "".
        absent = ABSENT.filter(numbered)
        return f'({absent} || {numbered} == "")' if field.endswith("_address") else absent
    if isinstance(wanted, Matcher):
        return wanted.filter(numbered)
    return f"{numbered} == {literal(wanted)}"


_MEANING = "x25s.facility_meaning"


def _facility_filter(item: Packet | Lacks) -> list[str]:
    if isinstance(item, Lacks):
        (present,) = _facility_filter(item.facility())
        return [f"!({present})"]
    names = strict_fields(type(item))
    meaning = facility_meaning(item)
    if meaning is None:
        conditions = [_condition(names[name], value) for name, value in item.fields.items()]
        return conditions or [f"{next(f for n, f in names.items() if n != 'code')}#{{k}}"]
    value = item.fields.get("value")
    if isinstance(value, bytes):
        return [f"{_MEANING}#{{k}} == {literal(meaning + value.hex())}"]
    rest = {n: v for n, v in item.fields.items() if n != "code"}
    return [
        f"{_MEANING}#{{k}} matches {literal(f'^{meaning}')}",
        *(_condition(names[name], wanted) for name, wanted in rest.items()),
    ]


def describe_template(template: Packet) -> str:
    """The template in words; templates are of what the router sends, so to a DTE."""
    if isinstance(template, (LAPB, InvalidFrame, FrameOf)):
        text = describe_frame(template)
        carried = bytes(template.payload) if isinstance(template.payload, Raw) else b""
        return f"{text} | {summary_line(carried)}" if carried else text
    wanted = template.fields.get("facilities")
    lacking = ""
    shown = template
    if isinstance(wanted, list):
        shown = template.copy()
        lacking = "".join(f" without {i.facility().name}" for i in wanted if isinstance(i, Lacks))
        shown.fields["facilities"] = [i for i in wanted if not isinstance(i, Lacks)]
    return describe(shown, to_dte=True) + lacking
