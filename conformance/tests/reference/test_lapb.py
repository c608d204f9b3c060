# SPDX-License-Identifier: GPL-2.0-or-later
"""The router's LAPB station, event by event (X.25 2.4; table of LAPB states)."""

from typing import Any

import pytest
from lab_line import LabLine
from x25shark.reference.lapb_station import Phase

SERIAL = {"name": "s0", "listen": "127.0.0.1:0", "t1": 3, "n2": 3, "t3": 0}


def lab_line(make_lab: Any, **options: Any) -> LabLine:
    return LabLine(make_lab(serial=[SERIAL | options], timers={"t10": 0}))


def up(make_lab: Any, **options: Any) -> LabLine:
    line = lab_line(make_lab, **options)
    line.set_up()
    return line


@pytest.mark.parametrize("framing", ["octet", "bit"])
@pytest.mark.parametrize("p_f", [0, 1])
def test_sabm_is_answered_with_ua(make_lab: Any, framing: str, p_f: int) -> None:
    line = lab_line(make_lab, framing=framing)
    frames = line.tell("013f" if p_f else "012f")
    # Then the packet layer restarts: network operational.
    assert frames == ["0173" if p_f else "0163", "03001000fb0700"]


def test_disconnected_phase(make_lab: Any) -> None:
    line = lab_line(make_lab)
    assert line.tell("0153") == ["011f"]
    assert line.tell("0143") == ["010f"]
    assert line.tell("0111") == line.tell("011010") == ["011f"]
    assert line.tell("0101", "0100") == []
    assert line.tell("017f") == ["011f"]
    # Responses are no commands; a UA, an FRMR and DM F=1 say nothing here.
    assert line.tell("033f", "0373", "0397000000", "031f") == []
    # DM F=0 asks for the set-up of the link.
    assert line.tell("030f") == ["033f"]


def test_set_up_by_the_router(make_lab: Any) -> None:
    line = lab_line(make_lab, initiate=True)
    assert line.take() == ["033f"]
    line.lab.timers.advance(3)
    assert line.take() == ["033f"]
    # Ignored: UA F=0, RR, I, FRMR, DM F=0.
    assert line.tell("0363", "0111", "011010", "0397000000", "030f") == []
    assert line.tell("0373") == ["03001000fb0700"]


def test_set_up_is_given_up_after_n2_attempts_and_begun_again(make_lab: Any) -> None:
    line = lab_line(make_lab, initiate=True, retry=20)
    line.lab.timers.advance(9)
    assert line.take() == ["033f"] * 3
    assert line.link.lapb.phase is Phase.DISCONNECTED
    line.lab.timers.advance(19)
    assert line.take() == []
    line.lab.timers.advance(1)
    assert line.take() == ["033f"]
    assert line.tell("031f") == []
    assert line.link.lapb.phase is Phase.DISCONNECTED


def test_collisions(make_lab: Any) -> None:
    line = lab_line(make_lab, initiate=True)
    line.take()
    assert line.tell("013f")[0] == "0173"
    assert line.tell("0373") == []
    assert line.link.lapb.phase is Phase.TRANSFER
    line = lab_line(make_lab, initiate=True)
    line.take()
    assert line.tell("0153") == ["011f"]
    assert line.link.lapb.phase is Phase.DISCONNECTED


def test_disconnection_by_the_router(make_lab: Any) -> None:
    line = up(make_lab)
    line.interface.stop()
    assert line.take() == ["0353"]
    line.lab.timers.advance(3)
    assert line.take() == ["0353"]
    assert line.tell("0110", "0153") == ["0173"]
    assert line.closed
    line = up(make_lab)
    line.interface.stop()
    assert line.tell("013f") == ["0353", "011f"]
    assert line.closed


def test_addresses_of_a_dte(make_lab: Any) -> None:
    line = lab_line(make_lab, role="dte", initiate=False)
    assert line.tell("033f") == ["0373", "01001000fb0000"]
    assert line.tell("01310000") != []


