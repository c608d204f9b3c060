# SPDX-License-Identifier: GPL-2.0-or-later
"""Another user of the machine who forges markers and connects to the tester's sides.

    python co_user.py x25shark-arguments...

In a network namespace of its own, as root: the user is nobody, the tester root.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import sys
import time
from pathlib import Path

from x25shark.evidence.slicer import BEGIN, END, PROBE, marker
from x25shark.run.namespaces import enter_own

NOBODY = 65534
SIDES = [("127.0.25.2", 1998), ("127.0.25.3", 1998)]
# XOT and a Call Request, and what is none of either.
OCTETS = [bytes.fromhex("0000000610010b212103"), b"\0\0\xff\xff", b""]


def ports() -> list[int]:
    """The UDP ports that somebody has."""
    lines = Path("/proc/net/udp").read_text().splitlines()[1:]
    return [int(line.split()[1].partition(":")[2], 16) for line in lines]


def forge() -> None:
    """Until it is killed."""
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    number, open_yet = 0, []
    while True:
        number += 1
        for port in ports():
            for kind in (BEGIN, END, PROBE):
                for payload in (
                    marker(bytes(32), kind, number % 50),
                    b"x25shark" + bytes(16) + struct.pack("!BI", kind, number % 50),
                ):
                    with contextlib.suppress(OSError):
                        datagrams.sendto(payload, ("127.0.0.1", port))
        for side in SIDES:
            with contextlib.suppress(OSError):
                sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                sock.settimeout(0.2)
                sock.connect(side)
                sock.sendall(OCTETS[number % len(OCTETS)])
                open_yet.append(sock)
        for sock in open_yet[:-6]:
            sock.close()
        del open_yet[:-6]
        # Often, but not so often that the kernel has no room for the router's calls.
        time.sleep(0.03)


def main() -> None:
    """The command, with the other user beside it."""
    enter_own()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        with contextlib.suppress(KeyboardInterrupt):
            forge()
        os._exit(0)
    from x25shark.cli import main as command

    try:
        command(sys.argv[1:], prog_name="x25shark")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
