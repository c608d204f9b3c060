# SPDX-License-Identifier: GPL-2.0-or-later
"""[emulation]: access lines in front of a router. What they carried is counted, never timed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from x25shark.ip.lab import line_of_profile
from x25shark.load.emulation import emulated, line_of
from x25shark.load.engine import Engine
from x25shark.load.options import OptionError
from x25shark.load.target import Target, lines_at_router
from x25shark.profile import ProfileError, parse_profile
from x25shark.reference.__main__ import BUILT_IN
from x25shark.reference.config import load
from x25shark.reference.emulation import Way

Run = Callable[..., subprocess.CompletedProcess[str]]
Result = Callable[[], dict[str, Any]]
BASE = """
[xot]
router = "127.0.0.1:9"
a = "127.0.0.1"
b = "127.0.0.1"
[addresses]
b = "21"
"""
SLOW = "{ rate = 56000, delay = 72 }"
BOTH = "".join(
    f"[emulation.{side}]\nto_router = {SLOW}\nto_tester = {SLOW}\n" for side in ("a", "b")
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[emulation]\nc = {}", "line 9: emulation.c: unknown key"),
        ("[emulation.a]\nto_router = { rat = 1 }", "emulation.a.to_router.rat: unknown key; did"),
        ("[emulation.a.to_router]\nrate = -1", "line 9: emulation.a.to_router.rate: "),
        ("[emulation.a.to_router]\nloss = 1.5", "line 9: emulation.a.to_router.loss: "),
        ("[emulation.b.to_tester]\ndelay = 1e9", "line 9: emulation.b.to_tester.delay: "),
        ("[emulation.b]\nframing = 'ppp'", "line 9: emulation.b.framing: 'ppp' is not allowed"),
        ("[emulation]\nat = 'tester'", "line 9: emulation.at: 'tester' is not allowed"),
        ("[emulation]\nat = 'router'", "emulation.at: only the embedded reference router"),
    ],
)
def test_what_is_wrong_is_said_with_its_key(text: str, says: str) -> None:
    with pytest.raises(ProfileError) as caught:
        parse_profile(BASE + text, "own.toml")
    assert says in str(caught.value)


def test_a_line_needs_its_side() -> None:
    text = BASE.replace('b = "127.0.0.1"\n', "").replace('b = "21"', 'echo = "11"')
    with pytest.raises(ProfileError, match=r"emulation\.b: xot\.b is missing"):
        parse_profile(text + "[emulation.b]\nframing = 'hdlc'", "own.toml")


def test_directions_are_those_of_who_opens_the_connection() -> None:
    text = "[emulation.b]\noverflow = 'drop'\nto_router = { rate = 1 }\nto_tester = { rate = 2 }"
    line = parse_profile(BASE + text, "own.toml").emulation.b
    assert line is not None
    for from_tester, rates in ((True, [1, 2]), (False, [2, 1])):
        made = line_of(line, from_tester=from_tester)
        assert [way["rate"] for way in made["directions"]] == rates
        assert made["overflow"] == "drop"


def test_the_lines_stand_in_front_of_the_router(engine: Engine) -> None:
    target = Target("router", "127.0.0.1:9", "127.0.0.1:0", ("21", "21"))
    with emulated(engine, target, parse_profile(BASE, "own.toml")) as same:
        assert same == target
    with emulated(engine, target, parse_profile(BASE + BOTH, "own.toml")) as behind:
        assert behind.connect not in (target.connect, "")
        assert behind.listen not in (target.listen, None)


def test_the_experiments_have_one_model() -> None:
    line = line_of_profile(parse_profile(BASE + BOTH, "own.toml").emulation)
    assert (line.rate, line.delay) == (56000, 0.072)
    for text in (
        BOTH.replace("56000", "9600", 1),
        BOTH[: BOTH.index("[emulation.b]")],
        BOTH + "framing = 'hdlc'\n",
    ):
        with pytest.raises(OptionError, match=r"emulation\.a and emulation\.b"):
            line_of_profile(parse_profile(BASE + text, "own.toml").emulation)


def test_the_embedded_router_takes_the_lines_of_its_profile(engine: Engine) -> None:
    text = BASE.replace("[xot]", 'embedded = "reference.router"\n[xot]', 1)
    text += "[emulation]\nat = 'router'\n[emulation.b]\nframing = 'hdlc'\noverflow = 'drop'\n"
    text += f"to_router = {SLOW}\nto_tester = {{ rate = 9600, queue = 3, loss = 0.00001 }}\n"
    profile = parse_profile(text, "own.toml")
    (line,) = lines_at_router(profile)
    (found,) = load(BUILT_IN, [line]).emulations
    assert (found.at, found.framing, found.overflow) == ("127.0.0.1", "hdlc", "drop")
    assert found.towards == Way(56_000, 0.072)
    assert found.away == Way(9600, 0.0, 3, 0, 0.00001)
    target = Target("router", "127.0.0.1:9", "127.0.0.1:0", ("21", "21"))
    with emulated(engine, target, profile) as same:
        assert same == target
    # A profile without the key leaves them to the relays.
    assert lines_at_router(parse_profile(BASE + BOTH, "own.toml")) == []


@pytest.mark.parametrize("at", ["relay", "router"])
def test_a_load_runs_over_the_lines(
    engine: Engine, x25shark: Run, profile: Path, tmp_path: Path, load_json: Result, at: str
) -> None:
    """A message passes both lines, and cannot arrive sooner than they let it."""
    way = "{ delay = 30 }"
    lines = [f"[emulation.{at}]\nto_router = {way}\nto_tester = {way}\n" for at in ("a", "b")]
    profile.write_text(profile.read_text() + f'[emulation]\nat = "{at}"\n' + "".join(lines))
    words = ("-N", "2", "-n", "10", "--late", "60000", "--control", "0")
    done = x25shark("stress", "--router", str(profile), *words, "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stdout + done.stderr
    caller = load_json()["measurements"][0]["caller"]
    assert caller["total"]["calls_completed"] == 10
    # Five calls one after another on each circuit; of each the set-up and the message go there and
    # back, and pass both lines each time.
    assert caller["end_ns"] - caller["began_ns"] >= 5 * 2 * 4 * 30_000_000
