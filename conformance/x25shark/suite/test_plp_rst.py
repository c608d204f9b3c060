# SPDX-License-Identifier: GPL-2.0-or-later
"""Reset (X.25 4.4.3, Table C-4)."""

from collections.abc import Callable, Sequence
from itertools import product

from scapy_x25.x25 import INTERRUPT, INTERRUPT_CONFIRMATION, RESET_CONFIRMATION, RESET_REQUEST

from ..sides.side import AbsentSide
from .amid_sequences import AMID
from .anew import as_new
from .calls import modes, moduli
from .clearing import at_the_other_end, end
from .collisions import collide
from .language import (
    CLOSED,
    Bench,
    Call,
    ClearConfirmation,
    ClearIndication,
    Data,
    Data128,
    Interrupt,
    InterruptConfirmation,
    NoChannel,
    Packet,
    Raw,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    one_of,
    purpose,
)
from .links import is_dte_of_a_line
from .many import at_a_time
from .occasion import amid
from .procedure_errors import (
    expect_after,
    expect_refusal,
    expect_reset,
    expect_reset_or_ignored,
    far_end_is_reset_first,
)
from .reactions import UNDEFINED, both, expect_while_sending, header, reset
from .test_left_over import MIDDLES, OLD
from .transfer import call_of_sizes, each_way, fence_past_window, window_of
from .windows import Unacknowledged, fill_window, may_come, may_send


def reset_by(
    sender: Side | AbsentSide,
    receiver: Side | AbsentSide,
    cause: int,
    diagnostic: int,
    *before: Packet,
) -> None:
    """A reset from one side to the other, and its confirmation; before: what may come first."""
    sender.send(ResetRequest(cause=cause, diagnostic=diagnostic))
    expect_after(receiver, ResetIndication(cause=cause, diagnostic=diagnostic), *before)
    receiver.send(ResetConfirmation())
    expect_after(sender, ResetConfirmation(), *before)


def deliver_from_0(call: Call, octets: bytes) -> None:
    """Data each way, numbered from 0 on both sides (X.25 4.4.3).

    A router with numbers of its own need not have acknowledged A's when it sends that of B.
    """
    of_the_modulus = call.a.data
    call.a.send_data(octets)
    call.b.expect(of_the_modulus(octets, p_s=0, p_r=0))
    call.b.send_data(octets)
    p_r = one_of(0, 1) if call.model == "local" else 1
    call.a.expect(of_the_modulus(octets, p_s=0, p_r=p_r))


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


@purpose("PLP-RST-03", both_sides=True)
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
    deliver_from_0(call, b"new")
    call.fence()


@purpose("PLP-RST-04", both_sides=True)
def test_diagnostics_and_private_causes_pass(call: Call) -> None:
    """Every diagnostic once from either side, with the four causes in turn.

    By A and B in turn, for a router that confirms by itself may still wait for the confirmation
    of the other side; one more reset would then be the same to it.
    """
    for diagnostic in range(256):
        cause = (0x00, 0x80, 0xC1, 0xFF)[diagnostic % 4]
        reset_by(call.a, call.b, cause, diagnostic)
        if call.b.present:
            reset_by(call.b, call.a, cause, diagnostic)
    call.fence()


@purpose("PLP-RST-05", both_sides=True)
def test_network_causes_pass(call: Call) -> None:
    """In modulo 128 too."""
    for way, cause in product(modes(call), (0x03, 0x05, 0x07, 0x11)):
        passed = ResetIndication(cause=cause, diagnostic=0)
        way.a.send(ResetRequest(cause=cause, diagnostic=0))
        if cause == 0x05:
            came = way.b.expect(passed, ResetIndication(cause=0x03, diagnostic=0))
            if came is not None and came.cause == 0x03:
                call.bench.remark("a local procedure error arrives as a remote one")
        else:
            way.b.expect(passed)
        way.b.send(ResetConfirmation())
        way.a.expect(ResetConfirmation())
        way.fence()


