# SPDX-License-Identifier: GPL-2.0-or-later
"""What comes from others: profiles with commands, results.json with paths, names with escapes."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from x25shark.profile import load_profile
from x25shark.run.shown import shown

from .conftest import ROOT, environment, x25shark

SECRET = "hunter2"
TEMPLATES = ROOT / "ci" / "templates"


def profile(folder: Path, control: str, name: str = "mine") -> Path:
    path = folder / "own.toml"
    path.write_text(
        f'name = "{name}"\n'
        '[xot]\nrouter = "127.0.25.1"\na = "127.0.25.2"\nb = "127.0.25.3"\n'
        f'[addresses]\nb = "21"\n{control}'
    )
    return path


@pytest.mark.parametrize(
    "control",
    [
        f'[control]\nstart = "ssh me:{SECRET}@router start"\n[times]\nreaction = 2\n',
        f'[ "control" ]\nstart = """\n[times]\n{SECRET}\n"""\n',
        f'[times]\nreaction = 2\n[control] # {SECRET}\nstop = "kill"\n',
    ],
    ids=["table", "text that looks like a table", "comment"],
)
def test_a_report_shows_no_commands(tmp_path: Path, control: str) -> None:
    text = shown(load_profile(str(profile(tmp_path, control))))
    assert SECRET not in text
    assert "127.0.25.1" in text or "not shown" in text


def test_a_report_shows_the_rest_of_a_profile(tmp_path: Path) -> None:
    """As it was written, with its comments."""
    path = profile(tmp_path, '[control]\nstart = "x"\n[times] # mine\nreaction = 2\n')
    text = shown(load_profile(str(path)))
    assert "[times] # mine\nreaction = 2\n" in text
    assert 'start = "x"' not in text


def test_check_runs_no_command_unless_asked(tmp_path: Path) -> None:
    started = tmp_path / "started"
    path = str(profile(tmp_path, f'[control]\nstart = "touch {started}"\nstop = "true"\n'))
    done = x25shark("check", path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "control.start is not run" in done.stdout
    assert "the router does not answer" in done.stderr
    assert not started.exists()
    done = x25shark("check", path, "--start")
    assert done.returncode == 2, done.stdout + done.stderr
    assert started.exists()


def test_no_command_prints_control_characters(tmp_path: Path) -> None:
    evil = "\\u001b]0;owned\\u0007\\u001b[2Jmine\\u202e"
    path = profile(tmp_path, "", evil)
    done = x25shark("check", str(path))
    assert "mine" in done.stdout
    path.write_text(path.read_text().replace("router =", '"r\\u001b[2J" ='))
    wrong = x25shark("check", str(path))
    assert wrong.returncode == 2
    for text in (done.stdout, done.stderr, wrong.stdout, wrong.stderr):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text), repr(text)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, namespaces: None) -> Path:
    folder = tmp_path_factory.mktemp("report")
    done = x25shark("run", "--own-namespace", "--select", "PLP-CALL-01", "--output", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_open_opens_only_captures_of_the_report(report: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(report, mine)
    programs = tmp_path / "bin"
    programs.mkdir()
    opened = tmp_path / "opened"
    (programs / "wireshark").write_text(f'#!/bin/sh\necho "$*" > {opened}\n')
    (programs / "wireshark").chmod(0o755)
    outside = tmp_path / "outside.pcapng"
    outside.write_bytes((mine / "cases" / "PLP-CALL-01.pcapng").read_bytes())
    (mine / "cases" / "link.pcapng").symlink_to(outside)
    (mine / "script.lua").write_text("")
    env = environment(PATH=f"{programs}{os.pathsep}{os.environ['PATH']}", DISPLAY=":0")
    document = json.loads((mine / "results.json").read_text())
    for path in (
        "../outside.pcapng", str(outside), "cases/link.pcapng", "script.lua", "cases/\x1b.pcapng",
    ):  # fmt: skip
        document["cases"][0]["evidence"] = path
        (mine / "results.json").write_text(json.dumps(document))
        done = x25shark("open", "PLP-CALL-01", "--output", str(mine), env=env)
        assert done.returncode == 2, path
        assert "is not a capture of this report" in done.stderr
        assert not opened.exists()
    document["cases"][0]["evidence"] = "cases/PLP-CALL-01.pcapng"
    (mine / "results.json").write_text(json.dumps(document))
    assert x25shark("open", "PLP-CALL-01", "--output", str(mine), env=env).returncode == 0
    assert "PLP-CALL-01.pcapng" in opened.read_text()
    opened.unlink()
    env |= {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}
    done = x25shark("open", "PLP-CALL-01", "--output", str(mine), env=env)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert (
        f"no display: x25shark show PLP-CALL-01 --output {mine}, or tshark -X lua_script:" in said
    )
    assert f"x25shark.lua -o xots.ports:1998 -r {mine}/cases/" in said
    assert not opened.exists()


def test_pipelines_take_the_profile_from_the_base_branch() -> None:
    text = (TEMPLATES / "github.yml").read_text()
    steps = text.partition("steps:")[2]
    before, _, after = steps.partition("github.event.pull_request.head.sha")
    assert "ref: ${{ github.event.pull_request.base.sha }}" in before
    assert "path: change\n          sparse-checkout: baseline.toml" in after
    # The action takes the profile from the folder above, the base branch's.
    assert "profile: router.toml\n          baseline: change/baseline.toml" in after
    assert "pull_request:" not in text
    gitlab = (TEMPLATES / "gitlab.yml").read_text()
    assert 'BASE=FETCH_HEAD x25shark/ci/gate "$PROFILE" "$BASELINE" report' in gitlab


def test_pipelines_are_pinned_and_may_only_read() -> None:
    action = ROOT / "ci" / "github" / "action.yml"
    workflows = (TEMPLATES / "github.yml", *(ROOT / ".github" / "workflows").glob("*.yml"))
    for path in (action, *workflows):
        for used in re.findall(r"(?m)^[ -]*uses: (\S+)", path.read_text()):
            # x25shark's own action comes with the checkout of the pinned revision.
            pinned = re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", used)
            assert pinned or used == "./x25shark/ci/github", f"{path.name}: {used}"
    for path in workflows:
        text = path.read_text()
        assert re.findall(r"(?m)^permissions:\n((?:  .*\n)+)", text) == ["  contents: read\n"]
        # What releases may write, job by job: test_release.py.
        if path.name != "release.yml":
            assert "write" not in re.sub("(?m)#.*|--write.*", "", text)
    for path in TEMPLATES.glob("*.yml"):
        assert "[0-9a-f]{40}" in path.read_text(), f"{path.name} takes any x25shark"
