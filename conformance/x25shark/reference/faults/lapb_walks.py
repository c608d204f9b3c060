# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the LAPB station that show at the third time, or on the link behind another one."""

from typing import Any

from ..lapb import Lapb
from ..lapb_acknowledging import Acknowledging
from ..lapb_frames import Control, Frame
from ..lapb_phases import Phases
from ..lapb_station import MODULO, Phase
from ..lapb_transfer import InformationTransfer
from .registry import Patch, fault

REJS, RRS = 1, 5


@fault("BUG-LAPB-85")
def second_rej(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        if frame.kind == Control.REJ:
            state = vars(transfer.lapb)
            state["rejs"] = state.get("rejs", 0) + 1
            if state["rejs"] > REJS:
                frame = frame._replace(kind=Control.RR)
        original(transfer, frame)

    @patch.wrap(Lapb, "forget")
    def forget(original: Any, station: Lapb) -> None:
        original(station)
        vars(station)["rejs"] = 0


@fault("BUG-LAPB-86")
def gap_behind_a_rejection(patch: Patch) -> None:
    @patch.wrap(Phases, "begin_transfer")
    def begin_transfer(original: Any, phases: Phases) -> None:
        station = phases.lapb
        rejecting = station.phase is Phase.REJECT and station.rejecting
        original(phases)
        station.rejecting = rejecting


@fault("BUG-LAPB-87")
def one_too_many(patch: Patch) -> None:
    @patch.wrap(Acknowledging, "acknowledge_with")
    def acknowledge_with(original: Any, acknowledging: Acknowledging, kind: int, f: bool) -> None:
        station = acknowledging.lapb
        state, v_r = vars(station), station.v_r
        state["rrs"] = state.get("rrs", 0) + 1
        if state["rrs"] % RRS == 0:
            station.v_r = (v_r + 1) % MODULO
        original(acknowledging, kind, f)
        station.v_r = v_r