@purpose("PLP-RST-07", both_sides=True)
def test_reset_without_diagnostic(call: Call) -> None:
    """Behind a Reset with a diagnostic, which is not its own, and with every kind of cause. In
    modulo 128 too."""
    codes = ((0, 238), (0, None), (0x80, None), (0xC1, None), (0xFF, None))
    for way, (cause, diagnostic) in product(modes(call), codes):
        wanted = one_of(0, None) if diagnostic is None else diagnostic
        way.a.send(ResetRequest(cause=cause, diagnostic=diagnostic))
        way.b.expect(ResetIndication(cause=cause, diagnostic=wanted))
        way.b.send(ResetConfirmation())
        way.a.expect(ResetConfirmation())
        way.fence()


@purpose("PLP-RST-08")
def test_reset_collision(call: Call) -> None:
    """20 times on one call, with causes of each kind. In the middle of each thing first, with A
    ahead and with B, at once so that a busy machine cannot part the two; nothing of it is left.
    Then the next Interrupts arrive and are confirmed; no confirmation of those before is due."""
    begun = list(product(MIDDLES, (True, False)))
    race = call.bench.race("resets collided", 20, at_once=len(begun) + 2)
    ends = both(call)
    for number in race:
        middle, a_first = begun[number] if number < len(begun) else (None, None)
        owed = middle is None and number % 2 == 1 and call.model != "splice"
        if middle is not None:
            middle(call)
        elif owed:
            left_unconfirmed(call)
            a_first = number % 4 == 1
        cause = (0x00, 0x80, 0xFF)[number % 3]
        race.reached(collide(call, race, number, OLD, cause=cause, a_first=a_first))
        if middle is not None:
            as_new(call, f"behind resets that collided, {MIDDLES[middle]}")
            continue
        if owed:
            # The side that reset last, in two of them, and the other one.
            confirmed_too_late(call if number % 8 in (3, 1) else call.turned())
            continue
        deliver_from_0(call, b"after collision")
        for here, there in (ends, ends[::-1]):
            here.send(Interrupt(user_data=b"after collision"))
            there.expect(Interrupt(user_data=b"after collision"))
            there.send(InterruptConfirmation())
            here.expect(InterruptConfirmation())
    call.fence()


def left_unconfirmed(call: Call) -> None:
    """An Interrupt of each side, which the other has and does not confirm."""
    for here, there in (both(call), both(call)[::-1]):
        here.send(Interrupt(user_data=b"before collision"))
        there.expect(Interrupt(user_data=b"before collision"))


def confirmed_too_late(call: Call) -> None:
    """A confirms B's Interrupt of before the resets: that is not due any more."""
    call.fence("behind the collision")
    call.a.send(InterruptConfirmation())
    with amid(call.bench, f"{call.a.name} confirms an Interrupt of before the collision"):
        expect_reset_or_ignored(call, 43)


@purpose("PLP-RST-09")
def test_nothing_from_before_the_reset(bench: Bench) -> None:
    """B takes what its window holds; what A may send beyond that waits within the router.

    The last of that opens a sequence, which the router keeps if B has the larger packets. Then A
    resets; then the same once more, and B does.
    """
    own_sizes = bench.model == "local" and bench.profile.addresses.own_sizes is not None
    call = call_of_sizes(bench, 128, 256) if own_sizes else bench.call(window=7)
    a, b = both(call)
    for by, other in ((a, b), (b, a)):
        old = held_before_a_reset(call)
        by.send(ResetRequest(cause=0, diagnostic=0))
        passing = {b: old.passing, a: ()}
        other.expect(ResetIndication(cause=0, diagnostic=0), passing=passing[other])
        b.withholding = False
        other.send(ResetConfirmation())
        by.expect(ResetConfirmation(), passing=passing[by])
        a.send_data(b"new")
        b.expect(Data(p_s=0, user_data=b"new"), note=f"behind a reset of {by.name}")
        call.fence()


