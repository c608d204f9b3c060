# SPDX-License-Identifier: GPL-2.0-or-later
"""GET over HTTP, for the readers whose router answers it.

The router may be slow, silent or hostile: an answer has at most LONGEST octets.
"""

from __future__ import annotations

import http.client
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from .errors import ReadError, printable

LONGEST = 4 << 20


def check(url: str, example: str) -> None:
    """Raises ValueError for what cannot be read, and names an example."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(f"{url!r} is not a URL") from None
    if parts.scheme != "http" or not parts.hostname or parts.username or parts.password:
        raise ValueError(f'{url!r}: must be like "{example}"')
    if port == 0 or any(not 32 < ord(c) < 127 for c in url):
        raise ValueError(f"{url!r} is not a URL that can be read")


def host(url: str) -> str:
    """The machine that a URL leads to."""
    return urlsplit(url).hostname or ""


def fetch(
    url: str, seconds: float, opened: Callable[[socket.socket], None], media_type: str
) -> bytes:
    """The octets of the answer, whole. Raises ReadError, TimeoutError, OSError or ValueError."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=seconds)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.connect()
        opened(connection.sock)
        connection.request("GET", target, headers={"Accept": media_type})
        answer = connection.getresponse()
        if answer.status != http.client.OK:
            raise ReadError(f"status {answer.status} instead of 200")
        body = answer.read(LONGEST + 1)
        if len(body) > LONGEST:
            raise ReadError(f"the answer has more than {LONGEST} octets")
        if answer.length:
            raise ReadError("the answer is shorter than its Content-Length says")
        return body
    except http.client.HTTPException as error:
        raise ReadError(f"no answer: {printable(error)}") from None
    finally:
        connection.close()
