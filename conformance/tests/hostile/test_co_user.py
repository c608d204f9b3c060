# SPDX-License-Identifier: GPL-2.0-or-later
"""Who else uses the machine changes no verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from x25shark.links import owners
from x25shark.links.owners import Owners
from x25shark.profile import load_profile

# Calls from both sides, silence, connections of the router, and the whole run.
CASES = "XOT-HDR-0*,PLP-CALL-0*,PLP-CALL-22,PLP-RST-0*,XOT-TCP-0*,PLP-CLR-17"
ROUTER, LISTENER, REMOTE = ("127.0.0.1", 1998), ("127.0.0.2", 1998), ("127.0.0.1", 40000)


@pytest.mark.skipif(os.geteuid() != 0, reason="the other user is made by leaving root")
def test_forged_markers_and_connections_change_no_verdict(tmp_path: Path) -> None:
    text = load_profile("reference").text + '\n[capture]\nnamespace = "host"\n'
    (tmp_path / "own.toml").write_text(text)
    found = {}
    for name, command in (
        ("alone", [sys.executable, "-m", "x25shark.start"]),
        ("beside", [sys.executable, str(Path(__file__).with_name("co_user.py"))]),
    ):
        router = "reference" if name == "alone" else str(tmp_path / "own.toml")
        report = tmp_path / name
        done = subprocess.run(
            [*command, "run", "--router", router, "--select", CASES, "--output", str(report)],
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        document = json.loads((report / "results.json").read_text())
        found[name] = {case["id"]: case["verdict"] for case in document["cases"]}
        notes = " ".join(document["run"]["notes"])
        assert ("connections to the tester were not the router's" in notes) is (name == "beside")
    assert found["alone"] == found["beside"]


@pytest.mark.parametrize(
    ("peer", "router", "ours", "strange"),
    [
        (1001, 1000, False, True),
        (1000, 1000, False, False),
        (1001, 0, False, False),
        (1001, None, False, False),
        (1001, 0, True, True),
        (None, 1000, False, False),
        (0, 1000, False, False),
        (500, 1000, False, False),
    ],
    ids=["another user", "the router's", "a router that left root", "the router's is not known",
         "another than ours", "closed already", "root", "the tester's own"],
)  # fmt: skip
def test_whose_a_connection_is(
    monkeypatch: pytest.MonkeyPatch,
    peer: int | None,
    router: int | None,
    ours: bool,
    strange: bool,
) -> None:
    users = {REMOTE: peer, ROUTER: router}
    monkeypatch.setattr(owners, "_owner", lambda local, _remote: users.get(local))
    assert Owners(ROUTER, 500, ours=ours).stranger(LISTENER, REMOTE) is strange


def test_with_others_about_an_unknown_connection_is_not_the_routers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    users: dict[tuple[str, int], int | None] = {REMOTE: None, ROUTER: 1000}
    monkeypatch.setattr(owners, "_owner", lambda local, _remote: users.get(local))
    found = Owners(ROUTER, 500, ours=False)
    assert not found.stranger(LISTENER, REMOTE)
    users[REMOTE] = 1001
    assert found.stranger(LISTENER, REMOTE)
    users[REMOTE] = None
    assert found.stranger(LISTENER, REMOTE)


def test_a_router_elsewhere_does_not_connect_from_here() -> None:
    elsewhere = Owners(("192.0.2.1", 1998), 500, ours=False)
    assert elsewhere.stranger(LISTENER, REMOTE)
    assert not elsewhere.stranger(LISTENER, ("192.0.2.1", 40000))
