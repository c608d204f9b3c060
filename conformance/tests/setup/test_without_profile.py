# SPDX-License-Identifier: GPL-2.0-or-later
"""A router without a profile, and the reference router without a configuration."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from x25shark.profile import ProfileError, load_profile, parse_profile
from x25shark.setup.routers import KINDS, Plan
from x25shark.setup.without_profile import write_profile

# None of these addresses is this machine's.
_written = partial(write_profile, here=False)


def test_addresses_alone_make_a_profile_that_stays(tmp_path: Path) -> None:
    path, told = _written("192.0.2.1:2000", "192.0.2.10", "192.0.2.11", tmp_path)
    assert path.name == "x25shark-192.0.2.1.toml"
    assert "calls to 21... go by XOT to 192.0.2.11" in told
    profile = load_profile(str(path))
    assert profile.configurations == ("T1",)
    assert profile.xot_a == ("192.0.2.10", 1998)
    assert _written("192.0.2.1:2000", "192.0.2.10", "192.0.2.11", tmp_path)[0] == path
    with pytest.raises(ProfileError, match="already exists and differs"):
        _written("192.0.2.1:2000", "192.0.2.12", "192.0.2.11", tmp_path)


def test_without_side_b_the_router_answers(tmp_path: Path) -> None:
    path, _ = _written("192.0.2.1", "192.0.2.10", None, tmp_path)
    assert load_profile(str(path)).configurations == ("T2",)


@pytest.mark.parametrize("a", [None, "here", "1.2.3", '1.2.3.4"\n[control]'])
def test_what_is_no_address_leaves_no_file(a: str | None, tmp_path: Path) -> None:
    with pytest.raises(ProfileError):
        write_profile("192.0.2.1", a, None, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_addresses_that_this_machine_lacks_leave_no_file(tmp_path: Path) -> None:
    """It would be in the way of the run with the right ones."""
    with pytest.raises(ProfileError, match=r"not an address of this machine: 192\.0\.2\.10, "):
        write_profile("127.0.27.1", "192.0.2.10", "192.0.2.11", tmp_path)
    assert list(tmp_path.iterdir()) == []
    path, _ = write_profile("127.0.27.1", "127.0.27.2", "127.0.27.3", tmp_path)
    assert load_profile(str(path)).configurations == ("T1",)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("127.0.27.1:1998", None, "--a and --address are both"),
        ("127.0.27.2", "127.0.27.1", "--b and --address are both"),
        ("127.0.27.2", "127.0.27.2", "--b and --a are both"),
    ],
)
def test_no_two_ends_are_one(a: str, b: str | None, said: str, tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=said):
        write_profile("127.0.27.1", a, b, tmp_path)
    assert list(tmp_path.iterdir()) == []


# X.121 addresses of A and B.
_PAIRS = [("3100001", "2100001"), ("3100001", "3100002"), ("31", "3100002"), ("3100001", "310")]


@pytest.mark.parametrize("pair", _PAIRS)
@pytest.mark.parametrize("kind", ["reference", "goxot", "cisco-ios", "other"])
def test_calls_to_either_side_go_there(kind: str, pair: tuple[str, str]) -> None:
    """By the longest prefix, and by the first in the order in which they are printed."""
    plan = Plan("192.0.2.1", "192.0.2.10", "192.0.2.11", *pair, "1111", "local")
    text = KINDS[kind].configuration(plan)
    patterns = {
        "reference": r'prefix = "(\d+)"\nto = "([\d.]+):1998"',
        "goxot": r'"prefix": "(\d+)/\d+",\s+"ip": "([\d.]+)"',
        "cisco-ios": r"x25 route \^(\d+) xot ([\d.]+)",
        "other": r"calls to (\d+)\.\.\. go by XOT to ([\d.]+)",
    }
    routes = re.findall(patterns[kind], text)
    assert len(routes) == 2
    for called, wanted in zip(pair, (plan.a, plan.b), strict=True):
        fitting = [route for route in routes if called.startswith(route[0])]
        assert fitting[0][1] == wanted
        assert max(fitting, key=lambda route: len(route[0]))[1] == wanted


def test_goxot_gets_its_servers_in_the_order_that_counts() -> None:
    plan = Plan("192.0.2.1", "192.0.2.10:2001", "192.0.2.11", "3100001", "2100001", "1111", "local")
    text = KINDS["goxot"].configuration(plan)
    assert json.loads(text[text.index("{") :]) == {
        "servers": [
            {"prefix": "21/2", "ip": "192.0.2.11", "port": 1998},
            {"prefix": "31/2", "ip": "192.0.2.10", "port": 2001},
        ]
    }


OWN = """
import subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
from x25shark.reference.__main__ import main
sys.exit(main(["--stop-on-eof"]))
"""


def test_the_router_alone_says_the_profile_for_it() -> None:
    """In a network namespace of its own: its addresses are always the same."""
    command = ["unshare", "-rn", sys.executable, "-c", OWN]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    if done.returncode and "unshare" in done.stderr:
        pytest.skip("no network namespace can be had here")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["listen"] == "127.0.25.1:1998"
    profile = parse_profile(done.stderr, "standard error")
    assert profile.embedded is None
    assert profile.declared >= {"P-MOD128", "F-FS", "G-MIB"}
    assert profile.counters is not None
    assert profile.counters.url == f"http://{json.loads(done.stdout)['http']}/"
