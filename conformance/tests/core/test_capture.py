# SPDX-License-Identifier: GPL-2.0-or-later
"""What dumpcap is asked for: the conversations of this run and nobody else's."""

from __future__ import annotations

import socket

import pytest
from x25shark.evidence.capture import Capture
from x25shark.evidence.slicer import Slicer
from x25shark.run.rights import may_capture

KEY = bytes(range(32))


def converse(listener: socket.socket, source: str) -> None:
    """One connection from an address to a listener, opened and closed."""
    with socket.create_connection(listener.getsockname(), 10, (source, 0)):
        listener.accept()[0].close()


def test_a_neighbour_on_the_same_port_is_not_captured() -> None:
    """Two testers of one machine, each with a router: neither sees the other's packets."""
    if not may_capture():
        pytest.skip("this user may not capture")
    with socket.create_server(("127.0.91.1", 0)) as router:
        port = router.getsockname()[1]
        with socket.create_server(("127.0.92.1", port)) as neighbour:
            slicer = Slicer(KEY, lambda _slice: None)
            capture = Capture(KEY, slicer, "lo", [port], hosts=["127.0.91.2", "127.0.91.3"])
            capture.launch()
            capture.begun()
            try:
                converse(neighbour, "127.0.92.2")
                converse(router, "127.0.91.3")
            finally:
                capture.stop()
    assert slicer.stray_count
    assert all("127.0.91.3" in stray for stray in slicer.strays)
