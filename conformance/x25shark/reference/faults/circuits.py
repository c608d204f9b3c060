# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that show on permanent circuits, in modulo 128, in answers and on a connection's second
call alone, where a plain first call has nothing of them."""

from typing import Any

from ..channel import Channel
from ..circuit import Circuit
from ..clearing import Clearing
from ..codec import Call, Data
from ..facilities import MARKER, Facilities
from ..negotiation import Negotiation
from ..pvc import PvcEnd, PvcTable
from ..pvc_setup import Responder, Setup
from ..relay_local import Direction, Segment, Segmenter
from ..tables import P
from .common import keep
from .registry import Patch, fault

_LCN = 0xFFF  # the 12 bits of an LCN in a packet header


@fault("BUG-SEG-29")
def m_beside_d_in_the_last_part(patch: Patch) -> None:
    @patch.wrap(Segmenter, "feed")
    def feed(original: Any, segmenter: Segmenter, data: Data) -> list[Segment]:
        segments: list[Segment] = original(segmenter, data)
        if len(segments) > 1 and segments[-1].d:
            segments[-1] = segments[-1]._replace(m=False)
        return segments


@fault("BUG-SEG-30")
def empty_end_between_sizes(patch: Patch) -> None:
    @patch.wrap(Segmenter, "feed")
    def feed(original: Any, segmenter: Segmenter, data: Data) -> list[Segment]:
        differ = segmenter.size_in != segmenter.size_out
        if differ and not data.user_data and not data.m and not segmenter.waiting:
            return []
        return list(original(segmenter, data))


@fault("BUG-FAC-49")
def first_of_an_answer_that_repeats(patch: Patch) -> None:
    @patch.wrap(Negotiation, "check_accept")
    def check_accept(original: Any, negotiation: Negotiation, accept: Call, far: Channel) -> None:
        first = {item.code: item for item in reversed(accept.facilities.items)}
        accept.facilities = Facilities([*reversed(first.values())], accept.facilities.marked)
        original(negotiation, accept, far)


@fault("BUG-FAC-50")
def marker_of_the_called_network(patch: Patch) -> None:
    @patch.wrap(Facilities, "parse")
    def parse(original: Any, field: bytes) -> Facilities:
        return Facilities(original(field.replace(bytes((MARKER, 0xFF)), b"")).items)


@fault("BUG-CLR-34")
def diagnostic_of_the_last_call(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Any, clearing: Clearing, octets: bytes) -> None:
        state: dict[str, Any] = vars(clearing.channel)
        if len(octets) == 4:
            octets += bytes((state.get("last_diagnostic", 0),))
        if len(octets) > 4:
            state["last_diagnostic"] = octets[4]
        original(clearing, octets)


def _by_reset_of_a_permanent_one(circuit: Circuit) -> bool:
    return circuit.permanent and circuit.p is P.DATA_TRANSFER


def _by_reset_in_modulo_128(circuit: Circuit) -> bool:
    return circuit.modulo == 128 and circuit.p is P.DATA_TRANSFER


@fault("BUG-XOT-170")
def owed_on_a_circuit(patch: Patch) -> None:
    @patch.wrap(Direction, "clear")
    def clear(original: Any, direction: Direction) -> None:
        owed = direction.owed.copy()
        original(direction)
        if direction.source.permanent:
            direction.owed.extend(owed)


@fault("BUG-XOT-171")
def interrupt_of_a_circuit(patch: Patch) -> None:
    keep(patch, "interrupt_out", _by_reset_of_a_permanent_one)


@fault("BUG-XOT-172")
def busy_end_of_a_circuit(patch: Patch) -> None:
    keep(patch, "peer_busy", _by_reset_of_a_permanent_one)


@fault("BUG-XOT-173")
def q_of_a_circuit(patch: Patch) -> None:
    keep(patch, "sequence_q", _by_reset_of_a_permanent_one)


@fault("BUG-MOD-47")
def busy_in_modulo_128(patch: Patch) -> None:
    keep(patch, "peer_busy", _by_reset_in_modulo_128)


@fault("BUG-MOD-48")
def q_in_modulo_128(patch: Patch) -> None:
    keep(patch, "sequence_q", _by_reset_in_modulo_128)


@fault("BUG-XOT-174")
def numbers_of_12_bits(patch: Patch) -> None:
    @patch.wrap(PvcTable, "find")
    def find(original: Any, table: PvcTable, setup: Setup) -> tuple[PvcEnd | None, int]:
        found: tuple[PvcEnd | None, int] = original(
            table, setup._replace(responder_lcn=setup.responder_lcn & _LCN)
        )
        return found

    @patch.wrap(Responder, "check")
    def check(original: Any, responder: Responder, setup: Setup) -> int:
        short = setup._replace(initiator_lcn=setup.initiator_lcn & _LCN)
        return int(original(responder, short))
