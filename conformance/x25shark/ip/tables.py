# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the paper, with the model's and the paper's figures beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..load.page import TableMaker
from ..load.wording import count, percent
from . import paper

Rows = tuple[list[str], list[list[str]]]
_NOTHING: Mapping[str, Any] = {"rows": []}


def _of(result: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return list(result["experiments"].get(name, _NOTHING)["rows"])


def _number(value: float | None, form: str = ".0f") -> str:
    if value is None:
        return "-"
    return count(value) if form == ".0f" else f"{value:{form}}"


def _ratio(row: Mapping[str, Any]) -> str:
    return _number(row["ratio"], ".3f")


def pings(result: Mapping[str, Any]) -> Rows:
    """Table 1."""
    head = ["octets", "packets", "average", "median", "lost", "model", "ratio", "paper av/med"]
    rows = []
    for row in _of(result, "ping"):
        for column, (part, span) in enumerate(
            (("all", f"1-{row['all']['sent']}"),
             ("steady", f"{row['steady_from']}-{row['all']['sent']}"))
        ):  # fmt: skip
            published = paper.PING_MS.get(row["octets"])
            beside = (
                f"{published['average'][column]}/{published['median'][column]}"
                if published
                else "-"
            )
            steady = part == "steady"
            rows.append(
                [
                    str(row["octets"]),
                    span,
                    _number(row[part]["average"]),
                    _number(row[part]["median"]),
                    str(row[part]["lost"]),
                    _number(row["model"]["median"]) if steady else "",
                    _ratio(row) if steady else "",
                    beside,
                ]
            )
    return head, rows


def first_pings(result: Mapping[str, Any]) -> Rows:
    """What the call set-up adds to the first ping."""
    rows = [
        [str(r["octets"]), _number(r["first"]), _number(r["model"]["first"]),
         _number(r["first"] / r["model"]["first"] if r["first"] else None, ".3f")]
        for r in _of(result, "ping")
    ]  # fmt: skip
    return ["octets", "first ping", "model", "ratio"], rows


def _transferred(
    rows: Sequence[Mapping[str, Any]], first: str, published: Mapping[Any, Any]
) -> Rows:
    head = [first, "bit/s", "seconds", "file", "model", "ratio", "paper"]
    key = "name" if first == "transfer" else "circuits"
    return head, [
        [
            str(row[key]),
            _number(row["bits_per_second"]) if row["same"] else "lost",
            _number(row["seconds"], ".1f"),
            _same(row["same"]),
            _number(row["model"]["bits_per_second"]),
            _ratio(row) if row["same"] else "-",
            _number(published.get(row[key])),
        ]
        for row in rows
    ]


def _same(same: bool | None) -> str:
    return "failed" if same is None else "the same" if same else "DIFFERS"


def transfers(result: Mapping[str, Any]) -> Rows:
    """Table 2."""
    return _transferred(_of(result, "transfer"), "transfer", paper.TRANSFER)


def datagrams(result: Mapping[str, Any]) -> Rows:
    """What came of a file without TCP."""
    rows = [
        [
            str(row["circuits"]),
            count(row["sent"]),
            count(row["lost"]),
            count(row["changed"]),
            _same(row["same"]),
            _number(row["bits_per_second"]),
            _number(row["model"]["bits_per_second"]),
        ]
        for row in _of(result, "datagrams")
    ]
    return ["circuits", "datagrams", "lost", "changed", "file", "bit/s", "offered"], rows


def circuits(result: Mapping[str, Any]) -> Rows:
    """Table 3."""
    return _transferred(_of(result, "circuits"), "circuits", paper.CIRCUITS)


def files(result: Mapping[str, Any]) -> Rows:
    """Table 4."""
    head = ["circuits", "longest, s", "bit/s", "lost", "model, s", "ratio", "paper, s", "bit/s"]
    rows = []
    for row in _of(result, "files"):
        seconds, rate = paper.MANY.get(row["circuits"], (None, None))
        rows.append(
            [
                str(row["circuits"]),
                _number(row["longest_s"], ".1f"),
                _number(row["bits_per_second"]),
                "*" * row["lost"] or "-",
                _number(row["model"]["longest_s"], ".1f"),
                _ratio(row),
                _number(seconds),
                _number(rate),
            ]
        )
    return head, rows


def saturation(result: Mapping[str, Any]) -> Rows:
    """Figure 5 as a table."""
    rows = [
        [
            str(row["minute"]),
            str(row["transfers"]),
            _number(row["datagrams_per_minute"]),
            _number(row["packets_per_minute"]),
            _number(row["bits_per_second"]),
            percent(row["line_share"]) if row["line_share"] is not None else "-",
        ]
        for row in _of(result, "saturation")
    ]
    return ["minute", "transfers", "datagrams", "packets", "bit/s of the line", "share"], rows


def availability(result: Mapping[str, Any]) -> Rows:
    """Figures 1 to 4 as a table."""
    rows = [
        [
            f"{row['from_s'] / 3600:.2f}",
            *(_number(row[name]) for name in ("minimum", "average", "maximum", "median")),
            f"{row['sent'] - row['lost']}/{row['sent']}",
        ]
        for row in _of(result, "availability")
    ]
    return ["hour", "minimum", "average", "maximum", "median", "answered"], rows


def model(result: Mapping[str, Any]) -> Rows:
    """What the conditions let one expect."""
    m = result["model"]
    rows = [
        ["round trip of a window, ms", f"{m['window_round_trip_s'] * 1000:.1f}"],
        ["one circuit: window x packet / round trip, bit/s", count(m["circuit_bits_per_second"])],
        ["the line less all headers, bit/s", count(m["line_bits_per_second"])],
        ["one transfer: TCP's window / round trip, bit/s", count(m["tcp_bits_per_second"])],
        ["circuits from which the line is the limit", str(m["circuits_to_fill_the_line"])],
        ["call set-up, ms", f"{m['call_setup_s'] * 1000:.0f}"],
    ]
    return ["model", ""], rows


TABLES: Sequence[TableMaker] = (
    TableMaker("What the line and the window allow", model, (0,)),
    TableMaker("Table 1. Ping round trip, ms", pings),
    TableMaker("The first ping waits for the circuit, ms", first_pings),
    TableMaker("Table 2. File transfer on one circuit", transfers, (0, 3)),
    TableMaker("A file as datagrams without checksum", datagrams, (4,)),
    TableMaker("Table 3. The same put over several circuits", circuits, (3,)),
    TableMaker("Table 4. Five files at the same time (* a lost transfer)", files),
    TableMaker("Figure 5. Saturation, per minute", saturation),
    TableMaker("Figures 1 to 4. Round trip by time, ms", availability),
)


def closing_note(result: Mapping[str, Any]) -> list[str]:
    """What the paper concluded, and what these figures say of it."""
    found = []
    m = result["model"]
    rates = [r["bits_per_second"] for r in _of(result, "files") if r["bits_per_second"]]
    rates += [r["bits_per_second"] for r in _of(result, "circuits") if r["same"]]
    line = result["options"]["line"]["rate"]
    if rates and line:
        found.append(
            f"Share of the line that files reached: {max(rates) / line:.0%} "
            f"(model: {m['line_bits_per_second'] / line:.0%}; paper: {paper.LINE_SHARE:.0%})."
        )
    found.append(
        f"One circuit carries {count(m['circuit_bits_per_second'])} bit/s: window and delay bound "
        "it. From "
        f"{m['circuits_to_fill_the_line']} circuits on the line is the limit (paper: 8)."
    )
    available = result["experiments"].get("availability")
    if available:
        found.append(
            f"Available for {available['available']:.1%} of the time "
            f"(paper: {paper.AVAILABLE:.0%})."
        )
    return found
