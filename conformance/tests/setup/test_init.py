# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark init: profiles that load, questions, refusals, the probe; and shell completion."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from x25shark.catalogue import catalogue
from x25shark.cli import main
from x25shark.profile import PICS_ITEMS, load_profile
from x25shark.reference.config import load
from x25shark.results import CaseResult, Results, RunInfo, write_results
from x25shark.setup.pics import SENTENCES, cases_about, offered
from x25shark.setup.routers import KINDS, MODELS
from x25shark.verdicts import Verdict

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
    assert [route.prefix for route in settings.routes] == ["21", "31", "1111"]


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
        ("--a", "127.0.0.1:0", "--a: '127.0.0.1:0' is not an IPv4 address"),
        ("--a-address", "12a", "1 to 15 digits"),
        ("--b-address", "1" * 16, "1 to 15 digits"),
        ("--b", "none at all", "--b: "),
        ("--pics", "P-MOD129", "did you mean P-MOD128?"),
        ("--pics", "P-FOO", "there are P-PVC, P-MOD128"),
        ("--model", "slice", "not one of"),
        ("--a", "127.0.27.1", "--a: '127.0.27.1' is the router's address"),
        ("--b", "127.0.27.1:1998", "--b: '127.0.27.1:1998' is the router's address"),
        ("--b", "127.0.27.2", "--b: '127.0.27.2' is that of side A"),
        ("--echo", "3100001", "--echo: '3100001' is the address of side A"),
        ("--router-address", '1"\nname = "x', "IPv4 address"),
    ],
)
def test_bad_answers(tmp_path: Path, option: str, value: str, says: str) -> None:
    file = tmp_path / "router.toml"
    options = [*HERE, "--kind", "other", "--b", "none", "--no-probe", option, value]
    done = CliRunner().invoke(main, ["init", str(file), *options])
    assert done.exit_code == 2
    assert says in done.output
    assert not file.exists()


def test_sides_have_different_x121_addresses(tmp_path: Path) -> None:
    file = tmp_path / "router.toml"
    options = [*HERE, "--kind", "goxot", "--b", "127.0.27.3", "--no-probe"]
    same = ["--a-address", "21", "--b-address", "21"]
    done = CliRunner().invoke(main, ["init", str(file), *options, *same])
    assert done.exit_code == 2
    assert "--b-address: '21' is the address of side A" in done.output
    assert not file.exists()


def test_nobody_to_ask(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["init", str(tmp_path / "router.toml")])
    assert done.exit_code == 2
    assert "--router-address is missing" in done.output


def test_asks_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from x25shark.setup import questions

    monkeypatch.setattr(questions, "can_ask", lambda: True)
    answers = "other\n127.0.27.1:2001\nsplice\n127.0.27.2\n127.0.27.3\n\n\nnone\n"
    file = tmp_path / "router.toml"
    done = CliRunner().invoke(main, ["init", str(file), "--no-probe"], input=answers)
    assert done.exit_code == 0, done.output
    profile = load_profile(str(file))
    assert profile.xot_end.router == ("127.0.27.1", 2001)
    assert (profile.relay_model, profile.configuration) == ("splice", "T1")


def test_a_bad_answer_is_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from x25shark.setup import questions

    monkeypatch.setattr(questions, "can_ask", lambda: True)
    answers = [
        *("ciscoios", "goxot"),
        *("router.example", "127.0.27.300", "127.0.27.1:70000", "127.0.27.1"),
        *("slpice", "splice"),
        *("", "here", "127.0.27.3"),
        *("31x", "31", "21"),
        *("P-MOD129", "p-dbit, F-FS"),
    ]
    file = tmp_path / "router.toml"
    done = CliRunner().invoke(
        main, ["init", str(file), "--no-probe"], input="".join(f"{a}\n" for a in answers)
    )
    assert done.exit_code == 0, done.output
    profile = load_profile(str(file))
    assert profile.xot_end.router == ("127.0.27.1", 1998)
    assert profile.xot_end.b == ("127.0.27.3", 1998)
    assert (profile.addresses.a, profile.addresses.b) == ("31", "21")
    assert profile.pics == {"P-DBIT", "F-FS"}
    assert "did you mean splice?" in done.output
    assert "did you mean P-MOD128?" in done.output
    assert done.output.count("is not an IPv4 address") == 4
    # Each item that is offered has its sentence, and goxot its configuration as JSON.
    assert "delivery is confirmed from end to end" in done.output
    servers = json.loads(done.output[done.output.index("{\n") : done.output.rindex("}") + 1])
    assert servers["servers"][0] == {"prefix": "21/2", "ip": "127.0.27.3", "port": 1998}


