# SPDX-License-Identifier: GPL-2.0-or-later
"""What one capture costs: the resident judge beside starting tshark.

    python -m x25shark.judges.benchmark [--turns N] [capture.pcapng ...]

Without captures, those of the known gaps are read. Every turn reads every capture once with each
judge and the same filters; the median of the whole times (asking, reading, answer) is printed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from . import gaps
from .reading import CaptureReader, JudgeError
from .tshark import TsharkJudge
from .wireshark import WiresharkJudge

FILTERS = (
    *(f"x25s.type#{{k}} == 0x{octet:02x}" for octet in (0x0B, 0x0F, 0x13, 0x17, 0x1B, 0x1F, 0x23)),
    "x25s.type#{k} == 0x13 && x25s.cause#{k} in {0, 0x80} && x25s.diagnostic#{k} == 0",
    "x25s.p_s#{k} == 0 && x25s.m#{k} == 1",
    'x25s.called_address#{k} == "12345"',
    "x25s.user_data#{k} == aa",
    "tcp.flags.fin == 1 || tcp.flags.reset == 1",
)
SECONDS = 60.0


def costs(judge: CaptureReader, captures: Sequence[bytes], turns: int) -> list[float]:
    """Milliseconds of every reading but those of a first turn, which warms up."""
    measured = []
    for turn in range(turns + 1):
        for capture in captures:
            started = time.perf_counter()
            judge.read(capture, FILTERS, timeout=SECONDS)
            if turn > 0:
                measured.append((time.perf_counter() - started) * 1000)
    return measured


def _line(name: str, measured: Sequence[float]) -> str:
    ordered = sorted(measured)
    high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return (
        f"{name:<22}{statistics.median(measured):>10.2f} ms{ordered[0]:>10.2f} ms{high:>10.2f} ms"
        f"{len(measured):>10}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m x25shark.judges.benchmark", description=__doc__
    )
    parser.add_argument("--turns", type=int, default=3, help="turns of tshark (the judge: 20 x)")
    parser.add_argument("captures", nargs="*", type=Path, metavar="capture")
    options = parser.parse_args(arguments)
    if options.turns < 1:
        parser.error("--turns must be 1 or more")
    paths = options.captures or [gap.capture for gap in gaps.load()]
    try:
        captures = [path.read_bytes() for path in paths]
        with WiresharkJudge() as fast:
            resident = costs(fast, captures, options.turns * 20)
            version = fast.version
        with TsharkJudge() as slow:
            started = costs(slow, captures, options.turns)
    except (OSError, JudgeError) as error:
        print(f"x25shark.judges.benchmark: {error}", file=sys.stderr)
        return 2
    print(f"Wireshark {version}, {len(captures)} captures, {len(FILTERS)} filters each")
    print(f"{'':<22}{'median':>13}{'least':>13}{'p95':>13}{'readings':>10}")
    print(_line("resident judge", resident))
    print(_line("starting tshark", started))
    ratio = statistics.median(started) / statistics.median(resident)
    print(f"starting tshark costs {ratio:.0f} times the resident judge")
    return 0


if __name__ == "__main__":
    sys.exit(main())
