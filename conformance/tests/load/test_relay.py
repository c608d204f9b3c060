# SPDX-License-Identifier: GPL-2.0-or-later
"""The relay command as a router of known capacity."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest
from x25shark.load.ends import both_ways
from x25shark.load.engine import Engine
from x25shark.load.options import OptionError

from .conftest import command, environment, free_port

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_one_rate_is_for_both_directions() -> None:
    assert both_ways("50") == (50.0, 50.0)
    assert both_ways("50,0") == (50.0, 0.0)
    for wrong in ("", "x", "1,2,3", "-1", "nan", "1e9"):
        with pytest.raises(OptionError, match="--rate"):
            both_ways(wrong)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rate", "fast"], "--rate 'fast'"),
        (["--stall", "2", "--stall-every", "1"], "stall_every_ms"),
        (["--mss", "9"], "--mss"),
        (["--overflow", "lose"], "--overflow"),
    ],
)
def test_bad_usage_is_one_clear_line(
    engine: Engine, x25shark: Run, arguments: list[str], words: str
) -> None:
    done = x25shark("relay", "127.0.0.1:0", "127.0.0.1:1", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_it_carries_what_it_is_told_and_says_what_it_dropped(engine: Engine) -> None:
    b = engine.responder({"listen": "127.0.0.1:0", "mode": "sink"})
    port = free_port("127.0.0.1")
    relay = subprocess.Popen(
        command("relay", f"127.0.0.1:{port}", f"127.0.0.1:{b.port}", "--rate", "50,0",
                "--queue", "3", "--overflow", "drop"),
        env=environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert relay.stdout is not None
    assert f"port {port}" in relay.stdout.readline()
    caller = engine.caller(
        {"connect": f"127.0.0.1:{port}", "calls": 1, "mode": "sink", "messages": 7, "window": 7,
         "message_length": [100, 100], "timeout_ms": 1000}
    )  # fmt: skip
    caller.result()
    relay.terminate()
    said, _ = relay.communicate(timeout=600)
    b.stop()
    # Seven at once: one is served, three wait, three find no room.
    assert "3 dropped because a queue was full" in said, said
    assert json.loads(b.result())["total"]["messages_verified"] == 4
