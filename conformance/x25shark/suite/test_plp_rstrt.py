# SPDX-License-Identifier: GPL-2.0-or-later
"""Restart on a serial line (X.25 3.3, 4.5, 4.6, Table C-2)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..judges.values import OF_A_DTE
from ..sides.channel import ChannelSide
from .calls import free_again, numbers, other_end, request_from
from .clearing import end, refused
from .language import (
    ASKING_FOR_A_LINK,
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Diagnostic,
    Inconclusive,
    LapbI,
    LineSide,
    Raw,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
    Side,
    one_of,
    purpose,
)
from .links import at_the_line, calls_lines, of_a_dte, restarted
from .many import at_a_time, fill
from .reactions import both

# What the far ends of calls may be told: of a DTE, out of order, remote procedure error.
FAR_CAUSES = one_of(*OF_A_DTE.values, 0x09, 0x11)


def restart(line: LineSide, cause: int | None = None) -> None:
    """The tester restarts, and the router confirms."""
    cause = line.restart_cause if cause is None else cause
    line.layer.send(RestartRequest(cause=cause, diagnostic=0))
    line.layer.expect(RestartConfirmation())


def confirm(line: LineSide) -> None:
    """The tester confirms, and the router has got that: a call on another link is not ahead."""
    line.layer.send(RestartConfirmation())
    line.layer.wait_until(lambda: not line.station.unacknowledged)


def a_call(bench: Bench, note: str) -> None:
    """A call, and its end."""
    end(bench.fence(note))


def new_link(line: LineSide) -> int:
    """A link whose packet layer is as the router leaves it; where it begins at the earliest."""
    begin = line.connection.received_octets
    if line.station.up:
        # The router may ask for the next one at once, and cross with the tester.
        line.allow(*ASKING_FOR_A_LINK)
        line.link.end()
    line.link.raise_link()
    line.link.note_restarted()
    return begin


def restarting(bench: Bench, at: str) -> LineSide:
    """A line on which the router's own Restart has come and is not confirmed.

    A new link has one. Where the router leaves that to the tester, a confirmation that is not due
    is an error for which it restarts (Table C-2). The links of other lines are there before, for
    T10 runs meanwhile.
    """
    line = bench.line(at)
    with bench.preamble():
        bench.serial.raise_links(but=line)
        if not restarted(line, new_link(line)):
            restart(line)
            confirm(line)
            line.link_fence()
            if not restarted(line, line.layer.cursor):
                raise Inconclusive(
                    "the router leaves the restart of a new link to the tester, and does not "
                    "restart for a confirmation that is not due either"
                )
        line.layer.expect(RestartRequest())
    return line


@purpose("PLP-RSTRT-01")
def test_a_new_link_is_restarted(bench: Bench) -> None:
    """By the router, or it confirms the tester's."""
    for at in calls_lines(bench):
        line = bench.line(at)
        with bench.preamble():
            begin = new_link(line)
        if restarted(line, begin):
            line.layer.expect(RestartRequest(cause=of_a_dte(line, 0x07)))
            confirm(line)
        else:
            restart(line)
        a_call(bench, f"a call after the restart, line {at}")


@purpose("PLP-RSTRT-02")
def test_restart_is_confirmed(bench: Bench) -> None:
    for at in calls_lines(bench):
        line = bench.line(at)
        line.link.bring_up()
        for _ in range(3):
            restart(line)
        # What a DTE may say besides, or a DCE (X.25 5.5.1.1).
        for cause in (0x80, 0xFF) if line.profile.role == "dce" else (0x01, 0x03, 0x07):
            restart(line, cause)


@purpose("PLP-RSTRT-03")
def test_collision(bench: Bench) -> None:
    """With each cause that the other end may give; a DCE confirms none of them besides."""
    for at in calls_lines(bench):
        dce = bench.lines[at].profile.role == "dce"
        for cause in (0x00, 0x80, 0xFF) if dce else (0x07, 0x01, 0x03):
            line = restarting(bench, at)
            begin = line.layer.cursor
            line.layer.send(RestartRequest(cause=cause, diagnostic=0))
            line.link_fence()
            a_call(bench, f"a call after the collision with cause 0x{cause:02x}, line {at}")
            if not dce or restarted(line, begin, within=0):
                # X.25 3.3 binds the DCE; and one that has repeated its own may be ready by T10.
                line.layer.allow(RestartConfirmation())


@purpose("PLP-RSTRT-04")
def test_every_call_and_only_those(bench: Bench) -> None:
    """Where the profile names a way that does not lead to the line, a call on it goes on."""
    loop = bench.profile.addresses.loop
    elsewhere = None
    if loop is not None and "a" not in bench.lines:
        elsewhere = _loop_call(bench, loop)
    calls = fill(bench, at_a_time(bench, 5, spare=2 if elsewhere else 0))
    _restart_over(bench, calls)
    if elsewhere is not None:
        a, other = elsewhere
        a.send_message(b"elsewhere")
        other.expect_message(b"elsewhere")
    else:
        bench.remark("no call that is not of this line")


