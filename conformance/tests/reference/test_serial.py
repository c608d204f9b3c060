# SPDX-License-Identifier: GPL-2.0-or-later
"""Serial interfaces of the router: restart, logical channels, calls between lines and XOT."""

import random
from collections import Counter
from typing import Any

import pytest
from lab_line import LabLine
from scapy_x25 import hdlc

BAD_FCS = "rs232SyncPortFrameCheckErrors"
S0 = {"name": "s0", "listen": "127.0.0.1:0", "t3": 0}
ROUTES = [{"prefix": "40", "to": "serial:s0"}, {"prefix": "50", "to": "serial:s1"}]
#: Called 210000, no calling address, no facilities.
TO_B = "0b0621000000"
TO_LINE = "0b0640000000"
PAIRS = "420707430202"


def open_line(make_lab: Any, up: bool = True, **options: Any) -> LabLine:
    model = options.pop("model", "local")
    timers = options.pop("timers", {})
    lab = make_lab(model, serial=[S0 | options], routes=ROUTES[:1], timers=timers)
    line = LabLine(lab)
    if up:
        line.set_up()
    return line


# -- restart (X.25 Table C-2) ----------------------------------------------------------------------


def test_restart_of_the_peer_clears_its_calls_and_only_those(make_lab: Any) -> None:
    line = open_line(make_lab)
    far = []
    for lcn in ("01", "02"):
        line.packet("10" + lcn + TO_B)
        line.lab.open()
        far.append(line.lab.called[-1])
        far[-1].tell(far[-1].take()[-1][:4] + "0f")
        assert line.packets()[-1][:6] == f"10{lcn}0f"
    a, b = line.lab.call("10010b062100000000")
    assert line.packet("1000fb00c8") == ["1000ff"]
    assert [one.take()[-1][4:] for one in far] == ["1300c8", "1300c8"]
    assert a.take() == b.take() == []
    values = line.interface.counters.values
    assert values["x25StatInRestarts"] == 1
    assert values["x25StatIncomingCircuits"] == 0
    assert line.packet("1001" + TO_B) == []
    line.lab.open()
    assert line.lab.called[-1].take()[-1][4:6] == "0b"


@pytest.mark.parametrize(
    ("packet", "answer"),
    [
        ("1000ff", ["1000fb0111"]),
        ("1000fb", ["1000f1261000fb"]),
        ("1000fb000000", ["1000f1271000fb"]),
        ("1000fb07", ["1000f1511000fb"]),
        ("1000ff00", ["1000f1271000ff"]),
        ("1000", ["1000f1261000"]),
        ("10", ["1000f12610"]),
        ("", ["1000f126"]),
        ("0001fb", ["1000f1280001fb"]),
        ("200100", ["1000f128200100"]),
        ("1000000b", ["1000f124100000"]),
        ("10000b", ["1000f12410000b"]),
        ("100033", ["1000f121100033"]),
        ("1000f300", ["1000f1211000f3"]),
        ("1000f126", []),
        ("110001", ["1000f124110001"]),
    ],
)
def test_packets_on_channel_0_in_r1(make_lab: Any, packet: str, answer: list[str]) -> None:
    assert open_line(make_lab).packet(packet) == answer


def test_a_dte_sends_no_diagnostic(make_lab: Any) -> None:
    line = open_line(make_lab, role="dte", initiate=False)
    assert line.packet("1000fb") == line.packet("100033") == []
    assert line.packet("1000ff") == ["1000fb0011"]


def in_r3(make_lab: Any, **options: Any) -> LabLine:
    line = open_line(make_lab, up=False, **options)
    line.tell("013f")
    line.v_r = 1
    return line


@pytest.mark.parametrize("packet", ["1001" + TO_B, "100100", "1000f300", "1000", "100000"])
def test_packets_before_the_confirmation_are_discarded(make_lab: Any, packet: str) -> None:
    line = in_r3(make_lab)
    assert line.packet(packet) == []
    assert line.packet("1000ff") == []
    assert line.packet("1001" + TO_B) == []
    assert len(line.lab.opening) == 1


