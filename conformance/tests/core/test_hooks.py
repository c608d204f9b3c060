# SPDX-License-Identifier: GPL-2.0-or-later
"""[control]: a router that cannot be stopped, or has died, loses no run."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
from importlib import resources
from pathlib import Path

import pytest
from x25shark.interrupts import interrupts
from x25shark.profile import load_profile
from x25shark.run import router as module
from x25shark.run.router import Router, RouterError

from .conftest import x25shark

PROFILES = resources.files("x25shark") / "profiles"


def own_profile(folder: Path, start: str, stop: str) -> Path:
    """A profile of a router that hooks start and stop."""
    path = folder / "own.toml"
    path.write_text(
        'relay_model = "local"\n'
        '[xot]\nrouter = "127.0.25.1"\na = "127.0.25.2"\nb = "127.0.25.3"\n'
        '[addresses]\na = "3100001"\nb = "2100001"\n'
        f"[control]\nstart = '''{start}'''\nstop = '''{stop}'''\n"
    )
    return path


def with_reference_router(folder: Path, stop: str) -> Path:
    """The profile of a reference router in the background; pid has the number of its process."""
    (folder / "own.router").write_text((PROFILES / "reference.router").read_text("utf-8"))
    started = f"{sys.executable} -m x25shark.reference --config {folder}/own.router"
    return own_profile(folder, f"{started} > /dev/null & echo $! > {folder}/pid", stop)


def test_one_that_has_died_is_started_again(tmp_path: Path) -> None:
    path = own_profile(tmp_path, f"echo 1 >> {tmp_path}/started", "false")
    router = Router(load_profile(str(path)), tmp_path / "router.log")
    router.start()
    router.restart()
    assert (tmp_path / "started").read_text().split() == ["1", "1"]
    with pytest.raises(RouterError, match=r"control\.stop ended with status 1"):
        router.stop()


def test_one_that_was_left_is_stopped_before_the_start(tmp_path: Path) -> None:
    """As --stop-on-fail leaves it; where it cannot be stopped, the run says what it may meet."""

    def started(stop: str) -> str:
        path = own_profile(tmp_path, "true", stop)
        here = f'router = "127.0.25.1:{port}"'
        path.write_text(path.read_text("utf-8").replace('router = "127.0.25.1"', here))
        router = Router(load_profile(str(path)), tmp_path / "router.log")
        router.start()
        return router.found_running

    with socket.create_server(("127.0.25.1", 0)) as left:
        port = left.getsockname()[1]
        still = "; it listens still, and may be the one that was tested"
        assert started("false").endswith(still)
        before = signal.signal(signal.SIGUSR1, lambda *_: left.close())
        try:
            assert started(f"kill -USR1 {os.getpid()}").endswith("control.stop was run first")
        finally:
            signal.signal(signal.SIGUSR1, before)
    assert started("false") == ""


def test_one_whose_lines_are_there_before_the_start(tmp_path: Path) -> None:
    """Where the octets of a line go over TCP: what is there was not started for this run."""
    with socket.create_server(("127.0.25.1", 0)) as left, socket.socket() as free:
        free.bind(("127.0.25.1", 0))
        ports = left.getsockname()[1], free.getsockname()[1]
        free.close()
        path = tmp_path / "lines.toml"
        path.write_text(
            '[addresses]\na = "3100001"\nb = "2100001"\n'
            f'[line.a]\ntcp = "127.0.25.1:{ports[0]}"\nrole = "dce"\n'
            f'[line.b]\ntcp = "127.0.25.1:{ports[1]}"\nrole = "dce"\n'
            "[control]\nstart = 'true'\n"
        )
        router = Router(load_profile(str(path)), tmp_path / "router.log")
        router.start()
    assert router.found_running == (
        f"a router listened at 127.0.25.1:{ports[0]} before control.start; it listens still, "
        "and may be the one that was tested"
    )


@pytest.mark.usefixtures("namespaces")
def test_one_that_listens_late_and_cannot_be_stopped(tmp_path: Path) -> None:
    """The first is waited for, though start has ended; the second is a note."""
    path = with_reference_router(tmp_path, f"kill $(cat {tmp_path}/pid); false")
    report = tmp_path / "report"
    arguments = ("--router", str(path), "--select", "PLP-CALL-01", "--own-namespace")
    done = x25shark("run", *arguments, "--output", str(report))
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((report / "results.json").read_text("utf-8"))
    assert any("the router was not stopped: control.stop" in n for n in results["run"]["notes"])
    assert "Traceback" not in done.stdout + done.stderr


# Neither it nor what it starts ends by SIGTERM.
STUBBORN = "trap '' TERM; sleep 600 & echo $! > {0}/pid; while :; do wait; done"


@pytest.mark.usefixtures("namespaces")
def test_one_that_is_still_there_when_it_was_stopped(tmp_path: Path) -> None:
    """The next one cannot listen before."""
    path = with_reference_router(tmp_path, f"(sleep 1; kill $(cat {tmp_path}/pid)) > /dev/null &")
    output = ("--output", str(tmp_path / "report"))
    done = x25shark(
        "run", "--router", str(path), "--select", "XOT-TCP-29", "--own-namespace", *output
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_hook_that_does_not_end_is_told_of_and_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = own_profile(tmp_path, STUBBORN.format(tmp_path), "true")
    monkeypatch.setattr(module, "HOOK_SECONDS", 1.0)
    monkeypatch.setattr(module, "TELL_SECONDS", 0.0)
    monkeypatch.setattr(module, "ORDERLY_SECONDS", 0.1)
    router = Router(load_profile(str(path)), tmp_path / "router.log")
    with pytest.raises(RouterError, match=r"control\.start did not end within 1 s"):
        router.start()
    assert "x25shark: control.start has not ended; it is given 1 s. It has to end" in (
        capsys.readouterr().err
    )
    with contextlib.suppress(ProcessLookupError):
        started = os.pidfd_open(int((tmp_path / "pid").read_text()))
        assert select.select([started], [], [], 60.0)[0]
        os.close(started)


def test_in_a_hurry_a_hook_is_not_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is written behind it, and would be lost with the third signal."""
    path = own_profile(tmp_path, "true", "sleep 600")
    router = Router(load_profile(str(path)), tmp_path / "router.log")
    router.start()
    monkeypatch.setattr(interrupts, "count", 2)
    monkeypatch.setattr(interrupts, "_raised", True)
    with pytest.raises(RouterError, match=r"control\.stop was given up"):
        router.stop()


