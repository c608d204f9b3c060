# SPDX-License-Identifier: GPL-2.0-or-later
"""The C judge under the address and undefined-behaviour sanitizers, on every test capture."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from x25shark.judges import program
from x25shark.judges.reading import JudgeError
from x25shark.judges.wireshark import WiresharkJudge
from x25shark.selftest import judge_fuzz
from xot_captures import CAPTURES

FILTERS = ["x25s.type#{k} == 0x13", "!(x25s.cause#{k})", "tcp.flags.fin == 1", "x25s.octets#{k}"]
FIELDS = ["x25s.octets", "x25s.type", "x25s.called_address", "x25t.crc", "frame.time_relative"]


@pytest.fixture(scope="module")
def sanitized() -> Iterator[WiresharkJudge]:
    # The build fails where the compiler brings no sanitizers; that is worth knowing, not skipping.
    path = program.build("asan", "x25shark-judge-asan")
    with pytest.MonkeyPatch.context() as patch:
        # Leaks are counted at exit only, and those of libwireshark's start are not ours: growth
        # has a test of its own.
        patch.setenv("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=1")
        patch.setenv("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
        with WiresharkJudge(path) as judge:
            yield judge


@pytest.mark.parametrize("name", CAPTURES)
def test_clean_and_equal(name: str, sanitized: WiresharkJudge, judge: WiresharkJudge) -> None:
    seen = sanitized.read(CAPTURES[name], FILTERS, FIELDS, timeout=120)
    assert seen == judge.read(CAPTURES[name], FILTERS, FIELDS)


def test_clean_on_damaged_captures_and_requests(
    sanitized: WiresharkJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The sanitizer keeps what was freed for a while, so the process grows.
    monkeypatch.setattr("x25shark.judges.wireshark.MOST_GROWN", 1 << 40)
    # It begins with the first that is read, which may be here.
    sanitized.read(CAPTURES["call"], FILTERS, FIELDS, timeout=120)
    process = sanitized.process_id
    choose = random.Random(1613)
    for _ in range(150):
        damaged = bytearray(choose.choice(list(CAPTURES.values())))
        for _ in range(choose.randint(1, 4)):
            damaged[choose.randrange(len(damaged))] = choose.randrange(256)
        try:
            sanitized.read(bytes(damaged[: choose.randint(0, 2 * len(damaged))]), FILTERS, FIELDS)
        except JudgeError as error:
            assert error.kind == "file"
    for filters, fields in ((["x25s.type#{k} =="], []), ([], ["no.such.field"])):
        with pytest.raises(JudgeError):
            sanitized.read(CAPTURES["call"], filters, fields, timeout=120)
    assert sanitized.process_id == process


def test_what_fuzzing_kept_is_clean() -> None:
    """The fuzz target on each input of its corpus; make fuzz looks for further ones."""
    inputs = sorted(judge_fuzz.corpus().iterdir())
    done = judge_fuzz.run_once(inputs)
    assert done.returncode == 0, done.stderr[-3000:]
    assert [line for line in done.stderr.splitlines() if line in map(str, inputs)] == [
        str(path) for path in inputs
    ]


def test_the_fuzz_target_sees_a_fault() -> None:
    """Of the corpus, and of what judges it: an input that it cannot read is not a clean one."""
    done = judge_fuzz.run_once([judge_fuzz.corpus() / "no such input"])
    assert done.returncode == 2
    assert "cannot be read" in done.stderr


def test_growth_is_told_as_the_executions_double() -> None:
    log = "".join(
        f"#{n}: cov: {n + 5} ft: {n * 2} corp: 1 exec/s 9\n" for n in (10, 15, 20, 33, 41)
    )
    assert judge_fuzz.growth(log) == [(10, 15, 20), (20, 25, 40), (41, 46, 82)]
