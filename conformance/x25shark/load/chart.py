# SPDX-License-Identifier: GPL-2.0-or-later
"""A plot as SVG inside a page: light and dark by the page's own colours, told apart without colour.

A plot is data (Plot, Series, Axis); drawn() makes the drawing, its legend, and its points with the
words that load.js shows beside the pointer. Without a script all but those words is there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from ..report.text import one_line
from .wording import count

COLOURS = 7
"""How many there are; load.css has them."""
_WIDTH, _HEIGHT = 640, 370
_TOP, _BOTTOM, _SIDE = 14, 52, 16
_CHARACTER = 7.5
_MOST_MARKS = 12
_LONGEST_NAME = 80
_FAR_APART = 10
_FEW_DECADES = 2
_MANY_DECADES = 8
# Circle, square, diamond, triangles, cross, hourglass and pentagon about the origin.
_MARKS = (
    "M-4,0a4,4 0 1 0 8,0a4,4 0 1 0 -8,0z",
    "M-3.6,-3.6h7.2v7.2h-7.2z",
    "M0,-5l5,5l-5,5l-5,-5z",
    "M0,-5l5,8.6h-10z",
    "M0,5l5,-8.6h-10z",
    "M-1.5,-5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
    "M-4.5,-4.5h9l-9,9h9z",
    "M0,-5l4.8,3.5l-1.8,5.6h-6l-1.8,-5.6z",
)


@dataclass(frozen=True)
class Series:
    """Points of one name. kind: line, marks alone, bars (those of a plot are stacked), or levels
    (a stroke over each category). A y of None is a gap."""

    name: str
    x: Sequence[float | str]
    y: Sequence[float | None]
    colour: int = 0
    unit: str = ""
    dash: str = "solid"
    mark: int | None = None
    """None: the colour's own; -1: no marks."""
    kind: str = "line"
    reach: Sequence[tuple[float, float] | None] = ()
    """From where to where each value may lie."""
    right: bool = False
    notes: Sequence[str] = ()
    """Words for each point, in place of its x and y."""

    def reaches(self) -> list[tuple[float | str, float, float, float]]:
        """Where a bar of error stands: x, y and its two ends."""
        points = zip(self.x, self.y, self.reach, strict=True) if self.reach else ()
        return [(x, y, *ends) for x, y, ends in points if ends is not None and y is not None]


@dataclass(frozen=True)
class Axis:
    """ticks: places and words in place of those that are found; top: its end in place of the
    largest value's."""

    title: str
    logarithmic: bool = False
    ticks: Mapping[float, str] = field(default_factory=dict)
    top: float | None = None


@dataclass(frozen=True)
class Plot:
    """One plot with its words; shaded: a range of x."""

    title: str
    caption: str
    series: Sequence[Series]
    x: Axis
    y: Axis
    right: Axis | None = None
    shaded: tuple[float, float] | None = None


