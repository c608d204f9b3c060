# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands echo and relay: the other end of a load, and a relay to measure through."""

from __future__ import annotations

import json
import math
import os
import resource
import time
from typing import Any

import click
from rich.console import Console

from ..interrupts import interrupts
from ..number_range import NumberRange
from ..report.tell import tell
from .arguments import SIZES, fail, find_engine
from .options import OptionError
from .results import INTEGRITY
from .target import endpoint
from .wording import count, octets, plural

# Seconds between two looks at how many descriptors are in use, and how many are few.
_LOOK = 1.0
_SPARE = 4


def answer(
    listen: str,
    mode: str,
    threads: int,
    duration: float | None,
    configuration: dict[str, object] | None = None,
) -> None:
    """Answer calls until the time is over or Ctrl-C; print what was answered."""
    engine = find_engine()
    console = Console()
    try:
        side = engine.responder(
            {"listen": endpoint(listen), "mode": mode, "threads": threads} | (configuration or {})
        )
    except (OptionError, ValueError) as error:
        fail(error)
    address = endpoint(listen).rpartition(":")[0]
    console.print(
        f"Answering calls on {address}:{side.port} ({mode}); press Ctrl-C to stop.", markup=False
    )
    try:
        interrupts.listen()
        _wait(console, side, duration)
    except KeyboardInterrupt:
        pass
    _print_answered(console, side)


def _wait(console: Console, side: Any, duration: float | None) -> None:
    """Until the time is over; say once if there is no room for further connections."""
    end = math.inf if duration is None else time.monotonic() + duration
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    own = len(os.listdir("/proc/self/fd"))
    said = False
    while (left := end - time.monotonic()) > 0 and not side.wait(min(left, _LOOK)):
        used = own + json.loads(side.snapshot())["open_circuits"]
        if not said and most != resource.RLIM_INFINITY and used + _SPARE > most:
            said = True
            console.print(
                f"Further callers may have to wait: {used} of {most} descriptors are in use "
                "(ulimit -n). Connections without a Call are closed where none is left.",
                highlight=False,
            )


def _print_answered(console: Console, side: Any) -> None:
    side.stop()
    result = json.loads(side.result())
    total = result["total"]
    console.print(
        f"{plural(total['calls_accepted'], 'call')}; {count(total['data_packets_received'])} Data "
        f"packets in, {count(total['data_packets_sent'])} out; "
        f"{octets(total['octets_received'])} in; {plural(total['messages_verified'], 'message')} "
        f"verified, {plural(sum(total[name] for name in INTEGRITY), 'flaw')}",
        highlight=False,
    )
    for kind, number in sorted(result["failures"].items(), key=lambda item: -item[1]):
        console.print(f"  {count(number)} x {kind}", highlight=False, markup=False)


@click.command()
@click.argument("listen", default="127.0.25.3:1998")
@click.option(
    "--mode",
    type=click.Choice(["echo", "sink", "source"]),
    default="echo",
    show_default=True,
    help="Send the messages back, drop them, or send some.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Threads that answer.",
)
@click.option(
    "-P", "packet_size", type=SIZES, default="4096", help="Largest packet size agreed to."
)
@click.option(
    "-W", "window", type=click.IntRange(1, 127), default=127, help="Largest window agreed to."
)
@click.option(
    "--messages", type=click.IntRange(0, 2**32 - 1), default=1, help="Messages that a source sends."
)
@click.option(
    "-l",
    "length",
    type=click.IntRange(1, 16_777_215),
    default=4096,
    help="Octets of a source's messages.",
)
@click.option(
    "-T", "duration", type=NumberRange(0.1), help="Duration in seconds. Default: until Ctrl-C."
)
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
    answer(listen, mode, threads, duration, more)


def both_ways(text: str) -> tuple[float, float]:
    """ "100" or "100,50": messages/s from A to B and from B to A. Raises OptionError."""
    forward, comma, backward = text.partition(",")
    try:
        rates = float(forward), float(backward if comma else forward)
    except ValueError:
        raise OptionError(f"--rate {text!r}: a number, or two with a comma") from None
    if not all(0 <= one <= 1e7 for one in rates):
        raise OptionError(f"--rate {text!r}: from 0 to 10000000 messages/s")
    return rates


