# SPDX-License-Identifier: GPL-2.0-or-later
"""The PVC setup packet (RFC 1613 6.5), and what the two ends of it do.

Octets: 1-3 header, 4 version 0x81, 5 status, 6 length N of the initiator's interface name,
7-8 initiator LCN, 9 length M of the responder's interface name, 10-11 responder LCN,
12-13 sender's incoming and outgoing window, 14-15 sender's incoming and outgoing packet size
(log2), then the two names in ASCII.
"""

from ipaddress import IPv4Address
from typing import NamedTuple

from . import codec
from .channel import Channel
from .codes import Diag, PacketError, Type
from .config import Pvc
from .connection import Connection
from .ports import Pending, Timer, Wire
from .switchboard import Switchboard
from .user import ChannelUser

VERSION = 0x81
SHORTEST = 15


class Status:
    """Status of a PVC setup (RFC 1613 6.5)."""

    WAITING = 0x00
    NO_SUCH_INTERFACE = 0x13
    NO_SUCH_PVC = 0x16
    CONFIGURATION_MISMATCH = 0x17
    FLOW_CONTROL_MISMATCH = 0x18
    FLOW_CONTROL_UNSUPPORTED = 0x19
    PROTOCOL_ERROR = 0x1A


class Setup(NamedTuple):
    """A PVC setup packet; windows and sizes are those of its sender."""

    version: int
    status: int
    initiator_lcn: int
    responder_lcn: int
    window_in: int
    window_out: int
    size_in: int
    size_out: int
    initiator_name: str
    responder_name: str


def parse_setup(octets: bytes) -> Setup:
    """Read a PVC setup. Raises PacketError 38 if names or fields run past the end."""
    if len(octets) < SHORTEST:
        raise PacketError(Diag.TOO_SHORT)
    names = octets[SHORTEST:]
    n, m = octets[5], octets[8]
    if not names_fit(n, m, len(names)):
        raise PacketError(Diag.TOO_SHORT)
    return Setup(
        octets[3],
        octets[4],
        octets[6] << 8 | octets[7],
        octets[9] << 8 | octets[10],
        octets[11],
        octets[12],
        octets[13],
        octets[14],
        names[:n].decode("latin-1"),
        names[n : n + m].decode("latin-1"),
    )


def names_fit(n: int, m: int, available: int) -> bool:
    """The two names fill the rest of the packet: no padding (RFC 1613 6.5)."""
    return n + m == available


def encode_setup(lcn: int, setup: Setup) -> bytes:
    """A PVC setup packet."""
    initiator = setup.initiator_name.encode("latin-1")
    responder = setup.responder_name.encode("latin-1")
    return (
        codec.header(8, lcn, Type.PVC_SETUP)
        + bytes((setup.version, setup.status, len(initiator)))
        + setup.initiator_lcn.to_bytes(2, "big")
        + bytes((len(responder),))
        + setup.responder_lcn.to_bytes(2, "big")
        + bytes((setup.window_in, setup.window_out, setup.size_in, setup.size_out))
        + initiator
        + responder
    )


class SetUpEnd(ChannelUser):
    """One end of a permanent circuit, as its setup sees it; see pvc.py."""

    router: Switchboard
    settings: Pvc
    channel: Channel | None
    pending: Pending | None
    waiting: Channel | None
    timer: Timer | None

    def up(self, channel: Channel) -> None:
        """The setup succeeded."""
        raise NotImplementedError