@pytest.mark.parametrize("packet", ["1000ff", "1000fb0000", "1000fb80"])
def test_restart_collision_needs_no_confirmation(make_lab: Any, packet: str) -> None:
    line = in_r3(make_lab)
    assert line.packet(packet) == []
    assert line.interface.counters.values["x25StatInRestarts"] == 0
    line.packet("1001" + TO_B)
    assert len(line.lab.opening) == 1


@pytest.mark.parametrize(("packet", "diagnostic"), [("1000fb", "26"), ("1000ff00", "27")])
def test_bad_restart_in_r3(make_lab: Any, packet: str, diagnostic: str) -> None:
    assert in_r3(make_lab).packet(packet) == ["1000fb01" + diagnostic]


def test_t10_repeats_the_restart_once(make_lab: Any) -> None:
    line = in_r3(make_lab, timers={"t10": 60})
    line.tell("0321")
    line.lab.timers.advance(60)
    assert line.packets() == ["1000fb0134"]
    line.lab.timers.advance(60)
    assert line.packets() == ["1000f134"]
    assert line.interface.counters.values["x25StatRestartTimeouts"] == 2


def test_t10_ends_with_its_link(make_lab: Any) -> None:
    line = in_r3(make_lab, timers={"t10": 60})
    line.lab.timers.advance(30)
    line.tell(f"{line.command}53")
    line.tell(f"{line.command}3f")
    line.take()
    line.v_s = line.v_r = 0
    assert line.packet("1000ff") == []
    line.lab.timers.advance(50)
    assert line.packets() == []
    assert line.interface.counters.values["x25StatRestartTimeouts"] == 0


def test_no_call_to_a_line_that_is_not_ready(make_lab: Any) -> None:
    line = in_r3(make_lab)
    a = line.lab.caller()
    a.tell("1001" + TO_LINE)
    assert a.take() == ["1001130900"]


# -- logical channels ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("packet", "answer"),
    [
        ("1005", ["1005131326"]),
        ("100533", ["1005131321"]),
        ("1005f5", ["1005131321"]),
        ("1005fb0000", ["1005131329"]),
        ("1005ff", ["1005131329"]),
        ("100517", ["1005131314"]),
        ("100500", ["1005131314"]),
        ("100509", ["1005131314"]),
        ("10050b00", ["1005131326"]),
        ("1005130000", ["100517"]),
        ("1005130500", ["1005131351"]),
        ("500501", ["1000f128500501"]),
        ("1005f126", ["1005131321"]),
    ],
)
def test_packets_on_a_free_channel(make_lab: Any, packet: str, answer: list[str]) -> None:
    line = open_line(make_lab)
    assert line.packet(packet) == answer
    if answer[0].startswith("100513"):
        assert line.packet("100517") == []


@pytest.mark.parametrize(
    ("packet", "answer"),
    [
        ("1005", "10051b0526"),
        ("100533", "10051b0521"),
        ("1005fb00", "10051b0529"),
        ("100509", "10051b0525"),
        ("10051b0500", "10051b0551"),
        ("10051f", "10051b051b"),
        ("100517", "1005131317"),
        ("10050f", "1005131317"),
    ],
)
def test_errors_in_data_transfer(make_lab: Any, packet: str, answer: str) -> None:
    line = open_line(make_lab, model="end-to-end")
    assert line.packet("10050b0411110000") == ["10050f0006" + PAIRS]
    assert line.packet(packet) == [answer]


def test_causes_and_states_of_a_dte(make_lab: Any) -> None:
    line = open_line(make_lab, role="dte", initiate=False)
    assert line.packet("10050b0411110000") == ["10050f0006" + PAIRS]
    assert line.packet("1005fb00") == ["10051b0029"]
    line.packet("10051f")
    assert line.packet("10050f") == ["1005130017"]
    assert line.packet("100517") == []
    assert line.packet("10050b0299000000") == ["1005138d43"]


