# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference router: an X.25 switch that follows the standards to the letter.

It takes and makes calls over XOT (RFC 1613) and over serial lines with HDLC and LAPB.
It shows what the suite expects of a router, and with one of its faults switched on it shows that
the suite finds that fault. Its codec is its own, so that a misreading of the standard cannot hide
in the tester and in the router alike. `python -m x25shark.reference --config router.toml` runs it.

    codec, codes, facilities, addresses     packets
    tables, counters, routes, config        data
    environment, ports, switchboard         what the parts have around them
    channel and its parts                   one end of a circuit (X.25 clauses 4 and 5)
    relay_*, terminal, ip_end, pvc          what stands above a channel
    hdlc, lapb and its parts, link, serial  a serial interface
    server, wire, http, lines, null         sockets, timers and signals around it
    emulation, emulated_*                   access lines of known rate and delay
    faults/, variants/                      what can be switched on

Imports run downwards. Two circles are left, both of parts that share the state of their whole: a
channel with its parts and its user, and a LAPB station with its parts.
"""

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the router; see __main__."""
    from .__main__ import main as run

    return run(argv)
