# SPDX-License-Identifier: GPL-2.0-or-later
"""`x25shark doctor`: what of x25shark works on this machine, and how."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator

from .. import __version__
from ..judges import program
from ..judges.reading import JudgeError
from ..judges.sandbox import as_other_id
from ..judges.wireshark import open_judge
from ..load.engine import GET_ENGINE
from ..report.text import one_line
from ..run.namespaces import NamespaceError, try_out
from ..run.rights import RightsError, may_capture
from ..run.versions import confinement, version_of
from ..wireshark import AS_ROOT
from .wireshark_files import WiresharkFilesError, places, status

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
    yield _own_wireshark()
    yield "load engine", *_module("x25shark_engine", "the load commands need it", GET_ENGINE)
    for module, release, who in _MODULES:
        get = f"pip install {module}=={release}, or ci/setup engine of the source tree"
        yield module, *_module(module, f"{who} needs it", get)
    yield _commands()


# Modules that some commands need, the release that they were tested with, and which those are.
_MODULES = (
    ("MLRsearch", "1.2.1", "x25shark bench"),
    ("pyftpdlib", "2.2.0", "the FTP transfer of x25shark ip"),
)
# Programs that x25shark ip starts, and the package of Debian and Ubuntu that has each.
_PROGRAMS = {
    "ip": "iproute2",
    "nsenter": "util-linux",
    "ping": "iputils-ping",
    "curl": "curl",
}
# Where programs are that only root has on the path.
_ADMIN = "/usr/sbin:/sbin:/usr/bin:/bin"
_IMPORT = """
import importlib.metadata, sys
__import__(sys.argv[1])
try:
    print("installed,", importlib.metadata.version(sys.argv[1]))
except importlib.metadata.PackageNotFoundError:
    print("there")
"""


def _module(name: str, need: str, get: str) -> tuple[str, bool | None]:
    """A module is there if it can be imported: what was built for another Python is not.

    It is tried in a process of its own: it may end that, and is of another licence than Scapy.
    """
    command = [sys.executable, "-P", "-c", _IMPORT, name]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"could not be tried: {one_line(error, 200)}. {get}", None
    if done.returncode == 0:
        return one_line(done.stdout.strip(), 60), True
    last = done.stderr.strip().splitlines()[-1:] or [f"ended with status {done.returncode}"]
    if last[0] == f"ModuleNotFoundError: No module named '{name}'":
        return f"not installed; {need}. {get}", None
    return f"cannot be imported: {one_line(last[0], 200)}. {get}", None


def _commands() -> tuple[str, str, bool | None]:
    missing = {
        package: name
        for name, package in _PROGRAMS.items()
        if not (shutil.which(name) or shutil.which(name, path=_ADMIN))
    }
    if not missing:
        return "ip programs", f"{', '.join(_PROGRAMS)}: installed", True
    words = f"not installed: {', '.join(missing.values())}; x25shark ip needs them. "
    return (
        "ip programs",
        f"{words}On Debian and Ubuntu: sudo apt-get install {' '.join(missing)}",
        None,
    )


def _own_wireshark() -> tuple[str, str, bool | None]:
    """Dissector and profile for captures that the user opens without x25shark open."""
    what = "dissector"
    try:
        found = set(status(places()).values())
    except WiresharkFilesError as error:
        return what, str(error), None
    if found == {"absent"}:
        return (
            what,
            "not in your Wireshark (x25shark open brings it): x25shark wireshark install",
            None,
        )
    if found == {"current"}:
        return what, "dissector and profile are in your Wireshark", True
    return what, "in your Wireshark, but not all of this version: x25shark wireshark status", None


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


def _capture() -> tuple[str, str, bool | None]:
    try:
        can = may_capture()
    except RightsError as error:
        return "capture", str(error), False
    if can:
        return "capture", "dumpcap may capture", True
    no = (
        "dumpcap may not capture here, as a run of your router needs: sudo dpkg-reconfigure "
        "wireshark-common (answer yes), sudo adduser $USER wireshark, and log in again. A router "
        "that x25shark starts can be run in a namespace of its own (--own-namespace)"
    )
    return "capture", no, None


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
