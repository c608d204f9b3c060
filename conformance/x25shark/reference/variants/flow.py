# SPDX-License-Identifier: GPL-2.0-or-later
"""When P(R) is sent, and when a receiver is not ready (X.25 4.4.1.3 to 4.4.1.6)."""

from ..channel import Channel
from ..codes import Type
from .registry import Original, Patch, variant

LATEST_SECONDS = 1.0


@variant("MAY-FLOW-01")
def rr_for_every_data(patch: Patch) -> None:
    @patch.wrap(Channel, "acknowledge")
    def each(_original: Original, channel: Channel, count: int) -> None:
        for _ in range(count if channel.ready else 0):
            channel.forward_flow(Type.RR, (channel.p_r + 1) % channel.modulo)


@variant("MAY-FLOW-02")
def rr_at_half_of_the_window(patch: Patch) -> None:
    @patch.wrap(Channel, "flush")
    def late(original: Original, channel: Channel) -> None:
        used = (channel.p_r - channel.p_r_sent) % channel.modulo
        if used * 2 >= channel.window_in:
            channel.stop_timer("acknowledge")
            original(channel)
        elif used:
            channel.start_timer("acknowledge", LATEST_SECONDS, lambda: original(channel))


@variant("MAY-FLOW-03", number=1)
def pauses(patch: Patch) -> None:
    counts: dict[Channel, int] = {}

    @patch.wrap(Channel, "on_data")
    def on_data(original: Original, channel: Channel, octets: bytes) -> None:
        original(channel, octets)
        counts[channel] = counts.get(channel, 0) + 1
        if channel.ready and counts[channel] % max(1, round(patch.number)) == 0:
            channel.forward_flow(Type.RNR, channel.p_r)
            channel.forward_flow(Type.RR, channel.p_r)
