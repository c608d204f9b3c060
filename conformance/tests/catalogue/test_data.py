# SPDX-License-Identifier: GPL-2.0-or-later
"""A file of the catalogue that is wrong ends a command with one line that says where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from x25shark.catalogue import Fault, catalogue, data, faults
from x25shark.catalogue.permission import alternatives, permissions


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the catalogue's files are looked for."""
    permissions(), catalogue()  # those of the package
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[permissions]\n"XOT-HDR-01" = [',
            "cell_permissions.toml: Invalid value (at end of document)",
        ),
        (
            '[permissions]\n"STATE-XOT-p1-length" = "MAY-XOT-01"',
            "XOT-p1-length: not a list of permissions",
        ),
        (
            '[permissions]\n"STATE-XOT-p1-length" = ["MAY-XOT-9"]',
            "no permission is called MAY-XOT-9",
        ),
    ],
)
def test_alternatives(folder: Path, text: str, said: str) -> None:
    (folder / "cell_permissions.toml").write_text(text)
    with pytest.raises(data.CatalogueError, match=re.escape(said)):
        alternatives.__wrapped__()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[fault", "faults.toml: Expected ']]'"),
        ("fault = 1", "faults.toml: no tables [[fault]]"),
        ('[[fault]]\nid = "BUG-X-1"', "faults.toml: BUG-X-1: no behaviour; no witnesses; no conf"),
        ('[[fault]]\nid = "BUG-X-1"\nwitnesses = "A"', "BUG-X-1: witnesses is not a list"),
    ],
)
def test_faults(folder: Path, text: str, said: str) -> None:
    (folder / "faults.toml").write_text(text)
    with pytest.raises(data.CatalogueError, match=re.escape(said)):
        faults.__wrapped__()


def test_a_key_that_no_row_has() -> None:
    row = {"id": "BUG-X-1", "behaviour": "b", "witnesses": [], "configurations": [], "witnes": 1}
    with pytest.raises(data.CatalogueError, match="BUG-X-1: no key is called witnes"):
        data.made(Fault, "faults.toml", row)


def test_one_line_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, data.told():
        raise data.CatalogueError("faults.toml: nothing")
    assert ended.value.code == 2
    assert capsys.readouterr().err == "x25shark: faults.toml: nothing\n"


def test_each_case_on_the_whole_run_is_made_to_fail_by_a_fault() -> None:
    """With a router that does nothing right such a case fails or not, by what ran before it."""
    named = {w for fault in faults().values() for w in (*fault.witnesses, *fault.also_fails)}
    watching = {i for i, purpose in catalogue().purposes.items() if purpose.whole_run}
    assert watching - named == set()
