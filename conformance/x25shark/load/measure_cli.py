# SPDX-License-Identifier: GPL-2.0-or-later
"""The command bench."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..number_range import NumberRange
from .arguments import (
    SIZES,
    TARGET,
    fail,
    modulo_option,
    run_against,
    session_options,
    target_options,
)
from .bench import DEFAULT, ORIGINAL_SIZES, QUICK, QUICK_SIZES
from .bench import SIZES as ONE_PACKET
from .bench_run import run_bench
from .options import SHORTEST, LoadOptions, OptionError, number_list

_PHASES = ("idle", "delay", "burst", "filters", "counters", "errors")
_UNITS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


def bit_rate(text: str) -> float:
    """ "56k", "100M", "1G" or a number, bit/s. Raises OptionError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kMG]?)", text)
    if found is None or not float(found[1]):
        raise OptionError(f"--line-rate {text!r}: bit/s, such as 56k, 100M or 1G")
    return float(found[1]) * _UNITS[found[2]]


@click.command()
@target_options
@click.option(
    "-P",
    "sizes",
    help="Sizes of messages, octets of user data, each one packet. Default: 16 to 4096; "
    f"--quick: {', '.join(map(str, QUICK_SIZES))}.",
)
@click.option(
    "--original",
    is_flag=True,
    help="The original's sizes, 64 to 1518, as sequences of packets with the M bit.",
)
@click.option(
    "--packet-size",
    type=SIZES,
    help="Packet size to ask for; longer messages are sequences. Default: as large as the message, "
    "with --original 128.",
)
@click.option(
    "-N",
    "circuits",
    type=click.IntRange(1, 99_999),
    default=16,
    show_default=True,
    help="Circuits that share the load.",
)
@click.option(
    "-W",
    "window",
    type=click.IntRange(1, 127),
    default=7,
    show_default=True,
    help="Window to ask for.",
)
@modulo_option
@click.option(
    "--trial",
    "trial_seconds",
    type=NumberRange(0.1, 3600),
    help="Seconds of a trial. Default: 1; --quick: 0.5.",
)
@click.option(
    "--bound",
    "bound_seconds",
    type=NumberRange(1, 86_400),
    help="Seconds that the search of one size may take. Default: 9; --quick: 3.5.",
)
@click.option(
    "--errors-bound",
    "errors_seconds",
    type=NumberRange(1, 86_400),
    help="Seconds that the errors may take. Default: 30, or what the other parts left over.",
)
@click.option(
    "--width",
    type=NumberRange(0.001, 0.5),
    default=0.01,
    show_default=True,
    help="Relative width of the interval at which the search stops.",
)
@click.option(
    "--grace",
    type=NumberRange(0, 3600),
    default=1.0,
    show_default=True,
    help="Seconds after its due time from which a message counts as late.",
)
@click.option(
    "--line-rate",
    metavar="RATE",
    help="Rate of the slowest line in bit/s, such as 56k, 100M or 1G.",
)
@click.option(
    "--skip",
    multiple=True,
    type=click.Choice(_PHASES),
    help="Leave a part out. Repeatable.",
)
@click.option(
    "--quick", is_flag=True, help="At most a minute: three sizes, short trials, no errors."
)
@session_options
def bench(
    *,
    sizes: str | None,
    original: bool,
    packet_size: str | None,
    trial_seconds: float | None,
    bound_seconds: float | None,
    errors_seconds: float | None,
    width: float,
    grace: float,
    line_rate: str | None,
    skip: tuple[str, ...],
    quick: bool,
    folder: Path | None,
    workers: str | None,
    answering: int,
    modulo: str,
    **given: Any,
) -> None:
    """Bradner's router tests: throughput, +25 %, flood, delay, bursts, counters, management.

    A message is lost that does not arrive whole and right within --grace of the time it was due.
    Exit status: 0 nothing found; 1 something was found, or the router died; 2 bad usage; 3 no call
    was connected; 130 interrupted.
    """
    target = {name: given.pop(name) for name in TARGET}
    try:
        options = LoadOptions(**given, modulo=int(modulo), mode="sink")
        if options.window >= options.modulo:
            raise OptionError(f"-W: the window is {options.window}, at most {options.modulo - 1}")
        chosen = _sizes(sizes, original, quick)
        size = int(packet_size) if packet_size else (128 if original else None)
        if size is None and max(chosen) > 4096:
            raise OptionError(f"-P: {max(chosen)} octets do not fit in one packet (--packet-size)")
        usual = QUICK if quick else DEFAULT
        plan = replace(
            usual,
            sizes=chosen,
            packet_size=size,
            trial=trial_seconds or usual.trial,
            bound=bound_seconds or usual.bound,
            errors=errors_seconds or usual.errors,
            width=width,
            line_rate=bit_rate(line_rate) if line_rate else None,
            skip=usual.skip | set(skip),
        )
    except OptionError as error:
        fail(error)
    run_against(
        target,
        folder,
        lambda engine, opened, console: run_bench(
            engine, options, plan, opened, console, grace=grace, folder=folder
        ),
        workers=workers,
        answering=answering,
    )


def _sizes(text: str | None, original: bool, quick: bool) -> list[int]:
    """The sizes asked for. The test record that verifies every octet needs 16 of them."""
    if text is not None:
        return number_list(text, "size of messages", range(SHORTEST, 65_537))
    if original:
        return list(ORIGINAL_SIZES)
    return list(QUICK_SIZES if quick else ONE_PACKET)
