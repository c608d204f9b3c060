# SPDX-License-Identifier: GPL-2.0-or-later
"""The packet layer of a serial interface: restart, logical channels, what a DTE may leave out."""

from collections.abc import Callable

from .. import codec
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Call, Clear
from ..codes import ClearCause, Diag, ResetCause, RestartCause, Type
from ..environment import Interface
from ..facilities import DEFAULT_SIZE, DEFAULT_WINDOW, PACKET_SIZE, WINDOW_SIZE
from ..negotiation import Negotiation
from ..relay import Relay
from ..restarts import Restarts
from ..serial import SerialInterface
from ..serial_channel import LineRules, SerialChannel
from ..tables import Cell, Do, P, R
from .facilities import change_connected, without
from .registry import Original, Patch, variant

# Maintenance action (X.25 Annex E).
DIAGNOSTIC = 122
HEADER = 3


@variant("MAY-LINE-01")
def no_restart_of_its_own(patch: Patch) -> None:
    leaves_the_restart(patch, lambda _name: True)


@variant("MAY-LINE-20")
def no_restart_of_its_own_on_one_line(patch: Patch) -> None:
    leaves_the_restart(patch, lambda name: name == "s0")


def leaves_the_restart(patch: Patch, leaves: Callable[[str], bool]) -> None:
    """That of a new link is the other station's, on the lines of these names."""

    @patch.wrap(Restarts, "restart")
    def restart(original: Original, restarts: Restarts, cause: int, code: int) -> None:
        interface = restarts.interface
        is_first = interface.r is R.DOWN and cause == RestartCause.NETWORK_OPERATIONAL
        if is_first and leaves(interface.name):
            interface.restarts.complete()
            vars(interface)["new_link"] = True
        else:
            original(restarts, cause, code)

    first_is_not_counted(patch)


def first_is_not_counted(patch: Patch) -> None:
    """A Restart that brings the interface up (RFC 1382)."""

    @patch.wrap(Restarts, "on_restart")
    def on_restart(original: Original, restarts: Restarts, octets: bytes) -> None:
        interface = restarts.interface
        is_first = vars(interface).pop("new_link", False)
        # One that meets a Restart of its own, as behind a link reset, is its confirmation.
        if is_first and interface.r is not R.RESTART_SENT:
            interface.packet_out(codec.header(interface.modulo, 0, Type.RESTART_CONFIRMATION))
        else:
            original(restarts, octets)


@variant("MAY-LINE-02", number=DIAGNOSTIC)
def restart_with_a_diagnostic(patch: Patch) -> None:
    @patch.wrap(Restarts, "emit")
    def emit_restart(original: Original, restarts: Restarts, cause: int, code: int) -> None:
        original(restarts, cause, code or round(patch.number))


@variant("MAY-LINE-03")
def dte_restart_without_diagnostic(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "packet_out")
    def packet_out(original: Original, interface: SerialInterface, octets: bytes) -> None:
        original(interface, shortened(interface, octets, Type.RESTART))


@variant("MAY-LINE-04")
def dte_clear_without_diagnostic(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "packet_out")
    def packet_out(original: Original, interface: SerialInterface, octets: bytes) -> None:
        original(interface, shortened(interface, octets, Type.CLEAR))


@variant("MAY-LINE-05")
def dte_reset_without_diagnostic(patch: Patch) -> None:
    @patch.wrap(SerialInterface, "packet_out")
    def packet_out(original: Original, interface: SerialInterface, octets: bytes) -> None:
        original(interface, shortened(interface, octets, Type.RESET))


def shortened(interface: SerialInterface, octets: bytes, packet_type: int) -> bytes:
    """A packet of a DTE without its diagnostic, where that is 0 and the last octet (modulo 8)."""
    plain = len(octets) == HEADER + 2 and octets[2] == packet_type
    return octets[:-1] if plain and not interface.dce and not octets[-1] else octets


