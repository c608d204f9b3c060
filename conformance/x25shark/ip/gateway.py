# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark ip up: one gateway between a TUN device and a router, until Ctrl-C or the end of a
program that runs beside it."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..interrupts import interrupts
from ..load.engine import Engine, GatewaySide
from ..load.wording import count, plural
from ..report.tell import tell
from .hosts import Host, Link, host, open_tun

_LOOK = 0.1


def run_gateway(
    engine: Engine,
    configuration: Mapping[str, Any],
    link: Link,
    device: str | None,
    command: Sequence[str],
) -> int:
    """Work until the end; the exit status of the command, or 0."""
    with _device(link, device) as (tun, inside):
        side = engine.gateway({**configuration, "tun": tun})
        where = f"device {device}" if device else f"its own namespace: {' '.join(_shell(inside))}"
        listening = f", calls come to port {side.port}" if side.port else ""
        tell(f"IP over X.25 at {link.address}, {where}{listening}; Ctrl-C ends.")
        try:
            return _watch(side, inside, command)
        except KeyboardInterrupt:
            return 0 if not command else interrupts.status
        finally:
            side.stop()
            _print_counts(json.loads(side.result()))


def _shell(inside: Host | None) -> tuple[str, ...]:
    return (*inside.enter[:-1], "sh") if inside is not None else ()


@contextlib.contextmanager
def _device(link: Link, device: str | None) -> Iterator[tuple[int, Host | None]]:
    if device is None:
        with host(link) as made:
            yield made.tun, made
        return
    number = open_tun(device)
    try:
        yield number, None
    finally:
        os.close(number)


def _watch(side: GatewaySide, inside: Host | None, command: Sequence[str]) -> int:
    process = inside.start(command) if inside is not None and command else None
    shown = 0
    try:
        while process is None or process.poll() is None:
            report = json.loads(side.snapshot())
            known = report["events_forgotten"] + len(report["events"])
            for event in report["events"][max(shown - report["events_forgotten"], 0) :]:
                tell(f"{event['ms'] / 1000:9.3f} s  {event['text']}")
            shown = known
            time.sleep(_LOOK)
    finally:
        if process is not None:
            process.kill()
            process.wait()
    return process.returncode


def _print_counts(report: Mapping[str, Any]) -> None:
    totals = report["totals"]
    tell(
        f"{plural(totals['datagrams_offered'], 'datagram')} from IP, "
        f"{count(totals['datagrams_delivered'])} to it; "
        f"{plural(totals['packets_out'], 'Data packet')} out, {count(totals['packets_in'])} in; "
        f"{plural(totals['resets'], 'reset')}"
    )
    tell("circuit  with             up, s  set-up, ms  size  window  datagrams out/in  end")
    for c in report["circuits"]:
        setup = "-" if c["setup_ms"] is None else f"{c['setup_ms']:.1f}"
        lasted = ((c["closed_ms"] or c["opened_ms"]) - c["opened_ms"]) / 1000
        tell(
            f"{c['number']:>7}  {c['peer']:<15} {lasted:>7.1f}  {setup:>10}  "
            f"{c['packet_size_out']:>4}  {c['window_out']:>6}  "
            f"{c['datagrams_out']:>13}/{c['datagrams_in']:<6} {c['end']}"
        )
