# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts of an experiment: network namespaces with one TUN device each.

A namespace has no name in the file system and belongs to a process of its own, which ends with
the process that made it, however that ends (prctl(2), PR_SET_PDEATHSIG). The device belongs to the
namespace and to the descriptor. So nothing has to be taken away after Ctrl-C or kill -9, and
nothing of the machine's own network is touched.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface, ip_interface
from pathlib import Path
from typing import Any

from ..run.namespaces import NamespaceError, enter_own
from ..tied import tied

DEVICE = "x25"
TUN_PATH = "/dev/net/tun"
IPV6_LEAST = 1280
"""Least MTU that IPv6 works with (RFC 8200 5)."""
COUNTERS = (
    "Ip.InHdrErrors",
    "Icmp.InCsumErrors",
    "Udp.InCsumErrors",
    "Tcp.InCsumErrors",
    "Tcp.OutSegs",
    "Tcp.RetransSegs",
    "TcpExt.TCPTimeouts",
    "TcpExt.TCPSpuriousRTOs",
    "TcpExt.TCPFastRetrans",
    "TcpExt.TCPSlowStartRetrans",
    "TcpExt.TCPLossProbes",
    "TcpExt.TCPDSACKRecv",
    "TcpExt.TCPSACKReorder",
)
"""Of a host's kernel: what it found damaged, and what it sent again and why."""
_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
_PR_SET_PDEATHSIG = 1
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,15}")


class HostError(Exception):
    """No namespace or no device; the message says why and what to do."""


@dataclass(frozen=True)
class Link:
    """How a host reaches the other one.

    window: the TCP window that it announces, octets. circuits: how many deliver out of order.
    loses: the path loses datagrams as well.
    """

    address: str
    peer: str
    mtu: int
    window: int | None = None
    circuits: int = 1
    loses: bool = False


