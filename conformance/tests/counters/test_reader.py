# SPDX-License-Identifier: GPL-2.0-or-later
"""A router that answers slowly, with something else, or not at all gets one line that says so."""

from __future__ import annotations

import socket
import threading

import pytest
from x25shark.counters.reader import ReadError, Reading
from x25shark.counters.readers.http_json import MOST_VALUES
from x25shark.counters.readers.over_http import LONGEST

from .page_server import Answer, page, raw, serving


def test_a_page_is_read() -> None:
    with serving(page({"xot": {"calls.in": 3}})) as server:
        assert Reading(server.url, 5.0).wait() == {"xot": {"calls.in": 3}}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (raw(b"{"), "is not JSON"),
        (raw(b""), "is not JSON"),
        (raw(b"\xff\xfe\x00"), "is not JSON"),
        (raw(b"[" * 200_000), "is not JSON"),
        (raw(b"[" + b"{}," * MOST_VALUES + b"{}]"), f"more than {MOST_VALUES} values"),
        (page({}, "503 Service Unavailable"), "status 503"),
        (page({}, "302 Found"), "status 302"),
        (raw(b" " * (LONGEST + 10)), f"more than {LONGEST} octets"),
        (raw(b"{}", length=100), "shorter than its Content-Length"),
        ([b"\x00\x01\x02 what\x1b[2J\r\n\r\n"], "no answer"),
        ([b"HTTP/1.0 200 OK\r\n" + b"X: y\r\n" * 5000 + b"\r\n{}"], "no answer"),
        ([], "no answer"),
    ],
)
def test_what_is_no_page(answer: Answer, message: str) -> None:
    with serving(answer) as server, pytest.raises(ReadError) as raised:
        Reading(server.url, 20.0).wait()
    said = str(raised.value)
    assert message in said
    assert server.url in said
    assert said.isprintable()


def test_a_number_that_is_too_large_spoils_no_other() -> None:
    page_of_both = b'{"calls": 3, "huge": ' + b"9" * 100_000 + b', "low": -' + b"9" * 5_000 + b"}"
    with serving(raw(page_of_both)) as server:
        document = Reading(server.url, 20.0).wait()
    assert document == {"calls": 3, "huge": float("inf"), "low": -float("inf")}


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [[b"HTTP/1.0 200 OK\r\n", 60.0]],
        [[b"HTTP/1.0 200 OK\r\nContent-Length: 500\r\n\r\n", *[b" ", 0.05] * 2000]],
    ],
)
def test_who_takes_too_long_is_given_up(answers: list[Answer]) -> None:
    before = threading.active_count()
    in_vain = pytest.raises(ReadError, match=r"no whole answer within 0\.3 s")
    with serving(*answers) as server, in_vain:
        Reading(server.url, 0.3).wait()
    for thread in threading.enumerate():
        if thread.name == "counters":
            thread.join(20)
    assert threading.active_count() <= before


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ReadError, match="no answer: Connection refused"):
        Reading(f"http://127.0.0.1:{port}/", 5.0).wait()


def test_done_is_told() -> None:
    told = threading.Event()
    with serving(page([])) as server:
        reading = Reading(server.url, 5.0, told.set)
        assert told.wait(20)
        assert reading.done
        assert reading.result() == []
