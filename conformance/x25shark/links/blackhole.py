# SPDX-License-Identifier: GPL-2.0-or-later
"""Sockets that do not answer, as if their host were gone (Linux).

A socket filter that keeps no octet of any packet is asked before TCP sees a segment: a listening
socket then leaves a SYN unanswered, a connection acknowledges nothing and answers no keepalive
probe. The capture sees all of it. No privilege is needed.
"""

from __future__ import annotations

import ctypes
import socket
import struct
import sys

# <asm-generic/socket.h>; Python has no names for them.
_SO_ATTACH_FILTER = 26
_SO_DETACH_FILTER = 27
# struct sock_filter: BPF_RET | BPF_K, 0, 0, 0 octets are kept.
_KEEP_NOTHING = struct.pack("HBBI", 0x06, 0, 0, 0)


def enter(sock: socket.socket) -> None:
    """From now on nothing reaches this socket. Raises OSError where that is not possible."""
    if not sys.platform.startswith("linux"):
        raise OSError("a socket that does not answer needs Linux")
    program = ctypes.create_string_buffer(_KEEP_NOTHING)
    # struct sock_fprog: number of instructions, and where they are.
    sock.setsockopt(
        socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(program))
    )


def leave(sock: socket.socket) -> None:
    """The socket is as any other again."""
    sock.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)
