# SPDX-License-Identifier: GPL-2.0-or-later
"""The sanity call: the least that must work before any purpose can be judged.

And a call that shows the relay model, for profiles that do not say it.
"""

from __future__ import annotations

from scapy_x25 import RNR, RR, Data

from ..catalogue import Purpose
from ..judges.template import decode
from ..sides.bench import Bench
from ..sides.side import Side

SANITY = Purpose(
    id="SANITY-CALL-01",
    purpose="A call is set up, carries data both ways, and is cleared.",
    clause="X.25 4.1, 4.3",
    configurations=("T1", "T2", "TX", "T4", "T5", "T6"),
    pics=(),
)


def sanity_call(bench: Bench) -> None:
    """A call, a few octets there and back; the call alone where it is for IP."""
    _call(bench, None)


def _call(bench: Bench, on: Side | None) -> None:
    call = bench.place_call(on=on, note="the sanity call")
    if bench.profile.configuration != "T5":
        call.fence("the sanity call")


def patient_sanity_call(bench: Bench) -> None:
    """The same with a router that may just be starting."""
    _call(bench, None if bench.dials else bench.connect_patiently())


def numbers_pass(bench: Bench, found: list[bool]) -> None:
    """Whether the numbers of a call belong to its two ends: relay model end-to-end or splice.

    B acknowledges nothing and says RNR. A router with numbers of its own acknowledges what A sent,
    and B's RNR does not concern A; another one passes it to A, and then Data with B's P(R).
    """
    call = bench.place_call(note="a call that shows the relay model")
    a, b, text = call.a, call.b, b"relay model"
    b.withholding = True
    a.allow(RR(), RNR())
    a.send_data(text)
    b.expect(Data(user_data=text))
    b.send(RNR(p_r=0), Data(user_data=text, p_r=0))
    a.expect(Data(user_data=text))
    came = [decode(unit.packet) for unit in a.connection.received]
    acknowledged = any(packet.fields.get("p_r") for packet in came)
    found.append(any(isinstance(packet, RNR) for packet in came) and not acknowledged)
    b.send(RR(p_r=1))
