# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of a run as data: what results.json holds, and what every report is made from.

The format is documented in RESULTS.md beside this file; FORMAT_VERSION rises when a reader
written for the older version could misread the file.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .foreign import parse_trouble, text_of
from .verdicts import Verdict

FORMAT = "x25shark-results"
FORMAT_VERSION = 3
# Octets of a results.json: of a run over all cases a few million.
LONGEST_RESULTS = 1 << 27
# In version 2 each text stood whole.
_READ = (2, FORMAT_VERSION)


@dataclass(slots=True)
class JudgeReading:
    """What one judge says of one expectation."""

    met: bool
    frame: int | None = None
    k: int | None = None
    offset: int | None = None
    saw: str = ""


@dataclass
class CounterReading:
    """A counter of the router around a stimulus, beside what the capture shows.

    name, interface    the neutral name; "router", "a" or "b"
    path               where it is in the router's page
    before, after      the readings; None: no such counter
    shown              what it must have moved by: judge two's count in the capture
    result             a word of counters/moved.py: right, not counted, ...
    moved_instead      other counters that moved without a reason
    """

    name: str
    interface: str
    path: str
    before: int | None
    after: int | None
    shown: int
    result: str
    moved_instead: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ExpectationResult:
    """One expectation of a case and both readings of it.

    text       what was expected, in words
    side       "A" or "B": at which side of the tester
    filter     the judging display filter, with the packet's layer number (#k)
    locator    the same without layer numbers, to find the frame by hand
    frame, k   the deciding packet in the evidence: frame number, k-th packet of that frame
    stimulus_frame  frame of the last packet that the tester had sent before
    counter    the counter of the router that it is about, if it is about one
    """

    text: str
    side: str
    clause: str
    met: bool
    filter: str = ""
    locator: str = ""
    frame: int | None = None
    k: int | None = None
    preamble: bool = False
    judge_one: JudgeReading | None = None
    judge_two: JudgeReading | None = None
    stimulus_frame: int | None = None
    counter: CounterReading | None = None


@dataclass(slots=True)
class PacketLine:
    """One packet of the ladder of a case. octets: while the run lasts; the evidence has them."""

    time: float
    frame: int
    k: int
    side: str
    sent: bool
    connection: int
    offset: int
    text: str
    octets: str = field(default="", compare=False)


@dataclass
class CaseResult:
    """One case.

    expectations and packets are lists, or rows that are kept packed (stored.py). shown_in: of a
    purpose about the whole run, the case in which the router did not keep it.
    """

    id: str
    group: str
    purpose: str
    clause: str
    verdict: Verdict
    reason: str = ""
    remarks: list[str] = field(default_factory=list)
    expectations: Sequence[ExpectationResult] = field(default_factory=list)
    packets: Sequence[PacketLine] = field(default_factory=list)
    duration_s: float = 0.0
    evidence: str | None = None
    rerun: str = ""
    shown_in: str | None = None


@dataclass
class RunInfo:
    """The circumstances of a run.

    processor: seconds of processor time by who took them: "tester", "judge one" (the process that
    judges), "judge two", "dumpcap", and "others": the router, where the tester starts it, and the
    taps of serial lines.
    """

    id: str
    started: str
    duration_s: float
    router: str
    profile: str
    relay_model: str
    configuration: str
    versions: dict[str, str]
    judge: str
    seed: int
    selection: str
    command: str
    profile_text: str = ""
    xot_ports: list[int] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    processor: dict[str, float] = field(default_factory=dict)


@dataclass
class Results:
    """A whole run."""

    run: RunInfo
    cases: list[CaseResult]
    exit_status: int

    def summary(self) -> dict[str, int]:
        """How many cases have each verdict."""
        return {v.value: sum(c.verdict is v for c in self.cases) for v in Verdict}

    def to_json(self) -> dict[str, Any]:
        """The document that results.json holds."""
        return {
            name: list(value) if name in ("cases", "texts") else value
            for name, value in self.members().items()
        }

    def members(self) -> dict[str, Any]:
        """As to_json, each case made when its turn comes, and the texts after the last of them."""
        from . import stored

        texts = stored.texts_of(self.cases)
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "run": asdict(self.run),
            "summary": self.summary(),
            "exit_status": self.exit_status,
            "cases": (stored.stored_case(texts, c) for c in self.cases),
            "texts": stored.shortened(texts.all()),
        }


class ResultsError(Exception):
    """A results file that cannot be read; the message names the file and what is wrong."""


def _everything(_case: str, _verdict: Verdict) -> bool:
    return True


def read_results(path: Path, detailed: Callable[[str, Verdict], bool] = _everything) -> Results:
    """Read results.json. Raises ResultsError.

    detailed: of which cases, by id and verdict, the expectations and packets are wanted.
    """
    try:
        document = json.loads(text_of(path, LONGEST_RESULTS))
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{path}: not JSON: {parse_trouble(error)}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ResultsError(f"{path}: not a results file of x25shark (no format {FORMAT!r})")
    if document.get("version") not in _READ:
        raise ResultsError(
            f"{path}: results format {document.get('version')!r}; this x25shark reads "
            f"{' and '.join(map(str, _READ))}. Use the x25shark that wrote it, or run again."
        )
    try:
        return _results(document, detailed)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ResultsError(f"{path}: damaged results file: {error}") from None


def _results(document: dict[str, Any], detailed: Callable[[str, Verdict], bool]) -> Results:
    from . import stored

    texts = stored.whole_texts(document["texts"])
    cases = []
    for data in document["cases"]:
        data["verdict"] = Verdict(data["verdict"])
        wanted = detailed(data["id"], data["verdict"])
        cases.append(stored.read_case(texts, data, detailed=wanted))
    return Results(RunInfo(**document["run"]), cases, int(document["exit_status"]))


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old one or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def write_results(results: Results, path: Path) -> None:
    """Write results.json: a line for each case, and for each of the other members."""
    lines = []
    for name, value in results.members().items():
        if name == "cases":
            cases = ",\n".join(_compact(case) for case in value)
            lines.append(f'"cases": [\n{cases}\n]')
        else:
            whole = list(value) if name == "texts" else value
            lines.append(f"{_compact(name)}: {_compact(whole)}")
    write_whole(path, "{\n" + ",\n".join(lines) + "\n}\n")


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
