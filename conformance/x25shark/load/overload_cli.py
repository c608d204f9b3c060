# SPDX-License-Identifier: GPL-2.0-or-later
"""The command overload."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ..number_range import NumberRange
from . import results
from .arguments import TARGET, fail, run_against, session_options, target_options
from .options import LoadOptions, OptionError
from .overload import KINDS, OverloadPlan
from .overload_run import plot_together, run_overload

ORIGINAL_SECONDS = 60.0
MOST, QUICK_MOST = 295.0, 57.0
"""Seconds: five minutes and one, with the start of a router and the writing of the page."""
QUICK_TIMEOUT = 2.0
"""Seconds to wait for an answer: a step beyond the knee waits so long at its end."""
_FILE = click.Path(path_type=Path, exists=True)
_MOST_STEPS = 500


def steps(text: str) -> list[float]:
    """ "100-2000/100" or "50,100,400": calls/s. Raises OptionError."""
    wrong = OptionError(f"--rates {text!r}: calls/s as 100-2000/100 or 50,100,400")
    try:
        if "-" in text:
            span, _, step = text.partition("/")
            low, _, high = span.partition("-")
            first, last, gap = float(low), float(high), float(step or low)
            if not (0 < first <= last <= 1e6 and gap > 0 and (last - first) / gap < _MOST_STEPS):
                raise wrong
            return [first + i * gap for i in range(int((last - first) / gap + 1e-9) + 1)]
        found = sorted({float(part) for part in text.split(",")})
    except ValueError:
        raise wrong from None
    if not found or not all(0 < rate <= 1e6 for rate in found) or len(found) > _MOST_STEPS:
        raise wrong
    return found


@click.command()
@target_options
@click.option(
    "--rates",
    help="The ramp: calls/s offered, from-to/step or a list. Default: 100-2000/100; --quick: "
    "250-2000/250.",
)
@click.option(
    "-T",
    "step",
    type=NumberRange(0.2, 86_400),
    help="Duration of each step in seconds. Default: 6; --original: 60; --quick: 1.",
)
@click.option("--original", is_flag=True, help="Steps of a minute, as the original had.")
@click.option(
    "--base",
    "base_rate",
    type=NumberRange(1, 10_000),
    default=20.0,
    show_default=True,
    help="Rate of the polite caller, in calls/s.",
)
@click.option(
    "--flood-rate",
    type=NumberRange(1, 1e6),
    default=500.0,
    show_default=True,
    help="Connections, calls, clears or half-closed connections per second of a flood.",
)
@click.option(
    "--flood-most",
    type=click.IntRange(1, 1_000_000),
    default=2000,
    show_default=True,
    help="Most of them open at the same time.",
)
@click.option(
    "--flood",
    "flood",
    type=NumberRange(0.2, 3600),
    help="Duration of each flood in seconds. Default: 4; --quick: 1.",
)
@click.option(
    "--bound",
    type=NumberRange(1, 3600),
    help="Seconds in which the router has to recover. Default: 15; --quick: 4.",
)
@click.option(
    "--skip", multiple=True, type=click.Choice(KINDS), help="Leave a flood out. Repeatable."
)
@click.option("--quick", is_flag=True, help="At most a minute; --timeout 2 unless given.")
@click.option(
    "--plot",
    nargs=2,
    type=_FILE,
    metavar="OLD NEW",
    help="Do not measure: draw two results (load.json or its folder) in one plot, in -o.",
)
@session_options
def overload(
    *,
    rates: str | None,
    step: float | None,
    original: bool,
    base_rate: float,
    flood_rate: float,
    flood_most: int,
    flood: float | None,
    bound: float | None,
    skip: tuple[str, ...],
    quick: bool,
    timeout: float,
    threads: int,
    seed: int,
    plot: tuple[Path, Path] | None,
    folder: Path | None,
    workers: str | None,
    answering: int,
    **given: Any,
) -> None:
    """A ramp of calls/s by schedule, floods, and how long the router takes to recover.

    The defaults take five minutes at most: what does not come within them is left out, and named.
    Exit status: 0 nothing found; 1 it carries less when overloaded, or does not recover; 2 bad
    usage; 3 no call was connected; 130 interrupted.
    """
    if plot:
        _plot(plot, folder)
    target = {name: given.pop(name) for name in TARGET}
    source = click.get_current_context().get_parameter_source
    if quick and source("timeout") is click.core.ParameterSource.DEFAULT:
        timeout = QUICK_TIMEOUT
    # Who asks for more than the defaults gets the time that it takes.
    asked = original or any(one is not None for one in (rates, step, flood, bound))
    try:
        plan = OverloadPlan(
            rates=steps(rates or ("250-2000/250" if quick else "100-2000/100")),
            step=step or (ORIGINAL_SECONDS if original else 1.0 if quick else 6.0),
            base_rate=base_rate,
            base=1.5 if quick else 4.0,
            flood_rate=flood_rate,
            flood=flood or (1.0 if quick else 4.0),
            flood_most=flood_most,
            bound=bound or (4.0 if quick else 15.0),
            timeout=timeout,
            refine=3 if quick else 6,
            kinds=[kind for kind in KINDS if kind not in skip],
            most=None if asked else QUICK_MOST if quick else MOST,
        )
        options = LoadOptions(timeout=timeout, threads=threads, seed=seed, messages=0)
    except OptionError as error:
        fail(error)
    run_against(
        target,
        folder,
        lambda engine, opened, console: run_overload(
            engine, options, plan, opened, console, folder=folder
        ),
        workers=workers,
        answering=answering,
    )


def _plot(paths: tuple[Path, Path], folder: Path | None) -> None:
    try:
        if folder is None:
            raise OptionError("--plot needs -o: the folder for load.html")
        with results.held(folder):
            sys.exit(plot_together(paths, folder, Console()))
    except (OptionError, results.ResultError, OSError) as error:
        fail(error)
