# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine, and a reference router on addresses of its own, for the tests of the load part."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from x25shark.load.engine import Engine, EngineMissingError, load_engine

ROOT = Path(__file__).parents[3]
HOST = "127.0.26.1"


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine; `make test` builds it. Who tests without it has to say so."""
    try:
        return load_engine()
    except EngineMissingError as error:
        if os.environ.get("X25SHARK_WITHOUT_ENGINE"):
            pytest.skip("X25SHARK_WITHOUT_ENGINE is set")
        pytest.fail(f"{error}\n(or set X25SHARK_WITHOUT_ENGINE=1 to leave these tests out)")


def free_port(host: str) -> int:
    """A port that nobody holds, below those of which the kernel chooses for other connections."""
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((host, random.randrange(10_000, 30_000)))
            return int(probe.getsockname()[1])


COLUMNS = 80
"""Of the terminal."""


def environment() -> dict[str, str]:
    paths = [str(ROOT / "conformance"), str(ROOT / "scapy_layers")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": str(COLUMNS)}


def command(*arguments: str) -> list[str]:
    """The load commands without the rest of x25shark."""
    code = (
        "import click; from x25shark.load.cli import commands; "
        "click.Group(commands={c.name: c for c in commands})()"
    )
    return [sys.executable, "-c", code, *arguments]


@pytest.fixture
def x25shark() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a load command to its end, in a terminal that is as narrow as any."""

    def run(*arguments: str, timeout: float = 900) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            env=environment(),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A profile of the reference router with channel range 1 to 255 on addresses of its own."""
    router, b = f"{HOST}:{free_port(HOST)}", f"127.0.26.3:{free_port('127.0.26.3')}"
    b2 = f"127.0.26.4:{free_port('127.0.26.4')}"
    (tmp_path / "small.router").write_text(
        f'listen = "{router}"\nsource = "{HOST}"\nmodel = "local"\nmax_calls = 255\n'
        f'[[route]]\nprefix = "21"\nto = "{b}"\n[[route]]\nprefix = "22"\nto = "{b2}"\n'
        '[[route]]\nprefix = "1111"\nto = "echo"\n',
        "utf-8",
    )
    path = tmp_path / "small.toml"
    path.write_text(
        'name = "small"\nembedded = "small.router"\n'
        f'[xot]\nrouter = "{router}"\na = "127.0.26.2"\nb = "{b}"\nb2 = "{b2}"\n'
        '[addresses]\na = "3100001"\nb = "2100001"\nb2 = "2200001"\necho = "1111"\n',
        "utf-8",
    )
    return path


@pytest.fixture
def load_json(tmp_path: Path) -> Callable[[], dict[str, Any]]:
    """What the command wrote into tmp_path / "out"."""

    def read() -> dict[str, Any]:
        result: dict[str, Any] = json.loads((tmp_path / "out" / "load.json").read_text("utf-8"))
        return result

    return read
