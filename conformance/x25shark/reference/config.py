# SPDX-License-Identifier: GPL-2.0-or-later
"""Configuration of the reference router: a TOML file, checked in full before anything starts.

    listen = "127.0.25.1:1998"      where XOT connections are accepted
    http = "127.0.25.1:8025"        counters as JSON, loopback only; port 0: any free one
    source = "127.0.25.1"           address that the router's own connections come from
    model = "end-to-end"            or "local" or "splice"; a route may have its own
    route_rule = "longest"          or "first": which of several matching routes counts
    stop_on_eof = false             end when standard input ends
    max_calls = 256                 circuits at a time
    packet_size_max = 4096, window_max = 127, modulo128 = true, dbit = true, toa = false
    keepalive = 0                   seconds after which TCP probes an idle peer; 0: never
    connect_timeout = 30, linger = 5    seconds
    empty = 0                       seconds after which a connection without a call is closed
    descriptors = 0                 most files and sockets that it may have open; 0: as inherited
    keep_connections = false        the router's own connections serve for the next call, too
    [timers] t10 = 60, t11 = 180, t12 = 60, t13 = 60, t21 = 200     seconds, 0: not run
    [[route]] prefix = "21", to = "127.0.25.3:1998", or "echo", "sink", "source", "ip"
        alternates = ["127.0.25.4:1998"], model, barred = false, fast_select_acceptance = true,
        reverse_charging_acceptance = true, rewrite = {strip = 2, add = "31"},
        insert_calling = "31",
        packet_size = 512, window = 7  values of the far side, whatever the near side has (local)
        independent = true             the near side keeps what it asked for (local)
        modulo8_only = true            the far side takes modulo 8 only (local)
    [ip]                               see ip_config.py
    [caller]                           see caller_config.py
    [[pvc]]                            see pvc.py
    [[serial]]                         see serial_config.py; a route leads there with
                                       to = "serial:NAME", and its model is then always local
    [[emulation]]                      an access line of known rate and delay: see emulation.py

    extends = "reference.router"       a file beside this one, from which this one differs
    omits = ["ip", "route.29"]         what that one has and this one lacks (see extending.py)

Keys may be written with '-' or '_'.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from ..extending import EXTENDS, extended
from ..foreign import parse_trouble
from .caller_config import CallerSettings, read_caller
from .config_table import ConfigError, Table
from .emulation import Emulation, read_emulation
from .ip_config import IpSettings, read_ip
from .routes import INTERNAL, Destination, Route
from .serial_config import SerialSettings, read_serial

#: A route's target on a serial interface begins with this.
SERIAL = "serial:"
MODELS = ("local", "end-to-end", "splice")
ROUTE_RULES = ("longest", "first")
#: Longest packet outside data transfer that is read as a packet: errors in it get a diagnostic.
SET_UP_LONGEST = 512


LISTEN = Destination("127.0.25.1:1998", "127.0.25.1", 1998)


@dataclass(frozen=True)
class Pvc:
    """One [[pvc]]: an end of a permanent circuit; its meaning is explained in pvc.py."""

    name: str
    lcn: int
    remote_name: str
    remote_lcn: int
    to: str
    peer: Destination | None = None
    window_in: int = 2
    window_out: int = 2
    packet_size_in: int = 7
    packet_size_out: int = 7
    retry: float = 300.0

    @property
    def initiator(self) -> bool:
        return self.peer is not None


@dataclass(frozen=True)
class Settings:
    """The configuration, checked."""

    listen: Destination = LISTEN
    http: Destination | None = None
    source: str = ""
    stop_on_eof: bool = False
    model: str = "end-to-end"
    route_rule: str = "longest"
    max_calls: int = 256
    packet_size_max: int = 4096
    window_max: int = 127
    modulo128: bool = True
    dbit: bool = True
    toa: bool = False
    keepalive: float = 0.0
    connect_timeout: float = 30.0
    linger: float = 5.0
    empty: float = 0.0
    keep_connections: bool = False
    descriptors: int = 0
    #: X.25 Table D-1; restarts do not exist on XOT, so T10 runs on serial interfaces only.
    t10: float = 60.0
    t11: float = 180.0
    t12: float = 60.0
    t13: float = 60.0
    t21: float = 200.0
    ip: IpSettings | None = None
    caller: CallerSettings | None = None
    routes: tuple[Route, ...] = ()
    pvcs: tuple[Pvc, ...] = field(default=())
    serials: tuple[SerialSettings, ...] = ()
    emulations: tuple[Emulation, ...] = ()

    @property
    def size_limit(self) -> int:
        """log2 of the largest packet size."""
        return self.packet_size_max.bit_length() - 1

    @property
    def longest_packet(self) -> int:
        """Octets of the longest packet that is taken at all (RFC 1613 4.1)."""
        return max(self.packet_size_max + 4, SET_UP_LONGEST)


def read(path: Path, *, whole: bool = False) -> dict[str, Any]:
    """What a file says, with the file beside it that it extends; whole: it must extend none.

    Raises ConfigError.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        if EXTENDS not in values:
            return values
        if whole:
            raise ConfigError(f"{path}: {EXTENDS}: a file that is extended extends none")
        return extended(read(path.parent / str(values[EXTENDS]), whole=True), values)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {parse_trouble(error)}") from error


