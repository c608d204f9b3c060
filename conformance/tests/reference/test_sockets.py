# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference router through real sockets: calls in each relay model, and the terminals."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lab_calls import CALL, route, set_up

MODELS = ("local", "end-to-end", "splice")
CLEAR = "1001130000"


@pytest.mark.parametrize("model", MODELS)
def test_call_data_interrupt_reset_clear(start_router: Any, listener: Any, model: str) -> None:
    a, b = set_up(start_router(route(listener, model)), listener)
    a.send("1001006869", "900102" + "00" * 128)
    assert b.receive()[4:] == "006869"
    assert b.receive() == "900102" + "00" * 128
    b.send("100141")
    if model == "local":
        assert a.receive() in ("100121", "100141")
    else:
        assert a.receive() == "100141"
    b.send("10014061")
    packet = a.receive()
    while packet == "100141":
        packet = a.receive()
    assert packet == "10014061"
    a.send("10012301")
    packet = b.receive()
    while packet == "100121":
        packet = b.receive()
    assert packet == "10012301"
    b.send("100127")
    assert a.receive() == "100127"
    a.send("10011b0007")
    packet = b.receive()
    while packet == "100121":
        packet = b.receive()
    assert packet == "10011b0007"
    b.send("10011f")
    assert a.receive() == "10011f"
    a.send("10010079")
    assert b.receive() == "10010079"
    b.send("10011300f1")
    packet = a.receive()
    while packet == "100121":
        packet = a.receive()
    assert packet == "10011300f1"
    a.send("100117")
    assert b.receive() in ("100117", "100121")


@pytest.mark.parametrize("model", MODELS)
def test_clear_by_a_reaches_b_and_is_confirmed(
    start_router: Any, listener: Any, model: str, until: Any
) -> None:
    router = start_router(route(listener, model))
    a, b = set_up(router, listener)
    a.send("10011380f1")
    assert b.receive() == "10011380f1"
    b.send("100117")
    assert a.receive() == "100117"
    assert b.receive() is None
    b.close()
    until(lambda: router.counters()["global"]["x25StatIncomingCircuits"] == 0)
    # The same connection takes another call.
    a.send(CALL)
    b = listener.accept()
    assert b.receive()[4:] == CALL[4:]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("how", ["fin", "rst"])
def test_loss_of_a_ends_the_call_at_b(
    start_router: Any, listener: Any, model: str, how: str
) -> None:
    a, b = set_up(start_router(route(listener, model)), listener)
    if how == "fin":
        a.sock.shutdown(socket.SHUT_WR)
        assert a.receive() is None
    else:
        a.reset()
    assert b.receive() == "1001130900"


def test_echo_returns_sequences_with_their_q_bit(start_router: Any) -> None:
    router = start_router('[[route]]\nprefix = "1111"\nto = "echo"\n')
    a = router.connect()
    a.send("10010b04111106420707430202")
    assert a.receive() == "10010f0006420707430202"
    a.send("900110" + "41" * 128, "90010242")
    assert a.receive() == "900130" + "41" * 128
    assert a.receive() == "90014242"
    a.send("100141", "1001230a0b")
    assert {a.receive(), a.receive()} == {"100127", "1001230a0b"}
    a.send("100127", CLEAR)
    assert a.receive() == "100117"


def test_no_route_and_refused_connection(start_router: Any, listener: Any) -> None:
    router = start_router(route(listener, "end-to-end"))
    a = router.connect()
    a.send("10010b029900")
    assert a.receive() == "1001130d43"
    a.send("100117")
    listener.close()
    a.send(CALL)
    assert a.receive() == "1001130900"


def test_framing_error_closes_at_once(start_router: Any) -> None:
    router = start_router("")
    for header in ("00010014", "00000000", "00000002", "0000ffff"):
        a = router.connect()
        a.raw(bytes.fromhex(header))
        assert a.receive() is None


def test_octet_by_octet(start_router: Any, listener: Any) -> None:
    a = start_router(route(listener, "end-to-end")).connect()
    octets = bytes.fromhex("0000") + len(CALL).__floordiv__(2).to_bytes(2, "big")
    for octet in octets + bytes.fromhex(CALL):
        a.raw(bytes((octet,)))
    assert listener.accept().receive()[4:] == CALL[4:]


