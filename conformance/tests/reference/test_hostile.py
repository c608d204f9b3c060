# SPDX-License-Identifier: GPL-2.0-or-later
"""Anything may come in: the router never fails, stays bounded, and what it sends is well formed."""

import random
from typing import Any

import pytest

CALL = "10010b772100001310000106420707430202"
PACKETS = (
    *(CALL, "10010f", "10010f0006420707430202", "1001130000", "100117", "10010041", "10010241"),
    *("100101", "100121", "100105", "10012301", "100127", "10011b0007", "10011f", "10012b"),
    *("20010b0000", "5001100142", "90010042", "10010b04111100", "10010b0411130000"),
    *("1000fb0000", "1000ff", "1000f12400", "100109", "10010b0000", "100100" + "41" * 128),
    *("1001f581000700010700020202070753657269616c3953657269616c30", "10011300000000abcd"),
)
PVC = {"name": "Serial0", "lcn": 2, "remote_name": "Serial9", "remote_lcn": 1, "to": "echo"}


def mutate(chance: random.Random, packet: str) -> bytes:
    """The packet as it is, or with an octet changed, cut or extended."""
    octets = bytearray.fromhex(packet)
    match chance.randrange(8):
        case 0:
            octets[chance.randrange(len(octets))] = chance.randrange(256)
        case 1:
            del octets[chance.randrange(3, len(octets) + 1) :]
        case 2:
            octets += chance.randbytes(chance.randrange(1, 40))
        case 3:
            octets = bytearray(chance.randbytes(chance.randrange(3, 60)))
    return bytes(octets)


def well_formed(packet: str) -> bool:
    """Length of the packets that have a fixed one, known type, nothing of local significance."""
    octets = bytes.fromhex(packet)
    modulo_8 = octets[0] & 0x30 == 0x10
    kind = octets[2]
    if not kind & 1:
        return len(octets) >= (3 if modulo_8 else 4)
    if modulo_8 and kind & 0x1F in (1, 5):
        return len(octets) == 3
    if not modulo_8 and kind in (1, 5):
        return len(octets) == 4
    lengths = {0x17: (3, 3), 0x1F: (3, 3), 0x27: (3, 3), 0x1B: (5, 5), 0x23: (4, 35)}
    lengths |= {0x0B: (5, 259), 0x0F: (3, 259), 0x13: (5, 259), 0xF5: (15, 525)}
    low, high = lengths.get(kind, (1, 0))
    return low <= len(octets) <= high


@pytest.mark.parametrize("model", ["local", "end-to-end", "splice"])
@pytest.mark.parametrize("seed", range(8))
def test_random_packets_in_random_order(make_lab: Any, model: str, seed: int) -> None:
    chance = random.Random(seed)
    lab = make_lab(model, max_calls=20, pvc=[PVC])
    for step in range(600):
        match chance.randrange(24):
            case 0:
                lab.caller()
            case 1:
                lab.timers.advance(chance.choice((1, 61, 200)))
            case 2:
                lab.open(succeed=chance.random() < 0.8)
        peers = [one for one in (*lab.callers, *lab.called) if not one.closed]
        if not peers:
            peers = [lab.caller()]
        peer = chance.choice(peers[-6:])
        if step % 50 == 49:
            peer.hang_up(reset=chance.random() < 0.5)
            continue
        packets = [mutate(chance, chance.choice(PACKETS)) for _ in range(chance.randrange(1, 4))]
        peer.tell_together(*(one.hex() for one in packets))
        assert len(lab.router.circuits) <= 20
    if model != "splice":
        # A splice passes what it gets.
        sent = [packet for peer in (*lab.callers, *lab.called) for packet in peer.got]
        assert [packet for packet in sent if not well_formed(packet)] == []
    for peer in (*lab.callers, *lab.called):
        if not peer.closed:
            peer.hang_up()
    lab.open()
    for peer in lab.called:
        if not peer.closed:
            peer.hang_up()
    lab.timers.advance(1000)
    assert not lab.router.circuits
    assert not lab.router.connections
    assert not lab.router.used_lcns
    gauges = lab.router.counters.as_dict()["global"]
    for name in ("Incoming", "Outgoing", "Twoway"):
        assert gauges[f"x25Stat{name}Circuits"] == 0
    a, b = lab.call(CALL)
    a.tell("10010041")
    assert b.take()[-1].endswith("0041")


@pytest.mark.parametrize("seed", range(20))
def test_random_octets(make_lab: Any, seed: int) -> None:
    chance = random.Random(seed)
    lab = make_lab()
    for _ in range(50):
        a = lab.caller()
        for _ in range(5):
            octets = chance.randbytes(chance.randrange(1, 30))
            if chance.random() < 0.5:
                octets = b"\0\0\0" + octets
            a.raw(octets.hex())


@pytest.mark.parametrize("packet", PACKETS)
def test_every_packet_cut_at_every_octet(make_lab: Any, packet: str) -> None:
    for end in range(6, len(packet) + 1, 2):
        for model in ("local", "end-to-end", "splice"):
            lab = make_lab(model)
            for prepare in (0, 1, 2):
                if prepare == 2:
                    a, b = lab.call(CALL)
                else:
                    a = lab.caller()
                    if prepare:
                        a.tell(CALL)
                a.tell(packet[:end])
                lab.open()
        a, b = lab.call(CALL)
        a.tell("10010041")
        assert b.take()[-1].endswith("0041")


@pytest.mark.parametrize("cut", range(1, 24))
def test_any_segmentation_gives_the_same_packets(make_lab: Any, cut: int) -> None:
    octets = "".join(f"0000{len(one) // 2:04x}{one}" for one in (CALL, "1001130007", CALL))
    lab = make_lab()
    a = lab.caller()
    for at in range(0, len(octets), 2 * cut):
        a.raw(octets[at : at + 2 * cut])
    assert a.take() == ["100117"]
    lab.open()
    assert [b.take() for b in lab.called] == [[CALL]]


def test_stalled_connections_are_small(make_lab: Any) -> None:
    """An announced length costs nothing before the octets are there."""
    lab = make_lab()
    for _ in range(64):
        a = lab.caller()
        a.raw("00001000" + "10")
        assert len(a.connection.framer._input) == 5
    b = lab.caller()
    b.tell(CALL)
    assert len(lab.opening) == 1
