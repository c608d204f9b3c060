# SPDX-License-Identifier: GPL-2.0-or-later
"""The tester's LAPB station against frames written here, and what counts as in sequence."""

from __future__ import annotations

import random
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scapy_x25 import hdlc
from x25shark.judges.evidence import FIELDS, EvidenceJudge
from x25shark.judges.expectation import Direction
from x25shark.judges.tester import Received, TesterJudge
from x25shark.judges.wireshark import WiresharkJudge
from x25shark.links.carrier import LineEnd
from x25shark.links.circuits import ROUTER, TESTER, Channels, Circuit, Sequence
from x25shark.links.hdlc import Deframer, FrameUnit, Line
from x25shark.links.lapb import Parameters, Station
from x25shark.links.loop import Loop

sys.path.insert(0, str(Path(__file__).parents[3] / "dissectors" / "gaps"))

from capture_builder import pcapng

INBOUND, OUTBOUND = 1, 2


class Bench:
    """A DTE station on a line whose other end is this test. Frames are hexadecimal, without FCS."""

    def __init__(self, **parameters: float) -> None:
        self.loop = Loop()
        own, self.far = socket.socketpair()
        own.setblocking(False)
        self.far.setblocking(False)
        self.line = Line(self.loop, "line.a", own, "octet")
        self.station = Station(self.line, Parameters(dce=False, **parameters))  # type: ignore[arg-type]
        self.line.on_received = self.station.take
        self.deframer = Deframer("octet")
        self.lost: list[str] = []
        self.station.on_link_lost = self.lost.append
        self.own = own

    def tell(self, *frames: str) -> list[str]:
        """The router sends these; what the station sent until then and thereupon."""
        for frame in frames:
            self.far.send(hdlc.frame_octets([hdlc.with_fcs(bytes.fromhex(frame))]))
        self.loop.poll(0.01)
        return self.taken()

    def taken(self) -> list[str]:
        try:
            units = self.deframer.take(self.far.recv(65536))
        except BlockingIOError:
            return []
        return [unit.octets[:-2].hex() for unit in units]

    def up(self) -> None:
        self.station.set_up()
        assert self.tell("0173") == ["013f"]
        assert self.station.up

    def close(self) -> None:
        self.line.close()
        self.loop.close()
        self.far.close()
        self.own.close()


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench(t1=60.0, n2=2, k=2)
    yield made
    made.close()


def test_a_sabm_that_came_while_nobody_looked_is_not_answered(bench: Bench) -> None:
    """Who sent it may have given up; if not it asks again. Asked for a link or not."""
    for phase in ("set-up", "disconnected"):
        if phase == "set-up":
            bench.station.set_up()
            assert bench.taken() == ["013f"]
        bench.loop.looked -= 61.0
        assert bench.tell("033f") == []
        assert bench.station.phase == phase
        assert bench.tell("033f") == ["0373"]
        bench.station.phase = "disconnected"


def expire(bench: Bench) -> list[str]:
    """T1 runs out."""
    bench.station._deadline = 0.0
    bench.station.tick()
    return bench.taken()


def test_set_up_is_tried_n2_times(bench: Bench) -> None:
    bench.station.set_up()
    assert bench.taken() == ["013f"]
    assert bench.tell("0163") == []  # UA F=0 answers no P=1
    assert expire(bench) == ["013f"]
    assert expire(bench) == []
    assert bench.lost == ["2 attempts without an answer (N2)"]


def test_repeated_commands_are_counted_and_told(bench: Bench) -> None:
    told: list[str] = []
    bench.station.on_repeat = lambda: told.append(bench.station.phase)
    bench.station.set_up()
    expire(bench)
    assert (bench.station.commands, told) == (2, ["set-up"])
    bench.tell("0173")
    bench.station.disconnect()
    assert bench.station.commands == 1
    expire(bench)
    assert (bench.station.commands, told) == (2, ["set-up", "disconnecting"])
    bench.tell("0173")
    bench.up()
    bench.station.send(b"\x10\x00\xff")
    expire(bench)  # a poll
    assert told == ["set-up", "disconnecting", "transfer"]


def test_i_frames_are_acknowledged_and_repeats_are_not_taken_twice(bench: Bench) -> None:
    bench.up()
    assert bench.tell("03001000ff") == ["0321"]
    assert bench.tell("03001000ff") == ["0321"]
    assert bench.tell("03041000ff") == ["0329"]  # a gap: REJ, once
    assert bench.tell("03061000ff") == ["0321"]
    assert bench.tell("03021000ff") == ["0341"]


def test_no_more_than_k_are_open(bench: Bench) -> None:
    bench.up()
    for number in range(4):
        bench.station.send(bytes([16, number]))
    assert bench.taken() == ["01001000", "01021001"]
    assert bench.tell("0121") == ["01041002"]
    assert bench.tell("0161") == ["01061003"]


