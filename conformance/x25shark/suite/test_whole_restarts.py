# SPDX-License-Identifier: GPL-2.0-or-later
"""Each way in which a serial line starts anew, and everything behind it (X.25 3.3, 4.5, 4.6).

A line starts anew by a Restart of either side, by two that cross, and with a new link. Calls are
amid something as it does; behind it every channel is as new (3.3), and whatever a call can do it
does: on the channel of the call before, from the line and towards it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from .anew import as_new
from .calls import accepted, numbers, other_end, request_from
from .clearing import end, refused
from .language import (
    CLOSED,
    RNR,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    LapbDM,
    LapbI,
    LapbSABM,
    LineSide,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
    Side,
    purpose,
)
from .link_walks.ending import rejected, reset
from .link_walks.link import Link
from .links import LATE, at_the_line, calls_lines, let_go, may_be_reset, restarted
from .many import at_a_time
from .reactions import both
from .scene import Scene
from .test_all_of_it import values
from .test_left_over import OLD, behind_old, left_open
from .test_plp_rstrt import confirm, restart
from .walks.all_of_it import does_all, is_reset_for_all
from .whole_calls import WAYS, from_b, makes_all


def by_the_tester(line: LineSide) -> None:
    """Twice; the second time no call is up, and the cause is another (X.25 5.5.1.1)."""
    restart(line)
    restart(line, 0xFF if line.profile.role == "dce" else 0x01)


def by_the_router(line: LineSide) -> None:
    """For a confirmation that is not due; where that is ignored, by the tester (Table C-2)."""
    begin = line.layer.cursor
    confirm(line)
    line.link_fence()
    if restarted(line, begin):
        line.layer.expect(RestartRequest())
        confirm(line)
    else:
        restart(line)


def link_ends(line: LineSide) -> None:
    """By the tester; the router may ask for the next one before the tester does (X.25 2.4.4.1)."""
    line.allow(LapbSABM(), LapbDM(p_f=0))
    line.link.end()


def with_a_new_link(line: LineSide) -> None:
    """The tester ends the link and sets it up; its Restart meets the router's, or is confirmed."""
    link_ends(line)
    line.link.bring_up(judged=True)


def with_a_new_link_confirmed(line: LineSide) -> None:
    """The same, and the router's own Restart is confirmed, unless it leaves that to the tester."""
    link_ends(line)
    line.link.raise_link()
    line.link.note_restarted()
    if restarted(line, line.layer.cursor):
        line.layer.expect(RestartRequest())
        confirm(line)
    else:
        restart(line)


Start = Callable[[LineSide], None]


def through(end_of_a_link: Callable[[Link, int], bool], number: int) -> Start:
    """A step of the walks over links that ends a link, and has it begin anew."""

    def start(line: LineSide) -> None:
        link = Link(line)
        link.fresh()
        end_of_a_link(link, number)
        let_go(line)

    return start


# What each of them is, for messages.
STARTS: dict[Start, str] = {
    by_the_tester: "two Restarts",
    with_a_new_link: "a new link",
    by_the_router: "a Restart of the router",
    with_a_new_link_confirmed: "a new link and the router's Restart",
    through(reset, 1): "SABM",
    through(rejected, 0): "FRMR of the tester",
    through(rejected, 1): "DM of the tester",
}

# Timers of the packet layer that are waited for (seconds).
LONGEST_TIMER = 20.0

# Into so many parts the list of whole calls is cut: a start is ahead of each.
PARTS = 8


def started_anew(bench: Bench, line: LineSide, start: Start) -> None:
    """The line starts anew; what went over it is cleared at the far ends.

    What was under way is lost with the calls (X.25 4.5), or comes ahead of their end. Behind a
    link reset they may go on at first, reset, as packets may have been lost.
    """
    open_ones = [side for side in bench.sides if side.phase in ("connected", "calling")]
    near = [side for side in open_ones if side.name == line.name]
    for side in near:
        side.allow(OLD)
    may_be_reset(*open_ones)
    start(line)
    for side in near:
        side.phase = "idle"
    for side in open_ones:
        if side.name != line.name:
            behind_old(side, ClearIndication(), CLOSED)
            if side.phase == "being cleared":
                side.send(ClearConfirmation())


def amid_everything(call: Call) -> None:
    """Three Data each way; then, each way, one with Q=1 and M=1 that is not acknowledged, an
    Interrupt that is not confirmed, and RNR."""
    for here, there in (both(call), both(call)[::-1]):
        for number in range(3):
            here.send_data(bytes((number,)))
            there.expect(Data(user_data=bytes((number,))))
        left_open(here, there)
    for side in both(call):
        side.send(RNR(p_r=side.numbering.p_r))


def being_reset(call: Call) -> None:
    """Each side has sent a Data, the first one resets, and the other has not confirmed."""
    here, there = both(call)
    call.fence()
    here.send(ResetRequest(cause=0, diagnostic=0))
    there.expect(ResetIndication(cause=0, diagnostic=0))
    # It may have been confirmed before, where the sides of a path are independent.
    here.allow(ResetConfirmation())


