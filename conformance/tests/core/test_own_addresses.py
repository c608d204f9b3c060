# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses that the machine lacks are named, all at once, with the command to type."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from x25shark.cli import main
from x25shark.links import own_addresses
from x25shark.links.xot import LinkError


def test_every_loopback_address_is_there() -> None:
    own_addresses.demand(["127.0.0.1", "127.0.25.77"], "127.0.0.1")


def test_all_that_are_missing_are_named() -> None:
    with pytest.raises(LinkError) as caught:
        own_addresses.demand(["192.0.2.10", "127.0.0.1", "192.0.2.11", "192.0.2.10"], "192.0.2.1")
    said = str(caught.value)
    assert "not an address of this machine: 192.0.2.10, 192.0.2.11." in said
    assert said.count("sudo ip addr add") == 2
    assert "ip route get 192.0.2.1)" in said


def test_a_run_ends_with_them_in_one_line(tmp_path: Path) -> None:
    profile = tmp_path / "own.toml"
    profile.write_text(
        'relay_model = "local"\npics = []\n[xot]\nrouter = "192.0.2.1"\na = "192.0.2.10"\n'
        'b = "192.0.2.11"\n[addresses]\na = "31"\nb = "21"\n'
    )
    done = CliRunner().invoke(main, ["check", str(profile)])
    assert done.exit_code == 2
    assert "192.0.2.10, 192.0.2.11" in done.output
