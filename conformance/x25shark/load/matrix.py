# SPDX-License-Identifier: GPL-2.0-or-later
"""The throughput matrix (after BotBlox's measurement of the GigaBlox with iPerf).

A cell is one setting of TCP window, MSS, parallel connections, X.25 packet size and window, for so
long: as much as goes from A to B, and to B2 at the same time. Counted is user data that arrived
whole and right. Beside it stand the retransmissions, the computed ceiling and the control figure,
and whether each setting took effect: the original's jumbo frames silently had none.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import wire
from .bench import Gone, Interrupted
from .ceiling import user_data_share
from .engine import Engine, Side
from .measure import new_run, settle
from .options import LoadOptions
from .results import INTEGRITY, NEAR
from .target import Target
from .wording import count, plural

SEVEN = (
    (65_536, 1460, 1),
    (65_536, 8960, 1),
    (204_800, 1460, 1),
    (204_800, 8960, 1),
    (65_536, 1460, 5),
    (204_800, 1460, 5),
    (204_800, 8960, 5),
)
"""TCP window, MSS, parallel connections: the original's values of each axis, in seven tests."""
MESSAGE = 32_768
"""Octets of a message: sequences of full packets, whatever their size. The X.25 of Linux joins
65,535 at most, so that it could not echo one of 64 KB."""
_WARM = 0.3
"""Seconds at the start that do not count: calls are set up, TCP's windows open."""
_ENOUGH_PARTS = 5
_POLL = 0.1
_GRANTED = 0.7
"""From this share on a window counts as granted: the kernel keeps part of a buffer for itself."""
_TIMESTAMPS = 40
"""Octets of TCP options at most: a segment may fall short of the MSS by so much."""
_ENDLESS = 2**32 - 1


@dataclass(frozen=True)
class Setting:
    """One row of the matrix."""

    tcp_window: int
    mss: int
    parallel: int
    packet_size: int
    window: int

    @property
    def text(self) -> str:
        return (
            f"{self.tcp_window / 1024:g} KB, MSS {self.mss}, {self.parallel} x "
            f"{self.packet_size}/{self.window}"
        )


@dataclass(frozen=True)
class MatrixPlan:
    """What is done. Times in seconds; line_rate in bit/s."""

    settings: Sequence[Setting]
    seconds: float
    control: float
    line_rate: float | None
    packets: int
    captures: Path | None = None

    def expected(self) -> float:
        """Seconds that it should take."""
        return len(self.settings) * (self.seconds + self.control + 2.5)


@dataclass(frozen=True)
class Pair:
    """A calling and a called side; connect None: without a router, at where B listens."""

    name: str
    connect: str | None
    listen: str | None
    called: tuple[str, str]
    sources: tuple[str, ...] = ()


def pairs_of(target: Target) -> list[Pair]:
    """A to B, and to B2 where there is one."""
    first = Pair("A-B", target.connect, target.listen, target.called, target.sources)
    if target.second is None:
        return [first]
    listen, called = target.second
    return [first, Pair("A-B2", target.connect, listen, called, target.sources)]


@dataclass
class Load:
    """What both sides of a pair counted."""

    pair: Pair
    caller: dict[str, Any]
    responder: dict[str, Any] | None

    def parts(self) -> list[float]:
        """Mbit/s of user data that arrived, in each whole interval after the start."""
        counted = self.responder or self.caller
        step, began = counted["interval_ns"], counted["start_ns"]
        start = self.caller["start_ns"] + _WARM * 1e9
        return [
            float(interval["octets_received"]) * 8e3 / step
            for number, interval in enumerate(counted["timeline"])
            if began + number * step >= start
            and began + (number + 1) * step <= self.caller["end_ns"]
        ]

    def speed(self) -> float:
        """Mbit/s of user data; of a run that was too short for intervals, over all of it."""
        parts = self.parts()
        if len(parts) >= _ENOUGH_PARTS:
            return sum(parts) / len(parts)
        counted = self.responder or self.caller
        elapsed = int(self.caller["end_ns"]) - int(self.caller["start_ns"])
        return int(counted["total"]["octets_received"]) * 8e3 / max(elapsed, 1)

    def cpu_seconds(self) -> float:
        """Processor time of both sides."""
        sides = [side for side in (self.caller, self.responder) if side is not None]
        return sum(int(side["cpu_user_ns"]) + int(side["cpu_system_ns"]) for side in sides) / 1e9

    def retransmitted(self) -> int:
        """By TCP_INFO of the tester's own connections."""
        sides = [side for side in (self.caller, self.responder) if side is not None]
        return sum(int(side["tcp"]["retransmitted"]) for side in sides)


