# SPDX-License-Identifier: GPL-2.0-or-later
"""Data transfer (X.25 4.3, 4.4)."""

from .language import Call, ResetConfirmation, ResetIndication, purpose


@purpose("PLP-DATA-01")
def test_all_octet_values_pass(call: Call) -> None:
    halves = bytes(range(128)), bytes(range(128, 256))
    for half in halves:
        call.a.send_data(half)
        call.b.expect_message(half)
    for half in halves:
        call.b.send_data(half)
        call.a.expect_message(half)
    call.fence()


@purpose("PLP-DATA-04")
def test_one_octet_above_the_agreed_size(call: Call) -> None:
    call.a.send(call.a.data(bytes(129)))
    call.a.expect(
        ResetIndication(cause=call.bench.local_reset, diagnostic=call.bench.diagnostic(39))
    )
    call.a.send(ResetConfirmation())
    call.b.expect(ResetIndication(cause=call.bench.remote_reset))
    call.b.send(ResetConfirmation())
    call.fence()
