# SPDX-License-Identifier: GPL-2.0-or-later
"""Every fault of a serial line changes what it is said to change, and nothing once it is undone.

A script of frames runs against a line without and with the fault. The octets that the router put on
the line and its counters have to differ in the script named for the fault; in `plain`, where
nothing unusual happens, only faults that touch every frame may show.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from lab_line import RESTART_CONFIRMATION, LabLine
from scapy_x25 import hdlc
from test_serial import TO_LINE, open_line
from x25shark.reference.faults import FAULTS

SERIAL = {"name": "s0", "listen": "127.0.0.1:0", "t3": 0, "n2": 3, "k": 3, "n1": 8 * 140}
CONFIRM = "0120" + RESTART_CONFIRMATION
CALL = "012210010b0411110000"


class RawLine(LabLine):
    """What the router puts on the line stays as it is."""

    def queue(self, octets: bytes) -> None:
        self.frames.append(octets.hex())


Script = Callable[[RawLine], None]


def up(line: RawLine) -> None:
    line.tell("013f", CONFIRM)


def more(line: RawLine, *frames: str) -> None:
    """Frames on a link that is up; what the router sent before them is dropped."""
    for frame in frames:
        line.frame(frame)


def plain(line: RawLine) -> None:
    up(line)
    more(line, CALL, "0341", "0144100100aabb", "0361", "01661001130000", "0381", "0153")


def collision_of_restarts(line: RawLine) -> None:
    line.tell("013f", "01201000fb0000")


def undefined_to_a_dte(line: RawLine) -> None:
    more(line, "033f", "030d")


def rejected_by_a_dte(line: RawLine) -> None:
    """Behind two packets, so that V(S) and V(R) differ."""
    more(line, "033f", "03001000f126", "03021000f126", "030d")


def bad_fcs(line: RawLine) -> None:
    for last in ("de", "dd", "dc", "db"):
        line.whole(bytes.fromhex("013feb" + last))


def runts(line: RawLine) -> None:
    for frame in ("01", "013f", "013feb"):
        line.whole(bytes.fromhex(frame))


def giant(line: RawLine) -> None:
    up(line)
    more(line, "01221fff" + "00" * 200)


def endless(line: RawLine) -> None:
    up(line)
    more(line, "01221fff" + "00" * 6000, "0131")


def abort(line: RawLine) -> None:
    if line.octet_stuffed:
        line.raw(bytes.fromhex("7e0122107d7e") + hdlc.frame_octets([hdlc.with_fcs(b"\1\x3f")]))
        return
    line.framer.flag()
    line.framer.body(bytes.fromhex("012210"))
    line.framer.abort()
    line.whole(hdlc.with_fcs(b"\1\x3f"))


def shared_flags(line: RawLine) -> None:
    frames = [hdlc.with_fcs(bytes.fromhex(frame)) for frame in ("013f", CONFIRM, "0131")]
    if line.octet_stuffed:
        line.raw(hdlc.frame_octets(frames, shared_flags=True))
    else:
        line.framer.frames(frames, shared_flags=True)
        line.framer.flag()
        line.raw(line.framer.take())


def escapes(line: RawLine) -> None:
    up(line)
    more(line, CALL, "0341", "0144100100" + "7d7eff" * 9)


def addresses(line: RawLine) -> None:
    more(line, "053f", "033f")


def sabm_without_p(line: RawLine) -> None:
    more(line, "012f")


def an_echo_of_flags(line: RawLine) -> None:
    up(line)
    more(line, CALL, "0341", "0144100100" + "7e" * 128)


def router_sets_up(*frames: str) -> Script:
    def script(line: RawLine) -> None:
        line.tell("030f")
        more(line, *frames)
        line.lab.timers.advance(4)

    return script


def on_link(*frames: str, seconds: float = 0) -> Script:
    """On a link that is up, the frames, then a time."""

    def script(line: RawLine) -> None:
        up(line)
        line.take()
        more(line, *frames)
        if seconds:
            line.lab.timers.advance(seconds)

    return script


def disconnected(line: RawLine) -> None:
    more(line, "0153", "0111")


def sabme(line: RawLine) -> None:
    more(line, "017f")


#: Six packets that the router answers with a Diagnostic each.
def odd_bits(line: RawLine) -> None:
    line.framer.flag()
    line.framer.body(hdlc.with_fcs(b"\x01\x3f") + b"\x05", 3)
    line.framer.flag()
    line.framer.flag()
    line.raw(line.framer.take())


def odd_bits_and_a_shared_flag(line: RawLine) -> None:
    line.framer.flag()
    line.framer.body(hdlc.with_fcs(b"\x01\x3f") + b"\x05", 3)
    line.framer.flag()
    line.framer.body(hdlc.with_fcs(b"\x01\x3f"))
    line.framer.flag()
    line.framer.flag()
    line.raw(line.framer.take())


def whole_and_aborted(line: RawLine) -> None:
    """Commands that are whole, FCS included, and end with an abort."""
    for control in (b"\x3f", b"\x2f", b"\x53", b"\x43"):
        line.framer.flag()
        line.framer.body(hdlc.with_fcs(b"\x01" + control))
        line.framer.abort()
        line.framer.bits(0)
    line.raw(line.framer.take())


def right_behind_an_abort(line: RawLine) -> None:
    """A whole command behind an abort and one flag."""
    line.framer.flag()
    line.framer.body(b"\x01\x3f")
    line.framer.abort()
    line.framer.flag()
    line.framer.body(hdlc.with_fcs(b"\x01\x53"))
    line.framer.flag()
    line.raw(line.framer.take())


def half_an_octet(line: RawLine) -> None:
    line.framer.flag()
    line.framer.body(hdlc.with_fcs(b"\x01\x3f") + b"\x05", 4)
    line.framer.flag()
    line.framer.flag()
    line.raw(line.framer.take())


def idle(line: RawLine) -> None:
    up(line)
    line.framer.bits(*[1] * 32)
    line.framer.flag()
    line.raw(line.framer.take())
    more(line, "0131")


#: Each acknowledges what the one before brought; the last brings N(S)=7.
TO_SEVEN = tuple(f"01{number << 5 | number << 1:02x}1fff00" for number in range(1, 8))
ASKS = tuple(f"01{number % 8 << 1 | 0x20:02x}1fff00" for number in range(1, 7))


def busy(line: RawLine) -> None:
    up(line)
    more(line, "0325", *ASKS[:2])
    for _ in range(5):
        line.lab.timers.advance(3)
        more(line, "0335")


def part_acknowledged(line: RawLine) -> None:
    """RR for the first of two I frames at two thirds of T1."""
    up(line)
    more(line, ASKS[0], "01241fff00")
    line.lab.timers.advance(2)
    more(line, "0341")
    line.lab.timers.advance(2)


def busy_and_silent(line: RawLine) -> None:
    up(line)
    more(line, "0325", *ASKS[:2])
    line.lab.timers.advance(30)


def behind_an_abort(line: RawLine) -> None:
    line.raw(bytes.fromhex("7e0122107d") + hdlc.frame_octets([hdlc.with_fcs(b"\1\x3f")]))


def all_escaped(line: RawLine) -> None:
    octets = hdlc.with_fcs(b"\1\x3f")
    line.raw(b"\x7e" + b"".join(bytes((0x7D, one ^ 0x20)) for one in octets) + b"\x7e")


def poll_answered_without_f(line: RawLine) -> None:
    up(line)
    more(line, ASKS[0])
    line.lab.timers.advance(4)
    more(line, "0321")


def window_over_the_wrap(line: RawLine) -> None:
    """Each packet is answered; only the first six answers are acknowledged."""
    up(line)
    for number in range(1, 12):
        control = number % 8 << 1 | min(number, 6) << 5
        more(line, f"01{control:02x}1fff00")


def bad_frame_with_n_r(line: RawLine) -> None:
    """RR N(R)=2 behind the I frame that it would acknowledge; T1."""
    up(line)
    more(line, ASKS[0])
    line.whole(bytes.fromhex("0341") + b"\0\0")
    line.lab.timers.advance(4)


def rr_late_in_t1(line: RawLine) -> None:
    """RR with an old N(R) at two thirds of T1."""
    up(line)
    more(line, ASKS[0])
    line.lab.timers.advance(2)
    more(line, "0321")
    line.lab.timers.advance(2)


def recovering(*frames: str, asks: Sequence[str] = ASKS[:1], seconds: float = 0) -> Script:
    """The router has polled for its answers to these; then the frames, and a time."""

    def script(line: RawLine) -> None:
        up(line)
        more(line, *asks)
        line.lab.timers.advance(4)
        more(line, *frames)
        line.lab.timers.advance(seconds)

    return script


def behind_polls_in_vain(line: RawLine) -> None:
    """UA to the first SABM behind N2 polls, and packets that the router answers."""
    up(line)
    more(line, ASKS[0])
    # T1 is 3 s and N2 is 3.
    line.lab.timers.advance(13)
    more(line, "0373", "01001fff00", "01021fff00")


def behind_a_set_up_in_vain(line: RawLine) -> None:
    line.tell("030f")
    line.lab.timers.advance(60)
    more(line, "013f", CONFIRM)


def without_link(*frames: str) -> Script:
    return lambda line: more(line, *frames)


def behind_thirteen_ones(line: RawLine) -> None:
    line.framer.bits(*[1] * 13, 0)
    line.framer.body(hdlc.with_fcs(b"\1\x3f"))
    line.framer.flag()
    line.framer.flag()
    line.raw(line.framer.take())


def every_second_octet_of_the_fcs(line: RawLine) -> None:
    first = hdlc.with_fcs(b"\1\x3f")[2] ^ 4
    for second in range(256):
        line.whole(bytes((1, 0x3F, first, second)))


def fcs_of_zeros(line: RawLine) -> None:
    line.whole(b"\1\x3f\0\0")


def every_fcs(line: RawLine) -> None:
    for number in range(256):
        line.frame(f"0111{number:02x}")


def octet_by_octet(line: RawLine) -> None:
    """As many frames as it takes for each place of an octet."""
    for _ in range(8):
        if line.octet_stuffed:
            pieces = b"\x7e\x7d\x21\x7d\x1f" + hdlc.with_fcs(b"\1\x3f")[2:] + b"\x7e"
        else:
            line.framer.frames([hdlc.with_fcs(b"\1\x3f")])
            line.framer.bits(0)
            pieces = line.framer.take()
        for octet in pieces:
            line.raw(bytes((octet,)))


def a_hundred_flags(line: RawLine) -> None:
    line.raw(b"\x7e" * 100 + hdlc.frame_octets([hdlc.with_fcs(b"\1\x3f")]))


def runt_with_fcs(line: RawLine) -> None:
    up(line)
    line.whole(hdlc.with_fcs(b"\1"))


def two_at_once(line: RawLine) -> None:
    """Two I frames in one read that the packet layer answers with nothing."""
    line.tell("013f", CONFIRM)
    content = ("01221000f126", "01241000f126")
    frames = [hdlc.with_fcs(bytes.fromhex(frame)) for frame in content]
    if line.octet_stuffed:
        line.raw(hdlc.frame_octets(frames))
    else:
        line.framer.frames(frames)
        line.framer.flag()
        line.raw(line.framer.take())


def as_long_as_n1(line: RawLine) -> None:
    """With an N1 of 135 octets: a Data packet of 128 comes back."""
    line.link.longest = 135
    line.tell("013f", CONFIRM, CALL, "0341", "0144100100" + "41" * 128)


def rejected_set_up(line: RawLine) -> None:
    """DM F=0 asks the router for a link; its SABM is answered by FRMR."""
    line.tell("030f", "03873f0001")


def every_own_fcs(line: RawLine) -> None:
    """The N(R) of answers to polls, and the causes and diagnostics that an echo gives back."""
    line.tell("013f", CONFIRM, CALL, "0341")
    for number in range(300):
        control = (2 + number) % 8 << 1 | (2 + number) % 8 << 5
        packet = f"1001{number % 8 << 5 | number % 8 << 1:02x}{number:04x}"
        line.frame(f"01{control:02x}{packet}")


def idle_link(line: RawLine) -> None:
    up(line)
    line.link.lapb.parameters = replace(line.link.lapb.parameters, t3=5.0)
    more(line, "0131")
    line.lab.timers.advance(60)


def idle_link_that_answers(line: RawLine) -> None:
    up(line)
    line.link.lapb.parameters = replace(line.link.lapb.parameters, t3=5.0)
    more(line, "0131")
    for _ in range(5):
        line.lab.timers.advance(5.1)
        more(line, "0331")


def set_up_and_silent(line: RawLine) -> None:
    """DM F=0 asks the router for a link; it has UA, and no more."""
    line.tell("030f", "0373")
    line.lab.timers.advance(30)


def rr_amid_a_set_up(line: RawLine) -> None:
    line.tell("030f")
    line.lab.timers.advance(2)
    more(line, "0101")
    line.lab.timers.advance(2)


def part_of_a_dte(line: RawLine) -> None:
    """The router confirms two Restarts, and RR acknowledges the first confirmation; T1."""
    restart = "1000fb0700"
    more(line, "033f", "0320" + RESTART_CONFIRMATION, "0322" + restart, "0324" + restart, "0141")
    line.lab.timers.advance(4)


WITNESS: dict[str, Script] = {
    "BUG-HDLC-01": bad_fcs,
    "BUG-HDLC-02": plain,
    "BUG-HDLC-03": runts,
    "BUG-HDLC-04": abort,
    "BUG-HDLC-05": shared_flags,
    "BUG-HDLC-06": escapes,
    "BUG-HDLC-07": addresses,
    "BUG-HDLC-09": odd_bits,
    "BUG-HDLC-10": behind_an_abort,
    "BUG-HDLC-11": all_escaped,
    "BUG-HDLC-12": behind_thirteen_ones,
    "BUG-HDLC-13": every_second_octet_of_the_fcs,
    "BUG-HDLC-14": fcs_of_zeros,
    "BUG-HDLC-15": every_fcs,
    "BUG-HDLC-16": octet_by_octet,
    "BUG-HDLC-17": a_hundred_flags,
    "BUG-HDLC-18": runt_with_fcs,
    "BUG-HDLC-19": octet_by_octet,
    "BUG-HDLC-20": shared_flags,
    "BUG-HDLC-21": as_long_as_n1,
    "BUG-HDLC-22": abort,
    "BUG-HDLC-23": bad_frame_with_n_r,
    "BUG-SER-01": bad_fcs,
    "BUG-SER-02": runts,
    "BUG-SER-03": giant,
    "BUG-SER-04": bad_fcs,
    "BUG-SER-05": bad_fcs,
    "BUG-SER-06": bad_fcs,
    "BUG-SER-07": collision_of_restarts,
    "BUG-SER-08": on_link("0397220008"),
    "BUG-SER-09": bad_fcs,
    "BUG-SER-10": plain,
    "BUG-LAPB-01": sabm_without_p,
    "BUG-LAPB-02": router_sets_up("0363"),
    "BUG-LAPB-03": router_sets_up("013f"),
    "BUG-LAPB-04": on_link("013f"),
    "BUG-LAPB-05": disconnected,
    "BUG-LAPB-06": router_sets_up(),
    "BUG-LAPB-07": sabme,
    "BUG-LAPB-08": on_link(*ASKS),
    "BUG-LAPB-09": on_link("0131"),
    "BUG-LAPB-10": on_link(ASKS[0], ASKS[0]),
    "BUG-LAPB-11": on_link(ASKS[1]),
    "BUG-LAPB-12": on_link(ASKS[1], ASKS[2]),
    "BUG-LAPB-13": on_link(ASKS[1], ASKS[0], ASKS[2]),
    "BUG-LAPB-14": on_link(*ASKS[:3], "0329"),
    "BUG-LAPB-15": on_link(*ASKS[:3], "0329"),
    "BUG-LAPB-16": on_link(ASKS[0], seconds=4),
    "BUG-LAPB-17": on_link(ASKS[0], "014a1fff00", seconds=4),
    "BUG-LAPB-18": busy,
    "BUG-LAPB-19": busy,
    "BUG-LAPB-20": on_link("01a1"),
    "BUG-LAPB-21": on_link("01221000f126", "010d"),
    "BUG-LAPB-22": on_link("010d", ASKS[0]),
    "BUG-LAPB-23": on_link("0397000001"),
    "BUG-LAPB-24": on_link("013f"),
    "BUG-LAPB-25": busy,
    "BUG-LAPB-26": router_sets_up(),
    "BUG-LAPB-27": router_sets_up("031f"),
    "BUG-LAPB-28": router_sets_up("0153"),
    "BUG-LAPB-29": on_link(CALL, "0153"),
    "BUG-LAPB-30": plain,
    "BUG-LAPB-31": on_link("0153", "0153"),
    "BUG-LAPB-32": on_link("01221000f126"),
    "BUG-LAPB-33": poll_answered_without_f,
    "BUG-LAPB-34": on_link(ASKS[2]),
    "BUG-LAPB-35": window_over_the_wrap,
    "BUG-LAPB-36": on_link(*ASKS[:2], "0365"),
    "BUG-LAPB-37": router_sets_up("0301"),
    "BUG-LAPB-38": on_link(ASKS[1], "01361fff00"),
    "BUG-LAPB-39": recovering("0131"),
    "BUG-LAPB-40": on_link("0331"),
    "BUG-LAPB-41": without_link("0143"),
    "BUG-LAPB-42": on_link("0143"),
    "BUG-LAPB-43": on_link("012f"),
    "BUG-LAPB-44": on_link("01a5"),
    "BUG-LAPB-45": on_link("03a1"),
    "BUG-LAPB-46": recovering("03b1"),
    "BUG-LAPB-47": on_link(ASKS[0], "0345", "0121"),
    "BUG-LAPB-48": on_link(*ASKS, "012e1fff00", "012e1fff00"),
    "BUG-LAPB-49": on_link("0125", ASKS[0]),
    "BUG-LAPB-50": on_link("0325", ASKS[0], "0121"),
    "BUG-LAPB-51": on_link("031f"),
    "BUG-LAPB-52": without_link("0115"),
    "BUG-LAPB-53": without_link("0311"),
    "BUG-LAPB-107": without_link("0373"),
    "BUG-LAPB-54": on_link("03a1"),
    "BUG-LAPB-55": on_link("01b1"),
    "BUG-LAPB-56": on_link("010d", "0121", "0131"),
    "BUG-LAPB-57": on_link(ASKS[1], "013f", "01021fff00"),
    "BUG-LAPB-58": on_link("0325", "013f"),
    "BUG-LAPB-59": recovering("013f"),
    "BUG-LAPB-60": recovering("013f", seconds=30),
    "BUG-LAPB-61": on_link(*ASKS, "0153", "013f"),
    "BUG-LAPB-62": recovering("0331", asks=ASKS[:2]),
    "BUG-LAPB-63": recovering(ASKS[1]),
    "BUG-LAPB-64": on_link(*ASKS, "0329"),
    "BUG-LAPB-65": recovering(seconds=1),
    "BUG-LAPB-66": on_link("010d", seconds=2),
    "BUG-LAPB-67": recovering(seconds=40),
    "BUG-LAPB-68": on_link("010d", seconds=40),
    "BUG-LAPB-69": on_link(CALL, "013f"),
    "BUG-LAPB-70": recovering("03b1"),
    "BUG-LAPB-71": two_at_once,
    "BUG-LAPB-72": rejected_set_up,
    "BUG-LAPB-73": router_sets_up("0173"),
    "BUG-LAPB-76": on_link("013f", CONFIRM, *ASKS, "01281fff00", "012a1fff00"),
    "BUG-LAPB-77": on_link(ASKS[0], "0329", seconds=4),
    "BUG-LAPB-78": recovering("0329", seconds=10),
    "BUG-LAPB-79": on_link("01a0" + ASKS[0][4:]),
    "BUG-LAPB-80": on_link(ASKS[0], "0153", seconds=4),
    "BUG-LAPB-81": on_link("01a1", "011d"),
    "BUG-LAPB-83": rr_late_in_t1,
    "BUG-LAPB-89": on_link(ASKS[1], "0132" + ASKS[0][4:], ASKS[2]),
    "BUG-LAPB-84": undefined_to_a_dte,
    "BUG-LAPB-120": on_link("015300"),
    "BUG-LAPB-121": on_link("012500"),
    "BUG-LAPB-122": on_link("01c41fff00"),
    "BUG-LAPB-123": on_link("0397000001", seconds=4),
    "BUG-LAPB-124": on_link("017f"),
    "BUG-LAPB-125": router_sets_up("012f"),
    "BUG-LAPB-126": router_sets_up("0143"),
    "BUG-LAPB-127": recovering("0335"),
    "BUG-LAPB-128": busy_and_silent,
    "BUG-LAPB-129": on_link(ASKS[0], "0139"),
    "BUG-LAPB-130": giant,
    "BUG-LAPB-131": part_acknowledged,
    "BUG-LAPB-85": on_link(*ASKS[:2], "0329", "0329", "0329"),
    "BUG-LAPB-86": on_link(ASKS[1], "010d", "013f", "01021fff00"),
    "BUG-LAPB-87": on_link(*["0131"] * 5),
    "BUG-LAPB-88": on_link(ASKS[0], "01a1"),
    "BUG-LAPB-90": recovering("0134" + ASKS[1][4:]),
    "BUG-LAPB-91": on_link("0132" + ASKS[0][4:]),
    "BUG-LAPB-92": on_link(*TO_SEVEN, seconds=4),
    "BUG-LAPB-93": recovering(seconds=40),
    "BUG-LAPB-94": recovering("0339"),
    "BUG-LAPB-95": on_link("0325", ASKS[0]),
    "BUG-LAPB-96": recovering(*ASKS[1:3], "0351"),
    "BUG-LAPB-97": recovering(ASKS[2], ASKS[1], ASKS[3]),
    "BUG-LAPB-98": router_sets_up("030f"),
    "BUG-LAPB-99": on_link(ASKS[0], "0325", "0144" + ASKS[1][4:], "0121"),
    "BUG-LAPB-100": on_link(ASKS[0], "01241eee00", "0329"),
    "BUG-LAPB-101": recovering("0331", asks=(ASKS[0], "01241eee00")),
    "BUG-HDLC-25": idle,
    "BUG-HDLC-24": half_an_octet,
    "BUG-HDLC-26": odd_bits_and_a_shared_flag,
    "BUG-HDLC-27": every_own_fcs,
    "BUG-HDLC-28": every_own_fcs,
    "BUG-HDLC-29": whole_and_aborted,
    "BUG-HDLC-30": endless,
    "BUG-HDLC-31": without_link("133f"),
    "BUG-HDLC-32": an_echo_of_flags,
    "BUG-HDLC-33": an_echo_of_flags,
    "BUG-HDLC-34": right_behind_an_abort,
    "BUG-LAPB-105": rejected_by_a_dte,
    "BUG-LAPB-106": recovering(asks=(CALL,), seconds=60),
    "BUG-LAPB-102": idle_link,
    "BUG-LAPB-103": idle_link_that_answers,
    "BUG-LAPB-108": on_link("01af"),
    "BUG-LAPB-109": on_link("0103" + ASKS[0][4:]),
    "BUG-LAPB-110": on_link("01bf"),
    "BUG-LAPB-111": on_link(ASKS[0], "010d", "0129"),
    "BUG-LAPB-112": on_link(ASKS[0], "010d", seconds=4),
    "BUG-LAPB-113": on_link("010d", "0397000001"),
    "BUG-LAPB-114": on_link("010d", "031f"),
    "BUG-LAPB-115": on_link("0353"),
    "BUG-LAPB-116": without_link("01bf"),
    "BUG-LAPB-117": on_link(ASKS[0], "0132" + ASKS[0][4:]),
    "BUG-LAPB-118": on_link(*TO_SEVEN, "0161"),
    "BUG-LAPB-132": router_sets_up("0100" + ASKS[0][4:], "0373", "0111"),
    "BUG-LAPB-133": router_sets_up("0105", "0373", CONFIRM, ASKS[0]),
    "BUG-LAPB-134": router_sets_up("0111", "0373"),
    "BUG-LAPB-135": sabm_without_p,
    "BUG-LAPB-136": on_link(ASKS[0], seconds=4),
    "BUG-LAPB-137": router_sets_up(),
    "BUG-LAPB-138": on_link("0325", "0397000001", "0373", CONFIRM, ASKS[0]),
    "BUG-LAPB-139": on_link("0325", *ASKS[:2], "0321"),
    "BUG-LAPB-140": on_link(*TO_SEVEN, "01021fff00"),
    "BUG-LAPB-141": on_link(*TO_SEVEN, "0305", "01001fff00", "01021fff00", "0301"),
    "BUG-LAPB-142": on_link(*TO_SEVEN[:5], "010d"),
    "BUG-LAPB-143": on_link(*ASKS[:2], "01461fff00", seconds=4),
    "BUG-LAPB-144": recovering("0339", asks=ASKS[:2]),
    "BUG-LAPB-145": recovering("0351", "01441fff00", seconds=20),
    "BUG-LAPB-146": set_up_and_silent,
    "BUG-LAPB-147": on_link("010d", "013f", seconds=30),
    "BUG-LAPB-148": on_link("0397000001", seconds=30),
    "BUG-LAPB-149": part_of_a_dte,
    "BUG-LAPB-150": on_link("010d", "012f"),
    "BUG-LAPB-151": on_link("010d", "0143"),
    "BUG-LAPB-152": on_link("010d", "013f", "010d", seconds=30),
    "BUG-LAPB-153": on_link(ASKS[0], "0129"),
    "BUG-LAPB-154": on_link(ASKS[0], "0139"),
    "BUG-LAPB-155": on_link("01a1"),
    "BUG-LAPB-156": on_link(*TO_SEVEN[:6], "010d"),
    "BUG-LAPB-157": on_link(*ASKS[:2], "0345", seconds=4),
    "BUG-LAPB-158": recovering(ASKS[1], seconds=4),
    "BUG-LAPB-159": recovering("0397000001"),
    "BUG-LAPB-160": on_link("0325", "010d", "013f"),
    "BUG-LAPB-161": recovering("012f"),
    "BUG-LAPB-162": recovering("031f"),
    "BUG-LAPB-163": on_link("0325", "0132" + ASKS[0][4:]),
    "BUG-LAPB-164": on_link("0325", *ASKS[:2], "0131"),
    "BUG-LAPB-165": on_link(ASKS[0], "0345", "01441fff00"),
    "BUG-LAPB-166": rr_amid_a_set_up,
    "BUG-LAPB-167": recovering("0321", seconds=40),
    "BUG-LAPB-168": on_link("0325", "01a1"),
    "BUG-LAPB-169": on_link("01a21fff00"),
    "BUG-LAPB-170": without_link("01001fff00"),
    "BUG-LAPB-171": on_link("0397000001"),
    "BUG-LAPB-172": on_link(ASKS[0], "0141", "0321"),
    "BUG-LAPB-173": recovering("0131"),
    "BUG-LAPB-174": recovering("0134" + ASKS[1][4:]),
    "BUG-LAPB-175": behind_polls_in_vain,
    "BUG-LAPB-176": behind_a_set_up_in_vain,
    "BUG-LAPB-177": on_link("01a1", "0363", "0131"),
    "BUG-LAPB-178": on_link("032100"),
    "BUG-LAPB-180": on_link("0397000001", "0373"),
    "BUG-LAPB-181": on_link("0325", *ASKS, "0321"),
    "BUG-LAPB-182": on_link("03970000"),
    "BUG-LAPB-183": on_link("039700000100"),
    "BUG-LAPB-179": recovering("0341", seconds=40),
    "BUG-LAPB-82": on_link("03" + ASKS[0][2:]),
    "BUG-LAPB-75": on_link("0325", "013f", CONFIRM, ASKS[0]),
    "BUG-LAPB-74": on_link(*(control + CALL[4:] for control in ("0134", "0136", "0128"))),
}
#: Scripts for a line on which the router is the DTE.
OF_A_DTE = {undefined_to_a_dte, rejected_by_a_dte, part_of_a_dte}
#: Faults that every frame, or every acknowledgement, shows.
EVERYWHERE = {
    *("BUG-HDLC-02", "BUG-LAPB-01", "BUG-LAPB-30", "BUG-SER-05", "BUG-SER-10"),
}


def observe(make_lab: Any, script: Script, framing: str, *faults: str) -> Any:
    patches = FAULTS.switch_on(faults)
    try:
        role = "dte" if script in OF_A_DTE else "dce"
        of_line = SERIAL | {"framing": framing, "role": role}
        line = RawLine(make_lab(serial=[of_line], timers={"t10": 0}))
        script(line)
        # tell() drops nothing: all that the router sent is in its counters as well.
        return line.frames, line.lab.router.counters.as_dict()
    finally:
        for patch in reversed(patches):
            patch.undo()


def test_every_fault_of_a_line_has_a_script() -> None:
    assert set(WITNESS) == {
        one for one in FAULTS if one.startswith(("BUG-HDLC", "BUG-LAPB", "BUG-SER"))
    }


#: Only a bit-synchronous line has bits that are not whole octets.
OF_BITS = {
    "BUG-HDLC-09",
    "BUG-HDLC-24",
    "BUG-HDLC-12",
    "BUG-HDLC-19",
    "BUG-HDLC-20",
    "BUG-HDLC-22",
    "BUG-HDLC-25",
    "BUG-HDLC-26",
    "BUG-HDLC-28",
    "BUG-HDLC-29",
    "BUG-HDLC-34",
}
#: Only an octet-stuffed one has escapes, and one flag for the end of an abort and the next frame.
OF_OCTETS = {
    *(
        "BUG-HDLC-10",
        "BUG-HDLC-11",
        "BUG-HDLC-16",
        "BUG-HDLC-17",
        "BUG-HDLC-27",
        "BUG-HDLC-32",
        "BUG-HDLC-33",
    ),
}


@pytest.mark.parametrize(
    ("identity", "framing"),
    [(one, "bit") for one in WITNESS if one not in OF_OCTETS]
    + [(one, "octet") for one in WITNESS if one not in OF_BITS],
)
def test_fault_is_seen_and_can_be_undone(make_lab: Any, identity: str, framing: str) -> None:
    script = WITNESS[identity]
    sound = observe(make_lab, script, framing)
    assert observe(make_lab, script, framing, identity) != sound
    assert observe(make_lab, script, framing) == sound


@pytest.mark.parametrize("identity", sorted(set(WITNESS) - EVERYWHERE))
def test_fault_does_not_show_where_nothing_unusual_happens(make_lab: Any, identity: str) -> None:
    assert observe(make_lab, plain, "octet", identity) == observe(make_lab, plain, "octet")


def carried(make_lab: Any, *faults: str) -> tuple[list[str], list[str]]:
    """A call from XOT on channel 5 and a restart of the line: packets to the line, and to XOT."""
    patches = FAULTS.switch_on(faults)
    try:
        line = open_line(make_lab)
        a = line.lab.caller()
        a.tell("1005" + TO_LINE)
        there = line.packets()
        return there + line.packet("1000fb0000"), a.take()
    finally:
        for patch in reversed(patches):
            patch.undo()


def test_faults_between_xot_and_a_line(make_lab: Any) -> None:
    call, confirmation = carried(make_lab)[0]
    cleared = carried(make_lab)[1]
    assert call.startswith("10010b")
    assert confirmation == "1000ff"
    assert [packet[:6] for packet in cleared] == ["100513"]
    (other_call, _), _ = carried(make_lab, "BUG-XOT-29")
    assert other_call == "1005" + call[4:]
    assert carried(make_lab, "BUG-RSTRT-02") == ([call, confirmation], [])
    assert carried(make_lab) == ([call, confirmation], cleared)


def crossed(make_lab: Any, role: str, *faults: str) -> tuple[list[str], list[str]]:
    """A call towards the line, the other end's own on its channel: packets to the line, to XOT."""
    patches = FAULTS.switch_on(faults)
    try:
        line = open_line(make_lab, role=role, initiate=False)
        a = line.lab.caller()
        a.tell("1005" + TO_LINE)
        channel = line.packets()[0][:4]
        found = line.packet(channel + "0b0411110000")
        return found, a.take()
    finally:
        for patch in reversed(patches):
            patch.undo()


