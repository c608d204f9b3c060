# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors in the addresses and fields of Call Accepted and Clear (X.25 5.2.1, 5.2.3, 5.2.4)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from scapy_x25.x25 import CLEAR_REQUEST

from .calls import checks_calls, moduli, pending
from .clearing import clear_or_close, end, refused
from .facilities import MOST_FACILITIES
from .language import (
    ABSENT,
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    Side,
    one_of,
    purpose,
)
from .occasion import amid
from .procedure_errors import confirmed_ahead
from .reactions import header

HEX_DIGITS = "abcdef"


@purpose("PLP-MALF-34")
def test_hexadecimal_digits_in_call_accepted(bench: Bench) -> None:
    """Each of A to F as the first, a middle and the last digit of either address, modulo 8 and 128.

    An error, or A is connected without it. A calling address may go on as it is, as in PLP-MALF-08.
    """
    bench.need(checks_calls(bench), "a router that checks calls")
    for modulus, name, digit in product(moduli(bench), ("called", "calling"), HEX_DIGITS):
        for part in range(3):
            with amid(bench, f"the {name} address has the digit {digit}, modulo {modulus}"):
                answered_with_a_digit(bench, name, digit, part, modulus)
    bench.fence()


def answered_with_a_digit(bench: Bench, name: str, digit: str, part: int, modulus: int) -> None:
    """B answers with this digit at the beginning, amid or at the end of one of the addresses."""
    request = bench.call_request()
    a, b = pending(bench, request, modulus=modulus)
    assert b.call is not None
    came = {one: getattr(b.call, f"{one}_address") or "" for one in ("called", "calling")}
    asked = {"called": request.called_address, "calling": request.calling_address}
    right = came[name] or asked[name]
    at = (0, len(right) // 2, len(right) - 1)[part]
    wrong = right[:at] + digit + right[at + 1 :]
    answer = CallAccepted(**{f"{one}_address": came[one] for one in came if one != name})
    answer.fields[f"{name}_address"] = wrong
    b.send(answer)
    codes = bench.diagnostic(67, 68) if name == "calling" else bench.diagnostic(67)
    error = ClearIndication(cause=bench.cause(0x13, 0x0D), diagnostic=codes)
    ahead = confirmed_ahead(b, a, error)
    known = {right, asked[name], *([wrong] if name == "calling" else [])} - {""}
    connected = [CallAccepted(**{f"{name}_address": digits}) for digits in sorted(known)]
    connected.append(CallAccepted(**{f"{name}_address_length": one_of(0, None)}))
    taken = a.expect(*connected, ClearIndication(cause=bench.network_clear), CLOSED)
    if isinstance(taken, CallAccepted):
        bench.remark(f"a digit above 9 in the {name} address of an answer is no error")
        bench.settle(a, b, request, taken)
        end(Call(bench, a, b))
        return
    clear_or_close(bench, a)
    if not ahead:
        refused(bench, b, error)


# Octets of a Clear from the address lengths on: lengths of 4 and of 15 and 15 and fewer digits; a
# digit above 9; facilities of five octets, of which there is one, and of none; a facility that
# the field cuts, of each class; 110 octets of facilities.
WRONG_CLEARS = (
    *("44", "ff 21 00", "07 21 00 00 b0 00"),
    *("00 05 c9", "00 05", "00 02 42 07 07", "00 01 08", "00 02 84 01", "00 03 c9 05 01"),
    "00 6e 00 0f c9 6a" + "07" * 106,
)


def before_the_answer(bench: Bench, modulus: int) -> tuple[Side, Side]:
    """A clears what B has not answered."""
    return pending(bench, modulus=modulus)


def in_place_of_the_answer(bench: Bench, modulus: int) -> tuple[Side, Side]:
    """B refuses."""
    return pending(bench, modulus=modulus)[::-1]


def by_the_calling_side(bench: Bench, modulus: int) -> tuple[Side, Side]:
    """A clears a call that is connected."""
    call = bench.call(modulus=modulus)
    assert isinstance(call.b, Side)
    return call.a, call.b


def by_the_called_side(bench: Bench, modulus: int) -> tuple[Side, Side]:
    """B clears a call that is connected."""
    return by_the_calling_side(bench, modulus)[::-1]


STATES: dict[Callable[[Bench, int], tuple[Side, Side]], str] = {
    before_the_answer: "of A before the answer",
    in_place_of_the_answer: "of B in place of the answer",
    by_the_calling_side: "of A in data transfer",
    by_the_called_side: "of B in data transfer",
}


@purpose("PLP-MALF-35")
def test_clears_with_errors_in_their_fields(bench: Bench) -> None:
    """Before the answer and behind it, from either side, of modulo 8 and 128.

    What such a Clear is taken for is left to the router, as in PLP-MALF-16: the call ends at both
    sides, and nothing that is wrong in it arrives.
    """
    bench.need(checks_calls(bench), "a router that checks calls")
    for modulus, octets, state in product(moduli(bench), WRONG_CLEARS, STATES):
        with amid(bench, f"{octets[:20]} in the Clear {STATES[state]}, modulo {modulus}"):
            ends_in_spite_of_errors(bench, *state(bench, modulus), bytes.fromhex(octets))
    bench.fence()


def ends_in_spite_of_errors(bench: Bench, here: Side, there: Side, octets: bytes) -> None:
    """This side clears with these octets behind cause and diagnostic; the call ends at both."""
    connected = here.phase == there.phase == "connected"
    here.put(header(here, CLEAR_REQUEST) + b"\x00\xf1" + octets)
    codes = bench.diagnostic(38, 39, 65, 66, 67, 68, 69, 74)
    error = ClearIndication(cause=bench.cause(0x13, 0x03), diagnostic=codes)
    ahead = confirmed_ahead(here, there, error)
    # A network may have facilities of its own for a Clear, but not as many.
    rest = {"user_data": ABSENT, "facility_length": one_of(None, range(MOST_FACILITIES + 1))}
    as_it_was = ClearIndication(cause=0, diagnostic=0xF1, **rest)
    as_an_error = ClearIndication(cause=bench.network_clear, **rest)
    right = [as_an_error] if ahead else [as_it_was, as_an_error]
    there.expect(*right, *([] if connected else [CLOSED]))
    if there.phase == "being cleared":
        there.send(ClearConfirmation())
    if not ahead and isinstance(here.expect(ClearConfirmation(), error, CLOSED), ClearIndication):
        here.send(ClearConfirmation())
