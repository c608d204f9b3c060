# SPDX-License-Identifier: GPL-2.0-or-later
"""Procedure errors on a permanent circuit over XOT (X.25 Table C-4; RFC 1613 6.5)."""

from __future__ import annotations

from itertools import product

from ..profile import PvcEnd
from . import test_left_over as left_over
from . import test_plp_int as interrupts
from .collisions import collide
from .connections import SMALLEST_SIZE
from .language import (
    CLOSED,
    REJ,
    RNR,
    RR,
    Bench,
    Call,
    ClearIndication,
    Data,
    Diagnostic,
    Interrupt,
    InterruptConfirmation,
    Packet,
    PvcSetup,
    RegistrationConfirmation,
    RegistrationRequest,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
    Side,
    not_in,
    one_of,
    purpose,
)
from .many import MORE, has_room, limit, tidy
from .occasion import amid
from .procedure_errors import expect_after
from .reactions import both, resets, was_reset, with_gfi
from .test_plp_malf import NO_MODULO, WITHOUT_NUMBERS, WRONG_GFI
from .test_plp_rst import deliver_from_0
from .test_xot_forb import STANDS, discarded_in_data_transfer
from .test_xot_pvc import (
    AWAY,
    SUCCESS,
    VERSION,
    asymmetric,
    attempt_of_the_router,
    circuit,
    closed,
    confirms_resets,
    data_passes,
    echoes,
    end_of,
    opened,
    reply,
    resets_by_hand,
    setup,
    the_other_end_is_there,
)
from .transfer import confirmed_by_b_alone
from .walks.all_of_it import is_reset_for_all
from .walks.wrong import LONGEST
from .windows import data_between, fill_window, may_send

# Errors that a DTE may ignore (ISO/IEC 8208), by their names among all errors of a call.
A_DTE_MAY_IGNORE = ("stray-confirmation", "stray-reset-confirmation", "undefined")


def errors_of(side: Side) -> list[tuple[Packet, int]]:
    """What is wrong in data transfer, each with its diagnostic."""
    numbers = side.numbering
    errors: list[tuple[Packet, int]] = [
        (side.data(b"P(S)", p_s=(numbers.next_p_s + 3) % 8), 1),
        (side.data(b"P(R)", p_r=(numbers.p_r + 5) % 8), 2),
    ]
    if side.packet_size < LONGEST:
        errors.append((side.data(bytes(side.packet_size + 1)), 39))
    if not side.context.declared("R-DTE"):
        errors += [(InterruptConfirmation(), 43), (ResetConfirmation(), 27)]
    return errors


@purpose("XOT-PVC-24")
def test_errors_on_a_circuit(bench: Bench) -> None:
    """Of A and of B: the end that made the error is reset with its diagnostic, the other one as a
    remote error, and Data passes again. The tester confirms each Reset at once; behind that come
    all errors that calls are tried with."""
    bench.need(bench.model == "local", "relay_model local: numbers of its own at each end")
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
    with resets_by_hand(*both(call)):
        without = A_DTE_MAY_IGNORE if bench.declared("R-DTE") else ()
        is_reset_for_all(bench, call, "on a permanent circuit", without=without)
    closed(*both(call))
    bench.fence()


WRONG = b"wrong GFI"


@purpose("XOT-PVC-38")
def test_wrong_gfi_on_a_circuit(bench: Bench) -> None:
    """Data, an Interrupt and a Reset from either end, each of which would be right otherwise: the
    router discards it, resets the circuit or closes, and Data passes again."""
    call = circuit(bench)
    packets = [(b"", gfi << 4) for gfi in WRONG_GFI]
    packets += product(WITHOUT_NUMBERS[:2], NO_MODULO)
    for (without, gfi), turned in product(packets, (False, True)):
        here, there = both(call.turned() if turned else call)
        octets = without or here.octets_of(here.data(b"\0" + WRONG))[2:]
        note = f"octet 1 of a packet of {here.name} was 0x{gfi:02x}"
        there.never(
            Interrupt(), *(Data(user_data=read) for read in (WRONG, b"\0" + WRONG)), note=note
        )
        here.never(ResetConfirmation(), note=note)
        here.allow(Diagnostic(diagnostic=bench.diagnostic(40)))
        here.put(with_gfi(here, gfi, octets[0]) + octets[1:])
        bench.fence("the router has the packet")
        bench.fence("the router has confirmations of its Resets")
        if any(side.connection.end is not None for side in (here, there)):
            bench.remark("a wrong GFI ends a connection of the circuit")
            closed(here, there)
            call = circuit(bench)
        data_passes(call, note)
    closed(*both(call))
    bench.fence()


