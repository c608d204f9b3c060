# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command of the tutorials, in their order, as somebody would type it who knows only them.

A tutorial runs in a folder and a HOME of its own, in a network namespace of its own with the
addresses that it names. Comments in it, which its readers do not see, say what is held against it:

    <!-- status: 1 -->        the block before ends with that status, not 0
    <!-- says: TEXT -->       the output of the block before has this
    <!-- file: NAME -->       the block before is that file
    <!-- needs: engine -->    the block before is left out where there is no load engine
    <!-- stand-in: WHO ... --> the router that the reader starts there: reference ROUTER A B, or
                             dte ROUTER
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import x25shark

DOCS = Path(x25shark.__file__).parent / "docs"
# The first one that somebody reads: nothing of x25shark has ever run there.
FRESH = "own-router.md"
DTE = Path(__file__).parents[1] / "core" / "dte.py"
TUTORIALS = ["own-router.md", "cisco.md", "linux.md", "dte.md", "figures.md", "failures.md"]
_BLOCK = re.compile(
    r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$|^<!-- (?!SPDX)(?P<key>[\w-]+): (?P<value>.*?) -->$",
    re.M | re.S,
)
_MARK = "--- block"


@dataclass
class Block:
    """Commands, with what is held against them; or a file; or a router that is started."""

    kind: str
    text: str
    says: list[str] = field(default_factory=list)
    status: int = 0
    needs: str = ""


def blocks(page: str) -> list[Block]:
    """What a tutorial has its reader do, in order."""
    found: list[Block] = []
    for match in _BLOCK.finditer(page):
        key, value = match["key"], match["value"]
        if key is None:
            found.append(Block(match["kind"], match["text"]))
        elif key == "stand-in":
            found.append(Block("stand-in", value))
        elif key == "says":
            found[-1].says.append(value)
        elif key == "status":
            found[-1].status = int(value)
        elif key == "needs":
            found[-1].needs = value
        elif key == "file":
            found[-1].kind, found[-1].text = "file", f"{value}\n{found[-1].text}"
        else:
            raise AssertionError(f"unknown comment: {match[0]}")
    return found


def stand_in(words: list[str]) -> str:
    """Commands that start the router which a reader would have there."""
    if words[0] == "dte":
        ready = "until [ -s dte.pid ]; do sleep 0.1; done\n"
        return f"{sys.executable} {DTE} {words[1]} dte.pid &\n{ready}"
    router, a, b = words[1:]
    routes = [("31", f"{a}:1998"), ("21", f"{b}:1998")]
    text = f'listen = "{router}:1998"\nsource = "{router}"\nmodel = "local"\n' + "".join(
        f'[[route]]\nprefix = "{prefix}"\nto = "{to}"\n' for prefix, to in routes
    )
    return (
        f"cat >stand-in.toml <<'END'\n{text}END\nx25shark router --config stand-in.toml >ready &\n"
        "until [ -s ready ]; do sleep 0.1; done\n"
    )


def script(found: list[Block]) -> Iterator[str]:
    """One shell script: after each block a line with its status."""
    yield "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\nip link set lo up\n"
    # The interface of the tutorials.
    yield "ip link add eth0 type veth peer name eth1; ip link set eth0 up; ip link set eth1 up\n"
    for number, block in enumerate(found):
        if block.kind == "file":
            name, _, text = block.text.partition("\n")
            yield f"cat >{name} <<'END'\n{text}END\n"
        elif block.kind == "stand-in":
            yield stand_in(block.text.split())
        elif block.kind == "sh":
            yield f"echo '{_MARK} {number}'\n"
            *before, last = block.text.strip().splitlines()
            for line in before:
                yield f"{line}\n[ $? = 0 ] || echo 'not the last command: '$?\n"
            yield f"{last}\necho '{_MARK} {number} ended '$?\n"
            if "x25shark router" in last:
                # A reader takes longer than that.
                yield "until [ -s router.log ]; do sleep 0.1; done\n"


def in_namespace() -> list[str] | None:
    """How a command gets a network namespace of its own."""
    options = ["-n"] if os.geteuid() == 0 else ["-Urn"]
    command = ["unshare", *options]
    works = subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    return command if works else None


@pytest.fixture
def shell(tmp_path: Path) -> tuple[list[str], dict[str, str]]:
    """How the script is run, and its environment: a fresh HOME, and sudo that is not needed."""
    command = in_namespace()
    if command is None or shutil.which("ip") is None:
        pytest.skip("no network namespace to be had, or no ip")
    programs = tmp_path / "bin"
    programs.mkdir()
    sudo = programs / "sudo"
    sudo.write_text('#!/bin/sh\n[ "$1" != -n ] || shift\nexec "$@"\n')
    sudo.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    environment = {
        "HOME": str(home),
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
    }
    return [*command, "bash", "-m"], environment


@pytest.mark.parametrize("name", TUTORIALS)
def test_every_command_works(
    name: str, tmp_path: Path, shell: tuple[list[str], dict[str, str]]
) -> None:
    found = blocks((DOCS / name).read_text("utf-8"))
    if importlib.util.find_spec("x25shark_engine") is None:
        found = [block for block in found if block.needs != "engine"]
    folder = tmp_path / "folder"
    folder.mkdir()
    command, environment = shell
    if name != FRESH:
        # What was built once for this user need not be built again for each tutorial.
        usual = str(Path.home() / ".cache")
        environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME", usual)
    done = subprocess.run(
        [*command, "-c", "".join(script(found))],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    assert "not the last command" not in output, output
    for number, block in enumerate(found):
        if block.kind != "sh":
            continue
        own = done.stdout.partition(f"{_MARK} {number}\n")[2]
        said, ended, rest = own.partition(f"{_MARK} {number} ended ")
        assert ended, output
        assert rest.split(maxsplit=1)[0] == str(block.status), f"{block.text}\n{output}"
        for text in block.says:
            assert text in said, f"{block.text}: no {text!r} in\n{output}"


def test_every_document_is_a_tutorial_or_has_no_commands() -> None:
    for page in DOCS.glob("*.md"):
        if page.name not in TUTORIALS:
            assert "```sh" not in page.read_text("utf-8"), page


def test_what_is_held_against_a_tutorial_can_fail() -> None:
    page = "```sh\nfalse\n```\n<!-- status: 1 -->\n<!-- says: x -->\n"
    (block,) = blocks(page)
    assert (block.kind, block.status, block.says) == ("sh", 1, ["x"])
    with pytest.raises(AssertionError, match="unknown comment"):
        blocks("<!-- sayz: x -->\n")
