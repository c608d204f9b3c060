# SPDX-License-Identifier: GPL-2.0-or-later
"""The state of one end of a circuit: values, numbers, windows and timers (X.25 4.4, Annex D)."""

from collections.abc import Callable

from .environment import Environment
from .facilities import DEFAULT_SIZE, DEFAULT_WINDOW
from .ports import Timer, Wire
from .tables import D, P


class Circuit:
    """What a channel and its parts know about the circuit; what they do is in channel.py."""

    def __init__(self, router: Environment, wire: Wire, accepted: bool) -> None:
        self.router = router
        #: True if the peer opened the connection, so that calls may come in on it.
        self.accepted = accepted
        self.settings = router.settings
        #: log2 of the largest packet size, and the largest window, on this side.
        self.size_limit = router.settings.size_limit
        self.window_max = router.settings.window_max
        self.wire = wire
        self.interface = router.counters.interface(wire.peer)
        self.permanent = False
        #: A logical channel of a serial interface, not an XOT connection.
        self.on_line = False
        #: RFC 1613 6.5: nothing but the answer to a PVC setup counts on this connection.
        self.awaits_setup = False
        #: Clearing was never confirmed; no other call may use the connection.
        self.given_up = False
        self.p = P.READY
        self.modulo = 8
        self.lcn = 0
        self._timers: dict[str, Timer] = {}
        self._gauge = ""
        #: How often the Clear or Reset that is not confirmed was sent again.
        self.repeats = 0
        self.forget_call()

    def forget_call(self) -> None:
        """Values of one call go back to their defaults."""
        self.fast_select = False
        self.restricted = False
        self.size_in = self.size_out = 1 << DEFAULT_SIZE
        self.window_in = self.window_out = DEFAULT_WINDOW
        self.restart_numbers()
        self.d = D.FLOW_CONTROL_READY

    def restart_numbers(self) -> None:
        """X.25 4.4.3: after set-up and reset numbers start at 0, interrupts are forgotten."""
        #: P(S) that is expected next.
        self.v_r = 0
        #: P(R) that may be sent, and the one last sent: the lower edge of the window given.
        self.p_r = 0
        self.p_r_sent = 0
        #: P(S) of the next Data packet to send.
        self.v_s = 0
        #: P(R) last received: the lower edge of the window for sending.
        self.p_r_received = 0
        self.peer_busy = False
        self.interrupt_in = False
        self.interrupt_out = False
        #: Q bit of the complete packet sequence that is under way.
        self.sequence_q: bool | None = None

    def p_s_is_valid(self, p_s: int) -> bool:
        """The next number, and inside the window that was given (X.25 4.4.1.2)."""
        return p_s == self.v_r and (p_s - self.p_r_sent) % self.modulo < self.window_in

    def p_r_is_valid(self, p_r: int) -> bool:
        """From the last one received up to the next P(S) to send (X.25 4.4.1.3)."""
        last = self.p_r_received
        return (p_r - last) % self.modulo <= (self.v_s - last) % self.modulo

    @property
    def ready(self) -> bool:
        """Data transfer without a reset under way."""
        return self.p is P.DATA_TRANSFER and self.d is D.FLOW_CONTROL_READY

    def window_open(self) -> bool:
        """Fewer Data packets on the way than the window allows."""
        return (self.v_s - self.p_r_received) % self.modulo < self.window_out

    def set_gauge(self, name: str) -> None:
        """Count this circuit in a gauge of the interface, and no longer in the one before."""
        if self._gauge:
            self.interface.count(self._gauge, -1)
        if name:
            self.interface.count(name)
        self._gauge = name

    def start_timer(self, name: str, seconds: float, expired: "Callable[[], None]") -> None:
        """Start or restart a timer; 0 seconds means that the router does not run it."""
        self.stop_timer(name)
        if seconds > 0:
            self._timers[name] = self.router.timers.start(seconds, expired)

    def stop_timer(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def stop_timers(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
