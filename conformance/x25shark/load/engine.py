# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine is an optional distribution: this module finds it or says what to install."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from typing import Any, Protocol, cast

GET_ENGINE = (
    "In the source tree: ci/setup engine. Beside a wheel of x25shark, that of the same release: "
    "pipx inject x25shark x25shark_engine-*.whl"
)


class EngineMissingError(Exception):
    """The engine is not installed; the message says how to get it."""


class Side(Protocol):
    """A calling or called side at work: its threads run until the end or until stop()."""

    @property
    def port(self) -> int: ...
    def snapshot(self) -> str: ...
    def samples(self) -> str: ...
    def release(self) -> None: ...
    def stop(self) -> None: ...
    def wait(self, seconds: float) -> bool: ...
    def result(self) -> str: ...


class Clock(Protocol):
    """The schedule of a trial: called sides of a process find it by the number of the run."""

    def arrived(self) -> int: ...
    def is_over(self, elsewhere: int) -> bool: ...


class RelaySide(Protocol):
    """A relay at work."""

    @property
    def port(self) -> int: ...
    def carried(self) -> str: ...
    def stop(self) -> None: ...
    def result(self) -> str: ...


class GatewaySide(Protocol):
    """A gateway between IP and X.25 at work."""

    @property
    def port(self) -> int: ...
    def snapshot(self) -> str: ...
    def stop(self) -> None: ...
    def result(self) -> str: ...


class FloodSide(Protocol):
    """Impolite callers at work."""

    def stop(self) -> None: ...
    def result(self) -> str: ...


class Engine:
    """What x25shark_engine offers, with configurations as mappings."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.version = str(module.__version__)

    @property
    def module(self) -> Any:
        """The extension module itself."""
        return self._module

    @property
    def alone(self) -> Engine:
        """For control runs, without a router: several testers may have another."""
        return self

    @property
    def testers(self) -> dict[str, Any] | None:
        """What load.json says of several testers; None: this process alone."""
        return None

    def caller(self, configuration: Mapping[str, object]) -> Side:
        """Start calling. Raises ValueError with the field at fault."""
        return cast(Side, self._module.Caller(json.dumps(configuration)))

    def responder(self, configuration: Mapping[str, object]) -> Side:
        """Start answering; it listens when this returns."""
        return cast(Side, self._module.Responder(json.dumps(configuration)))

    def clock(self, configuration: Mapping[str, object]) -> Clock:
        """The schedule of a trial whose calling sides are other processes."""
        return cast(Clock, self._module.TrialClock(json.dumps(configuration)))

    def flood(self, configuration: Mapping[str, object]) -> FloodSide:
        """Start impolite callers."""
        return cast(FloodSide, self._module.Flood(json.dumps(configuration)))

    def gateway(self, configuration: Mapping[str, object]) -> GatewaySide:
        """Start a gateway on a TUN device; it listens when this returns."""
        return cast(GatewaySide, self._module.Gateway(json.dumps(configuration)))

    def relay(self, configuration: Mapping[str, object]) -> RelaySide:
        """Start relaying; it listens when this returns."""
        return cast(RelaySide, self._module.Relay(json.dumps(configuration)))


def load_engine() -> Engine:
    """The engine. Raises EngineMissingError."""
    try:
        module = importlib.import_module("x25shark_engine")
    except ImportError as error:
        raise EngineMissingError(
            f"the load engine is not installed ({error}).\n"
            f"{GET_ENGINE}\n"
            "It is built with Rust 1.89 or later; into an environment of your own:  "
            "pip install ./conformance/engine"
        ) from None
    return Engine(module)