@dataclass
class Matrix:
    """Measures; what there is so far stays whatever happens."""

    engine: Engine
    options: LoadOptions
    target: Target
    plan: MatrixPlan
    folder: Path
    say: Callable[[str], None]
    cells: list[dict[str, Any]] = field(default_factory=list)

    def run(self) -> None:
        """All cells. Raises Gone where no call is connected, Interrupted after the cell at hand."""
        wanted = len(self.plan.settings)
        for number, setting in enumerate(self.plan.settings, 1):
            self.say(f"test {number}/{wanted}: {setting.text}")
            cell, interrupted = self._cell(number, setting)
            self.cells.append(cell)
            if interrupted:
                raise Interrupted
            if not connected(cell):
                failures = {k: n for pair in cell["pairs"] for k, n in pair["failures"].items()}
                raise Gone(", ".join(f"{n} x {k}" for k, n in failures.items()) or "no answer")
            if self.plan.control > 0:
                self.say(f"test {number}/{wanted}: the tester alone")
                self._control(cell, setting)

    def _load(self, setting: Setting, seconds: float) -> LoadOptions:
        return replace(
            self.options,
            circuits=setting.parallel,
            threads=min(self.options.threads, setting.parallel),
            duration=seconds,
            calls=None,
            packet_size=setting.packet_size,
            window=setting.window,
            shortest=MESSAGE,
            longest=MESSAGE,
            messages=_ENDLESS,
        )

    def _cell(self, number: int, setting: Setting) -> tuple[dict[str, Any], bool]:
        pairs = pairs_of(self.target)
        legs = ends_of(pairs)
        path = (self.plan.captures or self.folder) / f"test-{number}.pcapng"
        meter = self.target.meter()
        meter.start()
        began = time.monotonic()
        with wire.recorded(list(legs.values()), path, self.plan.packets) as recording:
            load = self._load(setting, self.plan.seconds)
            loads, interrupted = run_pairs(self.engine, load, pairs, setting)
        taken = time.monotonic() - began
        cpu = meter.stop()
        seen = wire.read(recording, legs)
        if self.plan.captures is None:
            path.unlink(missing_ok=True)
        router = cpu["router_seconds"]
        cell = vars(setting) | {
            "test": number,
            "seconds": min((one.caller["end_ns"] - one.caller["start_ns"]) / 1e9 for one in loads),
            "interrupted": interrupted,
            "pairs": [pair_result(one, seen) for one in loads],
            "speed": sum(one.speed() for one in loads),
            "capture": seen.as_dict(),
            "no_effect": without_effect(setting, loads, seen),
            "reasons": [reason for one in loads for reason in reasons_of(one)],
            "user_data_share": user_data_share(
                setting.mss, setting.packet_size, self.options.modulo
            ),
            "router_cpu": None if router is None else router / taken,
            "router_octets": cpu["router_octets"],
            "tester_cpu": sum(one.cpu_seconds() for one in loads) / taken,
        }
        return cell | self._ceiling(cell), interrupted

    def _ceiling(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Mbit/s that the line carries with all overheads; all pairs share A's line."""
        if self.plan.line_rate is None:
            return {"ceiling": None, "share_of_ceiling": None}
        ceiling = self.plan.line_rate / 1e6 * cell["user_data_share"]
        return {"ceiling": ceiling, "share_of_ceiling": cell["speed"] / ceiling}

    def _control(self, cell: dict[str, Any], setting: Setting) -> None:
        """The same without the router, at the same number of pairs."""
        alone = [
            Pair(pair.name, None, "127.0.0.1:0", ("2100001", "2100001"))
            for pair in pairs_of(self.target)
        ]
        loads, interrupted = run_pairs(
            self.engine.alone, self._load(setting, self.plan.control), alone, setting
        )
        cell["control"] = sum(one.speed() for one in loads)
        cell["share_of_control"] = cell["speed"] / cell["control"] if cell["control"] else None
        cell["tester_was_limit"] = (cell["share_of_control"] or 0) >= NEAR
        if interrupted:
            raise Interrupted


def connected(cell: Mapping[str, Any]) -> bool:
    """Whether any call of a test came about."""
    return any(pair["connected"] for pair in cell["pairs"])


def ends_of(pairs: Sequence[Pair]) -> dict[str, str]:
    """The ends by which the connections of each leg are known: "a", then "b" and "b2"."""
    legs = {"a": str(pairs[0].connect)}
    for pair in pairs:
        if pair.listen is not None and pair.listen not in legs.values():
            legs[pair.name[2:].lower()] = pair.listen
    return legs


@contextlib.contextmanager
def _started(
    engine: Engine, load: LoadOptions, pairs: Sequence[Pair], setting: Setting
) -> Iterator[list[tuple[Pair, Side, Side | None]]]:
    """Called sides first, then all calling sides at about the same moment."""
    tcp = {"mss": setting.mss, "buffers": setting.tcp_window}
    answering: list[tuple[Pair, Side | None, int]] = []
    sides: list[tuple[Pair, Side, Side | None]] = []
    try:
        for pair in pairs:
            run = new_run()
            responder = None
            if pair.listen is not None:
                responder = engine.responder(load.responder(pair.listen, run) | tcp)
            answering.append((pair, responder, run))
        for pair, responder, run in answering:
            connect = pair.connect or f"127.0.0.1:{responder.port if responder else 0}"
            # Without a called side of its own the tester counts what is echoed.
            one = load if responder is not None else replace(load, mode="echo", depth=2)
            caller = engine.caller(one.caller(connect, pair.called, run, pair.sources) | tcp)
            sides.append((pair, caller, responder))
        yield sides
    finally:
        for side in [caller for _, caller, _ in sides] + [r for _, r, _ in answering if r]:
            side.stop()


def run_pairs(
    engine: Engine, load: LoadOptions, pairs: Sequence[Pair], setting: Setting
) -> tuple[list[Load], bool]:
    """Load all pairs at the same time; what was counted, and whether it was interrupted."""
    interrupted = False
    with _started(engine, load, pairs, setting) as sides:
        for _, caller, _ in sides:
            while True:
                try:
                    if caller.wait(_POLL):
                        break
                except KeyboardInterrupt:
                    if interrupted:
                        raise
                    interrupted = True
                    for _, other, _ in sides:
                        other.stop()
        counted = [json.loads(caller.result()) for _, caller, _ in sides]
        interrupted |= settle()
    loads = []
    for (pair, _, responder), caller in zip(sides, counted, strict=True):
        called = json.loads(responder.result()) if responder is not None else None
        loads.append(Load(pair, caller, called))
    return loads, interrupted


def pair_result(load: Load, seen: wire.Seen) -> dict[str, Any]:
    """One pair as in load.json."""
    legs = _legs(load.pair, seen)
    by_tshark = sum(leg.tester.retransmitted + leg.router.retransmitted for leg in legs.values())
    segment = load.caller["tcp"]["segment"]
    return {
        "pair": load.pair.name,
        "speed": load.speed(),
        "parts": [round(part, 3) for part in load.parts()],
        "connected": int(load.caller["total"]["calls_connected"]),
        "failures": {k: int(n) for k, n in list(load.caller["failures"].items())[:50]},
        "retransmitted": {
            "tshark": None if seen.problem else by_tshark,
            "kernel": load.retransmitted(),
        },
        "segment": segment["max"] or None,
        "legs": {name: leg.as_dict() for name, leg in legs.items()},
    }


def _legs(pair: Pair, seen: wire.Seen) -> dict[str, wire.Leg]:
    """The legs of a pair that the capture has: leg a by the address called."""
    legs = {"a": seen.leg("a", pair.called)}
    name = pair.name[2:].lower()
    far = seen.leg(name)
    if far.connections:
        legs["b"] = far
    return legs


def standstill(load: Load) -> str:
    """In words that nothing arrived over calls that stood, or for the second half of the time and
    longer nothing any more; empty: data kept coming, or there was no call."""
    calls = int(load.caller["total"]["calls_connected"])
    if not calls:
        return ""
    if not load.speed():
        return f"nothing arrived over {plural(calls, 'call')} that stood"
    parts = load.parts()
    moved = max((number for number, part in enumerate(parts, 1) if part), default=0)
    still = (len(parts) - moved) * int(load.caller["interval_ns"]) / 1e9
    if len(parts) < _ENOUGH_PARTS or 2 * moved > len(parts):
        return ""
    return f"nothing arrived any more in the last {still:.1f} s"


def reasons_of(load: Load) -> Iterator[str]:
    """What is wrong with what arrived, or that it did not."""
    still = standstill(load)
    if still:
        yield f"{load.pair.name}: {still}"
    sides = [side for side in (load.caller, load.responder) if side is not None]
    for name in INTEGRITY:
        found = sum(int(side["total"][name]) for side in sides)
        if found:
            yield f"{load.pair.name}: {plural(found, name.replace('_', ' ').removesuffix('s'))}"
    failed = int(load.caller["total"]["calls_failed"])
    if failed:
        kinds = ", ".join(f"{n} x {kind}" for kind, n in list(load.caller["failures"].items())[:3])
        yield f"{load.pair.name}: {plural(failed, 'call')} failed: {kinds}"


# -- what took effect ---------------------------------------------------------------------------


def without_effect(setting: Setting, loads: Sequence[Load], seen: wire.Seen) -> list[str]:
    """In words, the settings that had no effect, each with what the wire shows instead."""
    found: list[str] = []
    for load in loads:
        legs = _legs(load.pair, seen)
        name = load.pair.name
        for words in (
            *_mss(setting, load, legs),
            *_tcp_window(setting, load, legs),
            *_x25(setting, load, legs),
            *_parallel(setting, load),
        ):
            found.append(f"{name}: {words}")
    return found


def _mss(setting: Setting, load: Load, legs: Mapping[str, wire.Leg]) -> Iterator[str]:
    asked = f"MSS {setting.mss} had no effect"
    for name, leg in legs.items():
        end = "A" if name == "a" else "B"
        for who, way in ((end, leg.tester), (f"the router to {end}", leg.router)):
            if way.mss and min(way.mss) < setting.mss:
                yield f"{asked}: {who} announces {min(way.mss)} in its SYN"
                return
    segment = int(load.caller["tcp"]["segment"]["max"])
    if 0 < segment < setting.mss - _TIMESTAMPS:
        yield f"{asked}: the kernel sends segments of {segment} at most"
    elif segment > setting.mss:
        yield f"{asked}: the kernel sends segments of {segment}"


def _tcp_window(setting: Setting, load: Load, legs: Mapping[str, wire.Leg]) -> Iterator[str]:
    """The receiver's window on each leg: the router's on leg a, B's on leg b."""
    asked = f"TCP window {count(setting.tcp_window)} had no effect"
    for name, leg in legs.items():
        way, who = (leg.router, "the router") if name == "a" else (leg.tester, "B")
        if 0 < way.advertised < _GRANTED * setting.tcp_window:
            yield f"{asked}: {who} grants {count(way.advertised)} at most"


def _x25(setting: Setting, load: Load, legs: Mapping[str, wire.Leg]) -> Iterator[str]:
    """By the Call Accepted that A got; the engine's own account where there is no capture."""
    negotiated = load.caller["negotiated"]
    for words, asked, shown, key in (
        ("packet size", setting.packet_size, legs["a"].packet_sizes, "packet_size_out"),
        ("window", setting.window, legs["a"].windows, "window_out"),
    ):
        agreed = set(shown)
        if negotiated[key]["max"]:
            agreed |= {negotiated[key]["min"], negotiated[key]["max"]}
        if agreed - {asked}:
            others = ", ".join(map(str, sorted(agreed)))
            yield f"{words} {asked} had no effect: {others} agreed"


def _parallel(setting: Setting, load: Load) -> Iterator[str]:
    connected = int(load.caller["total"]["calls_connected"])
    if connected < setting.parallel:
        yield f"{setting.parallel} parallel connections had no effect: {connected} connected"
