# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tester must see for each cell of the state tables (X.25 Annex C; RFC 1613).

An error makes the router clear or reset the side that made it, with the cell's diagnostic, and
the other side with cause "remote procedure error". Where nothing is to be seen, what is due in the
state still happens. Every way ends with data on the call, or with another call; on a serial line
that is one on the same channel, and a call on another channel of the line lasts all the while.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ..catalogue.states import Cell
from ..judges.values import Matcher, one_of
from ..sides.channel import ChannelSide
from ..sides.side import AbsentSide
from .clearing import end, taken_back
from .collisions import NOT_DUE, calls_cross, confirms_collisions
from .connections import (
    attempt_ends,
    closes,
    passes_unread,
    served_ahead,
    time_left,
    until_stalled,
)
from .events import AT_A_DTE, LENGTHS, Q_DIFFERS, STIMULI, Stimulus
from .language import (
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    Data,
    Data128,
    Diagnostic,
    Interrupt,
    InterruptConfirmation,
    NotApplicable,
    Packet,
    RegistrationConfirmation,
    RegistrationRequest,
    ResetConfirmation,
    ResetIndication,
    RestartConfirmation,
    RestartRequest,
    Side,
    Undefined,
)
from .procedure_errors import confirmed_ahead, expect_after, expect_reset_or_ignored
from .reactions import AnySide, fence_call, not_delivered
from .scenes import (
    Scene,
    calls_there,
    enter,
    far_clear_confirmed,
    far_reset_confirmed,
    fence_on_lines,
    go_on,
    is_free,
    leave,
    places,
    stays_in_d2,
    takes_a_call,
)
from .state_words import HOST_MAY_IGNORE
from .transfer import interrupt_answered

# What has no meaning beyond one link (RFC 1613 6.4).
LOCAL_PACKETS = (
    RestartRequest(),
    RestartConfirmation(),
    Diagnostic(),
    RegistrationRequest(),
    RegistrationConfirmation(),
)

# States that side B ends, on another connection than that of the event.
_ENDED_BY_B = ("p2", "d2")

# Calls of a cell on a line: that of the state, one beside it, and one more as a fence.
_CALLS_AT_A_TIME = 3
_REGISTRATION, _UNDEFINED = 2, 33


def run_cell(bench: Bench, cell: Cell, modulus: int = 8) -> None:
    """Every stimulus of the cell's event in the cell's state, each on a channel of its own.

    First A acts; then B does, in the states that a channel of B can have as well. A channel over
    XOT has its cell, one of a serial line has that of the line.
    """
    cells = {True: cell.on_line, False: cell}
    there = [(side, cells[on_line]) for side, on_line in places(bench, cell.state, modulus)]
    found = [(side, one) for side, one in there if one is not None and not one.why]
    bench.need(bool(found), f"a channel that can be in state {cell.state}")
    on_lines = any(one is not cell for _, one in found)
    beside = _beside(bench, cell.state, modulus) if on_lines else []
    left = []
    for side, one in found:
        stimuli = STIMULI[cell.row.event]
        if one is not cell and bench.lines[side.lower()].profile.role == "dte":
            stimuli = AT_A_DTE.get(cell.row.event, stimuli)
        try:
            for number, stimulus in enumerate(stimuli):
                _run_stimulus(bench, one, modulus, side, number, stimulus, beside)
        except NotApplicable as why:
            left.append(why)
    if len(left) == len(found):
        raise left[0]


def _beside(bench: Bench, state: str, modulus: int) -> list[Call]:
    """A call that goes on, on other channels of the lines; none where the router takes too few.

    Raises NotApplicable if they are too few for the state.
    """
    limit = bench.profile.limits.calls
    enough = limit is None or limit >= _CALLS_AT_A_TIME
    needed = f"{_CALLS_AT_A_TIME} calls at a time; the router takes {limit} (limits.calls)"
    bench.need(enough or state not in _ENDED_BY_B, needed)
    return [bench.call(modulus=modulus)] if enough else []


