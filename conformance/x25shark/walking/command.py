# SPDX-License-Identifier: GPL-2.0-or-later
"""The command x25shark walk."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from ..foreign import text_of
from ..interrupts import interrupts
from ..number_range import NumberRange
from ..report.folder import USUAL
from ..report.tell import complain, tell
from ..results import write_whole

if TYPE_CHECKING:
    from ..run.options import Options
    from ..suite.walks.alphabet import Step
    from .hunt import Hunt, Walked

MOST_STEPS = 5000
# Octets of a file of so many steps.
_LONGEST = 1 << 22
SHRINK_SECONDS = 120.0


def _refuse(status: int, message: str) -> NoReturn:
    complain(message)
    sys.exit(status)


@click.command("walk")
@click.option(
    "--router", default="reference", show_default=True, metavar="PROFILE", help="Router profile."
)
@click.option(
    "--seconds", type=NumberRange(1, 604_800), help="Seconds to go on walking. Default: 60."
)
@click.option(
    "--steps",
    type=click.IntRange(1, MOST_STEPS),
    default=60,
    show_default=True,
    help="Number of steps in each walk.",
)
@click.option("--seed", type=int, help="Seed of the first walk; each walk adds 1. Default: random.")
@click.option(
    "--circuits",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    help="Calls that may be up at the same time.",
)
@click.option(
    "--legal", is_flag=True, help="Leave out the steps in which the tester breaks the protocol."
)
@click.option(
    "--replay",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Replay the steps in this file, once.",
)
@click.option("--fault", multiple=True, metavar="ID", help="Fault of the reference router.")
@click.option("--variant", multiple=True, metavar="ID", help="Variant of the reference router.")
@click.option("--own-namespace", is_flag=True, help="Run in a network namespace of its own.")
@click.option(
    "--output",
    default=USUAL,
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory for walk.txt and walk.pcapng if a walk fails.",
)
def walk(
    router: str,
    seconds: float | None,
    steps: int,
    seed: int | None,
    circuits: int,
    legal: bool,
    replay: Path | None,
    fault: tuple[str, ...],
    variant: tuple[str, ...],
    own_namespace: bool,
    output: Path,
) -> None:
    """Make random steps on several calls, from both sides, until one fails or the time is over.

    Each step is judged as a case is. A walk that fails is shortened, and written as steps that
    --replay makes again, with its capture. Exit status: 0 nothing failed, 1 a walk failed, 2 bad
    profile or usage, 3 nothing could be judged, 4 the tester failed, 130 interrupted.
    """
    from ..judges.reading import JudgeError
    from ..profile import ProfileError, load_profile
    from ..run.options import CampaignError, Options
    from ..temporary import temporary_folder
    from .hunt import Hunt

    try:
        profile = load_profile(router)
        wanted = _read(replay) if replay is not None else []
    except (ProfileError, ValueError) as error:
        _refuse(2, str(error))
    if not profile.two_sided:
        _refuse(2, f"{profile.path}: a walk needs both sides; the profile has no side B")
    words = [w for name in variant for w in ("--variant", name)]
    words += [w for name in fault for w in ("--fault", name)]
    if words and profile.embedded is None:
        _refuse(2, "--variant and --fault are for the embedded reference router")
    errors = not legal and not {"M-SPLICE", "N-TRUST"} & profile.declared
    first = secrets.randbelow(1_000_000) if seed is None else seed
    with interrupts.counted(), temporary_folder("walk") as directory:
        options = Options(
            router, profile, directory, router_options=tuple(words),
            own_namespace=own_namespace,
        )  # fmt: skip
        try:
            with Hunt(options, circuits=circuits, errors=errors) as hunt:
                if replay is None:
                    status = _search(hunt, options, steps, first, seconds or 60.0, output)
                else:
                    status = _replay(hunt, wanted, replay)
        except (CampaignError, JudgeError) as error:
            if interrupts.asked:  # of which it may be a consequence
                raise KeyboardInterrupt from None
            _refuse(error.status if isinstance(error, CampaignError) else 4, str(error))
    # One that came while all was brought home.
    interrupts.check()
    sys.exit(status)


def _search(
    hunt: Hunt, options: Options, steps: int, seed: int, seconds: float, output: Path
) -> int:
    """Walks until one fails or the time is over."""
    tell(f"{options.profile.name}: walks of {steps} steps from seed {seed}, {seconds:g} s")
    end = time.monotonic() + seconds
    judged, unsure = 0, ""
    try:
        for number, walked in hunt.walks_of(steps, seed):
            if walked.failed:
                return _report(hunt, options, number, walked, output)
            if walked.result.verdict.name == "PASS":
                judged += 1
            else:
                unsure = walked.result.reason
            if time.monotonic() > end:
                break
    finally:
        _tell_coverage(hunt)
    if hunt.campaign.gone is not None:
        _refuse(3, f"the router does not answer any more: {hunt.campaign.gone}")
    if unsure:
        tell(f"{hunt.walks - judged} of {hunt.walks} walks could not be judged: {unsure}")
    if not judged:
        return 3
    tell("no walk failed")
    return 0


def _report(hunt: Hunt, options: Options, seed: int, found: Walked, output: Path) -> int:
    """Shorten a walk that failed, write it, and say what it is."""
    tell(f"seed {seed} failed after {len(found.steps)} steps: {found.result.reason}")
    deadline = time.monotonic() + SHRINK_SECONDS
    last = hunt.shortest(found, lambda w: tell(f"  {len(w.steps)} steps"), deadline)
    text = _text(options, seed, last)
    try:
        write_whole(output / "walk.txt", text)
        capture = hunt.evidence(last)
        if capture is not None:
            write_whole(output / "walk.pcapng", capture.read_bytes())
    except OSError as error:
        _refuse(2, f"{output} cannot be written: {error.strerror or error}")
    tell(f"\n{last.result.verdict}  {last.result.reason}\n")
    for step in last.steps:
        tell(f"  {step}")
    tell(f"\nagain: x25shark walk --router {options.router} --replay {output / 'walk.txt'}")
    tell(f"look closer: x25shark open {output / 'walk.pcapng'}")
    return 4 if last.result.verdict.name == "ERROR" else 1


def _replay(hunt: Hunt, steps: Sequence[Step], source: Path) -> int:
    walked = hunt.walk(steps)
    tell(f"{source}: {walked.result.verdict}  {walked.result.reason}".rstrip())
    statuses = {"PASS": 0, "FAIL": 1, "ERROR": 4}
    return statuses.get(walked.result.verdict.name, 3)


def _tell_coverage(hunt: Hunt) -> None:
    states = len({(state, side) for state, _, side in hunt.coverage})
    tell(
        f"{hunt.walks} walks, {sum(hunt.coverage.values())} steps; {states} states by side, "
        f"{len(hunt.coverage)} of them with an event, {len(hunt.pairs)} pairs of events"
    )


def _text(options: Options, seed: int, walked: Walked) -> str:
    """A walk as a file: comments, and a step on each line."""
    options_of_router = "".join(f" {word}" for word in options.router_options)
    head = [
        f"# x25shark walk --router {options.router}{options_of_router}, seed {seed}",
        f"# {walked.result.verdict}: {walked.result.reason}",
        "# A step: action, circuit and side (a calls), a number that decides its values.",
    ]
    return "\n".join([*head, *map(str, walked.steps)]) + "\n"


def _read(source: Path) -> list[Step]:
    """The steps of such a file. Raises ValueError with the line at fault."""
    from ..suite.walks.walk import step_of

    steps: list[Step] = []
    try:
        lines = text_of(source, _LONGEST).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{source} cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if len(steps) >= MOST_STEPS:
            raise ValueError(f"{source}: more than {MOST_STEPS} steps")
        try:
            steps.append(step_of(line))
        except ValueError as error:
            raise ValueError(f"{source}, line {number}: not a step: {line[:60]!r}") from error
    if not steps:
        raise ValueError(f"{source}: no steps")
    return steps


commands = [walk]
