# SPDX-License-Identifier: GPL-2.0-or-later
"""What bench and overload find of a router whose figures are known (make known-truth).

    python -m x25shark.selftest.known_truth [--only NAME] [--keep FOLDER]

The router is x25shark relay, told how many messages or calls per second it carries, how many wait,
what it loses and by how much it is late. Each truth is a relay and a command of its own; the table
has what was found, by how much it is off, and by how much it may be. It takes about eight minutes,
and it is the machine's other work that is measured where there is any.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..verdicts import Verdict

ENDS = ("127.0.25.70:1998", "127.0.25.71:1998")
"""Relay and called side: addresses and a port that no connection takes for its own end."""
RATES = (50, 150, 500, 1500, 5000)
SIZE_SECONDS = 30.0
"""For a size, with the start of the command and of Python."""
CALLS = 300
BASE = 20
"""Calls/s of the polite caller."""
RECOVERY = 3.0
# What waits when the flood ends is served while the polite caller's calls come on top: it is gone
# after queue / (rate - base) seconds.
_RECOVERING = 220
_WAITING = round(RECOVERY * (_RECOVERING - BASE))
_WIDTH = 80
_READY_SECONDS = 60.0
_MOST_SECONDS = 900.0
_ENDED = (0, 1)

Result = Mapping[str, Any]


class NotFound(Exception):
    """The result does not have the figure; the message says what it has."""


@dataclass(frozen=True)
class Truth:
    """A relay, the command that measures it, and what has to be found.

    bound: by how much it may be off, in the figure's own unit. expected: None: nothing may be
    found. seconds: that it may take; 0: no bound.
    """

    name: str
    words: str
    relay: Sequence[str]
    command: Sequence[str]
    read: Callable[[Result], float | None]
    expected: float | None
    bound: float = 0.0
    unit: str = ""
    relative: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Row:
    """What came of a truth. problem: why there is no figure, or what else is wrong."""

    truth: Truth
    found: float | None
    seconds: float
    problem: str = ""

    @property
    def off(self) -> float:
        return (self.found or 0.0) - (self.truth.expected or 0.0)

    @property
    def right(self) -> bool:
        if self.problem:
            return False
        if self.truth.expected is None:
            return self.found is None
        return self.found is not None and abs(self.off) <= self.truth.bound


def throughput(result: Result) -> float | None:
    """The rate that bench calls throughput; None: it calls none so."""
    (row,) = result["rows"]
    found = row["throughput"]
    return float(found["rate"]) if found["said"] else None


def added_delay(result: Result) -> float | None:
    """Median delay at light load, less that without the router, ms."""
    (row,) = result["rows"]
    for delay in row.get("delays", []):
        if delay["load"] == "light" and delay["router"] and delay["control"]:
            return float(delay["router"]["p50"] - delay["control"]["p50"])
    raise NotFound("no delay at light load was measured")


def burst(result: Result) -> float | None:
    (row,) = result["rows"]
    if row.get("burst") is None:
        raise NotFound("no burst was measured")
    return float(row["burst"]["messages"])


def knee(result: Result) -> float | None:
    """The highest rate that was carried."""
    found = result["knee"]
    if found is None or found["upper"] is None:
        raise NotFound("no knee was found")
    return float(found["rate"])


def recovery(result: Result) -> float | None:
    """Seconds from the end of the flood of calls beyond the knee."""
    for flood in result["floods"]:
        if flood["kind"] == "beyond" and flood.get("recovery"):
            seconds = flood["recovery"]["seconds"]
            if seconds is None:
                raise NotFound(f"not within {flood['recovery']['bound']:g} s")
            return float(seconds)
    raise NotFound("no recovery was measured")


def _bench(*parts: str) -> tuple[str, ...]:
    """bench with one size and these of its parts."""
    every = ("idle", "delay", "burst", "filters", "counters", "errors")
    skipped = (word for part in every if part not in parts for word in ("--skip", part))
    return ("bench", "-P", "128", *skipped)


def _overload(limit: int, *more: str) -> tuple[str, ...]:
    """overload with a ramp around a limit, and the flood beyond the knee alone."""
    kinds = ("connections", "calls", "clears", "half-closed")
    skipped = (word for kind in kinds for word in ("--skip", kind))
    rates = ",".join(f"{limit * share:g}" for share in (0.4, 0.8, 1.2, 1.6))
    return ("overload", "--rates", rates, "--base", str(BASE), *skipped, *more)


TRUTHS: Sequence[Truth] = (
    *(
        Truth(
            f"rate-{rate}",
            f"{rate} messages/s",
            ("--rate", str(rate)),
            _bench(),
            throughput,
            rate,
            0.02 * rate,
            "/s",
            relative=True,
            seconds=SIZE_SECONDS,
        )
        for rate in RATES
    ),
    Truth(
        "loss",
        "1 in 10 000 lost",
        ("--drop-every", "10000"),
        _bench(),
        throughput,
        None,
        unit="/s",
    ),
    Truth(
        "loss-limited",
        f"the same, {RATES[-1]} messages/s",
        ("--drop-every", "10000", "--rate", str(RATES[-1])),
        _bench(),
        throughput,
        None,
        unit="/s",
    ),
    Truth("delay", "5 ms added", ("--delay", "5"), _bench("delay"), added_delay, 5.0, 0.3, " ms"),
    Truth(
        "burst",
        "a queue of 50",
        ("--rate", "300", "--queue", "50", "--overflow", "drop"),
        _bench("burst"),
        burst,
        50,
        5,
        relative=True,
    ),
    Truth(
        "knee",
        f"{CALLS} calls/s",
        ("--call-rate", str(CALLS)),
        _overload(CALLS),
        knee,
        CALLS,
        0.05 * CALLS,
        "/s",
        relative=True,
    ),
    Truth(
        "recovery",
        f"recovers in {RECOVERY:.1f} s",
        ("--call-rate", str(_RECOVERING), "--call-queue", str(_WAITING), "--overflow", "drop"),
        _overload(_RECOVERING, "--flood", "5"),
        recovery,
        RECOVERY,
        0.3,
        " s",
    ),
)


@contextlib.contextmanager
def relayed(options: Sequence[str], log: Path) -> Iterator[tuple[str, ...]]:
    """A relay at work, as the options that lead through it. Raises NotFound."""
    near, far = ENDS
    with log.open("wb") as errors:
        relay = subprocess.Popen(
            [sys.executable, "-m", "x25shark", "relay", near, far, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    assert relay.stdout is not None
    try:
        if not relay.stdout.readline().startswith(b"Relaying"):
            relay.wait(_READY_SECONDS)
            raise NotFound(f"relay: {log.read_text(errors='replace').strip()[-300:]}")
        yield ("--connect", near, "--listen", far)
    finally:
        relay.terminate()
        relay.stdout.close()
        relay.wait(_READY_SECONDS)


def measured(truth: Truth, folder: Path) -> Row:
    """One truth, whose report goes into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    try:
        with relayed(truth.relay, folder / "relay.log") as way:
            began = time.monotonic()
            done = subprocess.run(
                [
                    *(sys.executable, "-m", "x25shark", *truth.command, *way),
                    *("--output", str(folder)),
                ],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_MOST_SECONDS,
                check=False,
            )
            seconds = time.monotonic() - began
        (folder / "said.txt").write_text(done.stdout + done.stderr, "utf-8")
        if done.returncode not in _ENDED:
            raise NotFound(f"exit status {done.returncode}: {(done.stderr or done.stdout)[-300:]}")
        result = json.loads((folder / "load.json").read_text("utf-8"))
        return judged(truth, result, seconds)
    except (NotFound, OSError, ValueError, subprocess.TimeoutExpired) as error:
        return Row(truth, None, time.monotonic() - began, str(error).strip())


