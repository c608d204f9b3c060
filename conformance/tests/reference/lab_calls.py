# SPDX-License-Identifier: GPL-2.0-or-later
"""A route and a call through the sockets of the router, as several tests begin with."""

from typing import Any

#: Called 2100001, calling 3100001, packet size 128, window 2.
CALL = "10010b772100001310000106420707430202"


def route(listener: Any, model: str, extra: str = "") -> str:
    return f'model = "{model}"\n[[route]]\nprefix = "21"\nto = "{listener.address}"\n{extra}'


def set_up(router: Any, listener: Any, accept: str = "10010f") -> tuple[Any, Any]:
    """A call from A to B."""
    a = router.connect()
    a.send(CALL)
    b = listener.accept()
    call = b.receive()
    assert call[4:] == CALL[4:]
    b.send(accept)
    assert a.receive()[4:6] == "0f"
    return a, b
