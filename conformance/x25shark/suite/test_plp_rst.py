# SPDX-License-Identifier: GPL-2.0-or-later
"""Reset (X.25 4.4.3, Table C-4)."""

from .language import (
    CLOSED,
    Bench,
    Call,
    ClearConfirmation,
    ClearIndication,
    Data,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    one_of,
    purpose,
)
from .procedure_errors import expect_reset


@purpose("PLP-RST-01")
def test_reset_by_a_reaches_b_and_is_confirmed(call: Call) -> None:
    call.a.send(ResetRequest(cause=0, diagnostic=7))
    call.b.expect(ResetIndication(cause=0, diagnostic=7))
    call.b.send(ResetConfirmation())
    call.a.expect(ResetConfirmation())
    call.fence()


@purpose("PLP-RST-02")
def test_reset_by_b_reaches_a_and_is_confirmed(call: Call) -> None:
    call.b.send(ResetRequest(cause=0, diagnostic=7))
    call.a.expect(ResetIndication(cause=0, diagnostic=7))
    call.a.send(ResetConfirmation())
    call.b.expect(ResetConfirmation())
    call.fence_back()


@purpose("PLP-RST-03")
def test_numbering_restarts_at_0(call: Call) -> None:
    a, b = call.a, call.b
    for number in range(5):
        a.send_data(bytes([number]))
        b.expect(Data(user_data=bytes([number])))
    for number in range(5):
        b.send_data(bytes([number]))
        a.expect(Data(user_data=bytes([number])))
    a.send(ResetRequest(cause=0, diagnostic=0))
    b.expect(ResetIndication(cause=0, diagnostic=0))
    b.send(ResetConfirmation())
    a.expect(ResetConfirmation())
    a.send_data(b"new")
    b.expect(Data(p_s=0, p_r=0, user_data=b"new"))
    b.send_data(b"new")
    a.expect(Data(p_s=0, p_r=1, user_data=b"new"))
    call.fence()


@purpose("PLP-RST-07")
def test_reset_without_diagnostic(call: Call) -> None:
    call.a.send(ResetRequest(cause=0, diagnostic=None))
    call.b.expect(ResetIndication(cause=0, diagnostic=one_of(0, None)))
    call.b.send(ResetConfirmation())
    call.a.expect(ResetConfirmation())
    call.fence()


@purpose("PLP-RST-12")
def test_confirmation_that_is_not_due(call: Call) -> None:
    call.a.send(ResetConfirmation())
    expect_reset(call, 27)


@purpose("PLP-RST-13")
def test_reset_before_the_call_is_connected(bench: Bench) -> None:
    bench.need(bench.two_sided, "a call that stays unanswered for a while")
    with bench.preamble():
        a = bench.connect()
        a.send(bench.call_request())
        b = bench.incoming()
    a.send(ResetRequest(cause=0, diagnostic=0))
    reaction = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(21))
    if a.expect(reaction, CLOSED) is None:
        bench.remark("TCP close in place of a Clear (RFC 1613 6.1)")
    else:
        a.send(ClearConfirmation())
    if b.expect(ClearIndication(cause=bench.remote_clear), CLOSED) is not None:
        b.send(ClearConfirmation())
    bench.fence()