def test_acknowledgement_at_the_end_of_the_turn_or_after_t2(make_lab: Any) -> None:
    line = up(make_lab)
    assert line.tell("01221000f1") == ["0141"]
    line = up(make_lab, t2=1)
    assert line.tell("01221000f1") == []
    line.lab.timers.advance(1)
    assert line.take() == ["0141"]
    assert line.tell("01341000f1") == ["0171"]


def test_gap_gives_one_reject(make_lab: Any) -> None:
    line = up(make_lab)
    assert line.tell("01241000f1") == ["0129"]
    assert line.tell("01261000f1") == []
    assert line.tell("01361000f1") == ["0131"]
    assert line.tell("01221000f1", "01241000f1", "01261000f1") == ["0141", "0161", "0181"]
    assert line.tell("012a1000f1") == ["0189"]
    counters = line.interface.counters.as_dict()
    assert counters["lapbFlowRejOutPkts"] == 2
    assert {k: n for k, n in counters["x25InPacketsByType"].items() if n} == {
        "DIAGNOSTIC": 3,
        "RESTART_CONFIRMATION": 1,
    }


def test_duplicate_is_not_passed_up(make_lab: Any) -> None:
    line = up(make_lab)
    line.tell("01221000f1")
    assert line.tell("01221000f1") == ["0149"]
    assert line.interface.counters.packets_in["DIAGNOSTIC"] == 1


def bad_packet(line: LabLine, count: int) -> list[str]:
    """Packets that the router answers with Diagnostic packets: I frames of the router."""
    for _ in range(count):
        line.tell_information("1fff00")
    return line.take()


def information(frames: list[str]) -> list[int]:
    """N(S) of the I frames."""
    controls = [int(frame[2:4], 16) for frame in frames]
    return [control >> 1 & 7 for control in controls if not control & 1]


@pytest.mark.parametrize("k", [1, 3, 7])
def test_window_and_part_acknowledgement(make_lab: Any, k: int) -> None:
    line = up(make_lab, k=k)
    assert information(bad_packet(line, 10)) == [(1 + i) % 8 for i in range(k)]
    part = k // 2 + 1
    frames = line.tell(f"03{((1 + part) % 8) << 5 | 1:02x}")
    assert information(frames) == [(1 + k + i) % 8 for i in range(min(part, 10 - k))]


def test_reject_brings_frames_again(make_lab: Any) -> None:
    line = up(make_lab)
    sent = bad_packet(line, 4)
    again = line.tell("0349")
    assert information(again) == [2, 3, 4]
    assert [frame[4:] for frame in again] == [frame[4:] for frame in sent][1:]
    assert information(line.tell("0159")) == [2, 3, 4]
    assert information(line.tell("03a1")) == []


def test_timer_recovery(make_lab: Any) -> None:
    line = up(make_lab)
    bad_packet(line, 3)
    line.lab.timers.advance(3)
    assert line.take() == ["0371".replace("71", f"{line.v_s << 5 | 0x11:02x}")]
    # An answer with an old N(R) brings the frames again.
    assert information(line.tell("0351")) == [2, 3]
    line.lab.timers.advance(3)
    line.take()
    assert line.tell("0391") == []
    line.lab.timers.advance(60)
    assert line.take() == []


def test_recovery_is_given_up_after_n2_polls(make_lab: Any) -> None:
    line = up(make_lab)
    bad_packet(line, 1)
    line.lab.timers.advance(9)
    poll = f"03{line.v_s << 5 | 0x11:02x}"
    assert line.take() == [poll] * 3
    line.lab.timers.advance(3)
    assert line.take() == ["033f"]
    line.lab.timers.advance(9)
    assert line.take() == ["033f"] * 2
    assert line.link.lapb.phase is Phase.DISCONNECTED


