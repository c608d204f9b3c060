# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark ip up, ping, transfer, circuits, files, saturation, availability and all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from ipaddress import ip_interface, ip_network
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from rich.console import Console

from ..groups import Group
from ..interrupts import interrupts
from ..load import results
from ..load.arguments import SIZES, fail, find_engine, modulo_option, option_group
from ..load.options import OptionError, number_list
from ..load.target import TargetError, endpoint
from ..load.terminal import print_tables
from ..number_range import NumberRange
from ..profile import Emulation, ProfileError, load_profile
from ..report.tell import complain, tell
from ..run.namespaces import NamespaceError, enter_own
from . import paper
from .experiments import EXPERIMENTS, Plan
from .gateway import run_gateway
from .hosts import IPV6_LEAST, HostError, Link
from .lab import Conditions, Line, hosts_of, line_of_profile, write_json
from .model import delay_for
from .page import write_page
from .result import head, judge
from .tables import TABLES, closing_note

F = TypeVar("F", bound=Callable[..., Any])
ERRORS = (
    OptionError,
    TargetError,
    ProfileError,
    HostError,
    NamespaceError,
    results.ResultError,
    ValueError,
    OSError,
)
ENCAPSULATIONS = click.Choice(["nlpid", "snap", "null"])

circuit_options = option_group(
    click.option(
        "--circuits",
        type=click.IntRange(1, 10),
        default=1,
        show_default=True,
        help="Circuits open to one destination at the same time.",
    ),
    click.option(
        "--encapsulation",
        type=ENCAPSULATIONS,
        default="nlpid",
        show_default=True,
        help="Of its own calls (RFC 1356): nlpid is 0xCC (also RFC 877) and 0x8E, snap 0x80, null "
        "0x00 with both protocols on one circuit. Calls from others may have any.",
    ),
    click.option(
        "-P",
        "packet_size",
        type=SIZES,
        default="128",
        show_default=True,
        help="Packet size to ask for, octets.",
    ),
    click.option(
        "-W",
        "window",
        type=click.IntRange(1, 127),
        default=2,
        show_default=True,
        help="Window to ask for.",
    ),
    modulo_option,
    click.option(
        "--idle",
        type=NumberRange(0, 86_400),
        default=90.0,
        show_default=True,
        help="Seconds without data after which a circuit is cleared; 0: never.",
    ),
    click.option(
        "--hold-down",
        type=NumberRange(0, 86_400),
        default=10.0,
        show_default=True,
        help="Longest wait after a refused call, in seconds. The first refusal costs 1 second, "
        "each further one in a row twice as long. Clearing a call that was up is not a refusal.",
    ),
)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
def ip() -> None:
    """IP over X.25: a gateway, and the experiments of 1987 over lines of known rate and delay.

    \b
    x25shark ip ping                          table 1, over a line of 56 kbit/s
    x25shark ip all --compress 4 -o report    everything, four times as fast
    x25shark ip circuits --rate 9600 --delay 10
    x25shark ip datagrams --corrupt 0.00001   a file without TCP: octets changed
    x25shark ip up --address 10.1.0.1/24 --peer 21=10.1.0.2/32 --calling 31 \\
        --connect 192.0.2.1 --listen 192.0.2.10 -- ping -c 5 10.1.0.2
    """


