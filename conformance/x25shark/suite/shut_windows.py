# SPDX-License-Identifier: GPL-2.0-or-later
"""One Data packet more than a window takes that is shut and stays so (X.25 4.4.1.2)."""

from __future__ import annotations

from scapy.packet import Packet
from scapy_x25 import RNR128

from ..sides.side import Side
from .language import (
    RNR,
    RR,
    RR128,
    Call,
    Data,
    Data128,
    Inconclusive,
    ResetConfirmation,
    ResetIndication,
    one_of,
)
from .procedure_errors import expect_after, expect_refusal
from .transfer import fence_past_window
from .windows import data_between, may_send

# A router with windows of its own stores what B does not take yet; one that stores more than so
# many packets is not tried further, and one that opens the window each time not more often.
MOST_STORED = 200
MOST_TRIES = 4


def outside_the_window(call: Call) -> None:
    """B acknowledges nothing, A fills its window until it stays shut, and sends one Data more.

    The router resets both sides. A P(R) that crosses that Data has opened the window for it, so A
    fills it again. Raises Inconclusive where the window is never seen to be shut.
    """
    bench, a, b = call.bench, call.a, call.b
    assert isinstance(b, Side)
    b.withholding = True
    sent: list[bytes] = []
    begin = b.arrivals.end()
    all_numbers = a.window == a.modulus - 1
    for attempt in range(MOST_TRIES):
        fill_until_shut(call, sent, patient=attempt > 0 or all_numbers)
        outside = a.data(f"outside {len(sent)}".encode(), p_s=a.numbering.next_p_s)
        inside = [b.data(octets) for octets in sent]
        edge = a.numbering.acknowledged
        if call.model != "local":
            # An Interrupt may have overtaken them (X.25 4.3.7): what B acknowledges when it comes
            # late would open the window.
            b.wait_until(lambda: data_between(b, begin, b.arrivals.end()) >= len(sent))
        a.send(outside)
        if call.model != "local":
            b.withholding = False
            expect_refusal(call, outside, 1, before=inside)
            return
        reset = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(1))
        # The number behind all of a window of the modulo less 1 is that of its edge once more; a
        # router that takes so many has said before that it takes the last.
        opened = {(edge + count) % a.modulus for count in range(1, a.window + 2)} - {edge}
        came = a.expect(
            reset, *_acknowledging(a, *opened), passing=_acknowledging(a, edge), note="window shut"
        )
        if isinstance(came, ResetIndication):
            a.send(ResetConfirmation())
            expect_after(b, ResetIndication(cause=bench.remote_reset), *inside)
            b.send(ResetConfirmation())
            b.withholding = False
            call.fence()
            return
        if all_numbers:
            # As many are open as there are numbers: what a P(R) acknowledges is not known.
            raise Inconclusive("the router opened the window as it was shut")
        sent.append(outside.user_data)
    raise Inconclusive(f"the router opened the window itself {MOST_TRIES} times as it was shut")


def fill_until_shut(call: Call, sent: list[bytes], *, patient: bool) -> None:
    """A sends Data until its window is shut behind a round trip, with patience also behind TQ.

    sent: what A has sent so far, to which this adds. Raises Inconclusive.
    """
    a, b = call.a, call.b
    assert isinstance(b, Side)
    while True:
        while a.numbering.outstanding < a.window:
            if len(sent) >= MOST_STORED:
                raise Inconclusive(f"the router took {len(sent)} Data, and its window is open")
            sent.append(f"packet {len(sent)}".encode())
            a.send(a.data(sent[-1]))
        fence_past_window(call, (Data128() if b.modulus == 128 else Data(),))
        if a.numbering.outstanding < a.window or (patient and may_send(a)):
            continue
        return


def _acknowledging(side: Side, *numbers: int) -> tuple[Packet, ...]:
    """RR and RNR with one of these P(R)."""
    kinds = (RR128, RNR128) if side.modulus == 128 else (RR, RNR)
    return tuple(kind(p_r=one_of(*numbers)) for kind in kinds)
