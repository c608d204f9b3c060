# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the x25shark command begins: an interrupt while its modules load ends it without words."""

# The part of signal that is no Python code: nothing can be interrupted before the next line.
import _signal  # type: ignore[import-not-found]

_signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import os  # noqa: E402
import sys  # noqa: E402


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
