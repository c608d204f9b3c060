# SPDX-License-Identifier: GPL-2.0-or-later
"""Resets: who confirms them, what outlives them, and what they say (X.25 4.4.3, 5.4.3)."""

from collections import deque

from .. import codec
from ..channel import Channel
from ..codec import Clear, Data
from ..codes import ClearCause, Diag, ResetCause, Type
from ..relay import Relay
from ..relay_endtoend import EndToEndRelay
from ..relay_local import LocalRelay
from ..resets import Resets
from ..tables import D, P
from ..terminal import Echo
from .registry import Original, Patch, variant

# GFI, logical channel and type.
_HEADER = 3


@variant("MAY-RST-01")
def late_echo(patch: Patch) -> None:
    @patch.wrap(Echo, "drop")
    def drop(original: Original, echo: Echo) -> None:
        read = list(echo.direction.queue)
        while read and read[-1].m:
            del read[-1]
        original(echo)
        echo.direction.queue.extend(read)
        echo.direction.made = len(read)


@variant("MAY-RST-02")
def confirmed_by_the_far_end(patch: Patch) -> None:
    @patch.wrap(LocalRelay, "settle_reset")
    def settle_reset(_original: Original, relay: LocalRelay, channel: Channel) -> None:
        other = relay.other(channel)
        if other is None or other.ready:
            channel.resets.confirm()

    @patch.wrap(LocalRelay, "reset_confirmed")
    def reset_confirmed(original: Original, relay: LocalRelay, channel: Channel) -> None:
        other = relay.other(channel)
        if other is not None:
            other.resets.confirm()
        original(relay, channel)


@variant("MAY-RST-03")
def confirmed_at_once(patch: Patch) -> None:
    @patch.wrap(EndToEndRelay, "settle_reset")
    def settle_reset(_original: Original, _relay: EndToEndRelay, channel: Channel) -> None:
        channel.resets.confirm()


@variant("MAY-RST-04", number=0.01)
def overtakes_data(patch: Patch) -> None:
    """What is on the way is dropped: Data and Interrupts, in order."""
    stored: dict[Channel, deque[tuple[Original, tuple[object, ...]]]] = {}

    def later(original: Original, relay: Relay, channel: Channel, *packet: object) -> None:
        waiting = stored.setdefault(channel, deque())
        waiting.append((original, (relay, channel, *packet)))
        if len(waiting) == 1:
            channel.start_timer("overtaken", patch.number, lambda: release(channel))

    def release(channel: Channel) -> None:
        waiting = stored.pop(channel, deque())
        for original, arguments in waiting:
            original(*arguments)
        channel.router.flush()

    for model in (LocalRelay, EndToEndRelay):

        @patch.wrap(model, "data_received")
        def data_received(original: Original, relay: Relay, channel: Channel, data: Data) -> None:
            later(original, relay, channel, data)

    @patch.wrap(EndToEndRelay, "flow_received")
    def flow_received(original: Original, relay: Relay, channel: Channel, *flow: object) -> None:
        later(original, relay, channel, *flow)

    @patch.wrap(Relay, "interrupt_received")
    def interrupt_received(
        original: Original, relay: Relay, channel: Channel, user_data: bytes
    ) -> None:
        later(original, relay, channel, user_data)

    @patch.wrap(Channel, "restart_numbers")
    def restart_numbers(original: Original, channel: Channel) -> None:
        stored.pop(channel, None)
        original(channel)


@variant("MAY-RST-06")
def no_diagnostic(patch: Patch) -> None:
    @patch.wrap(Resets, "emit")
    def emit_reset(original: Original, resets: Resets, cause: int, diagnostic: int) -> None:
        channel = resets.channel
        if diagnostic or channel.on_line:
            original(resets, cause, diagnostic)
            return
        cause = channel.rules.own_cause(cause)
        channel.interface.resets_out[cause] += 1
        channel.send(codec.header(channel.modulo, channel.lcn, Type.RESET) + bytes((cause,)))


@variant("MAY-RST-07")
def local_error_of_the_peer_is_a_remote_one(patch: Patch) -> None:
    @patch.wrap(Relay, "reset_received")
    def reset_received(
        original: Original, relay: Relay, channel: Channel, cause: int, diagnostic: int
    ) -> None:
        if cause == ResetCause.LOCAL_PROCEDURE_ERROR:
            cause = ResetCause.REMOTE_PROCEDURE_ERROR
        original(relay, channel, cause, diagnostic)


