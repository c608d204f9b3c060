# SPDX-License-Identifier: GPL-2.0-or-later
"""Make the golden captures: python -m x25shark.selftest.golden DIRECTORY

DIRECTORY holds wanted.toml, which lists cases with a built-in profile and perhaps a fault. Each is
run against the embedded reference router, and its evidence is kept with its comments, but without
what dumpcap says of the machine. index.json says of each capture what the judges found: verdict,
reason, and for each expectation filter, frame and packet. Exit status 0, or 1 if a case does not
show what it is there for (PASS with the right router, FAIL with a fault); then nothing is changed.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..evidence import pcapng
from ..results import CaseResult, read_results, write_whole
from ..verdicts import Verdict


@dataclass(frozen=True)
class Wanted:
    """One row of wanted.toml."""

    case: str
    shows: str
    profile: str = "reference"
    fault: str = ""

    @property
    def file(self) -> str:
        """The name of the capture: the case, and what of its run is not the usual."""
        parts = [self.case, *([self.profile] if self.profile != "reference" else []), self.fault]
        return "+".join(part for part in parts if part) + ".pcapng"


@dataclass(frozen=True)
class Mark:
    """An expectation of a case: its filter matches exactly packet k of the frame."""

    expected: str
    met: bool
    filter: str
    frame: int
    k: int


def wanted(directory: Path) -> list[Wanted]:
    """The rows of wanted.toml."""
    with (directory / "wanted.toml").open("rb") as file:
        return [Wanted(**row) for row in tomllib.load(file)["capture"]]


def plain(capture: bytes) -> Iterator[bytes]:
    """The blocks of a capture without what they say of the machine."""
    for block in pcapng.read_blocks(io.BytesIO(capture)):
        yield pcapng.impersonal(block).octets


def marks(case: CaseResult) -> list[Mark]:
    """The expectations that a packet of the capture decided."""
    return [
        Mark(e.text, e.met, e.filter, e.frame, e.k)
        for e in case.expectations
        if e.frame is not None and e.k is not None and e.filter
    ]


def _run(profile: str, fault: str, names: Sequence[str], report: Path) -> dict[str, CaseResult]:
    command = [sys.executable, "-c", "from x25shark.cli import main; main()"]
    command += ["run", "--own-namespace", "--router", profile, "--output", str(report)]
    command += ["--select", ",".join(names)]
    command += ["--fault", fault] if fault else []
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"golden: {profile} {fault}\n{done.stdout}{done.stderr}")
    return {case.id: case for case in read_results(report / "results.json").cases}


def make(directory: Path, scratch: Path) -> list[str]:
    """Run the cases and write captures and index. What went wrong, in a line each."""
    rows = wanted(directory)
    captures: dict[str, bytes] = {}
    index, problems = [], []
    for profile, fault in dict.fromkeys((row.profile, row.fault) for row in rows):
        mine = [row for row in rows if (row.profile, row.fault) == (profile, fault)]
        report = scratch / f"{profile}{fault}"
        found = _run(profile, fault, [row.case for row in mine], report)
        for row in mine:
            case = found[row.case]
            right = Verdict.FAIL if fault else Verdict.PASS
            if case.verdict is not right or case.evidence is None:
                problems.append(f"{row.file}: {case.verdict}, wanted {right}: {case.reason}")
                continue
            captures[row.file] = b"".join(plain((report / case.evidence).read_bytes()))
            index.append(
                {"file": row.file, **asdict(row)}
                | {"verdict": case.verdict.value, "reason": case.reason, "clause": case.clause}
                | {"marks": [asdict(mark) for mark in marks(case)]}
            )
    if not problems:
        for old in directory.glob("*.pcapng"):
            old.unlink()
        for name, octets in captures.items():
            (directory / name).write_bytes(octets)
        write_whole(directory / "index.json", json.dumps(index, indent=1) + "\n")
    return problems


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m x25shark.selftest.golden")
    parser.add_argument("directory", type=Path, help="where wanted.toml is")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="x25shark-golden-") as scratch:
        problems = make(arguments.directory, Path(scratch))
    for problem in problems:
        print(f"golden: {problem}", file=sys.stderr)
    if not problems:
        print(f"{len(wanted(arguments.directory))} captures in {arguments.directory}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