def _run_stimulus(
    bench: Bench,
    cell: Cell,
    modulus: int,
    acting: str,
    number: int,
    stimulus: Stimulus,
    beside: Sequence[Call],
) -> None:
    scene = enter(bench, cell.state, modulus, acting)
    scene.beside += beside
    if cell.low and not scene.beside:
        scene.beside.append(bench.call())
    stimulus(scene)
    if cell.state in _ENDED_BY_B:
        # What B does next leaves the state: the event must have been there before.
        with bench.preamble():
            if scene.line is None:
                bench.fence(preamble=True)
            else:
                fence_on_lines(scene)
    if cell.state == "d2" and scene.line is not None:
        stays_in_d2(scene)
    if cell.low:
        judge_low(cell, scene, number)
    elif cell.row.checks_numbers:
        with bench.checking_numbers():
            judge(cell, scene, number)
    else:
        judge(cell, scene, number)
    if scene.line is not None:
        leave(scene)


def judge_low(cell: Cell, scene: Scene, number: int) -> None:
    """Certainty low: a deviation alone must not fail the router, harm done to other calls does."""
    bench = scene.bench
    try:
        with bench.preamble():
            judge(cell, scene, number)
    finally:
        for beside in scene.beside:
            beside.fence("the call beside it goes on")


def judge(cell: Cell, scene: Scene, number: int = 0) -> None:
    """Demand what the cell says; number: which stimulus of the event it was."""
    actions = {reaction.action for reaction in cell.reactions}
    if len(actions) > 1:
        _either(cell, scene)
    elif "normal" in actions:
        _NORMAL.get(f"{cell.state} {cell.row.event}", go_on)(scene)
    elif "error" in actions and cell.table.error == "clear":
        _cleared(scene, _diagnostics(cell, scene, number))
    elif "error" in actions and cell.row.event in HOST_MAY_IGNORE and scene.state != "d2":
        expect_reset_or_ignored(scene.connected, *cell.diagnostics)
    elif "error" in actions:
        _reset(scene, _diagnostics(cell, scene, number))
    elif "close" in actions:
        _closed(scene, short=cell.row.event == "length" and LENGTHS[number] == 2)
    elif "clear far" in actions:
        _far_cleared(scene)
    else:
        _may_pass_on(scene)
        go_on(scene)


# errors


def _diagnostics(cell: Cell, scene: Scene, number: int) -> tuple[int, ...]:
    """Registration is not in the later editions of X.25: then its type is undefined."""
    registers = cell.row.event == "restart_packet" and number == _REGISTRATION
    return (*cell.diagnostics, _UNDEFINED) if registers and scene.line else cell.diagnostics


def _cause(side: AnySide, of_a_network: int, otherwise: Matcher) -> Matcher:
    """On a line on which the router is the DCE it has no other, whatever it is elsewhere."""
    is_dce = isinstance(side, ChannelSide) and side.router_is_dce
    return one_of(of_a_network) if is_dce else otherwise


def _clear_of(scene: Scene, codes: tuple[int, ...]) -> Packet:
    bench = scene.bench
    cause = _cause(scene.side, 0x13, bench.local_clear)
    return ClearIndication(cause=cause, diagnostic=bench.diagnostic(*codes))


def _reset_of(scene: Scene, codes: tuple[int, ...]) -> Packet:
    bench = scene.bench
    cause = _cause(scene.side, 0x05, bench.local_reset)
    return ResetIndication(cause=cause, diagnostic=bench.diagnostic(*codes))


def _remote_reset_of(scene: Scene, side: AnySide) -> Packet:
    return ResetIndication(cause=_cause(side, 0x03, scene.bench.remote_reset))


