# SPDX-License-Identifier: GPL-2.0-or-later
"""The packet layer on a serial line: what a DCE demands of a DTE, flow control, T10 and T13."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..sides.answers import NETWORK_CAUSES
from ..sides.side import receive_not_ready
from .calls import free_again, interrupt_passes
from .clearing import end
from .language import (
    CLOSED,
    REJ,
    RNR,
    Bench,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Diagnostic,
    Interrupt,
    InterruptConfirmation,
    LineSide,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
    Side,
    purpose,
)
from .links import LATE, at_the_line, calls_lines
from .procedure_errors import confirmed_ahead
from .test_plp_rstrt import confirm, restarting
from .windows import before_interrupt, fill_window, may_send

# Causes that only a network gives: busy, congestion, not obtainable; remote DTE and network
# operational.
CLEARS = (0x01, 0x05, 0x0D)
RESETS = (0x09, 0x0F)
# Resets of the network that are not about permanent circuits alone (X.25 5.4.3).
RESETS_OF_A_CALL = (0x03, 0x05, 0x07, 0x11)
# Nothing comes before this part of a timer.
EARLY = 0.8


def lines_of_a(role: str, bench: Bench) -> list[str]:
    """The lines on which the router has this role, "dce" or "dte". Raises NotApplicable."""
    found = [at for at in calls_lines(bench) if bench.lines[at].profile.role == role]
    bench.need(bool(found), f"a line on which the router is the {role.upper()}")
    return found


@purpose("PLP-CLR-05")
def test_network_cause_in_a_clear_of_a_dte(bench: Bench) -> None:
    """Forced to 0, or an error (X.25 5.2.4.1.1)."""
    for at in lines_of_a("dce", bench):
        for cause in CLEARS:
            call = bench.call()
            _, near, far = at_the_line(bench, call, at)
            near.send(ClearRequest(cause=cause, diagnostic=7))
            far.expect(ClearIndication(cause=0), ClearIndication(cause=bench.remote_clear))
            far.send(ClearConfirmation())
            error = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(81))
            if isinstance(near.expect(ClearConfirmation(), error), ClearIndication):
                near.send(ClearConfirmation())
    bench.fence()


@purpose("PLP-RST-06")
def test_network_cause_in_a_reset_of_a_dte(bench: Bench) -> None:
    """Forced to 0, or an error (X.25 5.4.3.1)."""
    for at in lines_of_a("dce", bench):
        for cause in RESETS:
            call = bench.call()
            _, near, far = at_the_line(bench, call, at)
            near.send(ResetRequest(cause=cause, diagnostic=7))
            error = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(81))
            ahead = confirmed_ahead(near, far, error)
            far.expect(ResetIndication(cause=0), ResetIndication(cause=bench.remote_reset))
            far.send(ResetConfirmation())
            if not ahead and isinstance(near.expect(ResetConfirmation(), error), ResetIndication):
                near.send(ResetConfirmation())
            call.fence()


@purpose("PLP-CLR-25")
def test_clears_of_a_network(bench: Bench) -> None:
    """The router is the DTE: each is confirmed, and the far end is told of the end of the call."""
    for at in lines_of_a("dte", bench):
        for cause in NETWORK_CAUSES:
            call = bench.call()
            _, near, far = at_the_line(bench, call, at)
            near.send(ClearRequest(cause=cause, diagnostic=7))
            far.expect(ClearIndication())
            far.send(ClearConfirmation())
            near.expect(ClearConfirmation(), note=f"cause 0x{cause:02x}")
    bench.fence()


@purpose("PLP-RST-27")
def test_resets_of_a_network(bench: Bench) -> None:
    """Those of a call; the call goes on."""
    for at in lines_of_a("dte", bench):
        call = bench.call()
        _, near, far = at_the_line(bench, call, at)
        for cause in RESETS_OF_A_CALL:
            near.send(ResetRequest(cause=cause, diagnostic=7))
            far.expect(ResetIndication())
            far.send(ResetConfirmation())
            near.expect(ResetConfirmation(), note=f"cause 0x{cause:02x}")
            call.fence()


@purpose("PLP-FLOW-16")
def test_rej_of_a_dte(bench: Bench) -> None:
    """It is an error of that call (Table C-4), which goes on behind a reset."""
    for at in lines_of_a("dce", bench):
        call = bench.call()
        _, near, far = at_the_line(bench, call, at)
        near.send(REJ(p_r=0))
        code = bench.diagnostic(37, 33)
        near.expect(ResetIndication(cause=bench.local_reset, diagnostic=code))
        near.send(ResetConfirmation())
        far.expect(ResetIndication())
        far.send(ResetConfirmation())
        call.fence()


@purpose("PLP-FLOW-03")
def test_rnr_stops_the_flow(bench: Bench) -> None:
    """By one RNR, by two, by three, with the P(R) of what has come; then a reset ends it too.

    And while none, one or all of a window is open: the RNR, another one or Data of the busy end
    acknowledges none, one or all of it.
    """
    for at in calls_lines(bench):
        call = bench.call()
        _, near, far = at_the_line(bench, call, at)
        near.withholding = True
        for number in range(3):
            _stopped(near, far, b"held %d" % number, times=number + 1, sending=number == 1)
            near.acknowledge()
            near.expect(near.data(b"held %d" % number), note="RR resumes it")
        near.acknowledge()
        for count in sorted({0, 1, near.window_in}):
            for taken in sorted({0, min(1, count), count}):
                for by in ("RNR", "a second RNR", "Data of the busy end"):
                    _stopped_amid(near, far, count, taken, by)
        _stopped(near, far, b"lost in a reset")
        near.send(ResetRequest(cause=0, diagnostic=0))
        far.expect(ResetIndication(cause=0, diagnostic=0))
        far.send(ResetConfirmation())
        near.expect(ResetConfirmation(), passing=(near.data(b"lost in a reset"),))
        call.fence("no RNR is left behind a reset")
        near.withholding = False


def _stopped(
    near: Side, far: Side, octets: bytes, times: int = 1, *, sending: bool = False
) -> None:
    """So many RNRs, which the router's packet layer has read when the Interrupt behind them has
    come (its link may answer a poll before that); then Data, and an Interrupt that passes it.

    sending: who is busy sends Data all the same, which says nothing of its receiving.
    """
    near.send(*(RNR() for _ in range(times)))
    if sending:
        near.send_message(b"of the busy end")
        far.expect_message(b"of the busy end")
    interrupt_passes(near, far)
    far.send(far.data(octets), Interrupt(user_data=b"now"))
    near.expect(Interrupt(user_data=b"now"), note="RNR stops Data")
    near.send(InterruptConfirmation())
    far.expect(InterruptConfirmation())


def _stopped_amid(near: Side, far: Side, count: int, taken: int, by: str) -> None:
    """RNR while so many Data are open; so many of them are acknowledged by it or by what follows.

    What a router that keeps below the window has not sent before the RNR waits for RR, too.
    """
    first = near.numbering.p_r
    opened = fill_window(far, near, [b"open %d" % number for number in range(count)])
    p_r = (first + min(taken, opened.came)) % near.modulus
    near.send(receive_not_ready(near, p_r if by == "RNR" else first))
    interrupt_passes(near, far)
    # Data may have come until the router had read it.
    before_interrupt(far, near, [near.data(octets) for octets in opened.sent[opened.came :]])
    if by == "a second RNR":
        near.send(receive_not_ready(near, p_r))
    elif by == "Data of the busy end":
        near.send_data(b"of the busy end", p_r=p_r)
        far.expect_message(b"of the busy end")
    interrupt_passes(near, far)
    if may_send(far):
        opened.send_one_more(far, b"held")
    note = f"{taken} of {count} open Data acknowledged by {by}: no Data before RR"
    interrupt_passes(far, near, note=note)
    near.acknowledge()
    for octets in opened.sent[opened.came :]:
        near.expect(near.data(octets), note="RR resumes it")
        near.acknowledge()


@purpose("PLP-CLR-13")
def test_t13(bench: Bench) -> None:
    """The DTE never confirms, on all lines at once; behind the second T13 its channel is free."""
    calls = [at_the_line(bench, bench.call(), at) for at in lines_of_a("dce", bench)]
    t13 = bench.profile.times.t13
    began = time.monotonic()
    for line, near, far in calls:
        near.allow(Diagnostic(diagnostic=bench.diagnostic(50)))
        line.layer.allow(Diagnostic(diagnostic=bench.diagnostic(50)))
        far.send(ClearRequest(cause=0, diagnostic=9))
        near.expect(ClearIndication(cause=0, diagnostic=9))
    for _, near, _ in calls:
        again = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(50))
        near.expect(again, within=LATE * t13 + bench.reaction_limit)
    bench.need(time.monotonic() - began >= EARLY * t13, "T13 as the profile has it")
    line = calls[0][0]
    line.pause(LATE * t13 + bench.reaction_limit)
    for _, near, far in calls:
        # If not before: a confirmation may have end-to-end significance (X.25 5.2.5).
        far.expect(ClearConfirmation(), CLOSED)
        free_again(bench, near)
    bench.fence()


@purpose("PLP-RSTRT-10")
def test_t10(bench: Bench) -> None:
    """The DTE never confirms, on all lines at once: one Restart more, and the interface is ready
    behind the second T10. Then a Restart that is confirmed when it came again, a collision, and a
    Restart because of an error, which T10 repeats as any other (Table C-2)."""
    lines = [restarting(bench, at) for at in lines_of_a("dce", bench)]
    t10 = bench.profile.times.t10
    for line in lines:
        line.layer.allow(Diagnostic(diagnostic=bench.diagnostic(52)))
    again = RestartRequest(cause=0x01, diagnostic=bench.diagnostic(52))
    begun = [line.layer.cursor for line in lines]
    for line in lines:
        line.layer.expect(again, within=LATE * t10 + bench.reaction_limit)
    lines[0].pause(LATE * t10 + bench.reaction_limit)
    for line, begin in zip(lines, begun, strict=True):
        line.layer.expect_count(RestartRequest(), 1, 1, start=begin, note="T10 repeats it once")
        line.layer.send(RestartRequest(cause=line.restart_cause, diagnostic=0))
        line.layer.expect(RestartConfirmation(), note="ready behind the second T10")
    call = bench.place_call(note="a call behind the second T10")
    call.fence()
    end(call)
    for line in lines:
        _begun_anew(bench, line)
    for line in lines:
        line.layer.expect(
            again, within=LATE * t10 + bench.reaction_limit, note="T10 of another Restart"
        )
        confirm(line)
    _t10_is_over(bench, lines)
    for line in lines:
        _begun_anew(bench, line)
        line.layer.send(RestartRequest(cause=line.restart_cause, diagnostic=0))
        line.layer.allow(RestartConfirmation())
    _t10_is_over(bench, lines)
    for line in lines:
        confirm(line)
        line.layer.expect(RestartRequest(cause=0x01), note="the confirmation is not due")
    for line in lines:
        line.layer.expect(
            again, within=LATE * t10 + bench.reaction_limit, note="T10 of a Restart for an error"
        )
        confirm(line)
    _t10_is_over(bench, lines)
    bench.fence()


def _begun_anew(bench: Bench, line: LineSide) -> None:
    """A new link, on which the router's own Restart has come."""
    with bench.preamble():
        line.link.end()
    restarting(bench, line.name.lower())


