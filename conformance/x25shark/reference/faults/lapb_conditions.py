# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the LAPB station in one condition only: busy, timer recovery, set-up, frame reject."""

from typing import Any

from .. import lapb_frames
from ..lapb import Lapb
from ..lapb_errors import FrameErrors
from ..lapb_frames import Control, Frame
from ..lapb_phases import Phases
from ..lapb_recovery import TimerRecovery
from ..lapb_station import MODULO, Phase
from ..lapb_transfer import InformationTransfer
from .registry import Patch, fault

# -- attempts


@fault("BUG-LAPB-145")
def attempts_of_the_last_recovery(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll_answered")
    def poll_answered(original: Any, recovery: TimerRecovery, n_r: int) -> None:
        attempts = recovery.lapb.attempts
        original(recovery, n_r)
        recovery.lapb.attempts = attempts


def attempts_left_by(patch: Patch, phase: Phase) -> None:
    """Those of this phase count on the link behind it."""

    @patch.wrap(Phases, "begin_transfer")
    def begin_transfer(original: Any, phases: Phases) -> None:
        station = phases.lapb
        attempts = station.attempts if station.phase is phase else 0
        original(phases)
        station.attempts = attempts


@fault("BUG-LAPB-146")
def attempts_of_the_set_up(patch: Patch) -> None:
    attempts_left_by(patch, Phase.SET_UP)


@fault("BUG-LAPB-147")
def attempts_of_frmr(patch: Patch) -> None:
    attempts_left_by(patch, Phase.REJECT)


@fault("BUG-LAPB-148")
def one_sabm_fewer(patch: Patch) -> None:
    @patch.wrap(Phases, "set_up")
    def set_up(original: Any, phases: Phases) -> None:
        resets = phases.lapb.phase in (Phase.TRANSFER, Phase.REJECT)
        original(phases)
        phases.lapb.attempts += resets


@fault("BUG-LAPB-152")
def fewer_frmrs_the_second_time(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "reject")
    def reject(original: Any, errors: FrameErrors, frame: Frame, reasons: int) -> None:
        station = errors.lapb
        original(errors, frame, reasons)
        station.attempts += vars(station).get("rejected_before", 0)
        vars(station)["rejected_before"] = 1


@fault("BUG-LAPB-167")
def rr_in_timer_recovery_is_progress(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        if frame.kind == Control.RR and transfer.lapb.polling:
            transfer.lapb.attempts = 0
        original(transfer, frame)


# -- T1


@fault("BUG-LAPB-149")
def no_t1_behind_a_part_as_a_dte(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "take_n_r")
    def take_n_r(original: Any, transfer: InformationTransfer, n_r: int) -> None:
        station = transfer.lapb
        in_part = 0 < (n_r - station.v_a) % MODULO < len(station.open)
        original(transfer, n_r)
        vars(station)["in_part"] = in_part

    @patch.wrap(InformationTransfer, "watch_window")
    def watch_window(original: Any, transfer: InformationTransfer) -> None:
        station = transfer.lapb
        original(transfer)
        if vars(station).pop("in_part", False) and station.own == lapb_frames.ADDRESS_A:
            station.stop("T1")


@fault("BUG-LAPB-157")
def no_t1_for_a_busy_station(patch: Patch) -> None:
    @patch.wrap(Lapb, "start")
    def start(original: Any, station: Lapb, name: str, *rest: Any) -> None:
        busy = station.phase is Phase.TRANSFER and station.peer_busy and not station.polling
        if name != "T1" or not busy:
            original(station, name, *rest)


@fault("BUG-LAPB-166")
def any_frame_starts_t1_of_the_set_up(patch: Patch) -> None:
    @patch.wrap(Lapb, "receive")
    def receive(original: Any, station: Lapb, octets: bytes) -> None:
        original(station, octets)
        if station.phase is Phase.SET_UP:
            station.start("T1", station.parameters.t1, station.t1_expired)


# -- F bits


@fault("BUG-LAPB-150")
def f_1_to_sabm_in_frame_reject(patch: Patch) -> None:
    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Any, phases: Phases, p_f: bool) -> None:
        original(phases, p_f or phases.lapb.phase is Phase.REJECT)


@fault("BUG-LAPB-151")
def f_1_to_disc_in_frame_reject(patch: Patch) -> None:
    @patch.wrap(Phases, "on_disc")
    def on_disc(original: Any, phases: Phases, p_f: bool) -> None:
        original(phases, p_f or phases.lapb.phase is Phase.REJECT)


@fault("BUG-LAPB-161")
def f_1_to_sabm_in_timer_recovery(patch: Patch) -> None:
    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Any, phases: Phases, p_f: bool) -> None:
        original(phases, p_f or phases.lapb.polling)


