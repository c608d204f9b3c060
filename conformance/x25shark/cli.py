# SPDX-License-Identifier: GPL-2.0-or-later
"""The x25shark command."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from . import __version__
from .groups import Group
from .interrupts import INTERRUPTED, interrupts
from .number_range import NumberRange
from .report.folder import KEPT, USUAL, in_folder
from .report.tell import complain, drop_what_cannot_be_printed, tell, terminal_width
from .temporary import TemporaryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .profile import Profile
    from .results import CaseResult, Results
    from .run.plan import Plan

CAPTURE_SUFFIXES = (".pcapng", ".pcap", ".cap")
# The id of a case, be it one of another version's catalogue.
_ID = re.compile(r"[A-Z][A-Za-z0-9_-]+")
# Commands with modules of their own, and what --help says of them: a module is imported when one of
# its commands is asked for.
ELSEWHERE = {
    "compare": (
        "x25shark.finished",
        "Say in words what changed from the run OLD to the run NEW.",
    ),
    "bench": (
        "x25shark.load.cli",
        "Bradner's router tests: throughput, +25 %, flood, delay, bursts, counters, management.",
    ),
    "completion": ("x25shark.setup.command", "Print the shell completion of x25shark."),
    "doctor": (
        "x25shark.setup.command",
        "Say what of x25shark works on this machine, and what confines the judge.",
    ),
    "echo": (
        "x25shark.load.cli",
        "Answer calls on LISTEN: echo messages, verify and drop them, or send some.",
    ),
    "gate": (
        "x25shark.finished",
        "Hold a run against a baseline of known deviations, or a load result against limits.",
    ),
    "init": (
        "x25shark.setup.command",
        "Write the profile of a router to FILE, and print the router's side of the set-up.",
    ),
    "matrix": (
        "x25shark.load.cli",
        "Speed by TCP window, MSS, connections, packet size and window, of two pairs at a time.",
    ),
    "ip": (
        "x25shark.ip.cli",
        "IP over X.25: a gateway, and the experiments of 1987 over lines of known rate and delay.",
    ),
    "overload": (
        "x25shark.load.cli",
        "A ramp of calls/s by schedule, floods, and how long the router takes to recover.",
    ),
    "relay": (
        "x25shark.load.cli",
        "Pass XOT connections on from LISTEN to CONNECT, unread, or with faults on purpose.",
    ),
    "site": (
        "x25shark.finished",
        "Make one page of several runs: routers and releases by groups and cases.",
    ),
    "stress": (
        "x25shark.load.cli",
        "Many calls, every octet verified, with the tester's own ceiling beside.",
    ),
    "sweep": (
        "x25shark.load.cli",
        "Packet sizes x windows x circuits: the published two plots, each cell with its ceiling.",
    ),
    "wireshark": (
        "x25shark.setup.wireshark_command",
        "Put the strict dissector and its profile into your own Wireshark, or take them away.",
    ),
    "walk": (
        "x25shark.walking.command",
        "Make random steps on several calls, from both sides, until one fails or the time is over.",
    ),
}


def fail(status: int, message: str) -> NoReturn:
    """End with a message on standard error."""
    complain(message)
    sys.exit(status)


@contextlib.contextmanager
def told_of_interrupt() -> Iterator[None]:
    """An interrupt ends the command with the status of the signal.

    So does what fails behind one: it may have come where a library makes another exception of it.
    """
    try:
        yield
    except (KeyboardInterrupt, Exception) as error:
        if not isinstance(error, KeyboardInterrupt) and not interrupts.asked:
            raise
        complain("interrupted")
        sys.exit(interrupts.status)


class Commands(Group):
    """The commands of this module, and those that are imported when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *ELSEWHERE})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in ELSEWHERE:
            return own
        module = importlib.import_module(ELSEWHERE[cmd_name][0])
        found: list[click.Command] = module.commands
        return next((c for c in found if c.name == cmd_name), None)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the command line."""
        with told_of_interrupt():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            with told_of_interrupt():
                return super().invoke(ctx)
        except SystemExit as end:
            if end.code == INTERRUPTED:
                sys.exit(interrupts.status)
            raise
        except TemporaryError as error:
            fail(2, str(error))
        except BrokenPipeError:
            raise
        except OSError as error:
            # A name that is too long, a full disk behind standard output: nobody's defect.
            drop_what_cannot_be_printed()
            place = f"{error.filename}: " if error.filename else ""
            fail(2, f"{place}{error.strerror or error}")

    def sentences(self) -> dict[str, str]:
        """Without importing every command."""
        return {name: text for name, (_, text) in ELSEWHERE.items()} | super().sentences()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="x25shark")
def main() -> None:
    """Test X.25 switches and XOT (RFC 1613) routers, and look at the packets in Wireshark.

    Start with: x25shark run (the suite against the embedded reference router), then write a
    profile of your own router and x25shark check PROFILE.
    """


def _complete_profiles(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Built-in profiles by name, then files."""
    from .profile import builtin_profiles

    found = [CompletionItem(n) for n in builtin_profiles() if n.startswith(incomplete)]
    return [*found, CompletionItem(incomplete, type="file")]


