# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses that this machine must have: those that it has not, and what to type."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterable

from .xot import LinkError


def _is_own(address: str) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        try:
            sock.bind((address, 0))
        except OSError as error:
            return error.errno != errno.EADDRNOTAVAIL
    return True


def demand(addresses: Iterable[str], router: str) -> None:
    """Raises LinkError if this machine lacks one of these IPv4 addresses, naming all it lacks."""
    missing = [address for address in dict.fromkeys(addresses) if not _is_own(address)]
    if missing:
        commands = "; ".join(f"sudo ip addr add {address}/32 dev DEVICE" for address in missing)
        raise LinkError(
            f"not an address of this machine: {', '.join(missing)}. To add: {commands} "
            f"(DEVICE is the interface towards the router: ip route get {router})"
        )
