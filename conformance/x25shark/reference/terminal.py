# SPDX-License-Identifier: GPL-2.0-or-later
"""Destinations inside the router that end a call themselves (role R-TERM).

echo returns each complete packet sequence with its Q, D and M bits, confirms each Interrupt and
returns it as an Interrupt; sink takes everything; source sends as fast as the window allows. Errors
are answered as on any interface of this router; a reset is confirmed at once.
"""

from . import facilities
from .channel import Channel
from .codec import Call, Clear, Data
from .codes import ClearCause, Diag
from .facilities import PACKET_SIZE, WINDOW_SIZE, Facilities
from .negotiation import check_user_data, requested
from .relay import set_values
from .relay_local import Direction
from .switchboard import Switchboard
from .user import ChannelUser


class Terminal(ChannelUser):
    """What the three terminals share: they accept calls; this one is the sink."""

    def __init__(self, router: Switchboard) -> None:
        self.router = router
        self.call: Call

    def call_received(self, channel: Channel, call: Call) -> None:
        """Accept the call, with both facilities in the answer (RFC 1613 6.1)."""
        self.call = call
        call.facilities.check(facilities.IN_CALL, call.modulo)
        check_user_data(call, call.facilities.fast_select)
        channel.fast_select = call.facilities.fast_select
        if call.facilities.restricted:
            # X.25 6.16: the only answer allowed is a Clear, which may carry the user data back.
            clear = Clear(ClearCause.DTE_ORIGINATED, Diag.NONE, extended=True)
            clear.user_data = call.user_data
            channel.clearing.clear(clear)
            return
        size, window = requested(call, channel.size_limit, min(channel.window_max, call.modulo - 1))
        set_values(channel, size, window, peer_calls=True)
        answer = Call(call.modulo, call.lcn, call.d, facilities=Facilities())
        answer.facilities.put_pair(PACKET_SIZE, size)
        answer.facilities.put_pair(WINDOW_SIZE, window)
        channel.setup.accept(answer)
        self.start(channel)

    def start(self, channel: Channel) -> None:
        """The circuit is in data transfer, now or again."""

    def data_received(self, channel: Channel, data: Data) -> None:
        channel.flow.acknowledge(1)

    def interrupt_received(self, channel: Channel, user_data: bytes) -> None:
        channel.interrupts.confirm()

    def reset_received(self, channel: Channel, cause: int, diagnostic: int) -> None:
        self.drop()
        channel.resets.confirm()

    def reset_by_error(self, channel: Channel, cause: int, diagnostic: int) -> None:
        self.drop()

    def reset_confirmed(self, channel: Channel) -> None:
        self.writable(channel)

    def drop(self) -> None:
        """X.25 4.5: forget what is under way."""

    def cleared(self, channel: Channel, clear: Clear) -> None:
        parties = self.call.addresses
        self.router.counters.circuit_cleared(
            parties.called_digits, parties.calling_digits, clear.cause, clear.diagnostic
        )

    def released(self, channel: Channel) -> None:
        self.router.circuits.discard(self)


class Echo(Terminal):
    """Returns what it gets."""

    def start(self, channel: Channel) -> None:
        self.direction = Direction(channel, channel, delivery=False)
        self.held_interrupt: bytes | None = None

    def data_received(self, channel: Channel, data: Data) -> None:
        self.direction.data(data)

    def acknowledged(self, channel: Channel, count: int) -> None:
        self.direction.acknowledged(count)

    def flow_received(self, channel: Channel, packet_type: int, p_r: int) -> None:
        self.direction.pump()

    def writable(self, channel: Channel) -> None:
        self.direction.pump()

    def drop(self) -> None:
        self.direction.clear()
        self.held_interrupt = None

    def interrupt_received(self, channel: Channel, user_data: bytes) -> None:
        """Confirm and return; while an own Interrupt is open the confirmation waits."""
        if channel.interrupt_out:
            self.held_interrupt = user_data
            return
        channel.interrupts.confirm()
        channel.interrupts.send(user_data)

    def interrupt_confirmed(self, channel: Channel) -> None:
        held, self.held_interrupt = self.held_interrupt, None
        if held is not None:
            self.interrupt_received(channel, held)


class Source(Terminal):
    """Sends full packets with a counting pattern, M = 0, as long as the call lasts."""

    #: Packets in one go, so that a large window does not hold the other calls.
    BURST = 16

    def start(self, channel: Channel) -> None:
        self.position = 0
        self.writable(channel)

    def writable(self, channel: Channel) -> None:
        for _ in range(self.BURST):
            if not channel.flow.can_send():
                break
            size = channel.size_out
            octets = bytes((self.position + index) & 0xFF for index in range(size))
            self.position = (self.position + size) & 0xFF
            channel.flow.send_data(False, False, False, octets)

    def acknowledged(self, channel: Channel, count: int) -> None:
        self.writable(channel)

    def flow_received(self, channel: Channel, packet_type: int, p_r: int) -> None:
        self.writable(channel)


TERMINALS: dict[str, type[Terminal]] = {"echo": Echo, "sink": Terminal, "source": Source}
