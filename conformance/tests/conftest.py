# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds for all tests."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Where tests run in the background SIGINT may be ignored; the programs they start heed it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
