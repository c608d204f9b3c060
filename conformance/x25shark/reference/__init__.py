# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference router: an X.25 switch that follows the standards to the letter.

It takes and makes calls over XOT (RFC 1613) and over serial lines with HDLC and LAPB.
It shows what the suite expects of a router, and with one of its faults switched on it shows that
the suite finds that fault. Its codec is its own, so that a misreading of the standard cannot hide
in the tester and in the router alike. `python -m x25shark.reference --config router.toml` runs it.
"""

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the router; see __main__."""
    from .__main__ import main as run

    return run(argv)
