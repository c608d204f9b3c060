# SPDX-License-Identifier: GPL-2.0-or-later
"""RESULTS.md says what results.json holds."""

from __future__ import annotations

import copy
import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest
import x25shark
from x25shark import results_schema, stored
from x25shark.report import html
from x25shark.results import (
    CaseResult,
    CounterReading,
    ExpectationResult,
    JudgeReading,
    PacketLine,
    Results,
    ResultsError,
    RunInfo,
    read_results,
    write_results,
)

DOCUMENT = (Path(x25shark.__file__).parent / "RESULTS.md").read_text(encoding="utf-8")


def documented(title: str) -> set[str]:
    """The fields named in the first column of the table under a heading."""
    section = DOCUMENT.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    cells = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    return {name for cell in cells for name in re.findall("`([a-z_0-9]+)`", cell)}


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("run", RunInfo),
        ("cases", CaseResult),
        ("expectations", ExpectationResult),
        ("counter", CounterReading),
        ("packets", PacketLine),
    ],
)
def test_each_field_is_documented(title: str, kind: type) -> None:
    assert documented(title) == {f.name for f in dataclasses.fields(kind)}


def test_the_document_is_documented(results: Results) -> None:
    assert documented("The document") == set(results.to_json())


def test_the_schema_is_that_of_the_code() -> None:
    assert results_schema.FILE.read_text() == results_schema.text()


VALIDATE = fastjsonschema.compile(json.loads(results_schema.FILE.read_text()))


def test_a_run_is_valid(results: Results, tmp_path: Path) -> None:
    case = results.cases[0]
    case.expectations[0].counter = CounterReading("calls_in", "a", "x", 3, None, 2, "right", ["y"])
    case.expectations[0].judge_two = None
    case.expectations[1].judge_one = JudgeReading(False, None, None, None, "nothing")
    case.expectations[1].filter = "a && x25s.offset#1 == 12 && b"
    write_results(results, tmp_path / "results.json")
    VALIDATE(json.loads((tmp_path / "results.json").read_text()))


@pytest.mark.parametrize(
    ("router", "select", "more"),
    [
        ("reference", "XOT-HDR-0*,SYS-MIB-01,PLP-RST-01", ("--fault", "BUG-XOT-01")),
        ("reference-serial", "LAPB-REC-12,XOT-HDR-01", ()),
    ],
)
def test_real_runs_are_valid(
    router: str, select: str, more: tuple[str, ...], tmp_path: Path
) -> None:
    """What the command writes: failures, cases that do not apply, counters, a serial line."""
    command = [sys.executable, "-m", "x25shark", "run", "--router", router, "--select", select]
    options = (*more, "--own-namespace", "--output", str(tmp_path))
    ran = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert ran.returncode == bool(more), ran.stdout + ran.stderr
    document = json.loads((tmp_path / "results.json").read_text())
    assert document["summary"]["PASS"]
    VALIDATE(document)


@pytest.mark.parametrize(
    "damage",
    [
        ('"version": 3', '"version": 4'),
        ('"exit_status": ', '"more": 1, "exit_status": '),
        ('"verdict":"FAIL"', '"verdict":"FAILED"'),
        ('"packets":[[', '"packets":[["now",'),
        ('"expectations":[[0,"', '"expectations":[[-1,"'),
        ('"expectations":[[0,"', '"expectations":[[0,7,"'),
        ('"PASS":', '"PASSED":'),
    ],
)
def test_what_is_damaged_is_not_valid(
    damage: tuple[str, str], results: Results, tmp_path: Path
) -> None:
    write_results(results, tmp_path / "results.json")
    text = (tmp_path / "results.json").read_text()
    assert damage[0] in text
    with pytest.raises(fastjsonschema.JsonSchemaValueException):
        VALIDATE(json.loads(text.replace(*damage, 1)))


