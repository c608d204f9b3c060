# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of the pipelines, run as scripts: what they let through, hold and leave behind.

A repository has a router's profile and baseline on its base branch; a change comes with a profile
of its own whose commands must not run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).parents[3]
CI = ROOT / "ci"
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}|\./[\w./-]+")
SELECT = "XOT-HDR-01,XOT-HDR-03,PLP-CLR-01"
CONFIGURATION = """
listen = "127.0.31.1:1998"
source = "127.0.31.1"
model = "local"
[[route]]
prefix = "21"
to = "127.0.31.3:1998"
[[route]]
prefix = "31"
to = "127.0.31.2:1998"
"""


def run(words: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, **more}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    done = run(["git", *identity, *words], folder)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A change checked out, its base branch beside it; the router reads its fault from a file."""
    x25shark = Path(sys.executable).with_name("x25shark")
    folder = tmp_path / "repository"
    folder.mkdir()
    (tmp_path / "side.toml").write_text(CONFIGURATION)
    (tmp_path / "fault").write_text("")
    start = (
        f"cd {tmp_path}; rm -f ready; {x25shark} router --config side.toml $(cat fault) >ready &"
        f" echo $! >{tmp_path}/pid; until [ -s {tmp_path}/ready ]; do sleep 0.1; done"
    )
    (folder / "router.toml").write_text(
        'name = "mine"\n[xot]\nrouter = "127.0.31.1"\na = "127.0.31.2"\nb = "127.0.31.3"\n'
        '[addresses]\na = "31"\nb = "21"\n[capture]\nnamespace = "own"\n'
        f"[control]\nstart = '''{start}'''\nstop = 'kill $(cat {tmp_path}/pid)'\n"
    )
    (folder / "baseline.toml").write_text('format = "x25shark-baseline"\nversion = 1\n')
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "base")
    git(folder, "switch", "-qc", "change")
    hostile = (
        (folder / "router.toml").read_text().replace("start = '''", "start = '''touch taken; ")
    )
    (folder / "router.toml").write_text(hostile)
    git(folder, "commit", "-qam", "a profile of the change's own")
    return folder


def action(folder: Path) -> subprocess.CompletedProcess[str]:
    """The commands of the composite action, as GitHub runs them; set-up is that of these tests."""
    document = yaml.safe_load((CI / "github" / "action.yml").read_text())
    inputs = {name: value["default"] for name, value in document["inputs"].items()}
    inputs |= {"select": SELECT, "base": "main"}
    steps = [step for step in document["runs"]["steps"] if "run" in step]
    assert [step["run"].split("/")[-1].split('"')[0] for step in steps] == ["setup", "gate"]
    environment = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: inputs[m[1]], value)
        for name, value in steps[1]["env"].items()
    }
    summary = str(folder / "summary.md")
    environment |= {"GITHUB_ACTION_PATH": str(CI / "github"), "GITHUB_STEP_SUMMARY": summary}
    return run(["bash", "-ec", steps[1]["run"]], folder, **environment)


def component(folder: Path) -> subprocess.CompletedProcess[str]:
    """The script of the GitLab component."""
    _, document = yaml.safe_load_all((CI / "templates" / "gitlab.yml").read_text())
    if not (folder / "x25shark").exists():
        (folder / "x25shark").symlink_to(ROOT)
    variables = {"PROFILE": "router.toml", "BASELINE": "baseline.toml", "SELECT": SELECT}
    git(folder, "fetch", "-q", ".", "main")
    script = "\n".join(document["conformance"]["script"])
    return run(["bash", "-ec", script], folder, **variables)


def accept(repository: Path, report: str) -> None:
    """Write the baseline of the report, with a reason for each deviation."""
    x25shark = str(Path(sys.executable).with_name("x25shark"))
    baseline = repository / "baseline.toml"
    done = run([x25shark, "gate", report, "--baseline", str(baseline), "--write"], repository)
    assert done.returncode == 0, done.stdout + done.stderr
    text, number = re.subn(r'(?m)^reason = ""$', 'reason = "ticket 4711"', baseline.read_text())
    assert number == 1, text
    baseline.write_text(text)


@pytest.mark.parametrize("steps", [action, component])
def test_a_regression_is_held_and_nothing_else(
    steps: Callable[[Path], subprocess.CompletedProcess[str]], repository: Path
) -> None:
    done = steps(repository)
    assert done.returncode == 0, done.stdout + done.stderr
    (repository.parent / "fault").write_text("--fault BUG-XOT-01")
    done = steps(repository)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "NEW FAIL: XOT-HDR-03" in done.stdout
    # What the change's own profile wanted was not done, wherever a command may have run.
    assert not list(repository.parent.rglob("taken"))
    report = repository / "report"
    failures = ElementTree.parse(report / "gate.xml").findall(".//failure")
    assert [failure.get("type") for failure in failures] == ["NEW FAIL"]
    assert "XOT" in (report / "gate.md").read_text()
    # The profile that was taken from the base lay elsewhere, in a folder that is gone.
    assert "profile router.toml." in (report / "gate.md").read_text()
    assert "x25shark run --router router.toml --select" in (report / "gate.xml").read_text()
    assert "x25shark run --router router.toml --select" in (report / "junit.xml").read_text()
    command = json.loads((report / "results.json").read_text())["run"]["command"]
    assert " run --router router.toml --output " in command
    for name in ("results.json", "junit.xml", "report.html", "gate.xml", "gate.md"):
        assert f"{tempfile.gettempdir()}/tmp." not in (report / name).read_text(), name
    assert (report / "cases" / "XOT-HDR-03.pcapng").stat().st_size > 0
    if steps is action:
        assert "1 difference" in (repository / "summary.md").read_text()
        accept(repository, "report")
        done = steps(repository)
        assert done.returncode == 0, "a known failure with a reason is held against nobody"


def test_no_result_is_no_success(repository: Path) -> None:
    (repository.parent / "side.toml").write_text("nonsense")
    git(repository, "rm", "-q", "router.toml")
    done = run([str(CI / "gate"), "router.toml", "baseline.toml", "report"], repository)
    assert done.returncode == 2
    errors = ElementTree.parse(repository / "report" / "gate.xml").findall(".//testcase/error")
    assert len(errors) == 1
    assert "router.toml: no such profile" in errors[0].attrib["message"]
    assert "router.toml: no such profile" in (repository / "report" / "gate.md").read_text()
    assert "router.toml: no such profile" in done.stderr
    done = run([str(CI / "gate"), "a.toml", "b.toml", "r"], repository, BASE="main")
    assert done.returncode == 2


def test_a_base_that_is_not_in_the_clone_is_named(repository: Path) -> None:
    base = "0123456789" * 4
    words = [str(CI / "gate"), "router.toml", "baseline.toml", "report"]
    done = run(words, repository, BASE=base)
    assert done.returncode == 2
    assert done.stderr == (
        f"{base} is not in this clone: fetch it (actions/checkout: fetch-depth: 0)\n"
    )


def uses(value: Any) -> list[str]:
    """Every action that a document names."""
    if isinstance(value, dict):
        own = [str(v) for k, v in value.items() if k == "uses"]
        return own + [found for v in value.values() for found in uses(v)]
    return [found for v in value for found in uses(v)] if isinstance(value, list) else []


@pytest.mark.parametrize(
    "path",
    [
        "ci/github/action.yml",
        "ci/templates/github.yml",
        ".github/workflows/ci.yml",
        ".github/workflows/release.yml",
    ],
)
def test_actions_are_pinned_and_permissions_least(path: str) -> None:
    text = (ROOT / path).read_text()
    document = yaml.safe_load(text)
    named = uses(document)
    assert named
    assert [name for name in named if not PINNED.fullmatch(name)] == []
    assert "secrets." not in text
    if "jobs" in document:
        assert document["permissions"] == {"contents": "read"}
    for command in re.findall(r"(?m)^\s*(?:- )?run: (.*)$", text):
        assert "${{" not in command, "an input would become part of a command"


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (None, 0, "pip-audit is not installed (pip install pip-audit): left out"),
        ("echo 'No known vulnerabilities found' >&2", 0, "pip-audit: none known"),
        ("echo 'Found 1 known vulnerability in 1 package'; exit 1", 1, "Found 1 known"),
        ("echo 'no route to host' >&2; exit 1", 0, "pip-audit gave no answer: no route to host"),
    ],
    ids=["not installed", "none", "one", "no network"],
)
def test_advisories_that_could_not_be_asked_about_are_said(
    tmp_path: Path, body: str | None, status: int, said: str
) -> None:
    """No silence is taken for a good answer, and no missing network for a bad one."""
    (tmp_path / "ci").mkdir()
    shutil.copy(ROOT / "ci" / "advisories", tmp_path / "ci")
    (tmp_path / "ci" / "rust-path").write_text(f"#!/bin/sh\necho {tmp_path}/bin:/usr/bin:/bin\n")
    (tmp_path / "ci" / "rust-path").chmod(0o755)
    (tmp_path / "bin").mkdir()
    if body is not None:
        (tmp_path / "bin" / "pip-audit").write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / "bin" / "pip-audit").chmod(0o755)
    done = subprocess.run(
        [tmp_path / "ci" / "advisories"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert said in done.stdout
    assert "cargo-audit is not installed" in done.stdout


def test_advisories_are_asked_for_where_there_is_a_network() -> None:
    assert "run: ci/advisories" in (ROOT / ".github" / "workflows" / "ci.yml").read_text()