def _loop_call(bench: Bench, called: str) -> tuple[Side, Side]:
    """A call of A that the router brings back to A."""
    with bench.preamble():
        a = bench.connect()
        a.send(bench.call_request(called=called))
        other = bench.incoming(at="a")
        other.send(CallAccepted())
        a.expect(CallAccepted())
    return a, other


def _restart_over(bench: Bench, calls: Sequence[Call], at: str = "") -> None:
    """A restart of the line: each far end is told."""
    line, _, _ = at_the_line(bench, calls[0], at)
    restart(line)
    for call in calls:
        _, _, far = at_the_line(bench, call, at)
        if far.expect(ClearIndication(cause=FAR_CAUSES), CLOSED) is not None:
            far.send(ClearConfirmation())


@purpose("PLP-RSTRT-05")
def test_causes_at_the_far_ends(bench: Bench) -> None:
    """A DTE's own causes go on as they are or become others, but never an accusation of A.

    A cause that goes on has its diagnostic with it (X.25 5.2.4), but that of a router that is a DTE
    there may be the router's own.
    """
    for at in calls_lines(bench):
        of_dte = bench.lines[at].profile.role == "dce"
        for cause in (0x00, 0x80) if of_dte else (0x07, 0x01):
            for diagnostic in (0, 0x9D):
                call = bench.call()
                line, _, far = at_the_line(bench, call, at)
                line.layer.send(RestartRequest(cause=cause, diagnostic=diagnostic))
                line.layer.expect(RestartConfirmation())
                told = [ClearIndication(cause=FAR_CAUSES)]
                if of_dte and not far.router_is_dte:
                    others = one_of(*(c for c in FAR_CAUSES.values if c != cause))
                    told = [
                        ClearIndication(cause=cause, diagnostic=diagnostic),
                        ClearIndication(cause=others),
                    ]
                if far.expect(*told, CLOSED) is not None:
                    far.send(ClearConfirmation())


@purpose("PLP-RSTRT-06")
def test_all_channels_are_free(bench: Bench) -> None:
    """As many calls as before, which on a line of few channels are the same channels."""
    for _ in range(3):
        _restart_over(bench, fill(bench, at_a_time(bench, 20)))


@purpose("PLP-RSTRT-07")
def test_confirmation_that_is_not_due(bench: Bench) -> None:
    """A restart because of it, and of each of two more behind it; of a router that is a DTE,
    nothing will do.

    X.25 Annex C binds the DCE. Both ends of the call agree in any case.
    """
    for at in calls_lines(bench):
        call = bench.call()
        line, _, far = at_the_line(bench, call, at)
        confirm(line)
        line.link_fence()
        if line.profile.role == "dte" and not restarted(line, line.layer.cursor):
            bench.remark("a confirmation that is not due is ignored")
            call.fence("the call is there at both ends")
            end(call)
            continue
        again = RestartRequest(cause=of_a_dte(line, 0x01), diagnostic=bench.diagnostic(17))
        line.layer.expect(again)
        confirm(line)
        _cleared(far)
        for number in (2, 3):
            confirm(line)
            line.link_fence()
            if line.profile.role == "dte" and not restarted(line, line.layer.cursor):
                bench.remark("a confirmation that is not due is ignored")
                break
            line.layer.expect(again, note=f"confirmation {number} that is not due")
            confirm(line)
    bench.fence()


@purpose("PLP-RSTRT-08")
def test_restart_on_a_channel(bench: Bench) -> None:
    """With a call it is an error of that call; others, and the interface, go on."""
    code = bench.diagnostic(41)
    for at in calls_lines(bench):
        call, other = bench.call(), bench.call()
        line, near, far = at_the_line(bench, call, at)
        line.layer.never(RestartConfirmation())
        near.send(RestartRequest(lcn=near.lcn, cause=line.restart_cause, diagnostic=0))
        near.expect(ResetIndication(cause=bench.local_reset, diagnostic=code))
        near.send(ResetConfirmation())
        far.expect(ResetIndication())
        far.send(ResetConfirmation())
        other.fence("another call of the line")
        call.fence("the call after its reset")
        end(call)
        end(other)


def call_in_r3(bench: Bench, line: LineSide, *data: bytes) -> None:
    """A Call, and Data behind it, on a free channel of a line that is being restarted; and time to
    see that nothing comes of it. T10, after which the Restart is repeated, is far longer (Table
    D-1)."""
    at = line.name.lower()
    side = bench.connect(at=at)
    request = bench.call_request(called=numbers(bench)[other_end(at)])
    side.send(request, *(side.data(octets) for octets in data))
    side.phase = "idle"
    line.link_fence()
    line.pause(bench.profile.times.quiet)


