# SPDX-License-Identifier: GPL-2.0-or-later
"""What a case costs: seconds, as measured against the embedded reference router.

    python -m x25shark.suite.costs REPORT/results.json...

writes costs.toml anew from whole runs; a case that several have costs what it does in the first,
so that XOT goes before serial lines. Only what costs more than most cases stands there.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from ..verdicts import Verdict

COSTS = Path(__file__).with_name("costs.toml")
USUAL = 0.05
"""Seconds of a case that is not named."""
_NAMED = 0.15


@cache
def _named() -> Mapping[str, float]:
    with COSTS.open("rb") as file:
        return {str(case): float(seconds) for case, seconds in tomllib.load(file).items()}


def seconds(identifier: str) -> float:
    """What the case costs."""
    return _named().get(identifier, USUAL)


def written(durations: Iterable[tuple[str, float]]) -> str:
    """The text of costs.toml for these cases."""
    dear = {case: round(spent, 1) for case, spent in durations if spent >= _NAMED}
    lines = [
        "# SPDX-License-Identifier: GPL-2.0-or-later",
        "# Seconds of the cases that cost more than others; written by costs.py, for time left.",
        *(f"{case} = {spent}" for case, spent in sorted(dear.items())),
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write costs.toml from the results of runs."""
    from ..results import ResultsError, read_results, write_whole

    paths = sys.argv[1:] if arguments is None else arguments
    if not paths:
        print("usage: python -m x25shark.suite.costs REPORT/results.json...", file=sys.stderr)
        return 2
    spent: dict[str, float] = {}
    for path in paths:
        try:
            results = read_results(Path(path), lambda _id, _verdict: False)
        except ResultsError as error:
            print(f"x25shark.suite.costs: {error}", file=sys.stderr)
            return 2
        for case in results.cases:
            if case.verdict is not Verdict.NOT_APPLICABLE:
                spent.setdefault(case.id, case.duration_s)
    write_whole(COSTS, written(spent.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