@variant("MAY-RST-05", number=0.05)
def confirmed_late(patch: Patch) -> None:
    @patch.wrap(Resets, "confirm")
    def confirm_reset(original: Original, resets: Resets) -> None:
        resets.channel.start_timer("confirm", patch.number, lambda: original(resets))

    @patch.wrap(EndToEndRelay, "writable")
    def writable(original: Original, relay: EndToEndRelay, channel: Channel) -> None:
        """A Reset that came before the late confirmation waits for that, not for the peer's."""
        original(relay, channel)
        other = relay.other(channel)
        if other is not None and channel.ready:
            other.resets.confirm()


@variant("MAY-RST-08")
def long_confirmation_discarded(patch: Patch) -> None:
    @patch.wrap(Resets, "on_confirmation")
    def on_reset_confirmation(original: Original, resets: Resets, octets: bytes) -> None:
        channel = resets.channel
        if len(octets) > _HEADER and channel.d is D.RESET_SENT:
            channel.discard()
        else:
            original(resets, octets)


@variant("MAY-RST-09")
def reset_ends_the_call(patch: Patch) -> None:
    @patch.wrap(Echo, "reset_received")
    def reset_received(
        _original: Original, _echo: Echo, channel: Channel, _cause: int, _diagnostic: int
    ) -> None:
        channel.clearing.clear(Clear(ClearCause.DTE_ORIGINATED, Diag.NONE))


@variant("MAY-RST-10", number=3)
def resets_of_its_own_accord(patch: Patch) -> None:
    """In place of taking the third Data of a call."""

    @patch.wrap(Echo, "data_received")
    def data_received(original: Original, echo: Echo, channel: Channel, data: Data) -> None:
        taken = vars(echo)["taken"] = vars(echo).get("taken", 0) + 1
        if taken == patch.number:
            channel.resets.reset(ResetCause.DTE_ORIGINATED, Diag.NONE)
        else:
            original(echo, channel, data)


@variant("MAY-RST-11")
def far_end_is_reset_when_the_near_one_has_confirmed(patch: Patch) -> None:
    """What the far end sends until then is lost."""
    waiting: dict[Relay, tuple[Channel, tuple[int, ...]]] = {}
    now: list[Original] = []

    @patch.wrap(Relay, "reset_by_error")
    def reset_by_error(original: Original, relay: Relay, channel: Channel, *why: int) -> None:
        now[:] = [original]
        relay.drop()
        other = relay.other(channel)
        waiting.pop(relay, None)
        if other is not None and other.d is not D.RESET_SENT:
            waiting[relay] = channel, why

    @patch.wrap(Resets, "complete")
    def complete(original: Original, resets: Resets) -> None:
        relay = resets.channel.user
        if isinstance(relay, Relay) and waiting.get(relay, (None,))[0] is resets.channel:
            channel, why = waiting.pop(relay)
            now[0](relay, channel, *why)
        original(resets)

    @patch.wrap(Relay, "reset_received")
    def reset_received(original: Original, relay: Relay, channel: Channel, *why: int) -> None:
        waiting.pop(relay, None)
        original(relay, channel, *why)

    @patch.wrap(Relay, "cleared")
    def cleared(original: Original, relay: Relay, channel: Channel, clear: Clear) -> None:
        waiting.pop(relay, None)
        original(relay, channel, clear)

    for model, name in (
        (LocalRelay, "data_received"),
        (EndToEndRelay, "data_received"),
        (Relay, "interrupt_received"),
    ):

        @patch.wrap(model, name)
        def received(original: Original, relay: Relay, channel: Channel, packet: object) -> None:
            if relay not in waiting:
                original(relay, channel, packet)


@variant("MAY-RST-12")
def discards_a_confirmation_that_is_not_due(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Original, channel: Channel, octets: bytes) -> None:
        ready = channel.p is P.DATA_TRANSFER and channel.d is D.FLOW_CONTROL_READY
        if not ready or octets[_HEADER - 1 : _HEADER] != bytes((Type.RESET_CONFIRMATION,)):
            original(channel, octets)


@variant("MAY-RST-13")
def passes_a_crossing_reset_on(patch: Patch) -> None:
    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Original, resets: Resets, octets: bytes) -> None:
        channel = resets.channel
        relay = channel.user
        other = relay.other(channel) if isinstance(relay, Relay) else None
        if channel.d is D.RESET_SENT and other is not None and other.d is D.RESET_RECEIVED:
            cause, diagnostic = codec.parse_reset(octets)
            channel.rules.check_cause(cause)
            other.d = D.FLOW_CONTROL_READY
            other.resets.emit(cause, diagnostic)
            original(resets, octets)
            relay.writable(other)
        else:
            original(resets, octets)