def test_what_a_router_prints_without_end_does_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONGEST_LOG", 1 << 20)
    path = own_profile(tmp_path, "printf first; head -c 1048576 /dev/zero", "printf last")
    log = tmp_path / "router.log"
    with Router(load_profile(str(path)), log) as router:
        assert log.stat().st_size > 1 << 20
        assert router.shorten_log().startswith("the router printed more than 1 MB")
        assert router.shorten_log() == ""
    assert log.read_bytes() == b"last"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("printf 'begins\\nno such \\033[1moption\\n\\n'; exit 3", r"no such \\x1b\[1moption"),
        ("exit 3", "it printed nothing"),
    ],
)
def test_what_a_command_printed_last_is_said(tmp_path: Path, command: str, why: str) -> None:
    router = Router(load_profile(str(own_profile(tmp_path, command, "true"))), tmp_path / "log")
    with pytest.raises(RouterError, match=f"control.start ended with status 3: {why}$"):
        router.start()


def test_a_command_of_the_checkout_is_not_looked_for_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RouterError, match=r"start x25shark in the top of a checkout of x25shark"):
        Router(load_profile("linux"), tmp_path / "router.log").start()
    path = own_profile(tmp_path, "here/start", "true")
    why = f"There is no here/start in {tmp_path}: start x25shark in the folder it is relative to"
    with pytest.raises(RouterError, match=why):
        Router(load_profile(str(path)), tmp_path / "router.log").start()


@pytest.mark.parametrize(
    ("cases", "why"),
    [
        ("XOT-HDR-01", "XOT-HDR-01: for configuration T1"),
        ("LAPB-SET", "LAPB-SET-01, LAPB-SET-02, LAPB-SET-03 and "),
    ],
)
def test_no_router_is_started_for_cases_that_do_not_apply(
    cases: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "own.toml"
    own_profile(tmp_path, f"touch {tmp_path}/started", "true")
    path.write_text(path.read_text().replace('b = "127.0.25.3"\n', "").replace("b = ", "echo = "))
    output = tmp_path / "report"
    done = x25shark("run", "--router", str(path), "--select", cases, "--output", str(output))
    assert done.returncode == 3
    assert "nothing to run: " in done.stderr
    assert why in done.stderr
    assert not (tmp_path / "started").exists()
    assert not output.exists()