def _cleared(scene: Scene, codes: tuple[int, ...]) -> None:
    """Both sides are cleared; a call that is not connected may end by a close (RFC 1613 6.1)."""
    pending = scene.state in ("p2", "p3")
    clear = _clear_of(scene, codes)
    if scene.state == "p1" and scene.line is not None and not scene.line.router_is_dce:
        _cleared_or_ignored(scene, clear)
    else:
        _ends(scene.side, clear, or_close=pending)
    if scene.other is not None:
        cause = _cause(scene.other, 0x11, scene.bench.remote_clear)
        remote = ClearIndication(cause=cause)
        _ends(scene.other, remote, or_close=pending)
    if scene.line is not None:
        scene.call = None
        takes_a_call(scene)
        return
    scene.bench.fence()


def _cleared_or_ignored(scene: Scene, clear: Packet) -> None:
    """p1 of a router that is the DTE: the tables bind the DCE (X.25 Annex C)."""
    side, mark = scene.side, scene.side.cursor
    scene.fence()
    side.wait_until(
        lambda: bool(side.arrivals.since(mark)),
        scene.bench.reaction_limit,
    )
    if side.arrivals.since(mark):
        _ends(side, clear, or_close=False)
    else:
        scene.bench.remark("as a DTE, the router discards packets of a call on a free channel")


def _ends(side: AnySide, clear: Packet, *, or_close: bool) -> None:
    or_close = or_close and not isinstance(side, ChannelSide)
    came = side.expect(clear, CLOSED) if or_close else side.expect(clear)
    if came is not None or not side.present:
        side.send(ClearConfirmation())


def _reset(scene: Scene, codes: tuple[int, ...]) -> None:
    """Both sides are reset. Data that came before the error may still arrive ahead of it."""
    call = scene.connected
    a, b = call.a, call.b
    earlier = Data128() if a.modulus == 128 else Data()
    expect_after(a, _reset_of(scene, codes), *([] if b.present else [earlier]))
    a.send(ResetConfirmation())
    if scene.state == "d2":
        _restart_of_numbers(scene)
        return
    if b.present:
        # B's side may have a modulus of its own (RFC 1613 6.2).
        earlier = Data128() if b.modulus == 128 else Data()
        expect_after(b, _remote_reset_of(scene, b), earlier)
        b.withholding = False
        b.send(ResetConfirmation())
    call.fence()


def _restart_of_numbers(scene: Scene) -> None:
    """B has been reset before; it may be told again that A made an error."""
    call = scene.connected
    b = call.b
    assert isinstance(b, Side)
    b.send(ResetConfirmation())
    text = b"after the error"
    call.a.send(call.a.data(text))
    again = _remote_reset_of(scene, b)
    if isinstance(b.expect(b.data(text), again), ResetIndication):
        b.send(ResetConfirmation())
        b.expect(b.data(text))
    call.fence()


def _either(cell: Cell, scene: Scene) -> None:
    """Several reactions are right; what comes of the call shows which one it was."""
    clear = _clear_of(scene, cell.diagnostics)
    match cell.state:
        case "p1":
            if cell.can("error"):
                scene.side.allow(clear)
            if cell.can("normal"):
                scene.side.allow(ClearConfirmation())
            fence_call(scene.bench)
        case "p2" | "p3":
            _answered_or_cleared(scene, clear)
        case "p4":
            not_delivered(scene.connected, *cell.diagnostics)
            scene.bench.fence()
        case "d2":
            reset = _reset_of(scene, cell.diagnostics)
            scene.connected.b.send(ResetConfirmation())
            if isinstance(scene.side.expect(ResetConfirmation(), reset), ResetIndication):
                scene.side.send(ResetConfirmation())
            scene.connected.fence()
        case "f1g1" | "g2":
            _reset_or_passed(scene, cell.diagnostics)
        case state:
            raise NotImplementedError(f"nothing tells the reactions apart in {state}")


def _any_data(side: Side) -> Packet:
    return Data128() if side.modulus == 128 else Data()


