# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps that begin a call: placed, refused, taken back, again on the connection of the last one."""

from __future__ import annotations

import random
from typing import Any

from ...sides.channel import ChannelSide
from ..anew import without_a_route
from ..calls import accepted, answer_to
from ..clearing import clear_with, taken_back
from ..language import (
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Packet,
    Side,
)
from .alphabet import Step, action
from .circuit import Circuit

# Packet sizes that calls ask for: mostly the default.
SIZES = (128, 128, 256, 128, 64, 128, 16, 512)
UNRESTRICTED = 2
# Octets of user data that only a fast select call has (X.25 5.2.2).
LONG = (17, 60, 128)


@action("place", 12)
def place(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A call from either side, of either modulus; sizes and windows may differ by direction."""
    if circuit.call is not None:
        return False
    chance = step.chance
    modulus = 128 if chance.random() < 0.3 and bench.declared("P-MOD128") else 8
    options = _values(bench, chance, modulus)
    if step.side == 0 or not _can_call_back(bench):
        own = bench.profile.addresses.own_sizes
        if bench.model == "local" and own is not None and chance.random() < 0.4:
            # B's side has packet sizes of its own.
            options["called"] = own
        call = bench.capacity.in_the_end(lambda: _placed(bench, chance, modulus, options))
    else:
        addresses = bench.profile.addresses
        b = bench.connect(at="b", modulus=modulus)
        request = bench.call_request(called=addresses.a, calling=bench.far_end.address, **options)
        b.send(request)
        a = bench.incoming(CallRequest(user_data=request.user_data), at="a")
        call = accepted(bench, b, a, request)
    circuit.fresh(call)
    return True


def _values(bench: Bench, chance: random.Random, modulus: int) -> dict[str, Any]:
    """Windows and packet sizes that a call asks for, as far as the router has them."""
    most = bench.profile.limits.packet_size
    size = [min(chance.choice(SIZES), most) for _ in range(2)]
    window = [chance.randint(1, 7 if modulus == 8 or chance.random() < 0.5 else 20)] * 2
    if chance.random() < 0.7:
        size[1] = size[0]
    if chance.random() < 0.3:
        window[1] = chance.randint(1, 7)
    return {"window": (window[0], window[1]), "size": (size[0], size[1])}


def _placed(bench: Bench, chance: random.Random, modulus: int, options: dict[str, Any]) -> Call:
    """B takes what it is offered, or other values."""
    a = bench.connect(modulus=modulus)
    request = bench.call_request(**options)
    a.send(request)
    b = bench.incoming(CallRequest(user_data=request.user_data))
    answer = None
    if "called" in options:
        answer = CallAccepted()
    elif chance.random() < 0.3:
        answer = answer_to(b, size=chance.randint(4, 9), window=chance.randint(1, 7))
    return accepted(bench, a, b, request, answer)


def _can_call_back(bench: Bench) -> bool:
    return bench.profile.addresses.a is not None and bench.profile.xot is not None


def _called(bench: Bench, **options: Any) -> tuple[Side, Side, Packet]:
    """A Call of A that has arrived at B."""
    a = bench.connect()
    request = bench.call_request(**options)
    a.send(request)
    return a, bench.incoming(CallRequest(user_data=request.user_data)), request


def _long_data(bench: Bench, chance: random.Random) -> bytes:
    """User data of a fast select call."""
    return b"\xc0" + bench.random.randbytes(chance.choice(LONG) - 1)


@action("place-fast", 2)
def place_fast(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A fast select call; user data comes back with its answer (X.25 6.16)."""
    if circuit.call is not None or not bench.declared("F-FS"):
        return False
    there, back = _long_data(bench, step.chance), _long_data(bench, step.chance)

    def placed() -> Call:
        a, b, request = _called(bench, fast_select=UNRESTRICTED, user_data=there)
        answer = CallAccepted(user_data=back)
        return accepted(bench, a, b, request, answer, [CallAccepted(user_data=back)])

    circuit.fresh(bench.capacity.in_the_end(placed))
    circuit.fast_select = True
    return True


@action("again", 3)
def again(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A call on the connection of the last one, maybe behind one without a route (RFC 1613 5)."""
    last, circuit.last = circuit.last, None
    if circuit.call is not None or last is None or last.connection.end is not None:
        return False
    if step.number & 1:
        last = without_a_route(bench, last)
        if last.connection.end is not None:
            return True
    circuit.fresh(bench.call_again(last))
    return True


def over(circuit: Circuit, side: Side) -> None:
    """The call of A's side is over in good order: its connection may take another one."""
    there = side.connection.end is None and not side.connection.closed
    if there and side.name == "A" and side.modulus == 8 and not isinstance(side, ChannelSide):
        circuit.last = side


@action("refuse", 1)
def refuse(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A call that the called side refuses: cause and diagnostic reach the calling one."""
    if circuit.call is not None:
        return False
    if step.number & 1 and bench.declared("F-FS"):
        a, b, _ = _called(bench, fast_select=UNRESTRICTED)
        octets = _long_data(bench, step.chance)
        b.send(clear_with(octets, step.number))
        a.expect(ClearIndication(cause=0, diagnostic=step.number, user_data=octets))
    else:
        a, b, _ = _called(bench)
        b.send(ClearRequest(cause=0, diagnostic=step.number))
        a.expect(ClearIndication(cause=0, diagnostic=step.number))
    a.send(ClearConfirmation())
    b.expect(ClearConfirmation(), CLOSED)
    over(circuit, a)
    return True


@action("withdraw", 1)
def withdraw(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A call that the calling side clears before the called one has answered."""
    if circuit.call is not None:
        return False
    a, b, _ = _called(bench)
    a.send(ClearRequest(cause=0, diagnostic=step.number))
    taken_back(bench, b, step.number)
    a.expect(ClearConfirmation(), CLOSED)
    over(circuit, a)
    return True


@action("no-route", 1)
def no_route(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A call that the router refuses itself."""
    known = bench.profile.addresses.no_route is not None and bench.model != "splice"
    if circuit.call is not None or not known:
        return False
    last, circuit.last = circuit.last, None
    if last is None or last.connection.end is not None:
        last = bench.connect()
    over(circuit, without_a_route(bench, last))
    return True
