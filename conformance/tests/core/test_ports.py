# SPDX-License-Identifier: GPL-2.0-or-later
"""Sides on other TCP ports than 1998."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest
from x25shark.results import read_results
from x25shark.wireshark import command_for

from .conftest import x25shark

pytestmark = pytest.mark.usefixtures("namespaces")


def test_side_b_on_a_port_of_its_own(tmp_path: Path) -> None:
    profiles = resources.files("x25shark") / "profiles"
    router = (profiles / "reference.router").read_text("utf-8")
    (tmp_path / "own.router").write_text(router.replace("127.0.25.3:1998", "127.0.25.3:2998"))
    profile = (profiles / "reference.toml").read_text("utf-8")
    profile = profile.replace("reference.router", "own.router")
    own = profile.replace('b = "127.0.25.3"', 'b = "127.0.25.3:2998"')
    (tmp_path / "own.toml").write_text(own)
    arguments = ["--router", str(tmp_path / "own.toml"), "--output", str(tmp_path / "report")]
    cases = "XOT-TCP-02,PLP-DATA-01,PLP-CLR-01"
    done = x25shark("run", "--own-namespace", "--select", cases, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    results = read_results(tmp_path / "report" / "results.json")
    assert [case.verdict for case in results.cases] == ["PASS"] * 3
    with command_for("wireshark", tmp_path / "capture", None, results.run.xot_ports) as opened:
        settings = Path(opened[1]["WIRESHARK_CONFIG_DIR"]) / "profiles" / "x25shark"
        assert (settings / "preferences").read_text().endswith("\nxots.ports: 1998,2998\n")