@ip.command()
@click.option("--address", required=True, metavar="IP/LEN", help="Own address; IPv4 or IPv6.")
@click.option("--calling", required=True, metavar="X121", help="X.121 address of this end.")
@click.option(
    "--peer",
    "peers",
    multiple=True,
    required=True,
    metavar="X121=PREFIX",
    help="Datagrams for PREFIX go to the gateway X121. Repeatable.",
)
@click.option("--connect", metavar="IP[:PORT]", help="The router to call.")
@click.option(
    "--listen",
    metavar="IP[:PORT]",
    help="Where to listen for the router's calls. Own calls come from that IP: routers know their "
    "peers by it.",
)
@click.option(
    "--tun", "device", metavar="NAME", help="An existing TUN device that is already configured."
)
@click.option(
    "--mtu",
    type=click.IntRange(576, 1600),
    default=1500,
    show_default=True,
    help="Octets of the longest IP datagram.",
)
@click.option(
    "--queue",
    type=click.IntRange(1, 100_000),
    default=500,
    show_default=True,
    help="Datagrams per peer that may wait for a circuit.",
)
@circuit_options
@click.argument("command", nargs=-1)
def up(
    *,
    address: str,
    calling: str,
    peers: tuple[str, ...],
    connect: str | None,
    listen: str | None,
    device: str | None,
    mtu: int,
    queue: int,
    command: tuple[str, ...],
    **given: Any,
) -> None:
    """A gateway between IP and a router, in a network namespace of its own or on --tun.

    COMMAND runs in the namespace, and the gateway ends with it. Without --connect it only answers.
    Namespace and device go with the process, however that ends.
    """
    engine = find_engine()
    try:
        interrupts.listen()
        if device is not None and command:
            raise OptionError("--tun cannot be combined with a COMMAND: start the command yourself")
        own = ip_interface(address)
        if own.version == 6 and mtu < IPV6_LEAST:
            raise OptionError(f"--mtu {mtu}: IPv6 needs {IPV6_LEAST}")
        configuration = _circuit_words(given) | {
            "address": calling,
            "peers": [_peer(text) for text in peers],
            "connect": endpoint(connect) if connect else None,
            "listen": endpoint(listen) if listen else None,
            "calls": connect is not None,
            "mtu": mtu,
            "queue": queue,
        }
        # One host route for all peers: the device is the way to everything beyond the gateway.
        link = Link(address, address, mtu)
        status = run_gateway(engine, configuration, link, device, command)
    except ERRORS as error:
        fail(error)
    sys.exit(status)


def _peer(text: str) -> dict[str, Any]:
    called, equals, prefix = text.partition("=")
    if not equals:
        raise OptionError(f"--peer {text!r}: write X121=PREFIX, such as 21=10.1.0.0/24")
    return {"address": called, "prefixes": [str(ip_network(prefix, strict=False))]}


def _circuit_words(given: dict[str, Any]) -> dict[str, Any]:
    return {
        "circuits": given["circuits"],
        "encapsulation": given["encapsulation"],
        "packet_size": int(given["packet_size"]),
        "window": given["window"],
        "modulo": int(given["modulo"]),
        "idle_ms": round(given["idle"] * 1000),
        "hold_down_ms": round(given["hold_down"] * 1000),
    }


experiment_options = option_group(
    click.option("--router", metavar="PROFILE", help="Profile. Default: reference, built in."),
    click.option(
        "--fault", "faults", multiple=True, metavar="ID",
        help="Fault of the reference router. Repeatable.",
    ),
    click.option(
        "--rate", type=click.IntRange(0, 10**9), default=paper.LINE, show_default=True,
        help="Rate of each access line in bit/s; 0: no limit.",
    ),
    click.option(
        "--delay", type=NumberRange(0, 60_000), help="One-way delay of a line, milliseconds."
    ),
    click.option(
        "--ping", "ping_ms", type=NumberRange(0, 60_000), default=340.0, show_default=True,
        help="Without --delay: choose the delay so that a small ping takes this many milliseconds.",
    ),
    click.option(
        "--lines-at", type=click.Choice(["relay", "router"]), default="relay", show_default=True,
        help="Who emulates the lines: relays in front of the router, or the reference router at "
        "its own interfaces.",
    ),
    click.option(
        "--framing", type=click.Choice(["xot", "hdlc", "hdlcoctet"]), default="xot",
        show_default=True, help="Overhead that each packet has on the line.",
    ),
    click.option("--line-queue", type=click.IntRange(0), default=0,
        help="Longest queue of a line, in packets; 0: no limit."),
    click.option("--line-queue-octets", type=click.IntRange(0), default=0,
        help="Longest queue of a line, in octets; 0: no limit."),
    click.option(
        "--overflow", type=click.Choice(["hold", "drop"]), default="hold", show_default=True,
        help="What happens to a packet when the line's queue is full.",
    ),
    click.option("--loss", type=NumberRange(0, 1), default=0.0, help="Share of lost packets."),
    click.option(
        "--mtu", type=click.IntRange(576, 1600), default=576, show_default=True,
        help="Octets of the longest IP datagram.",
    ),
    click.option(
        "--tcp-window", type=click.IntRange(0, 65_535), default=4096, show_default=True,
        help="TCP window of the hosts, octets; 0: the kernel's default. Hosts of 1987 had 4096 "
        "(4.3BSD). Five transfers with larger ones queue for a minute and more in front of one "
        "circuit, and clients give up.",
    ),
    click.option("--ipv6", is_flag=True, help="Carry IPv6; needs --mtu 1280 or more."),
    circuit_options,
    click.option(
        "--clear-every", type=NumberRange(0), default=0.0, metavar="SECONDS",
        help="Interval at which line A clears all circuits.",
    ),
    click.option(
        "--clear-after", type=click.IntRange(0), default=0, metavar="N",
        help="Line A clears all circuits after each N Data packets.",
    ),
    click.option(
        "--refuse-every", type=click.IntRange(0), default=0, metavar="N",
        help="Line A refuses each Nth call.",
    ),
    click.option(
        "--corrupt", type=NumberRange(0, 1), default=0.0, metavar="PROBABILITY",
        help="Probability that line A changes any given octet of user data.",
    ),
    click.option(
        "--compress", type=NumberRange(1, 100), default=1.0, show_default=True,
        help="Speed the lines up by this factor; results are scaled back.",
    ),
    click.option(
        "--pings", type=click.IntRange(2, 100_000), default=paper.PINGS, show_default=True,
        help="Pings of each size.",
    ),
    click.option(
        "--octets", type=click.IntRange(1, 10**9), default=paper.FILE_OCTETS, show_default=True,
        help="Size of the file, in octets.",
    ),
    click.option(
        "--file-octets", type=click.IntRange(1, 10**9), default=paper.FILES_OCTETS,
        show_default=True, help="Size of each of the five files.",
    ),
    click.option("--numbers", metavar="LIST", help="Circuits to try, such as 1,2,4 or 1-10."),
    click.option(
        "--minutes", type=click.IntRange(1, 1440), default=5, show_default=True,
        help="Duration of the saturation run.",
    ),
    click.option(
        "--hours", type=NumberRange(0.001, 10_000), default=0.1, show_default=True,
        help="Duration of the availability run.",
    ),
    click.option(
        "--limit", type=NumberRange(1), metavar="SECONDS",
        help="Give up a transfer after this long. Default: five times the model's time and two "
        "minutes, or fifteen where lines lose, clear, refuse or change.",
    ),
    click.option(
        "--seed", type=click.IntRange(0), default=1, show_default=True,
        help="Seed of everything random.",
    ),
    click.option("--no-capture", is_flag=True, help="With -o: do not capture packets."),
    click.option(
        "-o", "--output", "folder", type=click.Path(path_type=Path, file_okay=False),
        help="Directory for ip.json, ip.html and the captures.",
    ),
)  # fmt: skip


