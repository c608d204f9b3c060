# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark init and x25shark completion."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import NoReturn

import click

from ..report.tell import complain, tell
from .routers import KINDS, MODELS, Plan, host, profile_text

DEFAULT_FILE = "router.toml"


def _refuse(message: str) -> NoReturn:
    complain(message)
    sys.exit(2)


def _ask(value: str | None, option: str, question: str, default: str | None = None) -> str:
    """The option, or an answer; where nobody can be asked, the default."""
    if value is not None:
        return value
    if can_ask():
        answer: str = click.prompt(question, default=default)
        return answer
    if default is None:
        _refuse(f"{option} is missing, and there is no terminal to ask on")
    return default


def can_ask() -> bool:
    """Whether somebody sits at a terminal."""
    return sys.stdin.isatty()


def own_address(router: str) -> str:
    """The address of this machine from which packets to the router would go."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect((host(router), 9))
            found: str = sock.getsockname()[0]
        except OSError:
            return "127.0.0.1"
    return found


@click.command("init")
@click.argument("file", default=DEFAULT_FILE, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--router-address", metavar="IP[:PORT]", help="Where the router accepts XOT.")
@click.option("--kind", type=click.Choice([*KINDS]), help="Which router it is.")
@click.option("--model", type=click.Choice([*MODELS]), help="Its relay model.")
@click.option("--a", metavar="IP", help="This machine's address for side A.")
@click.option("--b", metavar="IP", help='Side B, where the router sends calls; "none" for none.')
@click.option("--a-address", metavar="X.121", default="3100001", show_default=True)
@click.option("--b-address", metavar="X.121", default="2100001", show_default=True)
@click.option(
    "--echo",
    metavar="X.121",
    default="1111",
    show_default=True,
    help="An address that answers and sends data back (without side B).",
)
@click.option("--no-probe", is_flag=True, help="Do not try to reach the router.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
def init_command(
    file: Path,
    router_address: str | None,
    kind: str | None,
    model: str | None,
    a: str | None,
    b: str | None,
    a_address: str,
    b_address: str,
    echo: str,
    no_probe: bool,
    force: bool,
) -> None:
    """Write the profile of a router to FILE, and print the router's side of the set-up.

    What is not given as an option is asked for. The router is then tried: one TCP connection, one
    call. The exit status is 0 if the profile was written, even if the router did not answer.
    """
    from ..profile import ProfileError, parse_profile
    from ..results import write_whole

    if file.exists() and not force:
        _refuse(f"{file} exists; --force overwrites it")
    kind = _ask(kind, "--kind", f"Which router is it ({', '.join(KINDS)})", "other")
    if kind not in KINDS:
        _refuse(f"--kind: {kind!r} is not one of {', '.join(KINDS)}")
    router = _ask(router_address, "--router-address", "Address of the router (IP or IP:port)")
    model = _ask(model, "--model", f"Relay model ({', '.join(MODELS)})", KINDS[kind].model)
    if model not in MODELS:
        _refuse(f"--model: {model!r} is not one of {', '.join(MODELS)}")
    a = _ask(a, "--a", "This machine's address for side A", own_address(router))
    b = _ask(b, "--b", "Address of side B (none: the router ends the calls itself)", "none")
    if b != "none" and not KINDS[kind].two_sided:
        tell(f"note: {KINDS[kind].text} does not switch calls; it is tested without --b")
    plan = Plan(router, a, None if b == "none" else b, a_address, b_address, echo)
    text = profile_text(f"{kind} {host(router)}", KINDS[kind], model, plan)
    try:
        profile = parse_profile(text, str(file))
    except ProfileError as error:
        _refuse(f"what was given makes no profile: {error}")
    try:
        write_whole(file, text)
    except OSError as error:
        _refuse(f"{file}: {error.strerror or error}")
    tell(f"wrote {file}: {profile.configuration}, {profile.relay_model}")
    if not no_probe:
        _probe(profile)
    tell(f"\n{KINDS[kind].configuration(plan)}\n")
    tell(f"next: x25shark check {file}")


def _probe(profile: object) -> None:
    from ..profile import Profile
    from ..report.text import one_line
    from .probe import probe

    assert isinstance(profile, Profile)
    good, said = probe(profile)
    for line in said:
        tell(f"probe: {one_line(line, 200)}")
    if not good:
        tell("probe: the router does not do yet what the profile says; see below")


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the shell completion of x25shark.

    For bash: eval "$(x25shark completion bash)" in ~/.bashrc; zsh likewise; for fish:
    x25shark completion fish > ~/.config/fish/completions/x25shark.fish
    """
    from click.shell_completion import get_completion_class

    from ..cli import main

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(main, {}, "x25shark", "_X25SHARK_COMPLETE").source())


@click.command("doctor")
def doctor_command() -> None:
    """Say what of x25shark works on this machine, and what confines the judge."""
    from .doctor import findings

    well = True
    for what, words, good in findings():
        tell(f"{'ok ' if good else '-- '} {what:12} {words}")
        well = well and good
    sys.exit(0 if well else 1)


commands: list[click.Command] = [init_command, completion_command, doctor_command]
"""For the x25shark command line."""
