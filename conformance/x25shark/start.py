# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the x25shark command begins: an interrupt while its modules load ends it without words."""

from __future__ import annotations

import os
import signal
import sys

signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> None:
    """The x25shark command."""
    # Closed by the caller (>&-, <&-): Python has none then.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    from .catalogue.data import told
    from .cli import main as command
    from .interrupts import interrupts

    interrupts.listen()
    with told():
        command(prog_name="x25shark")


if __name__ == "__main__":
    main()
