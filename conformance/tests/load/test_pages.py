# SPDX-License-Identifier: GPL-2.0-or-later
"""load.html and its plots: what they show, that hostile text is inert, how they look in a browser.

The last part needs Chromium (Debian package chromium).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from x25shark.load import figures, page, plots, results
from x25shark.load.chart import COLOURS, Axis, Plot, Series, drawn
from x25shark.load.options import LoadOptions
from x25shark.load.sweep import SweepPlan
from x25shark.report.inline import BASE_STYLE

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
    data, own = parser.scripts
    assert "alert(" not in own
    assert all(json.loads(data)), "every plot has series with points"
    legends = re.findall(r'<ul class="legend">(.*?)</ul>', text)
    assert len(legends) == 3
    assert all("&lt;/script&gt;" in legend for legend in legends)
    assert "alert(1)" in unescape(text)
    assert "\x1b" not in text


def test_the_page_allows_its_own_style_and_script_alone(tmp_path: Path) -> None:
    text = written(stress_result("x"), tmp_path)
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert found
    policy = dict(
        rule.strip().split(" ", 1) for rule in unescape(found[1]).split(";") if rule.strip()
    )
    assert policy["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-\S+'", policy["script-src"])
    assert re.fullmatch(r"'sha256-\S+'", policy["style-src"])


def test_a_page_of_a_long_run_is_light(tmp_path: Path) -> None:
    """An hour, every latency bucket filled, with a control run."""
    result = stress_result("x")
    caller = result["measurements"][0]["caller"]
    caller["timeline"] = caller["timeline"] * 1800
    caller["message"]["buckets"] = [[1000 * n, 1 + 10**6 // n] for n in range(1, 8000)]
    result["measurements"].append(result["measurements"][0] | {"name": "control"})
    assert len(written(result, tmp_path)) < 1_000_000


def test_percentile_curve_counts_every_value() -> None:
    x, y = plots.percentile_curve(BUCKETS)
    assert x == pytest.approx([2, 100, 200])
    assert y == [1, 2, 9]


def sweep_plots() -> list[Plot]:
    plan = SweepPlan([128, 4096], [1, 7], [1, 4])
    cells = [
        {"circuits": c, "packet_size": p, "window": w, "calls_in_20_s": p * w, "control": None}
        for c, p, w in plan.cells()
    ]
    return plots.sweep(cells)


def test_sweep_plots_have_the_published_axes() -> None:
    found = sweep_plots()
    assert [plot.title for plot in found] == [
        f"Calls in 20 s by {axis}, {circuits}"
        for circuits in ("1 circuit", "4 circuits")
        for axis in ("packet size", "window")
    ]
    by_size, by_window = found[0].series, found[1].series
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
    assert list(by_window.series[0].reach) == [(990, 1010), (1980, 2020)]
    assert "scaled from cells of 0.5 s" in by_size.caption
    assert drawn(by_window).drawing.count('class="errors"') == 1


def test_lines_that_are_far_apart_have_a_logarithmic_axis() -> None:
    def run(name: str, rate: int) -> dict[str, Any]:
        part = {"calls_completed": rate, "calls_failed": 0, "octets_received": rate}
        caller = {"interval_ns": 200_000_000, "timeline": [part] * 5}
        return {"name": name, "caller": caller}

    near = plots.over_time([run("router", 100), run("control", 900)])
    far = plots.over_time([run("router", 100), run("control", 1100)])
    assert not near[0].y.logarithmic
    assert far[0].y.logarithmic
    # Told apart without colour: by their dashes.
    assert len({series.dash for series in far[0].series}) == 2


def heights(plot: Plot) -> list[float]:
    """How far down the points of the first series lie in the drawing."""
    return [y for _, y, _ in drawn(plot).points[0]]


def test_points_lie_where_their_values_say() -> None:
    def at(y: list[float | None], axis: Axis) -> list[float]:
        return heights(Plot("", "", [Series("", list(range(len(y))), y)], Axis(""), axis))

    ground, middle, top = at([0, 50, 100], Axis(""))
    assert middle == pytest.approx((ground + top) / 2, abs=1)
    low, middle, high = at([1, 10, 100], Axis("", logarithmic=True))
    assert middle == pytest.approx((low + high) / 2, abs=1)
    # What has no logarithm lies on the ground; a gap is no point.
    assert at([0, 10, None], Axis("", logarithmic=True))[0] > low
    assert len(at([1, None, 2], Axis(""))) == 2


@pytest.mark.parametrize("values", [[], [0], [5], [1e-9, 1e12], [3, 3, 3]])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_any_values_can_be_drawn(values: list[float], logarithmic: bool) -> None:
    axis = Axis("", logarithmic=logarithmic)
    for kind in ("line", "marks", "bars", "levels"):
        names = [str(n) for n in range(len(values))]
        for x in (names, list(range(len(values)))):
            text = drawn(Plot("", "", [Series("", x, values, kind=kind)], Axis(""), axis)).drawing
            assert "nan" not in text
            assert "inf" not in text


def test_bars_of_error_are_inside_the_drawing() -> None:
    """That of a bar of a stack too, which stands on those before it."""
    for kind in ("line", "bars"):
        pair = [Series("", ["one"], [10.0], kind=kind, reach=[(5.0, 40.0)]) for _ in range(2)]
        text = drawn(Plot("", "", pair, Axis(""), Axis(""))).drawing
        ends = re.findall(r'd="M[\d.]+,([\d.]+)V([\d.]+)M', text)
        assert len(ends) == 2
        assert all(0 < float(high) < float(low) < 370 for low, high in ends)


def test_bars_of_a_category_stand_on_each_other() -> None:
    pair = [Series(name, ["one"], [10.0], kind="bars") for name in ("first", "second")]
    first, second = drawn(Plot("", "", pair, Axis(""), Axis(""))).points
    ground = heights(Plot("", "", [Series("", ["one"], [0.0]), *pair], Axis(""), Axis("")))[0]
    assert ground - second[0][1] == pytest.approx(2 * (ground - first[0][1]), abs=2)


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


def declared(file: Path, name: str) -> list[str]:
    """The colours that a style sheet gives a name."""
    found = re.findall(rf"--{name}: ([^;]+);", file.read_text("utf-8"))
    return [colour for value in found for colour in re.findall(r"#[0-9a-f]{6}", value)]


GROUNDS = declared(BASE_STYLE, "card")
LINES = declared(page.TEMPLATES / "load.css", "s")


def test_there_are_as_many_colours_as_are_used() -> None:
    assert len(set(LINES)) == len(LINES) == COLOURS
    assert len(GROUNDS) == 2


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("colour", LINES)
def test_every_line_stands_out_from_its_ground(colour: str, ground: str) -> None:
    low, high = sorted((luminance(colour), luminance(ground)))
    assert (high + 0.05) / (low + 0.05) >= 3


def test_a_line_can_be_put_out_and_back(tmp_path: Path, browse: Callable[..., str]) -> None:
    """The script runs under the page's own policy."""
    written(stress_result(EVIL), tmp_path)
    text = browse((tmp_path / "load.html").as_uri(), "--virtual-time-budget=10000")
    assert text.count('aria-checked="true"') == 4  # latency; calls completed, failed; user data
