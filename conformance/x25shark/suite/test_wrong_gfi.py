# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets of every type whose GFI is not that of the call, in both moduli (X.25 5.1.1, Table C-1).

Q and D are those of the type; bits 6 and 5 are 00, 11 or those of the other modulo.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .calls import checks_calls, moduli
from .clearing import end
from .language import (
    Bench,
    Call,
    CallAccepted,
    ClearIndication,
    Diagnostic,
    Interrupt,
    InterruptConfirmation,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    purpose,
)
from .occasion import amid
from .reactions import (
    both,
    cleared_or_closed,
    not_delivered,
    refuses,
    resets,
    with_gfi,
    withdrawn,
)
from .test_plp_malf import NO_MODULO

RR, RNR, REJ = 0x01, 0x05, 0x09
FLOW = {RR: "an RR", RNR: "an RNR", REJ: "a REJ"}
# From octet 3 on, and what they are: each would do something if it were taken.
WITHOUT_NUMBERS = {
    b"\x23!": "an Interrupt",
    b"\x1b\x00\xf1": "a Reset",
    b"\x13\x00\xf1": "a Clear",
}
ACCEPTED = b"\x0f"
# Whether B sends it while the call is pending, the packet from octet 3 on, and what it is.
PENDING = (
    (False, b"\x13\x00\xf1", "a Clear"),
    (True, b"\x13\x00\xf1", "a Clear"),
    (True, ACCEPTED, "a Call Accepted"),
)


def wrong_gfis(side: Side) -> tuple[int, ...]:
    """The upper half of octet 1: neither modulo, and the other one."""
    return (*NO_MODULO, 0x10 if side.modulus == 128 else 0x20)


def numbers_of(modulus: int, octet_3: int, p_r: int) -> bytes:
    """RR, RNR or REJ from octet 3 on."""
    if modulus == 128:
        return bytes((octet_3, p_r << 1))
    return bytes((p_r % 8 << 5 | octet_3,))


def data_of(modulus: int, side: Side) -> bytes:
    """The next Data of this side from octet 3 on, as a modulus writes it."""
    p_s, p_r = side.numbering.next_p_s, side.numbering.p_r
    if modulus == 128:
        return bytes((p_s << 1, p_r << 1)) + b"wrong GFI"
    return bytes((p_r % 8 << 5 | p_s % 8 << 1,)) + b"wrong GFI"


class Calls:
    """A call that is used as long as it goes on, and then another one."""

    def __init__(self, bench: Bench, modulus: int, *, turned: bool) -> None:
        self.bench, self.modulus, self.turned = bench, modulus, turned
        self.call: Call | None = None

    def next(self) -> Call:
        if self.call is None:
            call = self.bench.call(modulus=self.modulus)
            self.call = call.turned() if self.turned else call
        return self.call

    def goes_on(self, on: bool) -> None:
        if not on:
            self.call = None

    def finish(self) -> None:
        if self.call is not None:
            end(self.call)


def calls_of_each_modulo(bench: Bench) -> Iterator[Calls]:
    for modulus in moduli(bench):
        for turned in (False, True):
            calls = Calls(bench, modulus, turned=turned)
            yield calls
            calls.finish()


def what_is_wrong(what: str, gfi: int, side: Side) -> str:
    """The packet that was sent, in words."""
    return f"{what} with GFI {gfi >> 4:#x} in a call of modulo {side.modulus}, from {side.name}"


@purpose("PLP-MALF-32")
def test_wrong_gfi_in_data_transfer(bench: Bench) -> None:
    """From either side: Data, RR and RNR whose numbers would be right, as each modulo writes them;
    REJ, Interrupt, Reset and Clear; and the confirmations of an Interrupt and of a Reset that the
    side does owe."""
    bench.need(checks_calls(bench), "a router that checks calls")
    for calls in calls_of_each_modulo(bench):
        for gfi in wrong_gfis(calls.next().a):
            for each in (_with_numbers, _without_numbers):
                each(calls, gfi)
            _confirmation_of_an_interrupt(calls, gfi)
            _confirmation_of_a_reset(calls, gfi)
    bench.fence()