def _reset_or_passed(scene: Scene, codes: tuple[int, ...]) -> None:
    """q_differs: both sides are reset, or B gets the rest of the sequence with its other Q bit.

    A network may take a change of Q for an error (X.25 4.3.6); it need not look.
    """
    a, b = scene.side, scene.connected.b
    if not isinstance(b, Side):
        a.allow(a.data(Q_DIFFERS), a.data(bytes(a.packet_size)))
        a.acknowledge()
        a.send_data(b"behind")
        if isinstance(a.expect(_reset_of(scene, codes), a.data(b"behind")), ResetIndication):
            a.send(ResetConfirmation())
        scene.connected.fence()
        return
    remote = _remote_reset_of(scene, b)
    ahead = confirmed_ahead(a, b, _reset_of(scene, codes), type(_any_data(b))(user_data=Q_DIFFERS))
    came = b.expect(remote, b.data(Q_DIFFERS, q=1), _any_data(b))
    while isinstance(came, (Data, Data128)) and came.user_data != Q_DIFFERS:
        came = b.expect(remote, b.data(Q_DIFFERS, q=1))
    if isinstance(came, ResetIndication):
        if not ahead:
            a.expect(_reset_of(scene, codes))
            a.send(ResetConfirmation())
        b.send(ResetConfirmation())
    else:
        scene.bench.remark("a change of Q within a packet sequence passes")
        a.acknowledge()
    scene.connected.fence()


def _answered_or_cleared(scene: Scene, clear: Packet) -> None:
    """B answers the pending call: it comes about, or both sides are cleared for the error."""
    bench, other = scene.bench, scene.other
    assert isinstance(other, Side)
    remote = ClearIndication(cause=bench.remote_clear)
    a, b = (scene.side, other) if scene.state == "p2" else (other, scene.side)
    of_a, of_b = (clear, remote) if scene.state == "p2" else (remote, clear)
    b.send(b.acceptance)
    came = a.expect(CallAccepted(), of_a, CLOSED)
    if isinstance(came, CallAccepted):
        Call(bench, a, b).fence()
        return
    a.send(ClearConfirmation())
    _ends(b, of_b, or_close=True)
    bench.fence()


# ends of the connection


def _closed(scene: Scene, *, short: bool) -> None:
    """The router closes; a Clear may come ahead of it, for a packet of two octets a Reset too.

    A splice that has joined the two connections with the Call leaves it to the far end to close.
    """
    clear = ClearIndication(cause=scene.bench.network_clear)
    far = scene.other
    if scene.bench.model == "splice" and isinstance(far, Side) and scene.state in ("p2", "p3"):
        far.allow(Undefined(), Interrupt())
        if passes_unread(far):
            scene.bench.remark("the splice passes octets on without a look at the header")
            far.close()
            _ends(scene.side, clear, or_close=True)
            scene.bench.fence()
            return
    too_short = [_reset_of(scene, (38,))] if short else []
    # A length that no packet has may be noticed only when its octets do not come.
    within = until_stalled(scene.bench)
    until = time.monotonic() + within
    before = served_ahead(scene.side, far or AbsentSide(), clear, *too_short, within=within)
    if scene.state == "p7":
        far_clear_confirmed(scene)
    else:
        _far_ends(scene)
    closes(scene.side, *before, within=time_left(scene.bench, until))
    scene.bench.fence()


def _far_cleared(scene: Scene) -> None:
    """The far side ends, and what follows goes on."""
    _far_ends(scene)
    scene.bench.fence()


def _far_ends(scene: Scene) -> None:
    """The far side is cleared with a network cause, or its connection is closed."""
    network = ClearIndication(cause=scene.bench.network_clear)
    if scene.state == "p3":
        assert isinstance(scene.other, Side)
        if attempt_ends(scene.bench, scene.other, network) is not None:
            scene.other.send(ClearConfirmation())
    elif scene.other is not None:
        _ends(scene.other, network, or_close=True)


# events that are in order


