# SPDX-License-Identifier: GPL-2.0-or-later
"""Every error that ends a call, one call each (X.25 4.1, 6.12 to 6.16; Tables C-2 and C-3).

They stand between calls of every kind (whole_calls.py): what an error leaves behind shows in the
next call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .calls import agreed_by, at_a, nearer
from .clearing import (
    clear_or_close,
    clear_with,
    procedure_error,
    setup_error,
    user_data_error,
)
from .clearing import refused as refused_by_the_router
from .language import (
    ABSENT,
    CLOSED,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    Data,
    Interrupt,
    PacketSize,
    ResetRequest,
    Side,
    WindowSize,
)
from .procedure_errors import confirmed_ahead
from .scene import Scene
from .whole_calls import FAST, RESTRICTED, VALUES, Way, fast, octets, refused_at_once


def before_the_answer(by: str, packet: Any, code: int, **options: Any) -> Any:
    """A packet that the calling or the called side may not send before the call is answered."""

    def make(scene: Scene) -> None:
        x, y, _ = scene.call(**options)
        offender, other = (x, y) if by == "calling" else (y, x)
        offender.send(packet() if callable(packet) else packet)
        setup_error(scene.bench, offender, other, code)
        scene.over_unless_closed(x)

    return make


def restricted_answer(charged: int) -> Any:
    """An answer in spite of the restriction."""

    def make(scene: Scene) -> None:
        x, y, _ = scene.call(**fast(scene, 20, RESTRICTED, charged))
        y.send(CallAccepted())
        setup_error(scene.bench, y, x, 42)
        scene.over_unless_closed(x)

    return make


def in_data_transfer(by: str, request: bool) -> Any:
    """A Call Request, or a Call Accepted, in a call that is connected."""

    def make(scene: Scene) -> None:
        call = scene.answer(scene.call())
        way = call if by == "calling" else call.turned()
        # Of this side's modulus, which need not be the other's.
        way.a.send(scene.bench.call_request() if request else CallAccepted())
        procedure_error(way, way.a, way.b, 23)
        scene.over_unless_closed(call.a)

    return make


def facility_error(facility: Any, *codes: int) -> Any:
    """A Call that the router refuses for a facility."""

    def make(scene: Scene) -> None:
        bench = scene.bench
        # With the other one: a Call that lacks it may be refused for that (RFC 1613 6.1).
        other = WindowSize() if isinstance(facility, PacketSize) else PacketSize()
        request = scene.request(facilities=[facility, other])
        wrong = ClearIndication(cause=bench.cause(0x03, 0x13), diagnostic=bench.diagnostic(*codes))
        refused_at_once(scene, request, wrong)

    return make


def too_much_data(length: int, select: bool) -> Any:
    """A Call with more user data than it may have."""

    def make(scene: Scene) -> None:
        bench = scene.bench
        options = fast(scene, length) if select else {"user_data": octets(scene, length)}
        refused_at_once(scene, scene.request(**options), user_data_error(bench))

    return make


def raised(octet: str, kind: type[PacketSize] | type[WindowSize]) -> Any:
    """An answer above the offer in one direction: an error, or what was offered is in force."""

    def make(scene: Scene) -> None:
        bench = scene.bench
        x, y, request = scene.call(size=256, window=3)
        size, window = agreed_by(y, CallAccepted())
        offered, default = (size, 7) if kind is PacketSize else (window, 2)
        above = max(offered.called, offered.calling, default) + 1
        most = 12 if kind is PacketSize else y.modulus - 1
        if above > most:
            scene.clear(y, x)
            return
        answer = kind(**{"called": offered.called, "calling": offered.calling, octet: above})
        y.send(CallAccepted(facilities=[answer]))
        legal = at_a(bench, request, (size, window))
        cleared = ClearIndication(cause=bench.network_clear)
        reduced = CallAccepted(facilities=[nearer(offered, default)])
        wrong = ClearIndication(cause=bench.cause(0x03, 0x13), diagnostic=bench.diagnostic(66))
        ahead = confirmed_ahead(y, x, wrong)
        if isinstance(x.expect(*legal, reduced, cleared, CLOSED), CallAccepted):
            bench.remark("an answer above the offer was reduced")
            scene.clear(x, y)
            return
        clear_or_close(bench, x)
        if not ahead:
            refused_by_the_router(bench, y, wrong)
        scene.over_unless_closed(x)

    return make


def wrong_answer(facility: PacketSize | WindowSize, size: int, window: int) -> Any:
    """An answer with a value that no call has, next to the one that was asked for."""

    def make(scene: Scene) -> None:
        bench = scene.bench
        x, y, _ = scene.call(size=min(size, bench.profile.limits.packet_size), window=window)
        y.send(CallAccepted(facilities=[facility]))
        wrong = ClearIndication(cause=bench.cause(0x03, 0x13), diagnostic=bench.diagnostic(66))
        refused_by_the_router(bench, y, wrong)
        x.expect(ClearIndication(cause=bench.network_clear), CLOSED)
        clear_or_close(bench, x)
        scene.over_unless_closed(x)

    return make


def data_in_a_plain_clear(by: str) -> Any:
    """User data in the Clear of a call without fast select: an error, or it is left out."""

    def make(scene: Scene) -> None:
        bench = scene.bench
        call = scene.answer(scene.call())
        way = call if by == "calling" else call.turned()
        here, there = way.a, way.b
        assert isinstance(there, Side)
        here.send(clear_with(b"\xc0"))
        passed = ClearIndication(cause=0, diagnostic=241, user_data=ABSENT)
        wrong = user_data_error(bench)
        ahead = confirmed_ahead(here, there, wrong)
        as_an_error = ClearIndication(cause=bench.remote_clear)
        came = there.expect(*(() if ahead else (passed,)), as_an_error)
        there.send(ClearConfirmation())
        right = [ClearConfirmation(), wrong]
        if came is not None:
            right = right[:1] if came.fields.get("diagnostic") == 241 else right[1:]
        if not ahead and isinstance(here.expect(*right, CLOSED), ClearIndication):
            here.send(ClearConfirmation())
        scene.over_unless_closed(call.a)

    return make


def _early(kind: type[Any]) -> Any:
    return lambda: kind(user_data=b"too early") if kind in (Data, Interrupt) else kind()


ERRORS: tuple[Way, ...] = (
    Way("Data of the calling side", before_the_answer("calling", _early(Data), 21)),
    Way("an answer in spite of restriction", restricted_answer(0), FAST),
    Way("Data of the called side", before_the_answer("called", _early(Data), 22)),
    Way("user data in a plain Clear", data_in_a_plain_clear("calling")),
    Way("17 octets of user data", too_much_data(17, select=False)),
    Way("an Interrupt of the calling side", before_the_answer("calling", _early(Interrupt), 21)),
    Way("Call Request of the calling side", in_data_transfer("calling", request=True)),
    Way("window 0", facility_error(WindowSize(called=2, calling=0), 66), VALUES),
    Way("an Interrupt of the called side", before_the_answer("called", _early(Interrupt), 22)),
    Way("a window raised from the called side", raised("called", WindowSize), VALUES),
    Way("Call Accepted of the called side", in_data_transfer("called", request=False)),
    Way("an answer to one that is charged", restricted_answer(1), (*FAST, "F-RC")),
    Way("user data in a plain Clear of the called side", data_in_a_plain_clear("called")),
    Way("Call Accepted of the calling side", before_the_answer("calling", CallAccepted, 21)),
    Way("a window raised from the calling side", raised("calling", WindowSize), VALUES),
    Way("a Reset of the called side", before_the_answer("called", _early(ResetRequest), 22)),
    Way("size code 3", facility_error(PacketSize(called=7, calling=3), 66), VALUES),
    Way("window 0 of the called side", facility_error(WindowSize(called=0, calling=2), 66), VALUES),
    Way("size code 0", facility_error(PacketSize(called=0, calling=7), 66), VALUES),
    Way("a size raised from the calling side", raised("calling", PacketSize), VALUES),
    Way("Call Request of the called side", in_data_transfer("called", request=True)),
    Way("a size raised from the called side", raised("called", PacketSize), VALUES),
    Way("129 octets of user data", too_much_data(129, select=True), FAST),
    Way("an answer with window 0", wrong_answer(WindowSize(called=0, calling=1), 128, 1), VALUES),
    Way("size code 3 answered", wrong_answer(PacketSize(called=4, calling=3), 16, 2), VALUES),
    Way("window 0 back", wrong_answer(WindowSize(called=1, calling=0), 256, 1), VALUES),
    Way("size code 13 answered", wrong_answer(PacketSize(called=13, calling=12), 4096, 7), VALUES),
    Way("a Reset of the calling side", before_the_answer("calling", _early(ResetRequest), 21)),
)


def among(errors: Sequence[Way], ways: Sequence[Way]) -> list[Way]:
    """Each error behind one of the ways, and in front of another."""
    return [way for pair in zip(ways, errors, strict=False) for way in pair]
