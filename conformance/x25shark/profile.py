# SPDX-License-Identifier: GPL-2.0-or-later
"""Router profiles: one TOML file that describes a router to be tested (PICS, PIXIT, links, hooks).

The shortest profile for a router with two XOT sides:

    relay_model = "local"

    [xot]
    router = "192.0.2.1"
    a = "192.0.2.10"
    b = "192.0.2.11"

    [addresses]
    a = "31"
    b = "21"

Without b the router ends the calls itself (configuration T2): addresses.echo names an address whose
user sends back what it reads, addresses.accepts one that only takes calls (a DTE, a PAD). One that
calls (T6) has control.call, a command that makes it place a call; it need not take any. What a
profile does not declare is NOT APPLICABLE, never FAIL.

A side may be a serial line with HDLC and LAPB instead, in place of xot.a or xot.b, or of both:

    [line.b]
    tcp = "192.0.2.1:2001"    # octets of the line over TCP, or pty = "/dev/pts/7"
    framing = "octet"         # octet-stuffed; "bit": bit-synchronous
    role = "dce"              # the router's; the tester is the other

A router that carries IP over X.25 has addresses.ip and [ip] besides (see Ip).

A profile that differs from another one in little says so: extends = "reference" (a built-in
profile, or a file beside this one) and what differs; omits = ["ip"] names what it lacks
(extending.py).
"""

from __future__ import annotations

import difflib
import ipaddress
import re
import tomllib
from importlib import resources
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from .counters.settings import Counters
from .endpoints import XOT_PORT, endpoint
from .extending import EXTENDS, OMITS, ExtendingError, extended
from .foreign import parse_trouble, text_of
from .line_places import BY_KEY, WAYS, Way

# Octets: a key of as many parts as fit in takes Python seconds, and four times as long with twice.
LONGEST_PROFILE = 1 << 16
LONGEST_T1 = 60.0
# Profiles that extend one another.
MOST_EXTENDED = 8

PICS_ITEMS: dict[str, str] = {
    "R-DCE": "acts as DCE",
    "R-DTE": "acts as DTE: its own clears and resets have cause 0x00",
    "R-STE": "acts as STE: causes of both kinds pass",
    "N-TRUST": "leaves checks of P(S), P(R), sizes and Q to the ends",
    "N-CHECK": "checks them itself, although numbers are end to end",
    "N-BELOW": "takes answers below the default packet size or window",
    "X-PVC": "PVC setup (RFC 1613 6.5)",
    "X-KA": "finds dead peers",
    "X-MULTI": "several circuits on one TCP connection",
    "P-PVC": "permanent virtual circuits",
    "P-MOD128": "modulo 128",
    "P-MOD32768": "modulo 32768",
    "P-MIXMOD": "connects sides of different modulus",
    "P-DBIT": "delivery confirmation end to end",
    "P-INT1": "interrupt user data of one octet only",
    "P-REJ": "packet retransmission",
    "P-DIAG": "sends Diagnostic packets",
    "P-REG": "registration",
    "P-LCRANGE": "one-way logical channel ranges",
    "F-THR": "throughput class negotiation",
    "F-CUG": "closed user groups",
    "F-FS": "fast select",
    "F-FSA": "checks fast select acceptance",
    "F-RC": "reverse charging",
    "F-RCA": "checks reverse charging acceptance",
    "F-REDIR": "call redirection",
    "F-TD": "transit delay",
    "F-BAR": "barring of incoming calls",
    "F-TOA": "TOA/NPI addresses (A bit)",
    "R-REWRITE": "address rewriting",
    "R-ALT": "alternative routes",
    "R-INSERT": "insertion of a missing calling address",
    "T-10": "timer T10",
    "T-11": "timer T11",
    "T-12": "timer T12",
    "T-13": "timer T13",
    "G-MIB": "counters can be read",
    "I-IP": "carries IP",
    "L-FRMR": "sends FRMR",
    "L-T3": "supervises an idle link",
}
# What follows from the lines of a profile.
LINE_ITEMS: dict[str, str] = {
    "L-LAPB": "has a LAPB interface",
    "L-HDLC": "HDLC on a serial line",
    "L-MOD8": "LAPB modulo 8",
    "L-INIT": "starts the link itself",
}
# What X.25 and RFC 1613 demand of everyone; 'lacks' takes them away from an old router.
MANDATORY: dict[str, str] = {
    "X-TCP": "accepts XOT connections",
    "X-OUT": "opens XOT connections (two-sided configurations)",
    "P-SVC": "virtual calls",
    "P-MOD8": "modulo 8",
    "P-INT32": "interrupt user data up to 32 octets",
    "F-PKT": "packet size negotiation",
    "F-WIN": "window size negotiation",
    "F-DTE": "passes DTE facilities behind marker 0x0F",
    "F-MARK": "understands the markers 0x00 and 0xFF",
}
# The address of no host: the system chooses one of its own.
_ANY_HOST = "0.0.0.0"
MODELS = {"local": "M-LOCAL", "end-to-end": "M-E2E", "splice": "M-SPLICE"}