def test_a_file_of_another_version_gets_one_line(results: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_results(results, path)
    path.write_text(path.read_text().replace('"version": 3', '"version": 1'))
    with pytest.raises(ResultsError) as refused:
        read_results(path)
    assert str(refused.value) == (
        f"{path}: results format 1; this x25shark reads 2 and 3. Use the x25shark that wrote it, "
        "or run again."
    )


def test_a_file_that_was_written_reads_the_same(results: Results, tmp_path: Path) -> None:
    results.cases[0].expectations[0].counter = CounterReading(
        "calls_in", "a", "xot.calls", 3, None, 2, "no such counter", ["xot.other"]
    )
    results.cases[0].reason = "lone \ud800 surrogate, \x1b escape, é"
    path = tmp_path / "results.json"
    write_results(results, path)
    assert path.read_bytes().isascii()
    assert json.loads(path.read_text())["summary"] == results.summary()
    assert read_results(path) == results


def test_what_was_kept_packed_is_the_same(results: Results, tmp_path: Path) -> None:
    """In the file, in the report, and for whoever looks at it while the run lasts."""
    results.cases[0].expectations[0].counter = CounterReading(
        "calls_in", "a", "xot.calls", 3, None, 2, "not counted"
    )
    page = html.render_text(results)
    packed = copy.deepcopy(results)
    texts = stored.Texts()
    for case in packed.cases:
        stored.keep(texts, case)
        stored.keep(texts, case)
    assert packed != results
    for case, whole in zip(packed.cases, results.cases, strict=True):
        assert isinstance(case.packets, stored.Kept)
        assert list(case.packets) == list(whole.packets)
        assert [p.octets for p in case.packets] == [p.octets for p in whole.packets]
        assert stored.unpacked(case) == whole
        assert case.packets[-1:] == whole.packets[-1:]
    assert html.render_text(packed) == page
    write_results(packed, tmp_path / "results.json")
    assert read_results(tmp_path / "results.json") == results


def test_texts_share_what_is_the_same() -> None:
    where = "ip.src == 127.0.25.1 && ip.dst == 127.0.25.2 && tcp.srcport == {} && tcp.dstport == 7"
    texts = [where.format(n) for n in (1998, 1999, 41, 1998198)]
    texts += [
        "",
        "short",
        "a" * 30,
        "a" * 40,
        "a" * 2_000,
        "a" * 2_001,
        "lone \ud800" * 4,
        "x" * 24,
    ]
    texts += [
        "abcdefghijklmnopqrstuvwxyz",
        "abcdefghijklmnopqrstuvwx",
        "abcdefghijklmnopqrstuvwxy1z",
    ]
    stand = list(stored.shortened(texts))
    assert stand[1] == [0, where.index("{}") + 3, "9", len(where) - where.index("{}") - 2]
    assert stored.whole_texts(stand) == texts
    assert len(json.dumps(stand[:4])) < len(json.dumps(texts[:4])) / 2


def test_a_file_of_version_2_is_read(results: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    document = results.to_json()
    texts = stored.whole_texts(document["texts"])
    path.write_text(json.dumps({**document, "version": 2, "texts": texts}))
    assert read_results(path) == results


@pytest.mark.parametrize(
    "texts",
    [
        [[0, 1, "", 0]],
        ["abc", [0, 2, "", 2]],
        ["abc", [0, -1, "", 1]],
        ["abc", [0, 1, 7, 1]],
        ["abc", [0, 1, ""]],
        ["abc", [1, 0, "", 0]],
        ["a" * 4_000, [0, 2_000, "", 0]],
        ["a" * 1_000, *([[0, 1_000, "", 0]] * 300_000)],
    ],
)
def test_damaged_texts_are_no_result(texts: list[Any], results: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({**results.to_json(), "texts": texts}))
    with pytest.raises(ResultsError, match="damaged results file"):
        read_results(path)


def test_each_row_that_is_kept_is_read_once() -> None:
    asked: list[int] = []

    def read(_texts: Sequence[str], row: int) -> PacketLine:
        asked.append(row)
        return PacketLine(0.0, row, 1, "A", True, 1, 0, "")

    rows = stored.Kept(stored.Texts(), range(20), read)
    assert [packet.frame for packet in rows] == asked == list(range(20))


def test_octets_are_left_to_the_evidence(results: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert all(p.octets for case in results.cases for p in case.packets)
    write_results(results, path)
    assert not any(p.octets for case in read_results(path).cases for p in case.packets)


@pytest.mark.parametrize(
    "changed",
    [
        {"filter": "(x25s.type#2 == 27) && x25s.offset#2 == 12 && ip.src == 1.2.3.4", "k": 2},
        {"filter": "x25s.offset#1 == 12 && ip.src == 1.2.3.4", "locator": "x25s.type == 27"},
        {"filter": "a && x25s.offset#1 == 012 && b", "locator": "a"},
        {"filter": "a && x25s.offset#x == 1 && b", "locator": "#1"},
        {"filter": "a && x25s.offset#1 == 1 && b && x25s.offset#1 == 1 && c", "locator": "a"},
        {"filter": "(a) || (b)", "locator": "(a) || (b)"},
        {"filter": "((a) || (b)) && x25s.offset#1 == 7 && c", "locator": "(a) || (b)"},
        {"filter": "", "locator": ""},
        {"judge_one": None, "judge_two": None},
        {"judge_one": None},
        {"judge_two": None},
        {"judge_two": JudgeReading(False, None, None, None, "nothing")},
        {"judge_one": JudgeReading(False, 3, 1, 0, "RR"), "frame": None, "k": None},
    ],
)
def test_no_shorthand_loses_anything(
    changed: dict[str, Any], results: Results, tmp_path: Path
) -> None:
    path = tmp_path / "results.json"
    for case in results.cases:
        for expectation in case.expectations:
            for name, value in changed.items():
                setattr(expectation, name, value)
    write_results(results, path)
    assert read_results(path) == results


@pytest.mark.parametrize(
    "damage",
    [
        ('"packets":[[', '"packets":[["now",'),
        ('"packets":[[', '"packets":[[],['),
        ('"expectations":[[0,"', '"expectations":[[-1,"'),
        ('"expectations":[[0,"', '"expectations":[[99999,"'),
        ('"expectations":[[0,"', '"expectations":[[[],"'),
        ('"expectations":[[0,"', '"expectations":[[0,7,"'),
    ],
)
def test_a_damaged_row_is_no_result(
    damage: tuple[str, str], results: Results, tmp_path: Path
) -> None:
    path = tmp_path / "results.json"
    write_results(results, path)
    text = path.read_text()
    assert damage[0] in text
    path.write_text(text.replace(*damage, 1))
    with pytest.raises(ResultsError, match="damaged results file"):
        read_results(path)
