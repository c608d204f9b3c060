# SPDX-License-Identifier: GPL-2.0-or-later
"""Which router is loaded, and where the tester's sides are: from a profile or plain addresses."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..counters.settings import Machine
from ..profile import AccessLine, Profile, ProfileError, load_profile
from ..run.router import Router, RouterError
from ..temporary import temporary_folder
from .options import OptionError, address_range
from .processor import CpuMeter, listener_process, page_usage


class TargetError(Exception):
    """The router cannot be used as asked; the message says why."""


@dataclass(frozen=True)
class Target:
    """A router between the tester's two sides, or one that answers calls itself."""

    name: str
    connect: str
    """Where calls go: "address:port"."""
    listen: str | None
    """Where the tester answers them; None: somebody else does."""
    called: tuple[str, str]
    sources: tuple[str, ...] = ()
    router_pid: int | None = None
    second: tuple[str, tuple[str, str]] | None = None
    """A second called side: where it answers, and its range of addresses."""
    profile: Profile | None = None
    counters_url: str | None = None
    """Where the router shows its counters, if it does."""
    restart: Callable[[], None] | None = None
    """Restarts the router, where the profile says how."""
    serial: Mapping[str, str] = field(default_factory=dict)
    """Where the embedded router has its serial lines, by name."""

    def meter(self) -> CpuMeter:
        """Of the router's processors: by its process, or as the profile says."""
        counters, url = self.profile.counters if self.profile else None, self.counters_url
        if counters is None or url is None or counters.machine == Machine():
            return CpuMeter(self.router_pid)
        return CpuMeter(self.router_pid, lambda: page_usage(counters, url))


def endpoint(text: str, port: int = 1998) -> str:
    """ "address" or "address:port" with the port filled in. Raises OptionError."""
    address, colon, number = text.partition(":")
    try:
        ipaddress.IPv4Address(address)
        if colon:
            port = int(number)
        if not 0 <= port < 65536:
            raise ValueError
    except ValueError:
        raise OptionError(f"{text!r} is not an IPv4 address, with or without a port") from None
    return f"{address}:{port}"


@contextlib.contextmanager
def open_target(
    router: str | None,
    connect: str | None,
    listen: str | None,
    called: str | None,
    *,
    echo_address: bool = False,
    faults: Sequence[str] = (),
    lines: Sequence[str] | None = None,
) -> Iterator[Target]:
    """The router of a profile (started if the profile says how), or the one at `connect`.

    With echo_address the calls go to the address that the router answers itself. Faults are those
    of the reference router. lines: at its interfaces, as `x25shark router --emulate` takes them;
    None: those of the profile.
    """
    if connect is not None:
        if router is not None or faults:
            raise OptionError("--connect goes with neither --router nor --fault")
        at = endpoint(connect)
        ends = address_range(called or "2100001,2199999")
        pid = listener_process(at)
        yield Target(at, at, endpoint(listen) if listen else None, ends, (), pid)
        return
    try:
        profile = load_profile(router or "reference")
        with temporary_folder("load") as folder:
            log = folder / "router.log"
            if faults and profile.embedded is None:
                raise TargetError(f"--fault: {profile.name} is not the embedded reference router")
            switched = [word for fault in faults for word in ("--fault", fault)]
            at_router = lines_at_router(profile) if lines is None else lines
            if at_router and profile.embedded is None:
                raise TargetError(
                    f"lines at the router: {profile.name} is not the embedded reference router"
                )
            switched += [word for line in at_router for word in ("--emulate", line)]
            with Router(profile, log, switched) as started:
                found = _of_profile(profile, listen, called, echo_address)
                yield replace(
                    found,
                    profile=profile,
                    counters_url=_counters_url(profile, started),
                    restart=started.restart if started.can_restart else None,
                    serial=started.serial,
                )
    except (ProfileError, RouterError) as error:
        raise TargetError(str(error)) from None


def lines_at_router(profile: Profile) -> list[str]:
    """The lines that the embedded router has at its own interfaces."""
    lines = profile.emulation
    if lines.at != "router":
        return []
    ends = (profile.xot_end.a, lines.a), (profile.xot_end.b, lines.b)
    return [router_line(end[0], line) for end, line in ends if end is not None and line is not None]


def router_line(at: str, line: AccessLine, seed: int = 1) -> str:
    """A line at the router's interface to the XOT peer `at`, as --emulate takes it."""
    ways = (("in", line.to_router), ("out", line.to_tester))
    keys = [f'{name} = "{value}"' for name, value in (
        ("at", at), ("framing", line.framing), ("overflow", line.overflow),
    )]  # fmt: skip
    keys.append(f"seed = {seed}")
    for name, way in ways:
        values = ", ".join(f"{key} = {value}" for key, value in way.model_dump().items())
        keys.append(f"{name} = {{ {values} }}")
    return ", ".join(keys)


def _counters_url(profile: Profile, router: Router) -> str | None:
    """The page of the profile, or that of the embedded router."""
    if profile.counters is None:
        return None
    return profile.counters.url or router.counters_url


def _of_profile(
    profile: Profile, listen: str | None, called: str | None, echo_address: bool
) -> Target:
    connect = f"{profile.xot_end.router[0]}:{profile.xot_end.router[1]}"
    pid = listener_process(connect)
    sources = (profile.xot_a[0],)
    address = profile.addresses.echo if echo_address else profile.addresses.b
    if echo_address or profile.xot_end.b is None:
        address = profile.addresses.echo
        if address is None:
            raise TargetError(
                f"profile {profile.name}: addresses.echo is missing: an address whose calls the "
                "router answers itself"
            )
        ends = address_range(called or address)
        return Target(profile.name, connect, None, ends, sources, pid)
    assert address is not None  # the profile demands it where xot.b is given
    ends = address_range(called or address)
    at = endpoint(listen) if listen else f"{profile.xot_end.b[0]}:{profile.xot_end.b[1]}"
    return Target(profile.name, connect, at, ends, sources, pid, _second(profile))


def _second(profile: Profile) -> tuple[str, tuple[str, str]] | None:
    """Side B2 of a profile."""
    at, address = profile.xot_end.b2, profile.addresses.b2
    return (f"{at[0]}:{at[1]}", (address, address)) if at and address else None
