# SPDX-License-Identifier: GPL-2.0-or-later
"""How calls end, as the cases share it (X.25 4.1.7 to 4.1.10, Annex C).

RFC 1613 6.1: before the call is connected a close of the TCP connection is one end of a call
attempt, and a close stands for the Clear Confirmation.
"""

from __future__ import annotations

from scapy.packet import Packet
from scapy_x25 import ClearConfirmation, ClearIndication, ClearRequest

from ..judges.expectation import CLOSED
from ..judges.values import Matcher, either, one_of
from ..sides.bench import Bench, Call
from ..sides.context import Context
from ..sides.side import AbsentSide, Side

AnySide = Side | AbsentSide
WITHDRAWN_BY_A_CLOSE = "a call that its caller took back was ended at B by a close of TCP"


def refused(bench: Bench, side: AnySide, *templates: Packet) -> None:
    """The router itself ends a call that is not connected: one of these Clears, or a TCP close."""
    if not side.present:
        return
    if side.expect(*templates, CLOSED) is None:
        bench.remark("a call was refused by a close of TCP, without a Clear")
    else:
        side.send(ClearConfirmation())


def clear_or_close(bench: Bench, side: Side) -> None:
    """The tester's answer where one of the two has come for a call that is not connected."""
    if side.phase == "being cleared":
        side.send(ClearConfirmation())
    else:
        bench.remark("a call was refused by a close of TCP, without a Clear")


def clear_with(user_data: bytes, diagnostic: int = 241) -> ClearRequest:
    """A Clear in the extended format: no addresses, no facilities, clear user data."""
    return ClearRequest(
        cause=0,
        diagnostic=diagnostic,
        called_address_length=0,
        calling_address_length=0,
        facility_length=0,
        user_data=user_data,
    )


def setup_error(bench: Bench, offender: AnySide, other: AnySide, *codes: int) -> None:
    """As procedure_error(), while the call is not connected."""
    refused(
        bench,
        offender,
        ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(*codes)),
    )
    refused(bench, other, ClearIndication(cause=bench.remote_clear))


def generic(code: int) -> tuple[int, int, int]:
    """A diagnostic, the generic one of its group, and 0, where a row allows the group."""
    return code, code // 16 * 16, 0


def user_data_error(bench: Bench) -> ClearIndication:
    """The Clear for user data that is too long, or that has no place without fast select: a length
    error, or an invalid facility request, since fast select is a facility (X.25 5.2, 6.16)."""
    return ClearIndication(cause=bench.cause(0x13, 0x03), diagnostic=bench.diagnostic(39))


def not_obtainable(bench: Bench) -> ClearIndication:
    """The Clear for an address without route: diagnostic 67, its group, or 112 to 122."""
    return ClearIndication(
        cause=bench.cause(*sorted(bench.profile.causes_no_route)),
        diagnostic=bench.diagnostic(*generic(67), *range(112, 123)),
    )


def confirmed(side: AnySide, note: str = "") -> None:
    """The Clear of this side is confirmed, or the connection closed in its place."""
    side.expect(ClearConfirmation(), CLOSED, note=note)


def cleared(side: AnySide, *, cause: Matcher | int, diagnostic: Matcher | int | None) -> None:
    """The router clears this side, which confirms. diagnostic None: any."""
    template = ClearIndication(cause=cause)
    if diagnostic is not None:
        template.fields["diagnostic"] = diagnostic
    side.expect(template)
    side.send(ClearConfirmation())


def at_the_other_end(bench: Bench, here: Packet | None, *codes: int) -> Matcher:
    """The diagnostic where no error was made and the other end was told so: the same, or 0.

    At the level of groups the two ends may get different ones of the same group, and where this end
    got none the other one that of a network's own; where any will do, any. here: None if what it
    was told has not come. codes: others that say what the error was.
    """
    told = None if here is None else here.fields.get("diagnostic")
    return either(one_of(told, 0, None), bench.diagnostic(told or 0, *codes))


def procedure_error(call: Call, offender: AnySide, other: AnySide, *codes: int) -> None:
    """Both sides are cleared after an error of one: local and remote procedure error."""
    bench = call.bench
    cleared(offender, cause=bench.local_clear, diagnostic=bench.diagnostic(*codes))
    cleared(other, cause=bench.remote_clear, diagnostic=None)


def passes(
    context: Context,
    sender: AnySide,
    receiver: AnySide,
    cause: int,
    diagnostic: int,
    note: str = "",
) -> None:
    """One side clears; cause and diagnostic arrive at the other one, and both confirm.

    0x11 in place of 0x13 is a remark: seen from the receiver that error was a remote one.
    """
    wanted = [ClearIndication(cause=cause, diagnostic=diagnostic)]
    if cause == 0x13:
        wanted.append(ClearIndication(cause=0x11, diagnostic=diagnostic))
    sender.send(ClearRequest(cause=cause, diagnostic=diagnostic))
    came = receiver.expect(*wanted, note=note)
    if came is not None and came.cause != cause:
        context.remark("local procedure error (0x13) arrives as remote procedure error (0x11)")
    receiver.send(ClearConfirmation())
    confirmed(sender, note)


def taken_back(bench: Bench, receiver: AnySide, diagnostic: Matcher | int, cause: int = 0) -> None:
    """The caller has cleared before the answer: this cause and diagnostic arrive, or the close
    of the connection that stands for them while the call is not connected (RFC 1613 6.1)."""
    if receiver.expect(ClearIndication(cause=cause, diagnostic=diagnostic), CLOSED) is not None:
        receiver.send(ClearConfirmation())
    elif receiver.present:
        bench.remark(WITHDRAWN_BY_A_CLOSE)


def end(call: Call) -> None:
    """Side A clears a call whose purpose is reached."""
    passes(call.bench, call.a, call.b, 0, 0)


def give_up(a: Side, b: AnySide) -> None:
    """B refuses a call whose purpose was reached when it arrived there."""
    passes(a.context, b, a, 0, 0)
