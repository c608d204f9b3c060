# SPDX-License-Identifier: GPL-2.0-or-later
"""The suite against the gateway itself: the kernel's IP answers there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from .conftest import Ip, command

PROFILE = """
name = "gateway"
[xot]
router = "127.0.26.1"
a = "127.0.26.2"
[addresses]
a = "31"
ip = "21"
[ip]
router = "10.25.0.1"
tester = "10.25.0.2"
encapsulations = ["null", "snap"]
mtu = 1500
[capture]
interface = "lo"
"""
GATEWAY = (
    *("--address", "10.25.0.1/24", "--calling", "21", "--peer", "31=10.25.0.2/32"),
    *("--connect", "127.0.26.2", "--listen", "127.0.26.1"),
)


def test_the_gateway_passes(ip: Ip, tmp_path: Path) -> None:
    """Both in a namespace of the test's own, so that ports and loopback are theirs."""
    (tmp_path / "own.toml").write_text(PROFILE)
    run = [sys.executable, "-m", "x25shark.start", "run", "--router", str(tmp_path / "own.toml")]
    script = tmp_path / "both"
    gateway, suite = " ".join(command("up", *GATEWAY)), " ".join(run)
    script.write_text(
        "ip link set lo up\n"
        f"{gateway} > {tmp_path}/up & up=$!\n"
        f"until grep -q namespace {tmp_path}/up; do kill -0 $up || exit 9; sleep 0.1; done\n"
        f"{suite} --output {tmp_path}/report; status=$?\n"
        "kill -INT $up; wait $up; exit $status\n"
    )
    done = subprocess.run(
        ["unshare", "-rn", "sh", str(script)],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    cases = json.loads((tmp_path / "report" / "results.json").read_text())["cases"]
    ran = {case["id"]: case["verdict"] for case in cases if case["id"].startswith("IP-ENC")}
    assert len(ran) >= 13
    assert set(ran.values()) <= {"PASS", "NOT RUN", "NOT APPLICABLE"}
    assert list(ran.values()).count("PASS") >= 13
