# SPDX-License-Identifier: GPL-2.0-or-later
"""The counters over HTTP/1.0: GET / returns one JSON object. Nothing else is served."""

import json
import selectors
import socket
from collections.abc import Callable
from typing import Any

from .environment import Host

#: Longest request that is read, and seconds that it may take.
REQUEST_LONGEST = 4096
REQUEST_TIME = 10.0


class Exchange:
    """One request and its answer."""

    def __init__(
        self, server: Host, sock: socket.socket, content: Callable[[], dict[str, Any]]
    ) -> None:
        self.server = server
        self.socket = sock
        self.content = content
        self.request = b""
        self.answer = b""
        self._events = 0
        sock.setblocking(False)
        self._timer = server.timers.start(REQUEST_TIME, self.close)
        self.watch(selectors.EVENT_READ)

    def watch(self, events: int) -> None:
        self._events = self.server.watch(self.socket, self._events, events, self.ready)

    def ready(self, events: int) -> None:
        try:
            if events & selectors.EVENT_READ:
                self.read()
            elif events & selectors.EVENT_WRITE:
                self.write()
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self.close()

    def read(self) -> None:
        octets = self.socket.recv(REQUEST_LONGEST)
        self.request += octets
        if b"\r\n\r\n" in self.request or b"\n\n" in self.request:
            self.answer = respond(self.request, self.content)
            self.watch(selectors.EVENT_WRITE)
        elif not octets or len(self.request) > REQUEST_LONGEST:
            self.close()

    def write(self) -> None:
        sent = self.socket.send(self.answer)
        self.answer = self.answer[sent:]
        if not self.answer:
            self.close()

    def close(self) -> None:
        self._timer.cancel()
        self.watch(0)
        self.socket.close()


def respond(request: bytes, content: Callable[[], dict[str, Any]]) -> bytes:
    """The answer to a request."""
    words = request.split(b"\n", 1)[0].split()
    if len(words) < 2 or words[0] not in (b"GET", b"HEAD"):
        return message("405 Method Not Allowed", {"error": "only GET is served"})
    if words[1].split(b"?")[0] != b"/":
        return message("404 Not Found", {"error": "the counters are at /"})
    return message("200 OK", content(), head_only=words[0] == b"HEAD")


def message(status: str, content: dict[str, Any], head_only: bool = False) -> bytes:
    body = json.dumps(content, indent=1).encode() + b"\n"
    head = (
        f"HTTP/1.0 {status}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (b"" if head_only else body)


def serve(server: Host, sock: socket.socket, content: Callable[[], dict[str, Any]]) -> Exchange:
    """Take a request from a connection."""
    return Exchange(server, sock, content)
