# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands stress, sweep, echo and relay. `commands` is what the x25shark command adds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
from rich.console import Console

from .engine import Engine, EngineMissingError, load_engine
from .options import PACKET_SIZES, LoadOptions, OptionError, number_list
from .stress import run_stress
from .sweep import SweepPlan, run_sweep
from .target import TargetError, endpoint, open_target

F = TypeVar("F", bound=Callable[..., Any])
USAGE = 2
SIZES = click.Choice([str(size) for size in PACKET_SIZES])


def _fail(error: Exception | str) -> NoReturn:
    click.echo(f"x25shark: {error}", err=True)
    sys.exit(USAGE)


def _engine() -> Engine:
    try:
        return load_engine()
    except EngineMissingError as error:
        _fail(error)


def _options(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


_router_options = _options(
    click.option(
        "--router",
        metavar="PROFILE",
        help="Router profile, built-in or a file. Default: reference, started by itself.",
    ),
    click.option("--connect", metavar="IP[:PORT]", help="A router without a profile."),
    click.option(
        "--listen",
        metavar="IP[:PORT]",
        help="Where the router sends the calls: the tester answers them there. "
        "With --connect and without this, somebody else has to (x25shark echo).",
    ),
    click.option(
        "-d", "called", metavar="START,END", help="Range of called addresses, one random each call."
    ),
    click.option(
        "--router-echo", is_flag=True, help="Call the address that the router answers itself."
    ),
    click.option(
        "--fault",
        "faults",
        multiple=True,
        metavar="ID",
        help="Switch on a fault of the embedded reference router. Repeatable.",
    ),
)


@click.command()
@_router_options
@click.option(
    "-N",
    "circuits",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    help="Calls at the same time.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Threads of each side of the tester.",
)
@click.option("-T", "duration", type=click.FloatRange(0.1, 604_800), help="Seconds. Default: 20.")
@click.option("-n", "calls", type=click.IntRange(1, 2**32 - 1), help="Number of calls.")
@click.option("-P", "packet_size", type=SIZES, default="128", show_default=True)
@click.option("-W", "window", type=click.IntRange(1, 127), default=2, show_default=True)
@click.option("--modulo", type=click.Choice(["8", "128"]), default="8", show_default=True)
@click.option(
    "-l",
    "longest",
    type=click.IntRange(1, 16_777_215),
    default=8192,
    show_default=True,
    help="Longest message; lengths are random from --shortest on.",
)
@click.option("--shortest", type=click.IntRange(1), help="Default: 24, the record header.")
@click.option(
    "--messages",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="Messages per call.",
)
@click.option(
    "--depth",
    type=click.IntRange(1, 4096),
    default=1,
    show_default=True,
    help="Messages of a call under way at the same time.",
)
@click.option("--hold", type=click.FloatRange(0), default=0.0, help="Least seconds of a call.")
@click.option("--hold-to-end", is_flag=True, help="Calls stay open until the run ends.")
@click.option("--rate", type=click.FloatRange(1e-6), help="Open loop: calls/s by schedule.")
@click.option("--poisson", is_flag=True, help="Open loop: random gaps instead of equal ones.")
@click.option(
    "--message-rate",
    type=click.FloatRange(1e-6),
    help="Open loop: messages/s of each circuit by schedule.",
)
@click.option(
    "--mode",
    type=click.Choice(["echo", "sink", "source"]),
    default="echo",
    show_default=True,
    help="What the called side does.",
)
@click.option("--q-share", type=click.FloatRange(0, 1), default=0.0, help="Share with Q bit.")
@click.option("--d-share", type=click.FloatRange(0, 1), default=0.0, help="Share with D bit.")
@click.option("--interrupt-every", type=click.IntRange(0), default=0, metavar="MESSAGES")
@click.option("--reset-every", type=click.IntRange(0), default=0, metavar="MESSAGES")
@click.option(
    "--busy-every",
    type=click.IntRange(0),
    default=0,
    metavar="MESSAGES",
    help="RNR, then RR 2 ms later.",
)
@click.option(
    "-b",
    "backoff_ms",
    type=click.IntRange(0),
    default=0,
    help="Milliseconds of pause after a failed connection.",
)
@click.option("--timeout", type=click.FloatRange(0.001), default=5.0, show_default=True)
@click.option(
    "--late",
    "late_ms",
    type=click.IntRange(1),
    default=500,
    show_default=True,
    help="Milliseconds from which an answer is a finding.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option(
    "--control",
    "control_seconds",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    help="Seconds of the control run; 0: none.",
)
@click.option("--control-relay", is_flag=True, help="Control run through a relay: one hop more.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for load.json and load.html.",
)
@click.option(
    "-r",
    "--receiver",
    metavar="[IP:PORT]",
    is_flag=False,
    flag_value="127.0.25.3:1998",
    help="Only answer calls, as x25shark echo does.",
)
def stress(
    *,
    router: str | None,
    connect: str | None,
    listen: str | None,
    called: str | None,
    router_echo: bool,
    faults: tuple[str, ...],
    receiver: str | None,
    control_seconds: float,
    control_relay: bool,
    folder: Path | None,
    **load: Any,
) -> None:
    """Many calls, every octet verified, with the tester's own ceiling beside.

    Exit status: 0 clean; 1 something was found; 2 bad usage; 3 no call was connected;
    130 interrupted.
    """
    if receiver is not None:
        _answer(receiver, "echo", load["threads"], load["duration"])
        return
    if load["duration"] is None and load["calls"] is None:
        load["duration"] = 20.0
    shortest = load.pop("shortest") or min(24, load["longest"])
    options = LoadOptions(
        **load
        | {
            "shortest": shortest,
            "packet_size": int(load["packet_size"]),
            "modulo": int(load["modulo"]),
        }
    )
    engine = _engine()
    console = Console()
    try:
        with open_target(
            router, connect, listen, called, echo_address=router_echo, faults=faults
        ) as target:
            status = run_stress(
                engine,
                options,
                target,
                console,
                control_seconds=control_seconds,
                control_relay=control_relay,
                folder=folder,
            )
    except (OptionError, TargetError, ValueError) as error:
        _fail(error)
    sys.exit(status)


@click.command()
@_router_options
@click.option(
    "-P", "sizes", default="128,256,512,1024,2048,4096", show_default=True, help="Packet sizes."
)
@click.option("-W", "windows", default="1-7", show_default=True, help="Windows.")
@click.option("-N", "circuits", default="1,4", show_default=True, help="Calls at the same time.")
@click.option("-T", "seconds", type=click.FloatRange(0.1, 86_400), help="Of a cell. Default: 20.")
@click.option("-l", "longest", type=click.IntRange(1, 16_777_215), default=8192, show_default=True)
@click.option("--shortest", type=click.IntRange(1), help="Default: 24, the record header.")
@click.option("--modulo", type=click.Choice(["8", "128"]), default="8", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option(
    "--control",
    "control_seconds",
    type=click.FloatRange(0),
    help="Seconds of each control run. Default: 2.",
)
@click.option("--quick", is_flag=True, help="3 sizes, 3 windows, half a second a cell.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for load.json and load.html.",
)
def sweep(
    *,
    router: str | None,
    connect: str | None,
    listen: str | None,
    called: str | None,
    router_echo: bool,
    faults: tuple[str, ...],
    sizes: str,
    windows: str,
    circuits: str,
    seconds: float | None,
    longest: int,
    shortest: int | None,
    modulo: str,
    seed: int,
    control_seconds: float | None,
    quick: bool,
    folder: Path | None,
) -> None:
    """Packet sizes x windows x circuits: the published two plots, each cell with its ceiling."""
    source = click.get_current_context().get_parameter_source
    default = click.core.ParameterSource.DEFAULT
    if quick:
        sizes = "128,1024,4096" if source("sizes") is default else sizes
        windows = "1,2,7" if source("windows") is default else windows
    engine = _engine()
    try:
        plan = SweepPlan(
            number_list(sizes, "packet size", PACKET_SIZES),
            number_list(windows, "window", range(1, 8 if modulo == "8" else 128)),
            number_list(circuits, "circuits", range(1, 100_001)),
            seconds if seconds is not None else (0.5 if quick else 20.0),
            control_seconds if control_seconds is not None else (0.3 if quick else 2.0),
        )
        options = LoadOptions(
            longest=longest,
            shortest=shortest or min(24, longest),
            modulo=int(modulo),
            seed=seed,
        )
        with open_target(
            router, connect, listen, called, echo_address=router_echo, faults=faults
        ) as target:
            status = run_sweep(engine, options, plan, target, Console(), folder=folder)
    except (OptionError, TargetError, ValueError) as error:
        _fail(error)
    sys.exit(status)


def _answer(
    listen: str,
    mode: str,
    threads: int,
    duration: float | None,
    configuration: dict[str, object] | None = None,
) -> None:
    engine = _engine()
    console = Console()
    try:
        side = engine.responder(
            {"listen": endpoint(listen), "mode": mode, "threads": threads} | (configuration or {})
        )
    except (OptionError, ValueError) as error:
        _fail(error)
    address = endpoint(listen).rpartition(":")[0]
    console.print(f"Answering calls on {address}:{side.port} ({mode}); Ctrl-C ends.", markup=False)
    try:
        side.wait(duration if duration is not None else 1e6)
        while duration is None:
            side.wait(1e6)
    except KeyboardInterrupt:
        pass
    _print_answered(console, side)


def _print_answered(console: Console, side: Any) -> None:
    import json

    from .results import INTEGRITY
    from .terminal import count, octets

    side.stop()
    total = json.loads(side.result())["total"]
    console.print(
        f"{count(total['calls_accepted'])} calls, {count(total['data_packets_received'])} Data "
        f"packets in, {count(total['data_packets_sent'])} out, "
        f"{octets(total['octets_received'])} in, {count(total['messages_verified'])} messages "
        f"verified, {count(sum(total[name] for name in INTEGRITY))} flaws",
        highlight=False,
    )


@click.command()
@click.argument("listen", default="127.0.25.3:1998")
@click.option(
    "--mode", type=click.Choice(["echo", "sink", "source"]), default="echo", show_default=True
)
@click.option("--threads", type=click.IntRange(1, 256), default=1, show_default=True)
@click.option("-P", "packet_size", type=SIZES, default="4096", help="Largest agreed to.")
@click.option("-W", "window", type=click.IntRange(1, 127), default=127, help="Largest agreed to.")
@click.option("--messages", type=click.IntRange(0, 2**32 - 1), default=1, help="Of a source.")
@click.option(
    "-l", "length", type=click.IntRange(1, 16_777_215), default=4096, help="Of a source's messages."
)
@click.option("-T", "duration", type=click.FloatRange(0.1), help="Seconds; default: until Ctrl-C.")
def echo(
    *,
    listen: str,
    mode: str,
    threads: int,
    packet_size: str,
    window: int,
    messages: int,
    length: int,
    duration: float | None,
) -> None:
    """Answer calls on LISTEN: echo messages, verify and drop them, or send some."""
    more: dict[str, object] = {
        "max_packet_size": int(packet_size),
        "max_window": window,
        "messages": messages,
        "message_length": length,
    }
    _answer(listen, mode, threads, duration, more)


@click.command()
@click.argument("listen")
@click.argument("connect")
@click.option(
    "--delay",
    "delay_ms",
    type=click.FloatRange(0, 60_000),
    default=0.0,
    help="Milliseconds added to each direction.",
)
@click.option("--stall-at", type=click.FloatRange(0), default=0.0, help="Seconds from the start.")
@click.option("--stall", type=click.FloatRange(0), default=0.0, help="Seconds of standstill.")
@click.option(
    "--corrupt",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="PROBABILITY",
    help="That an octet of user data is changed.",
)
@click.option(
    "--drop",
    multiple=True,
    type=click.IntRange(1),
    metavar="PACKET",
    help="Number of a Data packet to drop, over all connections. Repeatable.",
)
@click.option(
    "--duplicate",
    multiple=True,
    type=click.IntRange(1),
    metavar="PACKET",
    help="Number of a Data packet to send twice.",
)
@click.option(
    "--swap",
    multiple=True,
    type=click.IntRange(1),
    metavar="PACKET",
    help="Number of a Data packet to swap with one of another circuit.",
)
@click.option("--delay-call", type=click.IntRange(0), default=0, help="Number of a connection.")
@click.option("--delay-call-for", type=click.FloatRange(0), default=1.0, help="Seconds.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("-T", "duration", type=click.FloatRange(0.1), help="Seconds; default: until Ctrl-C.")
def relay(
    *,
    listen: str,
    connect: str,
    delay_ms: float,
    stall_at: float,
    stall: float,
    corrupt: float,
    drop: tuple[int, ...],
    duplicate: tuple[int, ...],
    swap: tuple[int, ...],
    delay_call: int,
    delay_call_for: float,
    seed: int,
    duration: float | None,
) -> None:
    """Pass XOT connections on from LISTEN to CONNECT, unread, or with faults on purpose."""
    import json

    engine = _engine()
    faults = {
        "delay_ms": delay_ms,
        "stall_at_ms": round(stall_at * 1000),
        "stall_ms": round(stall * 1000),
        "corrupt": corrupt,
        "drop": drop,
        "duplicate": duplicate,
        "swap": swap,
        "delay_call": delay_call,
        "delay_call_ms": round(delay_call_for * 1000),
        "seed": seed,
    }
    try:
        side = engine.relay(
            {"listen": endpoint(listen), "connect": endpoint(connect), "faults": faults}
        )
    except (OptionError, ValueError) as error:
        _fail(error)
    click.echo(f"Relaying from port {side.port} to {endpoint(connect)}; Ctrl-C ends.")
    try:
        end = time.monotonic() + duration if duration is not None else None
        while end is None or time.monotonic() < end:
            time.sleep(0.1)
    except KeyboardInterrupt:
        pass
    report = json.loads(side.result())
    click.echo(f"{report['connections']} connections, {report['octets']} octets relayed")
    for fault in report["injected"][:100]:
        way = "A to B" if fault["forward"] else "B to A"
        click.echo(
            f"  {fault['kind']}: connection {fault['connection']}, {way}, "
            f"Data packet {fault['packet']}"
        )


commands: list[click.Command] = [stress, sweep, echo, relay]
