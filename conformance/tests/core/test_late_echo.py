# SPDX-License-Identifier: GPL-2.0-or-later
"""T2: a DTE beyond the router that read Data before a reset may send it back after it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

from .conftest import x25shark

pytestmark = pytest.mark.usefixtures("namespaces")

PROFILES = resources.files("x25shark") / "profiles"
PROFILE = """name = "a DTE that sends back late"
embedded = "late.router"
pics = ["P-MOD128", "P-DBIT", "P-MIXMOD"]
diagnostics = "exact"

[xot]
router = "127.0.25.1"
a = "127.0.25.2"

[addresses]
a = "3100001"
echo = "1111"
no_route = "9990001"
"""


def test_it_is_no_fault_of_the_router(tmp_path: Path) -> None:
    router = (PROFILES / "reference.router").read_text("utf-8")
    (tmp_path / "late.router").write_text(f"{router}\n[manners]\nlate_echo = true\n", "utf-8")
    (tmp_path / "late.toml").write_text(PROFILE, "utf-8")
    report = tmp_path / "report"
    done = x25shark(
        "run", "--own-namespace", "--router", str(tmp_path / "late.toml"), "--output", str(report)
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    cases = json.loads((report / "results.json").read_text())["cases"]
    verdicts = {case["id"]: case["verdict"] for case in cases}
    # Here the tester is not ready, so that the echo has to wait.
    assert verdicts["STATE-FC-g2-p_s_not_next"] == "PASS"
    assert verdicts["STATE-FC-g2-p_s_not_next_modulo_128"] == "PASS"
    assert not {"FAIL", "ERROR"} & {*verdicts.values()}
    # The profile does not declare PVCs, which this router has, and nothing but that case minds.
    assert [c for c, found in verdicts.items() if found == "INCONCLUSIVE"] == ["XOT-PVC-16"]