def load(path: Path, emulations: Sequence[str] = ()) -> Settings:
    """Read and check a file. Raises ConfigError that names file, key and reason.

    emulations: further tables [[emulation]], each as the inside of an inline table.
    """
    values = read(path)
    if emulations:
        lines = values.setdefault("emulation", [])
        if isinstance(lines, list):
            lines += [_inline(text) for text in emulations]
    return parse(values, f"{path}: ")


def _inline(text: str) -> dict[str, Any]:
    """The inside of an inline table of TOML."""
    try:
        values = tomllib.loads(f"line = {{ {text} }}")
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"--emulate {text!r}: {parse_trouble(error)}") from error
    if set(values) != {"line"}:
        raise ConfigError(f"--emulate {text!r}: one table, on one line")
    line: dict[str, Any] = values["line"]
    return line


def parse(values: Mapping[str, Any], where: str = "") -> Settings:
    """Check a configuration that has been read."""
    top = Table(where, values)
    timers = top.table("timers")
    listen = top.address("listen", "127.0.25.1:1998", low_port=0)
    model = top.choice("model", "end-to-end", MODELS)
    settings = Settings(
        listen=listen,
        http=top.address("http", None, low_port=0) if "http" in top.values else None,
        source=read_source(top, listen),
        stop_on_eof=top.flag("stop_on_eof", False),
        model=model,
        route_rule=top.choice("route_rule", "longest", ROUTE_RULES),
        max_calls=top.integer("max_calls", 256, 1, 4095),
        packet_size_max=top.packet_size("packet_size_max", 4096),
        window_max=top.integer("window_max", 127, 2, 127),
        modulo128=top.flag("modulo128", True),
        dbit=top.flag("dbit", True),
        toa=top.flag("toa", False),
        keepalive=top.seconds("keepalive", 0.0),
        connect_timeout=top.seconds("connect_timeout", 30.0),
        linger=top.seconds("linger", 5.0),
        empty=top.seconds("empty", 0.0),
        keep_connections=top.flag("keep_connections", False),
        descriptors=top.integer("descriptors", 0, 0, 1 << 20),
        t10=timers.seconds("t10", 60.0),
        t11=timers.seconds("t11", 180.0),
        t12=timers.seconds("t12", 60.0),
        t13=timers.seconds("t13", 60.0),
        t21=timers.seconds("t21", 200.0),
        ip=read_ip(top.table("ip")) if "ip" in top.values else None,
        caller=read_caller(top.table("caller")) if "caller" in top.values else None,
        routes=tuple(read_route(table, model) for table in top.tables("route")),
        pvcs=tuple(read_pvc(table) for table in top.tables("pvc")),
        serials=tuple(read_serial(table) for table in top.tables("serial")),
        emulations=tuple(read_emulation(table) for table in top.tables("emulation")),
    )
    if settings.packet_size_max < 128:
        top.fail("packet_size_max", "must be 128 or more: every side has to take the default size")
    if settings.http is not None and not ip_address(settings.http.host).is_loopback:
        top.fail("http", "must be a loopback address: the counters are for this machine only")
    timers.finish()
    top.finish()
    check_pvcs(top, settings.pvcs)
    check_serials(top, settings)
    check_emulations(top, settings)
    if settings.ip is None and any(route.to.name == "ip" for route in settings.routes):
        top.fail("ip", "missing: a route leads to ip, so its address is needed")
    return settings


def read_source(top: Table, listen: Destination) -> str:
    source = top.text("source", listen.host if listen.host != "0.0.0.0" else "")
    if source:
        top.destination("source", f"{source}:1")
    return source


