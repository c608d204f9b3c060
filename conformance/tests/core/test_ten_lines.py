# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile of ten lines, which declares nothing, makes no right router fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import cases_against_reference, x25shark

pytestmark = pytest.mark.usefixtures("namespaces")

PROFILE = """name = "ten lines"
relay_model = "local"
embedded = "reference.router"
[xot]
router = "127.0.25.1"
a = "127.0.25.2"
b = "127.0.25.3"
[addresses]
a = "3100001"
b = "2100001"
no_route = "9990001"
"""
# What depends on what a router has: options, facilities, permanent circuits.
SELECT = "PLP-MOD,PLP-DBIT,PLP-FAC,PLP-FS,PLP-CALL,PLP-MALF,XOT-PVC,XOT-FORB,XOT-HDR"


def test_what_it_does_not_declare_is_asked_for(tmp_path: Path) -> None:
    cases = cases_against_reference(tmp_path, PROFILE, "--select", SELECT, "--inconclusive-ok")
    unsure = {n: c["reason"] for n, c in cases.items() if c["verdict"] == "INCONCLUSIVE"}
    assert unsure == {
        "XOT-PVC-16": "the router answers a PVC setup: its profile should declare X-PVC",
        "PLP-MOD-07": "the router takes modulo 128: its profile should declare P-MOD128",
    }
    assert not {"FAIL", "ERROR"} & {c["verdict"] for c in cases.values()}


def unsaid(router: str) -> str:
    """The profile of another router, which does not say the relay model."""
    return PROFILE.replace('relay_model = "local"\n', "").replace("reference", router)


@pytest.mark.parametrize("router", ["reference-e2e", "reference-splice"])
def test_a_relay_model_that_is_not_given_fails_nobody(router: str, tmp_path: Path) -> None:
    select = ("--select", "PLP-CALL-01,PLP-SEG-05", "--inconclusive-ok")
    cases = cases_against_reference(tmp_path, unsaid(router), *select)
    verdicts = {name: case["verdict"] for name, case in cases.items()}
    assert verdicts == {"PLP-CALL-01": "PASS", "PLP-SEG-05": "INCONCLUSIVE"}
    assert cases["PLP-SEG-05"]["reason"].endswith(
        'it has to say relay_model = "end-to-end" or "splice"'
    )


def test_check_says_that_a_relay_model_seems_wrong(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text(PROFILE.replace("reference", "reference-splice"), "utf-8")
    checked = x25shark("check", "--own-namespace", str(profile))
    assert 'then it is "end-to-end" or "splice"' in " ".join(checked.stdout.split())


def test_where_it_is_the_usual_one_a_fault_fails(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text(unsaid("reference"), "utf-8")
    where = ("--router", str(profile), "--output", str(tmp_path / "report"))
    done = x25shark(
        "run", "--own-namespace", *where, "--select", "PLP-SEG-05", "--fault", "BUG-SEG-15"
    )
    assert done.returncode == 1 and "FAIL  PLP-SEG-05" in done.stdout, done.stdout + done.stderr