def _conditions(given: dict[str, Any]) -> Conditions:
    version = 6 if given["ipv6"] else 4
    if version == 6 and given["mtu"] < IPV6_LEAST:
        raise OptionError(f"--ipv6: --mtu is {given['mtu']}, IPv6 needs {IPV6_LEAST}")
    most = 7 if given["modulo"] == "8" else 127
    if given["window"] > most:
        raise OptionError(f"-W: the window is {given['window']}, at most {most}")
    faults = {
        "clear_every_ms": round(given["clear_every"] * 1000),
        "clear_after": given["clear_after"],
        "refuse_every": given["refuse_every"],
        "corrupt": given["corrupt"],
        "seed": given["seed"],
    }
    line = Line(
        given["rate"],
        0.0,
        given["line_queue"],
        given["line_queue_octets"],
        given["loss"],
        given["framing"],
        given["overflow"],
    )
    conditions = Conditions(
        line=line,
        packet_size=int(given["packet_size"]),
        window=given["window"],
        modulo=int(given["modulo"]),
        circuits=given["circuits"],
        mtu=given["mtu"],
        encapsulation=given["encapsulation"],
        ip_version=version,
        idle=given["idle"],
        hold_down=given["hold_down"],
        tcp_window=given["tcp_window"],
        lines_at=given["lines_at"],
        faults=tuple(faults.items()),
        seed=given["seed"],
    )
    if given["router"] is not None:
        profile = load_profile(given["router"])
        conditions = replace(conditions, end_to_end=profile.relay_model != "local")
        if profile.emulation != Emulation() and _unsaid("rate", "delay", "ping_ms", "framing"):
            line = line_of_profile(profile.emulation)
            at = profile.emulation.at if _unsaid("lines_at") else conditions.lines_at
            return replace(conditions, line=line, lines_at=at)
    delay = given["delay"]
    seconds = delay_for(given["ping_ms"] / 1000, conditions) if delay is None else delay / 1000
    return replace(conditions, line=replace(line, delay=seconds))


def _unsaid(*names: str) -> bool:
    """Whether the command line gives none of these options."""
    context = click.get_current_context()
    return all(context.get_parameter_source(name) is ParameterSource.DEFAULT for name in names)


