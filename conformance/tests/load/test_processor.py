# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU and memory of a router: of a process here, or as its counters page says."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from x25shark.counters.settings import Counters
from x25shark.load.processor import CpuMeter, Usage, page_usage


@contextmanager
def page(content: Any) -> Iterator[str]:
    """Where a page shows this as JSON."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(content).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize(
    ("shown", "usage"),
    [
        ({"process": {"cpu": 1.25, "rss": 4096}}, (1.25, 4096.0)),
        ({"process": {"cpu": "1.25", "rss": 4096}}, (1.25, 4096.0)),
        ({"process": {"cpu": [1], "rss": "many"}}, (None, None)),
        ({"process": {"cpu": -1, "rss": float("inf")}}, (None, None)),
        ({"process": {"cpu": True}}, (None, None)),
        ({}, (None, None)),
    ],
)
def test_a_page_says_what_the_router_uses(shown: dict[str, Any], usage: Usage) -> None:
    named = {"machine": {"cpu_seconds": "process.cpu", "memory_octets": "process.rss"}}
    with page(shown) as url:
        assert page_usage(Counters.model_validate(named), url) == usage


def test_a_page_that_is_not_there_says_nothing() -> None:
    named = Counters.model_validate({"machine": {"cpu_seconds": "process.cpu"}})
    assert page_usage(named, "http://127.0.0.1:1/") == (None, None)


def test_a_router_elsewhere_takes_nothing_of_this_machine() -> None:
    readings = iter([(2.0, 100.0), (3.5, 200.0)])
    meter = CpuMeter(None, lambda: next(readings))
    meter.start()
    used = meter.stop()
    assert (used["router_seconds"], used["router_octets"]) == (1.5, 200.0)
    assert used["local_seconds"] is None


def test_a_process_of_this_machine_is_looked_at_itself() -> None:
    meter = CpuMeter(os.getpid(), lambda: pytest.fail("nobody has to ask it"))
    meter.start()
    used = meter.stop()
    assert used["router_seconds"] == used["local_seconds"]
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    assert used["router_octets"] == pytest.approx(resident, rel=0.5)
