# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds for all tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from x25shark.profile import ProfileError, parse_profile
from x25shark.run.namespaces import NamespaceError, enter_own

Browse = Callable[..., str]


@pytest.fixture
def browse(tmp_path: Path) -> Browse:
    """browse(url, *options): the document after its scripts have run in headless Chromium."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no Chromium: install package chromium")
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]
    command += ["--no-first-run", "--disable-background-networking"]
    command += ["--disable-component-update", "--disable-sync"]
    command += [
        f"--user-data-dir={tmp_path / 'browser'}",
        "--virtual-time-budget=20000",
        "--dump-dom",
    ]

    def document(url: str, *options: str) -> str:
        done = subprocess.run(
            [*command, *options, url], capture_output=True, timeout=120, check=True
        )
        return done.stdout.decode("utf-8", "replace")

    return document


def pytest_configure() -> None:
    """Each process of the tests has a network of its own, as root.

    Built-in profiles have fixed addresses, port 1998 at each: what runs beside each other must not
    meet there. (A user namespace is none for a process with threads, as those of pytest-xdist are.)
    Where tests run in the background SIGINT may be ignored; the programs they start heed it.
    """
    if os.geteuid() == 0:
        with contextlib.suppress(NamespaceError):
            enter_own()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def said_of() -> Callable[[str, str, str], str]:
    """What is said of a good profile with one text in another's place: one line, with its file."""

    def said(good: str, old: str, new: str) -> str:
        assert old in good
        with pytest.raises(ProfileError) as raised:
            parse_profile(good.replace(old, new, 1), "own.toml")
        text = str(raised.value)
        assert text.startswith("own.toml")
        assert len(text.splitlines()) == 1
        return text

    return said
