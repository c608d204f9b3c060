# SPDX-License-Identifier: GPL-2.0-or-later
"""How a router's counters are read: a module for each way, and the list of them.

    over_http    what readers over HTTP share
    errors       what a reader raises

A new way is a module with what Reader names, and its name in _MODULES: `reader` in [counters] takes
it then. It makes of what it reads a document as JSON has it (objects, lists, numbers, texts); paths
of [counters.names] lead into that. What tells interfaces apart is to be the outermost level: the
roots of [counters] are put before the names. So a reader of flat names with the interface in front
(s0.calls_in) takes that off and puts it above; names without one stay flat, and paths quote those
with dots. The reader bounds octets, values and digits.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, cast, runtime_checkable

from .errors import ReadError

__all__ = ["BY_NAME", "READERS", "ReadError", "Reader"]


@runtime_checkable
class Reader(Protocol):
    """One way to read counters. NAME: in a profile. WORDS: what it is. EXAMPLE: a url for it.

    check() raises ValueError for a url that it cannot read. host(): the machine it leads to;
    "localhost" for what is on this one without an address, such as a file.
    read() returns the document, within so many seconds; opened is to be told of its socket, if it
    has one, so that it can be given up. Raises ReadError, TimeoutError, OSError or ValueError.
    """

    NAME: str
    WORDS: str
    EXAMPLE: str

    def check(self, url: str, /) -> None: ...
    def host(self, url: str, /) -> str: ...
    def read(self, url: str, seconds: float, opened: Callable[[socket.socket], None], /) -> Any: ...


_MODULES = ("http_json",)
READERS = tuple(cast(Reader, import_module(f"{__name__}.{module}")) for module in _MODULES)
BY_NAME = {reader.NAME: reader for reader in READERS}
