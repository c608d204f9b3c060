# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts: when they pass, and when they are confirmed (X.25 4.3.7)."""

from ..channel import Channel
from ..codec import Data
from ..codes import Diag, PacketError
from ..interrupts import Interrupts
from ..relay import Relay
from ..relay_local import LocalRelay
from ..resets import Resets
from ..terminal import Echo
from .registry import Original, Patch, variant


@variant("MAY-INT-01", number=0.01)
def overtakes_all_data(patch: Patch) -> None:
    """Data waits a moment; a reset finds none of it waiting."""
    stored: dict[Channel, list[tuple[LocalRelay, Data]]] = {}

    @patch.wrap(LocalRelay, "data_received")
    def data_received(original: Original, relay: LocalRelay, channel: Channel, data: Data) -> None:
        waiting = stored.setdefault(channel, [])
        waiting.append((relay, data))

        def release() -> None:
            for held in stored.pop(channel, []):
                original(held[0], channel, held[1])
            channel.router.flush()

        vars(channel)["release"] = release
        if len(waiting) == 1:
            channel.start_timer("stored", patch.number, release)

    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Original, resets: Resets, octets: bytes) -> None:
        channel = resets.channel
        if channel in stored:
            vars(channel)["release"]()
        original(resets, octets)

    @patch.wrap(Channel, "restart_numbers")
    def restart_numbers(original: Original, channel: Channel) -> None:
        stored.pop(channel, None)
        original(channel)


@variant("MAY-INT-02", number=0.05)
def confirmed_late(patch: Patch) -> None:
    @patch.wrap(Relay, "interrupt_confirmed")
    def interrupt_confirmed(original: Original, relay: Relay, channel: Channel) -> None:
        other = relay.other(channel)
        if other is not None:
            other.start_timer("interrupt", patch.number, lambda: original(relay, channel))

    @patch.wrap(Channel, "restart_numbers")
    def restart_numbers(original: Original, channel: Channel) -> None:
        channel.stop_timer("interrupt")
        original(channel)


@variant("MAY-INT-03")
def echo_sends_none(patch: Patch) -> None:
    @patch.wrap(Echo, "interrupt_received")
    def interrupt_received(
        _original: Original, _echo: Echo, channel: Channel, _user_data: bytes
    ) -> None:
        channel.interrupts.confirm()


@variant("MAY-INT-04")
def echo_sends_before_it_confirms(patch: Patch) -> None:
    @patch.wrap(Echo, "interrupt_received")
    def interrupt_received(
        original: Original, echo: Echo, channel: Channel, user_data: bytes
    ) -> None:
        if channel.interrupt_out:
            original(echo, channel, user_data)
            return
        channel.interrupts.send(user_data)
        channel.interrupts.confirm()


@variant("MAY-INT-05")
def state_before_length(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_interrupt")
    def on_interrupt(original: Original, interrupts: Interrupts, octets: bytes) -> None:
        if interrupts.channel.interrupt_in:
            raise PacketError(Diag.INTERRUPT_NOT_DUE)
        original(interrupts, octets)

    @patch.wrap(Interrupts, "on_confirmation")
    def on_confirmation(original: Original, interrupts: Interrupts, octets: bytes) -> None:
        if not interrupts.channel.interrupt_out:
            raise PacketError(Diag.INTERRUPT_CONFIRMATION_NOT_DUE)
        original(interrupts, octets)


@variant("MAY-INT-06")
def discards_what_is_not_due(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_confirmation")
    def on_confirmation(original: Original, interrupts: Interrupts, octets: bytes) -> None:
        if interrupts.channel.interrupt_out:
            original(interrupts, octets)
