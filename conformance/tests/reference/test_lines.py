# SPDX-License-Identifier: GPL-2.0-or-later
"""Serial lines as processes see them: TCP pipes in both directions and a pseudo terminal."""

import os
import select
import socket
import tty
from typing import Any

import pytest
from scapy_x25 import hdlc

TIMEOUT = 10.0
ROUTES = '[[route]]\nprefix = "1111"\nto = "echo"\n'


class Terminal:
    """A descriptor of a line with frames on it."""

    def __init__(self, descriptor: int, framing: str = "octet") -> None:
        self.descriptor = descriptor
        self.bit = framing == "bit"
        self.framer = hdlc.BitFramer()
        self.deframer: Any = hdlc.BitDeframer() if self.bit else hdlc.OctetDeframer()
        self.waiting: list[str] = []

    def send(self, *frames: str) -> None:
        whole = [hdlc.with_fcs(bytes.fromhex(frame)) for frame in frames]
        if self.bit:
            self.framer.frames(whole)
            self.framer.flag()
            os.write(self.descriptor, self.framer.take())
        else:
            os.write(self.descriptor, hdlc.frame_octets(whole))

    def frame(self) -> str | None:
        """The next frame, or None at the end of the line."""
        while not self.waiting:
            assert select.select([self.descriptor], [], [], TIMEOUT)[0], "nothing came"
            octets = os.read(self.descriptor, 4096)
            if not octets:
                return None
            for event in self.deframer.feed(octets):
                assert isinstance(event, hdlc.Frame), event
                assert event.invalid() == ""
                self.waiting.append(event.octets[:-2].hex())
        return self.waiting.pop(0)

    def echo_call(self) -> None:
        """Link, restart, a call to the echo, data there and back, clear, disconnection."""
        self.send("013f")
        assert [self.frame(), self.frame()] == ["0173", "03001000fb0700"]
        self.send("01201000ff")
        assert self.frame() == "0121"
        self.send("0321", "012210010b0411110000")
        assert self.frame() == "034210010f0006420707430202"
        self.send("0341", "0144100100" + "7d7e" * 9)
        assert self.frame() == "0364100120" + "7d7e" * 9
        self.send("0361", "01661001130000")
        assert self.frame() == "0386100117"
        self.send("0181", "0153")
        assert self.frame() == "0173"


@pytest.mark.parametrize("framing", ["octet", "bit"])
def test_line_that_the_router_accepts(start_router: Any, framing: str, until: Any) -> None:
    router = start_router(
        f'[[serial]]\nname = "s0"\nlisten = "127.0.0.1:0"\nframing = "{framing}"\n' + ROUTES
    )
    host, _, port = router.ready["serial"]["s0"].partition(":")
    for _ in range(2):
        line = socket.create_connection((host, int(port)), TIMEOUT)
        until(lambda: router.counters()["interfaces"]["s0"]["ifOperStatus"] == 1)
        Terminal(line.fileno(), framing).echo_call()
        # One line at a time.
        with socket.create_connection((host, int(port)), TIMEOUT) as second:
            assert second.recv(1) == b""
        line.close()
        until(lambda: router.counters()["interfaces"]["s0"]["ifOperStatus"] == 2)
    counters = router.counters()["interfaces"]["s0"]
    assert counters["x25StatInCalls"] == 2
    assert counters["ifInErrors"] == 0


def test_line_that_the_router_opens_again_and_again(start_router: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(TIMEOUT)
        port = listener.getsockname()[1]
        start_router(
            f'[[serial]]\nname = "s0"\nconnect = "127.0.0.1:{port}"\nrole = "dte"\nretry = 0.05\n'
        )
        for _ in range(3):
            line = listener.accept()[0]
            terminal = Terminal(line.fileno())
            assert terminal.frame() == "013f"
            terminal.send("0173")
            assert terminal.frame() == "01001000fb0000"
            line.close()


def test_pseudo_terminal_outlives_its_users(start_router: Any) -> None:
    router = start_router('[[serial]]\nname = "s0"\npty = true\n' + ROUTES)
    path = router.ready["serial"]["s0"]
    for _ in range(2):
        descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(descriptor)
        Terminal(descriptor).echo_call()
        os.close(descriptor)
    assert router.counters()["interfaces"]["s0"]["lapbInFramesByType"]["SABM"] == 2


def test_orderly_stop_clears_the_calls_and_disconnects(start_router: Any) -> None:
    router = start_router('[[serial]]\nname = "s0"\nlisten = "127.0.0.1:0"\n' + ROUTES)
    host, _, port = router.ready["serial"]["s0"].partition(":")
    with socket.create_connection((host, int(port)), TIMEOUT) as line:
        terminal = Terminal(line.fileno())
        terminal.send("013f")
        assert [terminal.frame(), terminal.frame()] == ["0173", "03001000fb0700"]
        terminal.send("01201000ff", "012210010b0411110000")
        while (terminal.frame() or "")[4:10] != "10010f":
            pass
        terminal.send("0341")
        router.process.terminate()
        assert terminal.frame() == "03441001130900"
        assert terminal.frame() == "0353"
        terminal.send("0373")
        assert terminal.frame() is None