def test_call_from_the_line_to_xot(make_lab: Any) -> None:
    line = open_line(make_lab, model="splice", modulo=8)
    line.packet("1005" + TO_B)
    line.lab.open()
    b = line.lab.called[-1]
    # RFC 1613 6.1: both facilities in the Call.
    assert b.take() == ["10010b06210000" + "06" + PAIRS]
    b.tell("10010f")
    assert line.packets() == ["10050f0006" + PAIRS]
    assert line.packet("1005006869") == ["100521"]
    assert b.take() == ["1001006869"]
    b.tell("100120aabb", "10012301")
    assert line.packets() == ["100520aabb", "10052301"]
    line.packet("100527")
    assert b.take()[-1] == "100127"
    line.packet("1005130007")
    assert b.take()[-1] == "1001130007"
    b.tell("100117")
    assert b.closed
    counters = line.interface.counters.as_dict()
    assert counters["x25StatInCalls"] == 1
    assert counters["clearsInByCause"] == {"0x00": 1}
    assert counters["x25CircuitInOctets"] == 2


def call_to_line(line: LabLine, lcn: str = "01") -> Any:
    a = line.lab.caller()
    a.tell("1001" + TO_LINE[:-2] + "06" + PAIRS)
    assert line.packets() == [f"10{lcn}0b0640000006{PAIRS}"]
    line.packet(f"10{lcn}0f")
    assert a.take() == ["10010f0006" + PAIRS]
    return a


def test_call_from_xot_to_the_line(make_lab: Any) -> None:
    line = open_line(make_lab)
    a = call_to_line(line)
    a.tell("1001006869")
    assert line.packets() == ["1001006869"]
    line.packet("10011b0007")
    assert a.take()[-1] == "10011b0007"
    a.tell("10011f")
    a.tell("1001130005")
    assert line.packets() == ["1001130005"]
    assert a.take()[-1] == "100117"
    line.packet("100117")
    assert line.lab.router.circuits == set()


def test_channels_are_taken_from_below_by_a_dce_and_from_above_by_a_dte(make_lab: Any) -> None:
    line = open_line(make_lab, lcn_range=[3, 4])
    call_to_line(line, "03")
    call_to_line(line, "04")
    a = line.lab.caller()
    a.tell("1001" + TO_LINE)
    assert a.take() == ["1001130147"]
    line = open_line(make_lab, lcn_range=[3, 4], role="dte", initiate=False)
    call_to_line(line, "04")


def test_call_collision(make_lab: Any) -> None:
    line = open_line(make_lab)
    a = line.lab.caller()
    a.tell("1001" + TO_LINE)
    assert line.packets()[0][:6] == "10010b"
    # X.25 4.1.6: the call of the DTE counts; the other one gets another channel.
    found = line.packet("10010b0411110000")
    assert [packet[:6] for packet in found] == ["10020b", "10010f"]
    line.packet("10020f")
    assert a.take()[0][:6] == "10010f"
    line = open_line(make_lab, role="dte", initiate=False)
    a = line.lab.caller()
    a.tell("1001" + TO_LINE)
    assert line.packets()[0][:6] == "10ff0b"
    assert line.packet("10ff0b0411110000") == []
    line.packet("10ff0f")
    assert a.take()[0][:6] == "10010f"


def test_loss_of_the_link_clears_the_calls(make_lab: Any) -> None:
    for how in ("disc", "sabm", "line"):
        line = open_line(make_lab)
        a = call_to_line(line)
        if how == "line":
            line.link.connection_lost(True)
            assert line.interface.counters.as_dict()["ifOperStatus"] == 2
        else:
            line.tell("0153" if how == "disc" else "013f")
        assert a.take() == ["1001130900"]
        a.tell("100117")
        a.tell("1001" + TO_LINE)
        assert a.take() == ["1001130900"]


def test_packet_size_is_bounded_by_n1_and_data_is_segmented(make_lab: Any) -> None:
    line = open_line(make_lab)
    a = line.lab.caller()
    a.tell("1001" + TO_LINE[:-2] + "06420a0a430707")
    assert line.packets() == ["10010b0640000006420808430707"]
    line.packet("10010f")
    assert a.take() == ["10010f0006420808430707"]
    lab = make_lab(
        "local",
        serial=[S0 | {"n1": 8 * 140}],
        routes=[ROUTES[0] | {"packet_size": 1024, "window": 3}],
    )
    line = LabLine(lab)
    line.set_up()
    a = lab.caller()
    a.tell("1001" + TO_LINE[:-2] + "0642080843" + "0707")
    assert line.packets()[0].endswith("420707430303")
    line.packet("10010f")
    assert a.take()[0].endswith("420808430707")
    a.tell("100100" + "ab" * 256)
    assert line.packets() == ["100110" + "ab" * 128, "100102" + "ab" * 128]


