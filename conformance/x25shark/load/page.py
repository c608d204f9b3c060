# SPDX-License-Identifier: GPL-2.0-or-later
"""load.html: a result in one file that opens without a network, with its plots (chart.py).

Every string is cleaned by `report.text` and then escaped by Jinja2; the page allows no style and no
script but its own (see report/inline.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from ..report.inline import BASE_STYLE, environment, inline, script_json
from ..report.text import moment, one_line
from ..results import write_whole
from . import plots
from .chart import Plot, drawn
from .options import LoadOptions
from .wording import count, milliseconds, octet_rate, octets, percent, plural, rate

TEMPLATES = Path(__file__).parent / "templates"
LINES_SHOWN = 50
ROWS_SHOWN = 100
_MEASURING = {"bench", "overload", "matrix"}
_UNSHOWN = {"calling_base", "late_is_flaw"}
_WORDS = {"duration": "seconds", "longest": "longest message", "shortest": "shortest message"}


@dataclass(frozen=True)
class Table:
    """A table of the page: columns of numbers, but for those named."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: Sequence[int] = (0,)
    long: Sequence[int] = ()
    more: int = 0

    def kind(self, column: int) -> str:
        """The CSS class of a column."""
        return "long" if column in self.long else "text" if column in self.text else ""


class TableMaker(NamedTuple):
    """A table of a result: its title, what makes head and rows, the columns that are text, and
    those of sentences."""

    title: str
    make: Callable[[Mapping[str, Any]], tuple[list[str], list[list[str]]]]
    texts: Sequence[int] = ()
    long: Sequence[int] = ()


def tables_of(
    makers: Sequence[TableMaker], result: Mapping[str, Any], whose: str = ""
) -> list[Table]:
    """The tables that have rows, for a page; whose: stands behind the titles."""
    tables = []
    for maker in makers:
        head, rows = maker.make(result)
        if rows:
            shown = [[one_line(cell, 200) for cell in row] for row in rows]
            title = maker.title + whose
            tables.append(Table(title, head, shown, text=maker.texts, long=maker.long))
    return tables


def router_usage(
    head: Sequence[str], measured: Sequence[tuple[list[str], Mapping[str, Any]]]
) -> tuple[list[str], list[list[str]]]:
    """A table of CPU, of one processor, and of the router's memory, where they are known."""
    rows = []
    for names, one in measured:
        # Results of earlier versions have no memory here.
        cpu, memory, tester = (
            one.get(name) for name in ("router_cpu", "router_octets", "tester_cpu")
        )
        if cpu is not None or memory is not None:
            shown = (
                "-" if cpu is None else percent(cpu),
                "-" if memory is None else octets(memory),
            )
            rows.append([*names, *shown, percent(tester or 0.0)])
    return [*head, "router's CPU", "router's memory", "tester's CPU"], rows


