# SPDX-License-Identifier: GPL-2.0-or-later
"""The summary, the text of one failure, and the progress of a run."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from x25shark.report.terminal import Progress, failure_text, print_summary
from x25shark.results import CaseResult, Results
from x25shark.verdicts import Verdict

Cases = Callable[..., CaseResult]
Runs = Callable[[list[CaseResult]], Results]
Poison = Callable[[str], Results]


def console(
    width: int = 80, terminal: bool = False, encoding: str = "utf-8"
) -> tuple[Console, io.BytesIO]:
    """A console that writes to memory."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    return Console(file=out, width=width, force_terminal=terminal, legacy_windows=False), raw


def printed(raw: io.BytesIO, encoding: str = "utf-8") -> str:
    return raw.getvalue().decode(encoding)


def test_summary_says_what_failed_and_why(results: Results) -> None:
    target, raw = console()
    print_summary(results, Path("x25shark-report"), target)
    text = printed(raw)
    assert "6 PASS   1 FAIL   1 INCONCLUSIVE   1 NOT APPLICABLE   1 ERROR   1 NOT RUN" in text
    assert "FAIL  PLP-RST-02  X.25 4.4.3, 5.5.2" in text
    assert "cause 5 came" in text
    assert "     1  not declared: P-DBIT" in text
    assert "exit status 4: the tester failed" in text
    assert "report: x25shark-report/report.html" in text
    assert max(map(len, text.splitlines())) <= 80
    # The gravest comes first.
    assert text.index("ERROR  PLP-RST-05") < text.index("FAIL  PLP-RST-02")


def test_reasons_are_folded_into_counts(case: Cases, run_of: Runs) -> None:
    cases = [case(n, Verdict.NOT_APPLICABLE) for n in range(30)]
    for number, item in enumerate(cases[:12]):
        item.reason = f"not declared: {'X-PVC' if number < 10 else 'P-REG'}"
    target, raw = console()
    print_summary(run_of(cases), Path("r"), target)
    text = printed(raw)
    assert "    18  not declared: P-DBIT" in text
    assert "    10  not declared: X-PVC" in text
    assert "     2  not declared: P-REG" in text
    assert "PLP-RST-07" not in text


def test_many_failures_are_not_all_printed(case: Cases, run_of: Runs) -> None:
    target, raw = console()
    print_summary(run_of([case(n, Verdict.FAIL) for n in range(50)]), Path("r"), target)
    assert "and 30 more: see the report" in printed(raw)


def test_summary_of_hostile_text_is_inert(
    poisoned: Poison, hostile: str, bad_characters: set[str]
) -> None:
    for terminal in (False, True):
        target, raw = console(terminal=terminal)
        print_summary(poisoned(hostile), Path(hostile.replace("\x00", "")), target)
        text = printed(raw)
        if terminal:  # rich's own colours apart
            for code in ("\x1b[2J", "\x1b]0"):
                assert code not in text
            bad_characters = bad_characters - {"\x1b"}
        assert not bad_characters & set(text)
        assert "[bold red]markup[/]" in text


def test_summary_of_ten_megabytes_is_bounded(poisoned: Poison) -> None:
    target, raw = console()
    print_summary(poisoned("y" * 10_000_000), Path("r"), target)
    assert len(raw.getvalue()) < 20_000


def test_summary_on_an_ascii_terminal(results: Results) -> None:
    results.run.router = "Zürich → Genève"
    target, raw = console(encoding="ascii")
    print_summary(results, Path("r"), target)
    assert "Z\\xfcrich" in printed(raw, "ascii")


def test_failure_text_has_everything_to_understand_it(case: Cases) -> None:
    text = failure_text(case(4, Verdict.FAIL, packets=30))
    assert text.startswith("FAIL  PLP-RST-04  A Reset Request from A reaches B")
    for part in (
        "expected    at B: Reset Indication with cause 0 or 128 and diagnostic 7 (X.25 5.5.2.1",
        "received    not met (frame 12, packet 1): Reset Indication: cause 5, diagnostic 7",
        "packet      frame 12, packet 1 of the frame, in evidence/PLP-RST-04.pcapng",
        "filter      x25s.type#1 == 0x1b &&",
        "10 of 30 packets, both sides",
        "run again   x25shark run --router reference --select PLP-RST-04",
    ):
        assert part in text
    assert sum(" > router " in x or "router > " in x for x in text.splitlines()) == 10


