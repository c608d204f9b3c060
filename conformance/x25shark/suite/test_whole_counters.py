# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters of each type of packet, and gauges of circuits whatever ends one (RFC 1382)."""

from __future__ import annotations

from collections.abc import Callable

from scapy_x25 import RNR128

from ..judges.counter_events import OF_A_CHANNEL, OF_A_LINE, Packets
from .anew import is_gone
from .calls import checks_calls, pending
from .clearing import refused
from .connections import attempt_ends
from .counting import counting
from .language import (
    CLOSED,
    RNR,
    RR,
    RR128,
    Bench,
    Call,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Diagnostic,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    purpose,
)
from .links import calls_lines
from .many import at_a_time, fill, hang_up, tidy
from .occasion import amid
from .reactions import both
from .scene import Scene
from .test_hdlc import each_line
from .test_plp_diag import brings
from .test_plp_diag import header as line_header
from .test_plp_rstrt import restart
from .test_sys_mib import interface_of, interrupt
from .test_whole_restarts import STARTS, by_the_router, by_the_tester, started_anew, with_a_new_link
from .test_xot_pvc import circuit, closed
from .whole_calls import WAYS, from_b, makes_all
from .whole_errors import ERRORS, among

# A circuit is up or it is not: behind its end a gauge is where it was.
AS_BEFORE = {"circuits": Packets(None, ())}


def window_status(side: Side, busy: int) -> None:
    """So many RNR and one RR more, none of which acknowledges anything new."""
    ready, not_ready = (RR128, RNR128) if side.modulus == 128 else (RR, RNR)
    p_r = side.numbering.p_r
    side.send(*[not_ready(p_r=p_r), ready(p_r=p_r)] * busy, ready(p_r=p_r))


def reset(call: Call) -> None:
    """By side A; nothing of either side crosses it, and the next one has to reach B again."""
    call.fence()
    call.a.send(ResetRequest(cause=0, diagnostic=0))
    call.b.expect(ResetIndication(cause=0, diagnostic=0))
    call.b.send(ResetConfirmation())
    call.a.expect(ResetConfirmation())
    call.fence()


def clear(call: Call, beside: Call) -> None:
    """By side A. B confirms when another call has shown that the router has not closed instead."""
    call.fence()
    a, b = both(call)
    a.send(ClearRequest(cause=0, diagnostic=0))
    b.expect(ClearIndication(cause=0, diagnostic=0))
    beside.fence()
    if not is_gone(b):
        b.send(ClearConfirmation())
    a.expect(ClearConfirmation(), CLOSED)
    beside.fence()


@purpose("SYS-MIB-24")
def test_each_type_of_packet(bench: Bench) -> None:
    """What one side does the other one does too, not as often."""
    at_a_time(bench, 3, least=3)
    for modulus in (8, 128) if bench.declared("P-MOD128") else (8,):
        calls = []
        with amid(bench, "calls, with Data each way"), counting(bench, *OF_A_CHANNEL):
            for _ in range(3):
                calls.append(bench.place_call(modulus=modulus))
                calls[-1].fence()
        beside, call, other = calls

        def ready_and_not(call: Call = call) -> None:
            for side, busy in zip(both(call), (3, 2), strict=True):
                window_status(side, busy)
            call.fence()
            call.fence_back()

        def interrupts(call: Call = call) -> None:
            for way, times in ((call, 2), (call.turned(), 1)):
                for number in range(times):
                    interrupt(*both(way), bytes([number]))
            call.fence()

        def resets(call: Call = call) -> None:
            for way in (call, call.turned(), call):
                reset(way)

        def clears(call: Call = call, other: Call = other, beside: Call = beside) -> None:
            for way in (call, other.turned()):
                clear(way, beside)

        for event in (ready_and_not, interrupts, resets, clears):
            name = event.__name__.replace("_", " ")
            with amid(bench, f"modulo {modulus}: {name}"), counting(bench, *OF_A_CHANNEL):
                event()
        hang_up([beside])


@purpose("SYS-MIB-25")
def test_packets_of_a_line(bench: Bench) -> None:
    """Restarts of either end and their confirmations, and Diagnostic packets of the DCE."""
    for line in each_line(bench):
        line.link.bring_up()
        with counting(bench, *OF_A_LINE, on=interface_of(line)):
            for _ in range(3):
                restart(line)
            by_the_router(line)
            dce = line.profile.role == "dce"
            wrong = line_header(line, 0, 0)[:1]
            for _ in range(2):
                if dce:
                    brings(bench, line, wrong, bench.diagnostic(38))
                else:
                    line.layer.send(Diagnostic(diagnostic=36, explanation=wrong))
            line.link_fence()


@purpose("SYS-MIB-26")
def test_gauges_behind_calls_of_each_end(bench: Bench) -> None:
    """Calls of every kind with errors among them, of A and of B; where the router leaves errors to
    the ends, without them."""
    ways = among(ERRORS, WAYS) if checks_calls(bench) else WAYS
    scenes: list[tuple[str, Callable[[Bench], Scene]]] = [("calls of A", Scene)]
    if bench.profile.addresses.a is not None:
        scenes.append(("calls of B", from_b))
    for where, begin in scenes:
        with amid(bench, where), counting(bench, "circuits", counted=AS_BEFORE):
            scene = begin(bench)
            scene.apart = True
            makes_all(scene, ways, where)
            hang_up([bench.fence("all of them are over")])


@purpose("SYS-MIB-27")
def test_gauges_behind_calls_lost_in_set_up(bench: Bench) -> None:
    """B has the Call and has not answered; then A or B resets or closes its connection."""
    for lost, how in ((0, "resets"), (0, "closes"), (1, "resets"), (1, "closes")):
        with (
            amid(bench, f"{'AB'[lost]} {how} the connection of a call that is not answered"),
            counting(bench, "circuits", counted=AS_BEFORE),
        ):
            for _ in range(lost + 1):
                sides = pending(bench)
                side, other = sides[lost], sides[1 - lost]
                if how == "resets":
                    side.wire.reset()
                else:
                    side.allow(ClearIndication())
                    side.wire.half_close()
                if lost:
                    # A router may try B once more.
                    came = attempt_ends(bench, other, ClearIndication())
                else:
                    came = other.expect(ClearIndication(), CLOSED)
                if came is not None:
                    other.send(ClearConfirmation())
                other.close()
                tidy(bench)


@purpose("SYS-MIB-28")
def test_gauges_behind_permanent_circuits(bench: Bench) -> None:
    """Whether these count or not: both ends come up and close, one behind the other."""
    for first in (0, 1):
        with counting(bench, "circuits", counted=AS_BEFORE):
            ends = both(circuit(bench))
            closed(*(ends if first == 0 else ends[::-1]))


@purpose("SYS-MIB-29")
def test_gauges_behind_lines_that_start_anew(bench: Bench) -> None:
    """With calls of either side up, and one that is not answered."""
    for at in calls_lines(bench):
        line = bench.lines[at]
        for start in (by_the_tester, with_a_new_link):
            with (
                amid(bench, f"{STARTS[start]} of line {at}"),
                counting(bench, "circuits", counted=AS_BEFORE),
            ):
                _, called = pending(bench)
                fill(bench, at_a_time(bench, 2, spare=1))
                started_anew(bench, line, start)
                if called.name != line.name:
                    refused(bench, called, ClearIndication())
                hang_up([bench.fence("behind it all")])
