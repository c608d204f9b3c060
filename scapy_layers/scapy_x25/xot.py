# SPDX-License-Identifier: GPL-2.0-or-later
# This file is part of Scapy
# See https://scapy.net/ for more information
# mypy: disallow-subclassing-any=False

# scapy.contrib.description = X.25 over TCP (XOT, RFC 1613)
# scapy.contrib.status = loads

"""X.25 over TCP (RFC 1613 4.1). The header of a unit:

octets 1-2   version, 0
octets 3-4   length: octets of the X.25 packet that follows
"""

from __future__ import annotations

from typing import Any, ClassVar

from scapy.config import conf
from scapy.layers.inet import TCP
from scapy.packet import Packet, bind_bottom_up, bind_layers

from .fields import OptionalInteger
from .x25 import X25

XOT_PORT = 1998
HEADER_OCTETS = 4


class XOT(Packet):
    """The XOT header; the length counts itself unless given. Behind the announced length comes
    Padding: the next unit of the stream."""

    name = "XOT"
    fields_desc: ClassVar[list[Any]] = [
        OptionalInteger("version", 0, 2),
        OptionalInteger("length", None, 2, always=True),
    ]

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        if "length" not in self.fields:
            if len(pay) > 0xFFFF:
                raise ValueError(f"length: {len(pay)} octets do not fit into one XOT unit")
            pkt = pkt[:2] + len(pay).to_bytes(2, "big")
        return pkt + pay

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        length = self.fields.get("length")
        return (s, None) if length is None else (s[:length], s[length:] or None)

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        return conf.raw_layer if self.fields.get("length") is None else X25

    @classmethod
    def tcp_reassemble(
        cls, data: bytes, metadata: dict[str, Any], session: dict[str, Any]
    ) -> Packet | None:
        """One unit per call as soon as all its octets are there; the rest is its Padding."""
        if len(data) < HEADER_OCTETS:
            metadata["tcp_min_len"] = HEADER_OCTETS
            return None
        octets = unit_octets(data)
        if len(data) < octets:
            metadata["tcp_min_len"] = octets
            return None
        return cls(data)

    def hashret(self) -> bytes:
        return bytes(self.payload.hashret())

    def answers(self, other: Packet) -> int:
        return int(self.payload.answers(other.payload)) if isinstance(other, XOT) else 0


def unit_octets(header: bytes) -> int:
    """Octets of the unit, header included, that begins with these four octets or more."""
    return HEADER_OCTETS + int.from_bytes(header[2:4], "big")


def split_units(stream: bytes) -> tuple[list[bytes], bytes]:
    """All complete units at the front of a stream, cut by the announced lengths whatever version
    and length say, and the octets that are left."""
    units = []
    start = 0
    while len(stream) - start >= HEADER_OCTETS:
        end = start + unit_octets(stream[start : start + HEADER_OCTETS])
        if end > len(stream):
            break
        units.append(stream[start:end])
        start = end
    return units, stream[start:]


bind_layers(XOT, X25)
bind_bottom_up(TCP, XOT, dport=XOT_PORT)
bind_bottom_up(TCP, XOT, sport=XOT_PORT)
bind_layers(TCP, XOT, sport=XOT_PORT, dport=XOT_PORT)
