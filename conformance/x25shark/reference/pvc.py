# SPDX-License-Identifier: GPL-2.0-or-later
"""Permanent circuits over XOT (RFC 1613 6.5).

A connection for a PVC starts with a PVC setup packet (type 0xF5) of its initiator; the responder
answers with the same packet and a status. Octets: 1-3 header, 4 version 0x81, 5 status, 6 length N
of the initiator's interface name, 7-8 initiator LCN, 9 length M of the responder's interface name,
10-11 responder LCN, 12-13 sender's incoming and outgoing window, 14-15 sender's incoming and
outgoing packet size (log2), then the two names in ASCII.

Configuration, one [[pvc]] per end:
    name = "Serial0", lcn = 1                   this end
    remote_name = "Serial1", remote_lcn = 2     the other router's end
    peer = "127.0.25.3:1998"                    present: this router opens the connection
    to = "echo", "sink", or "Serial7/3"         what the end is joined to inside this router
    window_in, window_out, packet_size_in, packet_size_out (octets), retry = 300 (seconds)

Two ends that name each other are joined as a 'local' relay joins the halves of a call. After a
setup each end is reset: with cause 0x09 (remote DTE operational) if its partner is up, else 0x01
(out of order); the partner is reset when an end comes or goes.
"""

from ipaddress import IPv4Address
from typing import TYPE_CHECKING, NamedTuple

from . import codec
from .channel import Channel
from .codec import Clear, Data
from .codes import Diag, PacketError, ResetCause, Type
from .config import Pvc
from .connection import Connection
from .ports import Pending, Timer, Wire
from .relay_local import Direction
from .tables import D, P
from .user import ChannelUser

if TYPE_CHECKING:
    from .router import Router

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