@purpose("PLP-RSTRT-09")
def test_packets_before_the_confirmation(bench: Bench) -> None:
    """A Call and Data in r3: no reaction; ready behind the confirmation."""
    for at in calls_lines(bench):
        line = restarting(bench, at)
        call_in_r3(bench, line, b"too early")
        confirm(line)
        line.link_fence()
        a_call(bench, f"a call after the restart, line {at}")


@purpose("PLP-RSTRT-11")
def test_restarts_of_wrong_length(bench: Bench) -> None:
    """Neither is confirmed; the right one behind them is, and nothing else."""
    for at in calls_lines(bench):
        line = bench.line(at)
        line.link.bring_up()
        begin = line.layer.cursor
        whole = bytes(
            RestartRequest(modulo=line.modulo_bits, cause=line.restart_cause, diagnostic=0)
        )
        codes = bench.diagnostic(38, 39)
        line.layer.allow(Diagnostic(diagnostic=codes))
        for octets in (whole[:3], whole + b"\0"):
            line.send(LapbI() / Raw(octets))
            line.link_fence()
            if restarted(line, line.layer.cursor):
                cause = of_a_dte(line, 0x01)
                line.layer.expect(RestartRequest(cause=cause, diagnostic=codes))
                confirm(line)
        line.layer.send(RestartRequest(cause=line.restart_cause, diagnostic=0))
        line.layer.expect_count(RestartConfirmation(), 1, 1, start=begin)
        line.link_fence()


@purpose("PLP-RSTRT-12")
def test_call_right_behind_the_confirmation(bench: Bench) -> None:
    for at in calls_lines(bench):
        line = bench.line(at)
        line.link.bring_up()
        restart(line)
        for _ in range(3):
            call = bench.place_call(note="right behind the confirmation")
            call.fence()
            _restart_over(bench, [call], at)


@purpose("PLP-RSTRT-13")
def test_a_lost_link_is_told_to_the_far_end(bench: Bench) -> None:
    """And the line serves again as soon as there is a link."""
    lost = ClearIndication(cause=one_of(*OF_A_DTE.values, 0x05, 0x09))
    for at in calls_lines(bench):
        line, _, far = at_the_line(bench, bench.call(), at)
        with bench.preamble():
            line.link.end()
        if far.expect(lost, CLOSED):
            far.send(ClearConfirmation())
    bench.fence("a call over the next link")


@purpose("PLP-RSTRT-14")
def test_no_call_before_the_restart_is_complete(bench: Bench) -> None:
    """A call for the line: refused, or it waits for the confirmation."""
    line = restarting(bench, calls_lines(bench)[0])
    a = bench.connect()
    a.send(bench.call_request())
    # Before T10 is over, behind which the router may say its Restart again, or be ready.
    if bench.went_on(a, seconds=min(bench.reaction_limit, bench.profile.times.t10 / 2)):
        bench.listeners.no_connection(at="b")
        return
    waits = not a.arrivals.reacted
    confirm(line)
    if not waits or not bench.went_on(a):
        refused(bench, a, ClearIndication())
        return
    bench.remark("the call waits for the end of the restart")
    b = bench.incoming()
    b.send(CallAccepted())
    a.expect(CallAccepted())


@purpose("PLP-RSTRT-25")
def test_call_for_a_line_without_a_link(bench: Bench) -> None:
    """For each line in turn: it is refused, or waits for a link, and then its caller takes it back.

    The next link brings nothing of it: the next call is the next one.
    """
    named = numbers(bench)
    given = [at for at in calls_lines(bench) if named[at] is not None]
    bench.need(bool(given), "a number that leads to a line")
    for at in given:
        line = bench.line(at)
        line.link.bring_up()
        line.link.bring_down()
        far_at = other_end(at)
        caller = bench.connect(at=far_at)
        caller.send(request_from(bench, far_at))
        bench.went_on(caller, at=at)
        if caller.arrivals.reacted:
            refused(bench, caller, ClearIndication())
        else:
            bench.remark(f"a call for line {at} waits for a link")
            caller.send(ClearRequest(cause=0, diagnostic=0))
            # Its own Clear may cross with that (X.25 4.1.9).
            caller.expect(ClearConfirmation(), CLOSED, ClearIndication())
        line.link.bring_up()
        line.link_fence()
        end(bench.fence(f"a call over the next link of line {at}"))


