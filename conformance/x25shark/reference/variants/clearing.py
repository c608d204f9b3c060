# SPDX-License-Identifier: GPL-2.0-or-later
"""How calls are refused and ended, and with which diagnostics (X.25 4.1, Annex E; RFC 1613 6.1)."""

from dataclasses import replace

from .. import codec
from ..channel import Channel
from ..clearing import Clearing
from ..codec import Clear, Data, encode_clear, parse_clear
from ..codes import ClearCause, Diag, Type
from ..facilities import Facilities, Facility
from ..placing import Placing
from ..relay import Relay
from ..relay_local import LocalRelay
from ..resets import Resets
from ..router import Router
from ..tables import P
from ..terminal import Echo
from ..wire import TcpWire
from .errors import discards_a_long_clear_confirmation
from .registry import Original, Patch, variant

HELD_SECONDS = 0.01
LATE_SECONDS = 0.05


@variant("MAY-CLR-01")
def hang_up(patch: Patch) -> None:
    @patch.wrap(Clearing, "send")
    def send_clear(original: Original, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        if channel.p is not P.CALL_RECEIVED or clear.by_peer or channel.on_line:
            original(clearing, clear)
            return
        channel.interface.count("x25StatInCallRefusals")
        channel.stop_timers()
        channel.p = P.CLEAR_SENT
        channel.joined = None
        channel.wire.close()


@variant("MAY-CLR-02")
def no_diagnostics(patch: Patch) -> None:
    @patch.wrap(Clearing, "error")
    def clear_error(
        original: Original, clearing: Clearing, _diagnostic: int, cause: int | None = None
    ) -> None:
        original(clearing, 0, cause)

    @patch.wrap(Resets, "error")
    def reset_error(original: Original, resets: Resets, _diagnostic: int) -> None:
        original(resets, 0)

    @patch.wrap(Clearing, "emit")
    def emit_clear(original: Original, clearing: Clearing, clear: Clear) -> None:
        original(clearing, clear if clear.by_peer else replace(clear, diagnostic=0))


@variant("MAY-CLR-03")
def confirm_end_to_end(patch: Patch) -> None:
    waiting: dict[Channel, Channel] = {}

    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Original, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        relay = channel.user
        other = relay.other(channel) if isinstance(relay, Relay) else None
        pending = (P.CALL_RECEIVED, P.CALL_SENT, P.DATA_TRANSFER)
        if channel.p not in pending or other is None or other.p not in pending:
            original(clearing, octets)
            return
        clear = parse_clear(octets)
        channel.clearing.check_clear(clear)
        channel.interface.clear_in(clear.cause)
        if channel.p is P.CALL_SENT:
            channel.interface.count("x25StatOutCallFailures")
        channel.stop_timers()
        channel.p = P.CLEAR_RECEIVED
        waiting[other] = channel
        relay.cleared(channel, clear)

    @patch.wrap(Channel, "released")
    def released(original: Original, channel: Channel) -> None:
        original(channel)
        first = waiting.pop(channel, None)
        if first is not None and first.p is P.CLEAR_RECEIVED:
            first.clearing.confirm()
            first.released()


@variant("MAY-CLR-04")
def clear_without_diagnostic_0(patch: Patch) -> None:
    def encode(modulo: int, lcn: int, clear: Clear) -> bytes:
        octets = encode_clear(modulo, lcn, clear)
        return octets[:4] if len(octets) == 5 and not octets[4] else octets

    patch.replace(codec, "encode_clear", encode)


@variant("MAY-CLR-05")
def reset_without_diagnostic_0(patch: Patch) -> None:
    @patch.wrap(Channel, "send")
    def send(original: Original, channel: Channel, octets: bytes) -> None:
        bare = octets[2] == Type.RESET and len(octets) == 5 and not octets[4]
        original(channel, octets[:4] if bare and not channel.on_line else octets)


@variant("MAY-CLR-06")
def no_diagnostic_for_the_other_end(patch: Patch) -> None:
    @patch.wrap(Clearing, "remote_clear")
    def remote_clear(original: Original, clearing: Clearing, cause: int, _diagnostic: int) -> Clear:
        clear: Clear = original(clearing, cause, 0)
        return clear


@variant("MAY-CLR-07")
def data_in_front_of_a_clear_is_lost(patch: Patch) -> None:
    @patch.wrap(LocalRelay, "data_received")
    def data_received(original: Original, relay: LocalRelay, channel: Channel, data: Data) -> None:
        held = vars(relay).setdefault("held_data", [])
        held.append((channel, data))

        def go_on() -> None:
            if held and held[0] == (channel, data):
                held.pop(0)
                if channel.p is P.DATA_TRANSFER:
                    original(relay, channel, data)
                    relay.router.flush()

        relay.router.timers.start(HELD_SECONDS, go_on)

    @patch.wrap(LocalRelay, "drop")
    def drop(original: Original, relay: LocalRelay) -> None:
        vars(relay).get("held_data", []).clear()
        original(relay)


def no_route_is(patch: Patch, cause: int) -> None:
    patch.replace(Router, "no_route_cause", lambda router: cause)


@variant("MAY-CLR-08")
def no_route_is_out_of_order(patch: Patch) -> None:
    no_route_is(patch, ClearCause.OUT_OF_ORDER)


@variant("MAY-CLR-09")
def no_route_is_congestion(patch: Patch) -> None:
    no_route_is(patch, ClearCause.NETWORK_CONGESTION)


def down_is(patch: Patch, cause: int) -> None:
    @patch.wrap(Placing, "unreachable")
    def unreachable(
        original: Original, placing: Placing, known: int = cause, diagnostic: int = Diag.NONE
    ) -> None:
        original(placing, known, diagnostic)


@variant("MAY-CLR-10")
def down_is_not_obtainable(patch: Patch) -> None:
    down_is(patch, ClearCause.NOT_OBTAINABLE)


@variant("MAY-CLR-11")
def down_is_congestion(patch: Patch) -> None:
    down_is(patch, ClearCause.NETWORK_CONGESTION)


@variant("MAY-CLR-12")
def hang_up_at_a_withdrawn_call(patch: Patch) -> None:
    @patch.wrap(Relay, "give_up_far")
    def give_up_far(original: Original, relay: Relay, clear: Clear) -> None:
        far = relay.far
        if far is None or far.on_line or far.p is not P.CALL_SENT:
            original(relay, clear)
            return
        far.stop_timers()
        far.p = P.CLEAR_SENT
        far.joined = None
        far.wire.close()


@variant("MAY-CLR-13")
def charges_in_the_confirmation(patch: Patch) -> None:
    duration = bytes((0xC1, 4, 0, 0, 0, 1))

    @patch.wrap(Clearing, "confirm")
    def confirm(original: Original, clearing: Clearing) -> None:
        channel = clearing.channel
        if not channel.accepted:
            original(clearing)
            return
        header = codec.header(channel.modulo, channel.lcn, Type.CLEAR_CONFIRMATION)
        channel.send(header + bytes((0, len(duration))) + duration)


@variant("MAY-CLR-18")
def charges_in_the_clear(patch: Patch) -> None:
    duration = Facility(0xC1, bytes((0, 0, 0, 1)), bytes((0xC1, 4, 0, 0, 0, 1)))

    @patch.wrap(Clearing, "send")
    def send(original: Original, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        vars(clearing)["charged"] = channel.accepted and channel.p is P.DATA_TRANSFER
        original(clearing, clear)

    @patch.wrap(Clearing, "permitted")
    def permitted(original: Original, clearing: Clearing, clear: Clear) -> Clear:
        plain: Clear = original(clearing, clear)
        if not vars(clearing).get("charged"):
            return plain
        items = [*plain.facilities.items, duration]
        return replace(plain, extended=True, facilities=Facilities(items))


@variant("MAY-CLR-14", number=3)
def clears_of_its_own_accord(patch: Patch) -> None:
    """In place of taking so much: Data and Interrupts of a call are counted together."""

    def ended(echo: Echo, channel: Channel) -> bool:
        taken = vars(echo)["taken"] = vars(echo).get("taken", 0) + 1
        if taken == patch.number:
            channel.clearing.clear(Clear(ClearCause.DTE_ORIGINATED, Diag.NONE))
        return bool(taken >= patch.number)

    @patch.wrap(Echo, "data_received")
    def data_received(original: Original, echo: Echo, channel: Channel, data: Data) -> None:
        if not ended(echo, channel):
            original(echo, channel, data)

    @patch.wrap(Echo, "interrupt_received")
    def interrupt_received(
        original: Original, echo: Echo, channel: Channel, user_data: bytes
    ) -> None:
        if not ended(echo, channel):
            original(echo, channel, user_data)


# what T12 and T13 repeat


@variant("MAY-CLR-15")
def again_as_it_was(patch: Patch) -> None:
    """A Clear Confirmation that is too long is discarded: so T13 runs out where it can be seen."""
    discards_a_long_clear_confirmation(patch)
    cleared: dict[Clearing, Clear] = {}
    reset: dict[Resets, tuple[int, int]] = {}

    @patch.wrap(Clearing, "send")
    def send(original: Original, clearing: Clearing, clear: Clear) -> None:
        cleared[clearing] = clear
        clearing.channel.repeats = 0
        original(clearing, clear)

    @patch.wrap(Clearing, "emit")
    def emit_clear(original: Original, clearing: Clearing, clear: Clear) -> None:
        again = clearing.channel.repeats and not clearing.channel.on_line
        original(clearing, cleared[clearing] if again else clear)

    @patch.wrap(Resets, "emit")
    def emit_reset(original: Original, resets: Resets, cause: int, diagnostic: int) -> None:
        if resets.channel.repeats and not resets.channel.on_line:
            cause, diagnostic = reset[resets]
        reset[resets] = cause, diagnostic
        original(resets, cause, diagnostic)


@variant("MAY-CLR-16", number=LATE_SECONDS)
def confirmed_late(patch: Patch) -> None:
    """The other end has the Clear by then; what is sent or closed meanwhile comes behind it."""
    waiting: dict[Channel, bytes] = {}

    def release(channel: Channel) -> None:
        if channel in waiting:
            channel.send(waiting[channel])

    @patch.wrap(Clearing, "confirm")
    def confirm(original: Original, clearing: Clearing) -> None:
        channel = clearing.channel
        if channel.on_line:
            original(clearing)
            return
        waiting[channel] = codec.header(channel.modulo, channel.lcn, Type.CLEAR_CONFIRMATION)
        channel.router.timers.start(patch.number, lambda: release(channel))

    @patch.wrap(Channel, "send")
    def send(original: Original, channel: Channel, octets: bytes) -> None:
        held = waiting.pop(channel, None)
        if held is not None and held is not octets:
            original(channel, held)
        original(channel, octets)

    @patch.wrap(TcpWire, "close")
    def close(original: Original, wire: TcpWire) -> None:
        for channel in [one for one in waiting if one.wire is wire]:
            release(channel)
        original(wire)


@variant("MAY-CLR-17")
def far_end_is_cleared_when_the_near_one_has_confirmed(patch: Patch) -> None:
    waiting: dict[Channel, Clear] = {}

    @patch.wrap(Clearing, "error")
    def error(
        original: Original, clearing: Clearing, diagnostic: int, cause: int | None = None
    ) -> None:
        channel = clearing.channel
        if not isinstance(channel.user, Relay):
            original(clearing, diagnostic, cause)
            return
        cause = ClearCause.LOCAL_PROCEDURE_ERROR if cause is None else cause
        waiting[channel] = clearing.remote_clear(cause, diagnostic)
        clearing.send(Clear(cause, diagnostic))

    @patch.wrap(Channel, "released")
    def released(original: Original, channel: Channel) -> None:
        clear = waiting.pop(channel, None)
        if clear is not None:
            channel.user.cleared(channel, clear)
        original(channel)
