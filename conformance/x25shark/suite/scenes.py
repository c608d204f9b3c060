# SPDX-License-Identifier: GPL-2.0-or-later
"""How the tester brings a channel of the router into each state of the state tables.

The states are those of the router as DCE (X.25 Annex B, Annex C) on the channel of `side`, which is
A's unless B acts: then what is said of A here holds for B, and the other way round. The channel is
an XOT connection or one of a serial line. Getting there is a preamble: if it fails the case is
INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from scapy_x25 import X25
from scapy_x25.x25 import RESET_CONFIRMATION

from ..sides.channel import ChannelSide
from ..sides.side import AbsentSide, receive_not_ready
from .calls import call_of_b
from .clearing import end
from .language import (
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Interrupt,
    NotApplicable,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
)
from .reactions import AnySide, was_reset


@dataclass
class Scene:
    """A channel in a state. side: whose channel it is; other: the far end, if there is a call.

    beside: calls that what happens on this channel must not touch. call: the call that is up.
    """

    bench: Bench
    state: str
    side: Side
    other: AnySide | None = None
    call: Call | None = None
    beside: list[Call] = field(default_factory=list)

    @property
    def connected(self) -> Call:
        """The call of a state in data transfer."""
        assert self.call is not None
        return self.call

    @property
    def line(self) -> ChannelSide | None:
        """The side, if its channel is one of a serial line."""
        return self.side if isinstance(self.side, ChannelSide) else None

    def fence(self) -> None:
        """What followed from the event has come. On a line its channels are few: a call that is
        there already shows it, and that the link and the other channels go on."""
        if self.line is None:
            self.bench.fence()
        elif not self.beside:
            fence_on_lines(self)
        for call in self.beside if self.line is not None else ():
            call.fence("the call beside it goes on")


def calls_there(bench: Bench, side: AnySide) -> str:
    """Where the calls of this side arrive."""
    return "a" if side.name == "B" else "b"


def reaches_a(bench: Bench) -> bool:
    """Whether the router carries calls to A: on a line it does, over XOT it may not."""
    return "a" in bench.lines or bench.declared("X-OUT")


def request_of(bench: Bench, side: AnySide) -> CallRequest:
    """A Call of this side for the other end."""
    if side.name == "B":
        return bench.call_request(called=bench.profile.addresses.a, calling=bench.far_end.address)
    return bench.call_request()


def _of_call(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    call = bench.call(modulus=modulus)
    if acting == "B":
        call = call.turned()
    return Scene(bench, state, call.a, call.b, call)


def _p1(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    return Scene(bench, state, bench.connect(at=acting.lower(), modulus=modulus))


def _p2(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    """A has called, B has the Call and does not answer."""
    if acting == "B" and not reaches_a(bench):
        raise NotApplicable("calls from B to A")
    a = bench.connect(at=acting.lower(), modulus=modulus)
    a.send(request_of(bench, a))
    return Scene(bench, state, a, bench.incoming(at=calls_there(bench, a)))


def _p3(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    """A has the Call of B, and does not answer."""
    scene = _p2(bench, state, modulus, "B" if acting == "A" else "A")
    assert isinstance(scene.other, Side)
    return Scene(bench, state, scene.other, scene.side)


def _p7(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    """The router has cleared A, which does not confirm: B cleared, or A made an error."""
    scene = _of_call(bench, state, modulus, acting)
    a, b = scene.side, scene.other
    if isinstance(b, Side):
        b.send(ClearRequest(cause=0, diagnostic=0))
    else:
        a.send(CallRequest(called_address=bench.far_end.address))
    a.expect(ClearIndication())
    if a.connection.end is not None:
        raise NotApplicable("the router closes TCP behind its Clear and does not stay in p7")
    scene.call = None
    return scene


def _d2(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    """A has reset; the router waits for the confirmation of B before it confirms."""
    scene = _of_call(bench, state, modulus, acting)
    a, b = scene.side, scene.other
    assert isinstance(b, Side)
    a.send(ResetRequest(cause=0, diagnostic=0))
    b.expect(ResetIndication())
    if scene.line is None:
        bench.fence(preamble=True)
    else:
        fence_on_lines(scene)
    stays_in_d2(scene)
    return scene


def stays_in_d2(scene: Scene) -> None:
    """The router has not confirmed the reset of a side whose far end has not. Raises NotApplicable.

    What is under way on that call then is nobody's business.
    """
    if RESET_CONFIRMATION in scene.side.arrivals.types():
        for side in (scene.connected.a, scene.connected.b):
            side.allow(X25())
        raise NotApplicable("the router confirms a reset at once and does not stay in d2")


def _d3(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    """The router has reset A, which does not confirm: B reset, or A made an error.

    A DTE may discard a confirmation that is not due. Then A makes another error, on another call:
    nobody knows what the first one has left behind.
    """
    scene = _of_call(bench, state, modulus, acting)
    a, b = scene.side, scene.other
    if isinstance(b, Side):
        b.send(ResetRequest(cause=0, diagnostic=0))
    else:
        a.send(ResetConfirmation())
        if not a.wait_until(lambda: was_reset(a) or a.connection.end is not None):
            a.close()
            scene = _of_call(bench, state, modulus, acting)
            a = scene.side
            a.send(a.data(b"not next P(S)", p_s=(a.numbering.next_p_s + 1) % a.modulus))
    a.expect(ResetIndication())
    return scene


def _interrupts(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    """i2: A has sent an Interrupt that B does not confirm; j2: the other way round."""
    scene = _of_call(bench, state, modulus, acting)
    a, b = scene.side, scene.other
    if state.startswith("i2"):
        a.send(Interrupt(user_data=b"A"))
        assert b is not None
        b.expect(Interrupt(user_data=b"A"))
    if state.endswith("j2"):
        assert isinstance(b, Side)
        b.send(Interrupt(user_data=b"B"))
        a.expect(Interrupt(user_data=b"B"))
    return scene


def _g2(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    """A is not ready."""
    scene = _of_call(bench, state, modulus, acting)
    scene.side.send(receive_not_ready(scene.side))
    return scene


_SCENES: dict[str, Callable[[Bench, str, int, str], Scene]] = {
    "p1": _p1,
    "p2": _p2,
    "p3": _p3,
    "p4": _of_call,
    "p7": _p7,
    "d1": _of_call,
    "d2": _d2,
    "d3": _d3,
    "i1j1": _interrupts,
    "i2j1": _interrupts,
    "i1j2": _interrupts,
    "i2j2": _interrupts,
    "f1g1": _of_call,
    "g2": _g2,
}


# Over XOT the sides whose channel can be in the state, where that is not either one. What becomes
# of B's connection behind a call is the router's to choose.
_OVER_XOT = {"p1": "A", "p2": "A", "p3": "B", "p7": "A"}
# States in which side B does something.
_WITH_B = frozenset({"p2", "p3", "d2", "i2j1", "i1j2", "i2j2"})


def places(bench: Bench, state: str, modulus: int) -> Iterator[tuple[str, bool]]:
    """The sides whose channel can be brought into the state, and whether it is one of a line.

    Raises NotApplicable if there are none.
    """
    lines = bench.lines
    needed = f"lines of modulo {modulus}"
    bench.need(all(line.profile.modulo == modulus for line in lines.values()), needed)
    bench.need(bench.two_sided or state not in _WITH_B, "a side B that waits, resets or interrupts")
    for side in ("A", "B") if bench.two_sided else ("A",):
        on_line = side.lower() in lines
        if on_line or side in _OVER_XOT.get(state, "AB"):
            yield side, on_line


def enter(bench: Bench, state: str, modulus: int = 8, acting: str = "A") -> Scene:
    """A channel of that side in that state. Raises NotApplicable."""
    with bench.preamble():
        return _SCENES[state](bench, state, modulus, acting)


# out of the state again


AS_IT_WAS = "the state is as it was"


def go_on(scene: Scene) -> None:
    """The state is as it was: what is due in it still happens, and the channel works."""
    bench, side, other = scene.bench, scene.side, scene.other
    match scene.state:
        case "p1" if scene.line is not None:
            takes_a_call(scene)
        case "p1":
            bench.place_call(on=side, note="the channel is free").fence()
        case "p2":
            assert isinstance(other, Side)
            answer(scene, called=other, calling=side)
        case "p3":
            assert isinstance(other, Side)
            answer(scene, called=side, calling=other)
        case "p7":
            complete_clear(scene)
        case "d2":
            assert other is not None
            other.send(ResetConfirmation())
            side.expect(ResetConfirmation())
            scene.connected.fence(AS_IT_WAS)
        case "d3":
            complete_reset(scene)
        case "g2":
            side.acknowledge()
            scene.connected.fence(AS_IT_WAS)
        case _:
            scene.connected.fence(AS_IT_WAS)


def answer(scene: Scene, *, called: Side, calling: Side) -> None:
    """B accepts the pending call."""
    called.send(called.acceptance)
    calling.expect(CallAccepted())
    scene.call = Call(scene.bench, calling, called)
    scene.call.fence()


def complete_clear(scene: Scene) -> None:
    """The tester confirms the router's Clear: p7 ends."""
    scene.side.send(ClearConfirmation())
    is_free(scene)