def read_route(table: Table, model: str) -> Route:
    rewrite = table.table("rewrite")
    target = table.text("to")
    packet_size = table.packet_size("packet_size", 0)
    window = table.integer("window", 0, 0, 127)
    alternates = table.take("alternates", [])
    if not isinstance(alternates, list):
        table.fail("alternates", "must be a list of addresses")
    route = Route(
        prefix=table.digits("prefix"),
        to=read_target(table, target),
        alternates=tuple(table.destination("alternates", one) for one in alternates),
        model=table.choice("model", "local" if target.startswith(SERIAL) else model, MODELS),
        barred=table.flag("barred", False),
        fast_select_acceptance=table.flag("fast_select_acceptance", True),
        reverse_charging_acceptance=table.flag("reverse_charging_acceptance", True),
        strip=rewrite.integer("strip", 0, 0, 15),
        add=rewrite.digits("add", ""),
        insert_calling=table.digits("insert_calling", ""),
        independent=table.flag("independent", bool(packet_size or window)),
        packet_size=packet_size.bit_length() - 1 if packet_size else 0,
        window=window,
        modulo8_only=table.flag("modulo8_only", False),
    )
    if route.model != "local":
        for key in ("packet_size", "window", "independent", "modulo8_only"):
            if getattr(route, key):
                table.fail(key, 'needs model = "local": the other models share it end to end')
    if alternates and not route.to.host:
        table.fail("alternates", f"a route to {target} is inside the router or a line: it has none")
    if route.to.serial and route.model != "local":
        table.fail("model", 'must be "local": a serial interface has windows of its own')
    rewrite.finish()
    table.finish()
    return route


def read_target(table: Table, target: str) -> Destination:
    """A terminal, a serial interface, or an XOT peer."""
    if target in INTERNAL:
        return Destination(target)
    if target.startswith(SERIAL):
        return Destination(target, serial=target.removeprefix(SERIAL))
    return table.destination("to", target)


def check_serials(top: Table, settings: Settings) -> None:
    """Interfaces have different names, and routes lead to those that exist."""
    names = [serial.name for serial in settings.serials]
    if len(set(names)) != len(names):
        top.fail("serial", "two entries have the same name")
    for at, route in enumerate(settings.routes):
        if route.to.serial and route.to.serial not in names:
            top.fail(f"route[{at + 1}].to", f"no [[serial]] has the name {route.to.serial!r}")


def check_emulations(top: Table, settings: Settings) -> None:
    """A line at a place is one line, and a serial interface that it names exists."""
    places = [emulation.at for emulation in settings.emulations]
    names = {SERIAL + serial.name for serial in settings.serials}
    for at, place in enumerate(places):
        key = f"emulation[{at + 1}].at"
        if place in places[:at]:
            top.fail(key, f"{place} has a line already")
        if place.startswith(SERIAL):
            if place not in names:
                top.fail(key, f"no [[serial]] has the name {place.removeprefix(SERIAL)!r}")
        else:
            top.destination(key, f"{place}:1")


def read_pvc(table: Table) -> Pvc:
    peer = table.text("peer", "")
    pvc = Pvc(
        name=table.text("name"),
        lcn=table.integer("lcn", None, 1, 4095),
        remote_name=table.text("remote_name"),
        remote_lcn=table.integer("remote_lcn", None, 1, 4095),
        to=table.text("to"),
        peer=table.destination("peer", peer) if peer else None,
        window_in=table.integer("window_in", 2, 1, 7),
        window_out=table.integer("window_out", 2, 1, 7),
        packet_size_in=table.packet_size("packet_size_in", 128).bit_length() - 1,
        packet_size_out=table.packet_size("packet_size_out", 128).bit_length() - 1,
        retry=table.seconds("retry", 300.0),
    )
    for key in ("name", "remote_name"):
        value = getattr(pvc, key)
        if not value.isascii() or not 1 <= len(value) <= 255:
            table.fail(key, "must be 1 to 255 ASCII characters")
    if pvc.retry < 1:
        table.fail("retry", "must be 1 second or more (RFC 1613 6.5 suggests 300)")
    table.finish()
    return pvc


def check_pvcs(top: Table, pvcs: tuple[Pvc, ...]) -> None:
    """Names with LCN are unique, and each joined pair names each other."""
    keys = [f"{pvc.name}/{pvc.lcn}".lower() for pvc in pvcs]
    by_key = dict(zip(keys, pvcs, strict=True))
    if len(by_key) != len(pvcs):
        top.fail("pvc", "two entries have the same name and lcn")
    for key, pvc in by_key.items():
        if pvc.to in ("echo", "sink"):
            continue
        other = by_key.get(pvc.to.lower())
        if other is None or other.to.lower() != key or other is pvc:
            top.fail("pvc", f"{key}: to must be echo, sink, or name/lcn of an entry that names it")
