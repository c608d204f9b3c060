# SPDX-License-Identifier: GPL-2.0-or-later
"""Modulo 128 and mixed modulo (X.25 5.1.1, 5.3.1, 6.2, 6.12; RFC 1613 6.2)."""

from __future__ import annotations

from .language import (
    Bench,
    Call,
    CallAccepted,
    Data128,
    purpose,
)
from .reactions import header, not_delivered, put, reset_by_error

PACKETS = 300


@purpose("PLP-MOD-01")
def test_call_of_modulo_128(bench: Bench) -> None:
    a = bench.connect(modulus=128)
    a.send(bench.call_request())
    b = bench.incoming()
    b.send(CallAccepted())
    a.expect(CallAccepted(modulo=2))
    Call(bench, a, b).fence()


@purpose("PLP-MOD-02", modulus=128, window=7)
def test_data_with_numbers_of_7_bits(call: Call) -> None:
    """300 Data each way: P(S) runs from 0 to 127 and starts again."""
    for there, back in ((call.a, call.b), (call.b, call.a)):
        for number in range(PACKETS):
            there.send_data(f"{there.name} {number}".encode())
        for number in range(PACKETS):
            back.expect(Data128(p_s=number % 128, m=0, user_data=f"{there.name} {number}".encode()))
    call.fence()


@purpose("PLP-MOD-03", modulus=128)
def test_m_is_bit_1_of_octet_4(call: Call) -> None:
    """Thirty packets each way, so that every bit of P(S) and P(R) takes both values."""
    for number in range(30):
        more = int(number % 3 != 2)
        octets = bytes((number,)) * 128
        call.a.send_data(octets, m=more)
        call.b.expect(Data128(m=more, user_data=octets))
        call.b.send_data(octets, m=more)
        call.a.expect(Data128(m=more, user_data=octets))
    call.fence()


@purpose("PLP-MOD-05", modulus=128)
def test_rr_of_three_octets_is_too_short(call: Call) -> None:
    put(call.a, header(call.a, 0x01))
    reset_by_error(call, 38)


@purpose("PLP-MOD-06", modulus=128)
def test_data_of_modulo_8_in_a_call_of_modulo_128(call: Call) -> None:
    put(call.a, bytes((0x10, call.a.lcn, 0x00)) + b"modulo 8")
    not_delivered(call, 40)
    call.bench.fence()
