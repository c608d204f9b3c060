# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of a run as data: what results.json holds, and what every report is made from.

The format is documented in RESULTS.md beside this file; FORMAT_VERSION rises when a reader
written for the older version could misread the file.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from . import stored
from .case_results import (
    UNKNOWN_SIDE,
    CaseResult,
    CounterReading,
    ExpectationResult,
    JudgeReading,
    PacketLine,
)
from .foreign import octets_of, parse_trouble, values_in
from .typed import demand
from .verdicts import Verdict

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "LONGEST_RESULTS",
    "MOST_VALUES",
    "UNKNOWN_SIDE",
    "CaseResult",
    "CounterReading",
    "ExpectationResult",
    "JudgeReading",
    "PacketLine",
    "Results",
    "ResultsError",
    "RunInfo",
    "read_results",
    "write_results",
    "write_whole",
]

FORMAT = "x25shark-results"
FORMAT_VERSION = 3
# Octets and values of a results.json; a run over all cases has eight million and less than two.
LONGEST_RESULTS = 1 << 26
MOST_VALUES = 6_000_000
# In version 2 each text stood whole.
_READ = (2, FORMAT_VERSION)


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
        octets = octets_of(path, LONGEST_RESULTS)
        if values_in(octets) > MOST_VALUES:
            raise ResultsError(f"{path}: More than {MOST_VALUES:,} values")
        document = json.loads(octets.decode("utf-8"))
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
        results = _results(document, detailed)
        demand(results, Results)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ResultsError(f"{path}: damaged results file: {error}") from None
    return results


def _results(document: dict[str, Any], detailed: Callable[[str, Verdict], bool]) -> Results:
    texts = stored.whole_texts(document["texts"])
    cases = []
    for data in document["cases"]:
        data["verdict"] = Verdict(data["verdict"])
        wanted = detailed(data["id"], data["verdict"])
        cases.append(stored.read_case(texts, data, detailed=wanted))
    return Results(RunInfo(**document["run"]), cases, document["exit_status"])


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader finds the old one or the new one, never half of it.

    A link that stands there is replaced, not followed; a device, a pipe and what the system calls
    /dev/stdout are written to as they are. Raises OSError, which names the file also where the
    system does not (a full disk).
    """
    octets = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if _leads_elsewhere(path):
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY), "wb") as out:
                out.write(octets)
        else:
            _replace(path, octets)
    except OSError as error:
        if error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def _replace(path: Path, octets: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(octets)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _leads_elsewhere(path: Path) -> bool:
    """Whether a device, a pipe or the system's name of an open file stands there, which a file must
    never replace. Of links, only those that the system itself made are such."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    if stat.S_ISLNK(mode):
        folder = path.parent.resolve()
        return folder == Path("/dev") or folder.is_relative_to("/proc")
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


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
