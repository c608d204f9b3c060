# SPDX-License-Identifier: GPL-2.0-or-later
"""An own user and network namespace for this process (user_namespaces(7)).

In it an ordinary user may capture, and all of 127.0.0.0/8 is free. The process moves itself, so
that the same works for the x25shark command and for plain pytest. It must have one thread only.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from pathlib import Path

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


class NamespaceError(Exception):
    """No own namespace; the message says why and what to do."""


# Processes that have entered one: this one, or those that it was forked from.
_entered: set[int] = set()


def enter_own() -> None:
    """Move this process into a new network namespace (as root: without a user namespace).

    Once is enough: what it has set up there stays within reach. Raises NamespaceError, and then
    nothing has changed.
    """
    if os.getpid() in _entered:
        return
    try_out()
    _enter()
    _entered.add(os.getpid())


def try_out() -> None:
    """Enter one in a child: some systems give a namespace in which nothing is allowed.

    Raises NamespaceError.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _enter()
        except (NamespaceError, OSError) as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        why = pipe.read().decode("utf-8", "replace")
    os.waitpid(child, 0)
    if why:
        raise NamespaceError(why)


def _enter() -> None:
    uid, gid = os.getuid(), os.getgid()
    flags = _CLONE_NEWNET if os.geteuid() == 0 else _CLONE_NEWUSER | _CLONE_NEWNET
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) != 0:
        why = os.strerror(ctypes.get_errno())
        raise NamespaceError(
            f"cannot make a network namespace: {why}. Run as root, or allow user namespaces "
            "(Ubuntu: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0; anywhere: "
            "user.max_user_namespaces and user.max_net_namespaces above 0)"
        )
    if flags & _CLONE_NEWUSER:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    _loopback_up()


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(sock, _SIOCGIFFLAGS, request))[1]
        request = struct.pack("16sh14x", b"lo", flags | _IFF_UP)
        fcntl.ioctl(sock, _SIOCSIFFLAGS, request)
