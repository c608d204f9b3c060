# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the LAPB station: what outlives a link, T1, N2, and timer recovery."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..codec import Clear
from ..codes import Diag, RestartCause
from ..lapb import Lapb
from ..lapb_errors import FrameErrors
from ..lapb_frames import ADDRESS_A, Control, Frame, Reason, rejection
from ..lapb_phases import Phases
from ..lapb_recovery import TimerRecovery
from ..lapb_station import MODULO, Phase
from ..lapb_transfer import InformationTransfer
from ..serial import SerialInterface
from .registry import Patch, fault


def outlives(patch: Patch, name: str) -> None:
    """A new link does not begin with its own value of this."""

    @patch.wrap(Lapb, "forget")
    def forget(original: Any, station: Lapb) -> None:
        kept = vars(station).get(name)
        original(station)
        if kept is not None:
            setattr(station, name, kept)


def t1_is(patch: Patch, part: Callable[[Lapb], float]) -> None:
    """T1 runs for this part of its time."""

    @patch.wrap(Lapb, "start")
    def start(original: Any, station: Lapb, name: str, seconds: float, expired: Any) -> None:
        original(station, name, seconds * part(station) if name == "T1" else seconds, expired)


def attempts_too_many(patch: Patch, phase: Phase) -> None:
    """N2 is two more than it should be."""

    @patch.wrap(Lapb, "t1_expired")
    def t1_expired(original: Any, station: Lapb) -> None:
        right = station.parameters
        if station.phase is phase:
            station.parameters = replace(right, n2=right.n2 + 2)
        original(station)
        station.parameters = right


@fault("BUG-LAPB-57")
def old_rej(patch: Patch) -> None:
    outlives(patch, "rejecting")


@fault("BUG-LAPB-58")
def old_busy(patch: Patch) -> None:
    outlives(patch, "peer_busy")


@fault("BUG-LAPB-59")
def old_recovery(patch: Patch) -> None:
    outlives(patch, "polling")


@fault("BUG-LAPB-60")
def old_attempts(patch: Patch) -> None:
    outlives(patch, "attempts")


@fault("BUG-LAPB-61")
def old_packets(patch: Patch) -> None:
    @patch.wrap(Phases, "end_link")
    def end_link(original: Any, phases: Phases) -> None:
        station = phases.lapb
        vars(station)["kept"] = [*station.open, *station.waiting]
        original(phases)

    @patch.wrap(Phases, "begin_transfer")
    def transfer(original: Any, phases: Phases) -> None:
        station = phases.lapb
        original(phases)
        station.waiting.extend(vars(station).pop("kept", ()))
        station.transfer.pump()


