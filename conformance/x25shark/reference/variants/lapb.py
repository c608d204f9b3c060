# SPDX-License-Identifier: GPL-2.0-or-later
"""What a LAPB station may do in another way (X.25 2.4; ISO/IEC 7776).

What a variant keeps of a station it keeps in the station's own namespace, as a link begins anew
with each SABM.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .. import lapb_frames as frames
from ..lapb import Lapb
from ..lapb_acknowledging import Acknowledging
from ..lapb_errors import FrameErrors
from ..lapb_frames import Control, Frame, Reason
from ..lapb_phases import Phases
from ..lapb_recovery import TimerRecovery
from ..lapb_station import Parameters, Phase
from ..lapb_transfer import InformationTransfer
from ..link import SerialLink
from ..serial import SerialInterface
from ..tables import R
from .registry import Original, Patch, variant

BUSY_SECONDS = 0.02
BUSY_EVERY = 8
FRMR_OCTETS = 3


def kept(station: Lapb) -> dict[str, Any]:
    """What a variant keeps of this station."""
    found: dict[str, Any] = vars(station).setdefault("variant", {})
    return found


def forget_with_the_link(patch: Patch) -> None:
    """kept() is empty when a link begins."""

    @patch.wrap(Lapb, "forget")
    def forget(original: Original, station: Lapb) -> None:
        original(station)
        kept(station).clear()


# -- acknowledgements


@variant("MAY-LAPB-01")
def rr_for_every_i_frame(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "in_sequence")
    def in_sequence(original: Original, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if not frame.p_f:
            station.v_r = (station.v_r + 1) % 8
            station.acknowledging.acknowledge_with(Control.RR, False)
            station.v_r = (station.v_r - 1) % 8
        original(transfer, frame)


@variant("MAY-LAPB-02", number=0.2)
def late_rr(patch: Patch) -> None:
    @patch.wrap(Lapb, "flush")
    def flush(original: Original, station: Lapb) -> None:
        if station.owed >= station.parameters.k:
            original(station)
        elif station.owed and "T2" not in station.running:
            station.start("T2", patch.number, station.acknowledging.acknowledge_now)


@variant("MAY-LAPB-03")
def rr_commands(patch: Patch) -> None:
    @patch.wrap(Acknowledging, "acknowledge_with")
    def acknowledge_with(
        original: Original, acknowledging: Acknowledging, kind: int, f: bool
    ) -> None:
        station = acknowledging.lapb
        if f or kind != Control.RR:
            original(acknowledging, kind, f)
            return
        station.acknowledging.acknowledged()
        station.station.frame_out(frames.supervisory(station.other, kind, station.v_r, False))


@variant("MAY-LAPB-04")
def rr_twice(patch: Patch) -> None:
    @patch.wrap(Acknowledging, "acknowledge_now")
    def acknowledge_now(original: Original, acknowledging: Acknowledging) -> None:
        station = acknowledging.lapb
        owed = station.owed
        original(acknowledging)
        if owed and station.phase is Phase.TRANSFER:
            station.acknowledging.acknowledge_with(Control.RR, False)


# -- polls


@variant("MAY-LAPB-05")
def polls_for_acknowledgements(patch: Patch) -> None:
    forget_with_the_link(patch)

    @patch.wrap(InformationTransfer, "emit_information")
    def emit_information(
        original: Original, transfer: InformationTransfer, n_s: int, packet: bytes
    ) -> None:
        station = transfer.lapb
        original(transfer, n_s, packet)
        if not kept(station).get("asked") and not station.polling:
            kept(station)["asked"] = True
            station.station.frame_out(
                frames.supervisory(station.other, Control.RR, station.v_r, True)
            )

    end_with_the_answer(patch)


def end_with_the_answer(patch: Patch) -> None:
    """A further command with P=1 waits for the answer to the last one (X.25 2.4.3)."""

    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Original, transfer: InformationTransfer, frame: Frame) -> None:
        if frame.p_f and not frame.command:
            kept(transfer.lapb)["asked"] = False
        original(transfer, frame)


@variant("MAY-LAPB-06")
def i_frames_that_poll(patch: Patch) -> None:
    forget_with_the_link(patch)

    @patch.wrap(InformationTransfer, "emit_information")
    def emit_information(
        original: Original, transfer: InformationTransfer, n_s: int, packet: bytes
    ) -> None:
        station = transfer.lapb
        if kept(station).get("asked") or station.polling:
            original(transfer, n_s, packet)
        else:
            kept(station)["asked"] = True
            send_with_p(station, n_s, packet)

    end_with_the_answer(patch)


def send_with_p(station: Lapb, n_s: int, packet: bytes) -> None:
    """An I frame with P=1."""
    station.acknowledging.acknowledged()
    octets = bytearray(frames.information(station.other, n_s, station.v_r, packet))
    octets[1] |= frames.P_F
    station.station.frame_out(bytes(octets))


@variant("MAY-LAPB-07")
def polls_by_the_oldest_i_frame(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "emit_poll")
    def emit_poll(original: Original, recovery: TimerRecovery) -> None:
        station = recovery.lapb
        if station.open and not station.peer_busy:
            send_with_p(station, station.v_a, station.open[0])
        else:
            original(recovery)


@variant("MAY-LAPB-08")
def the_frame_is_the_first_attempt(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll")
    def poll(original: Original, recovery: TimerRecovery) -> None:
        station = recovery.lapb
        if station.attempts == 0 and station.open:
            station.attempts = 1
        original(recovery)


@variant("MAY-LAPB-09")
def given_up_after_n2(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll")
    def poll(original: Original, recovery: TimerRecovery) -> None:
        station = recovery.lapb
        if station.attempts < station.parameters.n2:
            original(recovery)
        else:
            asks_for_a_set_up(station)


@variant("MAY-LAPB-10", number=1.2)
def polls_an_idle_link(patch: Patch) -> None:
    """T4 of X.25 2.4.8.7, above T1; the number is how far."""

    @patch.wrap(Lapb, "idle")
    def idle(_original: Original, station: Lapb) -> None:
        station.start("T3", patch.number * station.parameters.t1, station.recovery.t3_expired)


# -- gaps


@variant("MAY-LAPB-11")
def rej_answers_polls(patch: Patch) -> None:
    @patch.wrap(Acknowledging, "answer_poll")
    def answer_poll(original: Original, acknowledging: Acknowledging) -> None:
        station = acknowledging.lapb
        if station.rejecting:
            station.acknowledging.acknowledge_with(Control.REJ, True)
        else:
            original(acknowledging)


def as_command(patch: Patch, *, poll: bool) -> None:
    """REJ that answers no command is one itself."""

    @patch.wrap(Acknowledging, "acknowledge_with")
    def acknowledge_with(
        original: Original, acknowledging: Acknowledging, kind: int, f: bool
    ) -> None:
        station = acknowledging.lapb
        if kind != Control.REJ or f:
            original(acknowledging, kind, f)
            return
        station.acknowledging.acknowledged()
        station.station.frame_out(frames.supervisory(station.other, kind, station.v_r, poll))


@variant("MAY-LAPB-12")
def rej_commands(patch: Patch) -> None:
    as_command(patch, poll=False)


@variant("MAY-LAPB-13")
def rej_that_polls(patch: Patch) -> None:
    as_command(patch, poll=True)


@variant("MAY-LAPB-14")
def rej_again_after_t1(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "out_of_sequence")
    def out_of_sequence(original: Original, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        original(transfer, frame)

        def again() -> None:
            if station.rejecting and station.phase is Phase.TRANSFER:
                station.acknowledging.acknowledge_with(Control.REJ, False)

        station.start("REJ", station.parameters.t1, again)


# -- windows, busy conditions


@variant("MAY-LAPB-15", number=1)
def smaller_window(patch: Patch) -> None:
    patch.replace(
        InformationTransfer,
        "window_open",
        lambda transfer: len(transfer.lapb.open) < round(patch.number),
    )


@variant("MAY-LAPB-16")
def busy_for_a_moment(patch: Patch) -> None:
    """RNR in place of RR, and RR soon after: nothing is dropped meanwhile."""

    @patch.wrap(Acknowledging, "acknowledge_now")
    def acknowledge_now(original: Original, acknowledging: Acknowledging) -> None:
        station = acknowledging.lapb
        if station.phase is Phase.TRANSFER and station.owed:
            station.acknowledging.acknowledge_with(Control.RNR, False)
            station.start("busy", BUSY_SECONDS, lambda: ready_again(station, Control.RR))


def ready_again(station: Lapb, kind: int) -> None:
    """The end of a busy condition: RR, or REJ if frames were dropped (X.25 2.4.5.8)."""
    kept(station)["busy"] = False
    if station.phase is Phase.TRANSFER:
        station.rejecting = kind == Control.REJ
        station.acknowledging.acknowledge_with(kind, False)


@variant("MAY-LAPB-17", number=BUSY_EVERY)
def busy_and_dropping(patch: Patch) -> None:
    """Behind every so many I frames RNR; what comes until the end of it is asked for by REJ."""
    forget_with_the_link(patch)

    @patch.wrap(InformationTransfer, "in_sequence")
    def in_sequence(original: Original, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        state = kept(station)
        if state.get("busy"):
            drop(station, frame)
            return
        original(transfer, frame)
        state["count"] = state.get("count", 0) + 1
        if state["count"] % round(patch.number) == 0 and station.phase is Phase.TRANSFER:
            state["busy"], state["dropped"] = True, False
            station.acknowledging.acknowledge_with(Control.RNR, False)
            station.start("busy", BUSY_SECONDS, lambda: end(station))

    def drop(station: Lapb, frame: Frame) -> None:
        kept(station)["dropped"] = True
        if frame.p_f:
            station.acknowledging.answer_poll()

    def end(station: Lapb) -> None:
        ready_again(station, Control.REJ if kept(station).get("dropped") else Control.RR)

    @patch.wrap(InformationTransfer, "out_of_sequence")
    def out_of_sequence(original: Original, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if kept(station).get("busy"):
            drop(station, frame)
        else:
            original(transfer, frame)

    @patch.wrap(Acknowledging, "acknowledge_with")
    def acknowledge_with(
        original: Original, acknowledging: Acknowledging, kind: int, f: bool
    ) -> None:
        busy = kept(acknowledging.lapb).get("busy") and kind == Control.RR
        original(acknowledging, Control.RNR if busy else kind, f)


@variant("MAY-LAPB-18")
def one_i_frame_to_a_busy_peer(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Original, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if station.peer_busy and frame.kind != Control.RNR and not station.polling:
            # What the busy station did not take goes out again.
            station.v_s = frame.n_r
        original(transfer, frame)

    @patch.wrap(InformationTransfer, "pump")
    def pump(original: Original, transfer: InformationTransfer) -> None:
        station = transfer.lapb
        original(transfer)
        may = station.phase is Phase.TRANSFER and station.peer_busy and not station.polling
        if may and station.waiting and not station.open:
            station.open.append(station.waiting.popleft())
            station.transfer.emit_information(station.v_s, station.open[0])
            station.v_s = (station.v_s + 1) % 8


@variant("MAY-LAPB-70")
def asks_before_it_sends_again(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Original, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if station.peer_busy and frame.kind == Control.RR and not (station.polling and frame.p_f):
            # T1 runs for what is open, and its poll begins timer recovery.
            station.v_s = (station.v_a + len(station.open)) % 8
        original(transfer, frame)


# -- set-up, reset, disconnection


@variant("MAY-LAPB-19", number=0.01)
def asks_again_at_once(patch: Patch) -> None:
    @patch.wrap(Phases, "end_link")
    def end_link(original: Original, phases: Phases) -> None:
        station = phases.lapb
        original(phases)
        if station.parameters.initiate and station.line:
            station.start("retry", patch.number, station.phases.set_up)


@variant("MAY-LAPB-20")
def dm_asks_for_a_link(patch: Patch) -> None:
    @patch.wrap(Phases, "on_disc")
    def on_disc(original: Original, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        ends = station.phase is Phase.TRANSFER
        original(phases, p_f)
        if ends:
            station.respond(Control.DM, False)


@variant("MAY-LAPB-21", number=0.001)
def everyone_starts_the_link(patch: Patch) -> None:
    @patch.wrap(Lapb, "line_up")
    def line_up(original: Original, station: Lapb) -> None:
        original(station)
        if station.phase is Phase.DISCONNECTED:
            station.phases.set_up()

    @patch.wrap(Phases, "end_link")
    def end_link(original: Original, phases: Phases) -> None:
        station = phases.lapb

        def retry() -> None:
            if station.phase is Phase.DISCONNECTED:
                phases.set_up()

        original(phases)
        if station.line and "retry" not in station.running:
            station.start("retry", patch.number, retry)


@variant("MAY-LAPB-22")
def goes_on_after_a_reset(patch: Patch) -> None:
    """The I frames that were open go out again, so that the packet layer need not know."""

    def keep(station: Lapb) -> None:
        if station.phase in (Phase.TRANSFER, Phase.REJECT):
            vars(station)["again"] = [*station.open, *station.waiting]

    @patch.wrap(Phases, "set_up")
    def set_up(original: Original, phases: Phases) -> None:
        keep(phases.lapb)
        original(phases)

    @patch.wrap(Phases, "end_link")
    def end_link(original: Original, phases: Phases) -> None:
        vars(phases.lapb).pop("again", None)
        original(phases)

    @patch.wrap(Phases, "begin_transfer")
    def transfer(original: Original, phases: Phases) -> None:
        station = phases.lapb
        keep(station)
        again = vars(station).pop("again", [])
        original(phases)
        station.waiting.extendleft(reversed(again))
        station.transfer.pump()

    @patch.wrap(SerialInterface, "link_up")
    def link_up(original: Original, interface: SerialInterface) -> None:
        if interface.r is not R.READY:
            original(interface)


@variant("MAY-LAPB-23")
def reset_for_an_undefined_frame(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "undefined")
    def undefined(original: Original, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if station.phase is Phase.TRANSFER:
            station.phases.set_up()
        else:
            original(errors, frame)


@variant("MAY-LAPB-60")
def waits_in_frame_reject(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "reject")
    def reject(original: Original, errors: FrameErrors, frame: Frame, reasons: int) -> None:
        original(errors, frame, reasons)
        errors.lapb.stop("T1")


@variant("MAY-LAPB-61")
def a_dte_resets(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "reject")
    def reject(original: Original, errors: FrameErrors, frame: Frame, reasons: int) -> None:
        station = errors.lapb
        if station.own == frames.ADDRESS_A:
            station.phases.set_up()
        else:
            original(errors, frame, reasons)


@variant("MAY-LAPB-24")
def giants_rejected(patch: Patch) -> None:
    @patch.wrap(SerialLink, "bad")
    def bad(original: Original, link: SerialLink, counter: str, octets: bytes) -> None:
        link.reject_giants = True
        original(link, counter, octets)


def at_an_unsolicited_ua(patch: Patch, react: Callable[[Lapb], None]) -> None:
    """React so to a UA that is due for no SABM, while there is a link."""

    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Original, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        # A collision: its UA is still to come (X.25 2.4.4.5.1).
        awaited = station.phase is Phase.SET_UP
        original(phases, p_f)
        kept(station)["UA"] = awaited

    @patch.wrap(Phases, "on_ua")
    def on_ua(original: Original, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        awaited = kept(station).pop("UA", False)
        if station.phase is Phase.TRANSFER and not awaited:
            react(station)
        else:
            original(phases, p_f)


@variant("MAY-LAPB-25")
def unsolicited_ua_resets(patch: Patch) -> None:
    at_an_unsolicited_ua(patch, lambda station: station.phases.set_up())


@variant("MAY-LAPB-62")
def unsolicited_ua_asks_for_a_set_up(patch: Patch) -> None:
    at_an_unsolicited_ua(patch, asks_for_a_set_up)


@variant("MAY-LAPB-26")
def dm_disconnects(patch: Patch) -> None:
    @patch.wrap(Phases, "on_dm")
    def on_dm(original: Original, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        if station.phase is Phase.TRANSFER:
            station.phases.end_link()
        else:
            original(phases, p_f)


@variant("MAY-LAPB-27", number=0.1)
def late_answers(patch: Patch) -> None:
    """T1 of the other station has room for that."""

    @patch.wrap(SerialLink, "frame_out")
    def frame_out(original: Original, link: SerialLink, octets: bytes) -> None:
        link.interface.router.timers.start(patch.number, lambda: original(link, octets))


@variant("MAY-LAPB-28")
def a_busy_peer_is_polled_at_once(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Original, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        was_busy = station.peer_busy
        original(transfer, frame)
        if station.peer_busy and not was_busy and not station.polling:
            station.recovery.poll()


@variant("MAY-LAPB-29")
def one_frame_at_a_time_again(patch: Patch) -> None:
    """Until all that was open is acknowledged."""

    def careful(station: Lapb) -> bool:
        """Whether frames are being repeated."""
        state = vars(station)
        state["careful"] = bool(state.get("careful") and station.open)
        return bool(state["careful"])

    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Original, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        answered = station.polling and frame.p_f and not frame.command
        if answered or frame.kind == Control.REJ:
            vars(station)["careful"] = True
        original(transfer, frame)

    @patch.wrap(InformationTransfer, "may_send")
    def may_send(original: Original, transfer: InformationTransfer) -> bool:
        station = transfer.lapb
        under_way = careful(station) and station.v_s != station.v_a
        return bool(original(transfer)) and not under_way

    @patch.wrap(Lapb, "forget")
    def forget(original: Original, station: Lapb) -> None:
        original(station)
        vars(station)["careful"] = False


@variant("MAY-LAPB-30")
def ua_without_a_link(patch: Patch) -> None:
    @patch.wrap(Phases, "on_disc")
    def on_disc(original: Original, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        if station.phase is not Phase.DISCONNECTED:
            original(phases, p_f)
            return
        station.respond(Control.UA, p_f)
        station.phases.end_link()


@variant("MAY-LAPB-31")
def every_command_is_answered(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Original, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        original(transfer, frame)
        if frame.command and not frame.p_f and station.phase is Phase.TRANSFER:
            station.acknowledging.acknowledge_with(Control.RR, False)


@variant("MAY-LAPB-32", number=5)
def long_t1(patch: Patch) -> None:
    @patch.wrap(Lapb, "__init__")
    def init(original: Original, station: Lapb, parameters: Parameters, *more: Any) -> None:
        original(station, replace(parameters, t1=patch.number), *more)


@variant("MAY-LAPB-33")
def disc_ahead_of_a_set_up(patch: Patch) -> None:
    @patch.wrap(Phases, "set_up")
    def set_up(original: Original, phases: Phases) -> None:
        station = phases.lapb
        if station.phase is not Phase.DISCONNECTED:
            original(phases)
            return
        station.stop_timers()
        station.enter(Phase.DISCONNECT)
        vars(station)["sets_up"] = station.attempts = 1
        station.command(Control.DISC)
        station.start("T1", station.parameters.t1, station.t1_expired)

    @patch.wrap(Phases, "end_link")
    def end_link(original: Original, phases: Phases) -> None:
        station = phases.lapb
        sets_up = vars(station).pop("sets_up", 0) and station.phase is Phase.DISCONNECT
        original(phases)
        if sets_up and station.line:
            station.phase = Phase.SET_UP
            station.phases.set_up()


@variant("MAY-LAPB-64")
def disc_ahead_of_a_reset(patch: Patch) -> None:
    @patch.wrap(Phases, "set_up")
    def set_up(original: Original, phases: Phases) -> None:
        station = phases.lapb
        if station.phase not in (Phase.TRANSFER, Phase.REJECT):
            original(phases)
            return
        station.phases.disconnect()
        vars(station)["set_up_again"] = True

    @patch.wrap(Phases, "end_link")
    def end_link(original: Original, phases: Phases) -> None:
        station = phases.lapb
        again = vars(station).pop("set_up_again", False) and station.phase is Phase.DISCONNECT
        original(phases)
        if again and station.line:
            station.phases.set_up()


def refuses_until_ready(patch: Patch) -> None:
    """DM is the answer to SABM until the moment in "ready_at" (monotonic, seconds)."""

    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Original, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        early = time.monotonic() < vars(station).get("ready_at", 0.0)
        if early and station.phase is Phase.DISCONNECTED:
            station.respond(Control.DM, p_f)
        else:
            original(phases, p_f)


@variant("MAY-LAPB-34", number=0.5)
def not_ready_at_first(patch: Patch) -> None:
    @patch.wrap(Lapb, "line_up")
    def line_up(original: Original, station: Lapb) -> None:
        original(station)
        vars(station)["ready_at"] = time.monotonic() + patch.number

    refuses_until_ready(patch)


@variant("MAY-LAPB-63", number=0.5)
def not_ready_behind_a_link(patch: Patch) -> None:
    @patch.wrap(Phases, "end_link")
    def end_link(original: Original, phases: Phases) -> None:
        station = phases.lapb
        if station.phase is Phase.TRANSFER:
            vars(station)["ready_at"] = time.monotonic() + patch.number
        original(phases)

    refuses_until_ready(patch)


@variant("MAY-LAPB-35")
def giants_reset_the_link(patch: Patch) -> None:
    giants_rejected(patch)

    @patch.wrap(FrameErrors, "too_long")
    def too_long(original: Original, errors: FrameErrors, octets: bytes) -> None:
        station = errors.lapb
        if station.phase is Phase.TRANSFER:
            station.phases.set_up()


@variant("MAY-LAPB-36", number=1)
def busy_behind_each(patch: Patch) -> None:
    busy_and_dropping(patch)


@variant("MAY-LAPB-37")
def waits_for_the_answer_to_its_own(patch: Patch) -> None:
    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Original, phases: Phases, p_f: bool) -> None:
        if phases.lapb.phase is Phase.SET_UP:
            phases.lapb.respond(Control.UA, p_f)
        else:
            original(phases, p_f)


@variant("MAY-LAPB-38")
def starts_once(patch: Patch) -> None:
    @patch.wrap(Phases, "on_disc")
    def on_disc(original: Original, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        usual = station.parameters
        station.parameters = replace(usual, initiate=False)
        original(phases, p_f)
        station.parameters = usual

    @patch.wrap(Phases, "on_dm")
    def on_dm(original: Original, phases: Phases, p_f: bool) -> None:
        if phases.lapb.phase is not Phase.DISCONNECTED:
            original(phases, p_f)


@variant("MAY-LAPB-39")
def polls_a_new_link(patch: Patch) -> None:
    @patch.wrap(Phases, "begin_transfer")
    def begin_transfer(original: Original, phases: Phases) -> None:
        original(phases)
        phases.lapb.recovery.poll()


@variant("MAY-LAPB-65")
def unsolicited_f_1_resets(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Original, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if frame.p_f and not frame.command and not station.polling:
            station.phases.set_up()
        else:
            original(transfer, frame)


def asks_for_a_set_up(station: Lapb) -> None:
    """DM F=0, and no link."""
    station.respond(Control.DM, False)
    station.phases.end_link()


@variant("MAY-LAPB-71")
def asks_behind_frmr_and_dm(patch: Patch) -> None:
    @patch.wrap(Phases, "on_frmr")
    def on_frmr(original: Original, phases: Phases, field: bytes) -> None:
        if phases.lapb.phase in (Phase.TRANSFER, Phase.REJECT):
            asks_for_a_set_up(phases.lapb)
        else:
            original(phases, field)

    @patch.wrap(Phases, "on_dm")
    def on_dm(original: Original, phases: Phases, p_f: bool) -> None:
        if phases.lapb.phase in (Phase.TRANSFER, Phase.REJECT):
            asks_for_a_set_up(phases.lapb)
        else:
            original(phases, p_f)


@variant("MAY-LAPB-72")
def gives_up_again_and_again(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll")
    def poll(original: Original, recovery: TimerRecovery) -> None:
        station = recovery.lapb
        if station.attempts < station.parameters.n2:
            original(recovery)
            return
        asks_for_a_set_up(station)
        said = 1

        def again() -> None:
            nonlocal said
            if said < station.parameters.n2 and station.phase is Phase.DISCONNECTED:
                said += 1
                station.respond(Control.DM, False)
                station.start("retry", station.parameters.t1, again)

        station.start("retry", station.parameters.t1, again)


@variant("MAY-LAPB-73")
def giants_end_the_link(patch: Patch) -> None:
    giants_rejected(patch)

    @patch.wrap(FrameErrors, "too_long")
    def too_long(original: Original, errors: FrameErrors, octets: bytes) -> None:
        if errors.lapb.phase is Phase.TRANSFER:
            asks_for_a_set_up(errors.lapb)


@variant("MAY-LAPB-74")
def rejects_frmr_of_another_length(patch: Patch) -> None:
    @patch.wrap(Lapb, "on_unnumbered")
    def on_unnumbered(original: Original, station: Lapb, frame: Frame) -> None:
        wrong = frame.kind == Control.FRMR and len(frame.information) != FRMR_OCTETS
        if wrong and station.phase is Phase.TRANSFER:
            station.errors.reject(frame, Reason.W | Reason.X)
        else:
            original(station, frame)


@variant("MAY-LAPB-75")
def polls_when_the_window_shuts(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "emit_information")
    def emit_information(
        original: Original, transfer: InformationTransfer, n_s: int, packet: bytes
    ) -> None:
        station = transfer.lapb
        is_last = len(station.open) == station.parameters.k and packet is station.open[-1]
        if is_last and not station.polling:
            station.polling = True
            send_with_p(station, n_s, packet)
        else:
            original(transfer, n_s, packet)


@variant("MAY-LAPB-76")
def polls_by_the_last_that_it_has(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "emit_information")
    def emit_information(
        original: Original, transfer: InformationTransfer, n_s: int, packet: bytes
    ) -> None:
        station = transfer.lapb
        is_last = not station.waiting and packet is station.open[-1]
        if is_last and not station.polling:
            station.polling = True
            send_with_p(station, n_s, packet)
        else:
            original(transfer, n_s, packet)
