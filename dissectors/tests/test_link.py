# SPDX-License-Identifier: GPL-2.0-or-later
"""HDLC and LAPB on link type USER0: fields, experts, keys; both judges read the same."""

from __future__ import annotations

import struct

import pytest
from alike import read_alike
from capture_builder import pcapng
from scapy.packet import Packet
from scapy_x25 import hdlc
from scapy_x25.lapb import FRAMES, LAPB, LAPB128, LapbUndefined
from x25shark.judges.reading import Hit, Reading
from x25shark.judges.strict import strict_conditions, strict_fields
from x25shark.judges.tshark import TsharkJudge
from x25shark.judges.wireshark import WiresharkJudge

USER0 = 147
INBOUND, OUTBOUND = 1, 2
UNALIGNED, SYMBOL_ERROR = 1 << 28, 1 << 31

Frame = tuple[int, bytes]


def out(frame: str) -> Frame:
    """A frame of the tester, given without FCS."""
    return OUTBOUND, hdlc.with_fcs(bytes.fromhex(frame))


def back(frame: str) -> Frame:
    """A frame of the router."""
    return INBOUND, hdlc.with_fcs(bytes.fromhex(frame))


def capture(*frames: Frame) -> bytes:
    return pcapng([octets for _, octets in frames], USER0, [flags for flags, _ in frames])


SET_UP = (out("013f"), back("0173"), back("03001000fb0700"), out("01201000ff"))
CALL = (out("012210010b0621000000"), back("034210010f0006420707430202"))
DAMAGED = (OUTBOUND, bytes.fromhex("013febde"))
RUNT = (OUTBOUND, bytes.fromhex("0153"))
ABORTED = (OUTBOUND | SYMBOL_ERROR, bytes.fromhex("012210"))
ODD_BITS = (OUTBOUND | UNALIGNED, bytes.fromhex("01221001ff"))
GIANT = out("0124" + "10010000" + "00" * 4200)
STRANGER = out("0553")
EXTENDED = (out("017f"), back("0173"), back("0300012000fb0700"), out("0100032000ff"))

CAPTURES: dict[str, bytes] = {
    "call": capture(*SET_UP, *CALL, out("014410010068"), back("0361"), out("01041001130000")),
    "invalid frames": capture(*SET_UP, DAMAGED, RUNT, ABORTED, ODD_BITS, GIANT, STRANGER),
    "empty records": capture((OUTBOUND, b""), (OUTBOUND | SYMBOL_ERROR, b""), *SET_UP),
    "modulo 128": capture(
        *EXTENDED,
        out("01020320010b0621000000"),
        back("03020420010f0006420707430202"),
        out("010105"),
        back("03970004080404"),
    ),
    "rejections": capture(
        *SET_UP, out("01ef"), back("0187ef2201"), out("0121aa"), back("018721"), out("013faa")
    ),
    "no direction": capture((0, SET_UP[0][1]), (0, SET_UP[1][1])),
}
FIELDS = [
    "hdlcs.fcs",
    "hdlcs.fcs_status",
    "hdlcs.length",
    "hdlcs.aborted",
    "hdlcs.unaligned",
    "lapbs.address",
    "lapbs.control",
    "lapbs.type",
    "lapbs.n_s",
    "lapbs.n_r",
    "lapbs.p_f",
    "lapbs.information",
    "lapbs.w",
    "lapbs.rejected_control",
    "lapbs.v_s",
    "lapbs.v_r",
    "lapbs.undefined",
    "x25s.type",
    "x25s.lcn",
    "x25s.offset",
    "x25s.user_data",
]
FILTERS = [
    "lapbs.type#{k} == 0x63 && lapbs.p_f#{k} == 1",
    "x25s.type#{k} == 0x0b && lapbs.n_s#{k} == 1",
    "hdlcs.fcs_status#{k} == 0",
    "!(lapbs.type#{k})",
    "hdlcs.giant",
    "x25s",
]


@pytest.mark.parametrize("name", CAPTURES)
def test_both_judges_read_the_same(name: str, judge: WiresharkJudge, tshark: TsharkJudge) -> None:
    read = read_alike(judge, tshark, CAPTURES[name], FILTERS, FIELDS)
    assert len(read.packets) == read.frames


def test_frames_have_ends_and_offsets(judge: WiresharkJudge) -> None:
    reading = judge.read(CAPTURES["call"], FILTERS, FIELDS)
    seen = [(p.k, p.src, p.dst, p.sport, p.dport, p.stream, p.offset) for p in reading.packets]
    assert seen == [
        (1, "A", "R", 0, 0, 0, 0),
        (1, "R", "A", 0, 0, 0, 0),
        (1, "R", "A", 0, 0, 0, 4),
        (1, "A", "R", 0, 0, 0, 4),
        (1, "A", "R", 0, 0, 0, 11),
        (1, "R", "A", 0, 0, 0, 13),
        (1, "A", "R", 0, 0, 0, 23),
        (1, "R", "A", 0, 0, 0, 28),
        (1, "A", "R", 0, 0, 0, 31),
    ]
    assert [p.fields.get("x25s.type") for p in reading.packets] == [
        None,
        None,
        (0xFB,),
        (0xFF,),
        (0x0B,),
        (0x0F,),
        (0x00,),
        None,
        (0x13,),
    ]
    assert reading.hits == (
        (Hit(2, 1),),
        (Hit(5, 1),),
        (),
        (),
        (),
        tuple(Hit(frame, 0) for frame in (3, 4, 5, 6, 7, 9)),
    )
    # The last frame carries N(S) = 2 for the second time.
    assert [(e.frame, e.id) for e in reading.experts] == [(9, "lapbs.repeated")]


