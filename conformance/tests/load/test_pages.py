# SPDX-License-Identifier: GPL-2.0-or-later
"""load.html and its plots: what they show, that hostile text is inert, how they look in a browser.

The last part needs Chromium (Debian package chromium).
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from x25shark.load import figures, page, plots, results
from x25shark.load.options import LoadOptions
from x25shark.load.sweep import SweepPlan

from .conftest import environment
from .samples import GOOD, measurement

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m"
BUCKETS = [[1_000_000, 50], [2_000_000, 49], [9_000_000, 1]]


def stress_result(text: str, name: str = "router") -> dict[str, Any]:
    """A result with this text wherever a router has a hand in it."""
    measured = measurement(**GOOD | {"calls_failed": 1})
    caller = measured.caller
    caller["failures"] = caller["clears"] = caller["resets"] = {text: 1}
    caller["findings"] = [
        {"kind": "protocol", "call": 1, "sequence": 0, "at_ns": 1, "text": text},
    ]
    percentiles = {"p50": 1e6, "p90": 2e6, "p99": 2e6, "p99.9": 9e6}
    caller["message"] = {
        "count": 100, "min": 1e6, "max": 9e6, "mean": 2e6, "percentiles": percentiles,
        "buckets": BUCKETS,
    }  # fmt: skip
    interval = {"calls_completed": 3, "calls_failed": 1, "octets_received": 5_000}
    caller["timeline"] = [interval] * 10
    verdict = {
        "reasons": [text],
        "remarks": [text],
        "tester_was_limit": False,
        "share_of_control": None,
    }
    return {
        "router": {"name": text, "address": "127.0.0.1:1998", "called": []},
        "machine": {"processors": 2, "system": "x"},
        "started": "2026-01-01T00:00:00+00:00",
        "engine": "0",
        "options": LoadOptions().as_dict(),
        "exit_status": 1,
        "verdict": verdict,
        "measurements": [
            measured.as_dict() | {"name": name, "figures": results.figures(measured)},
        ],
    }


class Scripts(HTMLParser):
    """What a browser would take for scripts, images and event handlers."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.alien: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script"
        if self._inside:
            self.scripts.append("")
        if tag in ("img", "iframe", "link", "object"):
            self.alien.append(tag)
        self.alien += [name for name, _ in attrs if name.startswith("on") or name == "src"]

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data


def written(result: dict[str, Any], folder: Path) -> str:
    page.write_stress_page(folder / "load.html", result)
    return (folder / "load.html").read_text("utf-8")


def test_hostile_text_is_inert_in_the_page_and_in_the_plots(tmp_path: Path) -> None:
    text = written(stress_result(EVIL, name=EVIL), tmp_path)
    parser = Scripts()
    parser.feed(text)
    assert parser.alien == []
    data, library, own = parser.scripts
    assert "plotly.js" in library[:100]
    assert "alert(" not in own
    drawn = json.loads(data)
    names = [trace["name"] for figure in drawn["figures"] for trace in figure["data"]]
    assert names
    # plotly reads a little HTML in its texts: there, too, it is only text.
    assert all("<" not in name and "&lt;/script&gt;" in name for name in names)
    before = text.split("<script", maxsplit=1)[0]
    assert "alert(1)" in unescape(before)
    assert "\x1b" not in before


def test_the_page_allows_its_own_scripts_alone(tmp_path: Path) -> None:
    text = written(stress_result("x"), tmp_path)
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert found
    policy = dict(
        rule.strip().split(" ", 1) for rule in unescape(found[1]).split(";") if rule.strip()
    )
    assert policy["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-\S+' 'sha256-\S+'", policy["script-src"])