def far_apart(series: Sequence[Series]) -> bool:
    """Whether the lower of them would lie on the ground of a linear axis."""
    middles = [sorted(y)[len(y) // 2] for s in series if (y := [v for v in s.y if v])]
    return len(middles) > 1 and max(middles) >= _FAR_APART * min(middles)


def number(value: float) -> str:
    """A value of an axis or of a point in few digits."""
    return count(value) if abs(value) >= 1000 else f"{value:.4g}"


@dataclass(frozen=True)
class _Scale:
    """From values to where they lie, and the values that are written at the axis."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool
    ticks: Mapping[float, str]

    def at(self, value: float) -> float:
        """What a logarithmic axis cannot have lies on its ground."""
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(max(value, self.low))
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def _linear(low: float, high: float) -> list[float]:
    """Round values between these, about six."""
    step = 10.0 ** math.floor(math.log10((high - low) / 5))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 6)
    return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten between these, with 2 and 5 times them where there are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors = (1, 2, 5) if math.log10(high / low) <= _FEW_DECADES else (1,)
    step = 1 + (last - first) // _MANY_DECADES
    found = [10.0**n * factor for n in range(first, last + 1, step) for factor in factors]
    return [value for value in found if low <= value <= high]


def _scale(axis: Axis, values: Sequence[float], start: float, end: float, grounded: bool) -> _Scale:
    """grounded: a linear axis begins with 0."""
    if axis.logarithmic:
        positive = [v for v in values if v > 0] or [1.0]
        low, high = min(positive) / 1.25, max(positive) * 1.25
        found = _decades(low, high)
    else:
        low, high = min(values, default=0.0), max(values, default=1.0)
        if grounded:
            low = min(low, 0.0)
            high = axis.top or low + ((high - low) or 1.0) * 1.05
        else:
            edge = 0.03 * ((high - low) or 1.0)
            low, high = low - edge, high + edge
        found = _linear(low, high)
    ticks = axis.ticks or {value: number(value) for value in found}
    ticks = {value: words for value, words in ticks.items() if low <= value <= high}
    return _Scale(low, high, start, end, axis.logarithmic, ticks)


def _categories(series: Sequence[Series]) -> dict[str, int]:
    """The words of a category axis in the order in which they come; empty: x are numbers."""
    found: dict[str, int] = {}
    for each in series:
        for x in each.x:
            if isinstance(x, str):
                found.setdefault(x, len(found))
    return found


def _tag(name: str, inside: str = "", **attributes: object) -> Markup:
    words = "".join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), Markup(words), inside)


def _at(value: float) -> str:
    """A coordinate: a tenth of a pixel is enough."""
    return f"{value:.1f}".removesuffix(".0")


class _Drawing:
    """One plot while it is drawn."""

    def __init__(self, plot: Plot) -> None:
        self.plot = plot
        self.categories = _categories(plot.series)
        self.stacked: dict[float, float] = {}
        ground = _HEIGHT - _BOTTOM
        left = [s for s in plot.series if not s.right]
        self.y = _scale(plot.y, self._heights(left), ground, _TOP, grounded=True)
        begin = self._room(self.y)
        end = float(_WIDTH - _SIDE)
        self.right: _Scale | None = None
        if plot.right is not None:
            right = [s for s in plot.series if s.right]
            self.right = _scale(plot.right, self._heights(right), ground, _TOP, grounded=True)
            end = _WIDTH - self._room(self.right)
        if self.categories:
            most = len(self.categories) - 0.5
            ticks = {float(n): words for words, n in self.categories.items()}
            self.x = _Scale(-0.5, most, begin, end, logarithmic=False, ticks=ticks)
        else:
            places = [self._place(x) for s in plot.series for x in s.x]
            self.x = _scale(plot.x, places, begin, end, grounded=False)

    def _room(self, scale: _Scale) -> float:
        """What the words of an axis at the side need, with its title."""
        return 36 + _CHARACTER * max((len(words) for words in scale.ticks.values()), default=1)

    def _place(self, x: float | str) -> float:
        return float(self.categories[x]) if isinstance(x, str) else float(x)

    def _heights(self, series: Sequence[Series]) -> list[float]:
        """Every value that has to be seen: tops of stacks and of bars of error among them."""
        found: list[float] = []
        sums: dict[float | str, float] = {}
        for each in series:
            stands = dict(sums) if each.kind == "bars" else {}
            found += [stands.get(x, 0.0) + end for x, _, *ends in each.reaches() for end in ends]
            for x, y in zip(each.x, each.y, strict=True):
                if y is not None and each.kind == "bars":
                    sums[x] = sums.get(x, 0.0) + y
                elif y is not None:
                    found.append(y)
        return found + list(sums.values())

    def _grid(self) -> Markup:
        begin, end = _at(self.x.start), _at(self.x.end)
        ground = _HEIGHT - _BOTTOM
        lines, words = [], []
        for value, text in self.y.ticks.items():
            at = _at(self.y.at(value))
            lines.append(f"M{begin},{at}H{end}")
            words.append(_tag("text", text, x=_at(self.x.start - 8), y=at, class_="at-left"))
        for value, text in (self.right.ticks if self.right else {}).items():
            at = _at(self.right.at(value)) if self.right else ""
            words.append(_tag("text", text, x=_at(self.x.end + 8), y=at, class_="at-right"))
        if not self.categories:
            lines += [f"M{_at(self.x.at(v))},{_TOP}V{ground}" for v in self.x.ticks]
        step = 1 + len(self.x.ticks) * 60 // (_WIDTH - 100) if self.categories else 1
        for value, text in list(self.x.ticks.items())[::step]:
            words.append(_tag("text", text, x=_at(self.x.at(value)), y=ground + 19, class_="below"))
        middle = _at((_TOP + ground) / 2)
        titles = [
            (self.plot.x.title, _at((self.x.start + self.x.end) / 2), _HEIGHT - 8, None),
            (self.plot.y.title, "14", middle, -90),
            (self.plot.right.title if self.plot.right else "", _at(_WIDTH - 10.0), middle, 90),
        ]
        for text, x, y, turned in titles:
            turn = {} if turned is None else {"transform": f"rotate({turned} {x} {y})"}
            if text:
                words.append(_tag("text", text, x=x, y=y, class_="title", **turn))
        return _tag("path", d="".join(lines), class_="rules") + Markup("").join(words)

    def _shade(self) -> Markup:
        if self.plot.shaded is None:
            return Markup("")
        first, last = (self.x.at(value) for value in self.plot.shaded)
        return _tag(
            "rect", x=_at(first), y=_TOP, width=_at(last - first), height=_HEIGHT - _BOTTOM - _TOP,
            class_="shade",
        )  # fmt: skip

    def _bars(self, series: Series) -> tuple[list[Markup], list[tuple[float, float] | None]]:
        found: list[Markup] = []
        tops: list[tuple[float, float] | None] = []
        half = (self.x.at(1) - self.x.at(0)) * 0.3
        for x, y in zip(series.x, series.y, strict=True):
            place, below = self._place(x), self.stacked.get(self._place(x), 0.0)
            self.stacked[place] = below + (y or 0.0)
            top, foot = self.y.at(self.stacked[place]), self.y.at(below)
            at = self.x.at(place)
            found.append(
                _tag(
                    "rect",
                    x=_at(at - half),
                    y=_at(top),
                    width=_at(2 * half),
                    height=_at(foot - top),
                )
            )
            tops.append((at, top))
        return found, tops

    def _levels(self, points: Sequence[tuple[float, float] | None]) -> list[Markup]:
        half = (self.x.at(1) - self.x.at(0)) * 0.4
        strokes = [f"M{_at(x - half)},{_at(y)}h{_at(2 * half)}" for x, y in filter(None, points)]
        return [_tag("path", d="".join(strokes), class_="level")]

    def _line(self, points: Sequence[tuple[float, float] | None]) -> Markup:
        """A path; points that fall upon the one before are left out, None is a gap."""
        words: list[str] = []
        before: tuple[str, str] | None = None
        for point in points:
            if point is None:
                before = None
                continue
            at = (_at(point[0]), _at(point[1]))
            if at != before:
                words.append(f"{'M' if before is None else 'L'}{at[0]},{at[1]}")
            before = at
        return _tag("path", d="".join(words), class_="line")

    def _errors(self, series: Series, scale: _Scale) -> list[Markup]:
        strokes = []
        for x, y, low, high in series.reaches():
            place = self._place(x)
            # A bar of a stack stands on those before it.
            below = self.stacked[place] - y if series.kind == "bars" else 0.0
            at, ends = self.x.at(place), [scale.at(below + end) for end in (low, high)]
            strokes.append(f"M{_at(at)},{_at(ends[0])}V{_at(ends[1])}")
            strokes += [f"M{_at(at - 5)},{_at(end)}h10" for end in ends]
        return [_tag("path", d="".join(strokes), class_="errors")] if strokes else []

    def series(self, series: Series) -> tuple[Markup, list[list[Any]]]:
        """One of them, and its points: x, y, words."""
        scale = self.right if series.right and self.right else self.y
        points: list[tuple[float, float] | None] = [
            None if y is None else (self.x.at(self._place(x)), scale.at(y))
            for x, y in zip(series.x, series.y, strict=True)
        ]
        if series.kind == "bars":
            drawn, points = self._bars(series)
            drawn += self._errors(series, scale)
        elif series.kind == "levels":
            drawn = self._levels(points)
        else:
            drawn = [self._line(points)] if series.kind == "line" else []
            drawn += self._errors(series, scale)
            seen = [point for point in points if point is not None]
            # A few marks on a line of many points are enough to tell it from others.
            step = 1 if series.kind == "marks" else max(1, math.ceil(len(seen) / _MOST_MARKS))
            shape = _mark(series)
            drawn += [
                _tag("path", d=shape, transform=f"translate({_at(x)} {_at(y)})", class_="mark")
                for x, y in seen[::step]
                if shape
            ]
        group = _tag("g", Markup("").join(drawn), class_=_classes(series))
        told = [
            [round(point[0]), round(point[1]), self._words(series, at)]
            for at, point in enumerate(points)
            if point is not None
        ]
        return group, told

    def _words(self, series: Series, at: int) -> str:
        if series.notes:
            return series.notes[at]
        x, y = series.x[at], series.y[at]
        unit = f" {series.unit}" if series.unit else ""
        where = x if isinstance(x, str) else number(x)
        return f"{number(y or 0.0)}{unit} at {where} {self.plot.x.title}".rstrip()

    def whole(self) -> tuple[Markup, list[list[list[Any]]]]:
        groups, told = [], []
        for each in self.plot.series:
            group, points = self.series(each)
            groups.append(group)
            told.append(_thinned(points))
        drawing = self._shade() + self._grid() + Markup("").join(groups)
        return (
            _tag(
                "svg", drawing, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img",
                aria_label=one_line(self.plot.title, _LONGEST_NAME),
            ),
            told,
        )  # fmt: skip


def _thinned(points: list[list[Any]]) -> list[list[Any]]:
    """Without those that lie where the one before does."""
    return points[:1] + [now for before, now in pairwise(points) if now[:2] != before[:2]]


def _mark(series: Series) -> str:
    wanted = series.colour if series.mark is None else series.mark
    return "" if wanted < 0 else _MARKS[wanted % len(_MARKS)]


def _classes(series: Series) -> str:
    return f"series {series.kind} s{series.colour % COLOURS} {series.dash}"


def _swatch(series: Series) -> Markup:
    """What stands before a name in the legend."""
    if series.kind == "bars":
        inside = _tag("rect", x=6, y=1, width=22, height=12)
    else:
        mark = _mark(series) if series.kind in ("line", "marks") else ""
        stroke = {"line": "line", "levels": "level"}.get(series.kind)
        inside = (_tag("path", d="M0,7H34", class_=stroke) if stroke else Markup("")) + (
            _tag("path", d=mark, transform="translate(17 7)", class_="mark") if mark else ""
        )
    return _tag("svg", _tag("g", inside, class_=_classes(series)), viewBox="0 0 34 14")


@dataclass(frozen=True)
class Drawn:
    """A plot for the page: its words, its drawing, its legend, and the points for the pointer."""

    title: str
    caption: str
    drawing: Markup
    legend: Sequence[tuple[Markup, str]]
    points: Sequence[Any]


def drawn(plot: Plot) -> Drawn:
    """The plot; a name may be a stranger's."""
    drawing, points = _Drawing(plot).whole()
    legend = [(_swatch(series), one_line(series.name, _LONGEST_NAME)) for series in plot.series]
    # A line does not break inside a number.
    caption = re.sub(r"(?<=\d) (?=\d{3}\b)", "\N{NO-BREAK SPACE}", plot.caption)
    return Drawn(plot.title, caption, drawing, legend, points)