def _call_comes_about(scene: Scene) -> None:
    """p1: the Call that was sent arrives, and is answered."""
    bench, side = scene.bench, scene.side
    at = calls_there(bench, side)
    b: AnySide = bench.incoming(at=at) if bench.two_sided else AbsentSide()
    b.send(b.acceptance)
    side.expect(CallAccepted())
    scene.call = Call(bench, side, b)
    scene.call.fence()


def _connected(scene: Scene) -> None:
    """p3: B has accepted."""
    assert isinstance(scene.other, Side)
    scene.other.expect(CallAccepted())
    scene.call = Call(scene.bench, scene.other, scene.side)
    scene.call.fence()


def _calls_collide(scene: Scene) -> None:
    """p3 on a line: the Call that was sent meets the router's own on the channel."""
    bench, caller = scene.bench, scene.other
    own, came = bench.last_call, scene.side.call
    assert isinstance(caller, Side) and own is not None and came is not None
    for call in calls_cross(bench, caller, scene.side, came, own):
        end(call)
    scene.fence()


def _confirmed(scene: Scene) -> None:
    """p1 on a line: a Clear is confirmed in any state; the channel is as free as it was."""
    scene.side.expect(ClearConfirmation())
    takes_a_call(scene)


def _clear_passes(scene: Scene) -> None:
    """The Clear reaches the far side with cause and diagnostic, and is confirmed."""
    if scene.other is not None and scene.state == "p2":
        taken_back(scene.bench, scene.other, 241)
    elif scene.other is not None:
        scene.other.expect(ClearIndication(cause=0, diagnostic=241))
        scene.other.send(ClearConfirmation())
    scene.side.expect(ClearConfirmation(), CLOSED)
    if scene.line is not None:
        takes_a_call(scene)
        return
    scene.bench.fence()


def _may_pass_on(scene: Scene) -> None:
    """What is to be discarded a splice that reads nothing behind the Call leaves to the far end."""
    if scene.other is not None and scene.bench.model == "splice":
        scene.other.allow(*LOCAL_PACKETS)


def _clear_collision(scene: Scene) -> None:
    """p7: complete without a confirmation; one is tolerated on XOT, and of a DTE.

    A DCE sends none (X.25 4.1.9). Behind a splice the Clear may reach B, which cleared first: the
    two collide there as well.
    """
    if scene.line is None or not scene.line.router_is_dce:
        scene.side.allow(ClearConfirmation())
    if scene.bench.model == "splice" and isinstance(scene.other, Side):
        scene.other.expect(ClearConfirmation(), ClearIndication(), CLOSED)
        scene.other.allow(ClearConfirmation())
        scene.bench.fence()
        return
    is_free(scene)


def _gone(scene: Scene) -> None:
    """p7: the end of the connection confirms the Clear."""
    far_clear_confirmed(scene)
    scene.bench.fence()


def _reset_passes(scene: Scene) -> None:
    """d1: the Reset reaches B, and A has its confirmation."""
    if scene.other is not None:
        scene.other.expect(ResetIndication(cause=0, diagnostic=0))
        scene.other.send(ResetConfirmation())
    scene.side.expect(ResetConfirmation())
    scene.connected.fence()


def _reset_collision(scene: Scene) -> None:
    """d3: complete without a confirmation (X.25 4.4.3.3).

    B has its confirmation, or A's Reset, which collides with its own as that does with A's.
    """
    bench, side, mark = scene.bench, scene.side, scene.side.cursor
    if scene.other is not None:
        scene.other.expect(ResetConfirmation(), ResetIndication(cause=0, diagnostic=0))
    line = scene.line
    if line is None:
        bench.fence("all that follows from the collision has come")
    else:
        fence_on_lines(scene)
    may = confirms_collisions(bench) if line is None else not line.router_is_dce
    if may:
        # The first fence, on a connection of its own, need not have waited for it.
        side.allow(ResetConfirmation())
        scene.connected.fence()
        side.expect_count(ResetConfirmation(), 0, 1, start=mark)
    else:
        side.expect_count(ResetConfirmation(), 0, 0, start=mark, note=NOT_DUE)
        scene.connected.fence()