def from_the_line(bench: Bench, line: LineSide, lcn: int) -> Call | None:
    """A call of the tester on this channel of the line, where there is a number for the far end."""
    at, far_at = line.name.lower(), other_end(line.name.lower())
    if numbers(bench)[far_at] is None:
        return None
    near = bench.serial.open(line, lcn)
    request = request_from(bench, at)
    near.send(request)
    far = bench.incoming(CallRequest(user_data=request.user_data), at=far_at)
    return accepted(bench, near, far, request)


def to_the_line(bench: Bench, line: LineSide) -> Call | None:
    """A call of the far end that the router makes on a channel of its own choice."""
    at, far_at = line.name.lower(), other_end(line.name.lower())
    if numbers(bench)[at] is None:
        return None
    far = bench.connect(at=far_at)
    request = request_from(bench, far_at)
    far.send(request)
    near = bench.incoming(CallRequest(user_data=request.user_data), at=at)
    return accepted(bench, far, near, request)


@purpose("PLP-RSTRT-20")
def test_nothing_is_left(bench: Bench) -> None:
    """The line starts anew in each way, amid everything and amid a reset; then a call of the line
    on the same channel, and one towards the line, which are what the next start ends."""
    for at in calls_lines(bench):
        calls = [bench.place_call()]
        for number, (start, name) in enumerate(STARTS.items()):
            line, near, _ = at_the_line(bench, calls[0], at)
            for call, middle in zip(calls, (amid_everything, being_reset), strict=False):
                middle(call if number % 2 else call.turned())
            started_anew(bench, line, start)
            again = from_the_line(bench, line, near.lcn), to_the_line(bench, line)
            calls = [call for call in again if call is not None]
            for call in calls:
                as_new(call, f"behind {name} on line {line.name}")
        for call in calls:
            end(call)


@purpose("PLP-RSTRT-21")
def test_all_of_it_behind_a_start(bench: Bench) -> None:
    """Calls with values of their own end in each way, and the next one has the usual values: from
    the line and towards it."""
    larger = values(bench, 256, 5)
    lines = calls_lines(bench)
    for first, at in enumerate(lines):
        starts = list(STARTS.items())[first :: len(lines)]
        for number, (start, name) in enumerate(starts):
            line, near, _ = at_the_line(bench, bench.place_call(options=larger), at)
            started_anew(bench, line, start)
            # On the channel of the call before: at A's line the tester has chosen it.
            call = to_the_line(bench, line) if at == "b" and number % 2 else None
            call = call or from_the_line(bench, line, near.lcn) or bench.place_call()
            makes = is_reset_for_all if number == len(starts) - 1 else does_all
            makes(bench, call, f"behind {name} on line {line.name}")
            end(call)


@purpose("PLP-RSTRT-22")
def test_whole_calls_behind_starts(bench: Bench) -> None:
    """Every way in which calls begin and end, from A and from B, with a start now and again."""
    lines = calls_lines(bench)
    scenes = [Scene(bench)] + ([from_b(bench)] if bench.profile.addresses.a is not None else [])
    starts = list(STARTS.items())
    for number in range(PARTS):
        start, name = starts[number % len(starts)]
        line = bench.lines[lines[number % len(lines)]]
        held = bench.place_call()
        held.fence()
        started_anew(bench, line, start)
        for nth, scene in enumerate(scenes):
            scene.last = None
            ways = WAYS[(number + nth) % PARTS :: PARTS]
            makes_all(scene, ways, f"behind {name} on line {line.name}")


@purpose("PLP-RSTRT-23")
def test_lines_that_start_together(bench: Bench) -> None:
    """Restarts on both lines while a call is amid everything; then both links are new, and one
    restart is complete before the other: no call goes to the line of the other before that, and
    the first line can be restarted meanwhile."""
    for first in calls_lines(bench):
        one, other = bench.lines[first], bench.lines[other_end(first)]
        call = bench.place_call()
        amid_everything(call)
        for side in both(call):
            side.allow(OLD, ClearIndication())
        for line in (one, other):
            line.layer.send(RestartRequest(cause=line.restart_cause, diagnostic=0))
        for line in (one, other):
            line.layer.expect(RestartConfirmation())
        for side in both(call):
            side.phase = "idle"
        both_serve(bench, "behind Restarts of both lines")
        for line in (one, other):
            link_ends(line)
        for line in (one, other):
            line.link.raise_link()
            line.link.note_restarted()
        told = [restarted(line, line.layer.cursor) for line in (one, other)]
        if not all(told):
            bench.remark("the router leaves the restart of a new link to the tester")
            for line, by_itself in zip((one, other), told, strict=True):
                if by_itself:
                    line.layer.expect(RestartRequest())
                    # T10 or T20 may have passed while the other line was looked at.
                    line.layer.allow(RestartRequest())
                    confirm(line)
                else:
                    line.link.restart()
        else:
            for line in (one, other):
                line.layer.expect(RestartRequest())
            confirm(one)
            restart(one)
            none_before_the_confirmation(bench, one, other)
        both_serve(bench, "behind new links of both lines")
    bench.fence()


