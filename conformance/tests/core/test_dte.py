# SPDX-License-Identifier: GPL-2.0-or-later
"""A DTE that only takes calls (addresses.accepts): every case that applies has a verdict."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from x25shark.profile import ProfileError, parse_profile

DTE = Path(__file__).with_name("dte.py")
SIDES = """
[xot]
router = "127.0.25.1"
a = "127.0.25.2"
[addresses]
"""
# What the profile says of some.
LACKS = {"interrupts-of-one-octet": ["P-INT32"]}


def results(tmp_path: Path, select: str, fault: str = "") -> dict[str, Any]:
    """What a run in a network namespace of its own says of it."""
    pid = tmp_path / "pid"
    dte = shlex.join([sys.executable, str(DTE), "127.0.25.1", str(pid), fault])
    start = f"{dte} & until [ -s {pid} ]; do sleep 0.05; done"
    profile = tmp_path / "dte.toml"
    profile.write_text(
        f'name = "a DTE"\nlacks = {json.dumps(LACKS.get(fault, []))}\n'
        f'{SIDES}accepts = "2"\n[times]\nreaction = 1\n[control]\n'
        f"start = {json.dumps(start)}\nstop = {json.dumps(f'kill $(cat {pid}); rm {pid}')}\n"
    )
    command = [sys.executable, "-c", "from x25shark.cli import main; main()", "run"]
    command += ["--router", str(profile), "--own-namespace", "--select", select]
    report = tmp_path / "report"
    command += ["--output", str(report)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1), done.stderr
    return dict(json.loads((report / "results.json").read_text()))


def test_a_right_one_passes(tmp_path: Path) -> None:
    found = results(tmp_path, "XOT-*,PLP-*,STATE-FC-*,STATE-C3-*,STATE-INT-*")
    verdicts = Counter(case["verdict"] for case in found["cases"])
    assert set(verdicts) == {"PASS", "NOT APPLICABLE", "NOT RUN"}, found["cases"]
    assert verdicts["PASS"] > 150


@pytest.mark.parametrize(
    ("habit", "select"),
    [
        ("interrupts", "XOT-HDR-1*,XOT-TCP-*,PLP-DATA-*,PLP-INT-*,PLP-RST-*,STATE-INT-*"),
        ("looks-at-numbers-first", "PLP-MALF-21"),
        ("interrupts-of-one-octet", "PLP-*,STATE-INT-*,XOT-TCP-*"),
    ],
)
def test_a_habit_is_no_fault(habit: str, select: str, tmp_path: Path) -> None:
    found = results(tmp_path, select, habit)["cases"]
    wrong = [c for c in found if c["verdict"] not in ("PASS", "NOT APPLICABLE", "NOT RUN")]
    assert wrong == [] and any(c["verdict"] == "PASS" for c in found)


@pytest.mark.parametrize(
    ("fault", "case"),
    [
        ("acknowledges-nothing", "PLP-FLOW-17"),
        ("confirms-no-interrupt", "PLP-DATA-01"),
        ("confirms-no-clear", "PLP-CLR-01"),
        ("keeps-numbers-after-reset", "PLP-RST-03"),
        ("ignores-window", "PLP-FLOW-18"),
        ("answers-errors-with-nothing", "PLP-FLOW-06"),
        ("acknowledges-behind-a-clear", "PLP-CLR-01"),
        ("acknowledges-too-much", "PLP-DATA-03"),
        ("acknowledges-too-little", "PLP-FLOW-17"),
        ("skips-a-number", "PLP-DATA-20"),
        ("takes-any-number", "PLP-DATA-06"),
        ("ignores-reset", "PLP-RST-01"),
        ("prompts-too-large", "PLP-DATA-21"),
        ("clears-as-out-of-order", "PLP-CALL-17"),
        ("clear-confirmed-with-cause", "PLP-CLR-17"),
        ("clear-confirmed-twice", "XOT-TCP-04"),
        ("reset-confirmed-with-cause", "PLP-FORM-01"),
        ("reset-confirmed-twice", "PLP-RST-01"),
        ("interrupt-confirmed-with-data", "PLP-FORM-01"),
        ("accepts-twice", "PLP-CALL-01"),
        ("accepts-with-user-data", "PLP-FORM-02"),
        ("accepts-with-no-digit", "PLP-FORM-01"),
        ("accepts-as-another", "PLP-CALL-49"),
        ("accepts-with-a-wrong-length", "PLP-FORM-01"),
        ("accepts-a-larger-size", "PLP-FAC-26"),
        ("accepts-a-larger-window", "PLP-FAC-26"),
        ("accepts-reverse-charging", "PLP-FORM-05"),
    ],
)
def test_a_wrong_one_fails(fault: str, case: str, tmp_path: Path) -> None:
    # PLP-FLOW-18 and PLP-FORM look at what the others made the DTE send.
    others = "XOT-TCP-24,PLP-RST-01,PLP-INT-04"
    cases = results(tmp_path, f"{case},{others}", fault)["cases"]
    (found,) = (c for c in cases if c["id"] == case)
    assert found["verdict"] == "FAIL", found["reason"]


def test_the_reason_names_the_packet_that_was_wrong(tmp_path: Path) -> None:
    """Not the Interrupts that ask whether Data was read."""
    (found,) = results(tmp_path, "STATE-FC-f1g1-p_s_not_next", "takes-any-number")["cases"]
    assert found["verdict"] == "FAIL"
    assert "sent Data LCI=1 P(S)=0" in found["reason"] and "Interrupt" not in found["reason"]


def test_neither_side_b_nor_an_address_that_answers() -> None:
    with pytest.raises(ProfileError, match=r"addresses: without xot\.b .* addresses\.accepts"):
        parse_profile(SIDES, "own.toml")