def judged(truth: Truth, result: Result, seconds: float) -> Row:
    """What a result has of a truth. Raises NotFound."""
    found = truth.read(result)
    problem = ""
    if truth.seconds and seconds > truth.seconds:
        problem = f"it took {seconds:.0f} s, {truth.seconds:.0f} are allowed"
    elif truth.expected is not None and found is None:
        problem = "; ".join(result["verdict"]["reasons"]) or "nothing was found"
    return Row(truth, found, seconds, problem)


def _figure(value: float, unit: str) -> str:
    return f"{value:.2f}{unit}" if abs(value) < 10 else f"{value:.4g}{unit}"


def cells(row: Row) -> list[str]:
    """A row of the table."""
    truth, found = row.truth, row.found
    said = "no throughput" if found is None else _figure(found, truth.unit)
    off = bound = "-"
    if truth.expected is None:
        bound = "none said"
    elif truth.relative:
        bound = f"{truth.bound / truth.expected:.0%}"
        off = f"{row.off / truth.expected:+.1%}"
    else:
        bound, off = f"{truth.bound:g}{truth.unit}", f"{row.off:+.2f}{truth.unit}"
    if found is None and truth.expected is not None:
        said = off = "-"
    most = f" of {truth.seconds:.0f}" if truth.seconds else ""
    verdict = Verdict.PASS if row.right else Verdict.FAIL
    return [truth.words, said, off, bound, f"{row.seconds:.0f}{most}", str(verdict)]


def table(rows: Sequence[Row]) -> Table:
    """All of them."""
    made = Table("truth", "found", "off by", "bound", "seconds", "")
    for row in rows:
        made.add_row(*map(escape, cells(row)))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0: all were found; 1: one was not; 2: wrong usage; 130: interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m x25shark.selftest.known_truth", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    names = [truth.name for truth in TRUTHS]
    parser.add_argument(
        "--only", action="append", choices=names, metavar="NAME",
        help=f"this one; repeatable: {', '.join(names)}",
    )  # fmt: skip
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the reports there")
    given = parser.parse_args(arguments)
    rows: list[Row] = []
    status = 0
    with tempfile.TemporaryDirectory(prefix="x25shark-truth-") as temporary:
        folder = given.keep or Path(temporary)
        try:
            for truth in TRUTHS:
                if given.only and truth.name not in given.only:
                    continue
                print(f"{truth.name}: {truth.words}", file=sys.stderr, flush=True)
                rows.append(measured(truth, folder / truth.name))
        except KeyboardInterrupt:
            print("known_truth: interrupted", file=sys.stderr)
            status = 130
    console = Console(width=_WIDTH, highlight=False)
    console.print(table(rows))
    for row in rows:
        if row.problem:
            console.print(escape(f"{row.truth.name}: {row.problem}"))
    wrong = sum(not row.right for row in rows)
    print(f"{len(rows) - wrong} passed, {wrong} failed", flush=True)
    return status or (1 if wrong else 0)


if __name__ == "__main__":
    sys.exit(main())