@pytest.mark.parametrize(
    ("identity", "role"),
    [(f"BUG-CALL-{number}", "dce") for number in (23, 24, 26, 27)]
    + [(f"BUG-CALL-{number}", "dte") for number in (25, 28)],
)
def test_faults_of_call_collision(make_lab: Any, identity: str, role: str) -> None:
    sound = crossed(make_lab, role)
    assert crossed(make_lab, role, identity) != sound
    assert crossed(make_lab, role) == sound


def cleared_behind_a_collision(make_lab: Any, *faults: str) -> list[str]:
    """The other end's own call has displaced the router's and is cleared: what its far end gets."""
    patches = FAULTS.switch_on(faults)
    try:
        line = open_line(make_lab, role="dce", initiate=False)
        line.lab.caller().tell("1005" + TO_LINE)
        channel = line.packets()[0][:4]
        line.packet(channel + "0b0721000010000000")
        line.lab.open()
        line.packet(channel + "1300f1")
        return [packet for peer in line.lab.called for packet in peer.take()]
    finally:
        for patch in reversed(patches):
            patch.undo()


def test_clear_behind_a_collision(make_lab: Any) -> None:
    sound = cleared_behind_a_collision(make_lab)
    assert sound[-1][4:] == "1300f1"
    assert cleared_behind_a_collision(make_lab, "BUG-CALL-63") != sound
    assert cleared_behind_a_collision(make_lab) == sound


def timers_behind_a_collision(make_lab: Any, *faults: str) -> set[str]:
    """Those that run on the channel on which the other end's call has displaced the router's."""
    patches = FAULTS.switch_on(faults)
    try:
        line = open_line(make_lab, role="dce", initiate=False)
        line.lab.caller().tell("1005" + TO_LINE)
        channel = line.packets()[0][:4]
        line.packet(channel + "0b0411110000")
        (interface,) = line.lab.router.serials.values()
        return set(interface.channels[int(channel[1:], 16)]._timers)
    finally:
        for patch in reversed(patches):
            patch.undo()


def test_timer_of_a_displaced_call(make_lab: Any) -> None:
    assert "T11" not in timers_behind_a_collision(make_lab)
    assert "T11" in timers_behind_a_collision(make_lab, "BUG-CALL-31")
    assert "T11" not in timers_behind_a_collision(make_lab)
