# SPDX-License-Identifier: GPL-2.0-or-later
"""The set-up of an experiment: two hosts, two gateways, two access lines, a router between them.

    host A - gateway A - line A - router - line B - gateway B - host B

The lines are relays of the engine with rate, delay, queue and loss. The router's side of line B has
the address that the profile calls xot.b: to the router, line and gateway are the tester's side B.
The embedded router may have the lines at its own interfaces: what stands in their place then only
counts, and makes the faults of line A.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from ..load.engine import Engine, GatewaySide, RelaySide
from ..load.options import OptionError
from ..load.target import open_target, router_line
from ..profile import AccessLine, Emulation, LineDirection, load_profile
from ..results import write_whole
from ..tied import tied
from .hosts import Host, Link, host, program

ADDRESSES = {4: ("10.88.0.1/24", "10.88.0.2/24"), 6: ("fd88::1/64", "fd88::2/64")}
MOST_CIRCUITS = 10
_LINE_A = "127.0.88.1:1998"
_GATEWAY_B = "127.0.88.2:1998"
_RELAY = "127.0.0.1"
"""Whom the router takes line A for: a relay does not choose its address."""
_Side = TypeVar("_Side", GatewaySide, RelaySide)


@dataclass(frozen=True)
class Line:
    """One access line, the same in both directions. rate: bit/s; delay: seconds, one way."""

    rate: int = 56_000
    delay: float = 0.072
    queue_packets: int = 0
    queue_octets: int = 0
    loss: float = 0.0
    framing: str = "xot"
    overflow: str = "hold"

    def at_router(self, at: str, seed: int) -> str:
        """For the reference router, at its interface to the peer `at`."""
        way = LineDirection(
            rate=self.rate, delay=self.delay * 1000, queue=self.queue_packets,
            queue_octets=self.queue_octets, loss=self.loss,
        )  # fmt: skip
        made = AccessLine.model_validate(
            {"framing": self.framing, "overflow": self.overflow, "to_router": way, "to_tester": way}
        )
        return router_line(at, made, seed)

    def configuration(self, seed: int) -> dict[str, Any]:
        """For the engine's relay."""
        direction = {
            "rate": self.rate,
            "delay_ms": self.delay * 1000,
            "queue_packets": self.queue_packets,
            "queue_octets": self.queue_octets,
            "loss": self.loss,
        }
        return {
            "directions": [direction, direction],
            "framing": self.framing,
            "overflow": self.overflow,
            "seed": seed,
        }


def line_of_profile(emulation: Emulation) -> Line:
    """The line of [emulation]. Raises OptionError: the model knows one for all four directions."""
    first = emulation.a
    if first is None or emulation.b != first or first.to_router != first.to_tester:
        raise OptionError(
            "emulation: x25shark ip has one model for both lines, so emulation.a and emulation.b "
            "have to be the same, each with to_router as to_tester; or give --rate and --delay"
        )
    way = first.to_router
    return Line(
        way.rate, way.delay / 1000, way.queue, way.queue_octets, way.loss, first.framing,
        first.overflow,
    )  # fmt: skip


@dataclass(frozen=True)
class Conditions:
    """Everything that a figure depends on. Times are seconds."""

    line: Line = field(default_factory=Line)
    packet_size: int = 128
    window: int = 2
    modulo: int = 8
    circuits: int = 1
    mtu: int = 576
    encapsulation: str = "nlpid"
    ip_version: int = 4
    idle: float = 90.0
    hold_down: float = 10.0
    tcp_window: int = 4096
    end_to_end: bool = False
    """The router passes windows on: the far gateway opens them."""
    lines_at: Literal["relay", "router"] = "relay"
    faults: tuple[tuple[str, Any], ...] = ()
    """Faults of the relay that is line A, by name."""
    seed: int = 1

    def with_circuits(self, number: int) -> Conditions:
        return replace(self, circuits=number)

    @property
    def loses(self) -> bool:
        """Whether the lines lose what a host sends."""
        faults = any(value for name, value in self.faults if name != "seed")
        return faults or self.line.loss > 0 or self.line.overflow == "drop"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"faults": dict(self.faults)}


class Lab:
    """The running set-up. a and b are the hosts; gateways those of the engine."""

    def __init__(
        self,
        hosts: tuple[Host, Host],
        gateways: tuple[GatewaySide, GatewaySide],
        lines: tuple[RelaySide, RelaySide],
        conditions: Conditions,
    ) -> None:
        self.a, self.b = hosts
        self._before = [host.counters() for host in hosts]
        self._gateways = gateways
        self._lines: tuple[RelaySide, ...] = lines
        self.conditions = conditions
        own, peer = ADDRESSES[conditions.ip_version]
        self.address_a, self.address_b = own.partition("/")[0], peer.partition("/")[0]

    def counted(self) -> list[dict[str, Any]]:
        """What both gateways have counted so far."""
        return [json.loads(gateway.snapshot()) for gateway in self._gateways]

    def carried(self) -> list[dict[str, Any]]:
        """What line A has carried towards the router, and back."""
        return cast(list[dict[str, Any]], json.loads(self._lines[0].carried()))

    def finish(self) -> dict[str, Any]:
        """End gateways and lines; everything they and the hosts counted."""
        hosts = [
            {name: number - before.get(name, 0) for name, number in host.counters().items()}
            for host, before in zip((self.a, self.b), self._before, strict=True)
        ]
        for gateway in self._gateways:  # all first: what one ends, the other has not lost
            gateway.stop()
        gateways = [json.loads(gateway.result()) for gateway in self._gateways]
        lines = [json.loads(line.result()) for line in self._lines]
        self._lines = ()  # an engine's relay listens for as long as somebody has it
        return {
            "hosts": dict(zip("ab", hosts, strict=True)),
            "gateways": dict(zip("ab", gateways, strict=True)),
            "lines": lines,
        }