@click.command()
@click.argument("listen")
@click.argument("connect")
@click.option(
    "--delay",
    "delay_ms",
    type=NumberRange(0, 60_000),
    default=0.0,
    help="Milliseconds added to each direction.",
)
@click.option(
    "--stall-at",
    type=NumberRange(0),
    default=0.0,
    help="Seconds from the start to the first stall.",
)
@click.option("--stall", type=NumberRange(0), default=0.0, help="Length of each stall, in seconds.")
@click.option(
    "--stall-every",
    type=NumberRange(0),
    default=0.0,
    metavar="SECONDS",
    help="Interval from one stall to the next.",
)
@click.option(
    "--rate",
    metavar="N[,N]",
    default="0",
    help="Messages/s that it carries in each direction, or from A to B and from B to A; "
    "0: no limit.",
)
@click.option("--call-rate", type=NumberRange(0, 1e7), default=0.0, help="Calls/s; 0: no limit.")
@click.option(
    "--queue",
    type=click.IntRange(0, 1_000_000),
    default=100,
    show_default=True,
    help="Messages that may wait in each direction.",
)
@click.option(
    "--call-queue",
    type=click.IntRange(0, 1_000_000),
    default=100,
    show_default=True,
    help="Calls that may wait.",
)
@click.option(
    "--overflow",
    type=click.Choice(["hold", "drop"]),
    default="hold",
    show_default=True,
    help="What happens when the queue is full: it is held back on its connection, or dropped.",
)
@click.option(
    "--mss", type=click.IntRange(88, 32_767), help="Largest TCP segment, octets, on both sides."
)
@click.option(
    "--window", type=click.IntRange(1, 127), help="Windows that a Call asks for are lowered to it."
)
@click.option(
    "--corrupt",
    type=NumberRange(0, 1),
    default=0.0,
    metavar="PROBABILITY",
    help="Probability that an octet of user data is changed.",
)
@click.option(
    "--drop",
    multiple=True,
    type=click.IntRange(1),
    metavar="PACKET",
    help="Number of a Data packet to drop, over all connections. Repeatable.",
)
@click.option(
    "--drop-every",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Drop each Nth Data packet, over all connections.",
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
@click.option(
    "--line-rate",
    type=click.IntRange(0, 10**10),
    default=0,
    metavar="BIT/S",
    help="Rate of an emulated line that all circuits share; 0: no limit.",
)
@click.option(
    "--line-delay",
    type=NumberRange(0, 60_000),
    default=0.0,
    help="Milliseconds of propagation, one way.",
)
@click.option("--line-queue", type=click.IntRange(0), default=0, help="Packets; 0: no limit.")
@click.option("--line-queue-octets", type=click.IntRange(0), default=0, help="0: no limit.")
@click.option(
    "--line-loss",
    type=NumberRange(0, 1),
    default=0.0,
    metavar="PROBABILITY",
    help="Probability that a packet is lost.",
)
@click.option(
    "--line-framing",
    type=click.Choice(["xot", "hdlc", "hdlcoctet"]),
    default="xot",
    show_default=True,
    help="Overhead of each packet: an XOT header, or an HDLC frame with bit or octet stuffing.",
)
@click.option(
    "--delay-call",
    type=click.IntRange(0),
    default=0,
    help="Number of the connection to delay, the first being 1; 0: none.",
)
@click.option("--delay-call-for", type=NumberRange(0), default=1.0, help="Its delay, in seconds.")
@click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of what is random."
)
@click.option(
    "-T", "duration", type=NumberRange(0.1), help="Duration in seconds. Default: until Ctrl-C."
)
def relay(
    *,
    listen: str,
    connect: str,
    delay_ms: float,
    stall_at: float,
    stall: float,
    stall_every: float,
    rate: str,
    call_rate: float,
    queue: int,
    call_queue: int,
    overflow: str,
    mss: int | None,
    window: int | None,
    corrupt: float,
    drop: tuple[int, ...],
    drop_every: int,
    duplicate: tuple[int, ...],
    swap: tuple[int, ...],
    delay_call: int,
    delay_call_for: float,
    line_rate: int,
    line_delay: float,
    line_queue: int,
    line_queue_octets: int,
    line_loss: float,
    line_framing: str,
    seed: int,
    duration: float | None,
) -> None:
    """Pass XOT connections on from LISTEN to CONNECT, unread, or with faults on purpose.

    With --rate it is a router of known capacity: a message (complete packet sequence) takes
    1/rate seconds, and what comes meanwhile waits in a queue. With --line-rate and --line-delay it
    is an access line: a packet takes octets x 8 / rate seconds, and arrives the delay later.
    """
    engine = find_engine()
    faults = {
        "delay_ms": delay_ms,
        "stall_at_ms": round(stall_at * 1000),
        "stall_ms": round(stall * 1000),
        "stall_every_ms": round(stall_every * 1000),
        "mss": mss or 0,
        "window": window or 0,
        "corrupt": corrupt,
        "drop": drop,
        "drop_every": drop_every,
        "duplicate": duplicate,
        "swap": swap,
        "delay_call": delay_call,
        "delay_call_ms": round(delay_call_for * 1000),
        "seed": seed,
    }
    line = {
        "rate": line_rate,
        "delay_ms": line_delay,
        "queue_packets": line_queue,
        "queue_octets": line_queue_octets,
        "loss": line_loss,
    }
    try:
        capacity = {
            "rate": both_ways(rate),
            "calls": call_rate,
            "queue": queue,
            "call_queue": call_queue,
            "overflow": overflow,
        }
        side = engine.relay(
            {
                "listen": endpoint(listen),
                "connect": endpoint(connect),
                "faults": faults,
                "capacity": capacity,
                "line": {
                    "directions": [line, line],
                    "framing": line_framing,
                    "overflow": overflow,
                    "seed": seed,
                },
            }
        )
    except (OptionError, ValueError) as error:
        fail(error)
    tell(f"Relaying from port {side.port} to {endpoint(connect)}; press Ctrl-C to stop.")
    try:
        interrupts.listen()
        end = time.monotonic() + duration if duration is not None else None
        while end is None or time.monotonic() < end:
            time.sleep(0.1)
    except KeyboardInterrupt:
        pass
    report = json.loads(side.result())
    tell(f"{plural(report['connections'], 'connection')}, {octets(report['octets'])} relayed")
    if report["overflowed"]:
        tell(f"  {count(report['overflowed'])} dropped because a queue was full")
    if line_rate or line_delay or line_loss:
        for way, carried in zip(("A to B", "B to A"), report["line"], strict=True):
            tell(
                f"  line, {way}: {plural(carried['packets'], 'packet')}, "
                f"{octets(carried['octets'])} of the wire, {carried['lost']} lost, "
                f"{carried['overflowed']} found the queue full, at most "
                f"{carried['longest_queue']} waited"
            )
    for fault in report["injected"][:100]:
        way = "A to B" if fault["forward"] else "B to A"
        tell(
            f"  {fault['kind']}: connection {fault['connection']}, {way}, "
            f"Data packet {fault['packet']}"
        )
