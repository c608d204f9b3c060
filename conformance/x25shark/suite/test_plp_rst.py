# SPDX-License-Identifier: GPL-2.0-or-later
"""Reset (X.25 4.4.3, Table C-4)."""

from .language import (
    Call,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    purpose,
)


@purpose("PLP-RST-01")
def test_reset_by_a_reaches_b_and_is_confirmed(call: Call) -> None:
    call.a.send(ResetRequest(cause=0, diagnostic=7))
    call.b.expect(ResetIndication(cause=0, diagnostic=7))
    call.b.send(ResetConfirmation())
    call.a.expect(ResetConfirmation())
    call.fence()


@purpose("PLP-RST-12")
def test_confirmation_that_is_not_due(call: Call) -> None:
    call.a.send(ResetConfirmation())
    call.a.expect(ResetIndication(cause=call.bench.local_reset, diagnostic=call.bench.diagnostic(27)))
    call.a.send(ResetConfirmation())
    call.b.expect(ResetIndication(cause=call.bench.remote_reset))
    call.b.send(ResetConfirmation())
    call.fence()