def held_before_a_reset(call: Call) -> Unacknowledged:
    """B acknowledges nothing, A sends what it may; what B has been sent."""
    a, b = both(call)
    b.withholding = True
    old = fill_window(a, b, [f"old {number}".encode() for number in range(window_of(call))])
    fence_past_window(call, old.passing)
    left = a.window - a.numbering.outstanding
    if left > 1:
        waiting = [a.data(b"old, not sent")] * (left - 1)
        a.send(*waiting, a.data(b"old and open".ljust(128), m=1))
        call.bench.fence("the router has it")
    return old


@purpose("PLP-RST-10", both_sides=True)
def test_data_before_the_confirmation(call: Call) -> None:
    """An error, or discarded; a router that confirms by itself may take it as new Data. In modulo
    128 too."""
    for way in modes(call):
        data_too_early(way)


def data_too_early(call: Call) -> None:
    """A resets, and sends Data behind that."""
    bench, a, b = call.bench, call.a, call.b
    assert isinstance(b, Side)
    early = a.data(b"too early", p_s=0, p_r=0)
    a.send(ResetRequest(cause=0, diagnostic=0), early)
    b.expect(ResetIndication(cause=0, diagnostic=0))
    mark = b.cursor
    bench.fence("A's Data has been dealt with")
    confirmed_by_router = not a.numbering.resetting
    of_the_modulus = Data128 if b.modulus == 128 else Data
    b.expect_count(of_the_modulus(), 0, 0, start=mark, note="B has not confirmed the reset")
    b.send(ResetConfirmation())
    error = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(28))
    refused = isinstance(a.expect(ResetConfirmation(), error), ResetIndication)
    if refused:
        a.send(ResetConfirmation())
    bench.fence("B's confirmation has been dealt with")
    most = int(confirmed_by_router and not refused)
    taken = of_the_modulus(p_s=0, user_data=b"too early")
    b.expect_count(taken, 0, most, start=mark)
    if most:
        b.allow(taken)
    there = at_the_other_end(bench, None, 28)
    remote = ResetIndication(cause=bench.remote_reset, diagnostic=there)
    b.expect_count(remote, 0, int(refused), start=mark)


@purpose("PLP-RST-11", both_sides=True)
def test_data_that_crosses_the_reset(call: Call) -> None:
    """In modulo 128 too."""
    for way in modes(call):
        a, b = both(way)
        a.send(ResetRequest(cause=0, diagnostic=0))
        b.expect(ResetIndication(cause=0, diagnostic=0))
        b.send(b.data(b"crossing", p_s=0, p_r=0), ResetConfirmation())
        if way.model == "local":
            a.expect(ResetConfirmation())
        else:
            expect_after(a, ResetConfirmation(), a.data(b"crossing"))
        b.send_data(b"new")
        a.expect(a.data(b"new", p_s=0), note="nothing from before the reset")
        way.fence()


@purpose("PLP-RST-28", both_sides=True)
def test_interrupt_that_crosses_the_reset(call: Call) -> None:
    """B has an Interrupt of A to confirm when A resets. It does that, and sends one of its own,
    before it confirms the reset; behind it both Interrupts are new ones.

    Then once more: a router that confirms by itself has the next Interrupt of A before B sends the
    old confirmation.
    """
    a, b = both(call)
    a.send(Interrupt(user_data=b"before"))
    b.expect(Interrupt(user_data=b"before"))
    a.send(ResetRequest(cause=0, diagnostic=0))
    b.expect(ResetIndication(cause=0, diagnostic=0))
    b.send(InterruptConfirmation(), Interrupt(user_data=b"crossing"), ResetConfirmation())
    crossing = (InterruptConfirmation(), Interrupt(user_data=b"crossing"))
    expect_after(a, ResetConfirmation(), *(() if call.model == "local" else crossing))
    a.send(Interrupt(user_data=b"from A"))
    b.expect(Interrupt(user_data=b"from A"))
    b.send(Interrupt(user_data=b"from B"))
    a.expect(Interrupt(user_data=b"from B"), note="nothing from before the reset")
    b.send_data(b"not confirmed B")
    a.expect(Data(user_data=b"not confirmed B"), note="no confirmation before it")
    b.send(InterruptConfirmation())
    a.expect(InterruptConfirmation())
    a.send(InterruptConfirmation())
    b.expect(InterruptConfirmation())
    call.fence()
    old_confirmation_amid_the_next(call)
    call.fence()


