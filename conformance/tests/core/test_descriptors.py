# SPDX-License-Identifier: GPL-2.0-or-later
"""A tester that is short of descriptors blames no router, and has as many as it may."""

from __future__ import annotations

import errno
import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from x25shark.links import xot
from x25shark.links.loop import Loop
from x25shark.profile import load_profile
from x25shark.run import descriptors
from x25shark.run.liveness import CASES_IN_A_ROW
from x25shark.run.router import Router

from .conftest import environment
from .test_hooks import own_profile

NO_ROOM = "the tester has no room for another connection: Too many open files (ulimit -Hn)"


@pytest.mark.usefixtures("namespaces")
def test_a_case_without_a_descriptor_is_an_error_of_the_tester(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("run_short.py")), str(tmp_path)],
        env=environment(), capture_output=True, text=True, check=False, timeout=180,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    short = [["ERROR", NO_ROOM]] * CASES_IN_A_ROW
    assert json.loads(done.stdout) == [4, [*short, ["PASS", ""]]]


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ECONNABORTED])
def test_what_keeps_a_connection_waiting_is_noted_until_the_next_case(number: int) -> None:
    def accept() -> None:
        raise OSError(number, os.strerror(number))

    loop = Loop()
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    listener = xot.Listener(loop, address)
    listener._sock.close()
    listener._sock = SimpleNamespace(accept=accept)  # type: ignore[assignment]
    assert not listener._accept()
    assert bool(loop.shortage) is (number != errno.ECONNABORTED)
    loop.begin_case()
    assert not loop.shortage


def test_the_tester_takes_what_it_may_have_and_the_router_what_was_given(tmp_path: Path) -> None:
    path = own_profile(tmp_path, f"ulimit -S -n > {tmp_path}/said", "true")
    given = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(given[0], 100), given[1]))
    try:
        descriptors.take()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 100
        Router(load_profile(str(path)), tmp_path / "router.log").start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, given)
    assert int((tmp_path / "said").read_text()) == descriptors._given[0]
