# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the x25shark command begins: an interrupt while its modules load ends it without words."""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> None:
    """The x25shark command."""
    from .cli import main as command
    from .interrupts import interrupts

    interrupts.listen()
    command(prog_name="x25shark")


if __name__ == "__main__":
    main()