def _gateway(conditions: Conditions, tun: int, own: str, peer: str, far: str) -> dict[str, Any]:
    return {
        "tun": tun,
        "address": own,
        "peers": [{"address": peer, "prefixes": [f"{far}/{32 if '.' in far else 128}"]}],
        "circuits": conditions.circuits,
        "encapsulation": conditions.encapsulation,
        "modulo": conditions.modulo,
        "packet_size": conditions.packet_size,
        "window": conditions.window,
        "mtu": conditions.mtu,
        "idle_ms": round(conditions.idle * 1000),
        "hold_down_ms": round(conditions.hold_down * 1000),
    }


@contextlib.contextmanager
def hosts_of(conditions: Conditions) -> Iterator[tuple[Host, Host]]:
    """Both namespaces. They are made before any thread is, so that fork(2) is safe."""
    own, peer = ADDRESSES[conditions.ip_version]
    more = (conditions.mtu, conditions.tcp_window or None, MOST_CIRCUITS, conditions.loses)
    with host(Link(own, peer, *more)) as a, host(Link(peer, own, *more)) as b:
        yield a, b


@contextlib.contextmanager
def lab(
    engine: Engine,
    conditions: Conditions,
    hosts: tuple[Host, Host],
    router: str | None,
    faults: Sequence[str] = (),
) -> Iterator[Lab]:
    """Everything but the hosts, which several labs one after another may share."""
    at_router, line = router_lines(conditions, router), conditions.line
    if at_router:
        line = Line(0, 0.0, framing=line.framing)
    with (
        open_target(router, None, None, None, faults=faults, lines=at_router) as target,
        contextlib.ExitStack() as s,
    ):
        if target.listen is None or target.profile is None:
            raise OptionError(
                f"profile {target.name} has no side B: the calls have to end somewhere"
            )
        caller = target.profile.addresses.a
        relayed = line.configuration(conditions.seed)
        relays: dict[str, dict[str, Any]] = {
            "a": {"listen": _LINE_A, "connect": target.connect, "faults": dict(conditions.faults)},
            "b": {"listen": target.listen, "connect": _GATEWAY_B},
        }
        line_a, line_b = (
            s.enter_context(_ended(engine.relay(r | {"line": relayed}))) for r in relays.values()
        )
        own, peer = (text.partition("/")[0] for text in ADDRESSES[conditions.ip_version])
        a, b = hosts
        for_a = _gateway(conditions, a.tun, caller, target.called[0], peer)
        for_b = _gateway(conditions, b.tun, target.called[0], caller, own)
        gateway_b = s.enter_context(
            _ended(engine.gateway(for_b | {"listen": _GATEWAY_B, "calls": False}))
        )
        gateway_a = s.enter_context(_ended(engine.gateway(for_a | {"connect": _LINE_A})))
        yield Lab(hosts, (gateway_a, gateway_b), (line_a, line_b), conditions)


def router_lines(conditions: Conditions, router: str | None) -> list[str]:
    """The lines that the embedded router has at its own interfaces."""
    if conditions.lines_at == "relay":
        return []
    profile = load_profile(router or "reference")
    if profile.xot_end.b is None:
        return []  # said where the router is opened
    ends = (_RELAY, profile.xot_end.b[0])
    return [conditions.line.at_router(end, conditions.seed) for end in ends]


@contextlib.contextmanager
def _ended(side: _Side) -> Iterator[_Side]:
    try:
        yield side
    finally:
        side.stop()
        # A result that was taken already is an error of no interest here.
        with contextlib.suppress(RuntimeError):
            side.result()


@contextlib.contextmanager
def captured(path: Path | None) -> Iterator[None]:
    """All XOT of the experiment in a capture. None: no capture."""
    if path is None:
        yield
        return
    dumpcap = program("dumpcap", "wireshark-common")
    process = subprocess.Popen(
        [*tied(), dumpcap, "-q", "-i", "lo", "-f", "tcp port 1998", "-w", str(path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        for text in process.stderr:
            if text.startswith("File:"):
                break
        else:
            raise OptionError(f"no capture: dumpcap ended with status {process.wait()}")
        yield
    finally:
        process.terminate()
        process.communicate()


def write_json(path: Path, result: dict[str, Any]) -> None:
    """In one step: a reader never sees half a file."""
    write_whole(path, json.dumps(result, indent=1, allow_nan=False) + "\n")