def old_confirmation_amid_the_next(call: Call) -> None:
    """B confirms A's Interrupt from before A's reset, and then the reset. It is not the
    confirmation of the Interrupt behind that, which is end to end."""
    bench, a, b = call.bench, *both(call)
    a.send(Interrupt(user_data=b"before"))
    b.expect(Interrupt(user_data=b"before"))
    a.send(ResetRequest(cause=0, diagnostic=0))
    b.expect(ResetIndication(cause=0, diagnostic=0))
    bench.fence("a router that confirms by itself has confirmed")
    if not a.numbering.resetting:
        a.expect(ResetConfirmation())
        a.send(Interrupt(user_data=b"behind"))
        bench.fence("the router has the Interrupt")
        b.send(InterruptConfirmation(), ResetConfirmation())
    else:
        b.send(InterruptConfirmation(), ResetConfirmation())
        expect_after(
            a, ResetConfirmation(), *(() if call.model == "local" else (InterruptConfirmation(),))
        )
        a.send(Interrupt(user_data=b"behind"))
    b.expect(Interrupt(user_data=b"behind"))
    b.send_data(b"not confirmed B")
    a.expect(Data(user_data=b"not confirmed B"), note="no confirmation before it")
    b.send(InterruptConfirmation())
    a.expect(InterruptConfirmation())


@purpose("PLP-RST-12", both_sides=True)
def test_confirmation_that_is_not_due(call: Call) -> None:
    """Of no Reset, and the second in one segment with that of one, which the router has sent for an
    error of A. B has confirmed before."""
    bench, a, b = call.bench, call.a, call.b
    a.send(ResetConfirmation())
    if not expect_reset_or_ignored(call, 27):
        return
    a.send(ResetConfirmation())
    a.expect(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(27)))
    first = not b.present or far_end_is_reset_first(b)
    if not first:
        a.send(ResetConfirmation())
    b.expect(ResetIndication(cause=bench.remote_reset))
    b.send(ResetConfirmation())
    bench.fence("B's confirmation has been dealt with")
    if not first:
        call.fence()
        return
    a.send(ResetConfirmation(), ResetConfirmation())
    expect_reset(call, 27, note="A has confirmed a Reset twice")


#: Octet 3 of what is an error in d1, what stands behind it, and the diagnostic. None has numbers.
ERRORS = (
    *((INTERRUPT, b"", 38), (INTERRUPT, bytes(33), 39), (INTERRUPT_CONFIRMATION, b"", 43)),
    *((RESET_REQUEST, b"", 38), (RESET_REQUEST, bytes(3), 39), (RESET_CONFIRMATION, b"", 27)),
    (UNDEFINED, b"", 33),
)


@purpose("PLP-RST-29", both_sides=True)
def test_error_right_behind_a_reset(call: Call) -> None:
    """Each is the first that A sends behind a reset of A, and behind one of B."""
    for (octet_3, behind, code), way in product(ERRORS, (call, call.turned())):
        reset(way)
        call.bench.fence("the reset is complete at both sides")
        octets = header(call.a, octet_3) + behind
        call.a.put(octets)
        note = f"A has sent {octets.hex(' ')} right behind a reset of {way.a.name}"
        expect_reset(call, code, note=note)


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


@purpose("PLP-RST-14", both_sides=True)
def test_too_short_or_too_long(call: Call) -> None:
    """In modulo 128 too."""
    for way in modes(call):
        way.a.put(header(way.a, 0x1B))
        expect_reset(way, 38)
        way.a.send(ResetRequest(cause=0, diagnostic=0) / Raw(b"\0"))
        expect_reset(way, 39)