@purpose("XOT-PVC-34")
def test_packets_of_one_link(bench: Bench) -> None:
    """On either connection, in data transfer: discarded, as on that of a call. A Restart resets the
    permanent circuits of a line, and none here (RFC 1613 6.4). A DTE Reject also while Data waits
    for an acknowledgement, and all of them amid what else there may be."""
    call = circuit(bench)
    told = [resets(side) for side in both(call)]
    for way in (call, call.turned()):
        discarded_in_data_transfer(
            way,
            RestartRequest(cause=0, diagnostic=0),
            RestartConfirmation(),
            Diagnostic(diagnostic=36, explanation=b"\x10\x01\x13"),
            RegistrationRequest(registration=b""),
            RegistrationConfirmation(cause=0x7F, diagnostic=0, registration=b""),
        )
        with amid(bench, f"a DTE Reject of {way.a.name}"):
            discarded_in_data_transfer(way, REJ(p_r=way.a.numbering.p_r))
            rejects_what_it_has(way)
        for stands, what in STANDS.items() if bench.model != "splice" else ():
            with amid(bench, f"from {way.a.name}, {what}"):
                stands(way)
                way.fence()
    for side, before in zip(both(call), told, strict=True):
        note = "none for packets of one link"
        side.expect_count(ResetIndication(), before, before, start=0, note=note)
    closed(*both(call))
    bench.fence()


def rejects_what_it_has(call: Call) -> None:
    """A has two Data that it has not acknowledged, asks for both by a DTE Reject, and then
    acknowledges them. A router that obeys sends them once more."""
    a, b = both(call)
    first, a.withholding = a.numbering.p_r, True
    held = fill_window(b, a, [call.bench.record(40), call.bench.record(40)])
    a.withholding = False
    a.allow(*(a.data(octets) for octets in held.sent[held.came :]))
    discarded_in_data_transfer(call, REJ(p_r=first), RR(p_r=(first + held.came) % 8))


@purpose("XOT-PVC-37")
def test_resets_of_both_ends_cross(bench: Bench) -> None:
    """Ten times: behind each, Data passes both ways and is numbered from 0."""
    call = circuit(bench)
    race = bench.race("resets of a permanent circuit collided", 10)
    with resets_by_hand(*both(call)):
        for number in race:
            race.reached(collide(call, race, number))
            deliver_from_0(call, b"after collision")
        call.fence()
    closed(*both(call))
    bench.fence()


@purpose("XOT-PVC-39")
def test_what_waits_for_the_other_confirmation(bench: Bench) -> None:
    """As PLP-RST-21, -22, -23, -26 and PLP-INT-13, on a permanent circuit and from each of its
    ends."""
    call = circuit(bench)
    with resets_by_hand(*both(call)):
        left_over.leaves_nothing(call)
        for way in (call, call.turned()):
            with amid(bench, f"a reset of {way.a.name}"):
                left_over.test_interrupt_behind_a_reset(way)
                left_over.test_interrupt_between_two_resets(way)
                interrupts.test_confirmation_of_an_interrupt_from_before_a_reset(way)
            if bench.model == "local" and not bench.declared("R-DTE"):
                with amid(bench, f"an error of {way.a.name}"):
                    left_over.test_what_waits_for_the_other_confirmation(way)
    closed(*both(call))
    bench.fence()


@purpose("XOT-PVC-29")
def test_d_bit_on_a_circuit(bench: Bench) -> None:
    """Three Data each way: P(R) comes from the other end."""
    call = circuit(bench)
    for way in (call, call.turned()):
        for number in range(3):
            confirmed_by_b_alone(way, f"D=1 {number}".encode())
    closed(*both(call))
    bench.fence()


OLD = Data(user_data=b"old")


@purpose("XOT-PVC-25")
def test_reset_drops_what_is_held(bench: Bench) -> None:
    """Both ends have sent what they may and acknowledge nothing. A resets, and then B does: behind
    it numbers begin at 0, and nothing of what the circuit held comes, in either direction."""
    call = circuit(bench)
    for way in (call, call.turned()):
        here, there = both(way)
        hold(way)
        here.send(ResetRequest(cause=0, diagnostic=0))
        expect_after(there, ResetIndication(), OLD)
        expect_after(here, ResetConfirmation(), OLD)
        for side in (here, there):
            side.withholding = False
        for sender, receiver in ((there, here), (here, there)):
            note = f"behind a reset of {here.name}"
            for number in range(sender.window + 1):
                sender.send_data(b"new")
                receiver.expect(Data(p_s=number % 8, user_data=b"new"), note=note)
    closed(*both(call))
    bench.fence()