def both_serve(bench: Bench, where: str) -> None:
    """A call from each line to the other."""
    for line in bench.lines.values():
        call = to_the_line(bench, line)
        if call is not None:
            as_new(call, f"to line {line.name}, {where}")
            end(call)


def none_before_the_confirmation(bench: Bench, one: LineSide, other: LineSide) -> None:
    """A call from the first line, for the second one whose restart is not complete: it is refused,
    or waits."""
    at, named = other.name.lower(), numbers(bench)
    if named[at] is None:
        confirm(other)
        return
    x = bench.connect(at=one.name.lower())
    x.send(bench.call_request(called=named[at], calling=named[one.name.lower()]))
    if bench.went_on(x, at=at):
        bench.listeners.no_connection(at=at)
    elif x.arrivals.units:
        refused(bench, x, ClearIndication(cause=bench.network_clear))
        confirm(other)
    else:
        confirm(other)
        bench.remark("the call waits for the end of the restart")
        y = bench.incoming(at=at)
        y.send(y.acceptance)
        x.expect(CallAccepted())


@purpose("PLP-RSTRT-24")
def test_no_timer_outlives_its_call(bench: Bench) -> None:
    """T11, T12 and T13 run as each line starts anew: one by a Restart, the other by a new link.

    Only those that are short enough to wait for.
    """
    times = bench.profile.times
    running = {"T-11": times.t11, "T-12": times.t12, "T-13": times.t13}
    waits = [t for name, t in running.items() if bench.declared(name) and t <= LONGEST_TIMER]
    bench.need(bool(waits), f"none of T11, T12 and T13 is {LONGEST_TIMER:g} s or less ([times])")
    starts = itertools.cycle((restart, with_a_new_link))
    lines = []
    for line, start in zip([bench.lines[at] for at in calls_lines(bench)], starts, strict=False):
        cleared = timers_run(bench, line)
        if cleared is not None:
            lines.append(line)
            started_anew(bench, line, start)
            # If not before: a confirmation may have end-to-end significance (X.25 4.1.7).
            cleared.expect(ClearConfirmation(), CLOSED)
    bench.need(bool(lines), "an address for calls to a line")
    # What is confirmed late (X.25 3.3.1) has come then.
    lines[0].pause(bench.profile.times.quiet)
    for line in lines:
        line.link_fence()
    begun = [line.cursor for line in lines]
    lines[0].pause(LATE * max(waits) + bench.reaction_limit)
    for line, begin in zip(lines, begun, strict=True):
        line.expect_count(LapbI(), 0, 0, start=begin, note="no call is up, and no restart")
    for line in lines:
        as_new(to_the_line(bench, line) or bench.place_call(), f"then, on line {line.name}")
    bench.fence()


def timers_run(bench: Bench, line: LineSide) -> Side | None:
    """A call towards the line that is being reset, one that is being cleared, and one that is not
    answered, where there is a number for them; the side that clears."""
    resetting, clearing = to_the_line(bench, line), to_the_line(bench, line)
    if resetting is None or clearing is None:
        return None
    far, near = both(resetting)
    far.send(ResetRequest(cause=0, diagnostic=0))
    near.expect(ResetIndication())
    # It may have been confirmed before, where the sides of a path are independent.
    far.allow(ResetConfirmation())
    cleared, near = both(clearing)
    cleared.send(ClearRequest(cause=0, diagnostic=0))
    near.expect(ClearIndication())
    at, far_at, named = line.name.lower(), other_end(line.name.lower()), numbers(bench)
    request = bench.call_request(called=named[at], calling=named[far_at])
    bench.connect(at=far_at).send(request)
    bench.incoming(CallRequest(user_data=request.user_data), at=at)
    return cleared


# Where the second octet of a packet, or the group of its channel, begins anew, and before that.
BOUNDARIES = (0x0F, 0x10, 0x7F, 0x80, 0xFF, 0x100, 0x101, 0x7FF, 0x800)


@purpose("PLP-CALL-48")
def test_channels_of_the_whole_range(bench: Bench) -> None:
    """Calls of the tester at the same time, on the first and the last channels of each line and on
    some between: each has its own data, and its own end."""
    lines = [bench.line(at) for at in calls_lines(bench)]
    for line in lines:
        line.link.bring_up()
    for line in lines:
        low, high = line.profile.lcn
        wanted = sorted({low, low + 1, high - 1, high, *BOUNDARIES} & set(range(low, high + 1)))
        calls = []
        for lcn in wanted[: at_a_time(bench, len(wanted))]:
            call = from_the_line(bench, line, lcn)
            bench.need(call is not None, "an address for calls from a line")
            assert call is not None
            calls.append(call)
        for number, call in enumerate(calls):
            here, there = both(call)
            here.send_message(b"%d from the line" % number)
            there.send_message(b"%d to the line" % number)
        for number, call in enumerate(calls):
            here, there = both(call)
            there.expect_message(b"%d from the line" % number)
            here.expect_message(b"%d to the line" % number)
        for call in calls:
            end(call)
    bench.fence()
