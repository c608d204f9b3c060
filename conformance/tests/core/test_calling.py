# SPDX-License-Identifier: GPL-2.0-or-later
"""A DTE that only calls (control.call): every case that applies has a verdict."""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from x25shark.profile import ProfileError, parse_profile

from .conftest import x25shark

DTE = Path(__file__).with_name("calling.py")
SIDES = """
name = "a DTE"
[xot]
router = "127.0.25.1"
a = "127.0.25.2"
"""


def results(tmp_path: Path, select: str, call: str) -> list[dict[str, Any]]:
    """The cases of a run in a network namespace of its own."""
    profile = tmp_path / "caller.toml"
    profile.write_text(
        f'{SIDES}[addresses]\na = "31"\n[times]\nreaction = 1\ndial = 5\nt21 = 4\n'
        f"[control]\ncall = {json.dumps(call)}\n"
    )
    report = tmp_path / "report"
    where = ["--router", str(profile), "--output", str(report)]
    done = x25shark("run", "--own-namespace", *where, "--select", select)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1, 3), done.stderr
    found: list[dict[str, Any]] = json.loads((report / "results.json").read_text())["cases"]
    return found


def dte(fault: str = "") -> str:
    return f"{shlex.join([sys.executable, str(DTE), '127.0.25.2'])} {{address}} {fault}"


@pytest.mark.usefixtures("namespaces")
def test_a_right_one_passes(tmp_path: Path) -> None:
    # Python starts for each call, so that all 85 take minutes.
    cases = results(tmp_path, "PLP-OUT,PLP-RST,PLP-CLR,PLP-INT,PLP-FORM", dte())
    verdicts = Counter(case["verdict"] for case in cases)
    wrong = [c for c in cases if c["verdict"] not in ("PASS", "NOT APPLICABLE", "NOT RUN")]
    assert wrong == []
    assert verdicts["PASS"] > 35


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize(
    ("fault", "case"),
    [
        ("calls-without-window", "PLP-OUT-02"),
        ("calls-with-size-twice", "PLP-OUT-02"),
        ("calls-with-window-0", "PLP-OUT-02"),
        ("calls-with-a-wrong-length", "PLP-FORM-01"),
        ("prompts-ahead-of-the-answer", "PLP-OUT-01"),
        ("gives-up-for-a-restart", "PLP-OUT-12"),
        ("leaves-a-refusal", "PLP-OUT-07"),
        ("accepts-while-it-calls", "PLP-OUT-13"),
        ("takes-early-data", "PLP-OUT-10"),
        ("connects-whatever-comes", "PLP-OUT-05"),
        ("ignores-window", "PLP-FLOW-18"),
        ("keeps-numbers-after-reset", "PLP-RST-03"),
    ],
)
def test_a_wrong_one_fails(fault: str, case: str, tmp_path: Path) -> None:
    cases = results(tmp_path, f"{case},PLP-RST-01,PLP-INT-04", dte(fault))
    (found,) = (c for c in cases if c["id"] == case)
    assert found["verdict"] == "FAIL", found["reason"]


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("no-such-command {address}", "control.call ended with status 127: "),
        ("echo {address} is busy >&2; exit 3", "control.call ended with status 3: 31 is busy"),
        ("kill -9 $$", "control.call was ended by signal 9"),
        ("true", "control.call ended with status 0, and no call of the router came within 5 s"),
        ("trap '' TERM; sleep 87654", "control.call has not ended, and no call of the router came"),
        ("yes without end", "control.call has not ended, and no call of the router came"),
    ],
)
def test_a_command_that_brings_no_call_is_told_of(call: str, why: str, tmp_path: Path) -> None:
    cases = results(tmp_path, "PLP-OUT-01", call)
    (found,) = (c for c in cases if c["id"] == "PLP-OUT-01")
    assert found["verdict"] == "INCONCLUSIVE"
    assert why in found["reason"]
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"87654" in _read(p)]
    assert left == [] or "87654" not in call


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def profile(text: str) -> Any:
    return parse_profile(f"{SIDES}{text}", "own.toml")


def test_what_is_tested_of_one_that_calls() -> None:
    call = '[control]\ncall = "dial {address}"\n'
    assert profile(call).configurations == ("T6",)
    assert profile(call).only_calls
    assert profile(f'{call}[addresses]\naccepts = "2"\n').configurations == ("T2", "T6")
    assert not profile(f'{call}[addresses]\naccepts = "2"\n').only_calls
    assert not profile(call).calls_as_told
    assert profile(call.replace("{address}", "{address} {modulo}")).calls_as_told


def test_a_switch_has_no_calls_of_its_own() -> None:
    with pytest.raises(ProfileError, match=r"control\.call: is for a router that ends its calls"):
        profile('b = "127.0.25.3"\n[addresses]\nb = "2"\n[control]\ncall = "dial"\n')
    with pytest.raises(ProfileError, match=r"control\.call: needs xot\.a"):
        parse_profile('[line.a]\ntcp = "192.0.2.1:2001"\n[control]\ncall = "dial"\n', "own.toml")