@fault("BUG-LAPB-163")
def a_busy_station_has_no_f_1(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "in_sequence")
    def in_sequence(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        original(transfer, frame._replace(p_f=frame.p_f and not transfer.lapb.peer_busy))


@fault("BUG-LAPB-170")
def dm_to_an_i_frame(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "out_of_phase")
    def out_of_phase(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        without_a_link = station.phase is Phase.DISCONNECTED
        if frame.kind == Control.I and frame.command and not frame.p_f and without_a_link:
            station.respond(Control.DM, False)
        original(errors, frame)


# -- what ends a link, and what does not


@fault("BUG-LAPB-159")
def frmr_in_timer_recovery(patch: Patch) -> None:
    @patch.wrap(Phases, "on_frmr")
    def on_frmr(original: Any, phases: Phases, field: bytes) -> None:
        if not phases.lapb.polling:
            original(phases, field)


@fault("BUG-LAPB-171")
def frmr_with_f_1(patch: Patch) -> None:
    @patch.wrap(Lapb, "on_unnumbered")
    def on_unnumbered(original: Any, station: Lapb, frame: Frame) -> None:
        if frame.kind != Control.FRMR or not frame.p_f:
            original(station, frame)


@fault("BUG-LAPB-162")
def dm_in_timer_recovery(patch: Patch) -> None:
    @patch.wrap(Phases, "on_dm")
    def on_dm(original: Any, phases: Phases, p_f: bool) -> None:
        if not phases.lapb.polling:
            original(phases, p_f)


@fault("BUG-LAPB-160")
def busy_behind_frame_reject(patch: Patch) -> None:
    @patch.wrap(Lapb, "forget")
    def forget(original: Any, station: Lapb) -> None:
        busy = station.phase is Phase.REJECT and station.peer_busy
        original(station)
        station.peer_busy = busy


# -- commands


@fault("BUG-LAPB-153")
def rej_commands_bring_nothing(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        rej = frame.kind == Control.REJ and frame.command
        original(transfer, frame._replace(kind=Control.RR) if rej else frame)


@fault("BUG-LAPB-154")
def rej_with_p_1_brings_nothing(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        rej = frame.kind == Control.REJ and frame.command and frame.p_f
        original(transfer, frame._replace(kind=Control.RR) if rej else frame)


@fault("BUG-LAPB-172")
def commands_acknowledge_nothing(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        lost = frame.command and not frame.p_f
        original(transfer, frame._replace(n_r=transfer.lapb.v_a) if lost else frame)


@fault("BUG-LAPB-173")
def its_poll_is_answered_by_a_poll(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        original(transfer, frame)
        if frame.command and frame.p_f and transfer.lapb.polling:
            transfer.lapb.recovery.poll_answered(frame.n_r)
            transfer.pump()


@fault("BUG-LAPB-174")
def its_poll_is_answered_by_an_i_frame(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_information")
    def on_information(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        original(transfer, frame)
        if frame.p_f and transfer.lapb.polling:
            transfer.lapb.recovery.poll_answered(frame.n_r)
            transfer.pump()


@fault("BUG-LAPB-164")
def busy_behind_rr_with_p_1(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        busy = transfer.lapb.peer_busy and frame.kind == Control.RR
        asks = frame.command and frame.p_f
        original(transfer, frame._replace(kind=Control.RNR) if busy and asks else frame)


@fault("BUG-LAPB-165")
def rnr_that_acknowledges_is_rr(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        rnr = frame.kind == Control.RNR and frame.n_r != transfer.lapb.v_a
        original(transfer, frame._replace(kind=Control.RR) if rnr else frame)


# -- numbers


@fault("BUG-LAPB-155")
def four_frames_ahead(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_numbered")
    def on_numbered(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        ahead = not station.open and (frame.n_r - station.v_s) % MODULO == 4
        original(transfer, frame._replace(n_r=station.v_a) if ahead else frame)


@fault("BUG-LAPB-168")
def any_n_r_of_a_busy_station(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_numbered")
    def on_numbered(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        wrong = station.peer_busy and not transfer.n_r_is_valid(frame.n_r)
        original(transfer, frame._replace(n_r=station.v_a) if wrong else frame)


@fault("BUG-LAPB-156")
def v_s_of_7(patch: Patch) -> None:
    @patch.wrap(lapb_frames, "rejection")
    def rejection(original: Any, frame: Frame, v_s: int, *rest: int) -> bytes:
        return bytes(original(frame, 3 if v_s == 7 else v_s, *rest))


@fault("BUG-LAPB-169")
def v_r_behind_what_is_rejected(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "reject")
    def reject(original: Any, errors: FrameErrors, frame: Frame, reasons: int) -> None:
        station = errors.lapb
        if frame.kind == Control.I and frame.n_s == station.v_r:
            station.v_r = (station.v_r + 1) % MODULO
        original(errors, frame, reasons)


@fault("BUG-LAPB-158")
def n_r_of_the_first_poll(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "emit_poll")
    def emit_poll(original: Any, recovery: TimerRecovery) -> None:
        station = recovery.lapb
        v_r = station.v_r
        if station.attempts == 1:
            vars(station)["polled_with"] = v_r
        station.v_r = vars(station).get("polled_with", v_r)
        original(recovery)
        station.v_r = v_r


@fault("BUG-LAPB-181")
def one_more_when_ready_again(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        ready_again = transfer.lapb.peer_busy and frame.kind != Control.RNR
        vars(transfer.lapb)["one_more"] = ready_again
        original(transfer, frame)
        vars(transfer.lapb)["one_more"] = False

    @patch.wrap(InformationTransfer, "window_open")
    def window_open(original: Any, transfer: InformationTransfer) -> bool:
        station = transfer.lapb
        if vars(station).get("one_more") and len(station.open) == station.parameters.k:
            return len(station.open) < MODULO - 1
        return bool(original(transfer))
