# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that a call in data transfer does, and every error in it, once from either side.

What a router does right on its first call, it may do wrong on the next one of that connection,
behind a reset, on a permanent circuit, with other values. So there is one list of steps, and it is
made wherever a circuit may stand. The steps are those of the walks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from scapy_x25 import RNR128

from ...sides.side import receive_ready
from ..language import RNR, RR, RR128, Bench, Call, InterruptConfirmation, Raw
from ..occasion import amid
from . import flowing, wrong
from .alphabet import ACTIONS, Action, Step
from .circuit import Circuit
from .wrong import checks_numbers, resets_both

assert flowing and wrong  # they add the actions

#: Steps of one side (0) and of the other one, each with its number; then the same, turned round.
STEPS: tuple[tuple[str, int, int], ...] = (
    ("window", 0, 0),
    ("message", 0, 138),  # Q=1: two full packets, and one octet
    ("message", 0, 4),  # one full packet
    ("cut-short", 0, 1),  # by a packet of the other side's size
    ("cut-short", 0, 2),  # by one of the other direction's
    ("delivery", 0, 3),
    ("delivery", 0, 131),  # with Q=1
    ("not-ready", 0, 0),
    ("message", 1, 5),
    ("ready", 0, 0),
    ("withhold", 0, 0),
    ("interrupt", 0, 31),  # 32 octets
    ("interrupt", 1, 0),
    ("confirm", 1, 0),
    ("confirm", 0, 0),
    ("overfill", 0, 0),
    ("release", 0, 0),  # by RR
    ("begin", 0, 0),
    ("message", 0, 0),
    ("withhold", 0, 0),
    ("interrupt", 1, 15),
    ("confirm", 0, 0),
    ("overfill", 0, 0),
    ("release", 0, 1),  # by Data
    ("stream", 0, 1),
)


#: The same for errors, behind each of which both sides are reset.
ERRORS: tuple[tuple[str, int, int], ...] = (
    ("wrong-p(s)", 0, 1),
    ("next-to-p(r)", 0, 0),  # one more
    ("next-to-p(r)", 0, 1),  # one less
    ("wrong-p(r)", 0, 0),  # in Data
    ("wrong-p(r)", 0, 1),  # in RNR
    ("wrong-p(r)", 0, 5),  # in RR
    ("withhold", 0, 0),
    ("back-behind-rnr", 0, 0),
    ("too-much", 0, 0),
    ("wrong-length", 0, 0),  # a Reset that is too short
    ("wrong-length", 0, 5),  # one that is too long
    ("wrong-length", 0, 2),  # an Interrupt that is too short
    ("wrong-length", 0, 7),  # one that is too long
    ("undefined", 0, 0),
    ("stray-confirmation", 0, 4),
    ("stray-reset-confirmation", 0, 0),
    ("interrupt", 0, 4),
    ("second-interrupt", 0, 1),
    ("octet-behind", 0, 0),  # RR
    ("octet-behind", 0, 4),  # RNR
    ("interrupt", 1, 0),
    ("octet-behind", 0, 2),  # Interrupt Confirmation
)


# Data beyond those that fill the windows of both sides.
BEYOND = 3


def _overfill(_bench: Bench, circuit: Circuit, step: Step) -> bool:
    """More Data to a side that withholds: a router with windows of its own takes it, and holds it.

    An Interrupt that went the same way shows that it has read what fills the window.
    """
    x, y = circuit.ends(step.side)
    for number in range(BEYOND):
        if not circuit.may_send(y, x, 1):
            break
        circuit.send(y, b"held " + bytes((number,)))
    return True


def _back_behind_rnr(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """RNR acknowledges what a side has withheld, and an RR behind it the first of that no more.

    The P(R) of an RNR counts as that of an RR does (X.25 4.4.1.3, 4.4.1.5), so the RR has a wrong
    one.
    """
    x, _ = circuit.ends(step.side)
    if x not in circuit.withheld or not checks_numbers(bench):
        return False
    first = circuit.withheld[x].p_r
    x.wait_until(lambda: x.numbering.p_r != first)
    if x.numbering.p_r == first:
        return False
    rr, rnr = (RR128, RNR128) if x.modulus == 128 else (RR, RNR)
    x.send(rnr(p_r=x.numbering.p_r))
    return resets_both(bench, circuit, step, rr(p_r=first), 2)


def _next_to_p_r(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """RR with a P(R) that is next to the right one, where no Data is open: inside the window, the
    number of a Data that was not sent yet; and one that was acknowledged before."""
    x, y = circuit.ends(step.side)
    if x in circuit.withheld or not circuit.calm(y, x) or not checks_numbers(bench):
        return False
    p_r = (x.numbering.p_r + (1, -1)[step.number % 2]) % x.modulus
    return resets_both(bench, circuit, step, receive_ready(x, p_r), 2)


def _octet_behind(bench: Bench, circuit: Circuit, step: Step) -> bool:
    """RR, RNR or an Interrupt Confirmation that is right but for an octet behind it."""
    x, _ = circuit.ends(step.side)
    rr, rnr = (RR128, RNR128) if x.modulus == 128 else (RR, RNR)
    kind = (rr, rnr, InterruptConfirmation)[step.number % 3]
    if kind is InterruptConfirmation:
        if x not in circuit.interrupted:
            return False
    elif not checks_numbers(bench):
        return False
    return resets_both(bench, circuit, step, x.octets_of(kind() / Raw(b"\0")), 39)


# What only this list does, beside the actions of the walks.
OWN: dict[str, Action] = {
    "overfill": _overfill,
    "back-behind-rnr": _back_behind_rnr,
    "next-to-p(r)": _next_to_p_r,
    "octet-behind": _octet_behind,
}


def does_all(bench: Bench, call: Call, where: str) -> None:
    """Each step from both sides. where: what came before, for the reason of a FAIL."""
    _make(bench, call, where, STEPS)


def is_reset_for_all(
    bench: Bench, call: Call, where: str, *, without: Collection[str] = ()
) -> None:
    """Each error from both sides, but for those of these names. where: as for does_all()."""
    _make(bench, call, where, [step for step in ERRORS if step[0] not in without])


def _make(bench: Bench, call: Call, where: str, steps: Sequence[tuple[str, int, int]]) -> None:
    circuit = Circuit()
    circuit.fresh(call)
    for turned in (0, 1):
        for name, side, number in steps:
            action = OWN.get(name) or ACTIONS[name]
            step = Step(name, 0, side ^ turned, number)
            by, _ = circuit.ends(step.side)
            with amid(bench, f"{where}: {name.replace('-', ' ')} of {by.name}"):
                action(bench, circuit, step)
    with amid(bench, where):
        call.fence()