@purpose("PLP-RST-15")
def test_t12(bench: Bench) -> None:
    """One end does not confirm for two times T12: A, and in a second call at the same time B,
    which goes on sending Data; both in calls of modulo 128 as well.

    Before that it confirms a Reset that came twice: it is complete then, and leaves nothing to the
    next. In further calls, as far as there is room for them, the Reset that is not confirmed is one
    of the other end, passed on. A router that is the DTE of a line has T22 there, which is its own
    matter (Table D-2).
    """
    calls = [
        call
        for modulus in reversed(moduli(bench))
        for call in (bench.call(modulus=modulus), bench.call(modulus=modulus).turned())
        if not is_dte_of_a_line(bench, call.a)
    ]
    within = 1.2 * bench.profile.times.t12 + bench.reaction_limit
    _repeated(calls, within)
    for silent, far in map(both, calls):
        silent.send(ResetConfirmation())
        complete = b"Reset complete"
        silent.send_data(complete)
        told = ResetIndication(cause=bench.remote_reset)
        if isinstance(far.expect(far.data(complete), told), ResetIndication):
            far.send(ResetConfirmation())
            far.expect(far.data(complete))
    for call in calls:
        call.fence()
    # Those on a line whose DTE the router is are up as well.
    passed = _passed_on(bench, 2 * len(moduli(bench)))
    _repeated(calls, within)
    for silent, _ in map(both, passed):
        as_it_was = () if silent.router_is_dce else (ResetIndication(cause=0, diagnostic=7),)
        again = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(51))
        silent.expect(again, *as_it_was, within=within, note="T12 of a Reset that is passed on")
    for silent, far in map(both, [*calls, *passed]):
        cleared = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(51))
        here = silent.expect(cleared, within=within)
        assert here is not None
        silent.send(ClearConfirmation())
        there = at_the_other_end(bench, here, 51)
        remote = ClearIndication(cause=bench.remote_clear, diagnostic=there)
        seen = far.expect(remote, ResetIndication(cause=bench.remote_reset))
        if isinstance(seen, ResetIndication):
            # One that meets a Reset of this end confirms that (X.25 4.4.3.3).
            if not _awaits_confirmation(far):
                far.send(ResetConfirmation())
            far.expect(remote)
        far.send(ClearConfirmation())
    bench.fence()


def _passed_on(bench: Bench, up: int) -> list[Call]:
    """Calls beside those that are up, in each of which B has reset, and A has that and is silent.

    What becomes of the resets of the ends is their own matter in an end-to-end call and on a splice
    (RFC 1613 6.2).
    """
    ways = list(product(moduli(bench), (False, True))) if bench.model == "local" else []
    room = at_a_time(bench, len(ways), least=0, spare=up)
    for line in bench.profile.line.by_side().values():
        room = min(room, line.lcn[1] - line.lcn[0] + 1 - up)
    found: list[Call] = []
    for modulus, turned in ways[: max(0, room)]:
        try:
            call = bench.call(modulus=modulus)
        except NoChannel as full:
            bench.remark(f"T12 of {len(found)} Resets that are passed on was looked at: {full}")
            break
        call = call.turned() if turned else call
        if is_dte_of_a_line(bench, call.a):
            end(call)
            continue
        found.append(call)
        call.b.allow(ResetConfirmation())
        call.b.send(ResetRequest(cause=0, diagnostic=7))
        call.a.expect(ResetIndication(cause=0, diagnostic=7))
    return found


def _awaits_confirmation(side: Side) -> bool:
    """Whether this side has reset the call, and had no confirmation of that."""
    sent = [unit.packet[2] for unit in side.connection.sent]
    return RESET_REQUEST in sent and RESET_CONFIRMATION not in side.arrivals.types()


