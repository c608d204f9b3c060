# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark init: profiles that load, questions, refusals, the probe; and shell completion."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from x25shark.cli import main
from x25shark.profile import load_profile
from x25shark.reference.config import load
from x25shark.setup.routers import KINDS, MODELS

HERE = ("--router-address", "127.0.27.1", "--a", "127.0.27.2")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("b", ["none", "127.0.27.3"])
def test_profile_loads(tmp_path: Path, kind: str, model: str, b: str) -> None:
    file = tmp_path / "router.toml"
    options = [*HERE, "--kind", kind, "--model", model, "--b", b, "--no-probe"]
    done = CliRunner().invoke(main, ["init", str(file), *options])
    assert done.exit_code == 0, done.output
    profile = load_profile(str(file))
    assert profile.xot_end.router == ("127.0.27.1", 1998)
    assert profile.relay_model == model
    assert profile.configuration == ("T2" if b == "none" else "T1")
    assert len(file.read_text().splitlines()) <= 20
    assert "127.0.27." in done.output or "1111" in done.output


def test_reference_configuration_is_what_the_reference_router_reads(tmp_path: Path) -> None:
    options = [*HERE, "--kind", "reference", "--b", "127.0.27.3", "--no-probe"]
    done = CliRunner().invoke(main, ["init", str(tmp_path / "router.toml"), *options])
    text = done.output[done.output.index("listen = ") : done.output.index("\nnext: ")]
    (tmp_path / "side.toml").write_text(text)
    settings = load(tmp_path / "side.toml")
    assert (settings.listen.host, settings.listen.port) == ("127.0.27.1", 1998)
    assert [route.prefix for route in settings.routes] == ["31", "21", "1111"]


def test_does_not_overwrite(tmp_path: Path) -> None:
    file = tmp_path / "router.toml"
    file.write_text("mine")
    options = [*HERE, "--kind", "other", "--b", "none", "--no-probe"]
    done = CliRunner().invoke(main, ["init", str(file), *options])
    assert done.exit_code == 2
    assert "--force" in done.output
    assert file.read_text() == "mine"
    done = CliRunner().invoke(main, ["init", str(file), *options, "--force"])
    assert done.exit_code == 0
    assert "mine" not in file.read_text()


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--router-address", "here.example", "IPv4 address"),
        ("--a", "127.0.0.1:0", "xot.a"),
        ("--a-address", "12a", "addresses.a"),
        ("--router-address", '1"\nname = "x', "not TOML"),
    ],
)
def test_bad_answers(tmp_path: Path, option: str, value: str, says: str) -> None:
    file = tmp_path / "router.toml"
    options = [*HERE, "--kind", "other", "--b", "none", "--no-probe", option, value]
    done = CliRunner().invoke(main, ["init", str(file), *options])
    assert done.exit_code == 2
    assert says in done.output
    assert not file.exists()


def test_nobody_to_ask(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["init", str(tmp_path / "router.toml")])
    assert done.exit_code == 2
    assert "--router-address is missing" in done.output


def test_asks_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from x25shark.setup import command

    monkeypatch.setattr(command, "can_ask", lambda: True)
    answers = "other\n127.0.27.1:2001\nsplice\n127.0.27.2\n127.0.27.3\n"
    file = tmp_path / "router.toml"
    done = CliRunner().invoke(main, ["init", str(file), "--no-probe"], input=answers)
    assert done.exit_code == 0, done.output
    profile = load_profile(str(file))
    assert profile.xot_end.router == ("127.0.27.1", 2001)
    assert (profile.relay_model, profile.configuration) == ("splice", "T1")


def test_probe_of_a_router_that_answers(tmp_path: Path) -> None:
    """The reference router, configured as init says, does what the probe looks for."""
    config = tmp_path / "side.toml"
    config.write_text(
        'listen = "127.0.27.1:0"\nsource = "127.0.27.1"\nhttp = "127.0.27.1:0"\n'
        '[[route]]\nprefix = "1111"\nto = "echo"\n'
    )
    command = [sys.executable, "-m", "x25shark.reference", "--config", str(config), "--stop-on-eof"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as router:
        assert router.stdout is not None
        where = json.loads(router.stdout.readline())["listen"]
        options = ["--router-address", where, "--a", "127.0.27.2", "--kind", "other", "--b", "none"]
        done = CliRunner().invoke(main, ["init", str(tmp_path / "router.toml"), *options])
        router.communicate()
    assert done.exit_code == 0, done.output
    assert "answer to the call: Call Accepted" in done.output
    assert "does not do yet" not in done.output


def test_probe_of_nobody(tmp_path: Path) -> None:
    options = ["--router-address", "127.0.27.9:9", "--a", "127.0.27.2", "--kind", "other"]
    file = tmp_path / "router.toml"
    done = CliRunner().invoke(main, ["init", str(file), *options, "--b", "none"])
    assert done.exit_code == 0
    assert "connection refused" in done.output
    assert file.exists()


def _complete(words: str, **more: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", "from x25shark.cli import main; main(prog_name='x25shark')"],
        env={
            "_X25SHARK_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
            "PYTHONPATH": ":".join(sys.path),
            **more,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split(",", 1)[1] for line in done.stdout.splitlines()]


def test_completes_cases_groups_and_profiles() -> None:
    assert "PLP-CLR-01" in _complete("x25shark show PLP-CLR-0")
    assert "PLP-CLR" in _complete("x25shark run --select PLP-C")
    assert "XOT-HDR,PLP-CLR" in _complete("x25shark run --select XOT-HDR,PLP-CL")
    assert {"reference", "reference-e2e"} <= set(_complete("x25shark run --router re"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == 0
    assert "_X25SHARK_COMPLETE" in done.output
