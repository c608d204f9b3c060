# SPDX-License-Identifier: GPL-2.0-or-later
"""One bounded line of text for a packet, safe for octets from anywhere."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from scapy.packet import Packet, Raw

from .remembered import remembered
from .tables import cause_meaning, diagnostic_meaning, pvc_status_meaning
from .x25 import X25, Data, Data128, packet_class

LONGEST = 200
_SHOWN_OCTETS = 8

# How the packet is called where it is not known who sent it (a cause of networks tells).
_NAMES = {
    "CallRequest": "Call Request",
    "CallAccepted": "Call Accepted",
    "ClearRequest": "Clear Request",
    "ClearConfirmation": "Clear Confirmation",
    "Data128": "Data",
    "InterruptConfirmation": "Interrupt Confirmation",
    "RR128": "RR",
    "RNR128": "RNR",
    "REJ128": "REJ",
    "ResetRequest": "Reset Request",
    "ResetConfirmation": "Reset Confirmation",
    "RestartRequest": "Restart Request",
    "RestartConfirmation": "Restart Confirmation",
    "RegistrationRequest": "Registration Request",
    "RegistrationConfirmation": "Registration Confirmation",
    "PvcSetup": "PVC setup",
    "Undefined": "undefined packet",
    "X25": "X.25 packet",
}
# How X.25 5.2 to 5.5 calls what goes to the DTE.
_TO_DTE = {
    "Call Request": "Incoming Call",
    "Call Accepted": "Call Connected",
    "Clear Request": "Clear Indication",
    "Reset Request": "Reset Indication",
    "Restart Request": "Restart Indication",
}
_CAUSES = {
    "ClearRequest": "clear",
    "ResetRequest": "reset",
    "RestartRequest": "restart",
    "RegistrationConfirmation": "registration",
}


def printable(text: str, longest: int = LONGEST) -> str:
    """The text in printable ASCII, other characters as '?', and no longer than that."""
    safe = text[: longest + 1]
    if not (safe.isascii() and safe.isprintable()):
        safe = "".join(c if " " <= c <= "~" else "?" for c in safe)
    return safe if len(safe) <= longest else safe[: longest - 3] + "..."


def _octets(value: Any) -> str:
    if not isinstance(value, bytes):
        return str(value)
    more = "..." if len(value) > _SHOWN_OCTETS else ""
    return f"{value[:_SHOWN_OCTETS].hex()}{more} ({counted(value)})"


def counted(octets: bytes) -> str:
    """How many octets, in words."""
    return f"{len(octets)} octet{'' if len(octets) == 1 else 's'}"


def _coded(name: str, value: Any, meaning: str, hexadecimal: bool) -> str:
    shown = f"{value:#04x}" if hexadecimal and isinstance(value, int) else str(value)
    return f"{name}={shown} ({meaning})" if meaning else f"{name}={shown}"


def _title(packet: Packet, to_dte: bool | None) -> str:
    kind = type(packet).__name__
    title = _NAMES.get(kind, kind)
    cause = packet.fields.get("cause")
    if to_dte is not None:
        title = _TO_DTE.get(title, title) if to_dte else title
    elif kind != "RegistrationConfirmation" and isinstance(cause, int) and 0 < cause < 0x80:
        title = title.replace("Request", "Indication")
    return title


def _size(code: Any) -> str:
    """A packet size in octets (X.25 7.2.2.1: the code is its logarithm to base 2)."""
    if isinstance(code, int):
        return str(1 << code) if 4 <= code <= 12 else f"code {code}"
    values = getattr(code, "values", None)
    if isinstance(values, tuple) and values and all(isinstance(v, int) for v in values):
        return "|".join(_size(v) for v in values)
    if hasattr(code, "low") and hasattr(code, "high"):
        low, high = _size(code.low), _size(code.high)
        return low if low == high else f"{low}..{high}"
    return f"code {code}"


def _facility(facility: Any) -> str:
    if not isinstance(facility, Packet):
        return str(facility)
    if isinstance(facility, Raw):
        return f"cut off: {_octets(bytes(facility))}"
    values = facility.fields
    if "called" in values and "calling" in values:
        sizes = type(facility).__name__ == "PacketSize"
        shown = [_size(v) if sizes else str(v) for v in (values["called"], values["calling"])]
        return f"{facility.name} {shown[0]}/{shown[1]}"
    shown = [
        f"{name}={value.hex() if isinstance(value, bytes) else value}"
        for name, value in values.items()
        if name not in ("length", "reserved", "filler")
        and (name != "code" or "value" in values)
        and value is not None
    ]
    return " ".join([str(facility.name), *shown])


def _items(packet: Packet) -> list[str]:
    """The fields worth a word, in the order of the packet."""
    kind = type(packet).__name__
    given = packet.fields
    items = []
    if given.get("lcn") is not None:
        items.append(f"LCI={given['lcn']}")
    if kind == "Undefined" and given.get("modulo") not in (1, 2, None):
        items.append(f"GFI bits 6-5={given['modulo']}")
    if kind in ("Undefined", "X25") and isinstance(given.get("type"), int):
        items.append(f"type={given['type']:#04x}")
    for name, label in (("p_s", "P(S)"), ("p_r", "P(R)")):
        if given.get(name) is not None:
            items.append(f"{label}={given[name]}")
    for name in ("m", "d", "q"):
        if given.get(name) is not None and given[name] != 0:
            label = "A" if name == "q" and "called_address" in packet.fieldtype else name.upper()
            items.append(label if given[name] == 1 else f"{label}={given[name]}")
    if given.get("cause") is not None:
        cause = given["cause"]
        known = isinstance(cause, int) and kind in _CAUSES
        items.append(
            _coded("cause", cause, cause_meaning(_CAUSES[kind], cause) if known else "", True)
        )
    if given.get("diagnostic") is not None:
        code = given["diagnostic"]
        meaning = diagnostic_meaning(code) if isinstance(code, int) else ""
        items.append(_coded("diagnostic", code, meaning, False))
    if given.get("pvc_status") is not None:
        status = given["pvc_status"]
        meaning = pvc_status_meaning(status) if isinstance(status, int) else ""
        items.append(_coded("status", status, meaning, True))
    for side in ("initiator", "responder"):
        name = given.get(f"pvc_{side}_name")
        if name is not None:
            text = name.decode("latin-1") if isinstance(name, bytes) else str(name)
            items.append(f"{side}={text}/{given.get(f'pvc_{side}_lcn')}")
    for side in ("called", "calling"):
        if not _absent(given.get(f"{side}_address")):
            items.append(f"{side}={given[f'{side}_address']}")
    facilities = given.get("facilities")
    if isinstance(facilities, list) and facilities:
        items.append("[" + ", ".join(_facility(f) for f in facilities) + "]")
    elif not _absent(facilities):
        items.append(f"facilities={_octets(facilities)}")
    if kind in ("Data", "Data128") and isinstance(given.get("user_data"), bytes):
        items.append(counted(given["user_data"]))
    else:
        for name in ("user_data", "explanation", "registration"):
            if not _absent(given.get(name)):
                items.append(f"{name.replace('_', ' ')}={_octets(given[name])}")
    if bytes(packet.payload):
        items.append(f"+{counted(bytes(packet.payload))}")
    return items


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, (bytes, str, list)) and not value)


def describe(packet: Packet, to_dte: bool | None = None) -> str:
    """One line for a packet or template: its name and the fields it was given or dissected with.

    to_dte: whether it goes to the DTE (Clear Indication) or comes from it (Clear Request); None if
    that is not known. Printable ASCII, at most LONGEST characters.
    """
    return printable(" ".join([_title(packet, to_dte), *_items(packet)]))


# Octets in front of the user data.
_DATA_HEADERS: dict[type[Packet], int] = {Data: 3, Data128: 4}


@lru_cache(maxsize=1024)
def _data_header(octets: bytes) -> Packet:
    return X25(octets)


@remembered
def decoded(octets: bytes) -> Packet:
    """The octets of an X.25 packet as a packet. The result is shared: do not change it."""
    kind = packet_class(octets) if octets else X25
    header = _DATA_HEADERS.get(kind, len(octets))
    if len(octets) <= header:
        return X25(octets)
    # Hardly any two Data are equal, but their headers are few.
    whole = kind()
    whole.fields = {**_data_header(octets[:header]).fields, "user_data": octets[header:]}
    # As if it had been dissected as a whole: asked for its octets, it gives these.
    whole.original = whole.raw_packet_cache = octets
    whole.raw_packet_cache_fields = {}
    whole.explicit = 1
    return whole


@remembered
def summary_line(octets: bytes, to_dte: bool | None = None) -> str:
    """One line for the octets of an X.25 packet (without XOT header), as describe()."""
    return describe(decoded(octets), to_dte) if octets else "empty packet"