def _settings(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The load in words: what is always of interest, and what is not as usual."""
    usual = {field.name: field.default for field in fields(LoadOptions)}
    always = ("circuits", "packet_size", "window", "duration", "calls", "longest", "seed")
    shown = []
    for name, value in options.items():
        if isinstance(value, (list, tuple)):
            words = [f"{one:g}" if isinstance(one, float) else str(one) for one in value]
            value = ", ".join(words)  # noqa: PLW2901
        unusual = name not in _UNSHOWN and value != usual.get(name)
        if value is not None and (name in always or unusual):
            shown.append((_WORDS.get(name, name.replace("_", " ")), one_line(value, 100)))
    return shown


def _headline(result: Mapping[str, Any]) -> str:
    status = result["exit_status"]
    if status == 3:
        return "No call was connected"
    if status == 130:
        return "Interrupted"
    # They measure; what is wrong is named.
    if result.get("command") in ("bench", "overload", "matrix", "ip"):
        return "Measured, nothing found" if status == 0 else "Measured, and something found"
    return "Clean: every octet verified" if status == 0 else "Not clean"


def _limit(verdict: Mapping[str, Any]) -> list[str]:
    if limit := verdict.get("limit"):
        return [one_line(limit, 300)]
    share = verdict.get("share_of_control")
    if share is None or not verdict["tester_was_limit"]:
        return []
    return [f"The tester was the limit: {share:.0%} of what it does without the router."]


def document(
    title: str,
    result: Mapping[str, Any],
    tables: Sequence[Table],
    shown: Sequence[Plot],
    paired: bool = False,
) -> str:
    """A whole page."""
    script, script_source = inline(TEMPLATES / "load.js")
    style, style_source = inline(BASE_STYLE, TEMPLATES / "load.css")
    plots_drawn = [drawn(plot) for plot in shown]
    verdict, machine = result["verdict"], result["machine"]
    page: str = (
        environment(TEMPLATES)
        .get_template("load.html.j2")
        .render(
            title=title,
            router=one_line(result["router"]["name"], 100),
            context=" · ".join(
                [
                    *filter(None, [one_line(result["router"]["address"], 60)]),
                    f"started {moment(result['started'])}",
                    plural(machine["processors"], "processor"),
                    f"engine {result['engine']}",
                ]
            ),
            good=result["exit_status"] == 0,
            headline=_headline(result),
            lines=[
                *_limit(verdict),
                *(one_line(reason, 300) for reason in verdict["reasons"][:LINES_SHOWN]),
            ],
            more_lines=max(len(verdict["reasons"]) - LINES_SHOWN, 0),
            notes=[one_line(text, 300) for text in verdict["remarks"][:LINES_SHOWN]],
            settings=_settings(result["options"]),
            plots=plots_drawn,
            paired=paired,
            tables=tables,
            style=style,
            script=script,
            points=script_json([plot.points for plot in plots_drawn]),
            policy=f"default-src 'none'; style-src {style_source}; script-src {script_source}; "
            "base-uri 'none'; form-action 'none'",
        )
    )
    return page


_FIGURES: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("run time, s", "seconds", lambda seconds: f"{seconds:.2f}"),
    ("calls made", "calls_made", count),
    ("calls completed", "calls_completed", count),
    ("calls failed", "calls_failed", count),
    ("calls/s", "calls_per_second", rate),
    ("messages verified", "messages_verified", count),
    ("Data packets/s, both directions", "data_packets_per_second", count),
    ("user data sent", "octets_sent_per_second", octet_rate),
    ("user data received", "octets_received_per_second", octet_rate),
    ("tester's CPU, of one processor", "tester_cpu", percent),
    ("router's CPU, of one processor", "router_cpu", percent),
    ("machine busy", "machine_busy", percent),
    ("other work on the machine", "other_work", percent),
)


def _stress_tables(result: Mapping[str, Any]) -> list[Table]:
    found = [m["figures"] for m in result["measurements"]]
    names = [one_line(m["name"], 40) for m in result["measurements"]]
    rows = [
        [words, *("-" if f[name] is None else form(f[name]) for f in found)]
        for words, name, form in _FIGURES
    ]
    rows += [
        [name.replace("_", " "), *(count(f["integrity"][name]) for f in found)]
        for name in found[0]["integrity"]
    ]
    tables = [Table("Figures", ["", *names], rows)]
    columns = ("count", "min", "p50", "p90", "p99", "p99.9", "max")
    rows = [
        [
            f"{kind.replace('_', ' ')} ({name})",
            count(values["count"]),
            *(milliseconds(values[c]) for c in columns[1:]),
        ]
        for measured, name in zip(found, names, strict=True)
        for kind, values in measured["latency_ms"].items()
        if values is not None
    ]
    tables.append(Table("Latency, ms", ["", *columns], rows))
    caller = result["measurements"][0]["caller"]
    for title, reasons in (
        ("Failed calls by kind", caller["failures"]),
        ("Clears received, cause/diagnostic", caller["clears"]),
        ("Resets received, cause/diagnostic", caller["resets"]),
    ):
        if reasons:
            ordered = sorted(reasons.items(), key=lambda item: -item[1])
            rows = [[one_line(kind, 120), count(n)] for kind, n in ordered[:LINES_SHOWN]]
            tables.append(
                Table(title, ["kind", "count"], rows, more=max(len(ordered) - LINES_SHOWN, 0))
            )
    return tables + _findings(result["measurements"][0])


def _findings(measurement: Mapping[str, Any]) -> list[Table]:
    sides = (("A", measurement["caller"]), ("B", measurement["responder"]))
    found = [(side, finding) for side, stats in sides if stats for finding in stats["findings"]]
    if not found:
        return []
    rows = [
        [
            f"{finding['at_ns'] / 1e9:.3f}",
            side,
            one_line(finding["kind"], 40),
            one_line(finding["text"], 200),
        ]
        for side, finding in found[:ROWS_SHOWN]
    ]
    head = ["s", "side", "kind", "what"]
    more = max(len(found) - ROWS_SHOWN, 0)
    title = "Findings (A: calling side, B: called side)"
    return [Table(title, head, rows, text=(1, 2), long=(3,), more=more)]


def write_stress_page(path: Path, result: Mapping[str, Any]) -> None:
    """The page of a stress result (as in load.json)."""
    measured = result["measurements"]
    shown = [plots.percentiles(measured), *plots.over_time(measured)]
    write_whole(path, document("Stress test", result, _stress_tables(result), shown))


def write_sweep_page(path: Path, result: Mapping[str, Any]) -> None:
    """The page of a sweep: the published two plots for every number of circuits."""
    rows = [
        [
            count(cell["circuits"]),
            str(cell["packet_size"]),
            str(cell["window"]),
            count(cell["calls_in_20_s"]),
            rate(cell["figures"]["calls_per_second"]),
            octet_rate(cell["figures"]["octets_received_per_second"]),
            milliseconds((cell["figures"]["latency_ms"]["message"] or {}).get("p50")),
            rate(cell["control"]["calls_per_second"]) if cell["control"] else "-",
            f"{cell['share_of_control']:.0%}" if cell["share_of_control"] is not None else "-",
            one_line("; ".join([*cell["reasons"], *cell["remarks"]]), 160) or "clean",
        ]
        for cell in result["cells"]
    ]
    head = ("circuits", "packet size", "window", "calls in 20 s", "calls/s", "received")
    more = ("message p50, ms", "control calls/s", "share", "found")
    table = Table("All cells", [*head, *more], rows, text=(), long=(9,))
    shown = plots.sweep(result["cells"])
    write_whole(path, document("Sweep", result, [table], shown, paired=True))
