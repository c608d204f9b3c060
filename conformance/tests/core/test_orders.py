# SPDX-License-Identifier: GPL-2.0-or-later
"""No verdict depends on the order of the cases.

The router is a faulty one with few channels of which the profile says nothing: there a refused
call was excused by the calls of whichever case had run before.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import environment
from .run_in_orders import CASES, CAUGHT_BY, ORDERS

pytestmark = pytest.mark.usefixtures("namespaces")

SCRIPT = Path(__file__).with_name("run_in_orders.py")


def test_fifty_cases_in_ten_orders(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    by_case: dict[str, list[str]] = {}
    for case, verdict in json.loads(done.stdout):
        by_case.setdefault(case, []).append(verdict)
    assert len(by_case) == CASES
    assert {len(verdicts) for verdicts in by_case.values()} == {ORDERS}
    assert set(by_case[CAUGHT_BY]) == {"FAIL"}
    assert {case: found for case, found in by_case.items() if len(set(found)) > 1} == {}