def test_busy_peer_gets_no_information_and_is_polled(make_lab: Any) -> None:
    line = up(make_lab)
    assert line.tell("0325") == []
    assert information(bad_packet(line, 2)) == []
    poll = f"03{line.v_s << 5 | 0x11:02x}"
    for _ in range(9):
        # Answered polls do not count towards N2.
        line.lab.timers.advance(3)
        assert line.take() == [poll]
        assert line.tell("0335") == []
    assert line.tell("0135") == [f"01{line.v_s << 5 | 0x11:02x}"]
    assert information(line.tell("0321")) == [1, 2]


def test_reject_ends_busy(make_lab: Any) -> None:
    line = up(make_lab)
    bad_packet(line, 3)
    assert line.tell("0325") == []
    assert information(line.tell("0329")) == [1, 2, 3]


@pytest.mark.parametrize(
    ("frame", "field", "f"),
    [
        ("010d", "0d4201", 0),
        ("017f", "7f4201", 1),
        ("01efaa", "ef4201", 0),
        ("0121aa", "214203", 0),
        ("033f", "3f5201", 0),
        ("0173", "734201", 1),
        ("0161", "614208", 0),
        ("0369", "695208", 0),
        ("01741000f1", "744208", 1),
        ("0301", "015208", 0),
    ],
)
def test_frame_reject(make_lab: Any, frame: str, field: str, f: int) -> None:
    line = up(make_lab)
    line.tell("01221000f1")
    # The Restart is acknowledged, so N(R) = 1 is all that is right.
    rejection = f"01{0x87 | f << 4:02x}{field}"
    assert line.tell(frame) == [rejection]
    assert line.interface.counters.rejections["lapbFlowFrmrSent"] == field
    assert line.tell("01221000f1", "0121") == []
    assert line.tell("0131") == [f"0197{field}"]
    line.lab.timers.advance(3)
    assert line.take() == [f"0187{field}"]
    assert line.tell("013f")[0] == "0173"
    assert line.link.lapb.v_r == 0


def test_frame_reject_is_repeated_n2_times(make_lab: Any) -> None:
    line = up(make_lab)
    line.tell("010d")
    line.lab.timers.advance(9)
    assert line.take() == ["01870d2201"] * 2 + ["033f"]
    line = up(make_lab)
    line.tell("010d")
    assert line.tell("0153") == ["0173"]
    assert line.link.lapb.phase is Phase.DISCONNECTED


def test_received_frame_reject_and_dm_reset_the_link(make_lab: Any) -> None:
    line = up(make_lab)
    assert line.tell("0397220008") == ["033f"]
    assert line.interface.counters.rejections["lapbFlowFrmrReceived"] == "220008"
    assert line.tell("0373") == ["03001000fb0700"]
    for response in ("030f", "031f"):
        line = up(make_lab)
        assert line.tell(response) == ["033f"]
    line = up(make_lab)
    assert line.tell("0373", "0363") == []


def test_giant_is_dropped_or_rejected(make_lab: Any) -> None:
    for longest, giants, frames in (
        (135 + 128, "discard", []),
        (135 + 128, "reject", ["0187222204"]),
    ):
        line = up(make_lab, giants=giants, n1=8 * longest)
        head = "01221fff"
        exact = head + "00" * (longest - 2 - 4)
        assert information(line.tell(exact)) == [1]
        line = up(make_lab, giants=giants, n1=8 * longest)
        assert line.tell(exact + "00") == frames
        assert line.interface.counters.values["hdlcInGiants"] == 1


def test_silence_is_asked_about_after_t3(make_lab: Any) -> None:
    line = up(make_lab, t3=30)
    line.lab.timers.advance(29)
    assert line.take() == []
    line.lab.timers.advance(1)
    assert line.take() == ["0331"]
    assert line.tell("0331") == []
    line.lab.timers.advance(31)
    assert line.take() == ["0331"]


def test_line_that_nobody_reads_does_not_pile_up(make_lab: Any) -> None:
    line = up(make_lab)
    line.congested = True
    for _ in range(1000):
        line.tell("0131")
    assert line.take() == []
    assert line.paused
    assert line.interface.counters.values["ifOutDiscards"] == 1000
    line.congested = False
    line.link.drained()
    assert not line.paused
    assert line.tell("0131") == ["0131"]
