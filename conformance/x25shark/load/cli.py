# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands stress and sweep. `commands` is what the x25shark command adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..number_range import NumberRange
from .arguments import (
    SIZES,
    TARGET,
    fail,
    load_options,
    make_options,
    run_against,
    target_options,
)
from .ends import answer, echo, relay
from .matrix_cli import matrix
from .measure_cli import bench
from .options import PACKET_SIZES, PUBLISHED_SECONDS, OptionError, number_list
from .overload_cli import overload
from .stress import run_stress
from .sweep import SweepPlan, run_sweep


@click.command()
@target_options
@click.option(
    "-N",
    "circuits",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    help="Calls at the same time.",
)
@click.option(
    "-T", "duration", type=NumberRange(0.1, 604_800), help="Duration in seconds. Default: 20."
)
@click.option("-n", "calls", type=click.IntRange(1, 2**32 - 1), help="Number of calls.")
@click.option(
    "-P",
    "packet_size",
    type=SIZES,
    default="128",
    show_default=True,
    help="Packet size to ask for, octets.",
)
@click.option(
    "-W",
    "window",
    type=click.IntRange(1, 127),
    default=2,
    show_default=True,
    help="Window to ask for.",
)
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
@click.option(
    "--hold", type=NumberRange(0), default=0.0, help="Shortest duration of a call, in seconds."
)
@click.option("--hold-to-end", is_flag=True, help="Calls stay open until the run ends.")
@click.option("--rate", type=NumberRange(1e-6), help="Open loop: calls/s by schedule.")
@click.option("--poisson", is_flag=True, help="Open loop: random gaps instead of equal ones.")
@click.option(
    "--message-rate",
    type=NumberRange(1e-6),
    help="Open loop: messages/s of each circuit by schedule.",
)
@click.option(
    "--mode",
    type=click.Choice(["echo", "sink", "source"]),
    default="echo",
    show_default=True,
    help="What the called side does with the data.",
)
@click.option(
    "--q-share", type=NumberRange(0, 1), default=0.0, help="Fraction sent with the Q bit."
)
@click.option(
    "--d-share", type=NumberRange(0, 1), default=0.0, help="Fraction sent with the D bit."
)
@click.option(
    "--interrupt-every",
    type=click.IntRange(0),
    default=0,
    metavar="MESSAGES",
    help="Send an Interrupt after every N messages; 0: never.",
)
@click.option(
    "--reset-every",
    type=click.IntRange(0),
    default=0,
    metavar="MESSAGES",
    help="Send a Reset after every N messages; 0: never.",
)
@click.option(
    "--busy-every",
    type=click.IntRange(0),
    default=0,
    metavar="MESSAGES",
    help="Send RNR after every N messages, and RR 2 ms later; 0: never.",
)
@click.option(
    "-b",
    "backoff_ms",
    type=click.IntRange(0),
    default=0,
    help="Milliseconds to wait after a failed connection.",
)
@click.option(
    "--control",
    "control_seconds",
    type=NumberRange(0),
    default=5.0,
    show_default=True,
    help="Seconds of the control run; 0: none.",
)
@click.option("--control-relay", is_flag=True, help="Control run through a relay: one hop more.")
@click.option(
    "-r",
    "--receiver",
    metavar="[IP:PORT]",
    is_flag=False,
    flag_value="127.0.25.3:1998",
    help="Only answer calls, as x25shark echo does.",
)
@load_options
def stress(
    *,
    receiver: str | None,
    control_seconds: float,
    control_relay: bool,
    folder: Path | None,
    workers: str | None,
    answering: int,
    **given: Any,
) -> None:
    """Many calls, every octet verified, with the tester's own ceiling beside.

    Exit status: 0 clean; 1 something was found; 2 bad usage; 3 no call was connected;
    130 interrupted.
    """
    if receiver is not None:
        answer(receiver, "echo", given["threads"], given["duration"])
        return
    target = {name: given.pop(name) for name in TARGET}
    try:
        options = make_options(given)
    except OptionError as error:
        fail(error)
    run_against(
        target,
        folder,
        lambda engine, opened, console: run_stress(
            engine,
            options,
            opened,
            console,
            control_seconds=control_seconds,
            control_relay=control_relay,
            folder=folder,
        ),
        workers=workers,
        answering=answering,
    )


@click.command()
@target_options
@click.option(
    "-P", "sizes", default="128,256,512,1024,2048,4096", show_default=True, help="Packet sizes."
)
@click.option("-W", "windows", default="1-7", show_default=True, help="Windows.")
@click.option("-N", "circuits", default="1,4", show_default=True, help="Calls at the same time.")
@click.option(
    "-T", "seconds", type=NumberRange(0.1, 86_400), help="Duration of each cell. Default: 20."
)
@click.option(
    "--control",
    "control_seconds",
    type=NumberRange(0),
    help="Seconds of each control run. Default: 2.",
)
@click.option("--quick", is_flag=True, help="3 sizes, 3 windows, half a second a cell.")
@load_options
def sweep(
    *,
    sizes: str,
    windows: str,
    circuits: str,
    seconds: float | None,
    control_seconds: float | None,
    quick: bool,
    folder: Path | None,
    workers: str | None,
    answering: int,
    **given: Any,
) -> None:
    """Packet sizes x windows x circuits: the published two plots, each cell with its ceiling.

    Exit status as of stress.
    """
    source = click.get_current_context().get_parameter_source
    default = click.core.ParameterSource.DEFAULT
    if quick:
        sizes = "128,1024,4096" if source("sizes") is default else sizes
        windows = "1,2,7" if source("windows") is default else windows
    target = {name: given.pop(name) for name in TARGET}
    try:
        options = make_options(given)
        plan = SweepPlan(
            number_list(sizes, "packet size", PACKET_SIZES),
            number_list(windows, "window", range(1, options.modulo)),
            number_list(circuits, "circuits", range(1, 100_001)),
            seconds if seconds is not None else (0.5 if quick else PUBLISHED_SECONDS),
            control_seconds if control_seconds is not None else (0.3 if quick else 2.0),
        )
    except OptionError as error:
        fail(error)
    run_against(
        target,
        folder,
        lambda engine, opened, console: run_sweep(
            engine, options, plan, opened, console, folder=folder
        ),
        workers=workers,
        answering=answering,
    )


commands: list[click.Command] = [stress, sweep, bench, overload, matrix, echo, relay]
