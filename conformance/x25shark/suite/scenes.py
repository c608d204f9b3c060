# SPDX-License-Identifier: GPL-2.0-or-later
"""How the tester brings a channel of the router into each state of the state tables.

The states are those of the router as DCE (X.25 Annex B, Annex C) on the channel of `side`, which is
A's unless B acts: then what is said of A here holds for B, and the other way round. Getting there
is a preamble: if it fails the case is INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from scapy_x25 import RNR128

from ..sides.side import AbsentSide
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

    beside: calls that what happens on this channel must not touch.
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


def _of_call(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    call = bench.call(modulus=modulus)
    if acting == "B":
        call = call.turned()
    return Scene(bench, state, call.a, call.b, call)


def _p1(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    return Scene(bench, state, bench.connect(modulus=modulus))


def _p2(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    """A has called, B has the Call and does not answer."""
    a = bench.connect(modulus=modulus)
    a.send(bench.call_request())
    return Scene(bench, state, a, bench.incoming())


def _p3(bench: Bench, state: str, modulus: int, acting: str) -> Scene:
    """The same, seen from B."""
    scene = _p2(bench, state, modulus, acting)
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
    bench.fence(preamble=True)
    if any(unit.packet[2:3] == b"\x1f" for unit in a.connection.received):
        raise NotApplicable("the router confirms a reset at once and does not stay in d2")
    return scene


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
            a.send(a.data(b"not the next P(S)", p_s=(a.numbering.next_p_s + 1) % a.modulus))
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
    scene.side.send((RNR128 if scene.side.modulus == 128 else RNR)())
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


# States of a call that is connected: the channel may be that of either side. What becomes of B's
# connection behind a call is the router's to choose.
AT_BOTH_SIDES = frozenset(_SCENES) - {"p1", "p2", "p3", "p7"}


def enter(bench: Bench, state: str, modulus: int = 8, acting: str = "A") -> Scene:
    """A channel of that side in that state. Raises NotApplicable."""
    with bench.preamble():
        return _SCENES[state](bench, state, modulus, acting)


# out of the state again


def go_on(scene: Scene) -> None:
    """The state is as it was: what is due in it still happens, and the channel works."""
    bench, side, other = scene.bench, scene.side, scene.other
    match scene.state:
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
            scene.connected.fence()
        case "d3":
            complete_reset(scene)
        case "g2":
            side.acknowledge()
            scene.connected.fence()
        case _:
            scene.connected.fence()


def answer(scene: Scene, *, called: Side, calling: Side) -> None:
    """B accepts the pending call."""
    called.send(called.acceptance)
    calling.expect(CallAccepted())
    Call(scene.bench, calling, called).fence()


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


def far_clear_confirmed(scene: Scene) -> None:
    """B, which cleared, has its confirmation; a close stands for it (RFC 1613 6.1)."""
    if scene.other is not None:
        scene.other.expect(ClearConfirmation(), CLOSED)


def complete_reset(scene: Scene) -> None:
    """The tester confirms the router's Reset (d3 ends), B has its own confirmation."""
    scene.side.send(ResetConfirmation())
    far_reset_confirmed(scene)
    scene.connected.fence()


def far_reset_confirmed(scene: Scene) -> None:
    """B, which reset, has its confirmation."""
    if scene.other is not None:
        scene.other.expect(ResetConfirmation())