def hold(call: Call) -> None:
    """Each end acknowledges nothing, and the other has sent all that it may, twice."""
    acknowledged = {side.name: side.numbering.p_r for side in both(call)}
    for side in both(call):
        side.withholding = True
    for _ in range(2):
        for side in both(call):
            while side.numbering.outstanding < side.window:
                side.send(side.data(b"old", p_r=acknowledged[side.name]))
        call.bench.fence("the router has what both ends have sent")


@purpose("XOT-PVC-26")
def test_no_clear_for_want_of_a_confirmation(bench: Bench) -> None:
    """B is up, A confirms no Reset for more than two times T12. How the router goes on is its own
    matter, but a permanent circuit knows no Clear."""
    end = end_of(bench, "a")
    with bench.preamble():
        b = opened(bench, end_of(bench, "b"), "b")
        a = bench.connect()
        a.lcn = end.remote_lcn
        a.send(setup(end))
        a.expect(PvcSetup(pvc_version=VERSION, pvc_status=SUCCESS))
    a.allow(ResetIndication())
    a.never(ClearIndication(), from_start=True)
    b.never(ClearIndication(), from_start=True)
    over = 2.4 * bench.profile.times.t12
    a.wait_until(lambda: a.phase == "being cleared" or a.connection.end is not None, over)
    closed(a, b)
    bench.fence()


# A router that stores more than so many packets is not tried further, and one that opens the
# window each time as it is overrun not more often.
MOST_STORED, MOST_TRIES = 60, 4


@purpose("XOT-PVC-27")
def test_each_direction_has_its_own_window(bench: Bench) -> None:
    """The tester sends what its window lets it and acknowledges nothing of what returns: no more
    comes than the other window takes. Where its own stays shut, one Data more is an error.

    What the circuit is joined to is not said: nothing need return, and the window need not shut.
    """
    end = end_of(bench, "asymmetric")
    side = asymmetric(bench, end)
    begin = side.connection.received_octets
    side.withholding, p_r = True, side.numbering.p_r
    reset = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(1))
    sent, came = 0, None
    for attempt in range(MOST_TRIES):
        sent += filled(bench, side, p_r, patient=attempt > 0, most=MOST_STORED - sent)
        most = end.outgoing_window
        side.expect_count(Data(), 0, most, start=begin, note="none is acknowledged")
        if bench.model != "local" or side.numbering.outstanding < side.window:
            break
        edge = side.numbering.acknowledged
        opened_to = {(edge + count) % 8 for count in range(1, side.window + 2)} - {edge}
        side.send(side.data(b"outside", p_s=side.numbering.next_p_s, p_r=p_r))
        sent += 1
        shut = (RR(p_r=edge), RNR(p_r=edge))
        opening = (RR(p_r=one_of(*opened_to)), RNR(p_r=one_of(*opened_to)), Data())
        returned = data_between(side, begin, side.connection.received_octets)
        away = () if returned else (AWAY,)
        came = side.expect(reset, *away, *opening, passing=shut, note="outside the window")
        if isinstance(came, ResetIndication):
            the_other_end_is_there(side)
            break
    if not isinstance(came, ResetIndication):
        bench.remark("the window of the circuit is not seen to be shut")
    closed(side)
    bench.fence()


def filled(bench: Bench, side: Side, p_r: int, *, patient: bool, most: int) -> int:
    """Send Data, all with one P(R), until the window is shut behind a round trip, with patience
    also behind TQ, or until so many are sent. How many were."""
    sent = 0
    while sent < most:
        if side.numbering.outstanding < side.window:
            side.send(side.data(b"in the window", p_r=p_r))
            sent += 1
            continue
        bench.fence("the router has what was sent")
        if side.numbering.outstanding == side.window and not (patient and may_send(side)):
            break
    return sent


@purpose("XOT-PVC-28")
def test_cause_and_diagnostic_pass(bench: Bench) -> None:
    """Of A and of B: what a DTE says of its reset is told to the other end (X.25 5.4.3)."""
    call = circuit(bench)
    for cause, diagnostic in ((0x00, 7), (0x00, 0xF1), (0x80, 0), (0xC1, 0x80), (0xFF, 0xFF)):
        for way in (call, call.turned()):
            here, there = both(way)
            here.send(ResetRequest(cause=cause, diagnostic=diagnostic))
            there.expect(ResetIndication(cause=cause, diagnostic=diagnostic))
            here.expect(ResetConfirmation())
            data_passes(way, f"behind a reset of {here.name}")
    closed(*both(call))
    bench.fence()


