# SPDX-License-Identifier: GPL-2.0-or-later
"""The judge on libwireshark as a fuzz target: python -m x25shark.selftest.judge_fuzz [--seconds N]

libFuzzer (clang) changes inputs for that long, with the address and undefined-behaviour
sanitizers, and keeps those that reach something new. It starts from dissectors/judge/corpus and
from what an earlier run kept. What ends the judge, makes it slow or makes its answer no JSON object
is a finding: its input is kept, and the exit status is 1. At the end: how the coverage grew.

Without clang each input of the corpus is judged once, by a program of the usual compiler.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from x25shark.judges import program
from x25shark.judges.reading import JudgeError
from x25shark.judges.sandbox import RESIDENT, Sandbox, dissectors_folder

ONCE_SECONDS = 300
# A capture of that length can be judged in less than a second.
LONGEST_INPUT = 8192
SLOWEST_SECONDS = 60
MOST_MEMORY_MB = 2048
FINDINGS = ("crash-", "timeout-", "oom-", "leak-")
_STATUS = re.compile(r"#(\d+): cov: (\d+) ft: (\d+)")


def corpus() -> Path:
    """The inputs that the repository keeps."""
    return dissectors_folder() / "judge" / "corpus"


def environment(sandbox: Sandbox) -> dict[str, str]:
    """What the fuzz target runs in: the judge's own, and what finds more."""
    return sandbox.environment() | {
        **RESIDENT,
        "X25SHARK_FUZZ_LUA": str(sandbox.lua),
        # libwireshark's own pools would hide what goes beyond one piece of them.
        "WIRESHARK_DEBUG_WMEM_OVERRIDE": "simple",
        # What libwireshark keeps until its end is not a leak; growth has a bound of its own.
        "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=32:malloc_context_size=10",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }


def run_once(inputs: Iterable[Path]) -> subprocess.CompletedProcess[str]:
    """Each input once. Raises JudgeError if the program cannot be built."""
    target = program.build("fuzz-once", "x25shark-judge-fuzz-once")
    sandbox = Sandbox()
    try:
        return subprocess.run(
            [target, *map(str, inputs)],
            env=environment(sandbox), capture_output=True, text=True, errors="replace",
            check=False, timeout=ONCE_SECONDS,
        )  # fmt: skip
    finally:
        sandbox.close()


def growth(log: str) -> list[tuple[int, int, int]]:
    """Executions, coverage of the judge's code, and features, each time the executions doubled."""
    rows: list[tuple[int, int, int]] = []
    found = [(int(a), int(b), int(c)) for a, b, c in _STATUS.findall(log)]
    for row in found:
        if not rows or row[0] >= 2 * rows[-1][0]:
            rows.append(row)
    return rows + [row for row in found[-1:] if row not in rows]


def fuzz(kept: Path, seconds: int) -> int:
    """Fuzz for so long; what is found lies in kept. The exit status. Raises JudgeError."""
    target = program.build("fuzz", "x25shark-judge-fuzz")
    grown, findings = kept / "corpus", kept / "findings"
    for folder in (grown, findings):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(findings.iterdir())
    sandbox = Sandbox()
    log = kept / "log"
    try:
        with log.open("w") as file:
            done = subprocess.run(
                [
                    target, grown, corpus(), f"-max_total_time={seconds}", "-use_value_profile=1",
                    # In processes one after the other: a finding ends none of the rest.
                    "-fork=1", "-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1",
                    f"-max_len={LONGEST_INPUT}", f"-timeout={SLOWEST_SECONDS}",
                    f"-rss_limit_mb={MOST_MEMORY_MB}", f"-artifact_prefix={findings}/",
                ],
                env=environment(sandbox), stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                check=False, cwd=kept, timeout=seconds + ONCE_SECONDS,
            )  # fmt: skip
    finally:
        sandbox.close()
    print(f"{'executions':>12} {'code':>6} {'features':>9}")
    for row in growth(log.read_text("utf-8", "replace")):
        print(f"{row[0]:12} {row[1]:6} {row[2]:9}")
    print(f"inputs kept: {len(list(grown.iterdir()))} in {grown}; all that was said: {log}")
    new = [p for p in findings.iterdir() if p not in before and p.name.startswith(FINDINGS)]
    for finding in new:
        print(f"finding: {finding}")
    if done.returncode != 0 and not new:
        print(f"the fuzz target ended with status {done.returncode}, see {log}")
    return 1 if new or done.returncode != 0 else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep", type=Path, default=Path("x25shark-report-fuzz"), metavar="FOLDER")
    given = parser.parse_args()
    try:
        if shutil.which(os.environ.get("CLANG", "clang")):
            return fuzz(given.keep.resolve(), given.seconds)
        print("no clang, so no libFuzzer (Debian: clang): each input of the corpus once")
        done = run_once(sorted(corpus().iterdir()))
    except JudgeError as error:
        print(error, file=sys.stderr)
        return 2
    if done.returncode != 0:
        print(done.stderr[-5000:], file=sys.stderr)
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
