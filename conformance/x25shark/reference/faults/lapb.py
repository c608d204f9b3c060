# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the LAPB station."""

from typing import Any

from .. import lapb_frames
from ..lapb import MODULO, Lapb, Phase
from ..lapb_frames import Control, Frame
from ..serial import R, SerialInterface
from .registry import Patch, fault


def ahead(station: Lapb, frame: Frame) -> int:
    """How far N(S) is ahead of the one expected; frames sent again are 4 or more."""
    return (frame.n_s - station.v_r) % MODULO


@fault("BUG-LAPB-01", "F bit always 1")
def f_bit_1(patch: Patch) -> None:
    @patch.wrap(Lapb, "respond")
    def respond(original: Any, station: Lapb, kind: int, f: bool, field: bytes = b"") -> None:
        original(station, kind, True, field)

    @patch.wrap(Lapb, "acknowledge_with")
    def acknowledge_with(original: Any, station: Lapb, kind: int, f: bool) -> None:
        original(station, kind, True)


@fault("BUG-LAPB-02", "accepts UA F=0 as answer to P=1")
def ua_without_f(patch: Patch) -> None:
    @patch.wrap(Lapb, "on_ua")
    def on_ua(original: Any, station: Lapb, p_f: bool) -> None:
        original(station, True)


@fault("BUG-LAPB-03", "SABM collision ends in a loop")
def collision_loop(patch: Patch) -> None:
    @patch.wrap(Lapb, "on_sabm")
    def on_sabm(original: Any, station: Lapb, p_f: bool) -> None:
        if station.phase is Phase.SET_UP:
            station.set_up()
        else:
            original(station, p_f)


@fault("BUG-LAPB-04", "does not set V(S), V(R) to 0 on SABM")
def old_numbers(patch: Patch) -> None:
    @patch.wrap(Lapb, "forget")
    def forget(original: Any, station: Lapb) -> None:
        kept = (station.v_s, station.v_r) if "v_s" in vars(station) else (0, 0)
        original(station)
        station.v_s, station.v_r = kept
        station.v_a = station.v_s


@fault("BUG-LAPB-05", "silent in the disconnected phase")
def silent(patch: Patch) -> None:
    @patch.wrap(Lapb, "respond")
    def respond(original: Any, station: Lapb, kind: int, f: bool, field: bytes = b"") -> None:
        if station.phase is not Phase.DISCONNECTED or kind != Control.DM:
            original(station, kind, f, field)


@fault("BUG-LAPB-06", "SABM repeated for ever without T1")
def hasty(patch: Patch) -> None:
    @patch.wrap(Lapb, "start")
    def start(original: Any, station: Lapb, name: str, seconds: float, expired: Any) -> None:
        if name == "T1" and station.phase is Phase.SET_UP:
            station.attempts, seconds = 0, 0.05
        original(station, name, seconds, expired)


@fault("BUG-LAPB-07", "UA to SABME but runs modulo 8")
def sabme_accepted(patch: Patch) -> None:
    @patch.wrap(Lapb, "undefined")
    def undefined(original: Any, station: Lapb, frame: Frame) -> None:
        if frame.kind == Control.SABME and frame.command:
            station.on_sabm(frame.p_f)
        else:
            original(station, frame)


@fault("BUG-LAPB-08", "window k ignored, up to the 7 that the modulus allows")
def no_window(patch: Patch) -> None:
    patch.replace(Lapb, "window_open", lambda station: len(station.open) < MODULO - 1)


@fault("BUG-LAPB-09", "no answer to P=1 until T2 (or a second, where T2 is 0)")
def late_answer(patch: Patch) -> None:
    def answer_poll(station: Lapb) -> None:
        def late() -> None:
            station.acknowledge_with(Control.RR, True)

        station.start("T2", station.parameters.t2 or 1.0, late)

    patch.replace(Lapb, "answer_poll", answer_poll)


@fault("BUG-LAPB-10", "passes up duplicates")
def duplicates(patch: Patch) -> None:
    @patch.wrap(Lapb, "out_of_sequence")
    def out_of_sequence(original: Any, station: Lapb, frame: Frame) -> None:
        original(station, frame)
        if ahead(station, frame) >= 4:
            station.station.packet_in(frame.information)


@fault("BUG-LAPB-11", "passes up frames after a gap")
def over_the_gap(patch: Patch) -> None:
    @patch.wrap(Lapb, "out_of_sequence")
    def out_of_sequence(original: Any, station: Lapb, frame: Frame) -> None:
        if ahead(station, frame) < 4:
            station.v_r = frame.n_s
            station.in_sequence(frame)
        else:
            original(station, frame)


