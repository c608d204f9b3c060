# SPDX-License-Identifier: GPL-2.0-or-later
"""pytest plugin: every function under @purpose is an item that runs within a campaign.

Plain pytest on the suite (pytest --pyargs x25shark.suite) gives the verdicts that `x25shark run`
gives, for it is the same code. An item is reported when its verdict is final, which is a little
after it ran. Nothing here costs anything in a session without cases.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .interrupts import interrupts
from .report.folder import KEPT, USUAL, FolderError, ReportFolder

if TYPE_CHECKING:
    from .catalogue import Purpose
    from .profile import Profile
    from .results import CaseResult, Results
    from .run.campaign import Campaign
    from .run.deadline import Time
    from .run.plan import Plan

_ATTRIBUTE = "x25shark_purpose"
# What in an expression of -k may be the name of a case.
_ID = re.compile(r"[A-Z0-9]+(?:-\w+)+")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("x25shark", "conformance cases")
    group.addoption("--router", default="reference", help="router profile (built-in name or file)")
    group.addoption("--profile-name", default="", help="what results call that profile")
    group.addoption("--x25shark-output", default=USUAL, help="directory of the report")
    group.addoption("--keep", type=int, default=KEPT, help="number of earlier reports to keep")
    group.addoption("--judge", default="auto", help="judge two: auto, libwireshark or tshark")
    group.addoption("--select", default="", help="cases, groups or patterns, e.g. 'XOT-HDR,!PLP*'")
    group.addoption("--slow", action="store_true", help="run the slow cases too")
    group.addoption("--case-seed", type=int, default=0, help="seed of every random choice")
    group.addoption("--fault", action="append", default=[], help="fault of the reference router")
    group.addoption(
        "--variant",
        action="append",
        default=[],
        help="legal variant of the reference router",
    )
    group.addoption(
        "--own-namespace", action="store_true", help="run in a network namespace of its own"
    )
    group.addoption(
        "--keep-going", action="store_true", help="keep going after the router stops answering"
    )
    group.addoption(
        "--inconclusive-ok", action="store_true", help="INCONCLUSIVE does not fail the session"
    )
    group.addoption("--repeat", type=int, default=1, help="run the whole selection N times")
    group.addoption(
        "--stop-on-fail", action="store_true", help="stop at the first FAIL, leave the router as is"
    )
    group.addoption(
        "--deadline",
        type=float,
        default=None,
        help="stop the run after this many seconds; 0: no limit",
    )
    group.addoption("--null", default=None, help="null router in place of the reference router")


def pytest_configure(config: pytest.Config) -> None:
    """A case that -k names is collected where no paths are given: `pytest -k PLP-INT-01`.

    The settings of a checkout name its tests alone, so that plain pytest is not a run of the suite.
    """
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        return
    keyword: str = config.getoption("keyword", "")
    named = _ID.findall(keyword.upper())
    if not named or "NOT" in keyword.upper().split():
        return
    from .suite import index

    known = {case.upper(): case for case in index.modules()}
    config.args += index.files_for(known[name] for name in named if name in known)


def purpose_of(item: pytest.Item) -> tuple[str, dict[str, Any]] | None:
    """The purpose and call options of an item, None if it is not a case."""
    found = getattr(getattr(item, "function", None), _ATTRIBUTE, None)
    return found if isinstance(found, tuple) else None


GIVEN = ("bench", "call", "watch")


def _refuse_what_no_case_has(item: pytest.Item) -> None:
    """A case runs in the campaign, not in pytest: fixtures and parameters do not reach it."""
    wanted = inspect.signature(item.function).parameters  # type: ignore[attr-defined]
    for name in wanted:
        if name not in GIVEN:
            raise pytest.UsageError(
                f"{item.nodeid}: a case takes bench, call or watch, not {name!r}: fixtures of "
                "pytest do not reach it"
            )
    if hasattr(item, "callspec"):
        raise pytest.UsageError(
            f"{item.nodeid}: parametrize does not reach a case: loop over the values within it, or "
            "give each its own purpose"
        )


UI_PLUGIN = "x25shark-ui"


class UserInterface:
    """What the x25shark command registers to see a run: its cases, and the results at the end."""

    results: Results | None = None
    problem: tuple[int, str] | None = None

    def on_plan(self, plan: Plan) -> None:
        """What is selected, and what of it will run."""

    def on_start(self, purpose: Purpose) -> None:
        """A case starts."""

    def on_result(self, result: CaseResult) -> None:
        """A verdict is final."""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module of the suite that cannot be imported is our fault, and no case may be lost."""
        if report.failed:
            last = str(report.longrepr).strip().splitlines()[-1:]
            self.problem = (4, f"{report.nodeid}: {' '.join(last)}")


