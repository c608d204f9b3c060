# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the LAPB station that show at one number, or while something else is open."""

from dataclasses import replace
from typing import Any

from .. import lapb_frames
from ..lapb import Lapb
from ..lapb_acknowledging import Acknowledging
from ..lapb_errors import FrameErrors
from ..lapb_frames import Control, Frame
from ..lapb_phases import Phases
from ..lapb_recovery import TimerRecovery
from ..lapb_station import MODULO, Phase
from ..lapb_transfer import InformationTransfer
from .registry import Patch, fault


@fault("BUG-LAPB-88")
def oldest_as_v_s(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "reject")
    def reject(original: Any, errors: FrameErrors, frame: Frame, reasons: int) -> None:
        station = errors.lapb
        station.v_s = station.v_a
        original(errors, frame, reasons)


@fault("BUG-LAPB-90")
def no_final_in_recovery(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "in_sequence")
    def in_sequence(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        original(transfer, frame._replace(p_f=frame.p_f and not transfer.lapb.polling))


@fault("BUG-LAPB-91")
def final_before_the_frame(patch: Patch) -> None:
    @patch.wrap(Acknowledging, "answer_poll")
    def answer_poll(original: Any, acknowledging: Acknowledging) -> None:
        station = acknowledging.lapb
        v_r, owed = station.v_r, station.owed
        station.v_r = (v_r - owed) % MODULO
        original(acknowledging)
        station.v_r, station.owed = v_r, owed


@fault("BUG-LAPB-92")
def no_t1_for_7(patch: Patch) -> None:
    @patch.wrap(Lapb, "start")
    def start(original: Any, station: Lapb, name: str, *rest: Any) -> None:
        if name != "T1" or not station.open or station.v_a != MODULO - 1:
            original(station, name, *rest)


@fault("BUG-LAPB-93")
def one_poll_more(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll")
    def poll(original: Any, recovery: TimerRecovery) -> None:
        station = recovery.lapb
        right = station.parameters
        station.parameters = replace(right, n2=right.n2 + 1)
        original(recovery)
        station.parameters = right


@fault("BUG-LAPB-94")
def rej_answers_nothing(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll_answered")
    def poll_answered(original: Any, recovery: TimerRecovery, n_r: int) -> None:
        station = recovery.lapb
        rej = vars(station).get("last") == lapb_frames.Control.REJ
        original(recovery, station.v_s if rej else n_r)

    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        vars(transfer.lapb)["last"] = frame.kind
        original(transfer, frame)


@fault("BUG-LAPB-143")
def no_t1_behind_a_part(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_information")
    def on_information(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        in_part = 0 < (frame.n_r - station.v_a) % MODULO < len(station.open)
        original(transfer, frame)
        if in_part and station.phase is Phase.TRANSFER and not station.polling:
            station.stop("T1")


@fault("BUG-LAPB-144")
def rej_with_f_1_counts_twice(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        is_answer = station.polling and frame.p_f and not frame.command
        original(transfer, frame)
        if is_answer and frame.kind == lapb_frames.Control.REJ:
            station.v_s = station.v_a
            transfer.pump()


@fault("BUG-LAPB-95")
def n_r_of_an_unready_peer(patch: Patch) -> None:
    @patch.wrap(Lapb, "flush")
    def flush(original: Any, station: Lapb) -> None:
        if station.phase is not Phase.TRANSFER or not station.peer_busy:
            original(station)


@fault("BUG-LAPB-96")
def what_waits_stays(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        answers = station.polling and frame.p_f and not frame.command
        all_taken = (frame.n_r - station.v_a) % MODULO == len(station.open)
        vars(station)["stays"] = answers and all_taken
        original(transfer, frame)
        vars(station)["stays"] = False

    @patch.wrap(InformationTransfer, "pump")
    def pump(original: Any, transfer: InformationTransfer) -> None:
        if not vars(transfer.lapb).get("stays"):
            original(transfer)


@fault("BUG-LAPB-97")
def gap_stands_in_recovery(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "in_sequence")
    def in_sequence(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        stands = station.rejecting and station.polling
        original(transfer, frame)
        station.rejecting = stands


@fault("BUG-LAPB-98")
def any_dm_refuses(patch: Patch) -> None:
    @patch.wrap(Phases, "on_dm")
    def on_dm(original: Any, phases: Phases, p_f: bool) -> None:
        original(phases, p_f or phases.lapb.phase is Phase.SET_UP)


@fault("BUG-LAPB-99")
def n_r_of_a_busy_peer(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_information")
    def on_information(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        n_r = station.v_a if station.peer_busy else frame.n_r
        original(transfer, frame._replace(n_r=n_r))


@fault("BUG-LAPB-100")
def packets_of_each_other(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        in_order = list(station.open)
        if frame.kind == lapb_frames.Control.REJ and not station.polling:
            taken = (frame.n_r - station.v_a) % MODULO
            station.open[taken:] = station.open[taken:][::-1]
        original(transfer, frame)
        station.open[: len(in_order)] = in_order[len(in_order) - len(station.open) :]


@fault("BUG-LAPB-101")
def packet_of_the_oldest(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll_answered")
    def poll_answered(original: Any, recovery: TimerRecovery, n_r: int) -> None:
        original(recovery, n_r)
        station = recovery.lapb
        station.open[:] = station.open[:1] * len(station.open)


@fault("BUG-LAPB-102")
def idle_polls_for_ever(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll")
    def poll(original: Any, recovery: TimerRecovery) -> None:
        station = recovery.lapb
        if not station.open and not station.peer_busy:
            station.attempts = 0
        original(recovery)


@fault("BUG-LAPB-103")
def answered_idle_polls_count(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll_answered")
    def poll_answered(original: Any, recovery: TimerRecovery, n_r: int) -> None:
        station = recovery.lapb
        attempts = station.attempts
        idle = not station.open and not station.peer_busy
        original(recovery, n_r)
        if idle:
            station.attempts = attempts


@fault("BUG-LAPB-175")
def recovery_outlives_n2_polls(patch: Patch) -> None:
    @patch.wrap(Phases, "set_up")
    def set_up(original: Any, phases: Phases) -> None:
        vars(phases.lapb)["in_vain"] = phases.lapb.polling
        original(phases)

    @patch.wrap(Phases, "begin_transfer")
    def begin_transfer(original: Any, phases: Phases) -> None:
        original(phases)
        phases.lapb.polling = vars(phases.lapb).pop("in_vain", False)


@fault("BUG-LAPB-176")
def refuses_behind_a_set_up_in_vain(patch: Patch) -> None:
    @patch.wrap(Lapb, "t1_expired")
    def t1_expired(original: Any, station: Lapb) -> None:
        set_up = station.phase is Phase.SET_UP
        original(station)
        if set_up and station.phase is Phase.DISCONNECTED:
            vars(station)["dead"] = True

    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Any, phases: Phases, p_f: bool) -> None:
        if vars(phases.lapb).get("dead"):
            phases.lapb.respond(Control.DM, p_f)
        else:
            original(phases, p_f)


@fault("BUG-LAPB-177")
def ua_ends_frame_reject(patch: Patch) -> None:
    @patch.wrap(Phases, "on_ua")
    def on_ua(original: Any, phases: Phases, p_f: bool) -> None:
        if phases.lapb.phase is Phase.REJECT:
            phases.lapb.enter(Phase.TRANSFER)
        else:
            original(phases, p_f)


@fault("BUG-LAPB-178")
def information_in_responses(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "not_permitted")
    def not_permitted(original: Any, errors: FrameErrors, frame: Frame) -> None:
        if frame.command:
            original(errors, frame)
        elif errors.lapb.phase is Phase.TRANSFER and frame.kind not in (Control.UA, Control.DM):
            errors.lapb.transfer.on_numbered(frame)


@fault("BUG-LAPB-179")
def stops_with_the_poll_open(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "take_n_r")
    def take_n_r(original: Any, transfer: InformationTransfer, n_r: int) -> None:
        original(transfer, n_r)
        if transfer.lapb.polling and not transfer.lapb.open:
            transfer.lapb.stop("T1")


@fault("BUG-LAPB-180")
def silent_reset_for_an_frmr(patch: Patch) -> None:
    @patch.wrap(Phases, "on_frmr")
    def on_frmr(original: Any, phases: Phases, field: bytes) -> None:
        vars(phases.lapb)["silent"] = phases.lapb.phase is Phase.TRANSFER
        original(phases, field)

    @patch.wrap(Phases, "begin_transfer")
    def begin_transfer(original: Any, phases: Phases) -> None:
        station = phases.lapb
        told = station.station
        if vars(station).pop("silent", False):
            station.station = _Untold(told)
        original(phases)
        station.station = told


class _Untold:
    """What is above the link, which does not hear that there is a new one."""

    def __init__(self, told: Any) -> None:
        self._told = told

    def link_up(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._told, name)
