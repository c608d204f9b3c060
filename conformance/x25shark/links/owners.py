# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose a TCP connection is that comes from this machine.

Other users of the machine may connect to the tester's side B as well as the router may. Linux tells
whom a socket belongs to (sock_diag(7)). A connection from another machine is not looked at.
"""

from __future__ import annotations

import socket
import struct

Address = tuple[str, int]

_NOBODY = ("0.0.0.0", 0)
# linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h: the header of a message; what is asked for
# (family, protocol, extensions, states); the ends of a socket (ports and addresses in network
# order, interface, cookie); and where an answer holds user and inode.
_SOCK_DIAG, _BY_FAMILY, _ASKED = 4, 20, 1
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI")
_ENDS = struct.Struct("!HH16s16sI8s")
_ANY_COOKIE = b"\xff" * 8
_OWNER = struct.Struct("=II")
_OWNER_AT = _HEADER.size + 4 + _ENDS.size + 12


class Owners:
    """Tells the connections of the router from those of strangers.

    ours: the router is a process that the tester started, so it belongs to the tester's user.
    """

    def __init__(self, router: Address, user: int, *, ours: bool) -> None:
        self._router = router
        self._user = user
        self._ours = ours
        self._others = False

    def stranger(self, listener: Address, remote: Address) -> bool:
        """Whether a connection that was accepted there is certain not to be the router's.

        Where the system does not say whose it is (the socket is closed already), it may be; but not
        any more once somebody else has connected.
        """
        strange = self._strange(listener, remote)
        self._others = self._others or strange
        return strange

    def _strange(self, listener: Address, remote: Address) -> bool:
        if not _is_here(remote[0]):
            return False
        if not _is_here(self._router[0]):
            return True
        owner = _owner(remote, listener)
        if owner is None:
            return self._others
        if owner in (0, self._user):
            return False
        if self._ours:
            return True
        router = _owner(self._router, _NOBODY)
        # A router that was started by root may have become any other user since.
        return router not in (None, 0, owner)


def _is_here(host: str) -> bool:
    """Whether an IPv4 address is one of this machine."""
    if host.startswith("127."):
        return True
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.bind((host, 0))
        except OSError:
            return False
    return True


def _owner(local: Address, remote: Address) -> int | None:
    """The user of the TCP socket with these ends, or of the one that listens at the first.

    None if there is none, if nobody has it open any more, or if the system does not say.
    """
    ends = _ENDS.pack(local[1], remote[1], _octets(local), _octets(remote), 0, _ANY_COOKIE)
    request = _REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0xFFFFFFFF) + ends
    header = _HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _ASKED, 1, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as sock:
            sock.send(header + request)
            answer = sock.recv(4096)
    except OSError:
        return None
    if len(answer) < _OWNER_AT + _OWNER.size or _HEADER.unpack_from(answer)[1] != _BY_FAMILY:
        return None
    user, inode = _OWNER.unpack_from(answer, _OWNER_AT)
    return int(user) if inode else None


def _octets(address: Address) -> bytes:
    return socket.inet_aton(address[0])
