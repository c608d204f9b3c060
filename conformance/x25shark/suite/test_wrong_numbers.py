# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers that are wrong, wherever the window lies among all numbers (X.25 4.4.1.2, 4.4.1.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from .calls import checks_numbers, modes
from .language import RNR, RNR128, RR, RR128, Call, Packet, Side, purpose
from .occasion import amid
from .procedure_errors import expect_refusal
from .reactions import both
from .test_values import beyond_a_window_that_was_used
from .windows import fill_window

# Where windows lie among the numbers of a modulus: across the wrap, in front of it, amid them, and
# behind it.
_PLACES = {8: (7, 6, 3, 0), 128: (127,)}
# The same for one in which no Data is open. A round of modulo 128 takes too many packets.
_NONE_OPEN: dict[int, tuple[int, ...]] = {8: (7, 3, 0), 128: ()}


def carry(sender: Side, receiver: Side, count: int) -> None:
    """So many Data, each acknowledged as it comes."""
    for _ in range(count):
        sender.send_data(b"goes on")
        receiver.expect(receiver.data(b"goes on"))


def places_and_packets(side: Side) -> Sequence[tuple[int, Callable[..., Packet], int]]:
    """Where the window lies, what has the P(R), and how many Data are open.

    At the first place all packets with a P(R) have it.
    """

    def data(p_r: int) -> Packet:
        return side.data(b"has wrong P(R)", p_r=p_r)

    ready, not_ready = (RR128, RNR128) if side.modulus == 128 else (RR, RNR)
    first, *others = _PLACES[side.modulus]
    some_open = [(first, kind, 2) for kind in (ready, not_ready, data)]
    some_open += [(place, ready, 2) for place in others]
    return some_open + [(place, ready, 0) for place in _NONE_OPEN[side.modulus]]


@purpose("PLP-FLOW-23", both_sides=True)
def test_p_r_outside_a_window_wherever_it_lies(call: Call) -> None:
    """Two Data are not acknowledged, or as many as come; then none is open. The P(R) is that of a
    Data which was not sent, or of one that was acknowledged before; RR, RNR or Data has it."""
    checked = checks_numbers(call.bench)
    call.bench.need(checked, "a router that checks the numbers of a call (N-CHECK)")
    for way in modes(call):
        a, b = both(way)
        for (number, kind, count), ahead in product(places_and_packets(a), (True, False)):
            # A whole round to where a reset has begun: what has come once is behind the window.
            carry(b, a, (number - a.numbering.p_r) % a.modulus or a.modulus)
            a.withholding = True
            filled = fill_window(b, a, (b"first", b"second")[:count])
            a.withholding = False
            beyond = number + len(filled.sent) + 1
            wrong = kind(p_r=(beyond if ahead else number - 1) % a.modulus)
            a.send(wrong)
            where = f"{number} is the first of the window, {len(filled.sent)} Data are open"
            with amid(call.bench, f"modulo {a.modulus}, {where}"):
                expect_refusal(way, wrong, 2, under_way=filled.passing if filled.sent else ())


@purpose("PLP-DATA-24", both_sides=True)
def test_p_s_that_is_not_next_wherever_it_lies(call: Call) -> None:
    """That of the Data before, of the one behind the next, and of one half of all numbers ahead.

    Where D=1 keeps the window of A shut, also the next one, of which the window does not take any.
    Behind the wrap the Data before has the last of all numbers.
    """
    for way in modes(call):
        a, b = both(way)
        for place, step in product(_PLACES[a.modulus], (-1, 1, a.modulus // 2)):
            number = 0 if a.modulus == 128 and step < 0 else place
            carry(a, b, (number - a.numbering.next_p_s) % a.modulus or a.modulus)
            wrong = a.data(b"not the next", p_s=(number + step) % a.modulus)
            a.send(wrong)
            with amid(call.bench, f"modulo {a.modulus}, {number} is the next number"):
                expect_refusal(way, wrong, 1)
        if call.bench.declared("P-DBIT") and checks_numbers(call.bench):
            for number in _PLACES[a.modulus]:
                one_too_many(way, number)


def one_too_many(call: Call, number: int) -> None:
    """The window begins at this number."""
    a, b = both(call)
    carry(a, b, (number - a.numbering.next_p_s) % a.modulus)
    with amid(call.bench, f"modulo {a.modulus}, the window begins at {number}"):
        beyond_a_window_that_was_used(call)
