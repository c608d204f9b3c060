# SPDX-License-Identifier: GPL-2.0-or-later
"""Options that load commands have in common, and how a command on a router begins and ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
from rich.console import Console

from ..interrupts import INTERRUPTED, interrupts
from ..number_range import NumberRange
from ..report.tell import complain, tell
from . import results
from .bench import Gone
from .cluster import opened as testers_of
from .cluster import told
from .emulation import open_emulated
from .engine import Engine, EngineMissingError, load_engine
from .options import (
    PACKET_SIZES,
    PUBLISHED_SECONDS,
    SHORTEST,
    SLOW_MS,
    LoadOptions,
    OptionError,
)
from .target import Target, TargetError

F = TypeVar("F", bound=Callable[..., Any])
USAGE = 2
SIZES = click.Choice([str(size) for size in PACKET_SIZES])
TARGET = ("router", "connect", "listen", "called", "echo_address", "faults")
"""The parameters of target_options: keywords of target.open_target."""


def option_group(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order in which --help shows them."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


target_options = option_group(
    click.option(
        "--router",
        metavar="PROFILE",
        help="Router profile: a built-in name or a file. Default: the built-in reference router.",
    ),
    click.option("--connect", metavar="IP[:PORT]", help="A router without a profile."),
    click.option(
        "--listen",
        metavar="IP[:PORT]",
        help="Where the router sends the calls: the tester answers them there. "
        "With --connect and without this, somebody else has to (x25shark echo).",
    ),
    click.option(
        "-d",
        "called",
        metavar="START,END",
        help="Range of called addresses; each call takes a random one.",
    ),
    click.option(
        "--router-echo",
        "echo_address",
        is_flag=True,
        help="Call an address at which the router itself answers.",
    ),
    click.option(
        "--fault",
        "faults",
        multiple=True,
        metavar="ID",
        help="Switch on a fault of the embedded reference router. Repeatable.",
    ),
)

modulo_option = click.option(
    "--modulo",
    type=click.Choice(["8", "128"]),
    default="8",
    show_default=True,
    help="Modulo of the sequence numbers of the calls.",
)

session_options = option_group(
    click.option(
        "--threads",
        type=click.IntRange(1, 256),
        default=1,
        show_default=True,
        help="Threads on each side of the tester.",
    ),
    click.option(
        "--timeout",
        type=NumberRange(0.001),
        default=5.0,
        show_default=True,
        help="Seconds to wait for an answer; then the call counts as failed.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0),
        default=1,
        show_default=True,
        help="Seed of everything random: lengths, addresses, contents.",
    ),
    click.option(
        "--workers",
        metavar="N|tcp://HOST:8786",
        help="Call from several testers: N processes of this machine, or those of a Dask "
        "scheduler (extra: cluster). Default: this process alone.",
    ),
    click.option(
        "--answering",
        type=click.IntRange(0, 1000),
        default=0,
        metavar="N",
        help="Number of these testers that answer the calls; the others place them. Default: this "
        "process answers.",
    ),
    click.option(
        "-o",
        "--output",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder for load.json and load.html.",
    ),
)
"""What all load commands have in common."""

load_options = option_group(
    click.option(
        "-l",
        "longest",
        type=click.IntRange(1, 16_777_215),
        default=8192,
        show_default=True,
        help="Longest message, octets; lengths are random from --shortest on.",
    ),
    click.option(
        "--shortest",
        type=click.IntRange(1),
        help=f"Shortest message. Default: {SHORTEST}, the shortest test record.",
    ),
    modulo_option,
    click.option(
        "--late",
        "late_ms",
        type=click.IntRange(1),
        help="Milliseconds from which a slow answer is a flaw. "
        f"Default: none; those above {SLOW_MS} are named.",
    ),
    session_options,
)


def fail(error: Exception | str) -> NoReturn:
    """One clear message, no traceback."""
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        error = f"{place}{error.strerror}"
    complain(error)
    sys.exit(USAGE)


def find_engine() -> Engine:
    """The engine, or the end with what to install."""
    try:
        return load_engine()
    except EngineMissingError as error:
        fail(error)


def make_options(load: Mapping[str, Any]) -> LoadOptions:
    """What the command line said as a load. Raises OptionError."""
    chosen = dict(load)
    longest, shortest = chosen["longest"], chosen["shortest"]
    if shortest is not None and shortest > longest:
        raise OptionError(f"--shortest {shortest} is more than the longest message (-l {longest})")
    chosen["shortest"] = shortest or min(SHORTEST, longest)
    chosen["modulo"] = int(chosen["modulo"])
    chosen["late_is_flaw"] = chosen["late_ms"] is not None
    chosen["late_ms"] = chosen["late_ms"] or SLOW_MS
    most = chosen["modulo"] - 1
    if chosen.get("window", 1) > most:
        more = "" if most == 127 else " (--modulo 128 allows 127)"
        raise OptionError(f"-W: the window is {chosen['window']}, at most {most}{more}")
    if "packet_size" in chosen:
        chosen["packet_size"] = int(chosen["packet_size"])
    if chosen.get("hold_to_end") and chosen["calls"] and chosen["duration"] is None:
        raise OptionError("--hold-to-end with -n needs -T: the run would never end")
    if chosen.get("duration") is None and chosen.get("calls") is None:
        chosen["duration"] = PUBLISHED_SECONDS
    return LoadOptions(**chosen)


def run_against(
    target: Mapping[str, Any],
    folder: Path | None,
    work: Callable[[Engine, Target, Console], int],
    *,
    workers: str | None = None,
    answering: int = 0,
) -> NoReturn:
    """Find the engine, open the target, work; end with the status of the work."""
    engine = find_engine()
    status: int | None = None
    try:
        interrupts.listen()
        # Processes of a cluster inherit no connection of a router's.
        with (
            results.held(folder),
            testers_of(workers, engine, answering) as testing,
            open_emulated(engine, **target) as opened,
        ):
            if answering and opened.listen is None:
                raise OptionError("--answering: somebody else answers these calls")
            status = work(testing, opened, Console())
            interrupts.bring_home()
        if testing.testers is not None:
            tell(told(testing.testers))
    except Gone as gone:
        fail(f"{gone.words}: {gone}")
    except (OptionError, TargetError, results.ResultError, ValueError, OSError) as error:
        fail(error)
    except KeyboardInterrupt:
        if status is None:
            complain("interrupted before there was a result")
            sys.exit(INTERRUPTED)
    if interrupts.asked and status != INTERRUPTED:
        complain("interrupted when everything was measured: the result is whole")
        status = INTERRUPTED
    sys.exit(status)
