# SPDX-License-Identifier: GPL-2.0-or-later
"""Permanent circuits over XOT (RFC 1613 6.5).

A connection for a PVC starts with a PVC setup packet of its initiator; the responder answers with
the same packet and a status (pvc_setup.py).

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

from . import codec, pvc_setup
from .channel import Channel
from .codec import Clear, Data
from .codes import Diag, PacketError, ResetCause
from .config import Pvc
from .ports import Pending, Timer
from .pvc_setup import VERSION, Initiator, Responder, Setup, SetUpEnd, Status, parse_setup
from .relay_local import Direction
from .switchboard import Switchboard
from .tables import D, P


class PvcEnd(SetUpEnd):
    """One end of a permanent circuit."""

    def __init__(self, router: Switchboard, settings: Pvc) -> None:
        self.router = router
        self.settings = settings
        self.channel: Channel | None = None
        #: The end it is joined to; itself for an echo, None for a sink.
        self.partner: PvcEnd | None = None
        self.outgoing: Direction | None = None
        #: An Interrupt for this end, which has not confirmed a reset.
        self.held_interrupt: bytes | None = None
        self.pending: Pending | None = None
        self.waiting: Channel | None = None
        self.timer: Timer | None = None
        self.initiator = Initiator(self)
        self.responder = Responder(self)

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
            self.initiator.answered(channel, octets)
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
        held, self.held_interrupt = self.held_interrupt, None
        if held is not None:
            channel.interrupts.send(held)
        direction = self.towards()
        if direction is not None:
            direction.pump()

    def interrupt_received(self, channel: Channel, user_data: bytes) -> None:
        """Confirmed end to end where there is another end; it waits only for a reset."""
        partner = self.partner
        if partner is None or partner is self or partner.channel is None:
            channel.interrupts.confirm()
        elif partner.channel.ready:
            partner.channel.interrupts.send(user_data)
        else:
            partner.held_interrupt = user_data

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
        for end in (self, partner):
            if end is not None:
                end.held_interrupt = None
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
        self.initiator.try_later()

    def released(self, channel: Channel) -> None:
        channel.permanent = False
        channel.wire.close()

    def lost(self, channel: Channel) -> None:
        """The responder closed instead of an answer."""
        if channel is self.waiting:
            self.initiator.failed(channel)


class PvcTable:
    """All ends of permanent circuits of this router."""

    def __init__(self, router: Switchboard) -> None:
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
            end.initiator.start()

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
        elif (status := end.responder.check(setup)) != Status.WAITING:
            self.refuse(channel, end.responder.reply(setup, status), status)
        else:
            channel.send(
                pvc_setup.encode_setup(channel.lcn, end.responder.reply(setup, Status.WAITING))
            )
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
        channel.send(pvc_setup.encode_setup(channel.lcn, self.refusal(setup, status)))
        channel.wire.close()

    def refusal(self, setup: Setup, status: int) -> Setup:
        """The setup sent back."""
        return setup._replace(version=VERSION, status=status)
