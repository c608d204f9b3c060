# SPDX-License-Identifier: GPL-2.0-or-later
"""Wireshark on the evidence of a case: strict dissector, our profile, the deciding packet."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .judges.sandbox import as_other_id, dissectors_folder, xot_ports_preference
from .results import CaseResult
from .temporary import temporary_folder

PROFILE = "x25shark"
AS_ROOT = "Wireshark 4.4 and later run no Lua as root, so no strict dissector."
# A window that shows the columns of the profile to the name of the interface without scrolling.
_WINDOW = "gui.geometry_main_width: 1400\ngui.geometry_main_height: 900\n"


def tshark_words(capture: Path, xot_ports: Iterable[int] = ()) -> list[str]:
    """The command that shows a capture where there are no windows, with the strict dissector."""
    script = dissectors_folder() / "lua" / "x25shark.lua"
    ports = xot_ports_preference(xot_ports).strip().replace(": ", ":")
    return ["tshark", "-X", f"lua_script:{script}", "-o", ports, "-r", str(capture)]


@contextmanager
def command_for(
    program: str, capture: Path, case: CaseResult | None = None, xot_ports: Iterable[int] = ()
) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The command that opens a capture, and its environment.

    Wireshark gets a configuration folder of its own with the x25shark profile, so that the user's
    stays as it is. It opens at the packet that decided the case; without a case, at the first.
    xot_ports: TCP ports that XOT is on, besides 1998. As root Wireshark would run no Lua, and runs
    as another id in a user namespace where there can be one.
    """
    with temporary_folder("wireshark") as folder:
        configuration = folder / "wireshark"
        source = dissectors_folder() / "profile" / PROFILE
        profile = shutil.copytree(source, configuration / "profiles" / PROFILE)
        with (profile / "preferences").open("a") as preferences:
            preferences.write(xot_ports_preference(xot_ports))
        script = dissectors_folder() / "lua" / "x25shark.lua"
        command = [*(as_other_id() or []), program, "-C", PROFILE, "-X", f"lua_script:{script}"]
        command += ["-r", str(capture)]
        (configuration / "recent_common").write_text(_WINDOW)
        expectations = case.expectations if case is not None else []
        deciding = [e.frame or e.stimulus_frame for e in expectations if not e.met]
        if deciding and deciding[0] is not None:
            command += ["-g", str(deciding[0])]
        yield command, {**os.environ, "WIRESHARK_CONFIG_DIR": str(configuration)}
