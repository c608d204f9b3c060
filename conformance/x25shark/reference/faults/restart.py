# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the restart procedure and of Diagnostic packets on a serial line."""

from dataclasses import replace
from typing import Any, cast

from .. import codec
from ..codec import Clear
from ..codes import ClearCause, Diag, RestartCause, Type
from ..restarts import Restarts
from ..serial import SerialInterface
from ..tables import UNDEFINED, D, P, R
from .common import other_end
from .registry import Patch, fault

PAUSE_SECONDS = 0.05
FLOOD = 20
# GFI, channel 0, type, cause and diagnostic.
RESTART_OCTETS = 5


@fault("BUG-RSTRT-01")
def restart_for_all(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        collision = interface.r is R.RESTART_SENT
        original(restarts, octets)
        if collision:
            return
        for user in list(interface.router.circuits):
            for channel in (getattr(user, "near", None), getattr(user, "far", None)):
                if channel is not None:
                    channel.clearing.clear(Clear(ClearCause.OUT_OF_ORDER, Diag.NONE, by_peer=False))


@fault("BUG-RSTRT-03")
def collision_ignored(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        if restarts.interface.r is not R.RESTART_SENT:
            original(restarts, octets)


@fault("BUG-RSTRT-04")
def calls_in_r3(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "refusal")
    def refusal(original: Any, interface: SerialInterface, call: Any) -> Any:
        r = interface.r
        if r is R.RESTART_SENT:
            interface.r = R.READY
        try:
            return original(interface, call)
        finally:
            interface.r = r


@fault("BUG-RSTRT-05")
def loss_kept_quiet(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "link_down")
    def link_down(original: Any, interface: SerialInterface) -> None:
        interface.r = R.DOWN
        interface.restarts.stop_timer()
        for channel in interface.channels.values():
            channel.stop_timers()
            channel.released()


@fault("BUG-RSTRT-06")
def restart_flood(patch: Patch) -> None:
    @patch.wrap(Restarts, "emit")
    def emit_restart(original: Any, restarts: Restarts, cause: int, code: int) -> None:
        interface = restarts.interface
        original(restarts, cause, code)
        left = vars(interface).setdefault("flood", FLOOD)

        def again() -> None:
            if interface.r is R.RESTART_SENT and left:
                vars(interface)["flood"] = left - 1
                interface.restarts.emit(cause, code)

        interface.router.timers.start(PAUSE_SECONDS, again)


@fault("BUG-RSTRT-07")
def half_a_restart(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_confirmation")
    def on_confirmation(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        if interface.r is R.RESTART_SENT:
            original(restarts, octets)
        else:
            interface.end_calls(Clear(ClearCause.REMOTE_PROCEDURE_ERROR, 0, by_peer=False))


@fault("BUG-RSTRT-08")
def only_data_transfer(patch: Patch) -> None:
    def end_calls(interface: SerialInterface, clear: Clear) -> None:
        for channel in list(interface.channels.values()):
            if channel.p is P.DATA_TRANSFER:
                channel.end(clear)

    patch.replace(SerialInterface, "end_calls", end_calls)


@fault("BUG-RSTRT-09")
def first_cause(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "packet_out")
    def packet_out(original: Any, interface: SerialInterface, octets: bytes) -> None:
        if octets[2:3] == bytes((Type.RESTART,)):
            octets = octets[:3] + bytes((RestartCause.NETWORK_CONGESTION,)) + octets[4:]
        original(interface, octets)


@fault("BUG-RSTRT-10")
def one_confirmation(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        state = vars(interface)
        collision = interface.r is R.RESTART_SENT
        if collision:
            state["confirmed"] = False
            original(restarts, octets)
        elif not state.get("confirmed"):
            state["confirmed"] = True
            original(restarts, octets)


@fault("BUG-RSTRT-11")
def restart_on_any_channel(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "packet_in")
    def packet_in(original: Any, interface: SerialInterface, octets: bytes) -> None:
        if octets[2:3] == bytes((Type.RESTART,)):
            octets = codec.header(interface.modulo, 0, Type.RESTART) + octets[3:]
        original(interface, octets)


@fault("BUG-RSTRT-12")
def packets_in_r3(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "packet_in")
    def packet_in(original: Any, interface: SerialInterface, octets: bytes) -> None:
        early = interface.r is R.RESTART_SENT and len(octets) > 2 and codec.lcn_of(octets) != 0
        if early:
            interface.r = R.READY
        original(interface, octets)
        if early and interface.r is R.READY:
            interface.r = R.RESTART_SENT


@fault("BUG-RSTRT-13")
def restarts_of_any_length(patch: Patch) -> None:
    @patch.wrap(Restarts, "format_error")
    def format_error(original: Any, restarts: Restarts, kind: int, octets: bytes) -> int:
        return 0 if kind == Type.RESTART else int(original(restarts, kind, octets))

    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        original(restarts, octets.ljust(5, b"\0"))


@fault("BUG-RSTRT-30")
def a_restart_that_is_too_long(patch: Patch) -> None:
    @patch.wrap(Restarts, "format_error")
    def format_error(original: Any, restarts: Restarts, kind: int, octets: bytes) -> int:
        taken = kind == Type.RESTART and restarts.interface.dce and len(octets) > RESTART_OCTETS
        return 0 if taken else int(original(restarts, kind, octets))


@fault("BUG-RSTRT-31")
def first_cause_of_a_dce(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "link_up")
    def link_up(original: Any, interface: SerialInterface) -> None:
        vars(interface)["first"] = interface.dce
        original(interface)
        vars(interface)["first"] = False

    @patch.wrap(SerialInterface, "packet_out")
    def packet_out(original: Any, interface: SerialInterface, octets: bytes) -> None:
        if vars(interface).get("first") and octets[2:3] == bytes((Type.RESTART,)):
            octets = octets[:3] + bytes((RestartCause.NETWORK_CONGESTION,)) + octets[4:]
        original(interface, octets)


@fault("BUG-RSTRT-32")
def call_kept_for_the_next_link(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "refusal")
    def refusal(original: Any, interface: SerialInterface, call: Any) -> Any:
        if interface.r is R.DOWN:
            vars(interface)["kept"] = call
        return original(interface, call)

    @patch.wrap(SerialInterface, "packet_in")
    def packet_in(original: Any, interface: SerialInterface, octets: bytes) -> None:
        original(interface, octets)
        if interface.r is R.READY and vars(interface).get("kept"):
            kept = vars(interface).pop("kept")
            call = replace(kept, modulo=interface.modulo, lcn=interface.free_lcn())
            interface.packet_out(codec.encode_call(Type.CALL, call))


@fault("BUG-RSTRT-14")
def slow_to_get_ready(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        ready = interface.r is R.READY
        original(restarts, octets)
        if ready:
            interface.r = R.DOWN

            def back() -> None:
                interface.r = R.READY

            interface.router.timers.start(0.5, back)


@fault("BUG-RSTRT-15")
def far_cause(patch: Patch) -> None:
    patch.replace(Restarts, "clear_cause", lambda restarts, cause: ClearCause.LOCAL_PROCEDURE_ERROR)


@fault("BUG-DIAG-01")
def diagnostic_for_diagnostic(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_channel_zero")
    def on_channel_zero(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        original(restarts, octets)
        if octets[2:3] == bytes((Type.DIAGNOSTIC,)):
            header = codec.header(interface.modulo, 0, Type.DIAGNOSTIC)
            interface.packet_out(header + octets[3:4] + octets[:3])


@fault("BUG-DIAG-02")
def wrong_explanation(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "diagnose")
    def diagnose(original: Any, interface: SerialInterface, code: int, octets: bytes) -> None:
        original(interface, code, octets[::-1])


@fault("BUG-DIAG-03")
def foreign_call(patch: Patch) -> None:
    end_calls_for(patch, Diag.UNASSIGNED_CHANNEL)


@fault("BUG-DIAG-04")
def short_packet(patch: Patch) -> None:
    end_calls_for(patch, Diag.TOO_SHORT)


@fault("BUG-DIAG-05")
def wrong_format(patch: Patch) -> None:
    end_calls_for(patch, Diag.INVALID_GFI)


def end_calls_for(patch: Patch, reason: int) -> None:
    """What needs no more than a Diagnostic ends every call."""

    @patch.wrap(SerialInterface, "diagnose")
    def diagnose(original: Any, interface: SerialInterface, code: int, octets: bytes) -> None:
        original(interface, code, octets)
        if code == reason:
            for channel in list(interface.channels.values()):
                channel.clearing.clear(Clear(ClearCause.OUT_OF_ORDER, Diag.NONE, by_peer=False))


@fault("BUG-DIAG-06")
def twice(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "diagnose")
    def diagnose(original: Any, interface: SerialInterface, code: int, octets: bytes) -> None:
        original(interface, code, octets)
        original(interface, code, octets)


@fault("BUG-DIAG-20")
def call_on_channel_zero(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_channel_zero")
    def on_channel_zero(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = cast(SerialInterface, restarts.interface)
        if octets[2:3] == bytes((Type.CALL,)) and interface.r is R.READY:
            interface.channel(0).receive(octets)
        else:
            original(restarts, octets)


def _restart_for(patch: Patch, kind: int) -> None:
    """A packet of this type on channel 0 restarts the line."""

    @patch.wrap(Restarts, "on_channel_zero")
    def on_channel_zero(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        of_it = len(octets) > 2 and codec.type_of(octets, interface.modulo) == kind
        if of_it and interface.r is R.READY:
            interface.end_calls(Clear(ClearCause.OUT_OF_ORDER, Diag.NONE, by_peer=False))
            restarts.restart(RestartCause.LOCAL_PROCEDURE_ERROR, Diag.UNIDENTIFIABLE)
        else:
            original(restarts, octets)


@fault("BUG-DIAG-21")
def restart_for_an_undefined_type(patch: Patch) -> None:
    _restart_for(patch, UNDEFINED)


@fault("BUG-DIAG-22")
def restart_for_a_registration(patch: Patch) -> None:
    _restart_for(patch, Type.REGISTRATION)


@fault("BUG-DIAG-07")
def two_octets_on_channel_zero(patch: Patch) -> None:
    @patch.wrap(Restarts, "format_error")
    def format_error(original: Any, restarts: Restarts, packet_type: int, octets: bytes) -> int:
        diagnostic: int = original(restarts, packet_type, octets)
        return Diag.UNIDENTIFIABLE if len(octets) == 2 else diagnostic


@fault("BUG-RSTRT-16")
def stuck_behind_a_confirmation(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_confirmation")
    def on_confirmation(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        if interface.r is R.RESTART_SENT:
            original(restarts, octets)
        else:
            interface.r = R.RESTART_SENT


@fault("BUG-RSTRT-17")
def restart_needs_a_diagnostic(patch: Patch) -> None:
    @patch.wrap(Restarts, "format_error")
    def format_error(original: Any, restarts: Restarts, kind: int, octets: bytes) -> int:
        short = kind == Type.RESTART and len(octets) == 4
        return int(Diag.TOO_SHORT if short else original(restarts, kind, octets))


@fault("BUG-RSTRT-18")
def long_confirmation(patch: Patch) -> None:
    @patch.wrap(Restarts, "format_error")
    def format_error(original: Any, restarts: Restarts, kind: int, octets: bytes) -> int:
        return 0 if kind == Type.RESTART_CONFIRMATION else int(original(restarts, kind, octets))


@fault("BUG-RSTRT-19")
def longer_confirmation(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "packet_out")
    def packet_out(original: Any, interface: SerialInterface, octets: bytes) -> None:
        confirms = octets[2] == Type.RESTART_CONFIRMATION
        original(interface, octets + b"\0\0" if confirms else octets)


@fault("BUG-RSTRT-20")
def no_private_restart(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        if octets[3] < 0x80:
            original(restarts, octets)


@fault("BUG-RSTRT-34")
def private_collision_is_confirmed(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        collides = interface.r is R.RESTART_SENT
        original(restarts, octets)
        if collides and octets[3] >= 0x80:
            interface.packet_out(codec.header(interface.modulo, 0, Type.RESTART_CONFIRMATION))


@fault("BUG-RSTRT-35")
def every_second_confirmation_is_ignored(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_confirmation")
    def on_confirmation(original: Any, restarts: Restarts, octets: bytes) -> None:
        memory = vars(restarts)
        if restarts.interface.r is R.RESTART_SENT:
            original(restarts, octets)
            return
        memory["ignores"] = not memory.get("ignores", True)
        if not memory["ignores"]:
            original(restarts, octets)


@fault("BUG-RSTRT-21")
def restart_before_the_answer(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        every = interface.channels
        pending = {n: c for n, c in every.items() if c.p is P.CALL_RECEIVED}
        interface.channels = {n: c for n, c in every.items() if n not in pending}
        original(restarts, octets)
        interface.channels |= pending


@fault("BUG-RSTRT-33")
def restart_before_the_far_end_confirms(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "end_calls")
    def end_calls(original: Any, interface: SerialInterface, clear: Clear) -> None:
        every = interface.channels
        far = {number: other_end(channel) for number, channel in every.items()}
        kept = {n: c for n, c in every.items() if getattr(far[n], "d", None) is D.RESET_SENT}
        interface.channels = {n: c for n, c in every.items() if n not in kept}
        original(interface, clear)
        interface.channels |= kept


@fault("BUG-RSTRT-22")
def restart_without_its_diagnostic(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Any, restarts: Restarts, octets: bytes) -> None:
        original(restarts, octets[:4])


@fault("BUG-DIAG-08")
def call_on_any_channel(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "packet_in")
    def packet_in(original: Any, interface: SerialInterface, octets: bytes) -> None:
        lcn = codec.lcn_of(octets)
        unassigned = lcn and lcn not in interface.settings.lcns
        if unassigned and octets[2:3] == bytes((Type.CALL,)) and not interface.dce:
            interface.channel(lcn).receive(octets)
        else:
            original(interface, octets)