class PvcEnd(ChannelUser):
    """One end of a permanent circuit."""

    def __init__(self, router: "Router", settings: Pvc) -> None:
        self.router = router
        self.settings = settings
        self.channel: Channel | None = None
        #: The end it is joined to; itself for an echo, None for a sink.
        self.partner: PvcEnd | None = None
        self.outgoing: Direction | None = None
        self.pending: Pending | None = None
        self.waiting: Channel | None = None
        self.timer: Timer | None = None

    # -- initiator ------------------------------------------------------------------------------

    def start(self) -> None:
        """Open the connection, if this end is the initiator and not up or on the way."""
        peer = self.settings.peer
        self.timer = None
        if peer is None or self.channel or self.pending or self.waiting or self.router.stopping:
            return
        self.pending = self.router.network.connect(
            peer.host, peer.port, self.connected, lambda reason: self.try_later()
        )

    def connected(self, wire: Wire) -> Connection:
        """Send the setup and wait for the answer."""
        self.pending = None
        connection = self.router.new_connection(wire, accepted=False)
        channel = self.waiting = connection.channel
        channel.user = self
        channel.awaits_setup = True
        channel.send(encode_setup(self.settings.lcn, self.setup(Status.WAITING)))
        channel.start_timer("setup", self.router.settings.t21, lambda: self.failed(channel))
        return connection

    def setup(self, status: int) -> Setup:
        """The setup of this end as initiator."""
        own = self.settings
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
        try:
            accepted = parse_setup(octets).status == Status.WAITING
        except PacketError:
            accepted = False
        self.waiting = None
        channel.stop_timer("setup")
        if accepted and self.keeps_own():
            self.up(channel)
        else:
            self.failed(channel)

    def keeps_own(self) -> bool:
        """Two setups collided: the connection opened from the lower address counts."""
        other = self.channel
        if other is None:
            return True
        if IPv4Address(self.router.settings.source or "0.0.0.0") > IPv4Address(other.wire.peer):
            return False
        self.channel = None
        other.user = ChannelUser()
        other.wire.close()
        return True

    def failed(self, channel: Channel) -> None:
        """No circuit on this connection."""
        self.waiting = None
        channel.stop_timer("setup")
        channel.wire.close()
        if self.channel is None:
            self.try_later()

    def try_later(self) -> None:
        """RFC 1613 6.5: wait before the next attempt."""
        self.pending = None
        if self.timer is None and self.settings.peer is not None:
            self.timer = self.router.timers.start(self.retry_pause(), self.start)

    def retry_pause(self) -> float:
        return self.settings.retry

    # -- responder ------------------------------------------------------------------------------

    def check(self, setup: Setup) -> int:
        """Status for a setup that names this end (RFC 1613 6.5)."""
        own = self.settings
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
        return self.channel is not None

    def values_fit(self, setup: Setup) -> bool:
        """What is incoming there is outgoing here."""
        own = self.settings
        return (setup.window_in, setup.window_out, setup.size_in, setup.size_out) == (
            own.window_out,
            own.window_in,
            own.packet_size_out,
            own.packet_size_in,
        )

    def reply(self, setup: Setup, status: int) -> Setup:
        """The setup sent back: this end's own values, the status."""
        own = self.settings
        return setup._replace(
            version=VERSION,
            status=status,
            window_in=own.window_in,
            window_out=own.window_out,
            size_in=own.packet_size_in,
            size_out=own.packet_size_out,
        )

    # -- the circuit ----------------------------------------------------------------------------

    def up(self, channel: Channel) -> None:
        """The setup succeeded: the circuit exists, and is reset."""
        own = self.settings
        self.channel = channel
        channel.user = self
        channel.stop_timers()
        channel.permanent = True
        channel.awaits_setup = False
        channel.p, channel.d = P.DATA_TRANSFER, D.FLOW_CONTROL_READY
        channel.modulo, channel.lcn = 8, own.lcn
        channel.window_in, channel.window_out = own.window_in, own.window_out
        channel.size_in = 1 << own.packet_size_in
        channel.size_out = 1 << own.packet_size_out
        channel.set_gauge("x25StatTwowayCircuits")
        self.join()
        self.announce(channel)
        partner = self.partner
        if partner is not None and partner is not self and partner.channel is not None:
            partner.join()
            partner.channel.resets.reset(ResetCause.REMOTE_DTE_OPERATIONAL, Diag.NONE)

    def announce(self, channel: Channel) -> None:
        """RFC 1613 6.5: a Reset follows the setup."""
        channel.resets.reset(self.reset_cause(), Diag.NONE)

    def reset_cause(self) -> int:
        """X.25 5.4.3: what the other end of the circuit is."""
        partner = self.partner
        if partner is not None and partner.channel is None:
            return ResetCause.OUT_OF_ORDER
        return ResetCause.REMOTE_DTE_OPERATIONAL

    def join(self) -> None:
        """Data of this end goes to the partner, if that is up."""
        self.outgoing = None
        partner = self.partner
        if self.channel is not None and partner is not None and partner.channel is not None:
            echo = partner is self
            self.outgoing = Direction(self.channel, partner.channel, delivery=not echo)
            if not echo:
                partner.outgoing = Direction(partner.channel, self.channel)

    def towards(self) -> Direction | None:
        """The direction that ends here."""
        return self.partner.outgoing if self.partner is not None else None

    def pvc_setup_received(self, channel: Channel, octets: bytes) -> bool:
        if channel is self.waiting:
            self.answered(channel, octets)
        return True

    def data_received(self, channel: Channel, data: Data) -> None:
        if self.outgoing is not None:
            self.outgoing.data(data)
        elif self.partner is None:
            channel.flow.acknowledge(1)
        else:
            channel.resets.reset(ResetCause.OUT_OF_ORDER, Diag.NONE)

    def acknowledged(self, channel: Channel, count: int) -> None:
        direction = self.towards()
        if direction is not None:
            direction.acknowledged(count)

    def flow_received(self, channel: Channel, packet_type: int, p_r: int) -> None:
        self.writable(channel)

    def writable(self, channel: Channel) -> None:
        direction = self.towards()
        if direction is not None:
            direction.pump()

    def interrupt_received(self, channel: Channel, user_data: bytes) -> None:
        """Confirmed end to end where there is another end that can take it."""
        other = self.partner.channel if self.partner is not None else None
        if other is None or other is channel or not other.ready or other.interrupt_out:
            channel.interrupts.confirm()
        else:
            other.interrupts.send(user_data)

    def interrupt_confirmed(self, channel: Channel) -> None:
        if self.partner is not None and self.partner.channel is not None:
            self.partner.channel.interrupts.confirm()

    def reset_received(self, channel: Channel, cause: int, diagnostic: int) -> None:
        self.reset_partner(cause, diagnostic)
        channel.resets.confirm()

    def reset_by_error(self, channel: Channel, cause: int, diagnostic: int) -> None:
        self.reset_partner(cause, diagnostic)

    def reset_confirmed(self, channel: Channel) -> None:
        self.writable(channel)

    def reset_partner(self, cause: int, diagnostic: int) -> None:
        """Drop what is under way in both directions, and reset the other end."""
        partner = self.partner
        for direction in (self.outgoing, self.towards()):
            if direction is not None:
                direction.clear()
        if partner is not None and partner is not self and partner.channel is not None:
            partner.channel.resets.reset(cause, diagnostic)

    def cleared(self, channel: Channel, clear: Clear) -> None:
        """The connection is gone: the other end is told (RFC 1613 6.5), a new attempt is due."""
        if channel is not self.channel:
            return
        self.channel = None
        self.reset_partner(ResetCause.OUT_OF_ORDER, Diag.NONE)
        self.outgoing = None
        if self.partner is not None:
            self.partner.outgoing = None
        self.try_later()

    def released(self, channel: Channel) -> None:
        channel.permanent = False
        channel.wire.close()

    def lost(self, channel: Channel) -> None:
        """The responder closed instead of an answer."""
        if channel is self.waiting:
            self.failed(channel)


