# SPDX-License-Identifier: GPL-2.0-or-later
"""A router's counter page that answers as it is told: well, slowly, in pieces, or not at all."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

# One answer: parts that are sent one after another; a number is a pause in seconds.
Answer = list[bytes | float]


def page(content: Any, status: str = "200 OK") -> Answer:
    """A whole answer with this content as JSON."""
    return raw(json.dumps(content).encode(), status)


def raw(body: bytes, status: str = "200 OK", length: int | None = None) -> Answer:
    """A whole answer with this body."""
    announced = len(body) if length is None else length
    return [f"HTTP/1.0 {status}\r\nContent-Length: {announced}\r\n\r\n".encode() + body]


class PageServer:
    """Gives its answers in turn, the last one for ever. Without answers it never says anything."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self._over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.asked = 0
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/vars"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        kept = []
        while not self._over.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            kept.append(connection)
            with contextlib.suppress(OSError):
                connection.recv(4096)
                self._answer(connection)
            if self._answers:
                connection.close()

    def _answer(self, connection: socket.socket) -> None:
        if not self._answers:
            return
        answer = self._answers[min(self.asked, len(self._answers) - 1)]
        self.asked += 1
        for part in answer:
            if isinstance(part, float):
                self._over.wait(part)
            else:
                connection.sendall(part)

    def close(self) -> None:
        self._over.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(10)


@contextlib.contextmanager
def serving(*answers: Answer) -> Iterator[PageServer]:
    """A server while the block runs."""
    server = PageServer(*answers)
    try:
        yield server
    finally:
        server.close()
