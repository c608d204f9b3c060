# SPDX-License-Identifier: GPL-2.0-or-later
"""A serial interface: its logical channels, the restart procedure, Diagnostic packets.

X.25 3.3 and Table C-2 (restart), Table C-1 (what is checked before any state), 3.4.1 (Diagnostic),
4.6 (what a failure of the link does). Restarts are in restarts.py, the link below is in link.py, a
channel in serial_channel.py.
"""

from collections.abc import Callable

from . import codec
from .channel import Channel
from .codec import Call, Clear
from .codes import ClearCause, Diag, RestartCause, Type
from .environment import Environment
from .line_counters import LineCounters
from .link import SerialLink
from .ports import StreamWire
from .restarts import Restarts
from .serial_channel import SerialChannel
from .serial_config import SerialSettings
from .tables import P, R
from .user import ChannelUser


class SerialInterface:
    """See the module's text."""

    def __init__(self, router: Environment, settings: SerialSettings) -> None:
        self.router = router
        self.settings = settings
        self.name = settings.name
        self.dce = settings.dce
        self.modulo = settings.modulo
        self.size_limit = min(settings.size_limit, router.settings.size_limit)
        self.counters = LineCounters()
        router.counters.add(self.name, self.counters)
        self.channels: dict[int, SerialChannel] = {}
        self.r = R.DOWN
        self.restarts = Restarts(self)
        #: Told when the line has gone, to open it again.
        self.line_lost: Callable[[], None] = lambda: None
        self.link = SerialLink(
            self,
            settings.framing,
            settings.lapb,
            settings.dce,
            router.timers,
            self.counters,
            reject_giants=settings.giants == "reject",
        )

    # -- the link -------------------------------------------------------------------------------

    def connected(self, wire: StreamWire) -> SerialLink:
        """There is a line; the link takes what it brings."""
        self.link.connected(wire)
        return self.link

    def link_up(self) -> None:
        """X.25 4.6: a new link may have lost packets, so every call ends and the layer restarts."""
        self.end_calls(Clear(ClearCause.OUT_OF_ORDER, Diag.NONE, by_peer=False))
        self.restarts.restart(RestartCause.NETWORK_OPERATIONAL, Diag.NONE)

    def link_down(self) -> None:
        """X.25 4.6: the calls end with 'out of order'."""
        self.r = R.DOWN
        self.restarts.stop_timer()
        self.end_calls(Clear(ClearCause.OUT_OF_ORDER, Diag.NONE, by_peer=False))

    def drained(self) -> None:
        """The link takes packets again."""
        for channel in list(self.channels.values()):
            if channel.in_transfer():
                channel.user.writable(channel)

    def flush(self) -> None:
        self.link.flush()

    def stop(self) -> None:
        """Clear the calls, then end the link."""
        for channel in list(self.channels.values()):
            channel.clearing.clear(Clear(ClearCause.OUT_OF_ORDER, Diag.NONE, by_peer=False))
        self.link.close()

    # -- packets that come in -------------------------------------------------------------------

    def packet_in(self, octets: bytes) -> None:
        """Table C-1: what is checked before any state."""
        self.counters.packets_in[codec.kind_of(octets)] += 1
        if len(octets) < 2:
            self.diagnose(Diag.TOO_SHORT, octets)
            return
        if codec.modulo_of(octets) != self.modulo:
            self.diagnose(Diag.INVALID_GFI, octets)
            return
        lcn = codec.lcn_of(octets)
        if lcn == 0:
            self.restarts.on_channel_zero(octets)
        elif lcn not in self.settings.lcns:
            self.diagnose(Diag.UNASSIGNED_CHANNEL, octets)
        elif self.r is R.READY:
            self.channel(lcn).receive(octets)
        else:
            self.discard()

    def discard(self) -> None:
        self.counters.count("ifInDiscards")

    def channel(self, lcn: int) -> SerialChannel:
        """A channel of the range, made when it is first used."""
        found = self.channels.get(lcn)
        if found is None:
            found = self.channels[lcn] = SerialChannel(self, lcn)
        return found

    def end_calls(self, clear: Clear) -> None:
        """Every call of the interface is over, and only those."""
        for channel in list(self.channels.values()):
            channel.end(clear)

    # -- packets that go out --------------------------------------------------------------------

    def packet_out(self, octets: bytes) -> None:
        self.counters.packets_out[codec.kind_of(octets)] += 1
        self.link.send(octets)

    def diagnose(self, diagnostic: int, octets: bytes) -> None:
        """A Diagnostic with the first three octets of what is wrong; only a DCE sends it."""
        self.discard()
        if self.dce and self.settings.diagnostics:
            header = codec.header(self.modulo, 0, Type.DIAGNOSTIC)
            self.packet_out(header + bytes((diagnostic,)) + octets[:3])

    # -- calls towards the line -----------------------------------------------------------------

    def refusal(self, call: Call) -> tuple[int, int] | None:
        """Cause and diagnostic if a call cannot go out here now."""
        if self.r is not R.READY:
            return ClearCause.OUT_OF_ORDER, Diag.NONE
        if self.free_lcn() == 0:
            return ClearCause.NUMBER_BUSY, Diag.NO_LOGICAL_CHANNEL
        if len(codec.encode_call(Type.CALL, call)) > self.link.longest_packet:
            return ClearCause.OUT_OF_ORDER, Diag.TOO_LONG
        return None

    def free_lcn(self) -> int:
        """X.25 Annex A: the DCE looks from below, the DTE from above; 0: none is free."""
        lcns = self.settings.lcns if self.dce else reversed(self.settings.lcns)
        for lcn in lcns:
            channel = self.channels.get(lcn)
            if channel is None or channel.is_free():
                return lcn
        return 0

    def take_channel(self, user: ChannelUser) -> Channel:
        """The channel for a call that refusal() has not refused."""
        channel = self.channel(self.free_lcn())
        channel.user = user
        channel.p = P.CALL_SENT
        return channel