def experts(reading: Reading) -> list[tuple[int, str]]:
    return [(e.frame, e.id) for e in reading.experts]


def test_invalid_frames_are_blamed_and_carry_no_packet(judge: WiresharkJudge) -> None:
    reading = judge.read(CAPTURES["invalid frames"], FILTERS, FIELDS)
    assert experts(reading)[:4] == [
        (5, "hdlcs.fcs.bad"),
        (6, "hdlcs.runt"),
        (7, "hdlcs.abort"),
        (8, "hdlcs.bits.odd"),
    ]
    assert (9, "hdlcs.giant") in experts(reading)
    assert experts(reading)[-1] == (10, "hdlcs.address.unknown")
    assert [p.frame for p in reading.packets if "lapbs.type" in p.fields] == [1, 2, 3, 4, 9, 10]
    assert reading.packets[4].fields["hdlcs.fcs_status"] == (0,)
    assert reading.packets[6].fields["hdlcs.aborted"] == (1,)
    assert reading.packets[7].fields["hdlcs.unaligned"] == (1,)


def sent(kind: type[Packet]) -> Packet:
    """A frame of the class with odd values in its fields."""
    frame = kind(address=3)
    values = {"p_f": 1, "rejected_control": 0x53}
    for number, each in enumerate(frame.fields_desc):
        if each.name not in ("address", "type") and not each.name.startswith("reserved"):
            frame.fields[each.name] = values.get(each.name, number % 2)
    return frame


#: Each class with the moduli in which it exists.
KINDS = [
    (kind, extended)
    for kind in FRAMES
    for extended, generic in ((False, LAPB), (True, LAPB128))
    if type(generic(bytes(sent(kind)))) is kind
]


@pytest.mark.parametrize(("kind", "extended"), KINDS)
def test_fields_are_those_of_the_scapy_classes(
    kind: type[Packet], extended: bool, judge: WiresharkJudge
) -> None:
    """Every strict field has the value of the Scapy field."""
    octets = bytes(sent(kind))
    again = (LAPB128 if extended else LAPB)(octets)
    start = EXTENDED if extended else SET_UP
    names = strict_fields(kind)
    reading = judge.read(
        capture(*start, (OUTBOUND, hdlc.with_fcs(octets))), fields=list(names.values())
    )
    fields = reading.packets[-1].fields
    assert {name: fields.get(strict) for name, strict in names.items()} == {
        name: (again.getfieldval(name),) for name in names
    }
    conditions = strict_conditions(kind)
    text = " && ".join(f"{name}#{{k}} == {value}" for name, value in conditions.items())
    if kind is not LapbUndefined:
        hits = judge.read(capture(*start, (OUTBOUND, hdlc.with_fcs(octets))), [text]).hits[0]
        assert Hit(5, 1) in hits


def test_circuits_of_a_link_are_kept_apart_by_channel_and_end_with_a_restart(
    judge: WiresharkJudge,
) -> None:
    other = (out("014410020b0621000000"), back("036410020f0006420707430202"))
    data = (out("016610010000"), out("0168100200aa"))
    fine = judge.read(capture(*SET_UP, *CALL, *other, *data))
    assert experts(fine) == []
    wrong = judge.read(capture(*SET_UP, *CALL, *other, data[0], out("0168100202aa")))
    assert experts(wrong) == [(10, "x25s.p_s.invalid")]
    restart = (out("01441000fb0000"), back("03641000ff"))
    after = judge.read(capture(*SET_UP, *CALL, *restart, out("0166100100aa")))
    assert experts(after) == [(9, "x25s.state.invalid")]


def test_repeated_frames_do_not_count_twice(judge: WiresharkJudge) -> None:
    data = out("014410010000")
    reading = judge.read(capture(*SET_UP, *CALL, data, data, out("016610010200")))
    assert experts(reading) == [(8, "lapbs.repeated")]


def test_a_giant_stands_back_for_the_frame_that_takes_its_number(judge: WiresharkJudge) -> None:
    giant, data, again = out("014410010000" + "00" * 200), out("0144100100aa"), out("014410010000")

    def repeated(*frames: tuple[int, bytes]) -> list[int]:
        found = experts(judge.read(capture(*SET_UP, *CALL, *frames)))
        return [frame for frame, name in found if name == "lapbs.repeated"]

    assert repeated(giant, data) == []
    assert repeated(giant, data, again) == [9]
    assert repeated(giant, back("0161"), data) == [9]


def test_links_are_the_interfaces_of_the_capture(judge: WiresharkJudge) -> None:
    whole = capture(*SET_UP)
    # A second interface block, and the frames of the second half on it.
    header = whole[: 28 + 20]
    interface = whole[28:48]
    blocks, at = [], 48
    while at < len(whole):
        size = struct.unpack_from("<I", whole, at + 4)[0]
        blocks.append(bytearray(whole[at : at + size]))
        at += size
    for block in blocks[2:]:
        block[8:12] = struct.pack("<I", 1)
    reading = judge.read(header + interface + b"".join(map(bytes, blocks)))
    assert [(p.stream, p.src, p.offset) for p in reading.packets] == [
        (0, "A", 0),
        (0, "R", 0),
        (1, "R", 0),
        (1, "A", 0),
    ]