def test_modulo_128_on_the_line_and_8_on_xot(make_lab: Any) -> None:
    line = open_line(make_lab, up=False, modulo=128)
    assert line.tell("013f")[1] == "03002000fb0700"
    line.v_r = 1
    line.packet("2000ff")
    a = line.lab.caller()
    a.tell("1001" + TO_LINE)
    assert line.packets()[0][:6] == "20010b"
    line.packet("20010f")
    assert a.take()[0][:6] == "10010f"
    a.tell("10010041")
    assert line.packets() == ["2001000041"]
    line.packet("2001000242")
    assert a.take()[-1] == "10012042"


@pytest.mark.parametrize("framings", [("octet", "bit"), ("bit", "bit")])
def test_call_from_line_to_line(make_lab: Any, framings: tuple[str, str]) -> None:
    serials = [
        S0 | {"framing": framings[0]},
        S0 | {"name": "s1", "framing": framings[1], "role": "dte", "initiate": False},
    ]
    lab = make_lab("end-to-end", serial=serials, routes=ROUTES)
    a, b = LabLine(lab, "s0"), LabLine(lab, "s1")
    a.set_up()
    b.set_up()
    a.packet("10070b0650000000")
    assert b.packets() == ["10ff0b0650000006" + PAIRS]
    b.packet("10ff0f")
    assert a.packets() == ["10070f0006" + PAIRS]
    for number in range(20):
        a.tell_information(f"1007{number % 8 << 1:02x}7d7e{number:02x}")
        assert b.packets() == [f"10ff{number % 8 << 1:02x}7d7e{number:02x}"]
        b.packet(f"10ff{(number + 1) % 8 << 5 | 1:02x}")
        assert a.packets() == [f"1007{(number + 1) % 8 << 5 | 1:02x}"]
    b.tell_information("10ff130009")
    assert a.packets() == ["1007130009"]
    assert lab.router.counters.as_dict()["global"]["x25StatInDataPackets"] == 20


def test_slow_line_holds_the_calls_and_loses_nothing(make_lab: Any) -> None:
    lab = make_lab("local", serial=[S0], routes=ROUTES[:1])
    line = LabLine(lab)
    line.set_up()
    callers = []
    for lcn in range(1, 60):
        callers.append(call_to_line(line, f"{lcn:02x}"))
    for caller in callers:
        caller.tell("1001000a", "1001020b")
    # The other end has not acknowledged a frame: seven are out, and the calls are held.
    assert len(line.take()) == 7
    assert line.link.congested
    assert len(line.link.lapb.waiting) <= 2 * 32
    line.v_r = (line.v_r + 7) % 8
    line.frame(f"03{line.v_r << 5 | 1:02x}")
    got = line.packets()
    assert len(got) == 2 * len(callers) - 7
    assert [packet for packet in got if packet.startswith("103b")] == ["103b000a", "103b020b"]
    assert not line.link.congested


# -- invalid frames and counters -------------------------------------------------------------------


def test_each_invalid_frame_moves_its_counter_and_nothing_else(make_lab: Any) -> None:
    line = open_line(make_lab)
    before = dict(line.interface.counters.values)
    line.whole(bytes.fromhex("01535777"))
    for runt in ("01", "0153", "015381"):
        line.whole(bytes.fromhex(runt))
    line.frame("0122" + "00" * 300)
    for address in ("00", "05", "07", "0f", "ff"):
        line.frame(address + "53")
    line.raw(bytes.fromhex("7e01537d7e"))
    assert line.take() == []
    moved = {
        name: value - before[name]
        for name, value in line.interface.counters.values.items()
        if value != before[name]
    }
    assert moved == {
        "rs232SyncPortFrameCheckErrors": 1,
        "hdlcInRunts": 3,
        "hdlcInGiants": 1,
        "hdlcInUnknownAddresses": 5,
        "rs232SyncPortAbortedFrames": 1,
        "ifInErrors": 11,
        "ifInOctets": 4 + 6 + 304 + 20,
    }


