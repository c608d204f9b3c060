# SPDX-License-Identifier: GPL-2.0-or-later
"""`x25shark doctor`: what of x25shark works on this machine, and how."""

from __future__ import annotations

import importlib.util
import platform
import shutil
from collections.abc import Iterator

from .. import __version__
from ..judges import program
from ..judges.reading import JudgeError
from ..judges.sandbox import as_other_id
from ..judges.wireshark import open_judge
from ..load.engine import GET_ENGINE
from ..run.namespaces import NamespaceError, try_out
from ..run.rights import RightsError, may_capture
from ..run.versions import confinement, version_of
from ..wireshark import AS_ROOT

_AGAINST = (
    "no network",
    "no new privileges",
    "limits",
    "no files written",
    "system calls filtered",
)


def findings() -> Iterator[tuple[str, str, bool | None]]:
    """What was looked at, what was found in words, and whether all is well.

    None: it is not there, and only some commands need it.
    """
    yield "x25shark", f"{__version__}, Python {platform.python_version()}", True
    yield _judge()
    yield _capture()
    yield _namespace()
    yield _wireshark()
    engine = importlib.util.find_spec("x25shark_engine") is not None
    yield "load engine", "installed" if engine else f"not installed. {GET_ENGINE}", engine or None


def _judge() -> tuple[str, str, bool]:
    try:
        with open_judge() as judge:
            version, confined = version_of(judge), confinement(judge)
    except JudgeError as error:
        return "judge two", str(error), False
    missing = [name for name in _AGAINST if name not in confined]
    words = f"Wireshark {version}, {confined}" + (f"; not: {', '.join(missing)}" * bool(missing))
    try:
        program.find()
    except JudgeError as error:
        words += f"; slower, by tshark: {error}"
    return "judge two", words, not missing


def _capture() -> tuple[str, str, bool]:
    try:
        can = may_capture()
    except RightsError as error:
        return "capture", str(error), False
    no = "dumpcap may not capture here: sudo dpkg-reconfigure wireshark-common, or --own-namespace"
    return "capture", "dumpcap may capture" if can else no, True


def _wireshark() -> tuple[str, str, bool | None]:
    if shutil.which("wireshark") is None:
        no = "not installed; x25shark open needs it"
        return "wireshark", f"{no}. On Debian and Ubuntu: sudo apt-get install wireshark", None
    if as_other_id() is None:
        return "wireshark", f"installed. {AS_ROOT}", True
    return "wireshark", "installed; x25shark open starts it", True


def _namespace() -> tuple[str, str, bool]:
    try:
        try_out()
    except NamespaceError as error:
        return "namespace", str(error), False
    return "namespace", "a run can have a network namespace of its own", True
