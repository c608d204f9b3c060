# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the socket level, and the null routers: each with what a tester sees of it."""

import select
import socket
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

CALL = "10010b772100001310000106420707430202"
WIDE = "10010b772100001310000106420c0c430707"


def config(listener: Any, model: str = "end-to-end", more: str = "") -> str:
    return f'model = "{model}"\n{more}\n[[route]]\nprefix = "21"\nto = "{listener.address}"\n'


def connected(router: Any, listener: Any, call: str = CALL) -> tuple[Any, Any]:
    a = router.connect()
    a.send(call)
    b = listener.accept()
    b.receive()
    b.send("10010f")
    assert a.receive() is not None
    return a, b


def has_read(peer: Any) -> bool:
    """Whether the router has read all that a peer has sent, by the kernel's table."""
    ends = [peer.sock.getpeername(), peer.sock.getsockname()]
    router, own = (f"{struct.unpack('=I', socket.inet_aton(h))[0]:08X}:{p:04X}" for h, p in ends)
    for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]:
        columns = line.split()
        if columns[1:3] == [router, own]:
            return int(columns[4].split(":")[1], 16) == 0
    raise AssertionError("there is no such connection")


def test_fault_header_in_length(start_router: Any, listener: Any) -> None:
    router = start_router(config(listener), "--fault", "BUG-XOT-05")
    a = router.connect()
    a.send(CALL)
    b = listener.accept()
    header = b.sock.recv(4, socket.MSG_WAITALL)
    assert struct.unpack(">HH", header) == (0, len(CALL) // 2 + 4)


def test_fault_blocks_on_a_stalled_header(start_router: Any, until: Any) -> None:
    router = start_router("", "--fault", "BUG-XOT-13")
    stalled = router.connect()
    stalled.raw(b"\0\0")
    until(lambda: has_read(stalled))
    other = router.connect()
    other.send("10010b029900")
    assert other.silent(0.3)
    stalled.raw(bytes.fromhex("0003100117"))
    assert other.receive() == "1001130d43"


def test_fault_impatient_behind_a_header(start_router: Any) -> None:
    for fault in ([], ["--fault", "BUG-XOT-99"]):
        a = start_router("", *fault).connect()
        a.raw(bytes.fromhex("00000006"))
        assert a.silent(0.6)
        a.raw(bytes.fromhex("10010b029900"))
        assert a.receive() == (None if fault else "1001130d43")


def test_fault_synchronous_connect(start_router: Any, until: Any) -> None:
    # A full accept queue leaves the SYN unanswered.
    full = socket.socket()
    full.bind(("127.0.0.1", 0))
    full.listen(0)
    address = full.getsockname()
    fillers = []
    for _ in range(3):
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(address)
        fillers.append(filler)
    route = f'[[route]]\nprefix = "21"\nto = "127.0.0.1:{address[1]}"\n'
    times = "connect_timeout = 1.5\n"
    for fault in ([], ["--fault", "BUG-XOT-18"]):
        router = start_router(times + route, *fault)
        caller = router.connect()
        caller.send(CALL)
        until(partial(has_read, caller))
        other = router.connect()
        other.send("10010b029900")
        if fault:
            assert other.silent(0.3)
        assert other.receive() == "1001130d43"
    for filler in fillers:
        filler.close()
    full.close()


def test_fault_keeps_the_socket(start_router: Any) -> None:
    for fault in ([], ["--fault", "BUG-XOT-19"]):
        a = start_router("", *fault).connect()
        a.sock.shutdown(socket.SHUT_WR)
        if fault:
            assert a.silent(0.3)
        else:
            assert a.receive() is None


def test_fault_no_keepalive(listener: Any) -> None:
    program = (
        "import sys, socket\n"
        "from x25shark.reference import config, faults, wire\n"
        "faults.FAULTS.switch_on(sys.argv[1:])\n"
        "accepted, opened = socket.socket(), socket.socket()\n"
        "accepted.bind(('127.0.0.1', 0))\n"
        "at = '127.0.0.1:%d' % accepted.getsockname()[1]\n"
        "for sock in (accepted, opened):\n"
        "    wire.set_options(sock, config.parse({'keepalive': 10, 'listen': at}))\n"
        "    print(sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))\n"
    )
    for arguments, expected in (
        ([], ["1", "1"]),
        (["BUG-XOT-21"], ["0", "0"]),
        (["BUG-XOT-96"], ["1", "0"]),
    ):
        run = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        )
        assert run.stdout.split() == expected


def test_fault_calls_hang_after_the_stop(start_router: Any, listener: Any) -> None:
    for fault in ([], ["--fault", "BUG-XOT-46"]):
        router = start_router(config(listener), *fault)
        a, _ = connected(router, listener)
        router.process.terminate()
        assert router.process.wait(10) == 0
        if fault:
            assert a.silent(0.3)
        else:
            assert a.receive() == "1001130900"


def flood_without_reading(router: Any, listener: Any) -> tuple[Any, Any]:
    """A splice whose B does not read until the router's output towards it is congested."""
    a, b = connected(router, listener, WIDE)
    a.sock.setblocking(False)
    unit = struct.pack(">HH", 0, 4099) + bytes.fromhex("100100") + b"x" * 4096
    quiet, waiting = 0, b""
    while quiet < 5:
        try:
            waiting = waiting or unit * 16
            waiting = waiting[a.sock.send(waiting) :]
            quiet = 0
        except BlockingIOError:
            room = select.select([], [a.sock], [], 0.05)[1]
            quiet = 0 if room else quiet + 1
    a.sock.settimeout(10)
    return a, b


