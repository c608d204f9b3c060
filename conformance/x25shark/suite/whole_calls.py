# SPDX-License-Identifier: GPL-2.0-or-later
"""Every way in which a call begins and ends, one call each (X.25 4.1, 6.12 to 6.16).

What a router does right in a first call it may do wrong in one behind a refusal, behind a fast
select call, beside another one, from the other side. So there is one list, and it is made wherever
a call may stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scapy_x25 import CalledAddressExtension, Priority, Protection

from ..sides.arriving import arriving
from .callers import takes_any_caller
from .clearing import generic, give_up, taken_back
from .clearing import refused as refused_by_the_router
from .collisions import end_of_collision
from .language import (
    CLOSED,
    Bench,
    Call,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    FastSelectReverseCharging,
    PacketSize,
    Side,
    ThroughputClass,
    WindowSize,
)
from .many import at_a_time
from .occasion import amid
from .scene import DTE, Scene, facilities_at_b, template_of

UNRESTRICTED, RESTRICTED = 2, 3


class Way(NamedTuple):
    """One call; needs: PICS items without which it is left out.

    other_caller: it has a calling address that is not the side's own.
    """

    name: str
    make: Callable[[Scene], None]
    needs: tuple[str, ...] = ()
    other_caller: bool = False


def octets(scene: Scene, length: int) -> bytes:
    """User data behind a protocol identifier of free use."""
    return (b"\xc0" + scene.bench.random.randbytes(length))[:length]


def fast(scene: Scene, length: int, kind: int = UNRESTRICTED, charged: int = 0) -> dict[str, Any]:
    """What makes a Call one of fast select, with so many octets of user data."""
    facility = FastSelectReverseCharging(fast_select=kind, redirection=0, reverse_charging=charged)
    values = [PacketSize(), WindowSize()]
    return {"facilities": [facility, *values], "user_data": octets(scene, length)}


def full_packets(call: Call) -> None:
    """As long a packet as may be, each way, and a short one."""
    assert isinstance(call.b, Side)
    for x, y in ((call.a, call.b), (call.b, call.a)):
        for octets_ in (call.bench.record(max(x.packet_size, 32)), b"short"):
            x.send_message(octets_)
            y.expect_message(octets_, longest=y.size_in)


def ended(scene: Scene, call: Call, by: str, *values: Any, **more: Any) -> None:
    """The calling or the called side clears."""
    x, y = call.a, call.b
    assert isinstance(y, Side)
    scene.clear(*((x, y) if by == "calling" else (y, x)), *values, **more)


def refused_at_once(scene: Scene, request: CallRequest, *wanted: ClearIndication) -> None:
    """The router refuses a Call itself, by one of these Clears or a TCP close."""
    bench = scene.bench
    x = scene.again(request)
    if x is None:
        x = bench.connect(at=scene.calling, modulus=scene.modulus)
        x.send(request)
    refused_by_the_router(bench, x, *wanted)
    scene.is_confirmed()
    scene.over_unless_closed(x)


# the ways


def plain(by: str, cause: int = 0, diagnostic: int = 0, user_data: int = 4) -> Any:
    """A call that comes about, with data each way, and that one side clears."""

    def make(scene: Scene) -> None:
        given = {} if user_data == 4 else {"user_data": octets(scene, user_data)}
        call = scene.answer(scene.call(**given))
        call.fence()
        ended(scene, call, by, cause, diagnostic)

    return make


def refused(cause: int, diagnostic: int) -> Any:
    """A call that the called side refuses."""

    def make(scene: Scene) -> None:
        x, y, _ = scene.call()
        scene.clear(y, x, cause, diagnostic)

    return make


def withdrawn(diagnostic: int, *, select: bool = False) -> Any:
    """A call that the calling side clears before it is answered."""

    def make(scene: Scene) -> None:
        take_back(scene, scene.call(**(fast(scene, 17) if select else {})), diagnostic)

    return make


def take_back(scene: Scene, call: tuple[Side, Side, CallRequest], diagnostic: int) -> None:
    """The calling side clears before the answer."""
    x, y, _ = call
    x.send(ClearRequest(cause=0, diagnostic=diagnostic))
    taken_back(scene.bench, y, diagnostic)
    if x.expect(ClearConfirmation(), CLOSED) is not None:
        scene.over(x)


def fast_refused(
    there: int, back: int, kind: int = UNRESTRICTED, charged: int = 0, marked: Sequence[Any] = ()
) -> Any:
    """A fast select call that the called side refuses with user data, 0 octets: without."""

    def make(scene: Scene) -> None:
        x, y, _ = scene.call(**fast(scene, there, kind, charged))
        scene.clear(y, x, 0, 128 + back % 128, octets(scene, back), marked)

    return make


def fast_answered(there: int, back: int, by: str, last: int, charged: int = 0) -> Any:
    """A fast select call that comes about, with user data in all its packets, 0 octets: without."""

    def make(scene: Scene) -> None:
        call = scene.call(**fast(scene, there, UNRESTRICTED, charged))
        answered = scene.answer(call, user_data=octets(scene, back))
        answered.fence()
        ended(scene, answered, by, 0, 255 - last, octets(scene, last))

    return make


def negotiated(
    asked: tuple[Any, Any], answered: tuple[int, int] | None, by: str, kind: Any = object
) -> Any:
    """A call with other values. asked: sizes and windows; answered: code and window, or nothing."""

    def make(scene: Scene) -> None:
        size, window = asked
        call = scene.call(size=size, window=window)
        values = []
        if answered is not None:
            values = scene.agreed(call, size=answered[0], window=answered[1], kind=kind)
        connected = scene.answer(call, values=values)
        full_packets(connected)
        ended(scene, connected, by, 0, 1)

    return make


def with_classes(asked: tuple[int, int], answered: tuple[int, int] | None) -> Any:
    """Throughput classes, as (called, calling)."""

    def make(scene: Scene) -> None:
        facility = ThroughputClass(called=asked[0], calling=asked[1])
        call = scene.call(more=[facility])
        ended(scene, scene.answer(call, throughput=answered), "called", 0, 2)

    return make


def with_d(asked: int, granted: int) -> Any:
    """Delivery confirmation: what each side says of it passes, whatever the other says."""

    def make(scene: Scene) -> None:
        connected = scene.answer(scene.call(d=asked), d=granted)
        connected.fence()
        ended(scene, connected, "calling", 0, 3)

    return make


def charged(scene: Scene) -> None:
    """Reverse charging without fast select."""
    facility = FastSelectReverseCharging(fast_select=0, redirection=0, reverse_charging=1)
    call = scene.call(facilities=[facility, PacketSize(), WindowSize()])
    ended(scene, scene.answer(call), "calling", 0, 8)


def of_dtes(scene: Scene) -> None:
    """Facilities of the two DTEs, other ones each way."""
    asked = (DTE, Priority(value=b"\x01\x02\x03"), Protection(value=b"\xc0\x05asked"))
    given = (DTE, Protection(value=b"\xc0\x05given"))
    ended(scene, scene.answer(scene.call(more=asked), marked=given), "called", 0, 4)


def with_addresses(calling: str, answers: bool) -> Any:
    """Calling addresses of other lengths; the answer has the called address, or none."""

    def make(scene: Scene) -> None:
        call = scene.call(calling=calling)
        assert call[1].call is not None
        address = call[1].call.called_address or "" if answers else ""
        ended(scene, scene.answer(call, address=address), "calling", 0, 5)

    return make


def collided(scene: Scene) -> None:
    """The called side clears, and the calling one has cleared before it reads that."""
    call = scene.answer(scene.call())
    clears_cross(call)
    scene.over(call.a)


def collided_there(scene: Scene) -> None:
    """The same, changed over: it is the Clear of the called side that comes last."""
    call = scene.answer(scene.call())
    clears_cross(call.turned())
    scene.over_unless_closed(call.a)


def clears_cross(call: Call) -> None:
    """The second side clears, and the first has cleared before it reads that."""
    x, y = call.a, call.b
    assert isinstance(y, Side)
    y.send(ClearRequest(cause=0, diagnostic=241))
    x.expect(ClearIndication(cause=0, diagnostic=241))
    x.allow(ClearConfirmation())
    x.send(ClearRequest(cause=0, diagnostic=242))
    end_of_collision(y)


def with_long_address(scene: Scene) -> None:
    """Called addresses of 15 digits, in the answer too, as far as the route takes them."""
    bench = scene.bench
    own = bench.far_end.address if scene.calling == "a" else bench.profile.addresses.a
    arrives = arriving(bench.profile.addresses, own or "")
    if bench.model == "splice" or arrives != own or scene.calling != "a":
        return
    for calling in ("908172635445362", "31"):
        request = scene.request(called=(own + "123456789012345")[:15], calling=calling)
        x = bench.connect(at=scene.calling, modulus=scene.modulus)
        x.send(request)
        if not bench.went_on(x, at=scene.there):
            bench.remark("the route does not take 15 digits")
            x.expect(ClearIndication(cause=bench.network_clear), CLOSED)
            if x.phase == "being cleared":
                x.send(ClearConfirmation())
            return
        wanted = template_of(bench, request, facilities_at_b(bench, request, scene.there)[0])
        y = bench.incoming(CallRequest(**_but_facilities(wanted)), at=scene.there)
        call = scene.answer((x, y, request), address=request.called_address)
        ended(scene, call, "calling", 0, 6)


def _but_facilities(template: CallRequest) -> dict[str, Any]:
    return {name: value for name, value in template.fields.items() if name != "facilities"}


def unroutable(scene: Scene) -> None:
    """A call that the router refuses itself, a splice as well (X.25 4.1.5)."""
    bench = scene.bench
    no_route = bench.profile.addresses.no_route
    if no_route is None or scene.calling != "a":
        return
    if bench.model == "splice":
        # One that reads nothing behind a Call that it has passed on takes no other Call there.
        scene.leave()
    request = scene.request(called=no_route)
    causes, codes = sorted(bench.profile.causes_no_route), (*generic(67), *range(112, 123))
    refusal = ClearIndication(cause=bench.cause(*causes), diagnostic=bench.diagnostic(*codes))
    if scene.modulus == 128:
        refusal.modulo = request.modulo
    refused_at_once(scene, request, refusal)


FAST, VALUES = ("F-FS",), ("F-PKT", "F-WIN")
EXTENSION = (DTE, CalledAddressExtension(use=1, address="2468"))
WAYS: tuple[Way, ...] = (
    Way("cleared by the calling side", plain("calling")),
    Way("refused (0, 129)", refused(0, 129)),
    Way("cleared by the called side", plain("called", 0x80, 200)),
    Way("fast select, 128 octets, refused with 128", fast_refused(128, 128), FAST),
    Way("without user data", plain("called", 0, 7, user_data=0)),
    Way("withdrawn", withdrawn(241)),
    Way("sizes and windows by direction", negotiated(((256, 64), (3, 5)), None, "called"), VALUES),
    Way("the usual values", negotiated((128, 2), None, "calling"), VALUES),
    Way("restricted, 1 octet", fast_refused(1, 1, RESTRICTED), FAST),
    Way("restricted, 128 octets", fast_refused(128, 128, RESTRICTED), FAST),
    Way("fast select, connected", fast_answered(16, 128, "calling", 128), FAST),
    Way("refused by a private network", refused(0xC1, 0)),
    Way("fast select, withdrawn", withdrawn(130, select=True), FAST),
    Way("16 octets of user data", plain("calling", 0xFF, 129, user_data=16)),
    Way("window alone answered", negotiated((512, 4), (8, 3), "called", WindowSize), VALUES),
    Way("size alone answered", negotiated((512, 4), (8, 3), "calling", PacketSize), VALUES),
    Way("D granted", with_d(1, 1), ("P-DBIT",)),
    Way("D not granted", with_d(1, 0), ("P-DBIT",)),
    Way("clears that collide", collided),
    Way("called address of 15 digits", with_long_address, other_caller=True),
    Way("clears that collide at the called side", collided_there),
    Way("small values", negotiated((64, 1), None, "called"), VALUES),
    Way("classes lowered", with_classes((11, 7), (10, 7)), ("F-THR",)),
    Way("classes taken", with_classes((7, 11), (7, 11)), ("F-THR",)),
    Way("classes not answered", with_classes((9, 10), None), ("F-THR",)),
    Way("facilities of DTEs", of_dtes, ("F-DTE",)),
    Way("refused (0xff, 255)", refused(0xFF, 255)),
    Way("without a route", unroutable),
    Way("restricted and charged", fast_refused(128, 0, RESTRICTED, 1), (*FAST, "F-RC")),
    Way("calling address of 15 digits", with_addresses("908172635445362", True), other_caller=True),
    Way("fast select, charged", fast_answered(128, 0, "called", 17, 1), (*FAST, "F-RC")),
    Way("charged, without fast select", charged, ("F-RC",)),
    Way("calling address of 1 digit", with_addresses("7", False), other_caller=True),
    Way("Clear with a facility", fast_refused(4, 64, marked=EXTENSION), (*FAST, "F-DTE")),
    Way("calling address of 6 digits", with_addresses("310001", True), other_caller=True),
    Way("without a calling address", with_addresses("", True)),
    Way("calling address with 0 in front", with_addresses("0071", True), other_caller=True),
    Way("unequal values lowered", negotiated(((64, 1024), (1, 7)), (7, 2), "called"), VALUES),
    Way("D not asked for and granted", with_d(0, 1), ("P-DBIT",)),
    Way("cleared by the called side with 128 octets", fast_answered(0, 1, "called", 128), FAST),
)


def from_b(bench: Bench) -> Scene:
    """Calls of B. What A has not subscribed to (X.25 6.17, 6.19) only the router knows.

    So it is asked, and what it refuses is left out, with a remark.
    """
    scene = Scene(bench, calling="b")
    lacking = []
    for item, cause, kind, paid in (("F-FS", 0x29, UNRESTRICTED, 0), ("F-RC", 0x19, 0, 1)):
        if not bench.declared(item):
            continue
        x = bench.connect(at="b")
        x.send(scene.request(**fast(scene, 4, kind, paid)))
        if bench.went_on(x, at="a"):
            give_up(x, bench.incoming(at="a"))
        else:
            lacking.append(item)
            bench.remark(f"calls of B with {item} are refused")
            refused_by_the_router(bench, x, ClearIndication(cause=bench.cause(cause)))
    scene.lacking = tuple(lacking)
    return scene


def makes_all(scene: Scene, ways: Sequence[Way], where: str) -> None:
    """Each of them, one behind the other. where: for the reason of a FAIL."""
    bench, before = scene.bench, where
    # A channel of a call that has ended may not be free yet as the next one comes.
    at_a_time(bench, 1, spare=3)
    if any(way.other_caller for way in ways) and scene.any_caller is None:
        scene.any_caller = takes_any_caller(bench, at=scene.calling)
    for way in ways:
        if not all(bench.declared(item) and item not in scene.lacking for item in way.needs):
            continue
        if way.other_caller and not scene.any_caller:
            continue
        with amid(bench, f"{way.name}, {before}"):
            way.make(scene)
        before = f"{where}, behind: {way.name}"
    scene.finish()