def _with_numbers(calls: Calls, gfi: int) -> None:
    for modulus in (8, 128):
        call = calls.next()
        a = call.a
        with amid(calls.bench, what_is_wrong("Data", gfi, a)):
            _put(a, gfi, data_of(modulus, a))
            calls.goes_on(not_delivered(call, 40))
        for octet_3, what in FLOW.items():
            call = calls.next()
            a, b = both(call)
            with amid(calls.bench, what_is_wrong(what, gfi, a)):
                before, a.withholding = a.numbering.p_r, True
                b.send_data(b"to be acknowledged")
                a.expect_message(b"to be acknowledged")
                _put(a, gfi, numbers_of(modulus, octet_3, a.numbering.p_r))
                # The P(R) of the Data behind it would run back.
                codes = (40, 33) if octet_3 == REJ else (40,)
                calls.goes_on(not_delivered(call, *codes, p_r=before))


def _without_numbers(calls: Calls, gfi: int) -> None:
    for octets, what in WITHOUT_NUMBERS.items():
        call = calls.next()
        with amid(calls.bench, what_is_wrong(what, gfi, call.a)):
            _put(call.a, gfi, octets)
            calls.goes_on(not_delivered(call, 40))


def _confirmation_of_an_interrupt(calls: Calls, gfi: int) -> None:
    call = calls.next()
    a, b = both(call)
    before = resets(b)
    with amid(calls.bench, what_is_wrong("an Interrupt Confirmation that is due", gfi, a)):
        b.send(Interrupt(user_data=b"!"))
        a.expect(Interrupt(user_data=b"!"))
        _put(a, gfi, b"\x27")
        calls.goes_on(not_delivered(call, 40))
        if calls.call is not None and resets(b) == before:
            a.send(InterruptConfirmation())
            b.expect(InterruptConfirmation())


def _confirmation_of_a_reset(calls: Calls, gfi: int) -> None:
    """If it were taken, the right one would be one that is not due."""
    call, bench = calls.next(), calls.bench
    a, b = both(call)
    wrong = bench.diagnostic(40)
    with amid(bench, what_is_wrong("a Reset Confirmation that is due", gfi, a)):
        b.send(ResetRequest(cause=0, diagnostic=0))
        a.expect(ResetIndication(cause=0, diagnostic=0))
        a.allow(ResetIndication(cause=bench.local_reset, diagnostic=wrong))
        a.allow(Diagnostic(diagnostic=wrong))
        _put(a, gfi, b"\x1f")
        bench.fence("the wrong one has been dealt with")
        if a.phase == "being cleared" or a.connection.end is not None:
            calls.goes_on(False)
            cleared_or_closed(bench, a, ClearIndication(cause=bench.local_clear, diagnostic=wrong))
            b.allow(ResetConfirmation())
            cleared_or_closed(bench, b, ClearIndication(cause=bench.network_clear))
            return
        a.send(ResetConfirmation())
        b.expect(ResetConfirmation())
        call.fence("behind the reset")


def _put(side: Side, gfi: int, octets: bytes) -> None:
    """The packet from octet 3 on, with this GFI."""
    side.put(with_gfi(side, gfi, octets[0]) + octets[1:])


@purpose("PLP-MALF-33")
def test_wrong_gfi_while_a_call_is_pending(bench: Bench) -> None:
    """A Clear of either side, and a Call Accepted. Discarded, and then B accepts the call; or the
    call is refused for it at the side that sent it."""
    bench.need(checks_calls(bench), "a router that checks calls")
    for modulus, number in product(moduli(bench), range(3)):
        for of_b, octets, what in PENDING:
            a = bench.connect(modulus=modulus)
            a.send(bench.call_request())
            b = bench.incoming()
            side, other = (b, a) if of_b else (a, b)
            gfi = wrong_gfis(side)[number]
            if octets == ACCEPTED and gfi not in NO_MODULO and bench.declared("P-MIXMOD"):
                # A router that knows both at once may take either.
                gfi = NO_MODULO[0]
            with amid(bench, what_is_wrong(what, gfi, side)):
                _put(side, gfi, octets)
                bench.fence("the wrong one has been dealt with")
                _goes_on_or_is_refused(bench, a, b, side, other)
    bench.fence()


def _goes_on_or_is_refused(bench: Bench, a: Side, b: Side, side: Side, other: Side) -> None:
    """Whether the wrong packet of this side was discarded, or has ended the call."""
    side.allow(Diagnostic(diagnostic=bench.diagnostic(40)))
    if side.phase == "being cleared" or side.connection.end is not None:
        refuses(bench, side, bench.local_clear, 40)
        withdrawn(bench, other)
        return
    b.send(b.acceptance)
    a.expect(CallAccepted())
    call = Call(bench, a, b)
    call.fence()
    end(call)