@purpose("XOT-PVC-40")
def test_setups_lose_no_channel(bench: Bench) -> None:
    """MAXCALLS and ten times each: a setup for a name that nobody has; one that a close cuts short;
    a circuit that is reset, or closed, before its Reset is confirmed. Then the circuit comes up,
    and MAXCALLS calls."""
    end = end_of(bench, "a")
    for tries in (_for_nobody, _cut_short, _reset_once_it_is_up, _closed_once_it_is_up):
        for _ in range(limit(bench) + MORE):
            a = bench.capacity.in_the_end(bench.connect)
            tries(a, end)
            # What the router sets up itself meanwhile is answered.
            bench.listeners.is_called("a")
            tidy(bench)
    data_passes(circuit(bench), "behind all of them")
    for side in bench.sides:
        side.close()
    has_room(bench)


def _for_nobody(a: Side, end: PvcEnd) -> None:
    a.send(setup(end, pvc_responder_name=b"Nobody9/9"))
    a.expect(PvcSetup(pvc_status=not_in(SUCCESS)), CLOSED)
    closed(a)


def _cut_short(a: Side, end: PvcEnd) -> None:
    a.wire.send(a.unit_of(setup(end))[:10])
    closed(a)


def _reset_once_it_is_up(a: Side, end: PvcEnd) -> None:
    _is_answered(a, end)
    a.wire.reset()


def _closed_once_it_is_up(a: Side, end: PvcEnd) -> None:
    _is_answered(a, end)
    closed(a)


def _is_answered(a: Side, end: PvcEnd) -> None:
    """The circuit of the connection before it may be on its way out: then it is refused."""
    a.send(setup(end))
    a.allow(ResetIndication())
    a.expect(PvcSetup(), CLOSED)


@purpose("XOT-PVC-41")
def test_circuit_of_the_router_in_data_transfer(bench: Bench) -> None:
    """Behind the setup, behind two resets of the tester, and behind an error of it where the router
    checks numbers: Data that returns and Interrupts that are confirmed."""
    end = end_of(bench, "outgoing")
    with attempt_of_the_router(bench, end) as side:
        with bench.preamble():
            side.expect(PvcSetup(pvc_status=SUCCESS))
            side.send(reply(end, SUCCESS))
            confirms_resets(side)
            side.wait_until(lambda: was_reset(side))
            # One of the set-up may still be on its way: two that cross have no confirmation.
            side.allow(ResetConfirmation())
            side.send(ResetRequest(cause=0, diagnostic=0))
            side.wait_until(lambda: not side.numbering.resetting)
            echoes(bench, side)
        returns_all(bench, side, "a new circuit of the router")
        for number in (1, 2):
            side.send(ResetRequest(cause=0, diagnostic=0))
            side.expect(ResetConfirmation())
            returns_all(bench, side, f"reset {number} of a circuit of the router", first=0)
        for number in range(len(errors_of(side)) if bench.model == "local" else 0):
            error, code = errors_of(side)[number]
            side.send(error)
            diagnostic = bench.diagnostic(code)
            side.expect(ResetIndication(cause=bench.local_reset, diagnostic=diagnostic))
            returns_all(bench, side, f"error {code} on a circuit of the router", first=0)
        closed(side)
    bench.fence()


def returns_all(bench: Bench, side: Side, note: str, first: int | None = None) -> None:
    """A short message, a long one, more than once round the numbers; some at once of which none is
    acknowledged before the last; one behind RNR; and Interrupts of each length.

    first: P(S) of the Data that returns first.
    """
    for octets in (SMALLEST_SIZE, 2 * side.packet_size + 1):
        message = bench.random.randbytes(octets)
        side.send_message(message)
        if first is not None and octets == SMALLEST_SIZE:
            side.expect_message(message, p_s=first, note=note)
        else:
            side.expect_message(message, note=note)
    for _ in range(9):
        echoed(side, sent(side, 1), note)
    side.withholding = True
    messages = sent(side, side.window)
    bench.fence("the router has what was sent")
    echoed(side, messages, note)
    side.send(RNR(p_r=side.numbering.p_r))
    echoed(side, sent(side, 1), note)
    side.allow(Interrupt())
    for octets in (1, 32) if bench.declared("P-INT32") else (1,):
        side.send(Interrupt(user_data=bytes(octets)))
        side.expect(InterruptConfirmation(), note=note)


def sent(side: Side, most: int) -> list[bytes]:
    """Messages of one packet each, so many or as many as the window takes."""
    messages: list[bytes] = []
    side.wait_for_window()
    while len(messages) < most and side.numbering.outstanding < side.window:
        messages.append(side.context.random.randbytes(SMALLEST_SIZE))
        side.send(side.data(messages[-1]))
    return messages


def echoed(side: Side, messages: list[bytes], note: str) -> None:
    """They return; what returns is acknowledged from now on."""
    side.withholding = False
    side.acknowledge()
    for message in messages:
        side.expect_message(message, note=note)
