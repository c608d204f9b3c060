# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of x25shark ip, where the system gives network namespaces and TUN devices."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from x25shark.ip.hosts import TUN_PATH

Ip = Callable[..., subprocess.CompletedProcess[str]]


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "x25shark.start", "ip", *words]


@pytest.fixture
def ip() -> Ip:
    """Runs x25shark ip to its end."""
    if not os.access(TUN_PATH, os.R_OK | os.W_OK):
        pytest.skip(f"{TUN_PATH} is not for this user")
    test = ["unshare", "-n" if os.geteuid() == 0 else "-Urn", "true"]
    if subprocess.run(test, capture_output=True, check=False).returncode:
        pytest.skip("this system gives no network namespaces")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*words), capture_output=True, text=True, timeout=900, check=False
        )

    return run
