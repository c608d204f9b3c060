#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the captures of the known gaps: python3 dissectors/gaps/build_gaps.py [folder]."""

from __future__ import annotations

import sys
from pathlib import Path

from capture_builder import A, B, connection, pcapng, unit

CALL = unit("10010b551234598765064207074302020100 0000".replace(" ", ""))
ACCEPT = unit("10010f")
CALL_128 = unit("20010b5512345987650642070743021010")
ACCEPT_128 = unit("20010f")

EXCHANGES: dict[str, list[tuple[int, bytes]]] = {
    "data-modulo-128": [(A, CALL_128), (B, ACCEPT_128), (A, unit("20011428aa"))],
    "cause-without-diagnostic": [
        (A, CALL),
        (B, ACCEPT),
        (B, unit("10011b05")),
        (B, unit("1000fb07")),
        (B, unit("10011305")),
    ],
    "restart-channel": [(B, unit("1005fb0700"))],
    "format-identifier": [(A, unit("000100aa")), (A, unit("30010000aa"))],
    "undefined-type": [(A, unit("10010311"))],
    "pvc-setup": [(A, unit("1001f581000300010200020202070741424344 45".replace(" ", "")))],
    "no-facility-length": [(A, CALL), (B, unit("10010f00"))],
    "registration-diagnostic": [(B, unit("1000f703260000"))],
    "cut-packet": [(B, unit("100113"))],
    "extended-clear": [(B, unit("1001130501551234598765" + "00"))],
    "sequence-errors": [
        (A, CALL),
        (B, ACCEPT),
        (A, unit("100102aa")),
        (A, unit("100100aa")),
        (A, unit("100102aa")),
        (A, unit("100104aa")),
    ],
    "xot-version": [(A, unit("10010f", version=1))],
    "xot-length": [(A, unit("")), (A, unit("10")), (A, unit("1001"))],
    "xot-header-split": [(A, CALL[:1]), (A, CALL[1:])],
    "extension-facility": [(A, unit("10010b0003ff0207"))],
    "user-data-length": [(A, unit("10010b00000b01"))],
    "mixed-fields": [(B, unit("1001130502") + unit("10011b0305"))],
}


def build(gap: str) -> bytes:
    """The capture of a gap."""
    return pcapng(connection(EXCHANGES[gap]))


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "captures"
    folder.mkdir(exist_ok=True)
    for gap in EXCHANGES:
        (folder / f"{gap}.pcapng").write_bytes(build(gap))


if __name__ == "__main__":
    main()