@variant("MAY-LINE-06")
def channels_from_the_other_end(patch: Patch) -> None:
    def free_lcn(interface: SerialInterface) -> int:
        lcns = interface.settings.lcns
        order = reversed(lcns) if interface.dce else lcns
        return next((lcn for lcn in order if is_free(interface, lcn)), 0)

    patch.replace(SerialInterface, "free_lcn", free_lcn)


@variant("MAY-LINE-07")
def channels_in_turn(patch: Patch) -> None:
    def free_lcn(interface: SerialInterface) -> int:
        lcns = interface.settings.lcns
        last = vars(interface).get("last_lcn", lcns[0])
        after = lcns.index(last) + 1
        order = (*lcns[after:], *lcns[:after])
        return next((lcn for lcn in order if is_free(interface, lcn)), 0)

    patch.replace(SerialInterface, "free_lcn", free_lcn)

    @patch.wrap(SerialInterface, "take_channel")
    def take_channel(original: Original, interface: SerialInterface, user: object) -> object:
        vars(interface)["last_lcn"] = interface.free_lcn()
        return original(interface, user)


def is_free(interface: SerialInterface, lcn: int) -> bool:
    channel = interface.channels.get(lcn)
    return channel is None or channel.is_free()


@variant("MAY-LINE-08")
def a_restart_is_out_of_order(patch: Patch) -> None:
    patch.replace(Restarts, "clear_cause", lambda restarts, cause: int(ClearCause.OUT_OF_ORDER))


@variant("MAY-LINE-09", number=0.6)
def restart_confirmed_late(patch: Patch) -> None:
    """On the link on which it was asked for: another link begins with a restart of its own."""

    def another_link(original: Original, interface: SerialInterface) -> None:
        vars(interface)["links"] = vars(interface).get("links", 0) + 1
        original(interface)

    patch.wrap(SerialInterface, "link_up")(another_link)
    patch.wrap(SerialInterface, "link_down")(another_link)

    @patch.wrap(SerialInterface, "packet_out")
    def packet_out(original: Original, interface: SerialInterface, octets: bytes) -> None:
        asked_on = vars(interface).get("links")

        def confirm() -> None:
            if vars(interface).get("links") == asked_on:
                original(interface, octets)

        if octets[2:3] == bytes((Type.RESTART_CONFIRMATION,)):
            interface.router.timers.start(patch.number, confirm)
        else:
            original(interface, octets)


@variant("MAY-LINE-10", number=DIAGNOSTIC)
def a_lost_link_with_a_diagnostic(patch: Patch) -> None:
    @patch.wrap(SerialChannel, "end")
    def end(original: Original, channel: SerialChannel, clear: Clear) -> None:
        if clear.cause == ClearCause.OUT_OF_ORDER and not clear.diagnostic:
            clear = Clear(clear.cause, round(patch.number), by_peer=clear.by_peer)
        original(channel, clear)


@variant("MAY-LINE-11")
def displaced_call_cleared(patch: Patch) -> None:
    def displaced(relay: Relay, channel: Channel) -> None:
        relay.far = None
        relay.placing.unreachable(ClearCause.NUMBER_BUSY, Diag.NONE)

    patch.replace(Relay, "displaced", displaced)


@variant("MAY-LINE-12")
def values_not_named(patch: Patch) -> None:
    def change(channel: Channel, answer: Call) -> None:
        call: Call = vars(channel.user)["call"]
        for code in (PACKET_SIZE, WINDOW_SIZE):
            if isinstance(channel, SerialChannel) and call.facilities.pair(code) is None:
                without(answer.facilities, code)

    change_connected(patch, change)


@variant("MAY-LINE-18")
def defaults_not_offered(patch: Patch) -> None:
    @patch.wrap(Negotiation, "offer")
    def offer(original: Original, negotiation: Negotiation, call: Call) -> Call:
        offered: Call = original(negotiation, call)
        if negotiation.relay.route.to.serial:
            for code, usual in ((PACKET_SIZE, DEFAULT_SIZE), (WINDOW_SIZE, DEFAULT_WINDOW)):
                if offered.facilities.pair(code) == (usual, usual):
                    without(offered.facilities, code)
        return offered