class ProfileError(Exception):
    """A profile that cannot be used; the message names file, line, field and the remedy."""


def _pair(value: Any) -> Any:
    """Two whole numbers, the first not above the second."""
    whole = isinstance(value, (list, tuple)) and len(value) == 2
    if not whole or not all(type(v) is int for v in value) or not 1 <= value[0] <= value[1] <= 4095:
        raise ValueError(f"{value!r} is not two numbers from 1 to 4095, such as [1, 255]")
    return tuple(value)


Endpoint = Annotated[tuple[str, int], BeforeValidator(endpoint)]
_DIGITS, _DIGITS_OR_NONE = r"^[0-9]{1,15}$", r"^[0-9]{0,15}$"
Digits = Annotated[str, Field(pattern=_DIGITS)]
DigitsOrNone = Annotated[str, Field(pattern=_DIGITS_OR_NONE)]
# What such a pattern asks for, in words.
PATTERNS = {_DIGITS: "1 to 15 digits", _DIGITS_OR_NONE: "at most 15 digits"}


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Xot(_Table):
    """[xot]: who is where. Ports are 1998 unless given."""

    router: Endpoint
    a: Endpoint | None = Field(
        default=None, description="address from which tester A calls and where it listens"
    )
    b: Endpoint | None = Field(default=None, description="where the router sends calls for B")
    b2: Endpoint | None = Field(default=None, description="a second destination")

    @field_validator("router")
    @classmethod
    def _is_one(cls, router: tuple[str, int]) -> tuple[str, int]:
        if ipaddress.IPv4Address(router[0]).is_unspecified:
            raise ValueError(f"{router[0]} is where a router listens; give an address to reach it")
        return router


if TYPE_CHECKING:

    class _Places(_Table):
        """One key for each way to a line; Line.place has the one that is given."""

else:
    _Places = create_model(
        "_Places",
        __base__=_Table,
        **{way.KEY: (Annotated[way.TYPE | None, BeforeValidator(way.read)], None) for way in WAYS},
    )


class Line(_Places):
    """[line.a] or [line.b]: a serial line of the router (HDLC, LAPB), as the router has it.

    One of: a key of line_places (tcp: the tester connects to there, for the octets of the line;
    pty: path of a terminal); serial: name of an interface of the embedded reference router.
    n1: bits of the longest frame with its FCS; k, n2, t1 and t3 (seconds): X.25 2.4.8. modulo: of
    the packet layer. initiates: it starts the link.
    """

    serial: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_]{1,15}$")
    framing: Literal["octet", "bit"] = "octet"
    role: Literal["dce", "dte"] = "dce"
    modulo: Literal[8, 128] = 8
    t1: float = Field(default=3.0, gt=0, le=LONGEST_T1)
    t3: float = Field(default=30.0, gt=0, le=600)
    n1: int = Field(default=2104, ge=1088, le=65536, multiple_of=8)
    n2: int = Field(default=10, ge=1, le=255)
    k: int = Field(default=7, ge=1, le=7)
    lcn: Annotated[tuple[int, int], BeforeValidator(_pair)] = (1, 255)
    initiates: bool = False

    @property
    def t1_at_most(self) -> float:
        """Seconds after which T1 has run out: T1 is agreed on, and has no usual value (X.25
        2.4.8.1), so that one which is not given may be the longest that could be."""
        return self.t1 if "t1" in self.model_fields_set else LONGEST_T1

    @model_validator(mode="after")
    def _one_place(self) -> Line:
        given = [key for key in (*BY_KEY, "serial") if getattr(self, key) is not None]
        if len(given) != 1:
            keys = ", ".join(BY_KEY)
            examples = ", ".join(f"{way.KEY} = {way.EXAMPLE}" for way in WAYS)
            raise ValueError(
                f'give one of {keys} and serial: where the line is ({examples}, serial = "s0")'
            )
        if self.whole_frames and self.framing == "bit":
            assert self.place is not None
            raise ValueError(
                f'framing = "bit" is of a line whose bits are carried; {self.place[0].KEY} hands '
                f'whole frames on: leave it out, or say framing = "octet"'
            )
        return self

    @property
    def whole_frames(self) -> bool:
        """Whether the way to the line hands whole frames on, and nothing else of it."""
        return self.place is not None and self.place[0].WHOLE_FRAMES

    @property
    def place(self) -> tuple[Way, Any] | None:
        """How the line is reached, and where; None: it is one of the embedded router."""
        for way in WAYS:
            value = getattr(self, way.KEY)
            if value is not None:
                return way, value
        return None