def _complete_cases(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Case ids: those of the last run if there was one, otherwise the catalogue's.

    What a shell is given goes to its command line: of a run that somebody else may have written
    only what is an id.
    """
    from .catalogue import catalogue
    from .report.text import one_line
    from .results import ResultsError, read_results

    head, separator, last = incomplete.upper().rpartition(",")
    purposes = catalogue().purposes
    known = {identifier: purpose.purpose for identifier, purpose in purposes.items()}
    if ctx.info_name in ("show", "open"):
        directory = Path(ctx.params.get("output") or USUAL)
        with contextlib.suppress(ResultsError):
            cases = read_results(directory / "results.json", lambda _id, _verdict: False).cases
            ran = [case for case in cases if _ID.fullmatch(case.id)]
            known = {case.id: f"{case.verdict}: {case.purpose}" for case in ran}
    else:
        known |= dict.fromkeys((i.rsplit("-", 1)[0] for i in purposes), "the whole group")
    return [
        CompletionItem(f"{head}{separator}{identifier}", help=one_line(text[:80]))
        for identifier, text in known.items()
        if identifier.startswith(last)
    ]


def _complete_faults(
    _ctx: click.Context, _param: click.Parameter | None, incomplete: str
) -> list[CompletionItem]:
    """Faults of the reference router, with what each does."""
    from .catalogue import faults

    return _of_catalogue({i: f.behaviour for i, f in faults().items()}, incomplete)


def _complete_variants(
    _ctx: click.Context, _param: click.Parameter | None, incomplete: str
) -> list[CompletionItem]:
    """Legal variants of it."""
    from .catalogue.permission import permissions

    return _of_catalogue({i: p.text for i, p in permissions().items()}, incomplete)


def _complete_null(
    _ctx: click.Context, _param: click.Parameter | None, incomplete: str
) -> list[CompletionItem]:
    """Routers that do nothing."""
    from .reference.null import KINDS

    return [CompletionItem(kind) for kind in KINDS if kind.startswith(incomplete)]


def _of_catalogue(known: dict[str, str], incomplete: str) -> list[CompletionItem]:
    from .report.text import one_line

    return [
        CompletionItem(identifier, help=one_line(text[:80]))
        for identifier, text in known.items()
        if identifier.startswith(incomplete.upper())
    ]


def _complete_router(
    ctx: click.Context, _param: click.Parameter | None, incomplete: str
) -> list[CompletionItem]:
    """The options of x25shark router, which reads them itself, and their values."""
    from .reference.__main__ import parser

    values = {
        "--fault": _complete_faults,
        "--variant": _complete_variants,
        "--null": _complete_null,
    }
    before = (ctx.params.get("arguments") or ("",))[-1]
    if before in values:
        return values[before](ctx, None, incomplete)
    if before == "--config":
        return [CompletionItem(incomplete, type="file")]
    options = [a for a in parser()._actions if a.option_strings]
    return [
        CompletionItem(option, help=action.help)
        for action in options
        for option in action.option_strings
        if option.startswith(incomplete)
    ]


router_option = click.option(
    "--router",
    default="reference",
    show_default=True,
    shell_complete=_complete_profiles,
    metavar="PROFILE",
    help="Router profile: a built-in name or a TOML file.",
)
output_option = click.option(
    "--output",
    default=USUAL,
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of the report.",
)
select_option = click.option(
    "--select",
    multiple=True,
    # Given twice it selects both, as two parts of one expression do.
    callback=lambda _context, _parameter, values: ",".join(values),
    metavar="EXPR",
    shell_complete=_complete_cases,
    help='Cases by name or clause, e.g. "XOT-HDR,PLP-RST-0*,!*-04" or "RFC 1613 6.1".',
)


@main.command()
@router_option
@output_option
@select_option
@click.option(
    "--last-failed", is_flag=True, help="Only the cases that did not pass in the last run."
)
@click.option("--slow", is_flag=True, help="Run the slow cases too (protocol timers).")
@click.option(
    "--judge",
    type=click.Choice(["auto", "libwireshark", "tshark"]),
    default="auto",
    show_default=True,
    help="What reads the captures: a program on libwireshark, or tshark, which is slower. auto: "
    "the first, if it can be built.",
)
@click.option("--seed", type=int, default=0, help="Seed of every random choice.")
@click.option(
    "--fault",
    multiple=True,
    metavar="ID",
    shell_complete=_complete_faults,
    help="Fault of the reference router; x25shark router --list-faults.",
)
@click.option(
    "--variant",
    multiple=True,
    metavar="ID",
    shell_complete=_complete_variants,
    help="Legal variant of the reference router; x25shark router --list-variants.",
)
@click.option(
    "--null",
    metavar="KIND",
    shell_complete=_complete_null,
    help="A null router: silent, close, clear, relay or mute.",
)
@click.option("--address", metavar="IP[:PORT]", help="A router without a profile; with --a, --b.")
@click.option(
    "--a", "side_a", metavar="IP", help="With --address: the address of this machine that calls."
)
@click.option(
    "--b",
    "side_b",
    metavar="IP",
    help="With --address: the address of this machine that is called.",
)
@click.option("--own-namespace", is_flag=True, help="Run in a network namespace of its own.")
@click.option(
    "--repeat",
    type=click.IntRange(1, 10_000),
    default=1,
    metavar="N",
    help="Run the whole selection N times; the worst verdict of each case counts.",
)
@click.option(
    "--stop-on-fail",
    is_flag=True,
    help="Stop at the first FAIL or ERROR and leave the router as it is.",
)
@click.option(
    "--deadline",
    type=NumberRange(min=0),
    metavar="SECONDS",
    help="Stop after this many seconds; the remaining cases are NOT RUN. 0: no limit. Default: no "
    "limit, but once the router has left cases waiting for minutes, each remaining case gets only "
    "a moment.",
)
@click.option("--keep-going", is_flag=True, help="Keep going after the router stops answering.")
@click.option(
    "--keep",
    type=click.IntRange(0, 1_000),
    default=KEPT,
    show_default=True,
    metavar="N",
    help="Number of earlier reports to keep, in earlier/ inside the report directory.",
)
@click.option(
    "--inconclusive-ok", is_flag=True, help="Exit status 0 even if cases are INCONCLUSIVE."
)
# For ci/gate, which reads the profile from a copy.
@click.option("--profile-name", default="", hidden=True, help="What results call the profile.")
@click.option("--dry-run", is_flag=True, help="Show what would run, and how long it would take.")
@click.option(
    "--watch",
    is_flag=False,
    flag_value=".",
    type=click.Path(exists=True, path_type=Path),
    metavar="[PATH]",
    help="Run again when a file under PATH changes, failed cases first.",
)
def run(
    router: str,
    output: Path,
    select: str,
    last_failed: bool,
    dry_run: bool,
    watch: Path | None,
    slow: bool,
    judge: str,
    seed: int,
    fault: tuple[str, ...],
    variant: tuple[str, ...],
    null: str | None,
    address: str | None,
    side_a: str | None,
    side_b: str | None,
    own_namespace: bool,
    repeat: int,
    stop_on_fail: bool,
    deadline: float | None,
    keep_going: bool,
    keep: int,
    inconclusive_ok: bool,
    profile_name: str,
) -> None:
    """Run the suite against a router and write the report.

    Exit status: 0 passed, 1 a FAIL, 2 bad profile or usage, 3 nothing run or no
    evidence, 4 the tester failed or the judges disagree, 5 INCONCLUSIVE cases, 6 its time was over,
    130 interrupted.
    """
    from .profile import ProfileError, load_profile
    from .run import plan

    _known_switches(variant, fault)
    try:
        if address is not None:
            router = _without_profile(address, side_a, side_b)
        elif side_a or side_b:
            fail(2, "--a and --b belong to --address; a profile has them in [xot]")
        profile = load_profile(router)
    except ProfileError as error:
        fail(2, str(error))
    if last_failed:
        select = _failed_last(output, select)
    cases, files = _suite(select)
    going = plan.make(profile, cases, slow=slow, repeat=repeat)
    if dry_run:
        tell("\n".join([*going.described(), going.summary()]))
        return
    if cases and not going.running:
        fail(3, _nothing_to_run(profile, going))
    if watch is not None:
        _watch(profile, watch, output, select)
    if not os.environ.get("CI"):
        from .session import say

        say(going.summary())
    # Each with its value in one word: pytest takes one that begins with @ for a file of arguments.
    arguments = [f"--router={router}", f"--x25shark-output={output}", f"--judge={judge}"]
    arguments += [f"--case-seed={seed}", f"--keep={keep}"]
    arguments += [f"--select={select}"] if select else []
    arguments += ["--slow"] if slow else []
    arguments += [f"--variant={name}" for name in variant]
    arguments += [f"--fault={name}" for name in fault]
    arguments += [f"--null={null}"] if null else []
    arguments += ["--own-namespace"] if own_namespace else []
    arguments += [f"--repeat={repeat}"] if repeat > 1 else []
    arguments += ["--stop-on-fail"] if stop_on_fail else []
    arguments += [f"--deadline={deadline}"] if deadline is not None else []
    arguments += ["--keep-going"] if keep_going else []
    arguments += ["--inconclusive-ok"] if inconclusive_ok else []
    arguments += [f"--profile-name={profile_name}"] if profile_name else []
    from .session import SessionError, run_suite

    try:
        sys.exit(run_suite(arguments, files, output))
    except SessionError as error:
        fail(error.status, str(error))


def _nothing_to_run(profile: Profile, going: Plan) -> str:
    """Why none of the selected cases will run, before a router is started for nothing."""
    from .report.text import one_line
    from .run.listing import in_words

    whose: dict[str, list[str]] = {}
    for case, why in going.left_out.items():
        whose.setdefault(in_words(why), []).append(case)
    reasons = [
        f"{', '.join(cases[:_NAMED])}{f' and {len(cases) - _NAMED} more' * (len(cases) > _NAMED)}: "
        f"{why}"
        for why, cases in whose.items()
    ]
    total = len(going.cases)
    none = f"none of the {total} selected cases runs" if total > 1 else "the case does not run"
    return (
        f"nothing to run: {none}, so the router of {one_line(profile.path, 200)} is not started "
        f"and no report is written. {'. '.join(reasons)}"
    )


# So many cases are named that do not run for one reason.
_NAMED = 3


def _known_switches(variants: Sequence[str], faults: Sequence[str]) -> None:
    """Ends with status 2 where the reference router has no variant or fault of that name."""
    if not variants and not faults:
        return
    from .reference.faults import FAULTS
    from .reference.switches import UnknownSwitch
    from .reference.variants import VARIANTS
    from .suite.selection import did_you_mean

    for option, switches, names in (
        ("--variant", VARIANTS, variants),
        ("--fault", FAULTS, faults),
    ):
        for name in names:
            try:
                switches.named([name])
            except UnknownSwitch as error:
                identity = name.partition("=")[0]
                meant = "" if identity in switches else did_you_mean(identity, switches)
                fail(2, f"{option}: {error}{f'; {meant}' if meant else ''}")


def _without_profile(address: str, a: str | None, b: str | None) -> str:
    """A profile for a router of which only addresses are given; its path. Raises ProfileError."""
    from .setup.without_profile import write_profile

    source = click.get_current_context().get_parameter_source("router")
    if source is ParameterSource.COMMANDLINE:
        fail(2, "--address is for a router without a profile; leave --router out")
    path, configuration = write_profile(address, a, b, Path())
    tell(f"profile of this run: {path}. {configuration}\n")
    return str(path)


def _suite(expression: str) -> tuple[list[str], list[str]]:
    """The selected cases, and the modules to load; ends the command where it names nothing."""
    from .suite import index
    from .suite.selection import SelectionError, needed, select

    known = list(index.modules())
    if not expression:
        return known, index.files_for(known)
    try:
        return select(expression, known), index.files_for(needed(expression, known))
    except SelectionError as error:
        fail(2, str(error))


def _results(directory: Path, detailed: str = "") -> Results:
    """The results of a run, with the expectations and packets of one case only."""
    from .results import ResultsError, read_results

    try:
        return read_results(
            directory / "results.json", lambda case, _verdict: case.lower() == detailed.lower()
        )
    except ResultsError as error:
        fail(
            2, f"{str(error).rstrip('.')}. Run the suite first, or name the directory with --output"
        )


def _failed_last(directory: Path, select: str) -> str:
    from .results import ResultsError
    from .run.watching import not_passed
    from .suite.selection import words

    try:
        failed = not_passed(directory)
    except ResultsError as error:
        fail(
            2, f"{str(error).rstrip('.')}. Run the suite first, or name the directory with --output"
        )
    if not failed:
        fail(3, "nothing failed in the last run, so there is nothing to run again")
    return ",".join([*failed, *(w for w in words(select) if w.startswith("!"))])


def _same_options(context: click.Context, *without: str) -> list[str]:
    """The options of the command as they were given, but for these."""
    given: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in without or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        for one in value if isinstance(value, tuple) else [value]:
            given += [parameter.opts[0]] if one is True else [parameter.opts[0], str(one)]
    return given


def _watch(profile: Profile, place: Path, output: Path, select: str) -> NoReturn:
    from .run.router import RouterError
    from .run.watching import Files, Watching, restart

    options = _same_options(click.get_current_context(), "watch", "select", "last_failed")
    watching = Watching(
        Files(place, output),
        output,
        select,
        options,
        router=profile.name,
        again_ready=lambda: restart(profile, output / "router.log"),
        say=tell,
    )
    try:
        watching.run()
    except RouterError as error:
        fail(2, str(error))


@main.command("list")
@router_option
@click.option(
    "--all", "everything", is_flag=True, help="Every test purpose, with or without a case."
)
@select_option
@click.option("--coverage", is_flag=True, help="The state tables: which cells have a case.")
@click.option("--cost", is_flag=True, help="About how many seconds each case takes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, for programs.")
def list_cases(
    router: str, everything: bool, select: str, coverage: bool, cost: bool, as_json: bool
) -> None:
    """List the cases, and which of them apply to a router.

    Lines are cut at the width of a terminal only; piped, those of cases that do not apply end with
    the reason.
    """
    from .catalogue import catalogue, states
    from .profile import ProfileError, load_profile
    from .run import listing
    from .suite import index
    from .suite.selection import SelectionError
    from .suite.selection import select as selected

    if coverage:
        for line in states.coverage():
            tell(line)
        return
    try:
        profile = load_profile(router)
        implemented = index.modules()
        known = list(catalogue().purposes if everything else implemented)
        chosen = selected(select, known) if select else known
    except (ProfileError, SelectionError) as error:
        fail(2, str(error))
    rows = listing.rows(profile, chosen, cost=cost)
    if as_json:
        tell(listing.as_json(profile, rows))
        return
    width = terminal_width()
    for line in listing.as_lines(rows, width):
        tell(line)
    total = len(catalogue().purposes)
    if everything:
        tell(f"{len(chosen)} listed; {len(implemented)} of {total} purposes have a case.")
    if width is not None:
        for line in listing.why_not(rows, width):
            tell(line)


@main.command()
@click.argument("profile", default="reference", shell_complete=_complete_profiles)
@click.option("--own-namespace", is_flag=True, help="Run in a network namespace of its own.")
@click.option("--start", is_flag=True, help="Run the commands of [control] that start and stop it.")
def check(profile: str, own_namespace: bool, start: bool) -> None:
    """Check profile, network and permission to capture, and make one call.

    No command of the profile is run, unless --start asks for it.
    """
    from .catalogue import CONFIGURATIONS
    from .profile import Control, ProfileError, load_profile
    from .report.text import one_line
    from .temporary import temporary_folder

    try:
        found = load_profile(profile)
    except ProfileError as error:
        fail(2, str(error))
    name = one_line(f"{found.path}: {found.name}", 200)
    tell(f"profile     {name}, {found.relay_model}", hang=12)
    tested = [f"{CONFIGURATIONS[c]} ({c})" for c in found.configurations]
    tell(f"tested      {'; '.join(tested)}", hang=12)
    tell(f"declared    {', '.join(sorted(found.declared))}", hang=12)
    if found.control.start is not None and not start:
        found = found.model_copy(update={"control": Control(call=found.control.call)})
        tell("control     control.start is not run: the router must be up (or: --start)", hang=12)
    with interrupts.counted(), temporary_folder("check") as directory:
        status = _sanity(found, profile, directory, own_namespace)
    # One that came while all was brought home.
    interrupts.check()
    sys.exit(status)


def _sanity(profile: Profile, router: str, directory: Path, own_namespace: bool) -> int:
    """One call with data, cleared: is it the router, or the set-up?"""
    from .run.campaign import Campaign
    from .run.deadline import Time
    from .run.options import CampaignError, Options
    from .run.sanity import SANITY, sanity_call
    from .verdicts import Verdict

    # A call has a bound of its own in a run that has one.
    hour = Time(at_most=3600.0)
    options = Options(
        router, profile, directory, own_namespace=own_namespace, keep_going=True, time=hour
    )
    campaign = Campaign(options)
    try:
        campaign.start()
    except CampaignError as error:
        interrupts.check()  # of which it may be a consequence
        fail(error.status, str(error))
    reached = "" if profile.only_calls else "the router answers; "
    tell(f"network     {reached}listening sides are open; capture works")
    counters = ""
    try:
        campaign.run_case(SANITY, sanity_call)
        counters = campaign.surroundings.look_at_counters()
    finally:
        results = campaign.finish()
    case = results.cases[0]
    tell(f"sanity call {case.verdict}" + (f": {case.reason}" if case.reason else ""), hang=12)
    for packet in case.packets if case.verdict is not Verdict.PASS else ():
        arrow = "->" if packet.sent else "<-"
        tell(f"            {packet.side} {arrow} {packet.text}")
    if case.verdict is not Verdict.PASS and profile.out_of_reach:
        tell(f"network     {profile.out_of_reach}", hang=12)
    if counters:
        tell(f"counters    {counters}", hang=12)
    if doubt := campaign.tally.model_unsaid or campaign.model_doubted:
        tell(f"relay model {doubt}", hang=12)
    return results.exit_status


@main.command()
@click.argument("case", shell_complete=_complete_cases)
@output_option
def show(case: str, output: Path) -> None:
    """Show one case: expectations, what came, the last packets of the last run.

    And what it is for, whether or not a run had it: purpose, clause, the faults that it catches,
    what it allows, and its steps as the suite has them: what each side sends and expects.
    """
    from .report.about import about
    from .report.terminal import failure_text

    ran = (output / "results.json").exists()
    results = _results(output, case) if ran else None
    if results and any(c.id.lower() == case.lower() for c in results.cases):
        found = _case(case, results, output)
        tell(failure_text(found, last=40, width=terminal_width()))
        # A run of another version may have cases that this one has not.
        if (text := about(found.id)) is not None:
            identifier, _, rest = text.partition("\n")
            tell(f"{rest}{_steps(identifier)}".rstrip())
        return
    text = about(case)
    if text is None:
        fail(2, f"no case is called {case}; {_meant(case)}")
    identifier = text.split()[0]
    tell(f"{text}{_steps(identifier)}")
    where = f"the last run, {output}, did not have it" if ran else f"no run in {output} yet"
    tell(f"{where}: x25shark run --select {identifier}")


def _meant(case: str) -> str:
    """What somebody may have meant who named a case that is none."""
    from .suite import index
    from .suite.selection import did_you_mean, no_case_is

    return (
        no_case_is(case) or did_you_mean(case, list(index.modules())) or "x25shark list names them"
    )


def _steps(case: str) -> str:
    """The steps of a case under a line that says where they come from; "" where it has none."""
    from .suite import index

    steps = index.steps(case) if case in index.modules() else ""
    if not steps:
        return ""
    in_words = case.startswith("STATE-")
    where = "catalogue/state_tables.toml" if in_words else f"suite/{index.modules()[case]}.py"
    lines = [f"steps       in {where}:"]
    for line in steps.splitlines():
        wrapped = textwrap.wrap(line, 75, subsequent_indent=" " * 8, drop_whitespace=in_words)
        lines += [f"    {part}".rstrip() for part in wrapped or [""]]
    return "\n".join(lines) + "\n"


# What a window of Wireshark needs one of, on Linux; the last is of those who know better.
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


@main.command("open")
@click.argument("case", shell_complete=_complete_cases, metavar="CASE|FILE")
@output_option
def open_case(case: str, output: Path) -> None:
    """Open the evidence of a case, or any capture, in Wireshark with the strict dissector."""
    from .judges.sandbox import as_other_id
    from .wireshark import AS_ROOT, command_for, tshark_words

    found, ports, capture = None, list[int](), Path(case)
    if capture.suffix not in CAPTURE_SUFFIXES:
        results = _results(output, case)
        found, ports = _case(case, results, output), results.run.xot_ports
        if found.evidence is None:
            fail(3, f"{case} has no evidence: {found.verdict}: {found.reason}")
        capture = _evidence(output, found.evidence)
    if not capture.is_file():
        fail(2, f"{capture}: no such capture")
    program = shutil.which("wireshark")
    if program is None:
        fail(2, "wireshark is not installed. On Debian and Ubuntu: sudo apt-get install wireshark")
    if sys.platform == "linux" and not any(os.environ.get(name) for name in _DISPLAYS):
        shown = f"x25shark show {case}{in_folder(output)}, or " if found is not None else ""
        fail(2, f"no display: {shown}{shlex.join(tshark_words(capture, ports))}")
    if as_other_id() is None:
        complain(f"{AS_ROOT} Look at {capture} as another user.")
    with command_for(program, capture, found, ports) as (command, environment):
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)


def _evidence(directory: Path, named: str) -> Path:
    """The capture that a results.json names, which somebody else may have written."""
    from .report.text import relative_path

    path = relative_path(named)
    capture = directory / (path or "")
    inside = path is not None and capture.resolve().is_relative_to(directory.resolve())
    if not inside or capture.suffix not in CAPTURE_SUFFIXES:
        fail(2, f"{directory}/results.json: {named!r} is not a capture of this report")
    return capture


def _case(identifier: str, results: Results, directory: Path) -> CaseResult:
    for case in results.cases:
        if case.id.lower() == identifier.lower():
            return case
    fail(2, f"{identifier} is not in {directory}/results.json; {_meant(identifier)}")


class _RouterCommand(click.Command):
    """Completes what begins like an option too, which is not click's."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        return _complete_router(ctx, None, incomplete)


@main.command(
    cls=_RouterCommand,
    context_settings={"ignore_unknown_options": True},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, shell_complete=_complete_router)
def router(arguments: tuple[str, ...]) -> None:
    """Start the reference router (--help shows its options)."""
    from .reference.__main__ import main as reference

    sys.exit(reference(list(arguments)))