def _t10_is_over(bench: Bench, lines: Sequence[LineSide]) -> None:
    """Confirmed or met by another Restart: no more of it, however long."""
    for line in lines:
        line.link_fence()
    begun = [line.layer.cursor for line in lines]
    lines[0].pause(LATE * bench.profile.times.t10 + bench.reaction_limit)
    for line, begin in zip(lines, begun, strict=True):
        line.layer.expect_count(RestartRequest(), 0, 0, start=begin, note="T10 is over")


@purpose("LAPB-I-15")
def test_agreed_packets_fit_into_frames(bench: Bench) -> None:
    """The largest size is asked for, from either side: of what comes of it full packets pass in
    both directions."""
    addresses = bench.profile.addresses
    numbers = {"a": addresses.a, "b": bench.far_end.address}
    for at, far_at in (("a", "b"), ("b", "a")):
        if numbers[far_at] is None:
            continue
        calling = bench.connect(at=at)
        request = bench.call_request(called=numbers[far_at], calling=numbers[at], size=4096)
        calling.send(request)
        if not bench.went_on(calling, at=far_at):
            calling.expect(ClearIndication(), CLOSED)
            calling.send(ClearConfirmation())
            bench.remark("a call that asks for packets of 4096 octets is refused")
            continue
        called = bench.incoming(CallRequest(user_data=request.user_data), at=far_at)
        called.send(called.acceptance)
        connected = calling.expect(CallAccepted())
        assert connected is not None
        bench.settle(calling, called, request, connected)
        for sender, receiver in ((calling, called), (called, calling)):
            octets = bench.record(sender.packet_size)
            sender.send_message(octets)
            receiver.expect_message(octets)