@fault("BUG-LAPB-12", "one REJ per out-of-sequence frame")
def many_rejects(patch: Patch) -> None:
    @patch.wrap(Lapb, "out_of_sequence")
    def out_of_sequence(original: Any, station: Lapb, frame: Frame) -> None:
        station.rejecting = False
        original(station, frame)


@fault("BUG-LAPB-13", "REJ condition never cleared")
def rejecting_for_ever(patch: Patch) -> None:
    @patch.wrap(Lapb, "in_sequence")
    def in_sequence(original: Any, station: Lapb, frame: Frame) -> None:
        kept = station.rejecting
        original(station, frame)
        station.rejecting = kept


@fault("BUG-LAPB-14", "sends only the first frame again on REJ")
def only_the_first(patch: Patch) -> None:
    @patch.wrap(Lapb, "on_supervisory")
    def on_supervisory(original: Any, station: Lapb, frame: Frame) -> None:
        if frame.kind == Control.REJ:
            again = (station.v_a + len(station.open) - frame.n_r) % MODULO
            vars(station)["left_out"] = [(frame.n_r + n) % MODULO for n in range(1, again)]
        original(station, frame)
        vars(station)["left_out"] = []

    @patch.wrap(Lapb, "emit_information")
    def emit_information(original: Any, station: Lapb, n_s: int, packet: bytes) -> None:
        if n_s not in vars(station).get("left_out", ()):
            original(station, n_s, packet)


@fault("BUG-LAPB-15", "retransmits with the next N(S)")
def new_numbers(patch: Patch) -> None:
    @patch.wrap(Lapb, "emit_information")
    def emit_information(original: Any, station: Lapb, n_s: int, packet: bytes) -> None:
        newest = (station.v_a + len(station.open) - 1) % MODULO
        key = vars(station).setdefault("sent", {})
        again = key.get(n_s) is packet
        key[n_s] = packet
        original(station, (newest + 1) % MODULO if again else n_s, packet)


@fault("BUG-LAPB-16", "no T1 recovery")
def no_recovery(patch: Patch) -> None:
    @patch.wrap(Lapb, "poll")
    def poll(original: Any, station: Lapb) -> None:
        """Nothing is asked, and nothing sent again."""


@fault("BUG-LAPB-17", "ignores N(R) of out-of-sequence frames")
def n_r_ignored(patch: Patch) -> None:
    @patch.wrap(Lapb, "on_information")
    def on_information(original: Any, station: Lapb, frame: Frame) -> None:
        if frame.n_s != station.v_r:
            frame = frame._replace(n_r=station.v_a)
        original(station, frame)


@fault("BUG-LAPB-18", "sends I frames to a busy peer")
def busy_ignored(patch: Patch) -> None:
    def may_send(station: Lapb) -> bool:
        return station.phase is Phase.TRANSFER and not station.polling

    patch.replace(Lapb, "may_send", may_send)


@fault("BUG-LAPB-19", "does not poll a busy peer: deadlock after a lost RR")
def busy_not_polled(patch: Patch) -> None:
    @patch.wrap(Lapb, "poll")
    def poll(original: Any, station: Lapb) -> None:
        if not station.peer_busy:
            original(station)


@fault("BUG-LAPB-20", "accepts invalid N(R)")
def any_n_r(patch: Patch) -> None:
    @patch.wrap(Lapb, "on_numbered")
    def on_numbered(original: Any, station: Lapb, frame: Frame) -> None:
        if not station.n_r_is_valid(frame.n_r):
            frame = frame._replace(n_r=station.v_a)
        original(station, frame)


@fault("BUG-LAPB-21", "FRMR with V(S) and V(R) exchanged")
def exchanged(patch: Patch) -> None:
    @patch.wrap(lapb_frames, "rejection")
    def rejection(original: Any, frame: Frame, v_s: int, v_r: int, reasons: int) -> bytes:
        field: bytes = original(frame, v_r, v_s, reasons)
        return field


@fault("BUG-LAPB-22", "passes up I frames in frame reject state")
def up_in_reject(patch: Patch) -> None:
    @patch.wrap(Lapb, "out_of_phase")
    def out_of_phase(original: Any, station: Lapb, frame: Frame) -> None:
        if station.phase is Phase.REJECT and frame.command and frame.kind == Control.I:
            station.station.packet_in(frame.information)
        original(station, frame)


@fault("BUG-LAPB-23", "ignores a received FRMR")
def frmr_ignored(patch: Patch) -> None:
    patch.replace(Lapb, "on_frmr", lambda station, field: None)


@fault("BUG-LAPB-24", "link reset loses packets silently")
def silent_reset(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "link_up")
    def link_up(original: Any, interface: SerialInterface) -> None:
        if interface.r is not R.READY:
            original(interface)


