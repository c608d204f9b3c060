# SPDX-License-Identifier: GPL-2.0-or-later
"""Neutral names of counters, as seen by the router: "in" is what it receives.

A profile maps them to what the router calls them. The words are those of RFC 1382, RFC 1381 and
RFC 2863 where these have an object for it. counts.py has one definition for each name that the
tester can count in a capture.
"""

from __future__ import annotations

from dataclasses import dataclass

# What becomes of a reading that is held against the capture.
RIGHT = "right"
WRONG_NUMBER = "wrong number"
WRONG_COUNTER = "wrong counter moved"
NOT_COUNTED = "not counted"
NO_COUNTER = "no such counter"


@dataclass(frozen=True)
class Name:
    """What a name counts. by_cause: one counter for each cause; line: only a serial line has it.

    error: the kind of error that it counts, for the error table of a report.
    """

    text: str
    by_cause: bool = False
    line: bool = False
    error: str = ""


_PACKETS = {
    "calls": "Calls",
    "accepts": "Call Accepted or Call Connected",
    "clears": "Clears",
    "clear_confirmations": "Clear Confirmations",
    "data": "Data packets",
    "interrupts": "Interrupts",
    "interrupt_confirmations": "Interrupt Confirmations",
    "receive_ready": "Receive Ready",
    "receive_not_ready": "Receive Not Ready",
    "resets": "Resets",
    "reset_confirmations": "Reset Confirmations",
    "restarts": "Restarts",
    "restart_confirmations": "Restart Confirmations",
    "diagnostics": "Diagnostic packets",
}

NAMES: dict[str, Name] = {
    **{f"{name}_in": Name(f"{text} received") for name, text in _PACKETS.items()},
    **{f"{name}_out": Name(f"{text} sent") for name, text in _PACKETS.items()},
    "packets_in": Name("packets received"),
    "packets_out": Name("packets sent"),
    "data_octets_in": Name("octets of user data received in Data packets"),
    "data_octets_out": Name("octets of user data sent in Data packets"),
    "call_refusals": Name("received Calls that the router cleared before they were connected"),
    "call_failures": Name("sent Calls that were cleared before they were connected"),
    "provider_clears_in": Name("Clears received with a cause that is not of a DTE"),
    "provider_resets_in": Name("Resets received with a cause that is not of a DTE"),
    "remote_resets_in": Name("Resets received with a cause of a DTE"),
    "procedure_errors_in": Name("Clears and Resets received with cause local procedure error"),
    "clears_in_by_cause": Name("Clears received with this cause", by_cause=True),
    "clears_out_by_cause": Name("Clears sent with this cause", by_cause=True),
    "resets_in_by_cause": Name("Resets received with this cause", by_cause=True),
    "resets_out_by_cause": Name("Resets sent with this cause", by_cause=True),
    "circuits": Name("circuits that are up"),
    "frames_in": Name("valid frames received", line=True),
    "frames_out": Name("frames sent", line=True),
    "octets_in": Name("octets of whole frames received, FCS included", line=True),
    "octets_out": Name("octets of frames sent, FCS included", line=True),
    "errors_in": Name("frames that were discarded as invalid, of whatever kind", line=True),
    "bad_fcs": Name("frames received with a wrong FCS", error="bad FCS", line=True),
    "runts": Name("frames received that were too short", error="runt", line=True),
    "giants": Name("frames received that were too long", error="giant", line=True),
    "aborts": Name("frames received that were aborted", error="abort", line=True),
    "unaligned": Name(
        "frames received that were not whole octets", error="not whole octets", line=True
    ),
    "unknown_addresses": Name(
        "frames received to another address", error="unknown address", line=True
    ),
    "framing_errors": Name("XOT connections with an illegal header", error="illegal XOT header"),
    "frame_rejects_in": Name("FRMR received", line=True),
    "frame_rejects_out": Name("FRMR sent", line=True),
    "rejects_in": Name("REJ received", line=True),
    "rejects_out": Name("REJ sent", line=True),
    "link_changes": Name("times that the link came up or went down", line=True),
    "t1_timeouts": Name("expiries of timer T1", line=True),
}
