# SPDX-License-Identifier: GPL-2.0-or-later
"""An address and port as profiles write them. Imports nothing of ours."""

from __future__ import annotations

import ipaddress
import re
from typing import Any

XOT_PORT = 1998


def endpoint(value: Any) -> Any:
    """ "192.0.2.1" or "192.0.2.1:1998" as (address, port). Raises ValueError."""
    if isinstance(value, tuple):
        return value
    if not isinstance(value, str):
        raise ValueError('must be text such as "192.0.2.1" or "192.0.2.1:1998"')
    match = re.fullmatch(r"([0-9.]+)(?::(\d{1,5}))?", value)
    try:
        if not match:
            raise ValueError
        address = str(ipaddress.IPv4Address(match[1]))
        port = int(match[2] or XOT_PORT)
        if not 0 < port < 65536:
            raise ValueError
    except ValueError:
        raise ValueError(
            f'{value!r} is not an IPv4 address with or without a port, such as "192.0.2.1:1998"'
        ) from None
    return (address, port)
