# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark init and x25shark completion."""

from __future__ import annotations

import shutil
import socket
import sys
import textwrap
from pathlib import Path

import click

from ..links import own_addresses
from ..links.xot import LinkError
from ..report.tell import tell
from . import questions
from .pics import SENTENCES, offered
from .questions import NONE, Questions, refuse
from .routers import A_ADDRESS, B_ADDRESS, ECHO, KINDS, MODELS, Plan, host, profile_text

DEFAULT_FILE = "router.toml"


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
@click.option("--kind", type=click.Choice([*KINDS]), help="Kind of router.")
@click.option("--model", type=click.Choice([*MODELS]), help="Relay model of the router.")
@click.option("--a", metavar="IP", help="This machine's address for side A.")
@click.option("--b", metavar="IP", help='Side B, where the router sends calls; "none" for none.')
@click.option(
    "--a-address", metavar="X.121", help=f"X.121 address of side A.  [default: {A_ADDRESS}]"
)
@click.option(
    "--b-address", metavar="X.121", help=f"X.121 address of side B.  [default: {B_ADDRESS}]"
)
@click.option(
    "--echo",
    metavar="X.121",
    help=f"An address that answers and sends data back (without side B).  [default: {ECHO}]",
)
@click.option(
    "--pics",
    metavar="ITEMS",
    help='What the router can do beyond what is mandatory, such as "P-DBIT F-FS"; or "none".',
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
    a_address: str | None,
    b_address: str | None,
    echo: str | None,
    pics: str | None,
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
        refuse(f"{file} exists; --force overwrites it")
    ask = Questions(questions.can_ask())
    if kind is None:
        ask.explain(f"  {name:10} {found.text}" for name, found in KINDS.items())
    kind = ask.ask(kind, "--kind", "Which router is it", questions.one_of(KINDS), "other")
    router = ask.ask(
        router_address,
        "--router-address",
        "Address of the router (IP or IP:port)",
        questions.endpoint,
    )
    if model is None:
        ask.explain(f"  {name:10} {meaning}" for name, meaning in MODELS.items())
    usual = KINDS[kind].model
    model = ask.ask(model, "--model", "Relay model", questions.one_of(MODELS), usual)
    own = own_address(router)
    taken = {"the router's address": router}
    check = questions.other_than(taken, questions.endpoint)
    a = ask.ask(a, "--a", "This machine's address for side A", check, own)
    check = questions.other_than({**taken, "that of side A": a}, questions.endpoint_or_none)
    b = ask.ask(b, "--b", "Address of side B (none: the router ends the calls itself)", check, NONE)
    if b != NONE and not KINDS[kind].two_sided:
        tell(f"note: {KINDS[kind].text} does not switch calls; it is tested without --b")
    addresses = _x121(ask, a_address, b_address, echo, b)
    plan = Plan(router, a, None if b == NONE else b, *addresses, model)
    if pics is None:
        _explain_pics(ask, two_sided=b != NONE)
    items = ask.ask(
        pics,
        "--pics",
        "What it can do, with blanks between (none: nothing of these)",
        questions.pics_items,
        " ".join(KINDS[kind].pics) or NONE,
    ).split()
    text = profile_text(f"{kind} {host(router)}", KINDS[kind], plan, items)
    try:
        profile = parse_profile(text, str(file))
    except ProfileError as error:
        refuse(f"what was given makes no profile: {error}")
    try:
        write_whole(file, text)
    except OSError as error:
        refuse(f"{file}: {error.strerror or error}")
    tell(f"wrote {file}: {profile.configuration}, {profile.relay_model}")
    missing = _missing(plan)
    if missing:
        tell(missing)
    elif not no_probe:
        _probe(profile)
    tell(f"\n{KINDS[kind].configuration(plan)}\n")
    tell(f"next: x25shark check {file}")


def _x121(
    ask: Questions, a: str | None, b: str | None, echo: str | None, side_b: str
) -> tuple[str, str, str]:
    """The X.121 addresses of sides A and B, and of what answers in the router; only those that
    the profile will have are asked for."""
    check: questions.Check = questions.digits
    a = ask.ask(a, "--a-address", "X.121 address of side A", check, A_ADDRESS)
    check = questions.other_than({"the address of side A": a}, check)
    if side_b == NONE:
        echo = ask.ask(echo, "--echo", "X.121 address that answers calls", check, ECHO)
    else:
        b = ask.ask(b, "--b-address", "X.121 address routed to side B", check, B_ADDRESS)
    # What the profile will not have may be anything.
    quiet = Questions(asking=False)
    return (
        a,
        quiet.ask(b, "--b-address", "", questions.digits, B_ADDRESS),
        quiet.ask(echo, "--echo", "", questions.digits, ECHO),
    )


def _explain_pics(ask: Questions, *, two_sided: bool) -> None:
    """Each PICS item that may be named, with its sentence; what is not named is not tested."""
    if not ask.asking:
        return
    width = max(shutil.get_terminal_size().columns, 40)
    tell("What can the router do beyond what everyone must? What is not named is NOT APPLICABLE.")
    for item in offered(two_sided):
        indent = " " * 14
        tell(
            textwrap.fill(
                SENTENCES[item], width, initial_indent=f"  {item:12}", subsequent_indent=indent
            )
        )


def _missing(plan: Plan) -> str | None:
    """Which addresses of the tester this machine lacks, and what to type."""
    try:
        own_addresses.demand([host(end) for end in (plan.a, plan.b) if end], host(plan.router))
    except LinkError as error:
        return str(error)
    return None


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

    found = get_completion_class(shell)
    assert found is not None
    main = click.get_current_context().find_root().command
    click.echo(found(main, {}, "x25shark", "_X25SHARK_COMPLETE").source())


@click.command("doctor")
def doctor_command() -> None:
    """Say what of x25shark works on this machine, and what confines the judge."""
    from .doctor import findings

    well = True
    for what, words, good in findings():
        tell(f"{'ok ' if good else '-- '} {what:12} {words}", hang=17)
        well = well and good is not False
    sys.exit(0 if well else 1)


commands: list[click.Command] = [init_command, completion_command, doctor_command]
"""For the x25shark command line."""