class Runner:
    """Runs the cases of a session. Made when the session has any."""

    def __init__(self, config: pytest.Config, campaign: Campaign) -> None:
        self.config = config
        self.campaign = campaign
        self.items: dict[str, list[pytest.Item]] = {}
        self.ran: set[int] = set()
        self.results: Results | None = None
        campaign.watcher.on_result = self.report
        ui = config.pluginmanager.get_plugin(UI_PLUGIN)
        if isinstance(ui, UserInterface):
            campaign.watcher.on_start = ui.on_start
        self.ui = ui

    def run(self, item: pytest.Item) -> None:
        from .catalogue import catalogue
        from .suite.loader import body_of

        marked = purpose_of(item)
        assert marked is not None
        identifier, options = marked
        purpose = catalogue().purposes[identifier]
        self.ran.add(id(item))
        if purpose.whole_run:
            return
        self.items.setdefault(identifier, []).append(item)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        self.campaign.run_case(purpose, body_of(item.function, options))  # type: ignore[attr-defined]

    def leave_out_the_rest(self, items: Iterable[pytest.Item], why: str) -> None:
        """No further case runs: they are NOT RUN for this reason."""
        self.campaign.stop(why)
        for item in dict.fromkeys(items):
            if purpose_of(item) is not None and id(item) not in self.ran:
                self.run(item)

    def watch(self, item: pytest.Item) -> None:
        """Take the demands of a case that looks at the whole run; its verdict comes at the end."""
        from .catalogue import catalogue

        marked = purpose_of(item)
        assert marked is not None
        purpose = catalogue().purposes[marked[0]]
        if purpose.whole_run:
            self.items.setdefault(purpose.id, []).append(item)
            self.campaign.watch(purpose, item.function)  # type: ignore[attr-defined]

    def report(self, result: CaseResult) -> None:
        """Tell pytest the final verdict of a case."""
        if isinstance(self.ui, UserInterface):
            self.ui.on_result(result)
        if not self.items.get(result.id):
            self._report_without_item(result)
            return
        item = self.items[result.id].pop(0)
        for report in _reports(item, result):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _report_without_item(self, result: CaseResult) -> None:
        """The sanity call is not an item, but a router that is gone fails the session."""
        from .report.terminal import failure_text

        self.config.hook.pytest_runtest_logreport(
            report=pytest.TestReport(
                nodeid=result.id,
                location=("x25shark", None, result.id),
                keywords={},
                outcome="failed",
                longrepr=failure_text(result),
                when="call",
                duration=result.duration_s,
            )
        )


def _reports(item: pytest.Item, result: CaseResult) -> list[pytest.TestReport]:
    from .report.terminal import failure_text
    from .verdicts import OUTCOMES

    outcome = OUTCOMES[result.verdict].pytest
    path, line, _ = item.location
    text: Any = None
    shown: Any = "passed"
    when: Any = "call"
    if outcome == "skipped":
        shown = "skipped"
        text = (path, (line or 0) + 1, f"{result.verdict}: {result.reason}")
    elif outcome in ("failed", "error"):
        shown = "failed"
        when = "call" if outcome == "failed" else "setup"
        text = failure_text(result)
    properties = [("verdict", str(result.verdict)), ("clause", result.clause)]
    if result.evidence:
        properties.append(("evidence", result.evidence))
    reports = []
    for phase in ("setup", "call", "teardown"):
        mine = phase == when
        if when == "setup" and phase == "call":
            continue
        reports.append(
            pytest.TestReport(
                nodeid=item.nodeid,
                location=item.location,
                keywords=dict.fromkeys(item.keywords, 1),
                outcome=shown if mine else "passed",
                longrepr=text if mine else None,
                when=phase,
                duration=result.duration_s if phase == "call" else 0.0,
                user_properties=properties if mine else [],
            )
        )
    return reports


