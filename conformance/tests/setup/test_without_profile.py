# SPDX-License-Identifier: GPL-2.0-or-later
"""A router without a profile, and the reference router without a configuration."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from x25shark.profile import ProfileError, load_profile, parse_profile
from x25shark.setup.routers import KINDS, Plan
from x25shark.setup.without_profile import write_profile


def test_addresses_alone_make_a_profile_that_stays(tmp_path: Path) -> None:
    path, told = write_profile("192.0.2.1:2000", "192.0.2.10", "192.0.2.11", tmp_path)
    assert path.name == "x25shark-192.0.2.1.toml"
    assert "calls to 21... go by XOT to 192.0.2.11" in told
    profile = load_profile(str(path))
    assert profile.configurations == ("T1",)
    assert profile.xot_a == ("192.0.2.10", 1998)
    assert write_profile("192.0.2.1:2000", "192.0.2.10", "192.0.2.11", tmp_path)[0] == path
    with pytest.raises(ProfileError, match="already exists and differs"):
        write_profile("192.0.2.1:2000", "192.0.2.12", "192.0.2.11", tmp_path)


def test_without_side_b_the_router_answers(tmp_path: Path) -> None:
    path, _ = write_profile("192.0.2.1", "192.0.2.10", None, tmp_path)
    assert load_profile(str(path)).configurations == ("T2",)


@pytest.mark.parametrize("a", [None, "here", "1.2.3", '1.2.3.4"\n[control]'])
def test_what_is_no_address_leaves_no_file(a: str | None, tmp_path: Path) -> None:
    with pytest.raises(ProfileError):
        write_profile("192.0.2.1", a, None, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_goxot_gets_its_servers_in_the_order_that_counts() -> None:
    plan = Plan("192.0.2.1", "192.0.2.10:2001", "192.0.2.11", "3100001", "2100001", "1111")
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
