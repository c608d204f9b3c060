# SPDX-License-Identifier: GPL-2.0-or-later
"""The known gaps, measured again on the Wireshark that is installed."""

from __future__ import annotations

import subprocess

import build_gaps
import pytest
from capture_builder import A, Connection, pcapng, unit
from test_fields import PACKETS
from x25shark.judges import gaps
from x25shark.judges.reading import Difference, Hit
from x25shark.judges.sandbox import Sandbox
from x25shark.judges.wireshark import WiresharkJudge

GAPS = gaps.load()


def _version() -> str:
    done = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


def _builtin_frames(gap: gaps.Gap) -> tuple[int, ...]:
    """Frames that plain tshark, without the strict dissector, finds."""
    sandbox = Sandbox()
    command = ["tshark", "-n", "-r", str(gap.capture), "-o", "x25.reassemble:FALSE"]
    try:
        done = subprocess.run(
            [*command, "-Y", gap.builtin_filter, "-T", "fields", "-e", "frame.number"],
            env=sandbox.environment(),
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        sandbox.close()
    return tuple(map(int, done.stdout.split()))


@pytest.mark.parametrize("gap", GAPS, ids=lambda gap: gap.id)
def test_the_gap_is_as_listed(gap: gaps.Gap, judge: WiresharkJudge) -> None:
    assert gap.builtin_frames != gap.right_frames, "no gap at all"
    measured = _builtin_frames(gap)
    if gap.concerns(_version()):
        assert measured == gap.builtin_frames
    else:
        assert measured != gap.builtin_frames, "add this version to the gap in gaps.toml"
    strict = judge.read(gap.capture.read_bytes(), [gap.strict_filter])
    assert tuple(sorted({hit.frame for hit in strict.hits[0]})) == gap.right_frames


def test_captures_are_what_the_command_builds() -> None:
    assert {gap.id for gap in GAPS} == set(build_gaps.EXCHANGES)
    for gap in GAPS:
        assert gap.capture.read_bytes() == build_gaps.build(gap.id), f"run build_gaps.py: {gap.id}"


def test_no_other_difference_in_a_large_set_of_packets(judge: WiresharkJudge) -> None:
    """Every way in which the built-in dissector differs on the mutated packets is a listed gap."""
    known = gaps.KnownGaps(judge.version)
    made = Connection().open()
    for octets in PACKETS:
        made.send(A, unit(octets))
    reading, unexplained = known.read(judge, pcapng(made.frames), ["x25s"], timeout=60)
    assert len(reading.hits) == 1
    assert len(reading.differences) > 500
    assert unexplained == ()


def test_a_difference_outside_the_list_is_told(judge: WiresharkJudge) -> None:
    known = gaps.KnownGaps(judge.version)
    surprise = Difference(4, 1, "lcn: 1, built-in 2")
    nothing: list[list[Hit]] = [[] for _ in known.filters]
    assert known.unexplained([surprise], nothing) == (surprise,)
    everywhere = [[Hit(4, 1)] for _ in known.filters]
    assert known.unexplained([surprise], everywhere) == ()
    assert known.unexplained([Difference(4, 1, "colour: 1, built-in 2")], everywhere)


def test_releases() -> None:
    assert gaps.release("Wireshark 4.0.17 (Git v4.0.17)") == "4.0"
    with pytest.raises(ValueError, match="no Wireshark version"):
        gaps.release("tshark")
