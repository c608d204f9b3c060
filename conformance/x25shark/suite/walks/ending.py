# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps that end what is open: resets and clears, by one side and by both, and lost connections."""

from __future__ import annotations

from ...sides.channel import ChannelSide
from ..anew import as_new
from ..clearing import clear_with
from ..collisions import clear_together, collide, end_of_collision
from ..language import (
    CLOSED,
    Bench,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Race,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
)
from ..procedure_errors import expect_after
from .alphabet import Step, action
from .beginning import over
from .circuit import Circuit, any_data, confirmed

# Causes that pass unchanged: a DTE's own (X.25 5.4.3.1).
CAUSES = (0x00, 0x00, 0x80, 0xC1, 0xFF)


@action("reset", 5)
def reset(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A Reset, sometimes behind half a packet sequence; Data on its way may come ahead of it."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    _half_a_sequence(circuit, x, y, step)
    values = {"cause": step.chance.choice(CAUSES), "diagnostic": step.number}
    x.send(ResetRequest(**values))
    expect_after(y, ResetIndication(**values), any_data(y))
    y.send(ResetConfirmation())
    expect_after(x, ResetConfirmation(), any_data(x))
    anew(bench, circuit, y, step)
    return True


@action("resets-collide", 2)
def resets_collide(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """Both sides reset, and neither knows of the other's (X.25 4.4.3.3)."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    circuit.fresh(circuit.call)
    collide(circuit.from_side(x), _at_once(bench, step), step.number, any_data(x), any_data(y))
    anew(bench, circuit, y, step)
    return True


def _at_once(bench: Bench, step: Step) -> Race:
    """Two things with no pause between them, of which either may be the first."""
    return Race("both at once", 1, 1, bench.seed, step.chance, bench.loop.poll)


def anew(bench: Bench, circuit: Circuit, last: Side, step: Step) -> None:
    """What is behind a reset is as new. last: the side that confirmed, if only one did.

    Its Data shows that the router has read its confirmation. Until then what the other side does
    may meet a reset that is not complete (X.25 4.4.3).
    """
    circuit.fresh(circuit.call)
    if step.number & 2:
        as_new(circuit.from_side(last), "behind the reset")
        return
    assert circuit.call is not None
    other = circuit.from_side(last).b
    assert isinstance(other, Side)
    octets = bench.record(32)[:16]
    last.send_message(octets)
    other.expect_message(octets, p_s=0)


def _half_a_sequence(circuit: Circuit, x: Side, y: Side, step: Step) -> None:
    """A full packet with M=1, if the number says so and the window lets it out."""
    if step.number & 1 and not circuit.holds(y):
        circuit.send(x, bytes(x.packet_size), more=True)


@action("clear", 3)
def clear(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """A Clear in whatever state the call is, sometimes behind half a packet sequence."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    _half_a_sequence(circuit, x, y, step)
    fields = {"cause": 0, "diagnostic": step.number}
    if circuit.fast_select and step.number & 4:
        octets = b"\xc0" + bench.random.randbytes(step.number % 128)
        x.send(clear_with(octets, step.number))
        wanted = ClearIndication(**fields, user_data=octets)
    else:
        x.send(ClearRequest(**fields))
        wanted = ClearIndication(**fields)
    expect_after(y, wanted, any_data(y))
    y.send(ClearConfirmation())
    in_order = confirmed(x)
    circuit.fresh(None)
    if in_order:
        over(circuit, x)
    return True


@action("clears-collide", 1)
def clears_collide(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """Both sides clear, and neither knows of the other's (X.25 4.1.9)."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if clear_together(_at_once(bench, step), circuit.from_side(x)):
        for side in (x, y):
            end_of_collision(side, any_data(side))
    circuit.fresh(None)
    return True


@action("hang-up", 1)
def hang_up(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """The connection ends, by FIN or RST: the other side is cleared, or its connection closed."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if isinstance(x, ChannelSide):
        return False
    # What is on its way may have come, and nobody has looked at it.
    x.allow(any_data(x))
    if step.number & 1:
        x.close()
    else:
        x.wire.reset()
    cleared = ClearIndication(cause=bench.network_clear)
    while True:
        came = y.expect(cleared, CLOSED, any_data(y))
        if came is None:
            break
        if isinstance(came, ClearIndication):
            y.send(ClearConfirmation())
            break
    circuit.fresh(None)
    return True
