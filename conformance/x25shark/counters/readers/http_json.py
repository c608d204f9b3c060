# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters as one JSON document, over HTTP: expvar and its like.

The router may be hostile: a document has at most MOST_VALUES values, and a number of more digits
than any counter has is one that is too large (infinity).
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

from ...foreign import parse_trouble, values_in
from . import over_http
from .errors import ReadError

NAME = "http-json"
WORDS = "JSON over HTTP"
EXAMPLE = "http://127.0.0.1:8080/debug/vars"
# The smallest values take a hundred octets of memory for three of the answer.
MOST_VALUES = 200_000
_MOST_DIGITS = 1000
host = over_http.host


def check(url: str) -> None:
    over_http.check(url, EXAMPLE)


def read(url: str, seconds: float, opened: Callable[[socket.socket], None]) -> Any:
    return decode(over_http.fetch(url, seconds, opened, "application/json"))


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
