# SPDX-License-Identifier: GPL-2.0-or-later
"""The terminal: live rates, the published report's lines, tables with the control run beside.

What a router had a hand in (failure texts) is printed as plain text, never as markup.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..report.text import one_line
from .measure import Measurement, Progress
from .page import TableMaker
from .wording import count, duration, milliseconds, octet_rate, percent, rate

_WORDS = {
    "tcp_connect": "TCP set-up",
    "call_setup": "call set-up",
    "message": "message",
    "interrupt": "interrupt",
    "reset": "reset",
    "clear": "clear",
    "call_duration": "whole call",
}


@contextmanager
def live(console: Console, title: str) -> Iterator[Progress]:
    """Shows the counters of a running measurement with rates over the last moments."""
    last: dict[str, float] = {"t": 0.0, "calls": 0.0, "octets": 0.0, "packets": 0.0}
    printed = [time.monotonic()]

    def line(counters: Mapping[str, Any], elapsed: float) -> Text:
        span = max(elapsed - last["t"], 1e-9)
        packets = counters["data_packets_sent"] + counters["data_packets_received"]
        moved = counters["octets_sent"] + counters["octets_received"]
        text = (
            f"{title}  {elapsed:.1f} s  {counters['open_circuits']} open  "
            f"{count((counters['calls_completed'] - last['calls']) / span)} calls/s  "
            f"{count((packets - last['packets']) / span)} packets/s  "
            f"{octet_rate((moved - last['octets']) / span)}"
        )
        if counters["calls_failed"]:
            text += f"  {count(counters['calls_failed'])} failed"
        last.update(t=elapsed, calls=counters["calls_completed"], octets=moved, packets=packets)
        return Text(text)

    if console.is_terminal:
        with Live(Text(title), console=console, transient=True, refresh_per_second=5) as shown:
            yield lambda counters, elapsed: shown.update(line(counters, elapsed))
        return

    def plain(counters: Mapping[str, Any], elapsed: float) -> None:
        if time.monotonic() - printed[0] >= 5:  # a log file gets a line now and then
            printed[0] = time.monotonic()
            console.print(line(counters, elapsed))

    yield plain


def _range(value: Mapping[str, int]) -> str:
    return "-" if value["max"] == 0 else f"{value['min']}/{value['max']}"


def report(console: Console, measurement: Measurement, figure: Mapping[str, Any]) -> None:
    """The lines of the published stress test, in its order."""
    caller, total = measurement.caller, measurement.caller["total"]
    received = figure["calls_received"]
    n = caller["negotiated"]
    mismatches = (
        figure["integrity"]["corrupted_messages"] + figure["integrity"]["mixed_up_messages"]
    )
    rows = [
        ("Run time", duration(figure["seconds"])),
        ("Calls made", count(figure["calls_made"])),
        ("Calls received", "-" if received is None else count(received)),
        ("Calls failed", count(figure["calls_failed"])),
        ("Packets sent", count(total["data_packets_sent"])),
        ("Packets received", count(total["data_packets_received"])),
        ("Bytes sent", count(total["octets_sent"])),
        ("Bytes received", count(total["octets_received"])),
        ("Data mismatches", count(mismatches)),
        ("Short receives", count(figure["integrity"]["short_messages"])),
        ("Packet size in  min/max", _range(n["packet_size_in"])),
        ("Packet size out min/max", _range(n["packet_size_out"])),
        ("Window in  min/max", _range(n["window_in"])),
        ("Window out min/max", _range(n["window_out"])),
        ("Average bandwidth sent", octet_rate(figure["octets_sent_per_second"])),
        ("Average bandwidth received", octet_rate(figure["octets_received_per_second"])),
    ]
    grid = Table.grid(padding=(0, 2))
    for name, value in rows:
        grid.add_row(name, Text(value, justify="right"))
    console.print(grid)
    for title, reasons in (("Errors", caller["failures"]), ("Clears received", caller["clears"])):
        if reasons:
            console.print(f"{title} by kind")
            for kind, number in sorted(reasons.items(), key=lambda item: -item[1])[:20]:
                console.print(Text(f"  {count(number):>10}  {one_line(kind, 120)}"))


def compare(console: Console, figure: Mapping[str, Any], control: Mapping[str, Any] | None) -> None:
    """Every figure beside that of the control run, if there was one."""
    table = narrow_table("With the router and without" if control else "Rates")
    for name in ("", "router", *(("control", "share") if control else ())):
        table.add_column(name, justify="right" if name else "left")
    rates = [
        ("calls/s", "calls_per_second", rate),
        ("messages/s", "messages_per_second", rate),
        ("Data packets/s, both directions", "data_packets_per_second", rate),
        ("user data sent", "octets_sent_per_second", octet_rate),
        ("user data received", "octets_received_per_second", octet_rate),
    ]
    for words, name, form in rates:
        cells = [form(figure[name])]
        if control:
            share = figure[name] / control[name] if control[name] else None
            cells += [form(control[name]), "-" if share is None else percent(share)]
        table.add_row(words, *cells)
    for words, name in (
        ("tester's CPU, of one processor", "tester_cpu"),
        ("router's CPU, of one processor", "router_cpu"),
        ("machine busy", "machine_busy"),
        ("other work on the machine", "other_work"),
    ):
        values = [f[name] for f in (figure, control) if f]
        table.add_row(words, *("-" if v is None else percent(v) for v in values))
    console.print(table)


def narrow_table(title: str) -> Table:
    """Narrow enough for eight columns of figures in a terminal of 80."""
    return Table(
        title=title,
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 0, 0, 1),
    )


def print_tables(console: Console, tables: Sequence[TableMaker], result: Mapping[str, Any]) -> None:
    """All tables that have rows, within 80 columns."""
    for maker in tables:
        head, rows = maker.make(result)
        if not rows:
            continue
        table = narrow_table(maker.title)
        for number, name in enumerate(head):
            text = number in maker.texts or number in maker.long
            table.add_column(name, justify="left" if text else "right", overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)


def latencies(
    console: Console, figure: Mapping[str, Any], control: Mapping[str, Any] | None
) -> None:
    """Percentiles in milliseconds; the control run's median beside."""
    table = narrow_table("Latency in ms")
    columns = ("count", "min", "p50", "p90", "p99", "p99.9", "max")
    table.add_column("", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    if control:
        table.add_column("control p50", justify="right")
    for name, words in _WORDS.items():
        values = figure["latency_ms"][name]
        if values is None:
            continue
        cells = [count(values["count"]), *(milliseconds(values[c]) for c in columns[1:])]
        if control:
            alone = control["latency_ms"][name]
            cells.append(milliseconds(alone["p50"] if alone else None))
        table.add_row(words, *cells)
    console.print(table)


def findings(console: Console, measurement: Measurement, limit: int = 12) -> None:
    """What was found, by call, so that it can be found again in a capture."""
    sides = [("A", measurement.caller), ("B", measurement.responder)]
    found = [(side, f) for side, stats in sides if stats for f in stats["findings"]]
    if not found:
        return
    found.sort(key=lambda pair: pair[1]["kind"] == "late")  # flaws before slow answers
    console.print("Findings (A: calling side, B: called side)")
    for side, finding in found[:limit]:
        seconds = finding["at_ns"] / 1e9
        text = one_line(f"{finding['kind']}: {finding['text']}", 160)
        console.print(Text(f"  {seconds:9.3f} s  {side}  {text}"))
    if len(found) > limit:
        console.print(f"  ... and {len(found) - limit} more in load.json")


def written(console: Console, folder: Path) -> None:
    """Where the results are."""
    console.print(Text(f"Written: {folder / 'load.json'}, {folder / 'load.html'}"))
