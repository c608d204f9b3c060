# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the LAPB station: what it answers, and what it takes an N(R) or an F bit for."""

from collections.abc import Callable
from typing import Any

from .. import lapb_frames
from ..lapb import Lapb
from ..lapb_acknowledging import Acknowledging
from ..lapb_errors import FrameErrors
from ..lapb_frames import Control, Frame
from ..lapb_phases import Phases
from ..lapb_station import MODULO, Phase
from ..lapb_transfer import InformationTransfer
from .registry import Patch, fault

Which = Callable[[Lapb, Frame], bool]


def polls_unanswered(patch: Patch, which: Which) -> None:
    """The P bit of these commands goes unnoticed."""

    @patch.wrap(InformationTransfer, "on_numbered")
    def on_numbered(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        polls = frame.command and frame.p_f
        original(
            transfer, frame._replace(p_f=False) if polls and which(transfer.lapb, frame) else frame
        )


def invalid_n_r_passes(patch: Patch, which: Which) -> None:
    """An invalid N(R) of these frames says nothing, and is not rejected."""

    @patch.wrap(InformationTransfer, "on_numbered")
    def on_numbered(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if not station.transfer.n_r_is_valid(frame.n_r) and which(station, frame):
            frame = frame._replace(n_r=station.v_a)
        original(transfer, frame)


def taken_for(patch: Patch, which: Which, kind: int) -> None:
    """These supervisory frames do what frames of another kind do."""

    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        original(transfer, frame._replace(kind=kind) if which(transfer.lapb, frame) else frame)


def field_changed(patch: Patch, change: Callable[[bytes], bytes]) -> None:
    """The information field of FRMR."""

    @patch.wrap(lapb_frames, "rejection")
    def rejection(original: Any, *arguments: Any) -> bytes:
        return change(original(*arguments))


@fault("BUG-LAPB-38")
def no_answer_behind_rej(patch: Patch) -> None:
    polls_unanswered(patch, lambda s, f: f.kind == Control.I and s.rejecting and f.n_s != s.v_r)


@fault("BUG-LAPB-39")
def no_answer_while_polling(patch: Patch) -> None:
    polls_unanswered(patch, lambda s, f: s.polling)


@fault("BUG-LAPB-40")
def f_answered(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        polled = station.polling
        original(transfer, frame)
        if frame.p_f and not frame.command and not polled:
            station.acknowledging.answer_poll()


@fault("BUG-LAPB-41")
def final_dm(patch: Patch) -> None:
    @patch.wrap(Lapb, "respond")
    def respond(original: Any, station: Lapb, kind: int, f: bool, field: bytes = b"") -> None:
        original(station, kind, f or kind == Control.DM, field)


@fault("BUG-LAPB-42")
def disc_without_p(patch: Patch) -> None:
    @patch.wrap(Phases, "on_disc")
    def on_disc(original: Any, phases: Phases, p_f: bool) -> None:
        if p_f:
            original(phases, p_f)


@fault("BUG-LAPB-43")
def sabm_without_ua(patch: Patch) -> None:
    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Any, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        if station.phase is Phase.TRANSFER and not p_f:
            station.phases.begin_transfer()
        else:
            original(phases, p_f)


@fault("BUG-LAPB-44")
def any_n_r_of_rnr(patch: Patch) -> None:
    invalid_n_r_passes(patch, lambda s, f: f.kind == Control.RNR)


@fault("BUG-LAPB-45")
def any_n_r_of_responses(patch: Patch) -> None:
    invalid_n_r_passes(patch, lambda s, f: not f.command)


@fault("BUG-LAPB-46")
def any_n_r_in_recovery(patch: Patch) -> None:
    invalid_n_r_passes(patch, lambda s, f: s.polling)


@fault("BUG-LAPB-47")
def rnr_acknowledges_nothing(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        rnr = frame.kind == Control.RNR
        original(transfer, frame._replace(n_r=transfer.lapb.v_a) if rnr else frame)


@fault("BUG-LAPB-48")
def duplicate_at_the_wrap(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_information")
    def on_information(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        last = transfer.lapb.v_r == 0 and frame.n_s == MODULO - 1
        original(transfer, frame._replace(n_s=0) if last else frame)


@fault("BUG-LAPB-49")
def busy_by_response_only(patch: Patch) -> None:
    taken_for(
        patch,
        lambda s, f: f.kind == Control.RNR and f.command and not s.peer_busy,
        Control.RR,
    )


@fault("BUG-LAPB-50")
def ready_by_response_only(patch: Patch) -> None:
    taken_for(patch, lambda s, f: f.kind == Control.RR and f.command and s.peer_busy, Control.RNR)


@fault("BUG-LAPB-139")
def ready_by_f_only(patch: Patch) -> None:
    taken_for(
        patch,
        lambda s, f: f.kind == Control.RR and not f.command and not f.p_f and s.peer_busy,
        Control.RNR,
    )


@fault("BUG-LAPB-141")
def busy_behind_n_r_0(patch: Patch) -> None:
    taken_for(
        patch,
        lambda s, f: f.kind == Control.RR and not f.p_f and f.n_r == 0 and s.peer_busy,
        Control.RNR,
    )


@fault("BUG-LAPB-51")
def final_dm_ignored(patch: Patch) -> None:
    @patch.wrap(Phases, "on_dm")
    def on_dm(original: Any, phases: Phases, p_f: bool) -> None:
        if phases.lapb.phase is not Phase.TRANSFER or not p_f:
            original(phases, p_f)


def unheard_without_link(patch: Patch, which: Which) -> None:
    @patch.wrap(FrameErrors, "out_of_phase")
    def out_of_phase(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if station.phase is not Phase.DISCONNECTED or not which(station, frame):
            original(errors, frame)


@fault("BUG-LAPB-52")
def rnr_and_rej_without_link(patch: Patch) -> None:
    unheard_without_link(patch, lambda s, f: f.kind in (Control.RNR, Control.REJ))


@fault("BUG-LAPB-53")
def responses_without_link(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "out_of_phase")
    def out_of_phase(original: Any, errors: FrameErrors, frame: Frame) -> None:
        without = errors.lapb.phase is Phase.DISCONNECTED
        original(errors, frame._replace(command=True) if without else frame)


@fault("BUG-LAPB-54")
def never_a_response(patch: Patch) -> None:
    field_changed(patch, lambda field: bytes((field[0], field[1] & ~0x10, field[2])))


@fault("BUG-LAPB-55")
def rejected_without_p(patch: Patch) -> None:
    field_changed(patch, lambda field: bytes((field[0] & ~0x10,)) + field[1:])


@fault("BUG-LAPB-56")
def any_frame_ends_rejection(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "out_of_phase")
    def out_of_phase(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if station.phase is Phase.REJECT and frame.kind in lapb_frames.SUPERVISORY:
            station.stop_timers()
            station.enter(Phase.TRANSFER)
        else:
            original(errors, frame)


@fault("BUG-LAPB-70")
def final_rejection(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "reject")
    def reject(original: Any, errors: FrameErrors, frame: Frame, reasons: int) -> None:
        station = errors.lapb
        with_f: Any = station.errors.respond_rejection
        vars(station.errors)["respond_rejection"] = lambda f: with_f(f or frame.p_f)
        original(errors, frame, reasons)
        del vars(station.errors)["respond_rejection"]


@fault("BUG-LAPB-71")
def last_of_two(patch: Patch) -> None:
    @patch.wrap(Lapb, "flush")
    def flush(original: Any, station: Lapb) -> None:
        if station.owed != 2:
            original(station)
            return
        taken, station.v_r = station.v_r, (station.v_r - 1) % MODULO
        station.acknowledging.acknowledge_now()
        station.v_r = taken


@fault("BUG-LAPB-72")
def rejected_set_up(patch: Patch) -> None:
    @patch.wrap(Phases, "on_frmr")
    def on_frmr(original: Any, phases: Phases, field: bytes) -> None:
        station = phases.lapb
        if station.phase is Phase.SET_UP:
            station.phases.set_up()
        else:
            original(phases, field)


@fault("BUG-LAPB-73")
def ua_as_a_command(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "undefined")
    def undefined(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if frame.kind == Control.UA and station.phase is not Phase.TRANSFER:
            station.phases.on_ua(frame.p_f)
        else:
            original(errors, frame)


@fault("BUG-LAPB-74")
def rej_ends_with_a_poll(patch: Patch) -> None:
    @patch.wrap(Acknowledging, "answer_poll")
    def answer_poll(original: Any, acknowledging: Acknowledging) -> None:
        original(acknowledging)
        acknowledging.lapb.rejecting = False


@fault("BUG-LAPB-105")
def exchanged_on_one_line(patch: Patch) -> None:
    @patch.wrap(Lapb, "respond")
    def respond(original: Any, station: Lapb, kind: int, f: bool, field: bytes = b"") -> None:
        if kind == Control.FRMR and station.own == lapb_frames.ADDRESS_A:
            # Octet 2: V(S) in bits 2 to 4, V(R) in bits 6 to 8 (X.25 2.3.4.9).
            numbers = field[1]
            kept = numbers & 0x11 | (numbers >> 5 & 7) << 1 | (numbers >> 1 & 7) << 5
            field = bytes((field[0], kept)) + field[2:]
        original(station, kind, f, field)


@fault("BUG-LAPB-107")
def ua_sets_up(patch: Patch) -> None:
    @patch.wrap(Phases, "on_ua")
    def on_ua(original: Any, phases: Phases, p_f: bool) -> None:
        if p_f and phases.lapb.phase is Phase.DISCONNECTED:
            phases.begin_transfer()
        else:
            original(phases, p_f)


@fault("BUG-LAPB-116")
def undefined_without_link(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "undefined")
    def undefined(original: Any, errors: FrameErrors, frame: Frame) -> None:
        without = errors.lapb.phase is Phase.DISCONNECTED
        if frame.kind in lapb_frames.NAMES or not without:
            original(errors, frame)


@fault("BUG-LAPB-117")
def duplicates_unanswered(patch: Patch) -> None:
    polls_unanswered(
        patch, lambda s, f: f.kind == Control.I and (f.n_s - s.v_r) % MODULO >= MODULO // 2
    )


@fault("BUG-LAPB-118")
def n_r_without_wrap(patch: Patch) -> None:
    def n_r_is_valid(transfer: InformationTransfer, n_r: int) -> bool:
        station = transfer.lapb
        end = (station.v_a + len(station.open)) % MODULO
        return station.v_a <= n_r <= end if station.v_a <= end else True

    patch.replace(InformationTransfer, "n_r_is_valid", n_r_is_valid)