class Lines(_Table):
    """[line.a], [line.b]: the sides that are serial lines."""

    a: Line | None = None
    b: Line | None = None

    def by_side(self) -> dict[str, Line]:
        """The lines there are, by "a" and "b"."""
        both = {"a": self.a, "b": self.b}
        return {side: line for side, line in both.items() if line is not None}


class Addresses(_Table):
    """[addresses]: X.121 addresses."""

    a: Digits = "3100001"
    b: Digits | None = None
    b2: Digits | None = None
    # T2: addresses whose calls the router answers itself. echo sends Data back and nothing
    # unasked; accepts sends what it likes.
    echo: Digits | None = None
    accepts: Digits | None = None
    # Where calls that carry IP go (RFC 1356); [ip] says the rest.
    ip: Digits | None = None
    no_route: Digits | None = None
    loop: Digits | None = None
    loop_to_router: Digits | None = None
    barred: Digits | None = None
    no_fast_select: Digits | None = None
    no_reverse_charging: Digits | None = None
    down: Digits | None = None
    alternate: Digits | None = None
    # The called address with which their calls arrive, which a router may rewrite; "": none.
    a_arrives: DigitsOrNone | None = None
    b_arrives: DigitsOrNone | None = None
    # The calling address with which their calls arrive, which a network may write otherwise.
    a_calls_as: Digits | None = None
    b_calls_as: Digits | None = None
    rewrite_longer: dict[str, Digits] | None = None
    rewrite_shorter: dict[str, Digits] | None = None
    insert_calling: dict[str, Digits] | None = None
    modulo8_only: Digits | None = None
    # An address of B on a path where each side has a packet size of its own (relay model local).
    own_sizes: Digits | None = None
    prefixes: dict[Digits, Literal["b", "b2"]] = Field(default_factory=dict)


class Times(_Table):
    """[times]: seconds. reaction: TR; quiet: TQ; dial: until a call that control.call asks for has
    come, before nothing can be said of it; the others as in X.25 Annex D."""

    reaction: float = Field(default=2.0, gt=0, le=60)
    quiet: float = Field(default=1.0, gt=0, le=60)
    acknowledge: float = Field(default=5.0, gt=0, le=600)
    stall: float = Field(default=30.0, gt=0, le=600)
    t10: float = Field(default=60.0, gt=0)
    t11: float = Field(default=180.0, gt=0)
    t12: float = Field(default=60.0, gt=0)
    t13: float = Field(default=60.0, gt=0)
    t21: float = Field(default=200.0, gt=0)
    t23: float = Field(default=180.0, gt=0)
    idle: float = Field(default=600.0, gt=0)
    keepalive: float = Field(default=180.0, gt=0)
    call_longest: float = Field(default=210.0, gt=0)
    tempty: float = Field(default=0.0, ge=0)
    pvc_retry: float = Field(default=60.0, gt=0)
    dial: float = Field(default=10.0, gt=0, le=600)

    @property
    def soonest(self) -> float:
        """The first timer of the router to run out if the tester does nothing."""
        timers = (self.t11, self.t12, self.t13, self.t21, self.stall, self.idle)
        return min(*timers, self.tempty or self.idle)


