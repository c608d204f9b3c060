# SPDX-License-Identifier: GPL-2.0-or-later
"""Channels of a serial line, and configuration TX: side A over XOT, B on a line (RFC 1613 5, 6)."""

from __future__ import annotations

from .calls import free_again, other_end, request_from
from .clearing import confirmed, end, give_up, refused, setup_error, taken_back
from .collisions import calls_cross
from .language import (
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearIndication,
    ClearRequest,
    Data,
    IncomingCall,
    RestartConfirmation,
    RestartRequest,
    Side,
    between,
    not_in,
    purpose,
)
from .many import they_last

LCN_OF_A = 3000


def crossing(bench: Bench, at: str) -> tuple[Side, Side, CallRequest, CallRequest]:
    """Calls that cross on the line of this side: the caller, the side on the line, both Calls."""
    far = other_end(at)
    with bench.preamble():
        caller = bench.connect(at=far)
        request = request_from(bench, far)
        caller.send(request)
        here = bench.incoming(CallRequest(user_data=request.user_data), at=at)
    own = request_from(bench, at)
    here.send(own)
    return caller, here, request, own


def collision(bench: Bench, at: str) -> list[Call]:
    """Calls that cross on the line of this side; those of them that are up in the end."""
    return calls_cross(bench, *crossing(bench, at))


@purpose("PLP-CALL-16")
def test_call_collision(bench: Bench) -> None:
    """See calls_cross(); what a DTE gets in place of an answer comes to nothing."""
    for at in bench.lines:
        collision(bench, at)


@purpose("PLP-CALL-55")
def test_collision_that_the_dte_ends(bench: Bench) -> None:
    """p5, on each line whose DCE the router is: the DTE clears, or sends Data (24, or 21 where the
    router's own call is forgotten already). The displaced call is refused or placed elsewhere, and
    the channel takes a call."""
    dces = [at for at, line in bench.lines.items() if line.profile.role == "dce"]
    bench.need(bool(dces), "a line whose DCE the router is")
    for at in dces:
        far = other_end(at)
        for clears in (True, False):
            caller, here, request, own = crossing(bench, at)
            there = bench.incoming(CallRequest(user_data=own.user_data), at=far)
            if clears:
                here.send(ClearRequest(cause=0, diagnostic=241))
                taken_back(bench, there, 241)
                confirmed(here)
            else:
                here.send(Data(user_data=b"too early"))
                setup_error(bench, here, there, 24, 21)
            displaced(bench, caller, request, at)
            end(free_again(bench, here))
    bench.fence()


def displaced(bench: Bench, caller: Side, request: CallRequest, at: str) -> None:
    """The call in whose place the DTE's was taken is made on another channel, or refused."""
    if bench.went_on(caller, at=at):
        give_up(caller, bench.incoming(CallRequest(user_data=request.user_data), at=at))
    else:
        refused(bench, caller, ClearIndication(cause=bench.network_clear))


@purpose("PLP-CALL-41")
def test_timers_of_a_collision(bench: Bench) -> None:
    """The calls behind a collision last longer than T11 and T21, a fence each 10 s."""
    calls = [call for at in bench.lines for call in collision(bench, at)]
    times = bench.profile.times
    they_last(bench, calls, 1.1 * max(times.t11, times.t21))


@purpose("XOT-VC-08")
def test_channel_of_the_line(bench: Bench) -> None:
    """The channel towards the line is one of its own; on XOT any value is right (RFC 1613 5)."""
    a = bench.connect()
    a.lcn = LCN_OF_A
    request = bench.call_request()
    a.send(request)
    b = bench.incoming(IncomingCall(lcn=between(*bench.lines["b"].profile.lcn)))
    b.send(b.acceptance)
    connected = a.expect(CallAccepted())
    assert connected is not None
    bench.settle(a, b, request, connected)
    a.send_message(b"there")
    b.expect_message(b"there", lcn=b.lcn)
    b.send_message(b"back")
    a.expect_message(b"back")


@purpose("XOT-VC-09")
def test_equal_channels_of_xot(bench: Bench) -> None:
    """Two connections with LCN 1: two channels of the line, and each carries its own data."""
    first = bench.place_call()
    a = bench.connect()
    request = bench.call_request()
    a.send(request)
    assert isinstance(first.b, Side)
    b = bench.incoming(IncomingCall(lcn=not_in(first.b.lcn)))
    b.send(b.acceptance)
    connected = a.expect(CallAccepted())
    assert connected is not None
    bench.settle(a, b, request, connected)
    for number in range(5):
        first.a.send_message(f"first there {number}".encode())
        a.send_message(f"second there {number}".encode())
        first.b.expect_message(f"first there {number}".encode())
        b.expect_message(f"second there {number}".encode())
        first.b.send_message(f"first back {number}".encode())
        b.send_message(f"second back {number}".encode())
        first.a.expect_message(f"first back {number}".encode())
        a.expect_message(f"second back {number}".encode())


@purpose("XOT-FORB-08")
def test_restart_becomes_a_clear(bench: Bench) -> None:
    call = bench.call()
    line = bench.lines["b"]
    call.a.never(RestartRequest(), RestartConfirmation())
    line.layer.send(RestartRequest(cause=line.restart_cause, diagnostic=0))
    line.layer.expect(RestartConfirmation())
    if call.a.expect(ClearIndication(), CLOSED) is None:
        bench.remark("the XOT side was closed without a Clear")
