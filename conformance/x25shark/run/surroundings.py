# SPDX-License-Identifier: GPL-2.0-or-later
"""What cases run within: the router, the listening sides, the lines, the capture of it all."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from ..counters.locations import survey
from ..counters.reader import ReadError, Reading
from ..evidence.capture import Capture, CaptureError
from ..evidence.slicer import Slice, Slicer
from ..judges.expectation import Direction
from ..links import own_addresses, xot
from ..links.loop import Loop
from ..links.owners import Owners
from ..links.xot import Address, LinkError, Listener
from ..profile import ProfileError
from ..sides.bench import PAUSE_SECONDS, START_SECONDS
from .lines import Lines
from .options import CampaignError, Options
from .rights import DIRECTLY, OWN, Rights, obtain
from .router import Router, RouterError

MOST_TURNED_AWAY = 20_000
# How long a router may take to end the connections of a case, for its evidence to be whole.
_LAST_FRAMES_SECONDS = 0.25


class Surroundings:
    """Opened step by step, for the steps take their time beside others; `stack` closes it all.

    key: of the markers. put: takes each slice of the capture. notes: what the user has to know.
    """

    def __init__(
        self,
        options: Options,
        loop: Loop,
        key: bytes,
        put: Callable[[Slice | None], None],
        stack: ExitStack,
        notes: list[str],
    ) -> None:
        self.profile = options.profile
        self.loop = loop
        self.router: Router | None = None
        self.listeners: dict[str, Listener] = {}
        self.capture: Capture | None = None
        self.slicer = Slicer(key, put, network=self.profile.xot is not None)
        self.lines = Lines(self.profile, loop, key, self.slicer)
        #: Connections that other users of this machine have made.
        self.strangers = 0
        #: Connections that the router opened between cases.
        self.turned_away: set[Direction] = set()
        self._options = options
        self._key = key
        self._stack = stack
        self._notes = notes
        self._rights: Rights

    # begin

    def obtain_rights(self) -> None:
        """The right to capture, if need be in a namespace of its own. Raises RightsError."""
        self._rights = obtain(self.profile, own=self._options.own_namespace)
        if self._rights.how != DIRECTLY:
            self._notes.append(f"capture: {self._rights.how}")

    def _launch_capture(self) -> None:
        """Have dumpcap started, if there is anything for it: it takes longer than a router."""
        ends = self.profile.xot
        if ends is None:
            return
        interface = self.profile.capture.interface
        if interface == "auto":
            interface = "lo" if self.profile.is_loopback else "any"
        ports = sorted({end[1] for end in (ends.router, ends.a, ends.b) if end is not None})
        hosts = sorted(self.profile.own_hosts)
        capture = Capture(self._key, self.slicer, interface, ports, self._rights.prefix, hosts)
        self._stack.callback(capture.abandon)
        capture.launch()
        self.capture = capture

    def open(self) -> None:
        """The router, the listening sides, the lines; the capture has begun.

        Raises CampaignError, CaptureError, LinkError, ProfileError, RouterError.
        """
        if self.profile.embedded is not None:
            # The loopback interface is there; that of another router its start may make.
            self._launch_capture()
        options = self._options
        self.router = self._stack.enter_context(
            Router(
                self.profile,
                options.directory / "router.log",
                options.router_options,
                may_stay=options.stop_on_fail,
            )
        )
        if self.router.found_running:
            self._notes.append(self.router.found_running)
        self._listen(others=self._rights.how != OWN)
        self.loop.interruptible = True
        self._reach()
        self.lines.start()
        if self.capture is None:
            self._launch_capture()
        if self.capture is not None:
            self.capture.begun()
        self.lines.connect(self.router.serial, self._start_seconds)
        self.loop.interruptible = False

    def _listen(self, *, others: bool) -> None:
        """Open the listening sides. others: other users may connect to them."""
        found = self.profile.xot
        if found is None:
            return
        owners = Owners(found.router, os.geteuid(), ours=self.profile.embedded is not None)
        ends = {"b": found.b, "b2": found.b2}
        own_addresses.demand(
            [end[0] for end in (found.a, *ends.values()) if end is not None], found.router[0]
        )
        if self.profile.two_sided or self.profile.calls:
            ends["a"] = found.a
        for name, address in ends.items():
            if address is not None:
                self._apart(name, address, found.router)
                listener = self.listeners[name] = Listener(self.loop, address)
                self._stack.callback(listener.close)
                if others:
                    listener.stranger = partial(self._stranger, owners, listener.address)

    def _apart(self, name: str, address: Address, router: Address) -> None:
        """Which side a call is for is told by where it arrives. Raises ProfileError."""
        if address == router:
            raise ProfileError(
                f"{self.profile.path}: xot.{name} is {address[0]}:{address[1]}, as xot.router is: "
                "the tester would call itself"
            )
        for other, listener in self.listeners.items():
            if listener.address == address:
                raise ProfileError(
                    f"{self.profile.path}: xot.{name} is {address[0]}:{address[1]}, as xot.{other} "
                    "is: each side of the tester needs an address of its own"
                )

    def _stranger(self, owners: Owners, listener: Address, remote: Address) -> bool:
        """Whether a connection is not of the router; it is not evidence then."""
        strange = owners.stranger(listener, remote)
        if strange:
            self.strangers += 1
            self.slicer.disown(listener, remote)
        return strange

    @property
    def _start_seconds(self) -> float:
        """How long what is refused is tried again: a command may have just started the router."""
        return START_SECONDS if self.profile.control.start is not None else 0.0

    def _reach(self) -> None:
        """One TCP connection before anything else: an unreachable router is a usage error.

        One that a command of the profile has just started may not listen yet.
        """
        ends = self.profile.xot
        if ends is None or ends.a is None or self.profile.only_calls:
            return
        router, own = ends.router, ends.a[0]
        try:
            connection = self.loop.persist(
                lambda: xot.connect(self.loop, router, own, 10.0),
                lambda failed: isinstance(failed, LinkError) and failed.refused,
                seconds=self._start_seconds,
                every=PAUSE_SECONDS,
            )
        except LinkError as error:
            started = self.router if self.profile.control.start is not None else None
            printed = started.last_printed if started is not None else ""
            raise CampaignError(
                f"the router does not answer: {error}. Check xot.router and xot.a in "
                f"{self.profile.path}, and that the router is running"
                + (f". What control.start printed last: {printed}" if printed else ""),
                2,
            ) from None
        if self.capture is not None:
            # Its last frames shall not come when the first case is captured.
            connection.finish_sending()
            self.loop.wait(lambda: connection.end is not None, self.profile.times.reaction)
        connection.close()

    # around a case

    def begin(self, number: int) -> None:
        """The markers at the begin of a case: what comes from here on is opened behind them."""
        if self.capture is not None:
            self.capture.begin(number)
        self.lines.begin(number)
        self._turn_away()
        for listener in self.listeners.values():
            listener.begin_case()

    def end(self, number: int) -> None:
        """The markers at its end."""
        if self.capture is not None:
            self.capture.end(number)
        self.lines.end(number)

    def behind(self) -> None:
        """What the router opens from here on is of no case."""
        self._turn_away()
        self.loop.look()

    def _turn_away(self) -> None:
        """Reset the connections that the router opens between the cases, and remember them."""
        if len(self.turned_away) > MOST_TURNED_AWAY:
            self.turned_away.clear()
        for listener in self.listeners.values():
            for remote in listener.turn_away():
                self.turned_away.add(Direction(remote, listener.address))

    def unfit(self) -> str:
        """Why no case can be judged any more; "": it can."""
        if self.capture is not None and not self.capture.alive:
            return f"the capture ended: {self.capture.failure or 'no reason given'}"
        return self.lines.dead

    # evidence

    def fence(self) -> None:
        """Wait until what was sent and received so far has been captured."""
        if self.capture is not None:
            self.capture.fence()

    def cut(self) -> None:
        """Give the judges the cases whose connections have ended."""
        self.fence()
        self.slicer.complete_ended()

    def cut_all(self) -> None:
        """As cut(), also where the router leaves connections open."""
        if self.capture is not None:
            self.capture.fence()
            if self.slicer.open_yet():
                self.loop.wait(lambda: False, _LAST_FRAMES_SECONDS)
                self.capture.fence()
        self.slicer.complete_ended()

    def stop_capture(self) -> str:
        """End taps and capture; their streams are in the slices then. Why not all is there."""
        self.lines.stop()
        try:
            if self.capture is not None:
                self.capture.stop()
            self.slicer.finish()
        except CaptureError as error:
            return str(error)
        return ""

    @property
    def lost(self) -> str:
        """How much of the evidence dumpcap has lost, in words."""
        return f"dumpcap lost {self.slicer.lost} packets" if self.slicer.lost else ""

    def strays(self) -> list[str]:
        """Frames that belong to no case, in words."""
        strays = list(self.slicer.strays)
        if self.slicer.stray_count > len(strays):
            strays.append(f"and {self.slicer.stray_count - len(strays)} more frames")
        return strays

    # the router

    def restart(self) -> None:
        """Start the router again, and connect its lines. Raises RouterError, CaptureError."""
        assert self.router is not None
        self.router.restart()
        self.lines.connect(self.router.serial, self._start_seconds)
        self.loop.here()

    def try_restart(self) -> str | None:
        """Start the router again; what went wrong, or nothing."""
        try:
            self.restart()
        except (CaptureError, RouterError, ProfileError) as error:
            return str(error)
        return None

    @property
    def can_restart(self) -> bool:
        return self.router is not None and self.router.can_restart

    def shorten_log(self) -> None:
        """Keep the router's log within its bound."""
        said = self.router.shorten_log() if self.router is not None else ""
        if said and said not in self._notes:
            self._notes.append(said)

    def counters_url(self) -> str | None:
        """Where the router shows its counters; that of the embedded one changes with a restart."""
        counters = self.profile.counters
        if counters is None or counters.url is not None or self.router is None:
            return counters.url if counters is not None else None
        return self.router.counters_url

    def look_at_counters(self) -> str:
        """Which of the counters that the profile names can be read now, in words."""
        counters, url = self.profile.counters, self.counters_url()
        if counters is None or url is None:
            return ""
        try:
            page = Reading(url, counters.timeout, reader=counters.reader).wait()
        except ReadError as error:
            return f"cannot be read: {error}"
        wanted, missing = survey(counters, page, self.profile.line.by_side())
        words = f"{url}: {wanted - len(missing)} of {wanted} are there"
        return words + (f"; not: {'; '.join(missing)}" if missing else "")
