# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that end with the process that started them, however that ends."""

from __future__ import annotations

import shutil


def tied(signal: str = "INT") -> tuple[str, ...]:
    """Words in front of a command: it gets that signal when the thread that started it is gone.

    dumpcap by itself notices when the next packet comes, and that may be never. Nothing where
    setpriv is missing.
    """
    program = shutil.which("setpriv")
    return (program, "--pdeathsig", signal, "--") if program is not None else ()