def _repeated(calls: Sequence[Call], within: float) -> None:
    """A makes an error, and does not confirm the Reset for it: it comes once more at T12.

    A DCE says then why (51, X.25 Table D-1). Where the router is none it may come as it was: to a
    DTE it is the same Reset Request once more (ISO/IEC 8208, T22), and on XOT no end is the DCE.
    """
    for call in calls:
        bench, silent = call.bench, call.a
        silent.send(
            silent.data(b"not the next", p_s=(silent.numbering.next_p_s + 5) % silent.modulus)
        )
        silent.expect(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(1)))
        if far_end_is_reset_first(call.b):
            call.b.expect(ResetIndication(cause=bench.remote_reset))
            call.b.send(ResetConfirmation())
    for call in reversed(calls):
        as_it_was = () if call.a.router_is_dce else (1,)
        diagnostic = call.bench.diagnostic(51, *as_it_was)
        again = ResetIndication(cause=call.bench.local_reset, diagnostic=diagnostic)
        if call is calls[-1] and call is not calls[0]:
            expect_while_sending(call.a, again, within=within)
        else:
            call.a.expect(again, within=within)


@purpose("PLP-RST-16", both_sides=True)
def test_causes_at_both_ends(call: Call) -> None:
    bench, a, b = call.bench, call.a, call.b
    skipping = a.data(b"P(S) 2 for 0", p_s=2)
    a.send(skipping)
    if bench.model == "end-to-end" and not bench.declared("N-CHECK"):
        expect_refusal(call, skipping, 1)
        return
    here = a.expect(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(1)))
    a.send(ResetConfirmation())
    there = at_the_other_end(bench, here, 1)
    b.expect(ResetIndication(cause=bench.remote_reset, diagnostic=there))
    b.send(ResetConfirmation())
    call.fence()


@purpose("PLP-RST-17")
def test_a_thousand_resets(call: Call) -> None:
    """By A and B in turn, 3 Data before each, and by both, in modulo 128 too; T12 has passed before
    the end."""
    pairs = (call.a, call.b), (call.b, call.a)
    for number in range(1000):
        sender, receiver = pairs[number % 2]
        for octets in (b"one", b"two", b"three"):
            sender.send_data(octets)
            receiver.expect(Data(user_data=octets))
        reset_by(sender, receiver, 0, number % 256)
    # A timer of either side that runs on behind a collision ends its call.
    ways = list(modes(call))
    for way in ways:
        race = call.bench.race("resets collided", 2, at_once=2)
        for number in race:
            race.reached(collide(way, race, number))
            deliver_from_0(way, b"after collision")
    arrived = [way.a.arrivals.end() for way in ways]
    more = 1.1 * call.bench.profile.times.t12
    call.a.wait_until(
        lambda: any(way.a.arrivals.since(came) for way, came in zip(ways, arrived, strict=True)),
        more,
    )
    for way in ways:
        way.fence()


@purpose("PLP-RST-18", both_sides=True)
def test_data_right_after_the_confirmation(call: Call) -> None:
    a, b = call.a, call.b
    call.fence()
    reset_by(a, b, 0, 0)
    deliver_from_0(call, b"at once")
    call.fence()


@purpose("PLP-RST-19", both_sides=True)
def test_reset_is_complete_at_b_before_new_data(call: Call) -> None:
    """Where the confirmation to A waits for B's, A cannot send before it comes.

    In modulo 128 too.
    """
    bench = call.bench
    for way in modes(call):
        a, b = both(way)
        a.send(ResetRequest(cause=0, diagnostic=0))
        b.expect(ResetIndication(cause=0, diagnostic=0))
        bench.fence("a router that confirms by itself has confirmed")
        if not a.numbering.resetting:
            a.expect(ResetConfirmation())
            a.send_data(b"new")
            bench.fence("B holds its confirmation")
            kind = Data128 if b.modulus == 128 else Data
            b.expect_count(kind(), 0, 0, note="B has not confirmed the reset")
            b.send(ResetConfirmation())
        else:
            b.send(ResetConfirmation())
            a.expect(ResetConfirmation())
            a.send_data(b"new")
        b.expect(b.data(b"new", p_s=0))
        way.fence()