def _reset_confirmed(scene: Scene) -> None:
    """d3 ends with the confirmation that was sent: Data passes both ways, numbered from 0."""
    far_reset_confirmed(scene)
    call = scene.connected
    if call.b.present:
        text = b"behind it"
        call.b.send_data(text)
        call.a.expect(call.a.data(text, p_s=0), note="the reset is complete")
        call.a.send_data(text)
        call.b.expect(call.a.data(text, p_s=0))
    call.fence()


def _interrupt_passes(scene: Scene) -> None:
    """A's Interrupt reaches B, whose confirmation reaches A; one of B is confirmed then."""
    a, b = scene.side, scene.connected.b
    if isinstance(b, AbsentSide):
        interrupt_answered(scene.connected, Interrupt(user_data=b"?"))
        scene.connected.fence()
        return
    b.expect(Interrupt(user_data=b"?"))
    b.send(InterruptConfirmation())
    a.expect(InterruptConfirmation())
    if scene.state == "i1j2":
        a.send(InterruptConfirmation())
        b.expect(InterruptConfirmation())
    scene.connected.fence()


def _confirmation_passes(scene: Scene) -> None:
    """A's confirmation reaches B; then B confirms A's Interrupt, if there is one."""
    a, b = scene.side, scene.connected.b
    b.expect(InterruptConfirmation())
    if scene.state == "i2j2":
        b.send(InterruptConfirmation())
        a.expect(InterruptConfirmation())
    scene.connected.fence()


def _data_passes(scene: Scene) -> None:
    """The Data arrives at B (or returns as an echo, once A is ready)."""
    a, b = scene.side, scene.connected.b
    if isinstance(b, Side):
        b.expect(b.data(b"next"))
    if scene.state == "g2":
        a.acknowledge()
    if not b.present:
        a.expect(a.data(b"next"))
    scene.connected.fence()


def _ready_again(scene: Scene) -> None:
    """After RNR the tester is ready again, and data flows."""
    scene.side.acknowledge()
    scene.connected.fence()


def _other_channel_taken(scene: Scene) -> None:
    """p4: Data with another LCN is taken as that of the call."""
    a, b = scene.side, scene.connected.b
    receiver = b if isinstance(b, Side) else a
    receiver.expect(receiver.data(b"another LCN"))
    scene.connected.fence()


def _nothing_left(scene: Scene) -> None:
    """A connection without a call has gone."""
    scene.bench.fence()


_NORMAL: dict[str, Callable[[Scene], None]] = {
    "p1 call_request": _call_comes_about,
    "p3 call_accepted": _connected,
    "p3 call_request": _calls_collide,
    "p1 clear_request": _confirmed,
    "p2 clear_request": _clear_passes,
    "p3 clear_request": _clear_passes,
    "p4 clear_request": _clear_passes,
    "p7 clear_request": _clear_collision,
    "p7 clear_confirmation": is_free,
    "p7 other_channel_number": is_free,
    "p4 other_channel_number": _other_channel_taken,
    "p1 tcp_end": _nothing_left,
    "p7 tcp_end": _gone,
    "d1 reset_request": _reset_passes,
    "d3 reset_request": _reset_collision,
    "d3 reset_confirmation": _reset_confirmed,
    "i1j1 interrupt": _interrupt_passes,
    "i1j2 interrupt": _interrupt_passes,
    "i1j2 interrupt_confirmation": _confirmation_passes,
    "i2j2 interrupt_confirmation": _confirmation_passes,
    "f1g1 p_s_next": _data_passes,
    "g2 p_s_next": _data_passes,
    "f1g1 rr": go_on,
    "g2 rr": go_on,
    "f1g1 rnr": _ready_again,
    "g2 rnr": _ready_again,
}
