# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal that calls (role R-TERM): a DTE that places a call when it is told to.

[caller] of the configuration says where it is told: a connection to `listen`, with the digits of
the called address, a blank and 128 for a call of modulo 128, and the end of the line. It calls by
the route of that address, with its own values, and sends `greeting` Data packets once it is
connected; what comes it takes as the sink does. A Call without an answer is cleared
after T21 (X.25 Table D-2).
"""

from collections.abc import Callable
from contextlib import suppress
from socket import socket

from . import codec, routes
from .addresses import Addresses
from .caller_config import CallerSettings
from .channel import Channel
from .codec import Call, Clear
from .codes import ClearCause, Diag
from .connection import Connection
from .environment import Host
from .facilities import PACKET_SIZE, WINDOW_SIZE, Facilities, Pair
from .negotiation import Negotiation
from .ports import Pending, Wire
from .relay import set_values
from .relayed import RelayedCall
from .routes import Route
from .switchboard import Switchboard
from .terminal import Terminal

#: Octets of a line that tells it to call: 15 digits and the end of the line.
LINE_LONGEST = 64
LINE_TIME = 10.0


class Caller(Terminal):
    """One call of its own."""

    def __init__(
        self, router: Switchboard, settings: CallerSettings, digits: str, modulo: int
    ) -> None:
        super().__init__(router)
        self.settings = settings
        self.pending: Pending | None = None
        self.lcn = 0
        self.to_greet = 0
        self.call = self.request(digits, modulo)

    def request(self, digits: str, modulo: int) -> Call:
        """The Call: both facilities (RFC 1613 6.1), and four octets of user data."""
        call = Call(modulo, 0, False, Addresses(called=digits, calling=self.settings.address))
        call.user_data = self.settings.user_data
        call.facilities = Facilities()
        size, window = self.settings.packet_size, self.settings.window
        call.facilities.put_pair(PACKET_SIZE, Pair(size, size))
        call.facilities.put_pair(WINDOW_SIZE, Pair(window, window))
        return call

    # -- set-up ---------------------------------------------------------------------------------

    def dial(self, route: Route) -> None:
        """Open a connection, and call."""
        self.offer = RelayedCall(self.router, route)
        self.pending = self.router.network.connect(
            route.to.host, route.to.port, self.connected, self.connect_failed
        )

    def connect_failed(self, reason: str) -> None:
        """Nobody is there: the call is given up, as a DTE does that is told to call again."""
        self.pending = None

    def connected(self, wire: Wire) -> Connection:
        """The connection is open: send the Call on it."""
        self.pending = None
        connection = self.router.new_connection(wire, accepted=False)
        channel = connection.channel
        channel.user = self
        self.router.circuits.add(self)
        self.lcn = self.choose_lcn()
        self.call.lcn = self.lcn
        self.send_call(channel)
        return connection

    def choose_lcn(self) -> int:
        """RFC 1613 5: any value will do; the lowest free one keeps captures readable."""
        return self.router.take_lcn()

    def send_call(self, channel: Channel) -> None:
        """A DTE runs T21 where a DCE has T11."""
        channel.setup.call(self.call)
        t21 = self.router.settings.t21
        channel.start_timer("T11", t21, lambda: self.t21_expired(channel))

    def t21_expired(self, channel: Channel) -> None:
        """The Call is not answered (X.25 Table D-2)."""
        channel.interface.count("x25StatCallTimeouts")
        channel.clearing.clear(
            Clear(ClearCause.DTE_ORIGINATED, Diag.TIME_INCOMING_CALL, by_peer=False)
        )

    def accept_received(self, channel: Channel, octets: bytes) -> None:
        """Call Connected: check it, and put the values into force that it agrees to (X.25 6.12)."""
        accept = codec.parse_accept(octets)
        size, window = self.agreed(accept, channel)
        set_values(channel, size, window, peer_calls=False)
        channel.setup.connected()
        self.to_greet = self.settings.greeting
        self.start(channel)
        self.writable(channel)

    def agreed(self, accept: Call, channel: Channel) -> tuple[Pair, Pair]:
        """Packet sizes and windows of the call. Raises PacketError."""
        offer = self.offer
        offer.offered = self.call
        offer.far_size = Pair(self.settings.packet_size, self.settings.packet_size)
        offer.far_window = Pair(self.settings.window, self.settings.window)
        negotiation = Negotiation(offer)
        negotiation.check_accept(accept, channel)
        return negotiation.answered(accept)

    # -- data transfer --------------------------------------------------------------------------

    def writable(self, channel: Channel) -> None:
        """Greet, as far as the window allows: full packets, M = 0."""
        while self.to_greet and channel.flow.can_send():
            self.to_greet -= 1
            channel.flow.send_data(False, False, False, bytes(channel.size_out))

    def acknowledged(self, channel: Channel, count: int) -> None:
        self.writable(channel)

    def flow_received(self, channel: Channel, packet_type: int, p_r: int) -> None:
        self.writable(channel)

    def drop(self) -> None:
        """X.25 4.5: what is left of the greeting is not sent behind a reset."""
        self.to_greet = 0

    # -- end ------------------------------------------------------------------------------------

    def released(self, channel: Channel) -> None:
        """The connection is closed with its call (RFC 1613 5)."""
        super().released(channel)
        self.router.give_lcn(self.lcn)
        channel.wire.close()


def dial(router: Switchboard, settings: CallerSettings, digits: str, modulo: int = 8) -> bool:
    """Place a call to this address; False: no route leads to another router."""
    route = routes.find(router.settings.routes, digits, router.settings.route_rule)
    if route is None or not route.to.host:
        return False
    Caller(router, settings, digits, modulo).dial(route)
    return True


class Told:
    """A connection over which it is told to call; answered by ok or no, and closed."""

    def __init__(self, server: Host, sock: socket, dial: Callable[[str, int], bool]) -> None:
        self.server = server
        self.socket = sock
        self.dial = dial
        self.line = b""
        sock.setblocking(False)
        self._timer = server.timers.start(LINE_TIME, self.close)
        self._events = server.watch(sock, 0, 1, self.ready)

    def ready(self, _events: int) -> None:
        try:
            octets = self.socket.recv(LINE_LONGEST)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            octets = b""
        self.line += octets
        if octets and b"\n" not in self.line and len(self.line) <= LINE_LONGEST:
            return
        self.obey()
        self.close()

    def obey(self) -> None:
        """Digits alone are an address; the modulo may stand behind them."""
        digits, _, modulo = self.line.strip().partition(b" ")
        right = digits.isdigit() and len(digits) <= 15 and modulo in (b"", b"8", b"128")
        done = right and self.dial(digits.decode(), int(modulo or b"8"))
        with suppress(OSError):
            self.socket.send(b"ok\n" if done else b"no\n")

    def close(self) -> None:
        self._timer.cancel()
        self._events = self.server.watch(self.socket, self._events, 0, self.ready)
        self.socket.close()
