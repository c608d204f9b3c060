# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the LAPB station: frames that are wrong in one respect, and links that begin anew."""

from typing import Any

from .. import lapb_frames
from ..lapb_acknowledging import Acknowledging
from ..lapb_errors import FrameErrors
from ..lapb_frames import Control, Frame
from ..lapb_phases import Phases
from ..lapb_recovery import TimerRecovery
from ..lapb_station import MODULO, Phase
from ..lapb_transfer import InformationTransfer
from ..link import SerialLink
from .registry import Patch, fault

# Control octets that LAPB has not, without P.
UI, XID, TEST = 0x03, 0xAF, 0xE3
FRMR_OCTETS = 3


def information_overlooked(patch: Patch, *kinds: int) -> None:
    """Frames of these kinds are taken although they have an information field."""

    @patch.wrap(FrameErrors, "not_permitted")
    def not_permitted(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if frame.kind not in kinds or station.phase is not Phase.TRANSFER:
            original(errors, frame)
        elif frame.kind in lapb_frames.SUPERVISORY:
            station.transfer.on_numbered(frame)
        else:
            station.on_unnumbered(frame)


@fault("BUG-LAPB-120")
def information_in_disc(patch: Patch) -> None:
    information_overlooked(patch, Control.DISC)


@fault("BUG-LAPB-121")
def information_in_rnr_and_rej(patch: Patch) -> None:
    information_overlooked(patch, Control.RNR, Control.REJ)


@fault("BUG-LAPB-122")
def n_r_out_of_sequence(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_numbered")
    def on_numbered(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if (
            frame.kind == Control.I
            and frame.n_s != station.v_r
            and not transfer.n_r_is_valid(frame.n_r)
        ):
            frame = frame._replace(n_r=station.v_a)
        original(transfer, frame)


@fault("BUG-LAPB-123")
def one_sabm(patch: Patch) -> None:
    @patch.wrap(Phases, "set_up")
    def set_up(original: Any, phases: Phases) -> None:
        resets = phases.lapb.phase in (Phase.TRANSFER, Phase.REJECT)
        original(phases)
        if resets:
            phases.lapb.stop("T1")


@fault("BUG-LAPB-124")
def sabme_resets(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "undefined")
    def undefined(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if frame.kind == Control.SABME and frame.command and station.phase is Phase.TRANSFER:
            station.phases.on_sabm(frame.p_f)
        else:
            original(errors, frame)


@fault("BUG-LAPB-125")
def final_ua_to_a_sabm_that_crosses(patch: Patch) -> None:
    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Any, phases: Phases, p_f: bool) -> None:
        original(phases, p_f or phases.lapb.phase is Phase.SET_UP)


@fault("BUG-LAPB-126")
def final_dm_to_a_disc_that_crosses(patch: Patch) -> None:
    @patch.wrap(Phases, "on_disc")
    def on_disc(original: Any, phases: Phases, p_f: bool) -> None:
        original(phases, p_f or phases.lapb.phase is Phase.SET_UP)


@fault("BUG-LAPB-127")
def rnr_brings_the_first_again(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll_answered")
    def poll_answered(original: Any, recovery: TimerRecovery, n_r: int) -> None:
        original(recovery, n_r)
        station = recovery.lapb
        if station.peer_busy and station.open:
            station.transfer.emit_information(station.v_a, station.open[0])


@fault("BUG-LAPB-128")
def a_busy_peer_for_ever(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll")
    def poll(original: Any, recovery: TimerRecovery) -> None:
        if recovery.lapb.peer_busy:
            recovery.lapb.attempts = 0
        original(recovery)


@fault("BUG-LAPB-129")
def answer_behind_what_rej_brings(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        polls = frame.kind == Control.REJ and frame.command and frame.p_f
        original(transfer, frame._replace(p_f=frame.p_f and not polls))
        if polls:
            transfer.lapb.acknowledging.answer_poll()


@fault("BUG-LAPB-131")
def t1_of_the_first_frame(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "take_n_r")
    def take_n_r(original: Any, transfer: InformationTransfer, n_r: int) -> None:
        station = transfer.lapb
        in_part = (n_r - station.v_a) % MODULO < len(station.open)
        running = station.running.pop("T1", None) if in_part else None
        original(transfer, n_r)
        if running is not None:
            station.stop("T1")
            station.running["T1"] = running


@fault("BUG-LAPB-130")
def nothing_of_a_giant(patch: Patch) -> None:
    @patch.wrap(SerialLink, "bad")
    def bad(original: Any, link: SerialLink, counter: str, octets: bytes) -> None:
        link.reject_giants = True
        original(link, counter, octets)

    @patch.wrap(FrameErrors, "too_long")
    def too_long(original: Any, errors: FrameErrors, octets: bytes) -> None:
        original(errors, octets[:1] + b"\0" + octets[2:])


@fault("BUG-LAPB-108")
def nothing_for_xid_and_test(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "undefined")
    def undefined(original: Any, errors: FrameErrors, frame: Frame) -> None:
        known = frame.kind in (XID, TEST)
        if not known or errors.lapb.phase is not Phase.TRANSFER:
            original(errors, frame)


@fault("BUG-LAPB-109")
def packet_of_ui(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "undefined")
    def undefined(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if frame.kind == UI and station.phase is Phase.TRANSFER:
            station.station.packet_in(frame.information)
        original(errors, frame)


@fault("BUG-LAPB-110")
def undefined_without_final(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "undefined")
    def undefined(original: Any, errors: FrameErrors, frame: Frame) -> None:
        rejects = errors.lapb.phase is Phase.TRANSFER
        original(errors, frame._replace(p_f=frame.p_f and not rejects))


@fault("BUG-LAPB-111")
def sent_again_in_frame_reject(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "out_of_phase")
    def out_of_phase(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if station.phase is Phase.REJECT and frame.kind == Control.REJ:
            for place, packet in enumerate(station.open):
                station.transfer.emit_information((station.v_a + place) % MODULO, packet)
        original(errors, frame)


@fault("BUG-LAPB-112")
def polls_in_frame_reject(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "reject")
    def reject(original: Any, errors: FrameErrors, frame: Frame, reasons: int) -> None:
        station = errors.lapb
        original(errors, frame, reasons)

        def poll() -> None:
            if station.phase is Phase.REJECT:
                station.recovery.emit_poll()

        if station.open:
            station.start("recovery", station.parameters.t1, poll)


@fault("BUG-LAPB-113")
def frmr_in_frame_reject(patch: Patch) -> None:
    @patch.wrap(Phases, "on_frmr")
    def on_frmr(original: Any, phases: Phases, field: bytes) -> None:
        if phases.lapb.phase is not Phase.REJECT:
            original(phases, field)


@fault("BUG-LAPB-114")
def dm_in_frame_reject(patch: Patch) -> None:
    @patch.wrap(Phases, "on_dm")
    def on_dm(original: Any, phases: Phases, p_f: bool) -> None:
        if phases.lapb.phase is not Phase.REJECT:
            original(phases, p_f)


@fault("BUG-LAPB-115")
def ends_by_a_response(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "undefined")
    def undefined(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if frame.kind in (Control.SABM, Control.DISC) and station.phase is Phase.TRANSFER:
            station.on_unnumbered(frame)
        else:
            original(errors, frame)


@fault("BUG-LAPB-140")
def rej_below_0(patch: Patch) -> None:
    @patch.wrap(Acknowledging, "acknowledge_with")
    def acknowledge_with(original: Any, acknowledging: Acknowledging, kind: int, f: bool) -> None:
        station = acknowledging.lapb
        missing = station.v_r
        if kind == Control.REJ and missing == 0:
            station.v_r = 7
        original(acknowledging, kind, f)
        station.v_r = missing


@fault("BUG-LAPB-142")
def v_r_in_two_bits(patch: Patch) -> None:
    @patch.wrap(lapb_frames, "rejection")
    def rejection(original: Any, frame: Frame, v_s: int, v_r: int, reasons: int) -> bytes:
        field: bytes = original(frame, v_s, v_r & 3, reasons)
        return field


@fault("BUG-LAPB-182")
def short_frmr_ignored(patch: Patch) -> None:
    @patch.wrap(Phases, "on_frmr")
    def on_frmr(original: Any, phases: Phases, field: bytes) -> None:
        if len(field) >= FRMR_OCTETS:
            original(phases, field)


@fault("BUG-LAPB-183")
def long_frmr_ignored(patch: Patch) -> None:
    @patch.wrap(Phases, "on_frmr")
    def on_frmr(original: Any, phases: Phases, field: bytes) -> None:
        if len(field) <= FRMR_OCTETS:
            original(phases, field)