def test_lost_frames_are_sent_again_after_rej_and_after_a_poll(bench: Bench) -> None:
    bench.up()
    bench.station.send(b"\x10\x00")
    bench.station.send(b"\x10\x01")
    bench.taken()
    assert bench.tell("0109") == ["01001000", "01021001"]
    assert expire(bench) == ["0111"]
    assert bench.tell("0131") == ["01021001"]


def test_sabm_in_transfer_resets_and_disc_ends(bench: Bench) -> None:
    bench.up()
    assert bench.tell("0101") == []
    assert bench.tell("033f") == ["0373"]
    assert bench.station.up
    assert bench.tell("0353") == ["0373"]
    assert not bench.station.up
    assert [why.split("(")[0].strip() for why in bench.lost] == [
        "the router reset the link",
        "the router sent DISC",
    ]


def test_sabm_as_the_first_frame_of_a_link_belongs_to_its_set_up(bench: Bench) -> None:
    bench.up()
    bench.station.send(b"\x10\x00")
    assert bench.tell("033f") == ["01001000", "0373", "01001000"]
    assert (bench.station.links, bench.lost) == (1, [])


def test_a_sabm_that_came_in_silence_is_answered_behind_the_own(bench: Bench) -> None:
    bench.station.by_hand = True
    assert bench.tell("033f") == []
    bench.station.by_hand = False
    bench.station.set_up()
    assert bench.taken() == ["013f", "0373"]


def test_a_station_that_refuses_answers_sabm_by_dm_until_it_asks_itself(bench: Bench) -> None:
    bench.station.refusing = True
    assert bench.tell("033f", "032f") == ["031f", "030f"]
    assert not bench.station.up
    bench.station.set_up()
    bench.taken()
    assert bench.tell("033f") == ["0373"]
    assert bench.tell("0173") == []
    assert bench.station.up


def test_each_link_is_counted(bench: Bench) -> None:
    assert bench.station.links == 0
    bench.up()
    bench.tell("0101", "033f")
    assert bench.station.links == 2


def test_by_hand_nothing_is_answered(bench: Bench) -> None:
    bench.up()
    bench.station.by_hand = True
    assert bench.tell("03101000ff", "0311") == []
    assert bench.station.v_r == 1


def test_a_wrong_fcs_does_nothing(bench: Bench) -> None:
    bench.up()
    bench.far.send(hdlc.frame_octets([hdlc.with_fcs(bytes.fromhex("03101000ff"))[:-1] + b"\0"]))
    bench.loop.poll(0.01)
    assert bench.taken() == []


# -- what is in sequence ---------------------------------------------------------------------------

CONTROLS = (0x3F, 0x2F, 0x73, 0x63, 0x53, 0x1F, 0x01, 0x21, 0x87)


def script(seed: int) -> list[tuple[int, bytes]]:
    """Frames of both ends: set-ups that cross, UAs nobody asked for, I frames in any order."""
    dice = random.Random(seed)
    numbers = {ROUTER: 0, TESTER: 0}
    frames = []
    for _ in range(80):
        sender = dice.choice((ROUTER, TESTER))
        command, response = (0x03, 0x01) if sender == ROUTER else (0x01, 0x03)
        if dice.random() < 0.6:
            n_s = numbers[sender] if dice.random() < 0.8 else dice.randrange(8)
            numbers[sender] = (n_s + 1) % 8
            lcn = dice.randrange(3)
            content = bytes([command, n_s << 1, 0x10, lcn, 0xFF])
        else:
            control = dice.choice(CONTROLS)
            if control in (0x73, 0x63):
                numbers[sender] = 0
            content = bytes([response if control in (0x73, 0x63, 0x1F) else command, control])
        whole = hdlc.with_fcs(content)
        if dice.random() < 0.05:
            whole = whole[:-1] + bytes([whole[-1] ^ 1])
        frames.append((sender, whole))
    return frames


@pytest.fixture(scope="module")
def judge() -> Iterator[WiresharkJudge]:
    with WiresharkJudge() as made:
        yield made


@pytest.mark.parametrize("seed", range(30))
def test_link_and_dissector_agree_on_what_is_in_sequence(seed: int, judge: WiresharkJudge) -> None:
    frames = script(seed)
    sequence = Sequence()
    offsets = {ROUTER: 0, TESTER: 0}
    one = []
    for sender, octets in frames:
        packet = sequence.follow(sender, FrameUnit(offsets[sender], octets, "", 0.0))
        if packet:
            one.append((sender, offsets[sender], packet))
        offsets[sender] += len(octets)
    flags = [INBOUND if sender == ROUTER else OUTBOUND for sender, _ in frames]
    reading = judge.read(pcapng([octets for _, octets in frames], 147, flags), (), FIELDS)
    two = [
        (TESTER if read.direction.to_router else ROUTER, read.view.offset, read.octets)
        for read in EvidenceJudge(reading, (), {0: "line.a"}).reads
        if not read.view.framed
    ]
    assert one == two
    assert len(one) > 5


