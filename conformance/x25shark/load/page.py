# SPDX-License-Identifier: GPL-2.0-or-later
"""One offline HTML page of a result: figures, findings, interactive plots (plotly.js inlined).

The plots' script comes out of the plotly distribution (MIT); without it the page has its tables
and says what is missing. Everything that a router had a hand in goes through `printable` and
HTML escaping.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from ..report.text import one_line
from . import plots
from .terminal import count, milliseconds, octets

_STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 74rem; padding: 1.75rem 1.5rem 6rem; background: #fbfaf7;
  color: #1d2226; font: 1rem/1.5 system-ui, "Noto Sans", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 2rem; font-weight: 650; margin: .5rem 0 0; }
h2 { font-size: 1.25rem; margin: 2.25rem 0 .5rem; }
.soft { color: #596168; margin: .25rem 0; }
.verdict { font-size: 1.25rem; font-weight: 600; margin: 1.25rem 0 .25rem; }
.good { color: #1c7a4a; } .bad { color: #b8271f; }
table { border-collapse: collapse; background: #fff; border: 1px solid #dedad2; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #eceae3; text-align: right; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
th { font-weight: 600; color: #596168; }
.scroll { overflow-x: auto; }
.plot { background: #fff; border: 1px solid #dedad2; margin: .75rem 0; min-height: 26rem; }
code { font-family: ui-monospace, Menlo, "DejaVu Sans Mono", monospace; font-size: .875em; }
"""


def plotly_script() -> str | None:
    """The text of plotly.js, or None where the plotly distribution is not installed."""
    try:
        file = resources.files("plotly") / "package_data" / "plotly.min.js"
        return file.read_text("utf-8")
    except (ModuleNotFoundError, OSError):
        return None


def _safe_json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], text: Sequence[int] = (0,)) -> str:
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="text">{escape(cell)}</td>' if i in text else f"<td>{escape(cell)}</td>"
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    top = "".join(
        f'<th class="text">{escape(cell)}</th>' if i in text else f"<th>{escape(cell)}</th>"
        for i, cell in enumerate(head)
    )
    return f'<div class="scroll"><table><tr>{top}</tr>{body}</table></div>'


def _document(
    title: str,
    parts: Sequence[str],
    figures: Sequence[plots.Figure],
    last: Sequence[str] = (),
) -> str:
    script = plotly_script() if figures else None
    drawn: list[str] = []
    for number, figure in enumerate(figures):
        drawn.append(f"<h2>{escape(figure['title'])}</h2>")
        drawn.append(f'<p class="soft">{escape(figure["caption"])}</p>')
        if script is not None:
            drawn.append(f'<div class="plot" id="plot{number}"></div>')
    if figures and script is None:
        drawn.append("<p>The plots need the plotly distribution: pip install plotly</p>")
    calls = "".join(
        f"Plotly.newPlot('plot{n}', {_safe_json(f['data'])}, {_safe_json(f['layout'])}, "
        "{responsive: true, displaylogo: false});"
        for n, f in enumerate(figures)
    )
    scripts = f"<script>{script}</script><script>{calls}</script>" if script else ""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
        'img-src data: blob:">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"{''.join(parts)}{''.join(drawn)}{''.join(last)}{scripts}</body></html>\n"
    )


def _head(title: str, result: Mapping[str, Any]) -> list[str]:
    router, machine, verdict = result["router"], result["machine"], result["verdict"]
    good = result["exit_status"] == 0
    words = "Clean: every octet verified" if good else "Not clean"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{escape(one_line(router["name"]))} at {escape(router["address"])}, '
        f"{escape(result['started'])}, {machine['processors']} processors, "
        f"engine {escape(result['engine'])}</p>",
        f'<p class="verdict {"good" if good else "bad"}">{words}</p>',
    ]
    parts += [f"<p>{escape(one_line(reason, 300))}</p>" for reason in verdict["reasons"][:50]]
    share = verdict.get("share_of_control")
    if share is not None:
        limit = (
            "The tester was the limit"
            if verdict["tester_was_limit"]
            else "The router was the limit"
        )
        parts.append(
            f"<p>{limit}: {share:.0%} of what the tester does without the router "
            "(from 80 % on the tester counts as the limit).</p>"
        )
    return parts


def _options(options: Mapping[str, Any]) -> str:
    text = ", ".join(f"{k}={v}" for k, v in options.items() if v not in (None, False, 0, 0.0))
    return f'<p class="soft"><code>{escape(text)}</code></p>'