def test_stop_clears_both_sides(start_router: Any, listener: Any) -> None:
    router = start_router(route(listener, "local"))
    a, b = set_up(router, listener)
    router.process.terminate()
    assert a.receive() == "1001130900"
    assert b.receive() == "1001130900"
    a.close()
    b.close()
    assert router.process.wait(10) == 0


def test_stop_on_end_of_input(start_router: Any) -> None:
    router = start_router("", "--stop-on-eof")
    router.process.stdin.close()
    router.process.stdin = None
    assert router.process.wait(10) == 0


def test_port_in_use_is_one_line(start_router: Any, tmp_path: Any) -> None:
    host, port = start_router("").address
    config = tmp_path / "second.toml"
    config.write_text(f'listen = "{host}:{port}"\n')
    run = subprocess.run(
        [sys.executable, "-m", "x25shark.reference", "--config", str(config)],
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    )
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert f"{host}:{port}" in run.stderr


def test_nothing_is_left_of_many_calls(start_router: Any, listener: Any, until: Any) -> None:
    """Descriptors of the router return to what they were; so do its gauges."""
    router = start_router("linger = 0.2\n" + route(listener, "end-to-end"))
    open_files = Path(f"/proc/{router.process.pid}/fd")
    before = len(list(open_files.iterdir()))
    for number in range(60):
        a, b = set_up(router, listener)
        if number % 3 == 0:
            a.send(CLEAR)
            assert a.receive() == "100117"
        elif number % 3 == 1:
            b.reset()
            assert a.receive() == "1001130900"
        a.close()
        b.close()
    until(lambda: len(list(open_files.iterdir())) <= before)
    assert router.counters()["global"]["x25StatIncomingCircuits"] == 0
    assert router.counters()["global"]["x25StatOutgoingCircuits"] == 0


def test_counters_page(start_router: Any) -> None:
    router = start_router("")
    first = router.counters()
    assert first["global"]["x25StatInCalls"] == 0
    assert json.dumps(first) == json.dumps(router.counters())


@pytest.mark.parametrize("model", MODELS)
def test_route_to_the_router_itself_ends(start_router: Any, model: str) -> None:
    """A loop makes a bounded number of calls, all of which are cleared; the router goes on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    router = start_router(
        f'model = "{model}"\n[[route]]\nprefix = "9"\nto = "127.0.0.1:{port}"\n', port=port
    )
    a = router.connect()
    a.send("10010b0199000642070743 0202".replace(" ", ""))
    assert a.receive() == "1001130578"
    assert router.counters()["global"]["x25StatInCalls"] < 20
    b = router.connect()
    b.send("10010b028800")
    assert b.receive() == "1001130d43"


def test_many_calls_from_the_address_of_the_router(start_router: Any, listener: Any) -> None:
    """Testers may live on the router's own address: that alone is no loop."""
    router = start_router(route(listener, "end-to-end"))
    ends = [set_up(router, listener) for _ in range(20)]
    assert len(ends) == 20


def test_call_above_the_limit_and_after_it(start_router: Any, listener: Any) -> None:
    router = start_router("max_calls = 2\n" + route(listener, "local"))
    a, b = set_up(router, listener)
    held = set_up(router, listener)
    third = router.connect()
    third.send(CALL)
    assert third.receive() == "1001130547"
    third.send("100117")
    a.send(CLEAR)
    assert a.receive() == "100117"
    assert b.receive() == CLEAR
    b.send("100117")
    assert b.receive() is None
    third.send(CALL)
    fourth = listener.accept()
    assert fourth.receive() is not None
    assert held


@pytest.mark.parametrize("model", MODELS)
def test_slow_reader_holds_the_sender_and_loses_nothing(
    start_router: Any, listener: Any, model: str
) -> None:
    router = start_router(route(listener, model))
    a, b = set_up(router, listener)
    received = bytearray()
    sent = 0
    for number in range(200):
        a.send(bytes((0x10, 1, number % 8 << 1)) + bytes((number,)) * 128)
        sent += 128
        if number % 2:
            for _ in range(2):
                packet = b.octets()
                received += packet[3:]
            b.send(bytes((0x10, 1, (number + 1) % 8 << 5 | 1)))
            acknowledged = a.octets()
            while acknowledged[2] >> 5 != (number + 1) % 8:
                acknowledged = a.octets()
    assert len(received) == sent
    assert received == b"".join(bytes((number,)) * 128 for number in range(200))
