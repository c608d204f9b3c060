# SPDX-License-Identifier: GPL-2.0-or-later
"""How calls are refused and ended, and with which diagnostics (X.25 4.1, Annex E; RFC 1613 6.1)."""

from dataclasses import replace

from ..channel import Channel
from ..codec import Clear
from ..tables import P
from .registry import Original, Patch, variant


@variant("MAY-CLR-01")
def hang_up(patch: Patch) -> None:
    @patch.wrap(Channel, "send_clear")
    def send_clear(original: Original, channel: Channel, clear: Clear) -> None:
        if channel.p is not P.CALL_RECEIVED or clear.by_peer or channel.on_line:
            original(channel, clear)
            return
        channel.interface.count("x25StatInCallRefusals")
        channel.stop_timers()
        channel.p = P.CLEAR_SENT
        channel.joined = None
        channel.wire.close()


@variant("MAY-CLR-02")
def no_diagnostics(patch: Patch) -> None:
    @patch.wrap(Channel, "clear_error")
    def clear_error(
        original: Original, channel: Channel, _diagnostic: int, cause: int | None = None
    ) -> None:
        original(channel, 0, cause)

    @patch.wrap(Channel, "reset_error")
    def reset_error(original: Original, channel: Channel, _diagnostic: int) -> None:
        original(channel, 0)

    @patch.wrap(Channel, "emit_clear")
    def emit_clear(original: Original, channel: Channel, clear: Clear) -> None:
        original(channel, clear if clear.by_peer else replace(clear, diagnostic=0))
