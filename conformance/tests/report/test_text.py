# SPDX-License-Identifier: GPL-2.0-or-later
"""Text from a router is inert, bounded, and still says what it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from x25shark.report.tell import tell
from x25shark.report.text import (
    first_line,
    one_line,
    printable,
    relative_path,
    shorten,
)


@pytest.mark.parametrize("clean", [printable, one_line, first_line])
def test_hostile_text_is_written_out(
    clean: Callable[[object], str], hostile: str, bad_characters: set[str]
) -> None:
    shown = clean(hostile)
    assert not bad_characters & set(shown)
    assert "\\x1b" in shown
    shown.encode("utf-8")


def test_ordinary_text_is_left_alone() -> None:
    text = "Überlänge: “128 octets” → B\n\tcause 5"
    assert printable(text) == text


@pytest.mark.parametrize("clean", [printable, one_line, first_line])
def test_ten_megabytes_are_cut_with_a_note(clean: Callable[[object], str]) -> None:
    shown = clean("x" * 10_000_000)
    assert len(shown) < 25_000
    assert shown.startswith("xxx")
    if clean is not first_line:
        assert shown.endswith("more characters left out]")


def test_the_note_counts_what_is_gone() -> None:
    assert printable("x" * 60, 4) == "xxxx [56 more characters left out]"
    assert one_line("x" * 10_000_000, 100).endswith("[9,999,900 more characters left out]")


@pytest.mark.parametrize("clean", [printable, one_line])
@pytest.mark.parametrize("length", [5, 16, 17, 40, 50, 52, 53])
def test_no_note_is_longer_than_what_it_leaves_out(
    clean: Callable[[object, int], str], length: int
) -> None:
    assert len(clean("x" * length, 4)) <= length
    assert len(clean(" " * length + "yy", 4).replace(" ", "")) >= 2


@pytest.mark.parametrize("limit", range(18, 24))
def test_no_number_is_cut(limit: int) -> None:
    """18 characters end before the number, 22 behind it."""
    shown = one_line(f"received: Data of 1024 octets {'x' * 100}", limit, words=True)
    assert shown.startswith("received: Data of 1024 [" if limit >= 22 else "received: Data of [")
    kept = shown.partition(" [")[0]
    assert shown == f"{kept} [{130 - len(kept)} more characters left out]"


def test_a_word_that_is_too_long_is_cut() -> None:
    assert one_line(f"octets {'41' * 100}", 60, words=True).startswith(f"octets {'41' * 26}4 [")


def test_what_is_held_against_a_later_run_is_cut_where_it_always_was() -> None:
    assert one_line(f"received: Data of 1024 octets {'x' * 100}", 20).startswith(
        "received: Data of 10 ["
    )


def test_towers_of_combining_marks_are_cut() -> None:
    assert len(printable("a" + "\u0301" * 500)) <= 6


def test_first_line_skips_blank_lines() -> None:
    assert first_line("\n  \n second\nthird") == "second"
    assert first_line("") == ""


def test_shorten() -> None:
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../other", "a/../../b", "a\nb", "", None, "a\u202eb", "x" * 500, "a\x00b"],
)
def test_paths_that_leave_the_report_are_refused(path: str | None) -> None:
    assert relative_path(path) is None


def test_paths_inside_the_report_are_kept() -> None:
    assert relative_path("cases/PLP-RST-04.pcapng") == "cases/PLP-RST-04.pcapng"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_lines_of_its_width(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Broken between words and set in; a pipe gets the line as it is, and nothing gets lost."""
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    text = "declared    F-DTE, F-MARK, F-PKT, F-WIN, M-LOCAL, " + "x" * 50 + ", P-INT32"
    tell(f"short\n{text}", hang=12)
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "short"
    assert " ".join(line.strip() for line in lines) == text
    if terminal:
        assert all(line.startswith(" " * 12) for line in lines[1:])
        assert [line for line in lines if len(line) > 40] == [" " * 12 + "x" * 50 + ","]
    else:
        assert lines == [text]
