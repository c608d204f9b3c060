# SPDX-License-Identifier: GPL-2.0-or-later
"""How this user may capture: directly, in an own namespace, or through sudo."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass

from ..profile import Profile
from .namespaces import NamespaceError, enter_own

OWN = "own namespace"
DIRECTLY = "directly"


class RightsError(Exception):
    """No way to capture; the message says what to type."""


@dataclass(frozen=True)
class Rights:
    """What is put before dumpcap, and how that came about."""

    prefix: tuple[str, ...]
    how: str


def may_capture() -> bool:
    """Whether dumpcap may capture as it is."""
    program = shutil.which("dumpcap")
    if program is None:
        raise RightsError(
            "dumpcap is not installed. On Debian and Ubuntu: sudo apt-get install tshark"
        )
    if os.geteuid() == 0:
        return True
    # Devices are listed to everybody; their link types only to those who may open them.
    done = subprocess.run([program, "-L", "-i", "lo"], capture_output=True, check=False, timeout=20)
    return done.returncode == 0


def obtain(profile: Profile, *, own: bool = False) -> Rights:
    """Get the right to capture; may move this process into an own namespace. Raises RightsError.

    own: an own namespace whatever the profile says.
    An own namespace is possible only where the router is started by us on loopback, since nothing
    else can be reached from it; if it is asked for, also where control.call is all there is of a
    router: it may be the DTE itself.
    """
    starts_router = profile.embedded is not None or profile.control.start is not None
    possible = profile.is_loopback and starts_router
    if own or profile.capture.namespace == "own":
        if not possible and not (profile.is_loopback and profile.only_calls):
            raise RightsError(
                "a network namespace of its own needs a router on loopback that the profile "
                "starts, or one that control.call starts for each call"
            )
        return _own()
    if profile.embedded is not None and possible and profile.capture.namespace == "auto":
        # Nobody else on this machine can reach the router then, or the tester, and two runs
        # at once do not meet on a port.
        with contextlib.suppress(RightsError):
            return _own()
    if profile.xot is None:
        return Rights((), "by the taps of the serial lines")
    if may_capture():
        return Rights((), DIRECTLY)
    if possible and profile.capture.namespace == "auto":
        return _own()
    if shutil.which("sudo") and _sudo_without_password():
        return Rights(("sudo", "-n"), "sudo dumpcap")
    raise RightsError(
        "this user may not capture. Either: sudo dpkg-reconfigure wireshark-common (answer yes), "
        f"sudo adduser {os.environ.get('USER', '$USER')} wireshark, and log in again; or run "
        "'sudo -v' first, so that dumpcap alone can be started through sudo"
    )


def _own() -> Rights:
    try:
        enter_own()
    except NamespaceError as error:
        raise RightsError(
            f"{error}; or let dumpcap capture (sudo dpkg-reconfigure wireshark-common, then join "
            "the group wireshark)"
        ) from None
    return Rights((), OWN)


def _sudo_without_password() -> bool:
    done = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False, timeout=20)
    return done.returncode == 0
