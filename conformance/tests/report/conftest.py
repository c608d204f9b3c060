# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs to render: one as a router with a fault would give it, and one full of hostile text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from x25shark.results import (
    CaseResult,
    ExpectationResult,
    JudgeReading,
    PacketLine,
    Results,
    RunInfo,
)
from x25shark.verdicts import Verdict, exit_status

PROFILE = """\
# the embedded router
name = "reference"

[xot]
router = "127.0.25.1:1998"
"""

HOSTILE = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> &amp; </pre></script> "
    "\x1b[2J\x1b]0;title\x07 \x9b31m \r\x00\x08 \ud800 \udfff \ufffe \u202egnp.exe\u202c \u2066 "
    "[bold red]markup[/] [/not-open] {{ 7*7 }} {% raw %} ]]> | `code` * @team https://x.example"
)
"""What a router could put into every string it has a hand in."""

BAD_CHARACTERS = set("\x00\x07\x08\x1b\x9b\ud800\udfff\ufffe\u202e\u202c\u2066\u2028\r")
"""None of these may reach a terminal, a page or an XML document."""

LADDER = (
    ("A", True, "Call Request: called 2100001, calling 3100001, packet size 256/256", "100b0017"),
    ("B", False, "Incoming Call: called 2100001, calling 3100001, packet size 256/256", "100b0017"),
    ("B", True, "Call Accepted: packet size 256/256", "100f000003424280"),
    ("A", False, "Call Connected: packet size 256/256", "100f000003424280"),
    ("A", True, "Reset Request: cause 0, diagnostic 7", "10011b0007"),
    ("B", False, "Reset Indication: cause 5, diagnostic 7", "10011b0507"),
)


def make_packets(count: int = 6) -> list[PacketLine]:
    """The packets of a call and a reset; then data both ways up to `count`."""
    packets = []
    for index in range(count):
        if index < len(LADDER):
            side, sent, text, octets = LADDER[index]
        else:
            side, sent = ("A", True) if index % 2 else ("B", False)
            text = f"Data: P(S) {index % 8}, P(R) {index // 2 % 8}, 128 octets of user data"
            octets = "1001" + f"{index % 8 * 2:02x}" + bytes(range(128)).hex()
        time = 1795000000.0 + 0.004 * index + (1.2 if index >= 5 else 0)
        packets.append(
            PacketLine(
                time, 7 + index, 1, side, sent, 0 if side == "A" else 1, 40 * index, text, octets
            )
        )
    return packets


def make_expectations(met: bool, frame: int | None = 12) -> list[ExpectationResult]:
    """A preamble that was met and the expectation that the case is about."""
    seen = JudgeReading(True, 10, 1, 120, "Call Connected: packet size 256/256")
    last = JudgeReading(
        met,
        frame,
        1 if frame else None,
        200 if frame else None,
        f"Reset Indication: cause {0 if met else 5}, diagnostic 7" if frame else "",
    )
    return [
        ExpectationResult(
            "Call Connected",
            "A",
            "X.25 4.1.5",
            True,
            "x25s.type#1 == 0x0f",
            "x25s.type == 0x0f",
            10,
            1,
            True,
            seen,
            dataclasses.replace(seen),
        ),
        ExpectationResult(
            "Reset Indication with cause 0 or 128 and diagnostic 7",
            "B",
            "X.25 5.5.2.1; Table C-4",
            met,
            "x25s.type#1 == 0x1b && (x25s.cause#1 == 0 || x25s.cause#1 == 0x80)"
            " && x25s.diagnostic#1 == 7",
            "x25s.type == 0x1b && (x25s.cause == 0 || x25s.cause == 0x80) && x25s.diagnostic == 7",
            frame,
            1 if frame else None,
            False,
            last,
            dataclasses.replace(last),
        ),
    ]


