# SPDX-License-Identifier: GPL-2.0-or-later
"""Permanent circuits: every setup with its answer, and every way in which an end goes and comes
back, compared whole (RFC 1613 6.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from scapy_x25.x25 import RESET_REQUEST, packet_type

from ..judges.values import Matcher
from ..profile import PvcEnd
from .anew import again, as_new, refused_by_b
from .calls import other_end
from .clearing import end
from .connections import closes, until_stalled
from .language import (
    CLOSED,
    RNR,
    Bench,
    Call,
    Data,
    Interrupt,
    InterruptConfirmation,
    PvcSetup,
    Raw,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    one_of,
    purpose,
)
from .reactions import both, reset, resets
from .test_all_of_it import error
from .test_left_over import OLD, left_open
from .test_xot_pvc import (
    IMPOSSIBLE,
    OF_ANOTHER,
    OF_ANOTHER_NAME,
    SUCCESS,
    another_size,
    another_window,
    answer,
    circuit,
    closed,
    closes_too,
    data_passes,
    end_of,
    in_any_case,
    mismatch,
    opened,
    own_values,
    reset_behind_the_setup,
    setup,
    wrong_names,
)

# What the tester's own values are called in a setup; each is wrong by one in the list below.
VALUES = ("incoming_window", "outgoing_window", "incoming_packet_size", "outgoing_packet_size")
NUMBERS = ("pvc_initiator_lcn", "pvc_responder_lcn")


def yes(sent: PvcSetup, end: PvcEnd) -> list[PvcSetup]:
    """The setup as it comes back: status 0, its circuit, nothing behind the names, and the values
    of the responder, or those of the initiator as they were."""
    whole = type(sent)(bytes(sent))
    fields = {name: whole.getfieldval(name) for name in NUMBERS} | names(whole, setup(end))
    as_they_were = {f"pvc_{name}": whole.getfieldval(f"pvc_{name}") for name in VALUES}
    return [answer(SUCCESS, **fields, **v) / Raw() for v in (own_values(end), as_they_were)]


def names(*setups: PvcSetup) -> dict[str, Matcher]:
    """The names of an answer: as in one of the setups."""
    fields = ("pvc_initiator_name", "pvc_responder_name")
    return {field: in_any_case(*(whole.getfieldval(field) for whole in setups)) for field in fields}


def refuses(sent: PvcSetup, end: PvcEnd, refusal: PvcSetup) -> PvcSetup:
    """A refusal with the numbers of the setup, with those that the router has, or none: the
    initiator's and the responder's never change places."""
    told: PvcSetup = refusal.copy()
    for number in NUMBERS:
        known = (setup(end).getfieldval(number), sent.getfieldval(number), 0)
        told.fields[number] = one_of(*dict.fromkeys(known))
    return told


def attempt(bench: Bench, end: PvcEnd, refusals: Sequence[PvcSetup], **changes: Any) -> None:
    """A setup with these changes: it is refused so, or closed; without refusals it is accepted."""
    side = bench.connect()
    sent = setup(end, **changes)
    side.send(sent)
    right = yes(sent, end)
    refusals = [refuses(sent, end, refusal) for refusal in refusals]
    if refusals and bench.model == "local" and not any(w in name for name in changes for w in WHO):
        # With windows and sizes of each side's own.
        refusals = [*refusals, *right]
    came = side.expect(*(refusals or right), *((CLOSED,) if refusals else ()))
    if came is not None and came.pvc_status == SUCCESS:
        side.allow(ResetIndication())
    if side.connection.end is None:
        closed(side)


# Parts of the fields that say which circuit it is.
WHO = ("name", "lcn")


def attempts(bench: Bench, end: PvcEnd) -> None:
    """Each setup that is wrong in one thing, with a right one now and again."""
    attempt(bench, end, ())
    for name in ("responder", "initiator"):
        for wrong in (b"Nowhere0", *filter(None, wrong_names(bench, end, name))):
            attempt(bench, end, [answer(OF_ANOTHER_NAME)], **{f"pvc_{name}_name": wrong})
        attempt(bench, end, ())
    for name in ("responder", "initiator"):
        number = f"pvc_{name}_lcn"
        own = setup(end).getfieldval(number)
        for other in (own ^ 0x100, own ^ 0x02, 4095):
            attempt(bench, end, [answer(OF_ANOTHER)], **{number: other})
    attempt(bench, end, (), lcn=4000)
    for name in VALUES:
        right = setup(end).getfieldval(f"pvc_{name}")
        another = another_size if name.endswith("size") else another_window
        least = 4 if name.endswith("size") else 1
        for value in sorted({another(bench, right), max(right - 1, least)} - {right}):
            attempt(bench, end, mismatch(end), **{f"pvc_{name}": value})
        impossible = 13 if name.endswith("size") else 0
        attempt(bench, end, [answer(IMPOSSIBLE)], **{f"pvc_{name}": impossible})
        attempt(bench, end, ())


@purpose("XOT-PVC-31")
def test_every_setup(bench: Bench) -> None:
    """Beside a circuit that is up, which no attempt disturbs; then at that circuit itself."""
    other = bench.profile.pvc.asymmetric
    if other is None or bench.profile.pvc.b is None:
        attempts(bench, end_of(bench, "a"))
        bench.fence()
        return
    call = circuit(bench)
    told = [resets(side) for side in both(call)]
    attempts(bench, other)
    end = end_of(bench, "a")
    attempt(bench, end, [answer(OF_ANOTHER)], pvc_responder_name=b"Nowhere0")
    attempt(bench, end, [answer(OF_ANOTHER)], pvc_responder_lcn=4095)
    for way in (call, call.turned()):
        way.fence("the circuit that was up")
    for side, before in zip(both(call), told, strict=True):
        side.expect_count(ResetIndication(), before, before, start=0, note="none for the attempts")
    closed(*both(call))
    bench.fence()


def amid_everything(call: Call) -> None:
    """Each way one Data with Q=1 and M=1 that is not acknowledged, an Interrupt that is not
    confirmed, and RNR; numbers are not 0."""
    call.fence()
    for here, there in (both(call), both(call)[::-1]):
        there.allow(OLD)
        left_open(here, there)
    for side in both(call):
        side.send(RNR(p_r=side.numbering.p_r))


def amid_a_reset(call: Call) -> None:
    """The second end resets the circuit, and goes."""
    call.fence()
    _, goes = both(call)
    goes.allow(ResetConfirmation())
    goes.send(ResetRequest(cause=0, diagnostic=0))


def amid_nothing(call: Call) -> None:
    call.fence()


MIDDLES: dict[Callable[[Call], None], str] = {
    amid_everything: "everything",
    amid_a_reset: "a reset",
    amid_nothing: "nothing",
}


def lost(side: Side) -> None:
    """TCP resets its connection."""
    side.wire.reset()


def goes_and_comes(
    call: Call,
    name: str,
    closes: dict[str, bool],
    goes_by: Callable[[Side], None] = closed,
) -> Call:
    """The second end of the call closes its connection and is set up again. A router may close the
    first one as well, and then that comes again too.

    goes_by: how its connection ends. closes: by the end that went, whether the other one was closed
    as well. Amid a reset that has to be known: the Reset that comes first may be the tester's own,
    passed on, and the close be behind it.
    """
    bench, (stays, goes) = call.bench, both(call)
    told = resets(stays)
    goes_by(goes)
    closes[name] = closes_too(stays, told, closes.get(name))
    if closes[name]:
        closed(stays)
        stays = opened(bench, end_of(bench, other_end(name)), other_end(name))
    stays.withholding = False
    ends = {name: opened(bench, end_of(bench, name), name), other_end(name): stays}
    whole = Call(bench, ends["a"], ends["b"])
    reset_behind_the_setup(whole)
    return whole


@purpose("XOT-PVC-32")
def test_an_end_goes_amid_anything(bench: Bench) -> None:
    """A's, then B's, amid each thing: behind it both directions are as new."""
    call, closes = circuit(bench), dict[str, bool]()
    for middle, what in MIDDLES.items():
        for name in ("a", "b"):
            way = call.turned() if name == "a" else call
            middle(way)
            call = goes_and_comes(way, name, closes)
            as_new(call, f"{name.upper()}'s end is back, it went amid {what}")
    for name in ("a", "b"):
        way = call.turned() if name == "a" else call
        call = goes_and_comes(way, name, closes, lost)
        as_new(call, f"{name.upper()}'s end is back, TCP had reset its connection")
    closed(*both(call))
    bench.fence()


AWAY_DATA, AWAY_INTERRUPT = Data(user_data=b"while away"), Interrupt(user_data=b"while away")


@purpose("XOT-PVC-35")
def test_what_is_sent_to_an_end_that_is_away(bench: Bench) -> None:
    """A's, then B's. A router may reset for it, discard it, or hold it for a while; by
    the Reset of the circuit that is whole again it is gone."""
    call, gone = circuit(bench), dict[str, bool]()
    for name in ("a", "b"):
        stays, goes = both(call.turned() if name == "a" else call)
        told = resets(stays)
        closed(goes)
        gone[name] = closes_too(stays, told, gone.get(name))
        if gone[name]:
            stays = reopened(bench, stays, other_end(name))
        bench.fence("the router has the confirmation of its Reset")
        stays.allow(InterruptConfirmation())
        stays.send(AWAY_DATA)
        stays.send(AWAY_INTERRUPT)
        bench.fence("the router has what was sent")
        if stays.connection.end is not None:
            bench.remark("what is sent to an end that is away ends the connection")
            stays = reopened(bench, stays, other_end(name))
        back = opened(bench, end_of(bench, name), name)
        back.allow(AWAY_DATA, AWAY_INTERRUPT)
        ends = {name: back, other_end(name): stays}
        call = Call(bench, ends["a"], ends["b"])
        reset_behind_the_setup(call)
        note = f"{name.upper()}'s end is back, and was away when {stays.name} sent"
        as_new(call, note)
        resets_of_it = [
            unit.offset
            for unit in back.arrivals.since(0)
            if packet_type(unit.packet) == RESET_REQUEST
        ]
        for packet in (AWAY_DATA, AWAY_INTERRUPT):
            back.expect_count(packet, 0, 0, start=min(resets_of_it, default=0), note=note)
    closed(*both(call))
    bench.fence()


def reopened(bench: Bench, side: Side, name: str) -> Side:
    """An end whose connection the router has closed, on another one."""
    closed(side)
    return opened(bench, end_of(bench, name), name)


# Octets that end a connection (RFC 1613 4.1): a unit of another version, lengths that no packet
# has. For the last one a router may wait until no more octets come.
BAD_UNITS = {
    "version 1": bytes.fromhex("0001 0004 10 01 00 41"),
    "version 256": bytes.fromhex("0100 0004 10 01 00 41"),
    "length 0": bytes.fromhex("0000 0000"),
    "length 1": bytes.fromhex("0000 0001 10"),
    "length 2": bytes.fromhex("0000 0002 10 01"),
    "length 65535": bytes.fromhex("0000 ffff"),
}


@purpose("XOT-PVC-36")
def test_headers_that_end_a_circuit(bench: Bench) -> None:
    """From A, then from B: that connection is closed, the other end is told, and the circuit can be
    set up again."""
    call, gone = circuit(bench), dict[str, bool]()
    for what, octets in BAD_UNITS.items():
        for name in ("a", "b"):
            stays, goes = both(call.turned() if name == "a" else call)
            told, mark = resets(stays), stays.connection.received_octets
            goes.wire.send(octets)
            closes(goes, within=until_stalled(bench) if octets[2:] == b"\xff\xff" else None)
            gone[name] = closes_too(stays, told, gone.get(name))
            if gone[name]:
                stays = reopened(bench, stays, other_end(name))
            else:
                stays.expect_count(ResetIndication(), 1, start=mark, note=f"{what} of {goes.name}")
            goes.close()
            ends = {name: opened(bench, end_of(bench, name), name), other_end(name): stays}
            call = Call(bench, ends["a"], ends["b"])
            reset_behind_the_setup(call)
            data_passes(call, note=f"behind {what} of {goes.name}")
    closed(*both(call))
    bench.fence()


@purpose("XOT-PVC-33")
def test_circuit_and_calls_of_the_same_peers(bench: Bench) -> None:
    """Each is reset, makes an error, ends and begins while an Interrupt of the other waits for its
    confirmation, which comes then; and no Reset comes that the other has not asked for."""
    line = circuit(bench)
    call = bench.place_call()
    for happens in (reset_by_both, error_of_both, ends_and_begins):
        with undisturbed(line, f"the call: {happens.__name__.replace('_', ' ')}"):
            call = happens(call)
    for way in (line, line.turned()):
        here, there = both(way)
        with undisturbed(call, f"a reset of the circuit by {here.name}"):
            here.send(ResetRequest(cause=0, diagnostic=0))
            there.expect(ResetIndication(cause=0, diagnostic=0))
            here.expect(ResetConfirmation())
            way.fence()
    for name in ("a", "b"):
        way = line.turned() if name == "a" else line
        with undisturbed(call, f"the circuit's end at {name.upper()} goes and comes back"):
            line = goes_and_comes(way, name, {})
            data_passes(line)
    end(call)
    closed(*both(line))
    bench.fence()


@contextmanager
def undisturbed(beside: Call, what: str) -> Iterator[None]:
    """An Interrupt each way is open before something happens elsewhere, and confirmed behind it."""
    ways = (both(beside), both(beside)[::-1])
    told = [resets(side) for side in both(beside)]
    for here, there in ways:
        here.send(Interrupt(user_data=b"beside"))
        there.expect(Interrupt(user_data=b"beside"))
    yield
    for here, there in ways:
        there.send(InterruptConfirmation())
        here.expect(InterruptConfirmation(), note=what)
    beside.fence(what)
    for side, before in zip(both(beside), told, strict=True):
        side.expect_count(ResetIndication(), before, before, start=0, note=what)


def reset_by_both(call: Call) -> Call:
    for way in (call, call.turned()):
        reset(way)
    return call


def error_of_both(call: Call) -> Call:
    if call.model != "splice":
        for way in (call, call.turned()):
            error(way)
    return call


def ends_and_begins(call: Call) -> Call:
    """A clears, B refuses the next call, and another one comes about."""
    end(call)
    return again(call.bench, refused_by_b(call.bench, call.a))