@purpose("PLP-RST-20", window=7)
def test_resets_under_full_traffic(call: Call) -> None:
    """30 resets: by A, by B, by both, and so on; none of the Data is acknowledged.

    A reset may come when Data of both sides is on its way, or when some of it has arrived. Who is
    to reset sends first, so that no P(R) of its Data acknowledges any.
    """
    a, b = call.a, call.b
    assert isinstance(b, Side)
    race = call.bench.race("Data had come from the other side when the first one reset", 30)
    collisions = call.bench.race("resets collided under traffic", 10)
    each = iter(collisions)
    for number in race:
        a.withholding = b.withholding = True
        arrived = {side: len(side.arrivals.units) for side in (a, b)}
        sender, receiver = (a, b) if number % 3 == 0 else (b, a)
        for side in (sender, receiver):
            old = f"old {number} from {side.name}".encode()
            side.send(*(side.data(old) for _ in range(side.window - side.numbering.outstanding)))
        race.pause()
        race.reached(len(sender.arrivals.units) > arrived[sender])
        if number % 3 == 2:
            next(each)
            collisions.reached(collide(call, collisions, number, Data()))
        else:
            reset_by(sender, receiver, 0, number, Data())
        a.withholding = b.withholding = False
        deliver_from_0(call, f"new {number}".encode())
    call.fence()


@purpose("PLP-RST-24")
def test_nothing_of_a_sequence_that_waits(bench: Bench) -> None:
    """Of the side with the smaller packets, so the router may wait for more: B, or A. It resets,
    the other side does, and the router for an error of either. Then with RR, RNR or an Interrupt
    behind the sequence."""
    for call in each_way(bench, 512, 128):
        a, b = both(call)
        for something, (by, in_error) in product(
            (None, *AMID), ((b, False), (a, False), (b, True), (a, True))
        ):
            what = AMID[something] if something else "nothing"
            with amid(bench, f"with {what} behind the open sequence"):
                open_and_reset(call, something, by, in_error=in_error)


def open_and_reset(
    call: Call,
    something: Callable[[Call, int | None], None] | None,
    by: Side,
    *,
    in_error: bool,
) -> None:
    """B's sequence is open, something more is sent, and then one side resets, or makes an error."""
    a, b = both(call)
    half = b"old and open".ljust(b.packet_size)
    b.send(b.data(half, m=1))
    end(call.bench.fence("the router has it"))
    if something is not None:
        something(call.turned(), None)
    _reset_behind_data(call, by, in_error=in_error)
    b.send_data(b"new")
    a.expect(Data(p_s=0, user_data=b"new"), note="behind the reset")
    call.fence()


def _reset_behind_data(call: Call, by: Side, *, in_error: bool) -> None:
    """One side resets, or makes an error; Data may come to either before its Reset."""
    a, b = both(call)
    far = a if by is b else b
    if not in_error:
        reset_by(by, far, 0, 0, Data())
        return
    by.send(ResetConfirmation())
    expect_after(by, ResetIndication(), Data())
    first = far_end_is_reset_first(far)
    if not first:
        by.send(ResetConfirmation())
    expect_after(far, ResetIndication(), Data())
    for side in (b, a) if first else (far,):
        side.send(ResetConfirmation())


@purpose("PLP-RST-30")
def test_nothing_of_packets_in_parts(bench: Bench) -> None:
    """The other side has the smaller packets, takes the first parts of two with Q=1, and its window
    is shut. It resets, the sender does, and the router for an error of either."""
    for call in each_way(bench, 512, 128, window=2):
        a, b = both(call)
        for by, in_error in ((b, False), (a, False), (b, True), (a, True)):
            with amid(bench, f"{'an error' if in_error else 'a Reset'} of {by.name}"):
                _parts_and_reset(call, by, in_error=in_error)


def _parts_and_reset(call: Call, by: Side, *, in_error: bool) -> None:
    a, b = both(call)
    octets = call.bench.random.randbytes(2 * a.packet_size)
    b.withholding = True
    for m, part in ((1, octets[: a.packet_size]), (0, octets[a.packet_size :])):
        if may_send(a):
            a.send(a.data(part, q=1, m=m))
    may_come(b)
    _reset_behind_data(call, by, in_error=in_error)
    b.withholding = False
    a.send_data(b"new")
    b.expect(Data(p_s=0, q=0, m=0, user_data=b"new"), note="behind the reset")
    call.fence()