class PvcTable:
    """All ends of permanent circuits of this router."""

    def __init__(self, router: "Router") -> None:
        self.router = router
        self.ends = {
            (pvc.name.lower(), pvc.lcn): PvcEnd(router, pvc) for pvc in router.settings.pvcs
        }
        for end in self.ends.values():
            end.partner = self.partner(end)

    def partner(self, end: PvcEnd) -> PvcEnd | None:
        target = end.settings.to.lower()
        if target == "echo":
            return end
        if target == "sink":
            return None
        name, _, lcn = target.rpartition("/")
        return self.ends[name, int(lcn)]

    def start(self) -> None:
        """Initiators begin."""
        for end in self.ends.values():
            end.start()

    def setup_received(self, channel: Channel, octets: bytes) -> bool:
        """A PVC setup on a fresh connection; False if this router has no PVCs."""
        if not self.ends or not channel.accepted:
            return False
        channel.stop_timer("empty")
        channel.modulo, channel.lcn = 8, codec.lcn_of(octets)
        try:
            setup = parse_setup(octets)
        except PacketError:
            # The names cannot be told apart, so the answer has none.
            self.refuse(channel, Setup(0, 0, 0, 0, 0, 0, 0, 0, "", ""), Status.PROTOCOL_ERROR)
            return True
        if setup.version != VERSION or setup.status != Status.WAITING:
            self.refuse(channel, setup, Status.PROTOCOL_ERROR)
            return True
        end, status = self.find(setup)
        if end is None:
            self.refuse(channel, setup, status)
        elif (status := end.check(setup)) != Status.WAITING:
            self.refuse(channel, end.reply(setup, status), status)
        else:
            channel.send(encode_setup(channel.lcn, end.reply(setup, Status.WAITING)))
            end.up(channel)
        return True

    def find(self, setup: Setup) -> tuple[PvcEnd | None, int]:
        """The end that a setup names, without regard to case; else the status."""
        name = setup.responder_name.lower()
        end = self.ends.get((name, setup.responder_lcn))
        if end is not None:
            return end, Status.WAITING
        if any(known == name for known, _lcn in self.ends):
            return None, Status.NO_SUCH_PVC
        return None, Status.NO_SUCH_INTERFACE

    def refuse(self, channel: Channel, setup: Setup, status: int) -> None:
        """Answer with a status and close."""
        answer = setup._replace(version=VERSION, status=status)
        channel.send(encode_setup(channel.lcn, answer))
        channel.wire.close()
