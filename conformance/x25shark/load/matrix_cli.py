# SPDX-License-Identifier: GPL-2.0-or-later
"""The command matrix."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import click

from ..number_range import NumberRange
from .arguments import (
    TARGET,
    fail,
    modulo_option,
    run_against,
    session_options,
    target_options,
)
from .matrix import SEVEN, MatrixPlan, Setting
from .matrix_run import run_matrix
from .measure_cli import bit_rate
from .options import PACKET_SIZES, LoadOptions, OptionError, address_range, number_list
from .target import Target, endpoint

ORIGINAL_SECONDS = 60.0
_MOST = 500


def settings(
    tcp_windows: str | None, mss: str | None, parallel: str | None, sizes: list[int],
    windows: list[int],
) -> list[Setting]:  # fmt: skip
    """The seven tests, or every combination of the axes that were given. Raises OptionError."""
    if tcp_windows is None and mss is None and parallel is None:
        tcp: list[tuple[int, int, int]] = list(SEVEN)
    else:
        tcp = list(
            product(
                number_list(tcp_windows or "65536", "TCP window", range(2048, (1 << 30) + 1)),
                number_list(mss or "1460", "MSS", range(88, 32_768)),
                number_list(parallel or "1", "parallel connections", range(1, 10_001)),
            )
        )
    found = [Setting(*one, size, window) for size, window in product(sizes, windows) for one in tcp]
    if len(found) > _MOST:
        raise OptionError(f"{len(found)} tests: at most {_MOST}")
    return found


@click.command()
@target_options
@click.option(
    "--second",
    metavar="IP[:PORT],ADDRESS",
    help="The second pair: where the tester answers its calls, and the address to call. "
    "Default: xot.b2 and addresses.b2 of the profile.",
)
@click.option("--one-pair", is_flag=True, help="Only from A to B.")
@click.option(
    "--tcp-window",
    "tcp_windows",
    metavar="OCTETS,...",
    help="Socket buffers. Default with --mss and -N: the original's seven tests.",
)
@click.option("--mss", metavar="OCTETS,...", help="TCP maximum segment sizes.")
@click.option("-N", "parallel", metavar="N,...", help="Parallel connections of each pair.")
@click.option("-P", "sizes", default="4096", show_default=True, help="Packet sizes to ask for.")
@click.option("-W", "windows", default="7", show_default=True, help="Windows to ask for.")
@modulo_option
@click.option(
    "-T",
    "seconds",
    type=NumberRange(0.5, 86_400),
    help="Duration of each test. Default: 15; --original: 60; --quick: 2.",
)
@click.option(
    "--control",
    "control_seconds",
    type=NumberRange(0),
    help="Seconds of the control run of each test; 0: none. Default: 2; --quick: 0.7.",
)
@click.option("--original", is_flag=True, help="A minute for each test, as the original had.")
@click.option("--quick", is_flag=True, help="At most a minute.")
@click.option(
    "--line-rate", metavar="RATE", help="Rate of A's line in bit/s, such as 56k, 100M or 1G."
)
@click.option(
    "--capture",
    "packets",
    type=click.IntRange(100, 100_000_000),
    help="Packets to capture and read in each test. Default: 100000; --quick: 20000.",
)
@session_options
def matrix(
    *,
    second: str | None,
    one_pair: bool,
    tcp_windows: str | None,
    mss: str | None,
    parallel: str | None,
    sizes: str,
    windows: str,
    modulo: str,
    seconds: float | None,
    control_seconds: float | None,
    original: bool,
    quick: bool,
    line_rate: str | None,
    packets: int | None,
    folder: Path | None,
    workers: str | None,
    answering: int,
    **given: Any,
) -> None:
    """Speed by TCP window, MSS, connections, packet size and window, of two pairs at a time.

    Whether each setting took effect is read from the wire. Exit status: 0 nothing wrong; 1 data
    was lost or calls failed; 2 bad usage; 3 no call was connected; 130 interrupted.
    """
    target = {name: given.pop(name) for name in TARGET}
    try:
        options = LoadOptions(**given, modulo=int(modulo), mode="sink")
        plan = MatrixPlan(
            settings=settings(
                tcp_windows,
                mss,
                parallel,
                number_list(sizes, "packet size", PACKET_SIZES),
                number_list(windows, "window", range(1, options.modulo)),
            ),
            seconds=seconds or (ORIGINAL_SECONDS if original else 2.0 if quick else 15.0),
            control=(control_seconds if control_seconds is not None else (0.7 if quick else 2.0)),
            line_rate=bit_rate(line_rate) if line_rate else None,
            packets=packets or (20_000 if quick else 100_000),
        )
        other = _second(second)
    except OptionError as error:
        fail(error)

    def paired(opened: Target) -> Target:
        if one_pair:
            return replace(opened, second=None)
        return replace(opened, second=other or opened.second)

    run_against(
        target,
        folder,
        lambda engine, opened, console: run_matrix(
            engine, options, plan, paired(opened), console, folder=folder
        ),
        workers=workers,
        answering=answering,
    )


def _second(text: str | None) -> tuple[str, tuple[str, str]] | None:
    if text is None:
        return None
    listen, comma, called = text.partition(",")
    if not comma:
        raise OptionError(f"--second {text!r}: like 192.0.2.12,2200001")
    return endpoint(listen), address_range(called)
