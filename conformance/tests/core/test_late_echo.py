# SPDX-License-Identifier: GPL-2.0-or-later
"""T2: a DTE beyond the router that read Data before a reset may send it back after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import x25shark

pytestmark = pytest.mark.usefixtures("namespaces")


def test_it_is_not_a_fault_of_the_router(tmp_path: Path) -> None:
    where = ["--router", "reference-terminal", "--output", str(tmp_path / "report")]
    done = x25shark("run", "--own-namespace", *where, "--variant", "MAY-RST-01")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "report" / "results.json").read_text())["cases"]
    cases = {case["id"]: case for case in found}
    verdicts = {name: case["verdict"] for name, case in cases.items()}
    # Here the tester is not ready, so that the echo has to wait.
    assert verdicts["STATE-FC-g2-p_s_not_next"] == "PASS"
    assert verdicts["STATE-FC-g2-p_s_not_next_modulo_128"] == "PASS"
    assert not {"FAIL", "ERROR"} & {*verdicts.values()}