class Limits(_Table):
    """[limits]: sizes and numbers."""

    packet_size: Literal[16, 32, 64, 128, 256, 512, 1024, 2048, 4096] = 1024
    window: int = Field(default=7, ge=1, le=127)
    calls: int | None = Field(default=None, ge=1)
    stalled_connections: int = Field(default=64, ge=1, le=1024)


class PvcEnd(_Table):
    """One end of a permanent circuit as the router has it; remote_...: what the tester calls it.

    Windows and packet sizes (octets) are the router's own; a setup of the tester has them crossed.
    """

    interface: str = Field(min_length=1, max_length=255, pattern=r"^[ -~]+$")
    lcn: int = Field(default=1, ge=1, le=4095)
    remote_interface: str = Field(min_length=1, max_length=255, pattern=r"^[ -~]+$")
    remote_lcn: int = Field(default=1, ge=1, le=4095)
    incoming_window: int = Field(default=2, ge=1, le=7)
    outgoing_window: int = Field(default=2, ge=1, le=7)
    incoming_packet_size: Literal[16, 32, 64, 128, 256, 512, 1024, 2048, 4096] = 128
    outgoing_packet_size: Literal[16, 32, 64, 128, 256, 512, 1024, 2048, 4096] = 128


class Pvc(_Table):
    """[pvc.a] and so on: permanent circuits over XOT (RFC 1613 6.5)."""

    a: PvcEnd | None = Field(default=None, description="tester A opens the connection")
    b: PvcEnd | None = Field(default=None, description="other end of that circuit, opened by B")
    asymmetric: PvcEnd | None = Field(
        default=None, description="opened by A; its values differ per direction"
    )
    outgoing: PvcEnd | None = Field(
        default=None, description="the router opens the connection, to pvc.listen, and echoes data"
    )
    listen: Endpoint | None = Field(default=None, description="an address of the tester's own")


class LineDirection(_Table):
    """One direction of an emulated access line; 0: no limit. rate: bit/s; delay: milliseconds;
    queue, queue_octets: what may wait while another packet is sent; loss: share of packets."""

    rate: int = Field(default=0, ge=0, le=10**10)
    delay: float = Field(default=0.0, ge=0, le=60_000)
    queue: int = Field(default=0, ge=0, le=10**6)
    queue_octets: int = Field(default=0, ge=0, le=10**9)
    loss: float = Field(default=0.0, ge=0, le=1)


class AccessLine(_Table):
    """[emulation.a] or [emulation.b]: the line between that side of the tester and the router."""

    framing: Literal["xot", "hdlc", "hdlcoctet"] = "xot"
    overflow: Literal["hold", "drop"] = "hold"
    to_router: LineDirection = LineDirection()
    to_tester: LineDirection = LineDirection()


class Emulation(_Table):
    """[emulation]: access lines of known rate and delay, for the load and ip commands.

    at: relays of the engine in front of the router, or the interfaces of the embedded one.
    """

    at: Literal["relay", "router"] = "relay"
    a: AccessLine | None = None
    b: AccessLine | None = None


class Ip(_Table):
    """[ip]: the router is an IP host on its circuits, and answers ICMP echo (RFC 1356).

    router, tester: IPv4 addresses; the router has to know the tester's as one that addresses.a
    leads to. encapsulations: what it takes besides 0xCC. idle: seconds after which it clears an
    idle circuit, 0: never; without it that is not tested. mtu: octets of the longest datagram that
    it sends.
    """

    router: IPv4Address
    tester: IPv4Address
    encapsulations: frozenset[Literal["null", "snap"]] = frozenset()
    idle: float | None = Field(default=None, ge=0, le=86400)
    mtu: int | None = Field(default=None, ge=576, le=65535)

    @model_validator(mode="after")
    def _two_hosts(self) -> Ip:
        if self.router == self.tester:
            raise ValueError(f"tester: {self.tester} is the router's own address, too")
        return self


class Control(_Table):
    """[control]: shell commands that start, stop and check the router, run as given.

    call: makes the router under test place a call to the address that {address} stands for, with
    the modulo, 8 or 128, that {modulo} stands for where the command has that (T6).
    filters: sets as many filter conditions as {count} says, for x25shark bench.
    orderly: stop and restart let the router end by itself; otherwise they switch it off.
    """

    start: str | None = None
    stop: str | None = None
    restart: str | None = None
    call: str | None = Field(default=None, min_length=1)
    filters: str | None = Field(default=None, pattern=r"\{count\}")
    orderly: bool = True


