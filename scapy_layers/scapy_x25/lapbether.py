# SPDX-License-Identifier: GPL-2.0-or-later
# This file is part of Scapy
# See https://scapy.net/ for more information
# mypy: disallow-subclassing-any=False

# scapy.contrib.description = LAPB over Ethernet, as Linux lapbether does
# scapy.contrib.status = loads

"""LAPB over Ethernet: Ethertype 0x6000; the Ethernet payload is

octets 1-2   length of the LAPB frame, low octet first
octets 3..   LAPB frame without FCS; Ethernet padding behind it is ignored
"""

from __future__ import annotations

from typing import Any, ClassVar

from scapy.layers.l2 import Ether
from scapy.packet import Packet, bind_layers

from .fields import OptionalInteger
from .lapb import LAPB

ETHERTYPE = 0x6000


class LapbEther(Packet):
    """The length in front of a LAPB frame; it counts itself unless given."""

    name = "LAPB over Ethernet"
    fields_desc: ClassVar[list[Any]] = [
        OptionalInteger("length", None, 2, always=True, order="little")
    ]

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        if "length" not in self.fields:
            if len(pay) > 0xFFFF:
                raise ValueError(f"length: {len(pay)} octets do not fit into one frame")
            pkt = len(pay).to_bytes(2, "little")
        return pkt + pay

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        length = self.fields.get("length")
        return (s, None) if length is None else (s[:length], s[length:] or None)


bind_layers(LapbEther, LAPB)
bind_layers(Ether, LapbEther, type=ETHERTYPE)