class Initiator:
    """Opens the connection of an end, and tries again later where that fails."""

    def __init__(self, end: SetUpEnd) -> None:
        self.end = end

    def start(self) -> None:
        """Open the connection, if this end is the initiator and not up or on the way."""
        end = self.end
        peer = end.settings.peer
        end.timer = None
        if peer is None or end.channel or end.pending or end.waiting or end.router.stopping:
            return
        end.pending = end.router.network.connect(
            peer.host, peer.port, self.connected, lambda reason: self.try_later()
        )

    def connected(self, wire: Wire) -> Connection:
        """Send the setup and wait for the answer."""
        end = self.end
        end.pending = None
        connection = end.router.new_connection(wire, accepted=False)
        channel = end.waiting = connection.channel
        channel.user = end
        channel.awaits_setup = True
        channel.send(encode_setup(end.settings.lcn, self.setup(Status.WAITING)))
        channel.start_timer("setup", end.router.settings.t21, lambda: self.failed(channel))
        return connection

    def setup(self, status: int) -> Setup:
        """The setup of this end as initiator."""
        own = self.end.settings
        return Setup(
            VERSION,
            status,
            own.lcn,
            own.remote_lcn,
            own.window_in,
            own.window_out,
            own.packet_size_in,
            own.packet_size_out,
            own.name,
            own.remote_name,
        )

    def answered(self, channel: Channel, octets: bytes) -> None:
        """The responder's answer."""
        end = self.end
        try:
            accepted = parse_setup(octets).status == Status.WAITING
        except PacketError:
            accepted = False
        end.waiting = None
        channel.stop_timer("setup")
        if accepted and self.keeps_own():
            end.up(channel)
        else:
            self.failed(channel)

    def keeps_own(self) -> bool:
        """Two setups collided: the connection opened from the lower address counts."""
        end = self.end
        other = end.channel
        if other is None:
            return True
        if IPv4Address(end.router.settings.source or "0.0.0.0") > IPv4Address(other.wire.peer):
            return False
        end.channel = None
        other.user = ChannelUser()
        other.wire.close()
        return True

    def failed(self, channel: Channel) -> None:
        """No circuit on this connection."""
        end = self.end
        end.waiting = None
        channel.stop_timer("setup")
        channel.wire.close()
        if end.channel is None:
            self.try_later()

    def try_later(self) -> None:
        """RFC 1613 6.5: wait before the next attempt."""
        end = self.end
        end.pending = None
        if end.timer is None and end.settings.peer is not None:
            end.timer = end.router.timers.start(self.retry_pause(), self.start)

    def retry_pause(self) -> float:
        return self.end.settings.retry


class Responder:
    """Checks and answers a PVC setup that names an end."""

    def __init__(self, end: SetUpEnd) -> None:
        self.end = end

    def check(self, setup: Setup) -> int:
        """Status for a setup that names this end (RFC 1613 6.5)."""
        own = self.end.settings
        if setup.initiator_name.lower() != own.remote_name.lower():
            return Status.CONFIGURATION_MISMATCH
        if setup.initiator_lcn != own.remote_lcn or self.is_taken():
            return Status.CONFIGURATION_MISMATCH
        if max(setup.window_in, setup.window_out) > 7 or min(setup.window_in, setup.window_out) < 1:
            return Status.FLOW_CONTROL_UNSUPPORTED
        if not all(4 <= size <= 12 for size in (setup.size_in, setup.size_out)):
            return Status.FLOW_CONTROL_UNSUPPORTED
        return Status.WAITING if self.values_fit(setup) else Status.FLOW_CONTROL_MISMATCH

    def is_taken(self) -> bool:
        """The circuit is up; in a collision of two setups the responder's connection counts."""
        return self.end.channel is not None

    def values_fit(self, setup: Setup) -> bool:
        """What is incoming there is outgoing here."""
        own = self.end.settings
        return (setup.window_in, setup.window_out, setup.size_in, setup.size_out) == (
            own.window_out,
            own.window_in,
            own.packet_size_out,
            own.packet_size_in,
        )

    def reply(self, setup: Setup, status: int) -> Setup:
        """The setup sent back: this end's own values, the status."""
        own = self.end.settings
        return setup._replace(
            version=VERSION,
            status=status,
            window_in=own.window_in,
            window_out=own.window_out,
            size_in=own.packet_size_in,
            size_out=own.packet_size_out,
        )
