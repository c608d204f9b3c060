# SPDX-License-Identifier: GPL-2.0-or-later
"""The router's counters against what the capture shows (RFC 1382, RFC 1381).

Numbers of events differ from each other, so that a counter that counts something else shows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from random import Random

from ..judges.counter_events import DEFINITIONS, AllButFirst, Packets
from ..sides.answers import NETWORK_CAUSES
from .callers import takes_any_caller
from .connections import send_in_pieces
from .counting import cleared_circuits, counting, frame_reject_kept, measure_age_beforehand
from .language import (
    CLOSED,
    Bench,
    Call,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Inconclusive,
    Interrupt,
    InterruptConfirmation,
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbI,
    LapbREJ,
    LapbRR,
    LapbSABM,
    LapbUA,
    LineSide,
    Raw,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
    Side,
    purpose,
)
from .links import ENDING, begin_again, polls
from .many import at_a_time, fill, hang_up, in_time, tidy
from .occasion import amid
from .reactions import both, header
from .test_hdlc import each_line, wrong_fcs


@purpose("SYS-MIB-01")
def test_calls_received(bench: Bench) -> None:
    with counting(bench, "calls_in"):
        for _ in range(5):
            call = bench.place_call()
            call.fence()
            hang_up([call])


@purpose("SYS-MIB-02")
def test_refused_calls(bench: Bench) -> None:
    """Three calls without a route, and one that comes about."""
    no_route = bench.profile.addresses.no_route
    bench.need(no_route, "the profile names no address without route (addresses.no_route)")
    assert no_route is not None
    with counting(bench, "call_refusals", "calls_in"):
        for _ in range(3):
            if not refused_without_a_route(bench, no_route):
                raise Inconclusive("calls are refused by a close of TCP, which shows no refusal")
        hang_up([bench.place_call()])


def refused_without_a_route(bench: Bench, called: str) -> bool:
    """The router refuses a Call itself; whether it says so with a Clear."""
    a = bench.connect()
    a.send(bench.call_request(called=called))
    told = a.expect(ClearIndication(cause=bench.network_clear), CLOSED) is not None
    if told:
        a.send(ClearConfirmation())
    a.close()
    return told


def refused_by_b(bench: Bench) -> None:
    """A call that B clears in place of an answer."""
    a = bench.connect()
    a.send(bench.call_request())
    b = bench.incoming()
    b.send(ClearRequest(cause=0, diagnostic=0))
    a.expect(ClearIndication())
    a.send(ClearConfirmation())
    b.expect(ClearConfirmation(), CLOSED)
    a.close()
    tidy(bench)


@purpose("SYS-MIB-03")
def test_calls_sent(bench: Bench) -> None:
    """Four calls that B accepts, two that it refuses."""
    with counting(bench, "calls_out", "call_failures"):
        hang_up(fill(bench, at_a_time(bench, 4)))
        refused_by_b(bench)
        refused_by_b(bench)


def cleared_by_b(bench: Bench, cause: int, diagnostic: int = 0) -> None:
    """A call that comes about and that B clears."""
    a, b = both(bench.place_call())
    b.send(ClearRequest(cause=b.cause_given(cause), diagnostic=diagnostic))
    a.expect(ClearIndication())
    a.send(ClearConfirmation())
    b.expect(ClearConfirmation(), CLOSED)
    a.close()
    tidy(bench)


def cleared_by_a(bench: Bench, cause: int) -> None:
    """The same, cleared by A."""
    a, b = both(bench.place_call())
    a.send(ClearRequest(cause=a.cause_given(cause), diagnostic=0))
    b.expect(ClearIndication())
    b.send(ClearConfirmation())
    a.expect(ClearConfirmation(), CLOSED)
    a.close()
    tidy(bench)


# The packet layer's counters that XOT has too. What an event does not count stands still.
OF_THE_PACKET_LAYER = (
    *("calls_in", "calls_out", "call_refusals", "call_failures", "data_in", "data_out"),
    *("data_octets_in", "data_octets_out", "interrupts_in", "interrupts_out", "clears_in"),
    *("clears_out", "provider_clears_in", "resets_in", "resets_out", "remote_resets_in"),
    *("provider_resets_in", "procedure_errors_in"),
)


@purpose("SYS-MIB-20")
def test_each_event_moves_its_own_counters(bench: Bench) -> None:
    """Data and an Interrupt; resets; Clears; a refusal."""

    def of_a_call() -> None:
        call = bench.place_call()
        exchange(call, 2, 1, 10)
        interrupt(*both(call)[::-1], b"B")
        hang_up([call])

    def resets() -> None:
        call = bench.place_call()
        for cause in (0x00, 0x07):
            reset_by_a(call, cause)
        hang_up([call])

    def clears() -> None:
        for cause in (0x00, 0x09):
            cleared_by_b(bench, cause)

    for event in (of_a_call, resets, clears):
        with counting(bench, *OF_THE_PACKET_LAYER):
            event()
    # RFC 1382 leaves open whether the router refuses a call that it only says B has refused.
    with counting(bench, *(name for name in OF_THE_PACKET_LAYER if name != "call_refusals")):
        refused_by_b(bench)


# What the router itself sends to the other side.
SENT_CLEARS = ("clears_out", "clears_out_by_cause")
SENT_RESETS = ("resets_out", "resets_out_by_cause")


# Of gateways between networks, which have bit 8 as those of DTEs have: who counts them as those of
# a network is right too.
OF_GATEWAYS = (0xC1, 0xC3, 0xC7)
# Those that are looked at one by one: causes of networks with bit 8, and the last.
SOME_OF_DTES = (0x00, *(cause | 0x80 for cause in NETWORK_CAUSES), 0xFF)
OF_DTES = (*SOME_OF_DTES, *(set(range(0x80, 0x100)) - {*SOME_OF_DTES, *OF_GATEWAYS}))


@purpose("SYS-MIB-04")
def test_clears_of_a_network(bench: Bench) -> None:
    """Four Clears of B with cause 9, two with cause 0, one with each of two private causes; then of
    B and of A one with each cause of a network, of a gateway and of a DTE."""
    by_cause = ("clears_in", "clears_in_by_cause", *SENT_CLEARS)
    with counting(bench, "provider_clears_in", *by_cause, causes=(0x00, 0x09, 0x80, 0x89)):
        for cause in (0x09, 0x00, 0x80, 0x09, 0x00, 0x89, 0x09, 0x09):
            cleared_by_b(bench, cause)
    for whose, causes, one_by_one in (
        ("networks", NETWORK_CAUSES, NETWORK_CAUSES),
        ("DTEs", OF_DTES, SOME_OF_DTES),
    ):
        with (
            amid(bench, f"causes of {whose}"),
            counting(bench, "provider_clears_in", *by_cause, causes=one_by_one),
        ):
            by_both(bench, causes)
    with amid(bench, "causes of gateways"), counting(bench, *by_cause, causes=OF_GATEWAYS):
        by_both(bench, OF_GATEWAYS)


def by_both(bench: Bench, causes: Sequence[int]) -> None:
    """A Clear of B, and one of A, with each of these, as far as there is time."""
    for number in in_time(bench, len(causes)):
        cleared_by_b(bench, causes[number])
        cleared_by_a(bench, causes[number])


def reset_by_a(call: Call, cause: int) -> None:
    call.a.send(ResetRequest(cause=call.a.cause_given(cause), diagnostic=0))
    call.b.expect(ResetIndication())
    call.b.send(ResetConfirmation())
    call.a.expect(ResetConfirmation())
    # Only a router that has the confirmation of B has to tell B of the next Reset.
    call.fence()


@purpose("SYS-MIB-05")
def test_resets_of_either_origin(bench: Bench) -> None:
    """Four Resets of A with cause 0, two with cause 7, one with each of three private causes."""
    names = ("remote_resets_in", "provider_resets_in", "resets_in_by_cause")
    with counting(bench, *names, *SENT_RESETS, causes=(0x00, 0x07, 0x80, 0x87)):
        call = bench.place_call()
        for cause in (0x00, 0x07, 0x80, 0x00, 0x87, 0x00, 0x07, 0xFF, 0x00):
            reset_by_a(call, cause)
        call.fence()
        hang_up([call])


def exchange(call: Call, there: int, back: int, octets: int) -> None:
    """So many Data of B and of A, each with that many octets and more."""
    a, b = both(call)
    for sender, receiver, count in ((a, b, there), (b, a, back)):
        for number in range(count):
            user_data = bytes([number]) * (octets + number)
            sender.send_data(user_data)
            receiver.expect(Data(user_data=user_data))


def sequences(call: Call) -> None:
    """Of A two sequences with Q=1, of B one: full packets with M=1, and an end."""
    a, b = both(call)
    for sender, receiver, count in ((a, b, 2), (b, a, 1)):
        for number in range(count):
            octets = bytes([number]) * (2 * sender.packet_size + 1)
            sender.send_message(octets, q=1)
            receiver.expect_message(octets, q=1)


@purpose("SYS-MIB-06")
def test_data_packets(bench: Bench) -> None:
    """Seven Data of A and four of B, sequences with M and Q, and those of a fence."""
    with counting(bench, "data_in", "data_out"):
        call = bench.place_call()
        exchange(call, 7, 4, 10)
        sequences(call)
        call.fence()
        hang_up([call])


def interrupt(sender: Side, receiver: Side, user_data: bytes) -> None:
    sender.send(Interrupt(user_data=user_data))
    receiver.expect(Interrupt(user_data=user_data))
    receiver.send(InterruptConfirmation())
    sender.expect(InterruptConfirmation())


@purpose("SYS-MIB-07")
def test_interrupts(bench: Bench) -> None:
    """Five Interrupts of A and three of B."""
    with counting(bench, "interrupts_in", "interrupts_out"):
        call = bench.place_call()
        a, b = both(call)
        for number in range(5):
            interrupt(a, b, bytes([number]))
        for number in range(3):
            interrupt(b, a, bytes([number]))
        call.fence()
        hang_up([call])


def error_of_a(bench: Bench) -> None:
    """A sends Call Accepted before B has answered its Call: both ends are cleared."""
    a = bench.connect()
    a.send(bench.call_request())
    b = bench.incoming()
    a.put(header(a, 0x0F))
    a.expect(ClearIndication(cause=bench.local_clear), CLOSED)
    _confirm(bench, a, b)


def error_in_data_transfer(bench: Bench, call: Call) -> None:
    """A sends Call Accepted on a call that is up; a splice would pass it on."""
    a, b = both(call)
    a.put(header(a, 0x0F))
    a.expect(ClearIndication(cause=bench.local_clear), CLOSED)
    _confirm(bench, a, b)


def _confirm(bench: Bench, a: Side, b: Side) -> None:
    if a.connection.end is None:
        a.send(ClearConfirmation())
    if b.expect(ClearIndication(), CLOSED) is not None:
        b.send(ClearConfirmation())
    a.close()
    tidy(bench)


@purpose("SYS-MIB-08")
def test_first_restart_is_not_counted(bench: Bench) -> None:
    """The link comes up, with its restart; then there are three more."""
    line = bench.line()
    restarts = {"restarts_in": AllButFirst(True, (RestartRequest(),))}
    with counting(bench, "restarts_in", on=interface_of(line), counted=restarts):
        line.link.bring_up()
        for _ in range(3):
            line.link.restart()
        line.link_fence()


@purpose("SYS-MIB-09")
def test_gauges_of_circuits(bench: Bench) -> None:
    """Six calls are up; then they are cleared, with errors between."""
    with counting(bench, "circuits"):
        calls = fill(bench, at_a_time(bench, 6, least=3))
        calls[-1].fence()
    with counting(bench, "circuits"):
        error_of_a(bench)
        hang_up(calls[: len(calls) // 2])
        error_of_a(bench)
        rest = calls[len(calls) // 2 :]
        if bench.model != "splice":
            error_in_data_transfer(bench, rest.pop())
        hang_up(rest)


@purpose("SYS-MIB-18")
def test_gauges_behind_a_lost_connection(bench: Bench) -> None:
    """Two calls come up; A resets the connection of one, B closes that of the other."""
    unmoved = {"circuits": Packets(None, ())}
    with counting(bench, "circuits", counted=unmoved):
        for lost_by_b in (False, True):
            a, b = both(bench.place_call())
            side, other = (b, a) if lost_by_b else (a, b)
            if lost_by_b:
                side.allow(ClearIndication())
                side.wire.half_close()
            else:
                side.wire.reset()
            if other.expect(ClearIndication(cause=bench.network_clear), CLOSED) is not None:
                other.send(ClearConfirmation())
            other.close()
            tidy(bench)


@purpose("SYS-MIB-10")
def test_accusations_of_procedure_errors(bench: Bench) -> None:
    """Clears of B with causes 0x13 and 0x09, Resets of A with causes 0x05 and 0x00."""
    with counting(bench, "procedure_errors_in"):
        for cause in (0x13, 0x09, 0x13):
            cleared_by_b(bench, cause)
        call = bench.place_call()
        for cause in (0x05, 0x00, 0x05, 0x05):
            reset_by_a(call, cause)
        call.fence()
        hang_up([call])


@purpose("SYS-MIB-12")
def test_octets_of_user_data(bench: Bench) -> None:
    """Eight Data of A and five of B, of different lengths, and sequences with M and Q.

    Their sum is not a multiple of 256 or less; where it can be, one packet alone has more.
    """
    size = min(1024, bench.profile.limits.packet_size)
    with counting(bench, "data_octets_in", "data_octets_out"):
        call = bench.place_call(options={"size": size})
        exchange(call, 8, 5, 60)
        sequences(call)
        call.fence()
        hang_up([call])


@purpose("SYS-MIB-13")
def test_table_of_cleared_circuits(bench: Bench) -> None:
    """Calls cleared by B with different causes and diagnostics, one cleared by A, one that B
    refuses, and one without a route.

    They come from different addresses where the network takes any. The diagnostics are drawn: those
    of an earlier run may still be in the table, and go as these come.
    """
    own = bench.profile.addresses.a
    no_route = bench.profile.addresses.no_route
    any_caller = takes_any_caller(bench)
    by_a, *by_b = Random(bench.run).sample(range(0xA0, 0xF0), 4)
    with cleared_circuits(bench):
        for number, cause in enumerate((0x00, 0x80, 0xC5), 1):
            calling = own[:-1] + str(number) if any_caller else own
            a, b = both(bench.place_call(bench.call_request(calling=calling)))
            b.send(ClearRequest(cause=cause, diagnostic=by_b[number - 1]))
            a.expect(ClearIndication())
            a.send(ClearConfirmation())
            b.expect(ClearConfirmation(), CLOSED)
            a.close()
            tidy(bench)
        call = bench.call()
        call.a.send(ClearRequest(cause=0, diagnostic=by_a))
        call.b.expect(ClearIndication())
        call.b.send(ClearConfirmation())
        call.a.expect(ClearConfirmation(), CLOSED)
        call.a.close()
        tidy(bench)
        refused_by_b(bench)
        if no_route is not None:
            refused_without_a_route(bench, no_route)
            tidy(bench)


def interface_of(line: LineSide) -> str:
    """The interface of the router at the other end of a line."""
    return line.name.lower()


def set_up_again(line: LineSide) -> None:
    """A link reset by the tester, and the restart behind it."""
    line.station.set_up()
    line.expect(LapbUA(p_f=1), passing=(LapbI(), LapbRR(), LapbFRMR()))
    line.link.restart()


def silent_polls(line: LineSide, count: int) -> None:
    """The router sends a packet; the tester answers only the last of so many polls for it."""
    line.by_hand = True
    line.send(LapbI() / Raw(line.layer.octets_of(RestartRequest(cause=line.restart_cause))))
    line.layer.expect(RestartConfirmation())
    began = time.monotonic()
    # T1 is measured by the router; a poll is an RR or the I frame again (X.25 2.4.5.9).
    command = line.response_address
    for number in range(count):
        line.expect(
            *polls(line),
            passing=(LapbI(p_f=0),),
            within=2 * line.profile.t1_at_most + line.context.reaction_limit,
        )
        if not number and time.monotonic() - began < line.profile.t1 / 2:
            raise Inconclusive("the router polls by itself, so that its T1 does not show")
    line.send(LapbRR(address=command, p_f=1))
    line.by_hand = False


@purpose("SYS-MIB-14")
def test_state_changes_and_t1(bench: Bench) -> None:
    """Two polls that nobody answers; then the link is reset three times."""
    measure_age_beforehand(bench)
    line = bench.line()
    line.link.bring_up()
    with counting(bench, "t1_timeouts", on=interface_of(line)):
        silent_polls(line, 2)
        line.link_fence()
    with counting(bench, "link_changes", on=interface_of(line)):
        for _ in range(3):
            set_up_again(line)
        line.link_fence()


@purpose("SYS-MIB-15")
def test_rejects(bench: Bench) -> None:
    """Three gaps in the numbering of the tester, for which the router rejects; two REJ of it."""
    measure_age_beforehand(bench)
    line = bench.line()
    line.link.bring_up()
    restart = RestartRequest(cause=line.restart_cause)
    with counting(bench, "rejects_in", "rejects_out", on=interface_of(line)):
        for _ in range(3):
            number = line.station.v_s
            ahead = LapbI(n_s=(number + 1) % 8) / Raw(line.layer.octets_of(restart))
            line.send(ahead)
            line.expect(LapbREJ(n_r=number))
            line.layer.send(restart)
            line.layer.expect(RestartConfirmation())
        line.send(LapbREJ(), LapbREJ())
        line.link_fence()


@purpose("SYS-MIB-19")
def test_frames_and_octets_of_a_line(bench: Bench) -> None:
    """On each line: three restarts, a message each way where there is a call, frames with a wrong
    FCS between them, and polls. Octets are those of whole frames, with their FCS."""
    names = ("frames_in", "frames_out", "octets_in", "octets_out")
    measure_age_beforehand(bench)
    for line in each_line(bench):
        line.link.bring_up()
        with counting(bench, *names, on=interface_of(line)):
            for number in range(3):
                line.wire.send_whole(
                    [wrong_fcs(line.frames.with_fcs(LapbRR(p_f=1)))] * (number + 1)
                )
                line.link.restart()
                line.poll()
            line.link_fence()


def rejections_counted(bench: Bench, line: LineSide) -> AbstractContextManager[None]:
    """FRMRs each way, where the profile maps a counter of them."""
    counters, names = bench.profile.counters, ("frame_rejects_in", "frame_rejects_out")
    if counters is None or not any(counters.paths(name) for name in names):
        return nullcontext()
    return counting(bench, *names, on=interface_of(line))


@purpose("SYS-MIB-16")
def test_last_frame_reject_is_kept(bench: Bench) -> None:
    """The router rejects a frame with an invalid N(R); then it is sent an FRMR."""
    line = bench.line()
    line.link.bring_up()
    with rejections_counted(bench, line), frame_reject_kept(bench, line, received=False):
        line.by_hand = True
        line.send(LapbRR(n_r=(line.station.v_r + 5) % 8))
        # Where a DTE resets the link (ISO/IEC 7776) nothing is kept.
        with bench.preamble():
            line.expect(LapbFRMR(z=1))
    line.by_hand = False
    set_up_again(line)
    with rejections_counted(bench, line), frame_reject_kept(bench, line, received=True):
        line.send(LapbFRMR(rejected_control=0x3F, v_r=3, v_s=2, w=1))
        set_up = line.expect(LapbSABM(), LapbDM(), passing=(LapbI(), LapbRR(), LapbDISC()))
    if isinstance(set_up, LapbDM):
        # Its link has ended; the next one is the tester's to begin (X.25 2.4.6.2).
        line.allow(*ENDING)
        begin_again(line)
    line.link.restart()
    line.link_fence()


@purpose("SYS-MIB-17")
def test_counters_rest(bench: Bench) -> None:
    """Nothing happens for the quiet time, and reading changes nothing."""
    with counting(bench, *DEFINITIONS, causes=(0x00, 0x09)):
        bench.loop.wait(lambda: False, bench.profile.times.quiet)
    bench.fence()


@purpose("SYS-MIB-21")
def test_packets_however_they_come(bench: Bench) -> None:
    """Of A and of B: five Data in one segment and one in three, with modulo 8 and with modulo 128
    where the router has it. What ends the call is left out: a router may close before it reads it.
    """
    names = ("packets_in", "packets_out", "data_in", "data_out")
    for modulus in (8, 128) if bench.declared("P-MOD128") else (8,):
        with counting(bench, *names, "data_octets_in", "data_octets_out"):
            call = bench.place_call(modulus=modulus, options={"window": 7})
            for here, there in (both(call), both(call)[::-1]):
                messages = [bytes([number]) * (20 + number) for number in range(5)]
                here.send(*(here.data(octets) for octets in messages))
                for octets in messages:
                    there.expect(there.data(octets))
                here.wait_for_window()
                octets = bench.record(60)
                send_in_pieces(here, here.unit_of(here.data(octets)), [2, 20])
                there.expect_message(octets)
            call.fence()
        hang_up([call])
