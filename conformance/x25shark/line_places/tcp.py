# SPDX-License-Identifier: GPL-2.0-or-later
"""A serial line whose octets go over a TCP connection."""

from __future__ import annotations

import socket

from ..endpoints import endpoint

KEY = "tcp"
TYPE = tuple[str, int]
EXAMPLE = '"192.0.2.1:2001"'
WORDS = "the tester opens a TCP connection to there, for the octets of the line"
WHOLE_FRAMES = False

_SECONDS = 5.0
read = endpoint


def connect(place: tuple[str, int]) -> int:
    # detach() leaves the descriptor open when the socket object goes.
    with socket.create_connection((place[0], place[1]), _SECONDS) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(False)
        return sock.detach()


def host(place: tuple[str, int]) -> str | None:
    return place[0]