@fault("BUG-LAPB-62")
def only_the_oldest(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll_answered")
    def poll_answered(original: Any, recovery: TimerRecovery, n_r: int) -> None:
        station = recovery.lapb
        original(recovery, n_r)
        if station.open:
            station.transfer.emit_information(station.v_a, station.open[0])
            station.v_s = (station.v_a + len(station.open)) % MODULO


@fault("BUG-LAPB-63")
def deaf_in_recovery(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_information")
    def on_information(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if station.polling:
            station.transfer.take_n_r(frame.n_r)
        else:
            original(transfer, frame)


@fault("BUG-LAPB-64")
def no_window_behind_rej(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        vars(transfer.lapb)["behind_rej"] = frame.kind == Control.REJ
        original(transfer, frame)

    @patch.wrap(InformationTransfer, "window_open")
    def window_open(original: Any, transfer: InformationTransfer) -> bool:
        station = transfer.lapb
        wide = vars(station).get("behind_rej", False) and len(station.open) < MODULO - 1
        return wide or original(transfer)


@fault("BUG-LAPB-65")
def hasty_polls(patch: Patch) -> None:
    t1_is(patch, lambda station: 0.5 if station.polling else 1)


@fault("BUG-LAPB-66")
def hasty_rejections(patch: Patch) -> None:
    t1_is(patch, lambda station: 0.5 if station.phase is Phase.REJECT else 1)


@fault("BUG-LAPB-67")
def polls_too_many(patch: Patch) -> None:
    attempts_too_many(patch, Phase.TRANSFER)


@fault("BUG-LAPB-68")
def rejections_too_many(patch: Patch) -> None:
    attempts_too_many(patch, Phase.REJECT)


@fault("BUG-LAPB-69")
def calls_outlive_a_reset(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "link_up")
    def link_up(original: Any, interface: SerialInterface) -> None:
        interface.restarts.restart(RestartCause.NETWORK_OPERATIONAL, Diag.NONE)


@fault("BUG-LAPB-75")
def busy_behind_sabm(patch: Patch) -> None:
    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Any, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        busy = station.peer_busy
        original(phases, p_f)
        station.peer_busy = busy and station.phase is Phase.TRANSFER


@fault("BUG-LAPB-76")
def wider_behind_sabm(patch: Patch) -> None:
    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Any, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        vars(station)["wider"] = station.phase is Phase.TRANSFER
        original(phases, p_f)

    @patch.wrap(InformationTransfer, "window_open")
    def window_open(original: Any, transfer: InformationTransfer) -> bool:
        station = transfer.lapb
        wider = vars(station).get("wider", False) and len(station.open) <= station.parameters.k
        return original(transfer) or (wider and len(station.open) < MODULO - 1)


@fault("BUG-LAPB-77")
def no_t1_behind_rej(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        original(transfer, frame)
        if frame.kind == Control.REJ and not station.polling:
            station.stop("T1")


@fault("BUG-LAPB-78")
def attempts_anew_at_rej(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if frame.kind == Control.REJ and station.polling:
            station.attempts = 0
        original(transfer, frame)


@fault("BUG-LAPB-79")
def packet_of_an_invalid_n_r(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "reject")
    def reject(original: Any, errors: FrameErrors, frame: Frame, reasons: int) -> None:
        if frame.kind == Control.I and reasons == Reason.Z:
            errors.lapb.station.packet_in(frame.information)
        original(errors, frame, reasons)


@fault("BUG-LAPB-80")
def t1_outlives_its_link(patch: Patch) -> None:
    @patch.wrap(Phases, "on_disc")
    def on_disc(original: Any, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        is_open = bool(station.open)
        original(phases, p_f)
        if is_open:
            station.start("T1", station.parameters.t1, station.recovery.emit_poll)


@fault("BUG-LAPB-81")
def the_last_rejection(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "undefined")
    def undefined(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if station.phase is Phase.REJECT:
            station.rejection = rejection(frame, station.v_s, station.v_r, Reason.W)
        original(errors, frame)


@fault("BUG-LAPB-82")
def response_with_information(patch: Patch) -> None:
    @patch.wrap(Lapb, "receive")
    def receive(original: Any, station: Lapb, octets: bytes) -> None:
        of_i = not octets[1] & 1
        original(station, bytes((station.own,)) + octets[1:] if of_i else octets)


@fault("BUG-LAPB-83")
def every_rr_starts_t1(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        original(transfer, frame)
        if frame.kind == Control.RR and station.open and not station.polling:
            station.stop("T1")
            station.transfer.watch_window()


@fault("BUG-LAPB-84")
def a_dte_gives_no_reason(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "reject")
    def reject(original: Any, errors: FrameErrors, frame: Frame, reasons: int) -> None:
        of_dte = errors.lapb.own == ADDRESS_A
        original(errors, frame, reasons & ~Reason.W if of_dte else reasons)


@fault("BUG-LAPB-106")
def calls_outlive_a_link_given_up(patch: Patch) -> None:
    @patch.wrap(Lapb, "t1_expired")
    def t1_expired(original: Any, station: Lapb) -> None:
        vars(station)["in_vain"] = station.phase is Phase.SET_UP
        original(station)
        vars(station)["in_vain"] = False

    @patch.wrap(SerialInterface, "end_calls")
    def end_calls(original: Any, interface: SerialInterface, clear: Clear) -> None:
        if not vars(interface.link.lapb).get("in_vain"):
            original(interface, clear)


def ahead_of_ua(patch: Patch, note: Callable[[Lapb, Frame], None]) -> None:
    """What comes while SABM is not answered is not forgotten."""

    @patch.wrap(FrameErrors, "out_of_phase")
    def out_of_phase(original: Any, errors: FrameErrors, frame: Frame) -> None:
        if errors.lapb.phase is Phase.SET_UP:
            note(errors.lapb, frame)
        original(errors, frame)


@fault("BUG-LAPB-132")
def counted_ahead_of_ua(patch: Patch) -> None:
    def note(station: Lapb, frame: Frame) -> None:
        state = vars(station)
        if frame.kind == Control.I and frame.n_s == state.get("ahead", 0):
            state["ahead"] = frame.n_s + 1

    ahead_of_ua(patch, note)

    @patch.wrap(Phases, "begin_transfer")
    def begin_transfer(original: Any, phases: Phases) -> None:
        original(phases)
        phases.lapb.v_r = vars(phases.lapb).pop("ahead", 0)


@fault("BUG-LAPB-133")
def busy_ahead_of_ua(patch: Patch) -> None:
    def note(station: Lapb, frame: Frame) -> None:
        if frame.kind == Control.RNR:
            vars(station)["busy"] = True

    ahead_of_ua(patch, note)

    @patch.wrap(Phases, "begin_transfer")
    def begin_transfer(original: Any, phases: Phases) -> None:
        station = phases.lapb
        # What the link begins with is not stopped by it.
        original(phases)
        station.peer_busy = vars(station).pop("busy", False)


@fault("BUG-LAPB-134")
def answer_behind_ua(patch: Patch) -> None:
    def note(station: Lapb, frame: Frame) -> None:
        if frame.command and frame.p_f:
            vars(station)["asked"] = True

    ahead_of_ua(patch, note)

    @patch.wrap(Phases, "begin_transfer")
    def begin_transfer(original: Any, phases: Phases) -> None:
        original(phases)
        if vars(phases.lapb).pop("asked", False):
            phases.lapb.acknowledging.answer_poll()


@fault("BUG-LAPB-135")
def i_frames_ahead_of_ua(patch: Patch) -> None:
    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Any, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        if station.phase is Phase.DISCONNECTED:
            phases.begin_transfer()
            station.respond(Control.UA, p_f)
        else:
            original(phases, p_f)


@fault("BUG-LAPB-136")
def four_times_t1(patch: Patch) -> None:
    t1_is(patch, lambda station: 4 if station.phase is Phase.TRANSFER else 1)


@fault("BUG-LAPB-137")
def four_times_t1_of_sabm(patch: Patch) -> None:
    t1_is(patch, lambda station: 4 if station.phase is Phase.SET_UP else 1)


@fault("BUG-LAPB-138")
def busy_behind_own_reset(patch: Patch) -> None:
    @patch.wrap(Phases, "set_up")
    def set_up(original: Any, phases: Phases) -> None:
        vars(phases.lapb)["was_busy"] = phases.lapb.peer_busy
        original(phases)

    @patch.wrap(Phases, "on_ua")
    def on_ua(original: Any, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        sets_up = station.phase is Phase.SET_UP
        original(phases, p_f)
        if sets_up and station.phase is Phase.TRANSFER:
            station.peer_busy = vars(station).pop("was_busy", False)