def open_tun(name: str = DEVICE) -> int:
    """The descriptor of a TUN device without packet information. Raises HostError."""
    if not _NAME.fullmatch(name):
        raise HostError(f"{name!r} is not the name of a network device")
    try:
        number = os.open(TUN_PATH, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise HostError(
            f"no TUN device: {TUN_PATH}: {error.strerror}. Run as root, or: "
            f"sudo modprobe tun; sudo chmod 0666 {TUN_PATH}"
        ) from None
    request = struct.pack("16sH14x", name.encode(), _IFF_TUN | _IFF_NO_PI)
    try:
        fcntl.ioctl(number, _TUNSETIFF, request)
    except OSError as error:
        os.close(number)
        raise HostError(
            f"no TUN device {name}: {error.strerror}. It needs root, or a device that is this "
            f"user's: sudo ip tuntap add {name} mode tun user $USER"
        ) from None
    return number


def program(name: str, package: str) -> str:
    """Where a program lies. Raises HostError with what to install."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin")
    if found is None:
        raise HostError(f"{name} is missing: sudo apt-get install {package}")
    return found


class Host:
    """A namespace with a configured TUN device; `tun` is its descriptor, of this process."""

    def __init__(self, link: Link) -> None:
        for name, package in (("ip", "iproute2"), ("nsenter", "util-linux")):
            program(name, package)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        uid = os.geteuid()
        self.pid = os.fork()
        if self.pid == 0:
            ours.close()
            _serve(link, theirs)
        theirs.close()
        self._ours = ours
        message, numbers, _, _ = socket.recv_fds(ours, 4096, 1)
        if not numbers:
            self.close()
            raise HostError(message.decode("utf-8", "replace") or "no namespace (its process died)")
        self.tun = numbers[0]
        user = ("-U", "--preserve-credentials") if uid != 0 else ()
        self.enter = (program("nsenter", "util-linux"), *user, "-n", "-t", str(self.pid), "--")

    def start(self, command: Sequence[str], **more: Any) -> subprocess.Popen[str]:
        """A program in the namespace; it ends with this process."""
        process: subprocess.Popen[str] = subprocess.Popen(
            [*tied("KILL"), *self.enter, *command], text=True, **more
        )
        return process

    def counters(self) -> dict[str, int]:
        """What the host's kernel has counted so far, as "Tcp.RetransSegs" (RFC 4022, 4293)."""
        found: dict[str, int] = {}
        for name in ("snmp", "netstat"):
            lines = Path(f"/proc/{self.pid}/net/{name}").read_text("ascii").splitlines()
            for names, values in zip(lines[::2], lines[1::2], strict=True):
                group, _, rest = names.partition(":")
                numbers = values.partition(":")[2].split()
                found |= {
                    f"{group}.{key}": int(number)
                    for key, number in zip(rest.split(), numbers, strict=True)
                    if f"{group}.{key}" in COUNTERS
                }
        return found

    def close(self) -> None:
        """The namespace ends with its process."""
        self._ours.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        if hasattr(self, "tun"):
            os.close(self.tun)
            del self.tun


@contextlib.contextmanager
def host(link: Link) -> Iterator[Host]:
    """A Host that is taken away at the end. Raises HostError."""
    made = Host(link)
    try:
        yield made
    finally:
        made.close()


def _serve(link: Link, theirs: socket.socket) -> None:
    """The life of a namespace's process: never returns."""
    try:
        # Its own interrupts are the business of the process that made it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            enter_own()
            number = open_tun()
            _configure(link)
            socket.send_fds(theirs, [b"ready"], [number])
        except (HostError, NamespaceError) as error:
            theirs.send(str(error).encode()[:4000])
            os._exit(1)
        os.close(number)
        theirs.recv(1)  # until the other end is closed
    finally:
        os._exit(0)


def _configure(link: Link) -> None:
    own, peer = ip_interface(link.address), ip_interface(link.peer)
    if Path("/proc/net/if_inet6").exists():
        # No addresses by itself, no routers looked for: the line carries what programs send.
        _ip("link", "set", "dev", DEVICE, "addrgenmode", "none")
    elif own.version == 6:
        raise HostError("this kernel has no IPv6")
    _ip("link", "set", "dev", DEVICE, "mtu", str(link.mtu), "up")
    _tcp(link)
    more = ("window", str(link.window)) if link.window else ()
    _address(own)
    _ip("route", "replace", str(peer.network), "dev", DEVICE, *more)


def _tcp(link: Link) -> None:
    """What the hosts' TCP is told of the path: nothing where the link says nothing of it."""
    settings: dict[str, str] = {}
    if link.window:
        # A program that has written all waits for an answer, and not for as long as a large send
        # buffer takes to empty. Twice the window, as the kernel counts what it needs itself as
        # well: with less, the buffer would be the limit and not the window.
        # Reno is in every kernel, and the only one that a machine may not have replaced.
        settings["tcp_congestion_control"] = "reno"
        settings["tcp_wmem"] = f"4096 {2 * link.window} {2 * link.window}"
    if link.circuits > 1:
        # Several circuits deliver out of order, by a datagram each at most. Linux takes three for a
        # loss and sends again some 10 % for nothing. With SACK, which hosts of 1987 did not have,
        # it goes by time instead (RACK), and from Linux 6.17 on it cannot be told otherwise.
        # Where datagrams are lost, doing without it costs far more.
        settings["tcp_reordering"] = str(3 + link.circuits)
        if not link.loses:
            settings["tcp_sack"] = "0"
    if link.loses:
        # A network that is away for a while now and then: a connection lasts as long as the
        # transfer is given, and its end does not wait for two minutes when the network is back.
        # Longer than a full window takes on one circuit. Linux has the latter from 6.15 on.
        settings["tcp_keepalive_probes"] = "127"
        settings["tcp_rto_max_ms"] = "30000"
    for name, value in settings.items():
        # Where this is not allowed (some containers), figures are lower, and so is their ratio to
        # the model.
        with contextlib.suppress(OSError):
            Path("/proc/sys/net/ipv4", name).write_text(value)


def _address(own: IPv4Interface | IPv6Interface) -> None:
    _ip("address", "add", str(own), "dev", DEVICE, *(("nodad",) if own.version == 6 else ()))


def _ip(*words: str) -> None:
    done = subprocess.run(
        [program("ip", "iproute2"), *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise HostError(f"ip {' '.join(words)}: {done.stderr.strip()}")
