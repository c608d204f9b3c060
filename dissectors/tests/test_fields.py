# SPDX-License-Identifier: GPL-2.0-or-later
"""The strict fields against the Scapy layers: the same octets, the same values, for every class.

The two decoders were written apart from each other; where they differ one misreads the standard.
"""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest
from capture_builder import A, Connection, pcapng, unit
from scapy.packet import Packet
from scapy_x25 import X25, Facility
from x25shark.judges.strict import facility_meaning, strict_fields
from x25shark.judges.wireshark import WiresharkJudge

# One packet of every type and format; mutations of them reach the rest.
SEEDS = """\
10010b55123459876506420707430202 01000000
10010b0000
10010b50 1234500a
10010b00 0142 0707
90010b0707 13123451398765 00 c0
90010b0103 1 01345000
10010b00 0d 00 0f c9 07 86 123456 ca 02 0010 0a 34
10010b00 08 ff 02 07 08 ff c5 02 aa bb
10010b00 10 0103 0181 0312 0401 0807 0934 4c0102 0b01
10010b00 12 411234 440208 471111 482222 490064 02b9 00
10010b00 15 d20201 02 c90204 12 00 0f d20201 02 000f c60141 3e01
10010f
10010f00
10010f551234598765
10010f00 06 420707 430303 aabb
200a0f00 00
10011305
1001130501
100113050155123459876500aabb
10011300f4 00 03 08c0 00 aa
100117
10011755123459876500
10011700 06 c50412345678
100100 aa
100110 aabb
1001ee ff
d001f2 00112233
200100 00
2001fe ff aabbcc
20010201
100101
100125
100149
1001e101
200101 fe
200105 10
200109 11 22
200121 00
100123 aa
100123
1001270000
10011b05
10011b0501
10011b050101
10011f
1000fb07
1000fb0700
1001fb0700
1000ff
1000f126 100123
1000f126 10012300
1000f3 55 1234598765 03 010203
1000f7 7f00 00 00
1001f5 81 00 03 0001 02 0002 02 02 07 07 414243 4445
1001f5 81 13 00 0001 00 0002 02 02 07 07 ff
1001f5 81
100103 11
1001fd
000100 aa
3001 0b
300110
10
1001
ffffff
"""


def _seeds() -> list[bytes]:
    seeds = []
    for line in SEEDS.splitlines():
        digits = line.replace(" ", "")
        if digits:
            seeds.append(bytes.fromhex(digits + "0" * (len(digits) % 2)))
    return seeds


def _mutants(count: int) -> list[bytes]:
    """Seeds with octets changed, inserted, removed or cut off; always the same."""
    choose = random.Random(1613)
    seeds = _seeds()
    found = list(seeds)
    while len(found) < count:
        octets = bytearray(choose.choice(seeds))
        for _ in range(choose.randint(1, 3)):
            place = choose.randrange(len(octets)) if octets else 0
            match choose.randrange(4):
                case 0 if octets:
                    octets[place] = choose.randrange(256)
                case 1:
                    octets.insert(place, choose.randrange(256))
                case 2 if len(octets) > 1:
                    del octets[place]
                case _:
                    octets = octets[: max(2, place)]
        found.append(bytes(octets))
    return found


def _scapy_values(octets: bytes) -> dict[str, list[Any]]:
    """What the Scapy layers say, under the names of the strict fields."""
    packet = X25(octets)
    values: dict[str, list[Any]] = defaultdict(list)

    def take(layer: Packet) -> None:
        for name, strict in strict_fields(type(layer)).items():
            value = layer.getfieldval(name) if name in layer.fields else None
            if value is None or value == b"" or isinstance(value, list):
                continue
            values[strict].append(value)

    take(packet)
    for facility in packet.fields.get("facilities") or []:
        if isinstance(facility, Facility):
            take(facility)
            if (meaning := facility_meaning(facility)) is not None:
                # In front of the parameter: the code and, in class D, the length octet.
                parameter = bytes(facility)[2 if facility.code >= 0xC0 else 1 :]
                values["x25s.facility_meaning"].append(meaning + parameter.hex())
    if rest := bytes(packet.payload):
        values["x25s.trailing"].append(rest)
    return dict(values)


PACKETS = _mutants(1500)


@pytest.fixture(scope="module")
def strict(judge: WiresharkJudge) -> list[dict[str, list[Any]]]:
    names = sorted(
        {"x25s.trailing", "x25s.octets"}.union(*(_scapy_values(octets) for octets in PACKETS))
        - {"x25s.facilities"}
    )
    made = Connection().open()
    for octets in PACKETS:
        made.send(A, unit(octets))
    reading = judge.read(pcapng(made.frames), fields=names, timeout=120)
    assert reading.lua_errors == ()
    assert [p.fields["x25s.octets"][0] for p in reading.packets] == PACKETS
    return [
        {name: list(values) for name, values in p.fields.items() if name != "x25s.octets"}
        for p in reading.packets
    ]


def test_every_packet_has_the_same_values_in_both(strict: list[dict[str, list[Any]]]) -> None:
    for octets, seen in zip(PACKETS, strict, strict=True):
        expected = _scapy_values(octets)
        # Code and value are shown with every facility; Scapy names the value of generic ones only.
        assert seen.pop("x25s.facility_value", []) or "x25s.facility_value" not in expected
        expected.pop("x25s.facility_value", None)
        assert seen == expected, octets.hex()
