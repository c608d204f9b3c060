# SPDX-License-Identifier: GPL-2.0-or-later
"""T2: a DTE beyond the router that read Data before a reset may send it back after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import cases_against_reference

pytestmark = pytest.mark.usefixtures("namespaces")

PROFILE = """name = "a DTE that sends back late"
embedded = "mine.router"
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
    cases = cases_against_reference(tmp_path, PROFILE, manners="late_echo = true")
    verdicts = {name: case["verdict"] for name, case in cases.items()}
    # Here the tester is not ready, so that the echo has to wait.
    assert verdicts["STATE-FC-g2-p_s_not_next"] == "PASS"
    assert verdicts["STATE-FC-g2-p_s_not_next_modulo_128"] == "PASS"
    assert not {"FAIL", "ERROR"} & {*verdicts.values()}
    # The profile does not declare PVCs, which this router has, and nothing but that case minds.
    assert [c for c, found in verdicts.items() if found == "INCONCLUSIVE"] == ["XOT-PVC-16"]
