# SPDX-License-Identifier: GPL-2.0-or-later
"""Which TCP ports the strict dissector takes, and that Wireshark's own keeps the others."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from strict_tshark import strict_tshark
from x25shark import __version__
from x25shark.judges.sandbox import Sandbox
from xot_captures import CAPTURES


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    made = Sandbox()
    try:
        (made.folder / "config" / "preferences").unlink()
        yield made
    finally:
        made.close()


def strict(sandbox: Sandbox, *options: str) -> list[str]:
    """Whether each frame with a packet has it by Wireshark's own dissector or by the strict one."""
    done = strict_tshark(
        sandbox, CAPTURES["call"], "-T", "fields", "-e", "frame.protocols", *options
    )
    return [line for line in done.stdout.splitlines() if line.endswith((":x25", "x25s"))]


def test_without_the_preference_port_1998_stays_wiresharks(sandbox: Sandbox) -> None:
    found = strict(sandbox)
    assert found
    assert not any("xots" in line for line in found)


@pytest.mark.parametrize(
    "options",
    [
        ("-o", "xots.ports:1998"),
        ("-o", "xots.ports:1-1997,1998-2010"),
        ("-o", "xots.ports:7,1998,1998"),
        ("-d", "tcp.port==1998,xots"),
    ],
)
def test_what_is_asked_for_is_taken(sandbox: Sandbox, options: tuple[str, ...]) -> None:
    assert any("xots" in line for line in strict(sandbox, *options))


@pytest.mark.parametrize("ports", ["1997", "1999-65535", "0"])
def test_other_ports_are_left_alone(sandbox: Sandbox, ports: str) -> None:
    assert strict(sandbox, "-o", f"xots.ports:{ports}") == strict(sandbox)


@pytest.mark.parametrize("given_back", [False, True])
def test_a_port_that_is_given_back_has_its_dissector_again(
    sandbox: Sandbox, given_back: bool
) -> None:
    """As when somebody changes the preference while Wireshark runs."""
    lines = ['set_preference("xots.ports", "1998")', "apply_preferences()"]
    if given_back:
        lines += ['set_preference("xots.ports", "1999")', "apply_preferences()"]
    # Wireshark writes what it applies.
    preferences = sandbox.folder / "config" / "preferences"
    preferences.touch()
    for path in (preferences.parent, preferences):
        path.chmod(0o777)
    script = sandbox.folder / "again.lua"
    script.write_text("\n".join(lines))
    found = strict(sandbox, "-X", f"lua_script:{script}")
    assert found
    assert any("xots" in line for line in found) is not given_back


def test_bits_are_shown_in_their_octets(sandbox: Sandbox) -> None:
    done = strict_tshark(sandbox, CAPTURES["call"], "-o", "xots.ports:1998", "-O", "x25s")
    assert re.search(r"0\.\.\. \.\.\.\. = Q or A bit: 0", done.stdout)


def test_the_plugin_tells_our_version(sandbox: Sandbox) -> None:
    script = (sandbox.lua).read_text()
    assert f'version = "{__version__}"' in script