class Capture(_Table):
    """[capture]: where dumpcap listens. namespace: auto, own or host."""

    interface: str = Field(default="auto", pattern=r"^[A-Za-z0-9_.:-]{1,15}$")
    namespace: Literal["auto", "own", "host"] = "auto"


class Profile(_Table):
    """A router profile. See the module's text for the shortest one."""

    extends: str | None = Field(default=None, exclude=True)
    omits: tuple[str, ...] = Field(default=(), exclude=True)
    name: str = Field(default="router", max_length=60)
    relay_model: Literal["local", "end-to-end", "splice"] = "local"
    xot: Xot | None = None
    line: Lines = Lines()
    addresses: Addresses = Addresses()
    pics: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    diagnostics: Literal["exact", "group", "any"] = "group"
    route_rule: Literal["longest", "first"] = "longest"
    causes_no_route: frozenset[int] = frozenset({0x0D, 0x09, 0x05})
    causes_down: frozenset[int] = frozenset({0x09, 0x0D, 0x05})
    times: Times = Times()
    limits: Limits = Limits()
    pvc: Pvc = Pvc()
    ip: Ip | None = None
    emulation: Emulation = Emulation()
    control: Control = Control()
    capture: Capture = Capture()
    counters: Counters | None = None
    embedded: str | None = Field(default=None, description="reference router configuration")
    path: str = Field(default="", exclude=True)
    text: str = Field(default="", exclude=True)

    @model_validator(mode="after")
    def _consistent(self) -> Profile:
        for item in sorted(self.pics | self.lacks):
            if item not in PICS_ITEMS and item not in MANDATORY:
                known = [*PICS_ITEMS, *MANDATORY]
                raise ValueError(f"pics: {item!r} is not a PICS item{_nearest(item, known)}")
        self._check_sides()
        own = self.addresses
        self._check_call()
        if "b" not in self.sides and not (own.echo or own.accepts or own.ip or self.calls):
            raise ValueError(
                "addresses: without xot.b (a second side) addresses.echo or addresses.accepts is "
                "needed: an address whose calls the router answers itself, and whose user sends "
                "back what it reads (echo), or may not (accepts); or addresses.ip with [ip]; or "
                "control.call, a command that makes the router call"
            )
        self._check_ip()
        self._check_emulation()
        if "b" in self.sides and self.addresses.b is None:
            raise ValueError(
                "addresses: b is missing: an X.121 address that is routed to side B "
                "(xot.b or line.b)"
            )
        if self.counters is not None and self.counters.url is None and self.embedded is None:
            raise ValueError("counters: url is missing: where the router shows its counters")
        if "G-MIB" in self.pics and self.counters is None:
            raise ValueError("pics: G-MIB needs the section [counters]: how they are read")
        return self

    def _check_call(self) -> None:
        if self.control.call is None:
            return
        if "b" in self.sides:
            raise ValueError(
                "control.call: is for a router that ends its calls itself, and goes without a side "
                "B (xot.b or line.b)"
            )
        if self.xot is None or self.xot.a is None:
            raise ValueError("control.call: needs xot.a, where the router's calls arrive")

    def _check_ip(self) -> None:
        if self.ip is None and (self.addresses.ip is not None or "I-IP" in self.pics):
            raise ValueError(
                "ip: the section is missing: the IP addresses of router and tester ([ip] "
                'router = "10.25.0.1", tester = "10.25.0.2")'
            )
        if self.ip is not None and self.addresses.ip is None:
            raise ValueError("addresses: ip is missing: where calls that carry IP go ([ip])")

    def _check_emulation(self) -> None:
        for side in ("a", "b"):
            at = getattr(self.xot, side) if self.xot is not None else None
            if getattr(self.emulation, side) is not None and at is None:
                raise ValueError(f"emulation.{side}: xot.{side} is missing, the end of that line")
        if self.emulation.at == "router" and self.embedded is None:
            raise ValueError(
                "emulation.at: only the embedded reference router has lines at its own "
                'interfaces; leave it out, or write "relay"'
            )

    def _check_sides(self) -> None:
        lines = self.line.by_side()
        if self.xot is None and not lines:
            raise ValueError("xot: is missing; for a side on a serial line give [line.a]")
        for side, line in lines.items():
            if self.xot is not None and getattr(self.xot, side) is not None:
                raise ValueError(
                    f"line.{side}: side {side.upper()} is already given by xot.{side}; remove "
                    f"one of the two"
                )
            if line.serial is not None and self.embedded is None:
                raise ValueError(
                    f"line.{side}.serial: names an interface of the embedded reference router; "
                    "for another router give tcp or pty"
                )
        if self.xot is not None and self.xot.a is None and "a" not in lines:
            raise ValueError("xot.a: is missing")
        if self.xot is not None and self.xot.b is not None and "a" in lines:
            raise ValueError(
                "line.a: where one side is XOT that is side A: give the line as [line.b], and "
                "xot.a in place of xot.b"
            )
        if "a" not in self.sides:
            raise ValueError("line.a: is missing; it is needed, as side A makes the calls")

    @property
    def sides(self) -> frozenset[str]:
        """The sides that the tester plays: "a", "b", "b2"."""
        found = set(self.line.by_side())
        if self.xot is not None:
            found |= {side for side in ("a", "b", "b2") if getattr(self.xot, side) is not None}
        return frozenset(found)

    @property
    def has_dte_line(self) -> bool:
        """Whether the router is the DTE of a line, with the timers of one (X.25 Table D-2)."""
        return any(line.role == "dte" for line in self.line.by_side().values())

    @property
    def says_relay_model(self) -> bool:
        """Whether the relay model is given, and not the usual one for want of it."""
        return "relay_model" in self.model_fields_set

    @property
    def two_sided(self) -> bool:
        """Whether the tester plays both ends of a call."""
        # As "b" in self.sides, which every packet that is sent would ask.
        return self.line.b is not None or (self.xot is not None and self.xot.b is not None)

    @property
    def calls(self) -> bool:
        """Whether the router under test can be made to call (T6)."""
        return self.control.call is not None

    @property
    def calls_as_told(self) -> bool:
        """Whether it is told with which modulo it is to call."""
        return self.control.call is not None and "{modulo}" in self.control.call

    @property
    def only_calls(self) -> bool:
        """Whether it takes no calls at all, and need not listen."""
        return self.configurations == ("T6",)

    @property
    def xot_end(self) -> Xot:
        """[xot], which a profile without serial lines always has. Raises ProfileError."""
        if self.xot is None:
            raise ProfileError(f"{self.path}: this needs [xot]: a router that speaks XOT")
        return self.xot

    @property
    def own_ends(self) -> tuple[Endpoint, ...]:
        """Where the tester itself speaks XOT: side A, side B and its second end, the PVC's."""
        xot = self.xot
        ends = [self.pvc.listen, *([] if xot is None else (xot.a, xot.b, xot.b2))]
        return tuple(end for end in ends if end is not None)

    @property
    def xot_ports(self) -> frozenset[int]:
        """All TCP ports that XOT is on, besides 1998."""
        router = () if self.xot is None else (self.xot.router,)
        return frozenset(port for _, port in (*self.own_ends, *router)) - {XOT_PORT}

    @property
    def own_hosts(self) -> frozenset[str]:
        """The addresses over which the tester speaks XOT; none where the system chooses one."""
        hosts = frozenset(host for host, _ in self.own_ends)
        return frozenset() if _ANY_HOST in hosts else hosts

    @property
    def xot_a(self) -> tuple[str, int]:
        """Where side A is over XOT. Raises ProfileError."""
        if self.xot_end.a is None:
            raise ProfileError(f"{self.path}: this needs xot.a: side A over XOT")
        return self.xot_end.a

    @property
    def configurations(self) -> tuple[str, ...]:
        """T1: both ends over XOT; T2: the router ends the calls; TX: XOT and a serial line;
        T4: a serial line; T5: the router takes calls for IP and no others; T6: it calls."""
        return (*self._taking_calls, *(("T6",) if self.calls else ()))

    @property
    def _taking_calls(self) -> tuple[str, ...]:
        """The configurations in which the tester calls."""
        answers = self.addresses.echo or self.addresses.accepts
        if not self.two_sided and not answers:
            return () if self.calls and self.addresses.ip is None else ("T5",)
        if not self.line.by_side():
            return ("T1",) if self.two_sided else ("T2",)
        return ("TX", "T4") if self.xot is not None else ("T4",)

    @property
    def configuration(self) -> str:
        """The first of the configurations."""
        return self.configurations[0]

    @property
    def declared(self) -> frozenset[str]:
        """All PICS items that hold, relay model and role included."""
        items = (self.pics | set(MANDATORY)) - self.lacks
        if self.counters is not None:
            items |= {"G-MIB"}
        if self.ip is not None:
            items |= {"I-IP"}
        if self.two_sided:
            items |= {"R-SW", MODELS[self.relay_model]}
        else:
            # X-TCP stands for the stream of a connection, too: a DTE that only calls has one.
            items = (items if self.calls else items - {"X-OUT"}) | {"R-TERM"}
        lines = self.line.by_side().values()
        if lines:
            items |= {"L-LAPB", "L-HDLC", "L-MOD8"} - self.lacks
            items |= {"L-INIT"} if any(line.initiates for line in lines) else set()
            items |= {"R-DTE" if line.role == "dte" else "R-DCE" for line in lines}
        if self.xot is None:
            items -= {"X-TCP", "X-OUT"}
        if "N-TRUST" in items:
            items -= {"N-CHECK"}
        if not items & {"R-DCE", "R-DTE", "R-STE"}:
            items |= {"R-STE" if self.two_sided else "R-DTE"}
        return frozenset(items)

    def has(self, key: str) -> bool:
        """Whether the profile has what a "needs" condition of a purpose names."""
        if key.startswith("packet_size "):
            return self.limits.packet_size >= int(key.split()[1])
        if key == "ip.idle":
            return self.ip is not None and bool(self.ip.idle)
        if key == "control.stop":
            both = self.control.start is not None and self.control.stop is not None
            return self.embedded is not None or self.control.restart is not None or both
        table, name = key.split(".")
        return bool(getattr(getattr(self, table), name))

    @property
    def out_of_reach(self) -> str:
        """Which sides of the tester a router on another machine cannot call, in words; "": none."""
        if self.xot is None or ipaddress.ip_address(self.xot.router[0]).is_loopback:
            return ""
        ends = {"xot.a": self.xot.a, "xot.b": self.xot.b, "xot.b2": self.xot.b2}
        found = [
            f"{name} is {end[0]}"
            for name, end in ends.items()
            if end is not None and ipaddress.ip_address(end[0]).is_loopback
        ]
        if not found:
            return ""
        return f"{', '.join(found)}: only this machine reaches it, and a router elsewhere cannot"

    @property
    def is_loopback(self) -> bool:
        """Whether all of the test stays on this machine's loopback interface."""
        places = [line.place for line in self.line.by_side().values()]
        hosts = [place[0].host(place[1]) for place in places if place is not None]
        if self.xot is not None:
            ends = (self.xot.router, self.xot.a, self.xot.b, self.xot.b2)
            hosts += [end[0] for end in ends if end is not None]
        return all(ipaddress.ip_address(host).is_loopback for host in hosts if host is not None)