@variant("MAY-LINE-13", number=1.0)
def wrong_confirmation_discarded(patch: Patch) -> None:
    @patch.wrap(Restarts, "error")
    def restart_error(
        original: Original, restarts: Restarts, diagnostic: int, octets: bytes
    ) -> None:
        interface = restarts.interface
        if interface.r is R.RESTART_SENT and octets[2] == Type.RESTART_CONFIRMATION:
            restarts.stop_timer()
            timers = interface.router.timers
            restarts.timer = timers.start(patch.number, restarts.t10_expired)
        else:
            original(restarts, diagnostic, octets)


@variant("MAY-LINE-14")
def a_diagnostic_told(patch: Patch) -> None:
    @patch.wrap(Restarts, "on_channel_zero")
    def on_channel_zero(original: Original, restarts: Restarts, octets: bytes) -> None:
        original(restarts, octets)
        if octets[2:3] == bytes((Type.DIAGNOSTIC,)):
            restarts.interface.diagnose(Diag.UNASSIGNED_CHANNEL, octets)


@variant("MAY-LINE-15")
def lines_just_go_down(patch: Patch) -> None:
    @patch.wrap(Clearing, "clear")
    def clear(original: Original, clearing: Clearing, what: Clear) -> None:
        channel = clearing.channel
        if not (channel.on_line and channel.router.stopping):
            original(clearing, what)


@variant("MAY-LINE-16")
def free_channels_of_a_dte(patch: Patch) -> None:
    """All but a Call, and a Clear, which wants its confirmation."""

    @patch.wrap(LineRules, "call_cell")
    def call_cell(original: Original, rules: LineRules, packet_type: int) -> Cell:
        of_a_dte = not rules.line.dce and rules.channel.p is P.READY
        stays = packet_type in (Type.CALL, Type.CLEAR)
        cell: Cell = original(rules, packet_type)
        return Do.DISCARD if of_a_dte and not stays else cell


@variant("MAY-LINE-17")
def calls_outlive_a_link_reset(patch: Patch) -> None:
    """Each is reset at both ends; one that is not up yet is cleared, as its packets may be lost."""

    @patch.wrap(SerialInterface, "link_up")
    def link_up(original: Original, interface: SerialInterface) -> None:
        if interface.r is not R.READY:
            original(interface)
            return
        for channel in list(interface.channels.values()):
            if channel.p is P.DATA_TRANSFER:
                channel.resets.reset(ResetCause.NETWORK_CONGESTION, Diag.NONE)
                channel.user.reset_by_error(channel, ResetCause.NETWORK_CONGESTION, Diag.NONE)
            elif channel.p is not P.READY:
                cause = ClearCause.NETWORK_CONGESTION
                channel.clearing.clear(Clear(cause, Diag.NONE, by_peer=False))


@variant("MAY-LINE-19", number=0.4)
def first_restart_late(patch: Patch) -> None:
    """Until then a Restart of the other is confirmed, and calls come about."""
    first_is_not_counted(patch)

    def forget(interface: Interface) -> None:
        vars(interface).pop("new_link", None)
        if timer := vars(interface).pop("first_restart", None):
            timer.cancel()

    @patch.wrap(SerialInterface, "link_down")
    def link_down(original: Original, interface: SerialInterface) -> None:
        forget(interface)
        original(interface)

    @patch.wrap(Restarts, "restart")
    def restart(original: Original, restarts: Restarts, cause: int, code: int) -> None:
        interface = restarts.interface

        def now() -> None:
            forget(interface)
            interface.end_calls(Clear(ClearCause.OUT_OF_ORDER, Diag.NONE, by_peer=False))
            original(restarts, cause, code)

        forget(interface)
        if cause == RestartCause.NETWORK_OPERATIONAL:
            restarts.complete()
            vars(interface)["new_link"] = True
            timers = interface.router.timers
            vars(interface)["first_restart"] = timers.start(patch.number, now)
        else:
            original(restarts, cause, code)
