# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a bench result as rows of text: the terminal prints them, the page shows them.

The first is the original's: size, theoretical, hammer, max, +25 %, flood, f1, f10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..report.text import one_line
from . import published
from .page import TableMaker, router_usage
from .results import NEAR
from .wording import count, milliseconds, percent, rate

Row = Mapping[str, Any]


def _carried(row: Row, name: str) -> str:
    return rate(row[name]["carried"]) if row.get(name) else "-"


def _maximum(row: Row) -> str:
    found = row["throughput"]
    if not found["said"]:
        return "-"
    return rate(found["lower"]) + ("*" if row.get("tester_was_limit") else "")


def _filter(row: Row, number: str) -> str:
    found = row.get("filters") or {}
    value = found.get(number)
    if value is None:
        # Results of earlier versions do not say why.
        return found.get("why", {}).get(number) or "-"
    # Filters cost the tester nothing: its own figure is the same.
    least = ">= " if number in found.get("short", ()) else ""
    return least + rate(value) + ("*" if value >= NEAR * row["hammer"]["carried"] else "")


def _size(row: Row) -> str:
    return f"{row['size']} (part)" if row.get("interrupted") else str(row["size"])


RATES: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("size", _size),
    ("theoretical", lambda row: count(row["theoretical"]) if row.get("theoretical") else "-"),
    ("hammer", lambda row: _carried(row, "hammer")),
    ("max", _maximum),
    ("+25 %", lambda row: _carried(row, "plus_25")),
    ("flood", lambda row: _carried(row, "flood")),
    ("f1", lambda row: _filter(row, "1")),
    ("f10", lambda row: _filter(row, "10")),
)


def rates(result: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The original's table, messages/s."""
    return [name for name, _ in RATES], [[form(row) for _, form in RATES] for row in result["rows"]]


def bounds(result: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """How sure the maximum is, and how long a burst may be."""
    head = [
        "size",
        "from",
        "to",
        "at 0.5 % loss",
        "control",
        "share",
        "trials",
        "burst",
        "no loss in",
    ]
    rows = []
    for row in result["rows"]:
        found = row["throughput"]
        burst = row.get("burst")
        longest = "-" if burst is None else count(burst["messages"])
        if burst is not None and burst["lost_at"] is None:
            longest = f">= {longest}"
        elif burst is not None and burst.get("control") is False:
            longest += "*"
        share, clean = row.get("share_of_control"), found["clean_messages"]
        rows.append(
            [
                str(row["size"]),
                *("-" if found[k] is None else rate(found[k]) for k in ("lower", "upper")),
                "-" if found["half_percent_lower"] is None else rate(found["half_percent_lower"]),
                _carried(row, "control"),
                "-" if share is None else percent(share),
                str(len(row["trials"])),
                longest,
                count(clean) if clean and found["said"] else "-",
            ]
        )
    return head, rows


def delays(result: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Delay in milliseconds, and the tester's own beside it."""
    head = ["size", "load", "rate", "p50", "p99", "p99.9", "max", "control p50", "control p99"]
    rows = []
    for row in result["rows"]:
        for one in row.get("delays", []):
            router, control = one["router"], one["control"]
            values = [
                milliseconds(router[name] if router else None)
                for name in ("p50", "p99", "p99.9", "max")
            ]
            alone = [milliseconds(control[name] if control else None) for name in ("p50", "p99")]
            rows.append([str(row["size"]), one["load"], rate(one["rate"]), *values, *alone])
    return head, rows


def processors(result: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """CPU, of one processor, and the router's memory, at the found rate and flooded."""
    found = [
        ([str(row["size"]), name], row[name])
        for row in result["rows"]
        for name in ("maximum", "flood")
        if row.get(name)
    ]
    return router_usage(["size", "load"], found)


def idle(result: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Packets per minute that the router sends by itself."""
    rows = []
    for name, words in (("without", "no circuits"), ("with", "circuits up")):
        found = result["idle"].get(name)
        if found is None:
            continue
        kinds = ", ".join(f"{kind} {rate(n)}" for kind, n in found["per_minute"].items())
        rows.append([words, one_line(found["problem"] or kinds or "nothing", 200)])
    return ["idle", "packets per minute"], rows


def counters(result: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """What each counter moved by, and what it should have moved by; by load, all sizes."""
    by_load: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for reading in result["counters"]:
        load = "flood" if reading["load"] == "flood" else "by rate"
        by_load.setdefault((reading["counter"], load), []).append(reading)
    rows = [
        [
            one_line(counter, 60),
            load,
            str(len(found)),
            count(sum(r["shown"] for r in found)),
            count(sum(r["moved"] for r in found)),
            "right" if all(r["right"] for r in found) else "WRONG",
        ]
        for (counter, load), found in by_load.items()
    ]
    return ["counter", "load", "trials", "passed", "moved", ""], rows


def errors(result: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """What became of bad units, and which counter moved."""
    rows = []
    for row in result["errors"]:
        verdicts = row["verdicts"]
        kinds = set(verdicts.values())
        told = "discarded" if kinds == {"PASS"} else "".join(kinds) if len(kinds) == 1 else "-"
        if len(kinds) > 1 or kinds == {"FAIL"}:
            told = ", ".join(f"{case} {verdict}" for case, verdict in verdicts.items())
        counted = row["problem"] or f"{row['counter']} {row['result']}".strip() or "-"
        moved = "-" if row["moved"] is None else str(row["moved"])
        rows.append([row["error"], one_line(told, 100), moved, one_line(counted, 80)])
    return ["error", "router", "moved", "counter"], rows


def management(result: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Whether the counters page answered in each phase."""
    rows = [
        [
            one_line(name, 40),
            f"{a['answered']} of {a['asked']}",
            milliseconds(a["slowest_ms"]),
            a["state"] or "-",
        ]
        for name, a in result["phases"].items()
    ]
    return ["management plane in", "answers", "slowest, ms", ""], rows


TABLES: Sequence[TableMaker] = (
    TableMaker("Messages per second, from A to B", rates),
    TableMaker("How sure they are", bounds),
    TableMaker("Delay in ms, from when a message is due at A to its last octet at B", delays, (1,)),
    TableMaker("Processors, of one, and memory", processors, (1,)),
    TableMaker("Idle traffic", idle, (0, 1)),
    TableMaker("Counters of Data packets", counters, (0, 1, 5)),
    TableMaker("Errors", errors, (0, 1, 3)),
    TableMaker("Management plane", management, (0, 3)),
    TableMaker("Beside Bradner's tests of routers (v2.5, 1989)", published.bench, long=(0, 1, 2)),
)