def is_free(scene: Scene) -> None:
    """Clearing is complete: B has its confirmation, and A calls again on the same connection.

    A router may also close the connection behind a call (RFC 1613 6.1); then A takes another.
    """
    bench, side = scene.bench, scene.side
    far_clear_confirmed(scene)
    if scene.line is not None:
        takes_a_call(scene)
        return
    side.numbering.reset()
    side.send(bench.call_request())
    bench.went_on(side)
    if side.connection.end is not None:
        side.expect(CLOSED)
        bench.fence()
        return
    b: AnySide = bench.incoming() if bench.two_sided else AbsentSide()
    b.send(b.acceptance)
    side.expect(CallAccepted())
    Call(bench, side, b).fence()


def takes_a_call(scene: Scene) -> None:
    """The channel of a line is in p1: its side calls on it."""
    bench, side = scene.bench, scene.side
    if side.name == "B" and not reaches_a(bench):
        scene.fence()
        return
    side = bench.to_call_again(side)
    if side.name == "B":
        scene.call = call_of_b(bench, side)
    else:
        scene.call = bench.place_call(on=side, note="the channel is free")
    scene.call.fence("a call on the same channel")


def fence_on_lines(scene: Scene) -> None:
    """As Bench.fence(), by a call that does not last: the channels of a line are few."""
    call = scene.bench.place_call(modulus=scene.side.modulus)
    call.fence()
    end(call)


def leave(scene: Scene) -> None:
    """The channel of a line is free again, and the calls beside it go on."""
    if scene.call is not None and scene.call.a.phase == "connected":
        end(scene.call)
    scene.fence()


def far_clear_confirmed(scene: Scene) -> None:
    """B, which cleared, has its confirmation; a close stands for it (RFC 1613 6.1)."""
    if scene.other is not None:
        scene.other.expect(ClearConfirmation(), CLOSED)


def complete_reset(scene: Scene) -> None:
    """The tester confirms the router's Reset (d3 ends), B has its own confirmation."""
    scene.side.send(ResetConfirmation())
    far_reset_confirmed(scene)
    scene.connected.fence("the reset is complete")


def far_reset_confirmed(scene: Scene) -> None:
    """B, which reset, has its confirmation."""
    if scene.other is not None:
        scene.other.expect(ResetConfirmation())