@purpose("PLP-RSTRT-16")
def test_two_confirmations(bench: Bench) -> None:
    """The second is not due: a restart because of it, or nothing; then calls work."""
    for at in calls_lines(bench):
        line = restarting(bench, at)
        line.layer.send(RestartConfirmation())
        confirm(line)
        line.link_fence()
        if restarted(line, line.layer.cursor):
            line.layer.expect(RestartRequest(diagnostic=bench.diagnostic(17)))
            confirm(line)
        a_call(bench, f"a call after two confirmations, line {at}")


@purpose("PLP-RSTRT-19")
def test_confirmation_of_wrong_length(bench: Bench) -> None:
    """It completes nothing: a further Restart because of it, or a Call behind it has no effect.

    Where it is discarded T10 may run out meanwhile: no clause bounds it from below.
    """
    for at in calls_lines(bench):
        line = restarting(bench, at)
        begin = line.layer.cursor
        whole = bytes(RestartConfirmation(modulo=line.modulo_bits))
        line.send(LapbI() / Raw(whole + b"\0"))
        line.link_fence()
        line.layer.allow(Diagnostic(diagnostic=bench.diagnostic(39)))
        if restarted(line, begin):
            line.layer.expect(
                RestartRequest(cause=of_a_dte(line, 0x01), diagnostic=bench.diagnostic(39, 52))
            )
        else:
            bench.remark("the confirmation is discarded")
            over = RestartRequest(cause=of_a_dte(line, 0x01), diagnostic=bench.diagnostic(52))
            line.layer.allow(over)
            call_in_r3(bench, line)
        confirm(line)
        line.link_fence()
        a_call(bench, f"a call after the restart, line {at}")


@purpose("PLP-RSTRT-17")
def test_calls_in_every_state(bench: Bench) -> None:
    """One that is cleared and not confirmed, one that is not answered yet, one that is up, one that
    is being reset: for the called side's line, and for that of the side that calls; by a Restart,
    and by the end of the link (X.25 4.6). The line's side clears and resets, or the far one does.
    """
    ways = itertools.product(calls_lines(bench), (restart, _down_and_up), (False, True))
    for at, ends, by_far in ways:
        # The tester calls on the same channel again in the end.
        clearing, up, resetting = bench.call(), bench.call(), bench.call()
        line, _, _ = at_the_line(bench, up, at)
        with bench.preamble():
            calling = bench.connect()
            calling.send(bench.call_request())
            called = bench.incoming()
            one, other = _acting(bench, resetting, at, by_far)
            one.send(ResetRequest(cause=0, diagnostic=0))
            other.expect(ResetIndication())
            # It may have been confirmed before, where the sides of a path are independent.
            one.allow(ResetConfirmation())
            one, other = _acting(bench, clearing, at, by_far)
            one.send(ClearRequest(cause=0, diagnostic=0))
            other.expect(ClearIndication())
            one.allow(ClearConfirmation())
        _, near, far = at_the_line(bench, clearing, at)
        ends(line)
        if by_far:
            # If not before: a confirmation may have end-to-end significance (X.25 4.1.7).
            far.expect(ClearConfirmation(), CLOSED)
        elif far.connection.end is None:
            far.send(ClearConfirmation())
        for call in (up, resetting):
            _cleared(at_the_line(bench, call, at)[2])
        _cleared(calling if at == "b" else called)
        assert isinstance(near, ChannelSide)
        _called_again(bench, line, near.lcn)
    bench.fence("a call on a channel that is free again")


def _acting(bench: Bench, call: Call, at: str, by_far: bool) -> tuple[Side, Side]:
    """Who acts, and the other one: the side at this line, or the far one first."""
    _, near, far = at_the_line(bench, call, at)
    return (far, near) if by_far else (near, far)


def _called_again(bench: Bench, line: LineSide, lcn: int) -> None:
    """A call from the line, on this channel, where there is a number for the other side."""
    if numbers(bench)[other_end(line.name.lower())] is None:
        return
    near = bench.serial.open(line, lcn)
    _, far = both(free_again(bench, near))
    near.send(ClearRequest(cause=0, diagnostic=0))
    _cleared(far)
    near.expect(ClearConfirmation())


def _down_and_up(line: LineSide) -> None:
    """DISC, then a new link."""
    line.link.end()
    line.link.bring_up()


def _cleared(far: Side) -> None:
    if far.expect(ClearIndication(), CLOSED) is not None:
        far.send(ClearConfirmation())


@purpose("PLP-RSTRT-18")
def test_restart_without_diagnostic(bench: Bench) -> None:
    """Only a DTE may leave the octet out."""
    lines = [line for line in bench.lines.values() if line.profile.role == "dce"]
    bench.need(bool(lines), "a line on which the tester is the DTE")
    line = bench.line(lines[0].name.lower())
    line.link.bring_up()
    for _ in range(2):
        line.send(LapbI() / Raw(bytes((line.modulo_bits << 4, 0, 0xFB, line.restart_cause))))
        line.layer.expect(RestartConfirmation())
