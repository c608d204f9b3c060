# SPDX-License-Identifier: GPL-2.0-or-later
"""The published measurements beside ours: what they did and found, and the same of a result.

bench     S. Bradner's tests of routers, v2.5 of 1989, the ancestor of RFC 1242 and RFC 2544
overload  the notes on the TCP stack of IA64 Linux, 2.4 and 2.5, measured with httperf
matrix    BotBlox's tests of GigaBlox, a switch of 1 Gbit/s, measured with iPerf
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..counters.names import NOT_COUNTED, RIGHT, WRONG_COUNTER
from ..report.text import one_line
from .wording import count, milliseconds, percent, plural, rate

Result = Mapping[str, Any]
Finding = tuple[str, str, Callable[[Result], str]]
"""What it is about, what was published, and what makes ours of a result."""
HEAD = ["", "published", "here"]
NOT_LOOKED_AT = "not looked at"


def _rows(
    findings: Sequence[Finding], result: Result, measured: str
) -> tuple[list[str], list[list[str]]]:
    """measured: the part of the result without which there is nothing to set beside them."""
    if not result[measured]:
        return HEAD, []
    return HEAD, [[about, theirs, ours(result)] for about, theirs, ours in findings]


# -- bench ----------------------------------------------------------------------------------------


def _sizes(result: Result) -> str:
    return ", ".join(str(row["size"]) for row in result["rows"])


def _maximum(result: Result) -> str:
    width = result["options"]["width"]
    return f"searched by MLRsearch to {width:.1%}, at no loss and at 0.5 %"


def _overloaded(result: Result) -> str:
    """The size at which the router loses most when it is offered more."""
    found = [
        (row["share_of_maximum"][name], row, name)
        for row in result["rows"]
        for name in ("plus_25", "flood")
        if row.get(name) and name in row.get("share_of_maximum", {})
    ]
    if not found:
        return NOT_LOOKED_AT
    share, row, name = min(found, key=lambda one: one[0])
    if share >= 1:
        return f"none: {percent(share)} of the maximum or more at each size"
    words = "+25 %" if name == "plus_25" else "flood"
    carried = row[name]["carried"]
    # Of the maximum at about that time, which is not always the one in the table.
    change = f"{rate(carried / share) if share else '-'} -> {rate(carried)} messages/s"
    return f"{row['size']} octets, {words}: {change} ({percent(share)})"


def _tester(result: Result) -> str:
    limited = [str(row["size"]) for row in result["rows"] if row.get("tester_was_limit")]
    if not limited:
        return "the tester was not the limit"
    return f"the tester was the limit at {', '.join(limited)} octets"


def _management(result: Result) -> str:
    answers = result["phases"].get("flood")
    if answers is None or not answers["asked"]:
        return NOT_LOOKED_AT
    slowest = answers["slowest_ms"]
    within = "" if slowest is None else f", within {milliseconds(slowest)} ms"
    return f"{answers['state']}: {answers['answered']} of {answers['asked']} answered{within}"


def _error_counters(result: Result) -> str:
    results = [row["result"] for row in result["errors"] if row["result"]]
    if not results:
        return NOT_LOOKED_AT
    words = ((RIGHT, "right"), (WRONG_COUNTER, "wrong"), (NOT_COUNTED, "not counted"))
    return ", ".join(f"{results.count(name)} {word}" for name, word in words)


BENCH: Sequence[Finding] = (
    ("sizes, octets", "64, 128, 256, 512, 1024, 1518", _sizes),
    ("maximum", "tried by hand; the posting itself calls its method flawed", _maximum),
    ("less when overloaded", "256 octets, flood: 994 -> 33 packets/s (3%)", _overloaded),
    ("the tester", "too slow for the fastest routers", _tester),
    ("management flooded", "some consoles dead", _management),
    ("counters of errors", "some wrong, some missing", _error_counters),
)


def bench(result: Result) -> tuple[list[str], list[list[str]]]:
    """What the original found of its routers, and this run of its own."""
    return _rows(BENCH, result, "rows")


# -- overload -------------------------------------------------------------------------------------


def _ramp(result: Result) -> str:
    rates = [step["rate"] for step in result["ramp"]]
    seconds = result["options"]["step_seconds"]
    span = f"{rates[0]:g} to {rates[-1]:g} calls/s"
    return f"{span} in {plural(len(rates), 'step')}, {seconds:g} s each"


def _testers(result: Result) -> str:
    testers = result["testers"]
    return plural(testers["asked"], "tester") if testers else "one tester"


def _knee(result: Result) -> str:
    knee = result["knee"]
    if knee is None:
        return NOT_LOOKED_AT
    if knee["upper"] is None:
        return f"no knee up to {knee['rate']:.0f} calls/s"
    return f"from {knee['rate']:.0f} to {knee['upper']:.0f} calls/s"


def _beyond(result: Result) -> str:
    failed = [step for step in result["ramp"] if step["failed"] and not step.get("unplaced")]
    if not failed:
        return "no call of the ramp failed"
    first = failed[0]
    cause = max(first["failures"], key=lambda name: int(first["failures"][name]), default="")
    failed_from = f"{plural(first['failed'], 'call')} failed from {first['rate']:g}/s on"
    return f"{failed_from}: {one_line(cause, 60)}"


def _recovery(result: Result) -> str:
    found = [flood["recovery"] for flood in result["floods"] if flood.get("recovery")]
    if not found:
        return NOT_LOOKED_AT
    never = [flood for flood in found if flood["seconds"] is None]
    overloads = plural(len(found), "overload")
    if never:
        return f"not from {len(never)} of {overloads}"
    return f"within {max(flood['seconds'] for flood in found):.1f} s from {overloads}"


OVERLOAD: Sequence[Finding] = (
    ("ramp", "100 to 2000 requests/s in 20 steps, 60 s each", _ramp),
    ("from", "one client, and two with the same total", _testers),
    ("knee", "2.4: none; 2.5: stopped scaling", _knee),
    ("beyond it", "the table of connections filled up", _beyond),
    ("recovers", "not until restarted", _recovery),
)


def overload(result: Result) -> tuple[list[str], list[list[str]]]:
    """What the original found of two systems, and this run of one."""
    return _rows(OVERLOAD, result, "ramp")


# -- matrix ---------------------------------------------------------------------------------------


def _seconds(result: Result) -> str:
    seconds = result["options"]["cell_seconds"]
    return f"{plural(len(result['cells']), 'test')} of {seconds:g} s"


def _pairs(result: Result) -> str:
    return ", ".join(pair["pair"] for pair in result["cells"][0]["pairs"])


def _values(result: Result, axis: str, scale: float = 1.0) -> str:
    found = sorted({cell[axis] for cell in result["cells"]})
    return ", ".join(f"{value / scale:g}" for value in found)


def _user_data(result: Result) -> str:
    shares = sorted({cell["user_data_share"] for cell in result["cells"]})
    return " to ".join(dict.fromkeys(f"{share:.1%}" for share in (shares[0], shares[-1])))


def _jumbo(result: Result) -> str:
    """Whether MSS beyond Ethernet's took effect, as far as that was tried."""
    large = [cell for cell in result["cells"] if cell["mss"] > 1460]
    if not large:
        return NOT_LOOKED_AT
    without = [cell for cell in large if any("MSS" in words for words in cell["no_effect"])]
    if not without:
        return f"took effect in {plural(len(large), 'test')}, by the wire"
    return f"no effect in {len(without)} of {plural(len(large), 'test')}, and said so"


def _retransmitted(result: Result) -> str:
    pairs = [pair["retransmitted"] for cell in result["cells"] for pair in cell["pairs"]]
    kernel = count(sum(pair["kernel"] for pair in pairs))
    seen = [pair["tshark"] for pair in pairs if pair["tshark"] is not None]
    return f"{count(sum(seen)) if seen else '-'} by tshark, {kernel} by the kernel"


MATRIX: Sequence[Finding] = (
    ("tests", "7 tests of 60 s", _seconds),
    ("pairs at the same time", "two, through one switch", _pairs),
    ("TCP window, KB", "64, 200", lambda result: _values(result, "tcp_window", 1024)),
    ("MSS", "1460, 8960", lambda result: _values(result, "mss")),
    ("parallel connections", "1, 5", lambda result: _values(result, "parallel")),
    ("user data on the line", "94.9% (1460 of 1538 octets)", _user_data),
    ("MSS beyond Ethernet's", "no effect, and nothing said so", _jumbo),
    ("segments sent again", "frames, of both pairs", _retransmitted),
)


def matrix(result: Result) -> tuple[list[str], list[list[str]]]:
    """How the original measured and what it found, and this run."""
    return _rows(MATRIX, result, "cells")
