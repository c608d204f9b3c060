# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference router: an X.25 switch that follows the standards to the letter.

It takes and makes calls over XOT (RFC 1613) and over serial lines with HDLC and LAPB.
It shows what the suite expects of a router, and with one of its faults switched on it shows that
the suite finds that fault. Its codec is its own, so that a misreading of the standard cannot hide
in the tester and in the router alike. `python -m x25shark.reference --config router.toml` runs it.

    codec, codes, facilities, addresses, negotiation     packets, and what two sides agree on
    tables, counters, line_counters, routes     data
    config, config_table, serial_config, ip_config, caller_config    the configuration
    environment, ports, switchboard         what the parts have around them
    channel, channel_rules, user            one end of a circuit (X.25 4 and 5), and its parts:
    call_setup, clearing, data_flow, interrupts, resets
    router, circuit, placing                all circuits, and the way of a call to its far side
    relay, relay_local, relay_endtoend, relay_splice, relayed     a call between two channels
    terminal, caller, ip_end, ipv4, pvc, pvc_setup    what else stands above a channel
    connection, framing                     one XOT connection
    hdlc, link, serial, serial_channel, restarts         a serial interface
    lapb, lapb_station, lapb_frames         its LAPB station, and the parts of that:
    lapb_phases, lapb_transfer, lapb_acknowledging, lapb_recovery, lapb_errors
    server, wire, http, lines, pty_end, timers, null     sockets, timers and signals around it
    emulation, emulated_pipe, emulated_wire access lines of known rate and delay
    switches, faults/, variants/            what can be switched on

Imports run downwards. Two circles are left, both of parts that share the state of their whole: a
channel with its parts and its user, and a LAPB station with its parts.
"""

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the router; see __main__."""
    from .__main__ import main as run

    return run(argv)
