# SPDX-License-Identifier: GPL-2.0-or-later
"""Every fault changes something that a tester can see, and nothing once it is undone.

Scenarios of legal and illegal behaviour run against the router without and with a fault; what the
router sent, closed and counted has to differ. Faults of the socket level are tried with sockets.
"""

import traceback
from pathlib import Path
from typing import Any

import pytest
from lab_scenarios import SCENARIOS
from x25shark.catalogue import faults as catalogued
from x25shark.reference.faults import FAULTS
from x25shark.reference.faults.common import Crash
from x25shark.reference.switches import UnknownSwitch

MODELS = ("local", "end-to-end", "splice")


def observe(what: Any) -> Any:
    """Everything that can be seen of the routers of a scenario."""
    if isinstance(what, list):
        return [observe(one) for one in what]
    peers = [(p.got, p.closed, p.aborted, vars(p).get("port")) for p in what.callers + what.called]
    return (
        peers,
        what.offered if hasattr(what, "offered") else None,
        what.answer if hasattr(what, "answer") else None,
        what.router.counters.as_dict(),
        len(what.router.circuits),
    )


def run(make_lab: Any, name: str, model: str) -> Any:
    """Observation of one scenario; a crash is one as well."""
    try:
        return observe(SCENARIOS[name](make_lab, model))
    except Crash:
        return "crash"
    except IndexError as error:
        # The script could not go on as it did without the fault, for instance without a call.
        # An error in the router's text or in that of the fault is not what is meant.
        last = traceback.extract_tb(error.__traceback__)[-1]
        if not Path(last.filename).is_relative_to(Path(__file__).parent):
            raise
        return f"script ended in {last.name}"


@pytest.fixture(scope="module")
def sound() -> dict[tuple[str, str], Any]:
    """What the router without a fault does in each scenario."""
    return {}


#: Faults of sockets and processes, tried in test_faults_sockets.py.
SOCKET_LEVEL = {
    "BUG-XOT-05",
    "BUG-XOT-13",
    "BUG-XOT-18",
    "BUG-XOT-19",
    "BUG-XOT-21",
    "BUG-XOT-96",
    "BUG-XOT-99",
    "BUG-XOT-46",
    "BUG-XOT-48",
    "BUG-XOT-51",
    "BUG-CALL-17",
    "BUG-CLR-10",
    "BUG-MALF-06",
    "BUG-SYS-06",
    "BUG-SYS-14",
}
#: Faults of call collision, which a line alone has (X.25 4.1.6).
OF_COLLISIONS = {f"BUG-CALL-{number}" for number in (*range(23, 29), 31, 63)}
#: Faults of serial lines, tried in test_faults_line.py; those of Restart and Diagnostic packets
#: show in their witnesses only, which make mutants runs.
OF_LINES = {
    one
    for one in FAULTS
    if one.startswith(("BUG-HDLC", "BUG-LAPB", "BUG-SER", "BUG-RSTRT", "BUG-DIAG", "BUG-LINE"))
    or one in OF_COLLISIONS | {"BUG-XOT-29"}
}
#: Faults that show under load only, tried in tests/load/test_planted.py.
OF_LOADS = {one for one in FAULTS if one.startswith("BUG-LOAD")}
#: Faults of the IP end, tried in test_ip_end.py.
OF_IP = {one for one in FAULTS if one.startswith("BUG-IP")}


def test_the_text_of_a_fault_stands_once() -> None:
    """In the catalogue; faults that show under load only are not in it."""
    assert {one for one in FAULTS if FAULTS[one].text} == OF_LOADS
    assert set(FAULTS) - OF_LOADS <= set(catalogued())


@pytest.mark.parametrize(
    "identity", sorted(set(FAULTS) - SOCKET_LEVEL - OF_LINES - OF_LOADS - OF_IP)
)
def test_fault_is_seen_and_can_be_undone(
    make_lab: Any, sound: dict[tuple[str, str], Any], identity: str
) -> None:
    differing = []
    for name in SCENARIOS:
        for model in MODELS:
            if (name, model) not in sound:
                sound[name, model] = run(make_lab, name, model)
                assert not str(sound[name, model]).startswith(("crash", "script"))
            patches = FAULTS.switch_on([identity])
            try:
                faulty = run(make_lab, name, model)
            finally:
                for patch in reversed(patches):
                    patch.undo()
            if faulty != sound[name, model]:
                differing.append((name, model))
                assert run(make_lab, name, model) == sound[name, model]
                break
        if differing:
            break
    assert differing, (
        f"{identity} changes nothing in any scenario. Write one in lab_scenarios, under @scenario, "
        "in which it shows, or put its name into the set of those that are tried elsewhere "
        "(SOCKET_LEVEL, OF_COLLISIONS), with a test there"
    )


def test_unknown_fault_and_bad_number() -> None:
    with pytest.raises(UnknownSwitch, match="BUG-NONE"):
        FAULTS.switch_on(["BUG-NONE"])
    with pytest.raises(UnknownSwitch, match="not a number"):
        FAULTS.switch_on(["BUG-XOT-20=soon"])