def _nearest(word: str, known: list[str]) -> str:
    found = difflib.get_close_matches(word, known, 1, 0.5)
    return f"; did you mean {found[0]!r}?" if found else f"; known are: {', '.join(sorted(known))}"


def builtin_profiles() -> list[str]:
    """The names of the profiles that come with x25shark."""
    folder = resources.files("x25shark") / "profiles"
    return sorted(f.name[:-5] for f in folder.iterdir() if f.name.endswith(".toml"))


def load_profile(name: str) -> Profile:
    """A built-in profile by its name, or a profile by its path. Raises ProfileError."""
    text, where = _text_of_profile(name)
    return parse_profile(text, where)


def _text_of_profile(name: str) -> tuple[str, str]:
    """The text of a profile, and what messages call it. Raises ProfileError."""
    builtin = builtin_profiles()
    if name in builtin:
        text = (resources.files("x25shark") / "profiles" / f"{name}.toml").read_text("utf-8")
        return text, f"{name} (built-in)"
    path = Path(name)
    if not path.exists():
        of_a_file = "/" in name or name.endswith(".toml")
        hint = f"; x25shark init {name} writes one" if of_a_file else _nearest(name, builtin)
        raise ProfileError(f"{name}: no such profile file or built-in profile{hint}")
    try:
        text = text_of(path, LONGEST_PROFILE)
    except OSError as error:
        raise ProfileError(f"{name}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ProfileError(f"{name}: not UTF-8 text (octet {error.start})") from None
    return text, name


def parse_profile(text: str, name: str) -> Profile:
    """A profile from its text; name is for messages, and extends starts from its folder. Raises
    ProfileError.

    The text of one that extends another is what both say together.
    """
    data = _toml(text, name)
    whole = text
    if EXTENDS in data or OMITS in data:
        data = _with_base(data, text, name, ())
        whole = _as_text(data)
    data.pop("path", None)
    data.pop("text", None)
    try:
        return Profile(**data, path=name, text=whole)
    except ValidationError as error:
        raise ProfileError("\n".join(_explain(name, text, e) for e in error.errors())) from None


def _toml(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"{name}: not TOML: {parse_trouble(error)}") from None


def _with_base(
    data: dict[str, Any], text: str, name: str, above: tuple[str, ...]
) -> dict[str, Any]:
    """What a profile says together with those that it extends."""
    base = data.get(EXTENDS)
    line = _line_of(text, [EXTENDS if EXTENDS in data else OMITS])
    where = f"{name}, line {line}" if line else name
    if OMITS in data and base is None:
        raise ProfileError(f"{where}: {OMITS}: goes with {EXTENDS} alone")
    if base is None:
        return data
    if not isinstance(base, str) or not base:
        raise ProfileError(f"{where}: {EXTENDS}: must be the name of a profile, or its path")
    if base not in builtin_profiles():
        base = str(Path(name).parent / base)
    if base in above or len(above) == MOST_EXTENDED:
        raise ProfileError(f"{where}: {EXTENDS}: {base} extends itself, or too many profiles do")
    try:
        base_text, base_name = _text_of_profile(base)
        base_data = _with_base(_toml(base_text, base_name), base_text, base_name, (*above, base))
        return extended(base_data, data)
    except ProfileError as error:
        raise ProfileError(f"{where}: {EXTENDS}: {error}") from None
    except ExtendingError as error:
        raise ProfileError(f"{where}: {error}") from None


def _as_text(data: dict[str, Any]) -> str:
    import tomli_w

    return tomli_w.dumps(data)


def _explain(name: str, text: str, error: Any) -> str:
    location = [part for part in error["loc"] if part not in ("function-before", "is-instance")]
    message = str(error["msg"]).removeprefix("Value error, ")
    if not location and ":" in message:
        field, message = message.split(": ", 1)
        location = [field]
    dotted = ".".join(str(part) for part in location)
    if error["type"] == "extra_forbidden":
        message = f"unknown key{_nearest(str(location[-1]), _keys(location[:-1]))}"
    elif error["type"] == "missing":
        message = "is missing"
    elif error["type"] == "literal_error":
        message = f"{error['input']!r} is not allowed; allowed are: {error['ctx']['expected']}"
    elif error["type"] == "string_pattern_mismatch" and error["ctx"]["pattern"] in PATTERNS:
        message = f"{error['input']!r:.60} is not {PATTERNS[error['ctx']['pattern']]}"
    elif error["type"] != "value_error":
        message = f"{message} (found {error['input']!r:.60})"
    line = _line_of(text, [str(part) for part in location])
    where = f"{name}, line {line}" if line else name
    return f"{where}: {dotted}: {message}"


def _keys(location: list[Any]) -> list[str]:
    model: Any = Profile
    for part in location:
        info = model.model_fields.get(part) if hasattr(model, "model_fields") else None
        found = info.annotation if info else None
        for candidate in getattr(found, "__args__", (found,)):
            if hasattr(candidate, "model_fields"):
                model = candidate
    return [k for k in model.model_fields if k not in ("path", "text")]


def _line_of(text: str, location: list[str]) -> int | None:
    """The line in which a key stands: the deepest part of its path that the text shows."""
    table: list[str] = []
    best: int | None = None
    depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?", line)
        key = re.match(r"\s*([A-Za-z0-9_\"'.-]+)\s*=", line)
        if header:
            table = [part.strip(" \"'") for part in header[1].split(".")]
            path = table
        elif key:
            path = table + [part.strip(" \"'") for part in key[1].split(".")]
        else:
            continue
        shared = [p for p in location if not p.isdigit()][: len(path)]
        if path == shared and len(path) > depth:
            best, depth = number, len(path)
    return best
