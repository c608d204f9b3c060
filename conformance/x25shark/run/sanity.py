# SPDX-License-Identifier: GPL-2.0-or-later
"""The sanity call: the least that must work before any purpose can be judged."""

from __future__ import annotations

from ..catalogue import Purpose
from ..sides.bench import Bench
from ..sides.side import Side

SANITY = Purpose(
    id="SANITY-CALL-01",
    purpose="A call is set up, carries data both ways, and is cleared.",
    clause="X.25 4.1, 4.3",
    configurations=("T1", "T2", "TX", "T4", "T5"),
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
    _call(bench, bench.connect_patiently())
