# SPDX-License-Identifier: GPL-2.0-or-later
"""Command line of the reference router.

Prints one JSON line when it is ready: {"ready": true, "listen": "127.0.25.1:1998", "http": ...,
"pid": ...}, and with serial interfaces "serial": {"s0": "127.0.25.1:2001"}. Ends with 0 after
SIGTERM, SIGINT or (with --stop-on-eof) the end of standard input, with 2 and one line on standard
error if it cannot start.
"""

import argparse
import json
import os
import resource
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from socket import socket

from .config import Settings, load
from .config_table import ConfigError
from .null import KINDS
from .server import Server

# The configuration and the profile of the embedded router.
BUILT_IN = Path(__file__).parents[1] / "profiles" / "reference.router"


def parser() -> argparse.ArgumentParser:
    """Options of the command."""
    options = argparse.ArgumentParser(
        prog="x25shark router",
        description="Reference router for the suite: XOT (RFC 1613) and serial lines.",
    )
    options.add_argument(
        "--config",
        type=Path,
        help="TOML file (see x25shark.reference.config); default: the built-in one",
    )
    options.add_argument(
        "--stop-on-eof", action="store_true", help="stop when standard input is closed"
    )
    options.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="ID[=NUMBER]",
        help="switch a fault on; may be repeated",
    )
    options.add_argument(
        "--variant",
        action="append",
        default=[],
        metavar="ID[=NUMBER]",
        help="make use of a permission of the standards; may be repeated",
    )
    options.add_argument(
        "--emulate",
        action="append",
        default=[],
        metavar="LINE",
        help="one more [[emulation]] of the configuration, its keys separated by commas, such as "
        "'at = \"127.0.25.3\", in = { rate = 56000, delay = 72 }'; may be repeated",
    )
    options.add_argument("--null", choices=KINDS, default="", help="a router that does nothing")
    options.add_argument("--list-faults", action="store_true", help="print all faults and exit")
    options.add_argument("--list-variants", action="store_true", help="print all variants and exit")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Run the router until it is told to stop; returns the exit status."""
    arguments = parser().parse_args(argv)
    if arguments.list_faults:
        from ..catalogue import faults
        from .faults import FAULTS

        texts = {one.id: one.text for one in FAULTS.values()}
        known = {name: one.behaviour for name, one in faults().items() if name in FAULTS}
        for name, text in (known | {n: text for n, text in texts.items() if text}).items():
            print(f"{name:14} {text}")
        return 0
    if arguments.list_variants:
        from ..catalogue.permission import permissions

        for permission in permissions().values():
            print(f"{permission.id:14} {permission.text} ({permission.clause})")
        return 0
    try:
        switch_on(arguments.variant, arguments.fault)
        if arguments.null and arguments.fault:
            raise ConfigError(
                "--null and --fault cannot be combined: a null router has nothing to break"
            )
        settings = load(arguments.config or BUILT_IN, arguments.emulate)
        if arguments.stop_on_eof:
            settings = replace(settings, stop_on_eof=True)
        return serve(settings, arguments.null, tell=arguments.config is None)
    except ConfigError as error:
        return fail(str(error))
    except OSError as error:
        return fail(f"cannot listen on {error.strerror}")


def tell_profile(counters: str) -> None:
    """The profile of the built-in configuration, as a router of one's own, on standard error.

    counters: URL of the page of its counters.
    """
    text = BUILT_IN.with_suffix(".toml").read_text(encoding="utf-8")
    lines = [
        "# The profile of this router. To save it: x25shark router 2>own.toml",
        "# To use it, in another terminal: x25shark run --router own.toml",
        'name = "x25shark router"',
    ]
    for line in text.splitlines():
        if line == "[counters.names]":
            lines += ["[counters]", f'url = "{counters}"', ""]
        if not line.startswith(("#", "embedded =", "name =")):
            lines.append(line)
    print("\n".join(lines), file=sys.stderr, flush=True)


def switch_on(variants: Sequence[str], faults: Sequence[str]) -> None:
    """Switch variants on, then faults; what is not asked for is not even imported."""
    if not variants and not faults:
        return
    from .switches import UnknownSwitch

    option = "--variant"
    try:
        if variants:
            from .variants import VARIANTS

            VARIANTS.switch_on(variants)
        option = "--fault"
        if faults:
            from .faults import FAULTS

            FAULTS.switch_on(faults)
    except UnknownSwitch as error:
        raise ConfigError(f"{option}: {error}") from error


def serve(settings: Settings, null: str = "", *, tell: bool = False) -> int:
    """Listen, say so, run; tell: with the profile of the built-in configuration."""
    limit_descriptors(settings.descriptors)
    server = Server(settings, null)
    server.listen()
    server.watch_signals()
    announce(server)
    if tell:
        tell_profile(f"http://{name(server.http)}/")
    server.run()
    return 0


def limit_descriptors(most: int) -> None:
    """Leave no more files and sockets than the router needs, so that lost ones are missed."""
    if most:
        _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def announce(server: Server) -> None:
    """The line that says that the router is ready."""
    line = {
        "ready": True,
        "listen": name(server.xot),
        "http": name(server.http) if server.settings.http is not None else None,
        "pid": os.getpid(),
    }
    if server.lines:
        line["serial"] = server.lines
    print(json.dumps(line), flush=True)


def name(listener: socket) -> str:
    """Address and port, as they are."""
    host, port = listener.getsockname()[:2]
    return f"{host}:{port}"


def fail(problem: str) -> int:
    print(f"x25shark router: {problem}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
