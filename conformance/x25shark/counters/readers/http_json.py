# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters as one JSON document, over HTTP: expvar and its like.

The router may be slow, silent or hostile: an answer has at most LONGEST octets and MOST_VALUES
values, and a number of more digits than any counter has is one that is too large (infinity).
"""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from ...foreign import parse_trouble, values_in
from .errors import ReadError, printable

NAME = "http-json"
WORDS = "JSON over HTTP"
EXAMPLE = "http://127.0.0.1:8080/debug/vars"
LONGEST = 4 << 20
# The smallest values take a hundred octets of memory for three of the answer.
MOST_VALUES = 200_000
_MOST_DIGITS = 1000


def check(url: str) -> None:
    """Raises ValueError for what cannot be read."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(f"{url!r} is not a URL") from None
    if parts.scheme != "http" or not parts.hostname or parts.username or parts.password:
        raise ValueError(f'{url!r}: must be like "{EXAMPLE}"')
    if port == 0 or any(not 32 < ord(c) < 127 for c in url):
        raise ValueError(f"{url!r} is not a URL that can be read")


def host(url: str) -> str:
    return urlsplit(url).hostname or ""


def read(url: str, seconds: float, opened: Callable[[socket.socket], None]) -> Any:
    """The document. Raises ReadError, TimeoutError, OSError or ValueError."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=seconds)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.connect()
        opened(connection.sock)
        connection.request("GET", target, headers={"Accept": "application/json"})
        answer = connection.getresponse()
        if answer.status != http.client.OK:
            raise ReadError(f"status {answer.status} instead of 200")
        body = answer.read(LONGEST + 1)
        if len(body) > LONGEST:
            raise ReadError(f"the answer has more than {LONGEST} octets")
        if answer.length:
            raise ReadError("the answer is shorter than its Content-Length says")
        return decode(body)
    except http.client.HTTPException as error:
        raise ReadError(f"no answer: {printable(error)}") from None
    finally:
        connection.close()


def decode(body: bytes) -> Any:
    """A JSON document. Raises ReadError."""
    if values_in(body) > MOST_VALUES:
        raise ReadError(f"the answer has more than {MOST_VALUES} values")
    try:
        return json.loads(body, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"the answer is not JSON: {parse_trouble(error)}") from None


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)
