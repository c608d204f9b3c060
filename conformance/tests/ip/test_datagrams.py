# SPDX-License-Identifier: GPL-2.0-or-later
"""A file without TCP, and what is said where a router or a line changes octets."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from x25shark.ip.datagrams import HEADER, Change, compare, parts, records
from x25shark.ip.traffic import make_file

from .conftest import Ip

CONTENT = bytes(range(100))
IP_HEADER = 20
FAST = ("--rate", "10000000", "--delay", "1")


def sent(number: int) -> bytes:
    return struct.pack(">I", number) + CONTENT[number * 30 : number * 30 + 30]


def test_what_came_whole_in_any_order_is_the_file() -> None:
    found = compare(CONTENT, 30, [sent(n) for n in (3, 1, 0, 2, 1)])
    assert (found.content, found.missing, found.changes) == (CONTENT, [], [])
    assert (found.arrived, found.doubled) == (5, 1)


def test_what_is_missing_is_named_by_number() -> None:
    found = compare(CONTENT, 30, [sent(0), sent(3)])
    assert found.missing == [1, 2]
    assert found.content == CONTENT[:30] + bytes(60) + CONTENT[90:]


def test_changes_are_named_by_octet() -> None:
    one = bytearray(sent(1))
    one[4] ^= 0xFF
    one[9] ^= 0x01
    short = sent(2)[:-1]
    found = compare(CONTENT, 30, [sent(0), bytes(one), short, sent(3)])
    assert found.changes == [Change(1, 30, 30, 30 ^ 0xFF, 2), Change(2, 89, 89, -1, 1)]


def test_a_changed_number_is_laid_beside_what_it_was() -> None:
    stray = b"\xff" + sent(2)[1:]
    twice = sent(0)[:3] + b"\x03" + sent(0)[4:]  # number 0 that has become 3
    found = compare(CONTENT, 30, [sent(3), sent(1), stray, twice])
    assert found.missing == []
    assert found.content == CONTENT
    assert [change.number for change in found.changes] == [0, 2]
    assert found.changes[1] == Change(2, 60, 0, 0xFF, 1)


def test_an_unfinished_record_is_left_out() -> None:
    record = struct.pack(">dH", 1.5, 3) + b"abc"
    assert list(records(record + record[:-1])) == [(1.5, b"abc")]
    assert list(records(record + record[:7])) == [(1.5, b"abc")]


def test_a_router_that_changes_octets_is_found(ip: Ip, tmp_path: Path) -> None:
    """In text mode: 0x0D becomes 0x0A."""
    words = (*FAST, "--octets", "20000", "--no-capture", "-o", str(tmp_path))
    done = ip("datagrams", *words, "--fault", "BUG-DATA-11")
    assert done.returncode == 1, done.stderr
    assert "differs from what was sent" in done.stdout
    assert "is 0x0a, sent was 0x0d (datagram " in done.stdout
    result = json.loads((tmp_path / "ip.json").read_text())
    (row,) = result["experiments"]["datagrams"]["rows"]
    assert row["same"] is False
    assert row["lost"] == 0
    make_file(tmp_path / "sent", 20_000, result["options"]["seed"])
    octets = result["options"]["mtu"] - IP_HEADER - HEADER
    assert row["changed"] == sum(
        0x0D in part for part in parts((tmp_path / "sent").read_bytes(), octets)
    )
    changed = {(change["sent"], change["received"]) for change in row["changes"]}
    assert changed == {(0x0D, 0x0A)}


def test_a_file_passes_without_checksum(ip: Ip) -> None:
    for more in ((), ("--ipv6", "--mtu", "1500", "--circuits", "2")):
        done = ip("datagrams", *FAST, "--octets", "20000", *more)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "FOUND" not in done.stdout


def test_a_transfer_that_cannot_end_is_given_up(ip: Ip) -> None:
    done = ip(
        "circuits", *FAST, "--numbers", "1", "--octets", "50000", "--fault", "BUG-DATA-11",
        "--limit", "20",
    )  # fmt: skip
    assert done.returncode == 1
    assert "put: 0 of 50 000 octets after 1" in done.stdout
    assert "lost, given up after 20 s (--limit); 0 of 50 000 octets had arrived" in done.stdout
    assert "arrived with a wrong checksum: octets are changed on the way" in done.stdout
