# SPDX-License-Identifier: GPL-2.0-or-later
"""One measurement: sides started, progress shown, results collected, whatever happens."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..interrupts import interrupts
from .engine import Engine, Side
from .options import LoadOptions
from .processor import CpuMeter
from .target import Target

Progress = Callable[[Mapping[str, Any], float], None]
"""Called a few times per second with the counters so far and the seconds since the start."""

_POLL = 0.2
SETTLE = 0.15
"""Time the called side gets to see the last connections end."""
_SETTLE_TRIAL = 0.02
"""The same after a trial: its calls were cleared in order, and there are many trials."""


@dataclass(frozen=True)
class Measurement:
    """Raw results of one measurement; `caller` and `responder` are the engine's (see README)."""

    name: str
    caller: dict[str, Any]
    responder: dict[str, Any] | None
    cpu: dict[str, float | None]
    interrupted: bool
    run: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "run": self.run,
            "interrupted": self.interrupted,
            "caller": self.caller,
            "responder": self.responder,
            "cpu": self.cpu,
        }


def new_run() -> int:
    """A number that marks the records of one measurement, so that strange ones stand out."""
    return secrets.randbits(32) or 1


def _watch(side: Side, progress: Progress | None) -> bool:
    """Wait for the end; Ctrl-C asks for an orderly one. Whether it was interrupted."""
    started = time.monotonic()
    interrupted = False
    while True:
        try:
            if side.wait(_POLL):
                return interrupted
            if progress is not None:
                progress(json.loads(side.snapshot()), time.monotonic() - started)
        except KeyboardInterrupt:
            if interrupted:
                raise
            interrupted = True
            side.stop()


def settle(seconds: float = SETTLE) -> bool:
    """Let the called side see the last connections end; whether an interrupt came meanwhile.

    The results are there already: it is for the caller to go no further.
    """
    try:
        time.sleep(seconds)
    except KeyboardInterrupt:
        return True
    return interrupts.asked


def measure(
    engine: Engine,
    options: LoadOptions,
    target: Target,
    progress: Progress | None = None,
    name: str = "router",
    more: Mapping[str, object] | None = None,
    trial: Mapping[str, object] | None = None,
) -> Measurement:
    """Load the target; the tester answers too where the target says so. Raises ValueError.

    more: what else the engine's calling side is told. trial: in place of messages and rates, see
    the engine's trial.rs.
    """
    run, interrupted = new_run(), False
    responder = engine.responder(options.responder(target.listen, run)) if target.listen else None
    try:
        meter = target.meter()
        meter.start()
        load = options.caller(target.connect, target.called, run, target.sources)
        caller = engine.caller(load | dict(more or {}) | {"trial": trial})
        interrupted = _watch(caller, progress)
        calling = json.loads(caller.result())
        cpu = meter.stop()
    finally:
        called = None
        if responder is not None:
            interrupted |= settle(SETTLE if trial is None else _SETTLE_TRIAL)
            responder.stop()
            called = json.loads(responder.result())
    return Measurement(name, calling, called, cpu, interrupted, run)


def measure_control(
    engine: Engine,
    options: LoadOptions,
    progress: Progress | None = None,
    relay: bool = False,
    trial: Mapping[str, object] | None = None,
) -> Measurement:
    """The same load without the router: the tester against itself, over loopback.

    With relay the octets take one more hop, as they do through a router.
    """
    engine = engine.alone
    run, interrupted = new_run(), False
    responder = engine.responder(options.responder("127.0.0.1:0", run))
    hop = None
    try:
        connect = f"127.0.0.1:{responder.port}"
        if relay:
            hop = engine.relay({"listen": "127.0.0.1:0", "connect": connect})
            connect = f"127.0.0.1:{hop.port}"
        meter = CpuMeter(None)
        meter.start()
        load = options.caller(connect, ("2100001", "2100001"), run)
        caller = engine.caller(load | {"trial": trial})
        interrupted = _watch(caller, progress)
        calling = json.loads(caller.result())
        cpu = meter.stop()
    finally:
        if hop is not None:
            hop.stop()
        interrupted |= settle(SETTLE if trial is None else _SETTLE_TRIAL)
        responder.stop()
        called = json.loads(responder.result())
    return Measurement("control", calling, called, cpu, interrupted, run)