def test_failure_text_shows_what_decided_however_much_came_behind_it(case: Cases) -> None:
    failed = case(4, Verdict.FAIL, packets=300)
    frame = next(e.frame for e in failed.expectations if e.frame is not None)
    assert any(packet.frame == frame for packet in failed.packets[:50])
    lines = failure_text(failed).splitlines()
    assert "10 of 300 packets, both sides (time in s, frame.packet)" in lines
    assert [line for line in lines if line.startswith("> ")]


def test_failure_text_is_wrapped_but_for_what_is_copied(case: Cases) -> None:
    lines = failure_text(case(4, Verdict.FAIL), width=60).splitlines()
    long = [line for line in lines if len(line) > 60]
    assert long
    copied = ("filter", "locator", "packet ", "evidence", "run again")
    assert [line for line in long if not line.startswith(copied)] == []


def test_what_configurations_are_is_said_below_the_reasons(case: Cases, run_of: Runs) -> None:
    cases = [case(n, Verdict.NOT_APPLICABLE) for n in range(3)]
    cases[0].reason = "for configuration T1, TX; this router is tested in T2"
    target, raw = console()
    print_summary(run_of(cases), Path("r"), target)
    said = " ".join(printed(raw).split())
    assert "T1 both sides over XOT; T2 side A over XOT" in said
    assert "T4" not in said


def test_failure_text_marks_the_offending_packet(case: Cases) -> None:
    marked = [x for x in failure_text(case(4, Verdict.FAIL)).splitlines() if x.startswith("> ")]
    assert len(marked) == 1
    assert "12.1" in marked[0]
    assert "cause 5" in marked[0]


def test_failure_text_shows_both_judges_where_they_differ(case: Cases) -> None:
    text = failure_text(case(5, Verdict.ERROR))
    assert "tester      met (frame 12, packet 1): Reset Indication: cause 0" in text
    assert "Wireshark   not met (frame 12, packet 1): Reset Indication: cause 5" in text
    assert "the two judges disagree" in text


def test_failure_text_without_packets(case: Cases) -> None:
    empty = case(3, Verdict.FAIL)
    empty.packets, empty.evidence = [], None
    assert "no packet was sent or received" in failure_text(empty)


@pytest.mark.parametrize("size", [1, 100_000])
def test_failure_text_of_hostile_text_is_inert(
    poisoned: Poison, hostile: str, bad_characters: set[str], size: int
) -> None:
    for item in poisoned(hostile * size).cases:
        text = failure_text(item)
        assert not bad_characters & set(text)
        assert len(text) < 100_000


def test_progress_in_plain_lines() -> None:
    target, raw = console()
    with Progress(20, target, ci=False) as progress:
        for number in range(20):
            progress.begin(f"XOT-{number}")
            progress.end(
                f"XOT-{number}", Verdict.FAIL if number == 3 else Verdict.PASS, "why\x1b[2J"
            )
    lines = printed(raw).splitlines()
    assert lines[0] == "FAIL  XOT-3  why\\x1b[2J"
    assert [line.split(",")[0] for line in lines[1:]] == ["10 of 20 cases", "20 of 20 cases"]
    assert lines[2].endswith("19 PASS   1 FAIL")


def test_progress_in_ci_tells_only_what_needs_attention() -> None:
    target, raw = console()
    with Progress(200, target, ci=True) as progress:
        for number in range(200):
            progress.begin(str(number))
            progress.end(str(number), Verdict.ERROR if number == 7 else Verdict.PASS, "lost")
    assert printed(raw) == "ERROR  7  lost\n"


def test_progress_on_a_terminal_shows_the_case_and_the_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    target, raw = console(width=100, terminal=True)
    with Progress(3, target, ci=False) as progress:
        progress.begin("PLP-[bold]RST\x1b[2J")
        progress.end("PLP-RST", Verdict.PASS)
        progress.phase("waiting for judge two")
        assert progress._bar
        progress._bar.refresh()
    text = printed(raw)
    assert "1 passed" in text
    assert "waiting for judge two" in text
    assert "\x1b[2J" not in text
