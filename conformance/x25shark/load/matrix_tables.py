# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a matrix: the published one, and what stands beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import published
from .page import TableMaker, router_usage
from .wording import count, percent, rate

Rows = tuple[list[str], list[list[str]]]


def _marked(cell: Mapping[str, Any]) -> str:
    """The number of the test: ° a setting had no effect, * the tester was the limit, ! a flaw."""
    return (
        str(cell["test"])
        + "°" * bool(cell["no_effect"])
        + "*" * bool(cell.get("tester_was_limit"))
        + "!" * bool(cell["reasons"])
    )


def _again(pair: Mapping[str, Any]) -> str:
    """Retransmissions as tshark counts them and as the kernel does."""
    found = pair["retransmitted"]
    shown = "-" if found["tshark"] is None else count(found["tshark"])
    return f"{shown} / {count(found['kernel'])}"


def speeds(result: Mapping[str, Any]) -> Rows:
    """The published table: settings, speed and retransmissions of every pair."""
    names = [pair["pair"] for pair in result["cells"][0]["pairs"]] if result["cells"] else []
    head = ["test", "window", "MSS", "par.", *names, *(f"again {name}" for name in names)]
    rows = [
        [
            _marked(cell),
            f"{cell['tcp_window'] / 1024:g} KB",
            str(cell["mss"]),
            str(cell["parallel"]),
            *(rate(pair["speed"]) for pair in cell["pairs"]),
            *(_again(pair) for pair in cell["pairs"]),
        ]
        for cell in result["cells"]
    ]
    return head, rows


def ceilings(result: Mapping[str, Any]) -> Rows:
    """Each test against what the line could carry, and against the tester alone."""
    head = [
        "test",
        "packets",
        "W",
        "all pairs",
        "user data",
        "ceiling",
        "of it",
        "control",
        "of it",
    ]
    rows = []
    for cell in result["cells"]:
        control, ceiling = cell.get("control"), cell["ceiling"]
        rows.append(
            [
                _marked(cell),
                str(cell["packet_size"]),
                str(cell["window"]),
                rate(cell["speed"]),
                f"{cell['user_data_share']:.1%}",
                rate(ceiling) if ceiling else "-",
                percent(cell["share_of_ceiling"]) if ceiling else "-",
                rate(control) if control else "-",
                percent(cell["share_of_control"]) if control else "-",
            ]
        )
    return head, rows


def effects(result: Mapping[str, Any]) -> Rows:
    """Which settings had no effect."""
    rows = [[str(cell["test"]), words] for cell in result["cells"] for words in cell["no_effect"]]
    return ["test", "on the wire"], rows


def processors(result: Mapping[str, Any]) -> Rows:
    """CPU and memory by test."""
    return router_usage(["test"], [([_marked(cell)], cell) for cell in result["cells"]])


TABLES: Sequence[TableMaker] = (
    TableMaker("Mbit/s of user data; segments sent again by tshark / by the kernel", speeds),
    TableMaker("Mbit/s against the line and against the tester alone", ceilings),
    TableMaker("Settings without effect (°)", effects, long=(1,)),
    TableMaker("Processors, of one, and memory", processors),
    TableMaker("Beside BotBlox's matrix of GigaBlox (iPerf)", published.matrix, long=(0, 1, 2)),
)