def _stress_tables(result: Mapping[str, Any]) -> list[str]:
    found = [m["figures"] for m in result["measurements"]]
    names = [m["name"] for m in result["measurements"]]
    rows: list[list[str]] = []
    for words, name, form in (
        ("Run time, s", "seconds", lambda v: f"{v:.2f}"),
        ("Calls made", "calls_made", count),
        ("Calls completed", "calls_completed", count),
        ("Calls failed", "calls_failed", count),
        ("Calls/s", "calls_per_second", lambda v: f"{v:,.1f}".replace(",", " ")),
        ("Messages verified", "messages_verified", count),
        ("Data packets/s, both directions", "data_packets_per_second", count),
        ("User data sent/s", "octets_sent_per_second", octets),
        ("User data received/s", "octets_received_per_second", octets),
        ("Tester's CPU", "tester_cpu", lambda v: f"{v:.0%}"),
        ("Router's CPU", "router_cpu", lambda v: f"{v:.0%}"),
        ("Machine busy", "machine_busy", lambda v: f"{v:.0%}"),
    ):
        rows.append([words, *("-" if f[name] is None else form(f[name]) for f in found)])
    for name in found[0]["integrity"]:
        words = name.replace("_", " ").capitalize()
        rows.append([words, *(count(f["integrity"][name]) for f in found)])
    parts = ["<h2>Figures</h2>", _table(["", *names], rows)]
    columns = ("count", "min", "p50", "p90", "p99", "p99.9", "max")
    rows = []
    for measured, name in zip(found, names, strict=True):
        for kind, values in measured["latency_ms"].items():
            if values is not None:
                cells = [milliseconds(values[c]) for c in columns[1:]]
                rows.append([f"{kind.replace('_', ' ')} ({name})", count(values["count"]), *cells])
    parts += ["<h2>Latency, ms</h2>", _table(["", *columns], rows)]
    caller = result["measurements"][0]["caller"]
    for title, reasons in (
        ("Failed calls by kind", caller["failures"]),
        ("Clears received, cause/diagnostic", caller["clears"]),
        ("Resets received, cause/diagnostic", caller["resets"]),
    ):
        if reasons:
            ordered = sorted(reasons.items(), key=lambda item: -item[1])[:50]
            rows = [[one_line(kind, 120), count(n)] for kind, n in ordered]
            parts += [f"<h2>{title}</h2>", _table(["kind", "count"], rows)]
    return parts


def _findings(measurement: Mapping[str, Any]) -> list[str]:
    rows = []
    for side in ("caller", "responder"):
        stats = measurement[side]
        for finding in stats["findings"][:100] if stats else []:
            seconds = f"{finding['at_ns'] / 1e9:.3f}"
            text = one_line(finding["text"], 200)
            rows.append([seconds, side, finding["kind"], text])
    if not rows:
        return []
    return ["<h2>Findings</h2>", _table(["time, s", "side", "kind", "what"], rows, (0, 1, 2, 3))]


def write_stress_page(path: Path, result: Mapping[str, Any]) -> None:
    """The page of a stress result (as in load.json)."""
    parts = [*_head("Stress test", result), _options(result["options"]), *_stress_tables(result)]
    found = _findings(result["measurements"][0])
    figures = [*plots.over_time(result["measurements"]), plots.percentiles(result["measurements"])]
    path.write_text(_document("Stress test", parts, figures, found), "utf-8")


def write_sweep_page(path: Path, result: Mapping[str, Any]) -> None:
    """The page of a sweep: the published two plots for every number of circuits."""
    rows = [
        [
            str(cell["circuits"]),
            str(cell["packet_size"]),
            str(cell["window"]),
            count(cell["calls_in_20_s"]),
            f"{cell['figures']['calls_per_second']:.1f}",
            f"{octets(cell['figures']['octets_received_per_second'])}/s",
            milliseconds((cell["figures"]["latency_ms"]["message"] or {}).get("p50")),
            f"{cell['control']['calls_per_second']:.1f}" if cell["control"] else "-",
            f"{cell['share_of_control']:.0%}" if cell["share_of_control"] is not None else "-",
            one_line("; ".join(cell["reasons"]), 160) or "clean",
        ]
        for cell in result["cells"]
    ]
    head = ("circuits", "packet size", "window", "calls in 20 s", "calls/s", "received")
    more = ("message p50, ms", "control calls/s", "share", "found")
    table = _table([*head, *more], rows, (9,))
    parts = [*_head("Sweep: packet size and window", result), _options(result["options"])]
    figures = plots.sweep(result["cells"])
    text = _document("Sweep", [*parts, "<h2>All cells</h2>", table], figures)
    path.write_text(text, "utf-8")