def test_an_answer_that_never_comes_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from x25shark.setup import questions

    monkeypatch.setattr(questions, "can_ask", lambda: True)
    done = CliRunner().invoke(main, ["init", str(tmp_path / "router.toml")], input="nonsense\n")
    assert done.exit_code == 1
    assert not (tmp_path / "router.toml").exists()


def test_addresses_that_this_machine_lacks_are_named(tmp_path: Path) -> None:
    options = ["--router-address", "192.0.2.1", "--a", "192.0.2.10", "--b", "192.0.2.11"]
    done = CliRunner().invoke(main, ["init", str(tmp_path / "r.toml"), *options, "--kind", "other"])
    assert done.exit_code == 0, done.output
    for address in ("192.0.2.10", "192.0.2.11"):
        assert f"sudo ip addr add {address}/32 dev DEVICE" in done.output
    assert "probe:" not in done.output


def test_every_pics_item_has_a_sentence() -> None:
    assert set(SENTENCES) == set(PICS_ITEMS)
    assert all(text.endswith(".") for text in SENTENCES.values())
    assert set(offered(two_sided=False)) < set(offered(two_sided=True)) < set(PICS_ITEMS)
    assert cases_about("L-T3") == [p.id for p in catalogue().purposes.values() if "L-T3" in p.pics]


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


def _complete(words: str, shell: str = "bash", **more: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", "from x25shark.cli import main; main(prog_name='x25shark')"],
        env={
            "_X25SHARK_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
            "PYTHONPATH": ":".join(sys.path),
            **more,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    return [line.split(",", 1)[1] for line in lines] if shell == "bash" else lines


def test_completes_cases_groups_and_profiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where no run has left a report, whose cases would be completed
    assert "PLP-CLR-01" in _complete("x25shark show PLP-CLR-0")
    assert "PLP-CLR" in _complete("x25shark run --select PLP-C")
    assert "XOT-HDR,PLP-CLR" in _complete("x25shark run --select XOT-HDR,PLP-CL")
    assert {"reference", "reference-e2e"} <= set(_complete("x25shark run --router re"))


def test_completes_nothing_of_a_foreign_run_that_a_shell_would_heed(tmp_path: Path) -> None:
    """What is completed stands on the command line, and its help on the terminal."""
    ids = ["PLP-CALL-01", "STATE-C4-p4-two_octets", "$(touch${IFS}x)", "`x`", "A;x", "A\nB", "-A"]
    info = RunInfo("1", "", 1.0, "r", "p", "local", "T1", {}, "tshark", 0, "", "")
    purpose = "\x1b[31mred\nand a line"
    cases = [CaseResult(i, "PLP", purpose, "", Verdict.FAIL) for i in ids]
    write_results(Results(info, cases, 1), tmp_path / "results.json")
    words = f"x25shark show --output {tmp_path} "
    assert _complete(words) == ids[:2]
    lines = _complete(words, "zsh")
    assert lines[1::3] == ids[:2]
    assert set(lines[2::3]) == {r"FAIL: \x1b[31mred and a line"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == 0
    assert "_X25SHARK_COMPLETE" in done.output


# What bash does when somebody presses Tab behind these words.
_TAB = """
eval "$(x25shark completion bash)"
complete -p x25shark >&2
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_x25shark_completion x25shark "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("run --fault BUG-INT-0", "BUG-INT-01"),
        ("run --variant MAY-CLR-0", "MAY-CLR-01"),
        ("run --null s", "silent"),
        ("run --nu", "--null"),
        ("router --", "--fault"),
        ("router --list-f", "--list-faults"),
        ("router --fault BUG-INT-0", "BUG-INT-01"),
        ("router --stop-on-eof --variant MAY-CLR-0", "MAY-CLR-01"),
        ("router --null mu", "mute"),
        ("show PLP-CLR-0", "PLP-CLR-01"),
    ],
)
def test_bash_completes(words: str, offered: str, tmp_path: Path) -> None:
    program = tmp_path / "x25shark"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m x25shark "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        ["bash", "--norc", "-c", _TAB, "bash", "x25shark", *words.split()],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "-F _x25shark_completion x25shark" in done.stderr
    found = done.stdout.splitlines()
    assert offered in found
    assert all(name.startswith(words.rsplit(maxsplit=1)[-1]) for name in found)
