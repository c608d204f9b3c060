# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the LAPB station."""

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
from ..serial import SerialInterface
from ..tables import R
from .registry import Patch, fault


def ahead(station: Lapb, frame: Frame) -> int:
    """How far N(S) is ahead of the one expected; frames sent again are 4 or more."""
    return (frame.n_s - station.v_r) % MODULO


@fault("BUG-LAPB-01")
def f_bit_1(patch: Patch) -> None:
    @patch.wrap(Lapb, "respond")
    def respond(original: Any, station: Lapb, kind: int, f: bool, field: bytes = b"") -> None:
        original(station, kind, True, field)

    @patch.wrap(Acknowledging, "acknowledge_with")
    def acknowledge_with(original: Any, acknowledging: Acknowledging, kind: int, f: bool) -> None:
        original(acknowledging, kind, True)


@fault("BUG-LAPB-02")
def ua_without_f(patch: Patch) -> None:
    @patch.wrap(Phases, "on_ua")
    def on_ua(original: Any, phases: Phases, p_f: bool) -> None:
        original(phases, True)


@fault("BUG-LAPB-03")
def collision_loop(patch: Patch) -> None:
    @patch.wrap(Phases, "on_sabm")
    def on_sabm(original: Any, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        if station.phase is Phase.SET_UP:
            station.phases.set_up()
        else:
            original(phases, p_f)


@fault("BUG-LAPB-04")
def old_numbers(patch: Patch) -> None:
    @patch.wrap(Lapb, "forget")
    def forget(original: Any, station: Lapb) -> None:
        kept = (station.v_s, station.v_r) if "v_s" in vars(station) else (0, 0)
        original(station)
        station.v_s, station.v_r = kept
        station.v_a = station.v_s


@fault("BUG-LAPB-05")
def silent(patch: Patch) -> None:
    @patch.wrap(Lapb, "respond")
    def respond(original: Any, station: Lapb, kind: int, f: bool, field: bytes = b"") -> None:
        if station.phase is not Phase.DISCONNECTED or kind != Control.DM:
            original(station, kind, f, field)


@fault("BUG-LAPB-06")
def hasty(patch: Patch) -> None:
    @patch.wrap(Lapb, "start")
    def start(original: Any, station: Lapb, name: str, seconds: float, expired: Any) -> None:
        if name == "T1" and station.phase is Phase.SET_UP:
            station.attempts, seconds = 0, 0.05
        original(station, name, seconds, expired)


@fault("BUG-LAPB-07")
def sabme_accepted(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "undefined")
    def undefined(original: Any, errors: FrameErrors, frame: Frame) -> None:
        if frame.kind == Control.SABME and frame.command:
            errors.lapb.phases.on_sabm(frame.p_f)
        else:
            original(errors, frame)


@fault("BUG-LAPB-08")
def no_window(patch: Patch) -> None:
    patch.replace(
        InformationTransfer, "window_open", lambda transfer: len(transfer.lapb.open) < MODULO - 1
    )


@fault("BUG-LAPB-09")
def late_answer(patch: Patch) -> None:
    def answer_poll(acknowledging: Acknowledging) -> None:
        station = acknowledging.lapb

        def late() -> None:
            acknowledging.acknowledge_with(Control.RR, True)

        station.start("T2", station.parameters.t2 or 1.0, late)

    patch.replace(Acknowledging, "answer_poll", answer_poll)


@fault("BUG-LAPB-10")
def duplicates(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "out_of_sequence")
    def out_of_sequence(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        original(transfer, frame)
        if ahead(station, frame) >= 4:
            station.station.packet_in(frame.information)


@fault("BUG-LAPB-11")
def over_the_gap(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "out_of_sequence")
    def out_of_sequence(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if ahead(station, frame) < 4:
            station.v_r = frame.n_s
            station.transfer.in_sequence(frame)
        else:
            original(transfer, frame)


@fault("BUG-LAPB-12")
def many_rejects(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "out_of_sequence")
    def out_of_sequence(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        transfer.lapb.rejecting = False
        original(transfer, frame)


@fault("BUG-LAPB-13")
def rejecting_for_ever(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "in_sequence")
    def in_sequence(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        kept = station.rejecting
        original(transfer, frame)
        station.rejecting = kept


@fault("BUG-LAPB-89")
def rejecting_behind_a_poll(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "in_sequence")
    def in_sequence(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        kept = transfer.lapb.rejecting and frame.p_f
        original(transfer, frame)
        transfer.lapb.rejecting = kept


@fault("BUG-LAPB-14")
def only_the_first(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if frame.kind == Control.REJ:
            again = (station.v_a + len(station.open) - frame.n_r) % MODULO
            vars(station)["left_out"] = [(frame.n_r + n) % MODULO for n in range(1, again)]
        original(transfer, frame)
        vars(station)["left_out"] = []

    @patch.wrap(InformationTransfer, "emit_information")
    def emit_information(
        original: Any, transfer: InformationTransfer, n_s: int, packet: bytes
    ) -> None:
        if n_s not in vars(transfer.lapb).get("left_out", ()):
            original(transfer, n_s, packet)


@fault("BUG-LAPB-15")
def new_numbers(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "emit_information")
    def emit_information(
        original: Any, transfer: InformationTransfer, n_s: int, packet: bytes
    ) -> None:
        station = transfer.lapb
        newest = (station.v_a + len(station.open) - 1) % MODULO
        key = vars(station).setdefault("sent", {})
        again = key.get(n_s) is packet
        key[n_s] = packet
        original(transfer, (newest + 1) % MODULO if again else n_s, packet)


@fault("BUG-LAPB-16")
def no_recovery(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll")
    def poll(original: Any, recovery: TimerRecovery) -> None:
        """Nothing is asked, and nothing sent again."""


@fault("BUG-LAPB-17")
def n_r_ignored(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_information")
    def on_information(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if frame.n_s != station.v_r:
            frame = frame._replace(n_r=station.v_a)
        original(transfer, frame)


@fault("BUG-LAPB-18")
def busy_ignored(patch: Patch) -> None:
    def may_send(transfer: InformationTransfer) -> bool:
        station = transfer.lapb
        return station.phase is Phase.TRANSFER and not station.polling

    patch.replace(InformationTransfer, "may_send", may_send)


@fault("BUG-LAPB-19")
def busy_not_polled(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll")
    def poll(original: Any, recovery: TimerRecovery) -> None:
        if not recovery.lapb.peer_busy:
            original(recovery)


@fault("BUG-LAPB-20")
def any_n_r(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_numbered")
    def on_numbered(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if not station.transfer.n_r_is_valid(frame.n_r):
            frame = frame._replace(n_r=station.v_a)
        original(transfer, frame)


@fault("BUG-LAPB-21")
def exchanged(patch: Patch) -> None:
    @patch.wrap(lapb_frames, "rejection")
    def rejection(original: Any, frame: Frame, v_s: int, v_r: int, reasons: int) -> bytes:
        field: bytes = original(frame, v_r, v_s, reasons)
        return field


@fault("BUG-LAPB-22")
def up_in_reject(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "out_of_phase")
    def out_of_phase(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if station.phase is Phase.REJECT and frame.command and frame.kind == Control.I:
            station.station.packet_in(frame.information)
        original(errors, frame)


@fault("BUG-LAPB-23")
def frmr_ignored(patch: Patch) -> None:
    patch.replace(Phases, "on_frmr", lambda phases, field: None)


@fault("BUG-LAPB-24")
def silent_reset(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "link_up")
    def link_up(original: Any, interface: SerialInterface) -> None:
        if interface.r is not R.READY:
            original(interface)


@fault("BUG-LAPB-25")
def polls_counted(patch: Patch) -> None:
    @patch.wrap(TimerRecovery, "poll_answered")
    def poll_answered(original: Any, recovery: TimerRecovery, n_r: int) -> None:
        station = recovery.lapb
        attempts = station.attempts
        original(recovery, n_r)
        if station.peer_busy:
            station.attempts = attempts


@fault("BUG-LAPB-26")
def sabm_without_p(patch: Patch) -> None:
    @patch.wrap(Lapb, "command")
    def command(original: Any, station: Lapb, kind: int) -> None:
        if kind == Control.SABM:
            station.station.frame_out(lapb_frames.unnumbered(station.other, kind, False))
        else:
            original(station, kind)


@fault("BUG-LAPB-27")
def refusal_ignored(patch: Patch) -> None:
    @patch.wrap(Phases, "on_dm")
    def on_dm(original: Any, phases: Phases, p_f: bool) -> None:
        if phases.lapb.phase is not Phase.SET_UP:
            original(phases, p_f)


@fault("BUG-LAPB-28")
def collision_answered(patch: Patch) -> None:
    @patch.wrap(Phases, "on_disc")
    def on_disc(original: Any, phases: Phases, p_f: bool) -> None:
        station = phases.lapb
        if station.phase is Phase.SET_UP:
            station.respond(Control.UA, p_f)
            station.phases.end_link()
        else:
            original(phases, p_f)


@fault("BUG-LAPB-29")
def calls_stay(patch: Patch) -> None:
    def link_down(interface: SerialInterface) -> None:
        interface.r = R.DOWN
        interface.restarts.stop_timer()

    patch.replace(SerialInterface, "link_down", link_down)


@fault("BUG-LAPB-30")
def information_in_ua(patch: Patch) -> None:
    @patch.wrap(Lapb, "respond")
    def respond(original: Any, station: Lapb, kind: int, f: bool, field: bytes = b"") -> None:
        original(station, kind, f, b"\0" if kind == Control.UA else field)


@fault("BUG-LAPB-31")
def dm_as_command(patch: Patch) -> None:
    @patch.wrap(lapb_frames, "unnumbered")
    def unnumbered(original: Any, address: int, kind: int, p_f: bool, field: bytes = b"") -> bytes:
        octets: bytes = original(address, kind, p_f, field)
        return bytes((octets[0] ^ 2,)) + octets[1:] if kind == Control.DM else octets


@fault("BUG-LAPB-32")
def final_in_rr(patch: Patch) -> None:
    @patch.wrap(Acknowledging, "acknowledge_with")
    def acknowledge_with(original: Any, acknowledging: Acknowledging, kind: int, f: bool) -> None:
        original(acknowledging, kind, f or kind == Control.RR)


@fault("BUG-LAPB-33")
def any_response_ends_recovery(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        if transfer.lapb.polling and not frame.command:
            frame = frame._replace(p_f=True)
        original(transfer, frame)


@fault("BUG-LAPB-34")
def last_of_the_gap(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "out_of_sequence")
    def out_of_sequence(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        v_r = station.v_r
        if not station.rejecting and ahead(station, frame) < 4:
            station.v_r = (frame.n_s - 1) % MODULO
        original(transfer, frame)
        station.v_r = v_r


@fault("BUG-LAPB-35")
def window_without_wrap(patch: Patch) -> None:
    def window_open(transfer: InformationTransfer) -> bool:
        station = transfer.lapb
        return station.v_s - station.v_a < station.parameters.k and len(station.open) < MODULO - 1

    patch.replace(InformationTransfer, "window_open", window_open)


@fault("BUG-LAPB-36")
def rnr_for_rej(patch: Patch) -> None:
    @patch.wrap(InformationTransfer, "on_supervisory")
    def on_supervisory(original: Any, transfer: InformationTransfer, frame: Frame) -> None:
        station = transfer.lapb
        if frame.kind == Control.RNR:
            for place, packet in enumerate(list(station.open)):
                station.transfer.emit_information((station.v_a + place) % MODULO, packet)
        original(transfer, frame)


@fault("BUG-LAPB-37")
def dm_during_set_up(patch: Patch) -> None:
    @patch.wrap(FrameErrors, "out_of_phase")
    def out_of_phase(original: Any, errors: FrameErrors, frame: Frame) -> None:
        station = errors.lapb
        if station.phase is Phase.SET_UP:
            station.respond(Control.DM, frame.p_f)
        else:
            original(errors, frame)