def make_case(
    number: int, verdict: Verdict, group: str = "PLP-RST", packets: int = 6
) -> CaseResult:
    """One case with a verdict; executed cases have expectations, packets and evidence."""
    identity = f"{group}-{number:02}"
    executed = verdict not in (Verdict.NOT_APPLICABLE, Verdict.NOT_RUN)
    reasons = {
        Verdict.FAIL: "Reset Indication with cause 0 or 128 was expected at B; cause 5 came",
        Verdict.INCONCLUSIVE: "the call set-up failed: Clear Indication, cause 5, diagnostic 0",
        Verdict.NOT_APPLICABLE: "not declared: P-DBIT",
        Verdict.ERROR: "the judges disagree on expectation 2",
        Verdict.NOT_RUN: "slow; run with --slow",
    }
    expectations = make_expectations(verdict is not Verdict.FAIL) if executed else []
    if verdict is Verdict.ERROR:
        reading = expectations[1].judge_two
        assert reading is not None
        reading.met, reading.saw = False, "Reset Indication: cause 5, diagnostic 7"
    return CaseResult(
        id=identity,
        group=group,
        purpose="A Reset Request from A reaches B with its diagnostic and a cause of the DTE.",
        clause="X.25 4.4.3, 5.5.2",
        verdict=verdict,
        reason=reasons.get(verdict, ""),
        expectations=expectations,
        packets=make_packets(packets) if executed else [],
        duration_s=0.041 + 0.003 * number if executed else 0.0,
        evidence=f"evidence/{identity}.pcapng" if executed else None,
        rerun=f"x25shark run --router reference --select {identity}",
    )


def make_run() -> RunInfo:
    """The circumstances of a made-up run."""
    return RunInfo(
        id="5f0c1e7a",
        started="2026-11-21T13:10:06Z",
        duration_s=41.7,
        router="embedded reference router",
        profile="reference",
        relay_model="local",
        configuration="T1, T2",
        versions={"x25shark": "0.1.0", "tshark": "4.0.17", "scapy": "2.8.0"},
        judge="libwireshark 4.0.17",
        seed=2501613,
        selection="",
        command="x25shark run --router reference",
        profile_text=PROFILE,
        strays=["frame 4711: 127.0.25.1:40122 > 127.0.25.3:1998, Clear Indication, cause 9"],
        notes=["the capture lost no packet"],
    )


def make_results(cases: list[CaseResult]) -> Results:
    """A run of these cases."""
    return Results(make_run(), cases, exit_status(c.verdict for c in cases))


@pytest.fixture
def case() -> Callable[..., CaseResult]:
    """Maker of cases: case(number, verdict, group)."""
    return make_case


@pytest.fixture
def run_of() -> Callable[[list[CaseResult]], Results]:
    """Maker of runs from cases."""
    return make_results


@pytest.fixture
def results() -> Results:
    """A small run in which every verdict occurs."""
    cases = [make_case(number, verdict) for number, verdict in enumerate(Verdict, 1)]
    cases += [make_case(number, Verdict.PASS, "PLP-CALL") for number in range(1, 6)]
    cases[0].remarks = ["the Clear Confirmation came after TR and before twice TR"]
    return make_results(cases)


def poison(value: Any, text: str) -> Any:
    """A copy of a result in which every string that is not a verdict is `text`."""
    if isinstance(value, Verdict) or value is None:
        return value
    if isinstance(value, str):
        return text
    if isinstance(value, list):
        return [poison(v, text) for v in value]
    if isinstance(value, dict):
        return {poison(k, text): poison(v, text) for k, v in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changes = {f.name: poison(getattr(value, f.name), text) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **changes)
    return value


@pytest.fixture
def poisoned(results: Results) -> Callable[[str], Results]:
    """Maker of a run in which every string is hostile: poisoned(text)."""

    def make(text: str) -> Results:
        made: Results = poison(results, text)
        return made

    return make


@pytest.fixture
def hostile() -> str:
    """Text that acts where it is not made inert."""
    return HOSTILE


@pytest.fixture
def bad_characters() -> set[str]:
    """Characters that must not come out."""
    return BAD_CHARACTERS