_FOR = {
    "pings": ("ping",),
    "octets": ("transfer", "datagrams", "circuits", "saturation"),
    "file_octets": ("files",),
    "numbers": ("circuits", "files"),
    "circuits": ("datagrams", "saturation", "availability"),
    "minutes": ("saturation",),
    "hours": ("availability",),
    "limit": ("transfer", "circuits", "files", "saturation"),
}
"""Options that not every experiment has a use for."""


def _plan(given: dict[str, Any], names: Sequence[str]) -> tuple[dict[str, Any], Conditions]:
    for option, users in _FOR.items():
        if not _unsaid(option) and not set(users) & set(names):
            raise OptionError(
                f"--{option.replace('_', '-')} has no effect on {names[0]}, only on "
                + ", ".join(users)
            )
    chosen: dict[str, Any] = {
        "compress": given["compress"],
        "pings": given["pings"],
        "file_octets": given["octets"],
        "files_octets": given["file_octets"],
        "minutes": given["minutes"],
        "hours": given["hours"],
        "limit": given["limit"],
    }
    if given["numbers"] is not None:
        numbers = tuple(number_list(given["numbers"], "--numbers", range(1, 11)))
        chosen |= {"circuit_numbers": numbers, "files_circuits": numbers}
    return chosen, _conditions(given)


def _run(names: Sequence[str], given: dict[str, Any]) -> int:
    engine = find_engine()
    folder: Path | None = given["folder"]
    result: dict[str, Any] = {}
    try:
        interrupts.listen()
        chosen, conditions = _plan(given, names)
        enter_own()
        # The folder not before: without hosts there is nothing to write.
        with hosts_of(conditions) as hosts, results.held(folder):
            if folder is not None:
                chosen["capture_folder"] = None if given["no_capture"] else folder
            plan = Plan(engine, conditions, hosts, given["router"], given["faults"], **chosen)
            result = head(plan, given["router"] or "reference")
            interrupted = _measure(plan, names, result)
            _conclude(result, interrupted, folder)
    except ERRORS as error:
        fail(error)
    except KeyboardInterrupt:
        if "exit_status" not in result:
            complain("interrupted before there was a result")
    return interrupts.status if interrupts.asked else int(result["exit_status"])


@interrupts.counted()
def _conclude(result: dict[str, Any], interrupted: bool, folder: Path | None) -> None:
    """Judge, print, write."""
    judge(result)
    if interrupted:
        result["exit_status"] = interrupts.status
    _show(result, folder)


def _measure(plan: Plan, names: Sequence[str], result: dict[str, Any]) -> bool:
    """Measure one after the other; whether it was interrupted (what is there is kept)."""
    try:
        for name in names:
            found = result["experiments"][name] = EXPERIMENTS[name](plan, tell)
            if found.get("interrupted"):
                return True
    except KeyboardInterrupt:
        if not result["experiments"]:
            raise
        return True
    return False


def _show(result: dict[str, Any], folder: Path | None) -> None:
    print_tables(Console(), TABLES, result)
    for sentence in (*closing_note(result), *result["verdict"]["remarks"]):
        tell(sentence)
    for sentence in result["verdict"]["reasons"]:
        tell(f"FOUND: {sentence}")
    if folder is not None:
        write_json(folder / "ip.json", result)
        write_page(folder / "ip.html", result)
        tell(f"result: {folder / 'ip.json'}, {folder / 'ip.html'}")


_WORDS = {
    "ping": "Table 1: pings a second apart, of 64 and 512 octets.",
    "transfer": "Table 2: a file put and got by FTP over one circuit.",
    "datagrams": "The same file as UDP datagrams without checksum: octets that a router changes.",
    "circuits": "Table 3: the same put over 1, 2 and 4 circuits (--numbers).",
    "files": "Table 4: five files at the same time over 1 to 10 circuits (--numbers).",
    "saturation": "Figure 5: each minute one transfer more (--minutes, --circuits).",
    "availability": "Figures 1 to 4: round trips by time, and availability (--hours).",
    "all": "All of them, one after the other.",
}


def _command(name: str, words: str) -> click.Command:
    names = tuple(EXPERIMENTS) if name == "all" else (name,)

    @click.command(name, help=words)
    @experiment_options
    def command(**given: Any) -> None:
        sys.exit(_run(names, given))

    return command


for _name, _help in _WORDS.items():
    ip.add_command(_command(_name, _help))

commands: list[click.Command] = [ip]
