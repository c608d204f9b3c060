# SPDX-License-Identifier: GPL-2.0-or-later
"""ci/Containerfile as far as it needs no container: what it copies, and the commands it runs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]
FILE = ROOT / "ci" / "Containerfile"


def instructions() -> list[tuple[str, str]]:
    """Word and text of each instruction, continued lines joined."""
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines())]


def test_what_it_copies_is_there_and_used(tmp_path: Path) -> None:
    (copied,) = (text.split() for word, text in instructions() if word == "COPY")
    *sources, target = copied
    assert (ROOT / "ci" / "requirements.txt").exists()
    assert sources == ["ci/requirements.txt", "dist/*.whl"]
    installing = next(text for word, text in instructions() if target in text and word == "RUN")
    assert "--require-hashes -r " + target + "requirements.txt" in installing
    assert f"--no-deps {target}*.whl" in installing


def test_its_commands_parse_and_run_in_order(tmp_path: Path) -> None:
    """With programs that only say what they were asked."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("apt-get", "python3", "rm"):
        (programs / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (programs / name).chmod(0o755)
    said = []
    for word, text in instructions():
        if word != "RUN":
            continue
        commands = text.replace("/opt/x25shark/bin/pip", "echo pip")
        done = subprocess.run(
            ["sh", "-euc", commands],
            env={"PATH": f"{programs}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        said += done.stdout.splitlines()
    assert [line.split()[0] for line in said] == [
        *("apt-get", "apt-get", "rm"),
        *("python3", "pip", "pip", "rm"),
    ]


def test_it_installs_what_the_bare_systems_have() -> None:
    """ci/roots has shown these packages to be enough."""
    text = " ".join(text for word, text in instructions() if word == "RUN")
    installed = re.search(r"--no-install-recommends ([\w0-9 -]+)", text)
    roots = re.search(r"packages=(\S+)", (ROOT / "ci" / "roots").read_text())
    assert installed and roots
    assert set(installed[1].split()) == set(roots[1].split(",")) - {"pipx", "python3-pipx"}