def test_frames_and_octets_are_counted(make_lab: Any) -> None:
    line = open_line(make_lab)
    page = line.lab.router.counters.as_dict()["interfaces"]["s0"]
    assert page["lapbInFramesByType"] == {"I": 1, "SABM": 1}
    assert page["lapbOutFramesByType"] == {"I": 1, "RR": 1, "UA": 1}
    assert page["ifInOctets"] == 4 + 7
    assert page["ifOutOctets"] == 4 + 9 + 4
    assert page["ifInUcastPkts"] == 2
    assert {k: n for k, n in page["x25OutPacketsByType"].items() if n} == {"RESTART": 1}
    assert page["lapbFlowStateChanges"] == 1
    assert not any(name.startswith("xot") for name in page)


def test_hostile_octets_break_nothing(make_lab: Any) -> None:
    for framing in ("octet", "bit"):
        line = open_line(make_lab, framing=framing)
        chance = random.Random(25)
        for _ in range(400):
            line.raw(bytes(chance.randrange(256) for _ in range(chance.randrange(1, 60))))
        for _ in range(3000):
            size = chance.randrange(1, 12)
            first = bytes((chance.choice((1, 1, 1, 3)), chance.randrange(256)))
            line.whole(bytes(first + bytes(chance.randrange(256) for _ in range(size))))
            frame = first + bytes((0x10, chance.randrange(3), chance.randrange(256), 0, 0))
            line.frame(frame[: chance.randrange(2, 8)].hex())
            line.lab.timers.advance(0.1)
        line.raw(b"\x7e")
        line.frames.clear()
        assert line.tell("0153")[0] in ("0173", "011f")
        assert line.tell("013f")[0] == "0173"


@pytest.mark.parametrize("framing", ["octet", "bit"])
@pytest.mark.parametrize("seed", [1, 2])
def test_thousand_mixed_frames(make_lab: Any, framing: str, seed: int) -> None:
    """Good and bad frames as chance will have it: each moves its counter, the good ones arrive."""
    line = open_line(make_lab, framing=framing)
    line.packet("10010b0411120000")
    chance = random.Random(seed)
    before = dict(line.interface.counters.values)
    moved: Counter[str] = Counter()
    sent = line.octets = 0
    for _ in range(1000):
        kind = chance.choice(("good", "good", "fcs", "runt", "giant", "abort", "address"))
        data = bytes(chance.choice((0x7E, 0x7D, 0xFF, chance.randrange(256))) for _ in range(20))
        control = bytes((1, line.v_r << 5 | line.v_s << 1))
        whole = hdlc.with_fcs(control + bytes((0x10, 1, sent % 8 << 1)) + data)
        if kind == "good":
            line.v_s, sent = (line.v_s + 1) % 8, sent + 1
        elif kind == "fcs":
            damaged = bytearray(whole)
            damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
            whole, moved[BAD_FCS] = bytes(damaged), moved[BAD_FCS] + 1
        elif kind == "runt":
            whole, moved["hdlcInRunts"] = whole[: chance.randrange(1, 4)], moved["hdlcInRunts"] + 1
        elif kind == "giant":
            whole = hdlc.with_fcs(control + bytes(chance.randrange(260, 700)))
            moved["hdlcInGiants"] += 1
        elif kind == "address":
            whole = hdlc.with_fcs(bytes((chance.choice((0, 5, 7, 15, 255)),)) + whole[1:-2])
            moved["hdlcInUnknownAddresses"] += 1
        else:
            moved["rs232SyncPortAbortedFrames"] += 1
        if kind == "abort":
            line.abort_frame(whole)
        else:
            line.whole(whole)
        line.packets()
    moved["ifInErrors"] = sum(moved.values())
    # Clear confirms that the channel is still in order.
    assert line.packet("1001130000") == ["100117"]
    moved["ifInOctets"] = line.octets
    after = line.interface.counters.values
    seen = {name: after[name] - before[name] for name in moved}
    assert seen == dict(moved)
    assert after["x25StatInDataPackets"] == sent > 100
    assert after["x25CircuitInOctets"] == 20 * sent
