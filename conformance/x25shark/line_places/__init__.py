# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the octets of a serial line may be: a module for each way, and the list of them.

A new way is a module with what Way names, and its name in _MODULES: the profile has its key then,
its document the words, and the tap of a line opens it. The modules are loaded in the process of the
tap as well, so they import nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast, runtime_checkable


@runtime_checkable
class Way(Protocol):
    """One way to a line. KEY, TYPE, EXAMPLE: the key in [line.a], the type of its value, and one.

    WORDS: what the key means, for docs/profile.md. WHOLE_FRAMES: it hands on what stands between
    two flags, FCS included, and nothing else of a line (a datagram for each frame): no abort, flag
    or bit besides, so that a case that sends such a thing does not apply, and framing = "bit" is
    refused. read() checks the key's value, as TOML has it or as read() has returned it before, and
    returns what connect() takes, by way of JSON (a tuple comes as a list); raises ValueError.
    connect() may take seconds, and returns a descriptor that does not block, for os.read() and
    os.write() of up to 65,536 octets of the line, cut anywhere; b"" means that the line has ended.
    It may be called again while what it returned before is open. Raises OSError with an errno,
    whose words the user sees; where nobody can be found out to listen, the first case says so.
    host(): the IPv4 address to which it leads, or None for this machine.
    """

    KEY: str
    TYPE: Any
    EXAMPLE: str
    WORDS: str
    WHOLE_FRAMES: bool

    def read(self, value: Any, /) -> Any: ...
    def connect(self, place: Any, /) -> int: ...
    def host(self, place: Any, /) -> str | None: ...


#: In the order in which a message names them.
_MODULES = ("tcp", "pty")
WAYS = tuple(cast(Way, import_module(f"{__name__}.{module}")) for module in _MODULES)
BY_KEY = {way.KEY: way for way in WAYS}
