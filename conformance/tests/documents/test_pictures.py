# SPDX-License-Identifier: GPL-2.0-or-later
"""The pictures of the documents are those that a command makes."""

from __future__ import annotations

import re

from x25shark.selftest.pictures import FOLDER, PICTURES, ROOT, SHOWN


def test_each_picture_can_be_made_anew() -> None:
    assert set(PICTURES) >= SHOWN
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.png" for name in SHOWN}


def test_each_picture_is_shown() -> None:
    pages = [ROOT / "README.md", *FOLDER.parents[1].rglob("*.md")]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    assert set(re.findall(r"pictures/([\w-]+)\.png\)", text)) == SHOWN


def test_no_picture_is_heavy() -> None:
    assert all(path.stat().st_size < 200_000 for path in FOLDER.iterdir())
