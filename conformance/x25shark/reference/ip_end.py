# SPDX-License-Identifier: GPL-2.0-or-later
"""A host inside the router: IP datagrams over circuits, ICMP echo answered (RFC 1356, RFC 877).

The first octet of call user data says what a circuit carries: 0xCC datagrams; 0x80 and a SNAP
header units of that protocol (here IP: OUI 00-00-00, 08-00); 0x00 units that begin with their own
0xCC, or 0x80 and SNAP header. Octets behind that are ignored. Each unit is a complete packet
sequence, and is answered on the circuit that brought it, in its form. Calls for anything else are
cleared with diagnostic 249, circuits without a datagram for a time with 0.
"""

from collections import deque

from . import ipv4
from .channel import Channel
from .codec import Call, Clear, Data
from .codes import ClearCause, Diag
from .ip_config import NLPID, NULL, SNAP, IpSettings
from .relay_local import Segment
from .switchboard import Switchboard
from .terminal import Terminal

IP = b"\xcc"
SNAP_IP = b"\x80\x00\x00\x00\x08\x00"
#: Octets of the longest unit that is put together: the longest datagram, and its identifier.
LONGEST = 65535 + len(SNAP_IP)


class IpEnd(Terminal):
    """See the module's text."""

    form = NLPID

    def __init__(self, router: Switchboard) -> None:
        super().__init__(router)
        assert router.settings.ip is not None  # a route to here has it
        self.ip: IpSettings = router.settings.ip

    # -- calls ----------------------------------------------------------------------------------

    def call_received(self, channel: Channel, call: Call) -> None:
        """Accept calls for what is carried here, and refuse all others before they are up."""
        self.call = call
        form = self.form_of(call.user_data)
        if form is None or not self.takes(form):
            self.refuse(channel, Diag.PROTOCOL_NOT_SUPPORTED)
            return
        self.form = form
        super().call_received(channel, call)

    def form_of(self, user_data: bytes) -> str | None:
        """What a circuit with this call user data carries; None: not IP (RFC 1356 3.2)."""
        if user_data[:1] == IP:
            return NLPID
        if user_data[:1] == b"\0":
            return NULL
        return SNAP if user_data[: len(SNAP_IP)] == SNAP_IP else None

    def takes(self, form: str) -> bool:
        """Whether one more circuit of this form is taken."""
        return form in self.ip.encapsulations

    def refuse(self, channel: Channel, diagnostic: int) -> None:
        channel.clearing.clear(Clear(ClearCause.DTE_ORIGINATED, diagnostic, by_peer=False))

    def start(self, channel: Channel) -> None:
        self.unit = bytearray()
        self.queue: deque[Segment] = deque()
        self.spoke(channel)

    def spoke(self, channel: Channel) -> None:
        """A datagram was on the circuit: its inactivity timer starts again (RFC 1356 3.9)."""
        channel.start_timer("idle", self.ip.idle, lambda: self.idle(channel))

    def idle(self, channel: Channel) -> None:
        channel.clearing.clear(Clear(ClearCause.DTE_ORIGINATED, Diag.NONE, by_peer=False))

    # -- datagrams that come in -----------------------------------------------------------------

    def data_received(self, channel: Channel, data: Data) -> None:
        """One packet; a complete packet sequence is a unit (RFC 1356 3.1)."""
        channel.flow.acknowledge(1)
        self.unit += data.user_data[: LONGEST - len(self.unit)]
        if data.m and not data.d and len(data.user_data) == channel.size_in:
            return
        unit = bytes(self.unit)
        self.unit.clear()
        self.spoke(channel)
        self.unit_received(channel, unit)

    def unit_received(self, channel: Channel, unit: bytes) -> None:
        """A unit: a datagram, or in the null encapsulation one behind its identifier."""
        identifier = self.identifier_of(unit)
        if identifier is None:
            return
        answer = self.answer(unit[len(identifier) :])
        if answer is not None:
            self.send_datagram(channel, answer, identifier)

    def answer(self, datagram: bytes) -> bytes | None:
        """What is sent back; None: nothing."""
        return ipv4.echo_reply(datagram, self.ip.address)

    def identifier_of(self, unit: bytes) -> bytes | None:
        """What precedes the datagram in a unit; None: it is not IP (RFC 1356 3.3)."""
        if self.form != NULL:
            return b""
        return next((one for one in (IP, SNAP_IP) if unit.startswith(one)), None)

    # -- and out --------------------------------------------------------------------------------

    def send_datagram(self, channel: Channel, datagram: bytes, identifier: bytes) -> None:
        """A datagram in the form of a unit that came, in pieces if it is longer than the MTU."""
        for piece in ipv4.fragments(datagram, self.ip.mtu):
            self.send_unit(channel, identifier + piece)

    def send_unit(self, channel: Channel, unit: bytes) -> None:
        """One complete packet sequence."""
        self.queue.extend(self.segments(unit, channel.size_out))
        self.writable(channel)

    def segments(self, unit: bytes, size: int) -> list[Segment]:
        """The packets of a unit, M = 1 in all but the last."""
        starts = range(0, len(unit), size)
        return [Segment(False, False, at != starts[-1], unit[at : at + size]) for at in starts]

    def writable(self, channel: Channel) -> None:
        while self.queue and channel.flow.can_send():
            channel.flow.send_data(*self.queue.popleft())
            self.spoke(channel)

    def acknowledged(self, channel: Channel, count: int) -> None:
        self.writable(channel)

    def flow_received(self, channel: Channel, packet_type: int, p_r: int) -> None:
        self.writable(channel)

    def drop(self) -> None:
        """RFC 1356 3.8: a datagram amid which the circuit is reset is lost."""
        self.unit.clear()
        self.queue.clear()