def test_a_link_that_is_there_again_has_not_ended(judge: WiresharkJudge) -> None:
    """Both judges look for the router's DISC behind where they begin to look."""
    of_router = [bytes.fromhex("0353"), bytes.fromhex("0173"), bytes.fromhex("03001001170000")]
    frames = [hdlc.with_fcs(octets) for octets in of_router]
    channel = Direction(LineEnd("line.a", 1, True), LineEnd("line.a", 1, False))
    loop, (own, far) = Loop(), socket.socketpair()
    channels = Channels(Line(loop, "line.a", own, "octet"), lambda _: None, highest_first=True)
    channels.ended("DISC", 0)
    one = TesterJudge({channel: Received(channels.log(1))}, {})
    reading = judge.read(pcapng(frames, 147, [INBOUND] * len(frames)), (), FIELDS)
    two = EvidenceJudge(reading, (), {0: "line.a"})
    for since, how in ((0, "DISC"), (len(frames[0]), None)):
        assert one.ended(channel, since) == two.ended(channel, since) == how
    for sock in (own, far):
        sock.close()
    loop.close()


def test_a_giant_stands_back_for_the_frame_that_takes_its_number() -> None:
    """Unless it is acknowledged; the same frame once more brings nothing in either case."""
    call, giant = bytes.fromhex("10010b0000"), bytes.fromhex("100100") + bytes(200)
    for answer, taken in ((b"", call), (b"\x01\x21", None), (b"\x01\x01", call)):
        sequence = Sequence()
        frames = [
            (TESTER, b"\x01\x00" + giant),
            *((ROUTER, octets) for octets in (answer,) if octets),
            (TESTER, b"\x01\x00" + call),
            (TESTER, b"\x01\x00" + call),
        ]
        found = [
            sequence.follow(sender, FrameUnit(0, hdlc.with_fcs(octets), "", 0.0))
            for sender, octets in frames
        ]
        assert [packet for packet in found if packet] == [giant, *([call] if taken else [])]


def test_channel_0_outlives_a_link_and_calls_do_not() -> None:
    loop = Loop()
    own, far = socket.socketpair()
    line = Line(loop, "line.a", own, "octet")
    channels = Channels(line, lambda _packet: None, highest_first=True)
    layer, by_link, by_restart = (channels.open(lcn) for lcn in (0, 1, 2))
    channels.link_lost("the router sent DISC")
    assert layer.end is None
    assert by_link.end == "the router sent DISC"
    by_restart.end = None
    restart = hdlc.with_fcs(bytes.fromhex("03001000fb0000"))
    channels.took(FrameUnit(0, restart, "", 0.0), sent=True)
    assert by_restart.over
    assert by_restart.end is None
    channels.took(FrameUnit(0, restart, "", 0.0), sent=False)
    assert by_restart.end == "the router restarted the packet layer"
    assert layer.end is None
    for sock in (own, far):
        sock.close()
    line.close()
    loop.close()


def test_a_circuit_has_what_came_since_it_began() -> None:
    """The first Restart may come right behind UA, before anybody looks at channel 0."""
    loop = Loop()
    own, far = socket.socketpair()
    line = Line(loop, "line.a", own, "octet")
    channels = Channels(line, lambda _packet: None, highest_first=True)
    restart = hdlc.with_fcs(bytes.fromhex("03001000fb0000"))
    channels.took(FrameUnit(4, restart, "", 0.0), sent=False)
    assert [unit.packet[2] for unit in channels.open(0, 4).received] == [0xFB]
    assert channels.open(0, 5).received == []
    for sock in (own, far):
        sock.close()
    line.close()
    loop.close()


def test_a_call_behind_a_cleared_one_is_a_circuit_of_its_own() -> None:
    loop = Loop()
    own, far = socket.socketpair()
    line = Line(loop, "line.a", own, "octet")
    channels = Channels(line, lambda _packet: None, highest_first=True)
    offset = 0
    made: list[Circuit] = []
    channels.on_circuit = made.append
    for number, packet in enumerate(("10010b00", "1001170000", "10010b01")):
        sent = packet == "1001170000"
        octets = hdlc.with_fcs(bytes([1 if sent else 3, 0 if sent else number // 2 * 2]))
        octets = hdlc.with_fcs(octets[:-2] + bytes.fromhex(packet))
        channels.took(FrameUnit(offset, octets, "", 0.0), sent=sent)
        offset += 0 if sent else len(octets)
    first, second = made
    assert first.over
    assert first.stop == second.start == 8
    assert [u.packet.hex() for u in second.received] == ["10010b01"]
    assert channels.free(range(1, 4)) == 3
    direction = Direction(second.remote, second.local)
    assert direction.line == "line.a"
    for sock in (own, far):
        sock.close()
    line.close()
    loop.close()