def _purposes(items: Iterable[pytest.Item]) -> list[str]:
    """The purposes of the cases that will run, those that run again as well."""
    return [marked[0] for item in items if (marked := purpose_of(item))]


def _time(config: pytest.Config, profile: Profile, cases: list[str]) -> Time:
    """The time that the run may take."""
    from .run.deadline import time_of_run
    from .run.plan import make

    going = set(make(profile, cases, slow=config.getoption("--slow")).running)
    running = [case for case in cases if case in going]
    return time_of_run(running, profile, config.getoption("--deadline"))


def _command(router: str, profile_name: str) -> str:
    """The command line of the run; a profile that was read from a copy has its own name there."""
    named = {router: profile_name, f"--router={router}": f"--router={profile_name}"}
    return " ".join(named.get(word, word) if profile_name else word for word in sys.argv)


def make_campaign(config: pytest.Config, directory: Path, cases: list[str]) -> Campaign:
    """The campaign that the options ask for, its evidence in a folder. Raises pytest.UsageError."""
    from .profile import ProfileError, load_profile
    from .run.campaign import Campaign
    from .run.options import Options

    name = config.getoption("--router")
    try:
        profile = load_profile(name)
    except ProfileError as error:
        raise pytest.UsageError(str(error)) from None
    router_options = [
        word
        for option in ("--variant", "--fault")
        for name in config.getoption(option)
        for word in (option, name)
    ]
    if config.getoption("--null"):
        router_options += ["--null", config.getoption("--null")]
    if router_options and profile.embedded is None:
        raise pytest.UsageError("--variant, --fault, --null are for the embedded reference router")
    return Campaign(
        Options(
            router=name,
            profile=profile,
            directory=directory,
            judge=config.getoption("--judge"),
            seed=config.getoption("--case-seed"),
            slow=config.getoption("--slow"),
            selection=config.getoption("--select"),
            command=_command(name, config.getoption("--profile-name")),
            router_options=tuple(router_options),
            own_namespace=config.getoption("--own-namespace"),
            # A null router is there to show what every case says of it.
            repeat=config.getoption("--repeat"),
            stop_on_fail=config.getoption("--stop-on-fail"),
            keep_going=config.getoption("--keep-going") or bool(config.getoption("--null")),
            inconclusive_ok=config.getoption("--inconclusive-ok"),
            time=_time(config, profile, cases),
            judge_apart=True,
            profile_name=config.getoption("--profile-name"),
        )
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """The name of a case is a word for pytest -k."""
    marked = purpose_of(item)
    if marked is not None:
        item.extra_keyword_matches.add(marked[0])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Catalogue order, cases that look at the whole run last; --select."""
    cases = [item for item in items if purpose_of(item)]
    if not cases:
        return
    from .catalogue import catalogue

    purposes = catalogue().purposes
    order = {identifier: number for number, identifier in enumerate(purposes)}

    def place(item: pytest.Item) -> tuple[bool, int]:
        marked = purpose_of(item)
        if marked is None:
            return False, -1
        if marked[0] not in purposes:
            raise pytest.UsageError(f"{item.nodeid}: no purpose {marked[0]!r} in the catalogue")
        _refuse_what_no_case_has(item)
        return purposes[marked[0]].whole_run, order[marked[0]]

    items.sort(key=place)
    expression = config.getoption("--select")
    if expression:
        from .suite.selection import SelectionError, select

        try:
            chosen = set(select(expression, [m[0] for i in cases if (m := purpose_of(i))]))
        except SelectionError as error:
            raise pytest.UsageError(str(error)) from None
        left_out = [i for i in cases if (m := purpose_of(i)) and m[0] not in chosen]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [i for i in items if i not in left_out]
    again = [item for item in items if purpose_of(item)]
    items += again * (config.getoption("--repeat") - 1)


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Start the campaign before the first case, and wait for the last verdict after all."""
    if session.config.option.collectonly or not any(purpose_of(i) for i in session.items):
        return (yield)
    output = Path(session.config.getoption("--x25shark-output"))
    with interrupts.counted():
        try:
            folder = ReportFolder(output, session.config.getoption("--keep"))
        except FolderError as error:
            raise pytest.UsageError(str(error)) from None
        try:
            return (yield from _campaign(session, folder))
        finally:
            folder.abandon()


def _campaign(session: pytest.Session, folder: ReportFolder) -> Generator[None, object, object]:
    # Anything that fails from here on must still leave a report of what was judged.
    if session.testsfailed and not session.config.option.continue_on_collection_errors:
        return (yield)  # pytest itself says what could not be imported
    from .report import files
    from .run.observations import fault_of_ours
    from .run.options import CampaignError
    from .run.plan import make

    campaign = make_campaign(session.config, folder.staging, _purposes(session.items))
    runner = Runner(session.config, campaign)
    session.config.pluginmanager.register(runner, "x25shark-runner")
    for item in dict.fromkeys(session.items):
        if purpose_of(item) is not None:
            runner.watch(item)
    try:
        campaign.start()
    except CampaignError as error:
        interrupts.check()  # of which it may be a consequence
        if isinstance(runner.ui, UserInterface):
            runner.ui.problem = (error.status, str(error))
        raise pytest.UsageError(str(error)) from None
    if isinstance(runner.ui, UserInterface):
        chosen = dict.fromkeys(_purposes(session.items))
        options = campaign.options
        going = make(options.profile, tuple(chosen), slow=options.slow, repeat=options.repeat)
        runner.ui.on_plan(going)
    interrupted = failed = False
    try:
        return (yield)
    except KeyboardInterrupt:
        interrupted = True
        runner.leave_out_the_rest(session.items, "interrupted")
        raise
    except Exception as error:
        # Between two cases; what goes wrong within one is its own ERROR.
        why = f"{fault_of_ours(error)}; the run ended there"
        if isinstance(runner.ui, UserInterface):
            runner.ui.problem = (4, why)
        failed = True
        campaign.notes.append(why)
        runner.leave_out_the_rest(session.items, why)
        raise
    finally:
        results = campaign.finish(interrupted=interrupted)
        if failed:
            # Whatever the verdicts before it say.
            results.exit_status = 4
        runner.results = results
        if isinstance(runner.ui, UserInterface):
            runner.ui.results = results
        try:
            files.write_all(results, folder.staging)
            folder.publish()
        except OSError as error:
            message = f"{folder.path}: {error.strerror or error}"
            _report_not_written(runner.ui, f"the report cannot be written: {message}")


def _inconclusive(config: pytest.Config) -> str:
    """What could not be judged, where that spoils the session; "" otherwise."""
    from .report.terminal import inconclusive

    runner = config.pluginmanager.get_plugin("x25shark-runner")
    if not isinstance(runner, Runner) or runner.results is None:
        return ""
    return inconclusive(runner.results.cases) if runner.results.exit_status == 5 else ""


def pytest_sessionfinish(session: pytest.Session) -> None:
    """INCONCLUSIVE is skipped to pytest, but it is not a success: exit status 5, as of `run`."""
    if session.exitstatus == pytest.ExitCode.OK and _inconclusive(session.config):
        session.exitstatus = 5


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many could not be judged, and why."""
    why = _inconclusive(config)
    if why:
        terminalreporter.section("x25shark")
        terminalreporter.line(f"{why} (--inconclusive-ok)")


def _report_not_written(ui: object, message: str) -> None:
    if isinstance(ui, UserInterface):
        ui.problem = (4, message)
    else:
        pytest.exit(message, returncode=4)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> object:
    """A case runs here; its report follows when its verdict is final."""
    if purpose_of(item) is None:
        return None
    runner = item.config.pluginmanager.get_plugin("x25shark-runner")
    assert isinstance(runner, Runner)
    runner.run(item)
    return True


@pytest.fixture
def bench() -> None:
    """The tester's side of a case; given by the campaign, not by pytest."""


@pytest.fixture
def watch() -> None:
    """The demands on a whole run; given by the campaign, not by pytest."""


@pytest.fixture
def call() -> None:
    """A connected call; given by the campaign, not by pytest."""
