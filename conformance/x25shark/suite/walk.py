# SPDX-License-Identifier: GPL-2.0-or-later
"""Random walks: calls, data, interrupts, resets and their ends, in any order and on several calls.

Each step is a small procedure with the reactions that X.25 asks for at both ends, so that a walk is
judged as any case is; what makes it more is what it leaves behind: the next step meets a side that
is not ready, an Interrupt without confirmation, Data that waits, a channel that was just freed. A
step that makes no sense where the walk stands is left out, so that any selection of the steps of a
walk is a walk, and one that fails can be made short.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..sides import numbering
from ..sides.line import ChannelSide
from .calls import accepted
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
    Data,
    Data128,
    Interrupt,
    InterruptConfirmation,
    Packet,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
)
from .procedure_errors import expect_after
from .reactions import both

# The packets after which it is known whether the peer is ready.
_READINESS = (numbering.RR, numbering.RNR, numbering.RESET, numbering.RESET_CONFIRMATION)
# Packet sizes that calls ask for: mostly the default.
SIZES = (128, 128, 256, 128, 64, 128, 16, 512)
# Octets of a message: beyond so many full packets, so many.
LENGTHS = ((0, 1), (0, 2), (0, 17), (1, -1), (1, 0), (1, 1), (2, -1), (2, 0), (2, 1), (2, 44))


class Step(NamedTuple):
    """One step: what, on which circuit, from which side (0 calls, 1 is called), and a number that
    decides its values."""

    action: str
    circuit: int
    side: int
    number: int

    def __str__(self) -> str:
        return f"{self.action} {self.circuit}{'ab'[self.side]} {self.number}"


def step_of(text: str) -> Step:
    """A step as it was printed: "reset 0a 17". Raises ValueError."""
    action, place, number = text.split()
    if action not in WEIGHTS or place[-1:] not in "ab":
        raise ValueError(f"{text!r} is not a step")
    return Step(action, int(place[:-1]), "ab".index(place[-1:]), int(number))


@dataclass
class Circuit:
    """A call and what a walk has left open on it."""

    call: Call | None = None
    #: Sides that said RNR, and the messages that wait for each.
    not_ready: set[Side] = field(default_factory=set)
    waiting: dict[Side, list[bytes]] = field(default_factory=dict)
    #: Sides that have an Interrupt to confirm.
    interrupted: set[Side] = field(default_factory=set)

    def fresh(self, call: Call | None) -> None:
        """Another call, or none; or the same after a reset."""
        self.call = call
        self.not_ready.clear()
        self.waiting.clear()
        self.interrupted.clear()

    def ends(self, side: int) -> tuple[Side, Side]:
        """The side that acts, and the other one."""
        assert self.call is not None
        a, b = both(self.call)
        return (a, b) if side == 0 else (b, a)

    def state(self, side: int) -> str:
        """Where the walk stands on this circuit, seen from a side; for the coverage."""
        if self.call is None:
            return "no call"
        x, y = self.ends(side)
        open_things = [
            "not ready" if x in self.not_ready else "",
            "other not ready" if y in self.not_ready else "",
            "interrupted" if x in self.interrupted else "",
            "other interrupted" if y in self.interrupted else "",
            "data waits" if self.waiting.get(y) else "",
        ]
        return ", ".join(filter(None, open_things)) or "data transfer"


class Walk:
    """Walks; the steps that were made and the states they were made in are kept."""

    def __init__(self, bench: Bench, circuits: int) -> None:
        self.bench = bench
        self.circuits = [Circuit() for _ in range(circuits)]
        self.made: list[Step] = []
        self.coverage: Counter[tuple[str, str, int]] = Counter()

    def go(self, steps: Sequence[Step]) -> None:
        """Make the steps; at the end bring every call to an orderly end."""
        try:
            for step in steps:
                circuit = self.circuits[step.circuit % len(self.circuits)]
                state = circuit.state(step.side)
                self.made.append(step)
                if _ACTIONS[step.action](self, circuit, step):
                    self.coverage[state, step.action, step.side] += 1
                else:
                    self.made.pop()
            if not self.made:
                # None could be made without a call. With one there is something to judge.
                place(self, self.circuits[0], Step("place", 0, 0, 0))
            for number, circuit in enumerate(self.circuits):
                self._tidy(number, circuit)
        finally:
            self.bench.remark("steps: " + "; ".join(map(str, self.made)))

    def _tidy(self, number: int, circuit: Circuit) -> None:
        for side in (0, 1):
            for action in ("ready", "confirm"):
                if circuit.call is not None:
                    _ACTIONS[action](self, circuit, Step(action, number, side, 0))
        if circuit.call is not None:
            circuit.call.fence()
            circuit.call.fence_back()
            clear(self, circuit, Step("clear", number, 0, 0))


def drawn(count: int, circuits: int, seed: str, *, errors: bool) -> list[Step]:
    """So many steps, drawn by a seed.

    Each walk has its own likings: what all walks did as often as each other would hardly ever be
    done three times in one call. The fewer circuits, the longer each call.
    """
    chance = random.Random(seed)
    known = [a for a in WEIGHTS if errors or a not in ERRORS]
    liking = {a: 1.0 if a == "place" else chance.choice(LIKINGS) for a in known}
    weights = [WEIGHTS[a] * liking[a] for a in known]
    circuits = chance.randint(1, circuits)
    steps: list[Step] = []
    while len(steps) < count:
        circuit, side = chance.randrange(circuits), chance.randrange(2)
        habit = [(chance.choices(known, weights)[0], 0)]
        times = 1
        if chance.random() < OF_HABIT:
            habit, times = chance.choice(HABITS), chance.choice((2, 3, 4))
        steps += [
            Step(action, circuit, side ^ other, chance.randrange(256))
            for _ in range(times)
            for action, other in habit
        ]
    return steps[:count]


# steps: each says whether it could be made


def place(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """A call from either side, with windows 2 to 7."""
    bench = walk.bench
    if circuit.call is not None:
        return False
    modulus = 128 if step.number & 0x40 and bench.declared("P-MOD128") else 8
    options: dict[str, Any] = {"window": 2 + step.number % 6, "size": _size(bench, step)}
    if step.side == 0 or not _can_call_back(bench):
        own = bench.profile.addresses.own_sizes
        answer = None
        if step.number & 0x80 and bench.model == "local" and own is not None:
            # B takes the sizes that the router has on that side.
            options["called"], answer = own, CallAccepted()
        call = bench.place_call(modulus=modulus, answer=answer, options=options)
    else:
        addresses = bench.profile.addresses
        b = bench.connect(at="b", modulus=modulus)
        request = bench.call_request(called=addresses.a, calling=bench.far_end.address, **options)
        b.send(request)
        a = bench.incoming(CallRequest(user_data=request.user_data), at="a")
        call = accepted(b, a, request)
    circuit.fresh(call)
    return True


def _size(bench: Bench, step: Step) -> int:
    """The packet size that a call asks for, as far as the router has it."""
    limits = bench.profile.limits
    return min(SIZES[step.number >> 3 & 7], limits.packet_size)


def _can_call_back(bench: Bench) -> bool:
    return bench.profile.addresses.a is not None and bench.profile.xot is not None


def refuse(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """A call that the called side refuses: cause and diagnostic reach the calling one."""
    bench = walk.bench
    if circuit.call is not None:
        return False
    a = bench.connect()
    request = bench.call_request()
    a.send(request)
    b = bench.incoming(CallRequest(user_data=request.user_data))
    b.send(ClearRequest(cause=0, diagnostic=step.number))
    a.expect(ClearIndication(cause=0, diagnostic=step.number))
    a.send(ClearConfirmation())
    b.expect(ClearConfirmation(), CLOSED)
    return True


def withdraw(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """A call that the calling side clears before the called one has answered."""
    bench = walk.bench
    if circuit.call is not None:
        return False
    a = bench.connect()
    request = bench.call_request()
    a.send(request)
    b = bench.incoming(CallRequest(user_data=request.user_data))
    a.send(ClearRequest(cause=0, diagnostic=step.number))
    if b.expect(ClearIndication(cause=0, diagnostic=step.number), CLOSED) is not None:
        b.send(ClearConfirmation())
    a.expect(ClearConfirmation(), CLOSED)
    return True


def message(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """A complete packet sequence; where the other side is not ready, it waits in the router."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    octets = _octets(walk, x, step)
    parts = -(-len(octets) // x.packet_size)
    if y in circuit.not_ready:
        # Where flow control is end to end, the router has passed the RNR on.
        if _told_not_ready(x) or x.numbering.outstanding + parts > x.window:
            return False
        x.send_message(octets)
        circuit.waiting.setdefault(y, []).append(octets)
        return True
    q = step.number >> 7
    x.send_message(octets, q=q)
    y.expect_message(octets, q=q)
    return True


def _octets(walk: Walk, side: Side, step: Step) -> bytes:
    """A message whose length has to do with the packet size of the side that sends it."""
    packets, more = LENGTHS[step.number % len(LENGTHS)]
    length = packets * side.packet_size + more
    octets = walk.bench.record(64)[:length]
    return octets + bytes(length - len(octets))


def stream(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """Messages one behind the other, until the numbers of their packets have come round.

    Where that takes 128 of them, it does so in half of the steps.
    """
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if y in circuit.not_ready:
        return False
    around = x.modulus if step.number & 0x80 else 8
    for _ in range(around + step.number % 4):
        octets = walk.bench.record(32)
        x.send_message(octets)
        y.expect_message(octets)
    return True


def _told_not_ready(side: Side) -> bool:
    """Whether the last that this side was told of flow control is RNR."""
    kinds = [numbering.kind_of(unit.packet, side.modulus) for unit in side.arrivals.units]
    told = [kind for kind in kinds if kind in _READINESS]
    return bool(told) and told[-1] == numbering.RNR


def not_ready(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """RNR; Data of the same side behind it shows that the router has read it."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if x in circuit.not_ready or y in circuit.not_ready or x.modulus == 128:
        return False
    x.send(RNR())
    circuit.not_ready.add(x)
    octets = walk.bench.record(32)
    x.send_message(octets)
    y.expect_message(octets)
    return True


def ready(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """RR: what has waited comes."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if x not in circuit.not_ready:
        return False
    x.acknowledge()
    circuit.not_ready.discard(x)
    y.wait_until(lambda: not _told_not_ready(y))
    for octets in circuit.waiting.pop(x, []):
        x.expect_message(octets)
    return True


def interrupt(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """An Interrupt, which passes a side that is not ready; it stays unconfirmed."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if y in circuit.interrupted:
        return False
    octets = bytes((1 + step.number + n) & 0xFF for n in range(1 + step.number % 32))
    x.send(Interrupt(user_data=octets))
    y.expect(Interrupt(user_data=octets))
    circuit.interrupted.add(y)
    return True


def confirm(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """The confirmation of an Interrupt."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if x not in circuit.interrupted:
        return False
    x.send(InterruptConfirmation())
    y.expect(InterruptConfirmation())
    circuit.interrupted.discard(x)
    return True


def reset(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """A Reset, sometimes behind half a packet sequence; Data on its way may come ahead of it."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    _half_a_sequence(circuit, step)
    x.send(ResetRequest(cause=0, diagnostic=step.number))
    expect_after(y, ResetIndication(cause=0, diagnostic=step.number), _any_data(y))
    y.send(ResetConfirmation())
    expect_after(x, ResetConfirmation(), _any_data(x))
    circuit.fresh(circuit.call)
    _in_force(walk, x, y)
    return True


def _in_force(walk: Walk, x: Side, y: Side) -> None:
    """Data of the side that confirmed last shows that the router has read its confirmation.

    Until then what the other side does may meet a reset that is not complete (X.25 4.4.3).
    """
    octets = walk.bench.record(32)
    y.send_message(octets)
    x.expect_message(octets)


def clear(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """A Clear in whatever state the call is, sometimes behind half a packet sequence."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    _half_a_sequence(circuit, step)
    x.send(ClearRequest(cause=0, diagnostic=step.number))
    expect_after(y, ClearIndication(cause=0, diagnostic=step.number), _any_data(y))
    y.send(ClearConfirmation())
    _confirmed(x)
    circuit.fresh(None)
    return True


def _any_data(side: Side) -> Packet:
    """Any Data packet of the side's modulus, as a template."""
    return Data128() if side.modulus == 128 else Data()


def _half_a_sequence(circuit: Circuit, step: Step) -> None:
    """A full packet with M=1, if the number says so and the window lets it out."""
    x, y = circuit.ends(step.side)
    if step.number & 1 and y not in circuit.not_ready:
        x.wait_for_window()
        x.send(x.data(bytes(x.packet_size), m=1))


def _confirmed(side: Side) -> None:
    """The Clear of this side is confirmed, or TCP closed; Data may come before."""
    while True:
        came = side.expect(ClearConfirmation(), CLOSED, _any_data(side))
        if came is None or isinstance(came, ClearConfirmation):
            return


def hang_up(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """The connection ends, by FIN or RST: the other side is cleared, or its connection closed."""
    if circuit.call is None:
        return False
    x, y = circuit.ends(step.side)
    if isinstance(x, ChannelSide):
        return False
    if step.number & 1:
        x.close()
    else:
        x.wire.reset()
    cleared = ClearIndication(cause=walk.bench.network_clear)
    while True:
        came = y.expect(cleared, CLOSED, _any_data(y))
        if came is None:
            break
        if isinstance(came, ClearIndication):
            y.send(ClearConfirmation())
            break
    circuit.fresh(None)
    return True


# errors of a side


def _resets(walk: Walk, circuit: Circuit, step: Step, packet: Packet, diagnostic: int) -> bool:
    """Both sides are reset because of this packet."""
    bench = walk.bench
    x, y = circuit.ends(step.side)
    x.send(packet)
    here = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(diagnostic))
    expect_after(x, here, _any_data(x))
    x.send(ResetConfirmation())
    expect_after(y, ResetIndication(cause=bench.remote_reset), _any_data(y))
    y.send(ResetConfirmation())
    circuit.fresh(circuit.call)
    _in_force(walk, x, y)
    return True


def wrong_p_s(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """Data with a P(S) that is not the next one."""
    if circuit.call is None:
        return False
    x, _ = circuit.ends(step.side)
    p_s = (x.numbering.next_p_s + 1 + step.number % (x.modulus - 1)) % x.modulus
    return _resets(walk, circuit, step, x.data(b"wrong", p_s=p_s), 1)


def stray_confirmation(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """An Interrupt Confirmation for nothing."""
    if circuit.call is None:
        return False
    x, _ = circuit.ends(step.side)
    if x in circuit.interrupted:
        return False
    return _resets(walk, circuit, step, InterruptConfirmation(), 43)


def second_interrupt(walk: Walk, circuit: Circuit, step: Step) -> bool:
    """An Interrupt before the last one was confirmed."""
    if circuit.call is None:
        return False
    _, y = circuit.ends(step.side)
    if y not in circuit.interrupted:
        return False
    return _resets(walk, circuit, step, Interrupt(user_data=b"again"), 44)


_ACTIONS: dict[str, Callable[[Walk, Circuit, Step], bool]] = {
    "place": place,
    "refuse": refuse,
    "withdraw": withdraw,
    "message": message,
    "stream": stream,
    "not-ready": not_ready,
    "ready": ready,
    "interrupt": interrupt,
    "confirm": confirm,
    "reset": reset,
    "clear": clear,
    "hang-up": hang_up,
    "wrong-p(s)": wrong_p_s,
    "stray-confirmation": stray_confirmation,
    "second-interrupt": second_interrupt,
}
#: How often each action is drawn.
WEIGHTS = {
    "place": 12, "refuse": 1, "withdraw": 1, "message": 20, "stream": 2, "not-ready": 6, "ready": 5,
    "interrupt": 8, "confirm": 6, "reset": 5, "clear": 3, "hang-up": 1, "wrong-p(s)": 2,
    "stray-confirmation": 2, "second-interrupt": 2,
}  # fmt: skip
#: What the weight of an action is multiplied by in one walk.
LIKINGS = (0.2, 1.0, 1.0, 3.0)
#: What is done several times one behind the other: actions, each by a side or by the other one.
HABITS: tuple[list[tuple[str, int]], ...] = (
    [("not-ready", 0), ("message", 1), ("ready", 0)],
    [("interrupt", 0), ("confirm", 1)],
    [("interrupt", 0), ("reset", 1)],
    [("message", 0), ("message", 1)],
    [("place", 0), ("clear", 1)],
    [("reset", 0)],
)
#: How often such a habit is drawn in place of an action.
OF_HABIT = 0.06
#: Those in which the tester breaks the rules.
ERRORS = frozenset({"wrong-p(s)", "stray-confirmation", "second-interrupt"})
