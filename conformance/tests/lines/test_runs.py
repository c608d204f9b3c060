# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs against things on a serial line that are no routers, and with a tap that dies."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from x25shark.profile import parse_profile
from x25shark.results import CaseResult
from x25shark.run.campaign import Campaign
from x25shark.run.options import CampaignError, Options
from x25shark.sides.bench import Bench
from x25shark.suite.language import LapbSABM, LapbUA
from x25shark.suite.loader import body_of, cases
from x25shark.verdicts import Verdict

PROFILE = """
[line.a]
tcp = "127.0.0.1:{port}"
[addresses]
echo = "1111"
[times]
reaction = 0.3
"""
UA = bytes.fromhex("7e0173fe5a7e")


@contextmanager
def thing(behaviour: Callable[[socket.socket], None]) -> Iterator[int]:
    """Something that takes a connection and does that with it, again and again."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.1)
    running = [True]

    def serve() -> None:
        while running:
            with contextlib.suppress(OSError):
                sock, _ = listener.accept()
                with sock:
                    sock.settimeout(0.1)
                    while running:
                        with contextlib.suppress(TimeoutError):
                            behaviour(sock)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        running.clear()
        thread.join(10)
        listener.close()


def silent(sock: socket.socket) -> None:
    if not sock.recv(1000):
        raise ConnectionError


def flood(sock: socket.socket) -> None:
    sock.sendall(UA * 10_000)


def noise(sock: socket.socket) -> None:
    silent(sock)
    sock.sendall(os.urandom(500))


def hang_up(sock: socket.socket) -> None:
    sock.recv(1000)
    raise ConnectionError


def run(port: int, directory: Path, *bodies: Callable[[Bench], None]) -> list[CaseResult]:
    """HDLC-01 as it is, and as these bodies have it."""
    profile = parse_profile(PROFILE.format(port=port), "thing.toml")
    campaign = Campaign(Options("thing.toml", profile, directory, keep_going=True))
    campaign.start()
    case = cases()["HDLC-01"]
    for body in bodies or (body_of(case.function, case.options),):
        campaign.run_case(case.purpose, body)
    return campaign.finish().cases


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [(silent, "received: nothing"), (noise, "LAPB UA"), (flood, "flooded side A")],
)
def test_what_is_no_router_fails(
    behaviour: Callable[[socket.socket], None], why: str, tmp_path: Path
) -> None:
    with thing(behaviour) as port:
        (result,) = run(port, tmp_path)
    assert result.verdict is Verdict.FAIL, result.reason
    assert why in result.reason


def test_a_line_that_ends_is_opened_again_for_the_next_case(tmp_path: Path) -> None:
    with thing(hang_up) as port:
        results = run(port, tmp_path, *[body_of(cases()["HDLC-01"].function, {})] * 3)
    assert len(results) == 3
    for result in results:
        assert result.verdict is Verdict.FAIL
        assert "expected LAPB UA" in result.reason


def test_a_line_that_cannot_be_opened_again_is_inconclusive(tmp_path: Path) -> None:
    with thing(hang_up) as port:

        def last_words(bench: Bench) -> None:
            line = bench.line()
            line.send(LapbSABM(p_f=1))
            line.expect(LapbUA(p_f=1))

        profile = parse_profile(PROFILE.format(port=port), "thing.toml")
        campaign = Campaign(Options("thing.toml", profile, tmp_path, keep_going=True))
        campaign.start()
        case = cases()["HDLC-01"]
        campaign.run_case(case.purpose, last_words)
    campaign.run_case(case.purpose, body_of(case.function, case.options))
    first, second = campaign.finish().cases
    assert first.verdict is Verdict.FAIL
    assert second.verdict is Verdict.INCONCLUSIVE
    assert second.reason.startswith("line.a is not there: ")


def test_a_dead_tap_is_an_error_that_says_so(tmp_path: Path) -> None:
    def kill_the_tap(bench: Bench) -> None:
        line = bench.line()
        line.send(LapbSABM(p_f=1))
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (process / "cmdline").read_bytes().split(b"\0")
                parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
                if b"x25shark.evidence.tap" in words and int(parent) == os.getpid():
                    os.kill(int(process.name), signal.SIGKILL)
        line.expect(LapbUA(p_f=1))

    case = cases()["HDLC-01"]
    with thing(silent) as port:
        results = run(port, tmp_path, kill_the_tap, body_of(case.function, case.options))
    for result in results:
        assert result.verdict is Verdict.ERROR
        assert result.reason.startswith("the tap of line.a ended: it ended")


def test_a_line_that_is_not_there_says_where(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    with pytest.raises(CampaignError, match=rf"line.a at 127.0.0.1:{port}: connection refused"):
        run(port, tmp_path)


def test_a_line_that_a_router_opens_late_is_waited_for(tmp_path: Path) -> None:
    """A command of the profile has just started it."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    late = tmp_path / "late.py"
    late.write_text(
        "import socket, time\n"
        "time.sleep(1)\n"
        f"connection, _ = socket.create_server(('127.0.0.1', {port})).accept()\n"
        "while connection.recv(1000): pass\n"
    )
    control = (
        f"[control]\nstart = '{sys.executable} {late} >/dev/null 2>&1 & echo $! >{tmp_path}/pid'\n"
        f"stop = 'kill $(cat {tmp_path}/pid)'\n"
    )
    profile = parse_profile(PROFILE.format(port=port) + control, "thing.toml")
    campaign = Campaign(Options("thing.toml", profile, tmp_path / "r"))
    campaign.start()
    assert campaign.finish().cases == []