def test_fault_blocks_on_writing(start_router: Any, listener: Any) -> None:
    for fault in ([], ["--fault", "BUG-XOT-48"]):
        router = start_router(config(listener, "splice"), *fault)
        _a, b = flood_without_reading(router, listener)
        other = router.connect()
        other.send("10010b029900")
        if fault:
            assert other.silent(0.3)
        else:
            assert other.receive() == "1001130d43"
        b.reset()


def test_fault_octet_with_the_syn(start_router: Any, listener: Any) -> None:
    save_syn, saved_syn = 27, 28  # TCP_SAVE_SYN, TCP_SAVED_SYN of Linux: headers of the SYN
    listener.sock.setsockopt(socket.IPPROTO_TCP, save_syn, 1)
    for fault in ([], ["--fault", "BUG-XOT-51"]):
        router = start_router(config(listener), *fault)
        a = router.connect()
        a.send(CALL)
        b = listener.accept()
        syn = b.sock.getsockopt(socket.IPPROTO_TCP, saved_syn, 512)
        headers = (syn[0] & 15) * 4 + (syn[(syn[0] & 15) * 4 + 12] >> 4) * 4
        assert struct.unpack_from(">H", syn, 2)[0] - headers == len(fault) // 2
        assert b.receive() == CALL


def test_fault_ends_on_a_write_to_a_reset_connection(start_router: Any, listener: Any) -> None:
    router = start_router(config(listener, "splice"))
    first, b = flood_without_reading(router, listener)
    b.reset()
    assert router.connect() is not None
    program = start_router(config(listener, "splice"), "--fault", "BUG-SYS-14")
    second, b = flood_without_reading(program, listener)
    b.reset()
    assert program.process.wait(10) == 70
    first.close()
    second.close()
    program.stop = lambda: 0
    program.errors = ""


def test_fault_call_twice_after_a_slow_connect(
    make_lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from x25shark.reference.faults import FAULTS, calls

    now = 0.0
    monkeypatch.setattr(calls, "time", SimpleNamespace(monotonic=lambda: now))
    patches = FAULTS.switch_on(["BUG-CALL-17"])
    try:
        for pause, count in ((0.0, 1), (0.6, 2)):
            lab = make_lab()
            lab.caller().tell(CALL)
            now += pause
            lab.open()
            assert len(lab.called[0].got) == count
    finally:
        patches[0].undo()


def test_fault_clear_lost_with_unread_input(start_router: Any, listener: Any) -> None:
    """Input that waits when the Clear is due makes the faulty router drop the Clear."""
    lost = 0
    router = start_router(config(listener), "--fault", "BUG-CLR-10")
    for _ in range(60):
        a, b = connected(router, listener)
        b.send("10011300f1")
        try:
            for _ in range(200):
                a.send("100101")
        except OSError:
            pass
        packet = a.receive()
        lost += packet != "10011300f1"
        a.close()
        b.close()
    assert lost > 0


def test_fault_endless_loop(start_router: Any) -> None:
    router = start_router('[[route]]\nprefix = "1"\nto = "echo"\n', "--fault", "BUG-MALF-06")
    a = router.connect()
    a.send("10010b0411110400" + "0fc900")
    assert a.silent(0.3)
    b = router.connect()
    b.send("10010b029900")
    assert b.silent(0.3)
    router.process.terminate()
    router.process.wait(10)
    router.stop = lambda: 0
    router.errors = ""


def test_fault_descriptor_leak(start_router: Any) -> None:
    for fault in ([], ["--fault", "BUG-SYS-06"]):
        router = start_router("", *fault)
        before = descriptors(router)
        for _ in range(20):
            a = router.connect()
            a.sock.shutdown(socket.SHUT_WR)
            assert a.receive() is None
            a.close()
        grown = descriptors(router) - before
        assert grown >= 15 if fault else grown < 5


def descriptors(router: Any) -> int:
    return len(list(Path(f"/proc/{router.process.pid}/fd").iterdir()))


def test_null_silent(start_router: Any, listener: Any) -> None:
    a = start_router(config(listener), "--null", "silent").connect()
    a.send(CALL)
    assert a.silent(0.3)


def test_null_close(start_router: Any, listener: Any) -> None:
    a = start_router(config(listener), "--null", "close").connect()
    assert a.receive() is None


def test_null_clear(start_router: Any, listener: Any) -> None:
    a = start_router(config(listener), "--null", "clear").connect()
    a.send(CALL, "1005010203")
    assert a.receive() == "1001130000"
    assert a.receive() == "1005130000"


def test_null_relay(start_router: Any, listener: Any) -> None:
    a = start_router(config(listener), "--null", "relay").connect()
    a.raw(b"anything at all")
    b = listener.accept()
    assert b.sock.recv(100) == b"anything at all"
    b.raw(b"and back")
    assert a.sock.recv(100) == b"and back"
    b.close()
    assert a.sock.recv(100) == b""


def test_null_mute(start_router: Any, listener: Any) -> None:
    a = start_router(config(listener), "--null", "mute").connect()
    a.raw(b"a call")
    b = listener.accept()
    assert b.sock.recv(100) == b"a call"
    b.raw(b"the answer")
    assert a.sock.recv(100) == b"the answer"
    a.raw(b"swallowed")
    b.raw(b"swallowed too")
    b.close()
    assert a.sock.recv(100) == b""


def test_null_and_fault_exclude_each_other(start_router: Any) -> None:
    with pytest.raises(AssertionError, match="cannot be combined"):
        start_router("", "--null", "close", "--fault", "BUG-XOT-01")