@fault("BUG-LAPB-25", "counts answered polls of a busy peer towards N2")
def polls_counted(patch: Patch) -> None:
    @patch.wrap(Lapb, "poll_answered")
    def poll_answered(original: Any, station: Lapb, n_r: int) -> None:
        attempts = station.attempts
        original(station, n_r)
        if station.peer_busy:
            station.attempts = attempts


@fault("BUG-LAPB-26", "starts the link with SABM P=0")
def sabm_without_p(patch: Patch) -> None:
    @patch.wrap(Lapb, "command")
    def command(original: Any, station: Lapb, kind: int) -> None:
        if kind == Control.SABM:
            station.station.frame_out(lapb_frames.unnumbered(station.other, kind, False))
        else:
            original(station, kind)


@fault("BUG-LAPB-27", "DM F=1 does not end set-up")
def refusal_ignored(patch: Patch) -> None:
    @patch.wrap(Lapb, "on_dm")
    def on_dm(original: Any, station: Lapb, p_f: bool) -> None:
        if station.phase is not Phase.SET_UP:
            original(station, p_f)


@fault("BUG-LAPB-28", "answers DISC during set-up by UA")
def collision_answered(patch: Patch) -> None:
    @patch.wrap(Lapb, "on_disc")
    def on_disc(original: Any, station: Lapb, p_f: bool) -> None:
        if station.phase is Phase.SET_UP:
            station.respond(Control.UA, p_f)
            station.end_link()
        else:
            original(station, p_f)


@fault("BUG-LAPB-29", "calls outlive their link")
def calls_stay(patch: Patch) -> None:
    def link_down(interface: SerialInterface) -> None:
        interface.r = R.DOWN
        interface.stop_timer()

    patch.replace(SerialInterface, "link_down", link_down)


@fault("BUG-LAPB-30", "an octet of information in UA")
def information_in_ua(patch: Patch) -> None:
    @patch.wrap(Lapb, "respond")
    def respond(original: Any, station: Lapb, kind: int, f: bool, field: bytes = b"") -> None:
        original(station, kind, f, b"\0" if kind == Control.UA else field)


@fault("BUG-LAPB-31", "DM has the address of a command")
def dm_as_command(patch: Patch) -> None:
    @patch.wrap(lapb_frames, "unnumbered")
    def unnumbered(original: Any, address: int, kind: int, p_f: bool, field: bytes = b"") -> bytes:
        octets: bytes = original(address, kind, p_f, field)
        return bytes((octets[0] ^ 2,)) + octets[1:] if kind == Control.DM else octets


@fault("BUG-LAPB-32", "every RR has F=1")
def final_in_rr(patch: Patch) -> None:
    @patch.wrap(Lapb, "acknowledge_with")
    def acknowledge_with(original: Any, station: Lapb, kind: int, f: bool) -> None:
        original(station, kind, f or kind == Control.RR)


@fault("BUG-LAPB-33", "a response with F=0 ends timer recovery")
def any_response_ends_recovery(patch: Patch) -> None:
    @patch.wrap(Lapb, "on_supervisory")
    def on_supervisory(original: Any, station: Lapb, frame: Frame) -> None:
        if station.polling and not frame.command:
            frame = frame._replace(p_f=True)
        original(station, frame)


@fault("BUG-LAPB-34", "REJ names the last missing frame")
def last_of_the_gap(patch: Patch) -> None:
    @patch.wrap(Lapb, "out_of_sequence")
    def out_of_sequence(original: Any, station: Lapb, frame: Frame) -> None:
        v_r = station.v_r
        if not station.rejecting and ahead(station, frame) < 4:
            station.v_r = (frame.n_s - 1) % MODULO
        original(station, frame)
        station.v_r = v_r


@fault("BUG-LAPB-35", "counts the window without the wrap of N(S)")
def window_without_wrap(patch: Patch) -> None:
    def window_open(station: Lapb) -> bool:
        return station.v_s - station.v_a < station.parameters.k and len(station.open) < MODULO - 1

    patch.replace(Lapb, "window_open", window_open)


@fault("BUG-LAPB-36", "sends once more what an RNR acknowledges")
def rnr_for_rej(patch: Patch) -> None:
    @patch.wrap(Lapb, "on_supervisory")
    def on_supervisory(original: Any, station: Lapb, frame: Frame) -> None:
        if frame.kind == Control.RNR:
            for place, packet in enumerate(list(station.open)):
                station.emit_information((station.v_a + place) % MODULO, packet)
        original(station, frame)


@fault("BUG-LAPB-37", "answers other frames by DM while it sets the link up")
def dm_during_set_up(patch: Patch) -> None:
    @patch.wrap(Lapb, "out_of_phase")
    def out_of_phase(original: Any, station: Lapb, frame: Frame) -> None:
        if station.phase is Phase.SET_UP:
            station.respond(Control.DM, frame.p_f)
        else:
            original(station, frame)