def test_without_plotly_the_page_says_what_to_install(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    result.write_text(json.dumps(stress_result("x")))
    code = (
        "import json, pathlib, sys; sys.modules['plotly'] = None\n"
        "from x25shark.load import page\n"
        f"result = json.loads(pathlib.Path({str(result)!r}).read_text())\n"
        f"page.write_stress_page(pathlib.Path({str(tmp_path / 'load.html')!r}), result)"
    )
    import sys

    subprocess.run([sys.executable, "-c", code], env=environment(), check=True, timeout=600)
    text = (tmp_path / "load.html").read_text("utf-8")
    assert "ci/setup engine" in text
    assert "Latency, ms" in text
    assert "<script" not in text


def test_percentile_curve_counts_every_value() -> None:
    x, y = plots.percentile_curve(BUCKETS)
    assert x == pytest.approx([2, 100, 200])
    assert y == [1, 2, 9]


def sweep_plots() -> list[plots.Plot]:
    plan = SweepPlan([128, 4096], [1, 7], [1, 4])
    cells = [
        {"circuits": c, "packet_size": p, "window": w, "calls_in_20_s": p * w, "control": None}
        for c, p, w in plan.cells()
    ]
    return plots.sweep(cells)


def test_sweep_plots_have_the_published_axes() -> None:
    drawn = sweep_plots()
    assert [plot.title for plot in drawn] == [
        f"Calls in 20 s by {axis}, {circuits}"
        for circuits in ("1 circuit", "4 circuits")
        for axis in ("packet size", "window")
    ]
    by_size, by_window = drawn[0].figure.data, drawn[1].figure.data
    assert [series.name for series in by_size] == ["window 1", "window 7"]
    assert list(by_size[1].x) == ["128", "4096"]
    assert list(by_size[1].y) == [128 * 7, 4096 * 7]
    assert [series.name for series in by_window] == ["128 octets", "4096 octets"]
    assert list(by_window[1].y) == [4096, 4096 * 7]


def test_sweep_plots_say_how_far_off_they_may_be() -> None:
    cells = [
        {
            "circuits": 1, "packet_size": 128, "window": w, "calls_in_20_s": 1000 * w,
            "calls_in_20_s_error": 10 * w, "figures": {"seconds": 0.5}, "control": None,
        }
        for w in (1, 2)
    ]  # fmt: skip
    by_size, by_window = plots.sweep(cells)
    assert list(by_window.figure.data[0].error_y.array) == [10, 20]
    assert "scaled from cells of 0.5 s" in by_size.caption


def test_lines_that_are_far_apart_have_a_logarithmic_axis() -> None:
    def run(name: str, rate: int) -> dict[str, Any]:
        part = {"calls_completed": rate, "calls_failed": 0, "octets_received": rate}
        caller = {"interval_ns": 200_000_000, "timeline": [part] * 5}
        return {"name": name, "caller": caller}

    near = plots.over_time([run("router", 100), run("control", 900)])
    far = plots.over_time([run("router", 100), run("control", 1100)])
    assert near[0].figure.layout.yaxis.type is None
    assert far[0].figure.layout.yaxis.type == "log"
    # Told apart without colour: by their dashes and marks.
    assert len({(t.line.dash, t.marker.symbol) for t in far[0].figure.data}) == 2


@pytest.mark.parametrize(("parts", "share"), [([10] * 6, 0.0), ([5, 15] * 10, 0.2), ([10], 0.63)])
def test_a_rate_says_how_far_off_it_may_be(parts: list[int], share: float) -> None:
    caller = {
        "interval_ns": 200_000_000,
        "timeline": [{"calls_completed": n} for n in parts],
        "measured": {"calls_completed": sum(parts)},
    }
    found = figures.of_calls(caller, 50.0)
    assert found.high / found.value - 1 == pytest.approx(share, abs=0.05)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("ground", plots.GROUNDS.values())
@pytest.mark.parametrize("colour", plots.COLOURS)
def test_every_line_stands_out_from_its_ground(colour: str, ground: str) -> None:
    low, high = sorted((luminance(colour), luminance(ground)))
    assert (high + 0.05) / (low + 0.05) >= 3


@pytest.mark.parametrize("dark", [False, True])
def test_the_plots_are_drawn_in_light_and_dark(
    tmp_path: Path, browse: Callable[..., str], dark: bool
) -> None:
    written(stress_result(EVIL), tmp_path)
    options = ["--virtual-time-budget=10000"]
    options += ["--blink-settings=preferredColorScheme=0"] if dark else []
    text = browse((tmp_path / "load.html").as_uri(), *options)
    text = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    # Lines of the legend are drawn with h, those of data through points.
    lines = re.findall(r'class="js-line" [^>]*d="M[^"h]+"', text)
    assert len(lines) == 4  # latency; calls completed and failed; user data
    ground = plots.GROUNDS["dark" if dark else "light"]
    red, green, blue = (int(ground[i : i + 2], 16) for i in (1, 3, 5))
    assert f"rgb({red}, {green}, {blue})" in text
