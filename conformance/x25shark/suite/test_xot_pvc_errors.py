# SPDX-License-Identifier: GPL-2.0-or-later
"""Procedure errors on a permanent circuit over XOT (X.25 Table C-4; RFC 1613 6.5)."""

from __future__ import annotations

from .language import (
    Bench,
    InterruptConfirmation,
    Packet,
    ResetConfirmation,
    ResetIndication,
    Side,
    purpose,
)
from .reactions import both
from .test_xot_pvc import circuit, closed, data_passes


def errors_of(side: Side) -> list[tuple[Packet, int]]:
    """What is wrong in data transfer, each with its diagnostic."""
    numbers = side.numbering
    return [
        (side.data(b"P(S)", p_s=(numbers.next_p_s + 3) % 8), 1),
        (side.data(b"P(R)", p_r=(numbers.p_r + 5) % 8), 2),
        (side.data(bytes(side.packet_size + 1)), 39),
        (InterruptConfirmation(), 43),
        (ResetConfirmation(), 27),
    ]


@purpose("XOT-PVC-24")
def test_errors_on_a_circuit(bench: Bench) -> None:
    """Of A and of B: the end that made the error is reset with its diagnostic, the other one as a
    remote error, and Data passes again. The tester confirms each Reset at once."""
    bench.need(bench.model == "local", "a router that has numbers of its own at each end")
    call = circuit(bench)
    for way in (call, call.turned()):
        here, there = both(way)
        for number in range(len(errors_of(here))):
            error, code = errors_of(here)[number]
            here.send(error)
            diagnostic = bench.diagnostic(code)
            here.expect(ResetIndication(cause=bench.local_reset, diagnostic=diagnostic))
            there.expect(ResetIndication(cause=bench.remote_reset))
            data_passes(way, f"behind an error of {here.name}")
    closed(*both(call))
    bench.fence()
