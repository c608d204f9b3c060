# SPDX-License-Identifier: GPL-2.0-or-later
"""The pictures of the documents are those that a command makes."""

from __future__ import annotations

from x25shark.selftest.pictures import FOLDER, PICTURES


def test_each_picture_can_be_made_anew() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.png" for name in PICTURES}


def test_no_picture_is_heavy() -> None:
    assert all(path.stat().st_size < 300_000 for path in FOLDER.iterdir())
