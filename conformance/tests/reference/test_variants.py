# SPDX-License-Identifier: GPL-2.0-or-later
"""Legal variants of the reference router, through real sockets."""

from typing import Any

import pytest
from lab_calls import CALL, route, set_up


def variants(*names: str) -> list[str]:
    return [word for name in names for word in ("--variant", name)]


@pytest.mark.parametrize("name", ["MAY-XOT-01", "MAY-XOT-02", "MAY-XOT-03=0.02"])
def test_packets_arrive_whole_and_in_order(start_router: Any, listener: Any, name: str) -> None:
    a, b = set_up(start_router(route(listener, "local"), *variants(name)), listener)
    a.send("1001006869", "1001026a6b")
    assert [b.receive()[4:], b.receive()[4:]] == ["006869", "026a6b"]
    a.send("1001130000")
    packet = b.receive()
    assert packet[4:6] == "13"


def test_an_rr_for_every_data(start_router: Any, listener: Any) -> None:
    a, _b = set_up(start_router(route(listener, "local"), *variants("MAY-FLOW-01")), listener)
    a.send("10010068", "10010269")
    assert [a.receive(), a.receive()] == ["100121", "100141"]


def test_an_rr_when_half_the_window_is_used(start_router: Any, listener: Any) -> None:
    a, _b = set_up(start_router(route(listener, "local"), *variants("MAY-FLOW-02")), listener)
    a.send("10010068")
    assert a.receive() == "100121"


def test_rnr_and_rr_now_and_then(start_router: Any, listener: Any) -> None:
    a, _b = set_up(start_router(route(listener, "local"), *variants("MAY-FLOW-03")), listener)
    a.send("10010068")
    assert [a.receive(), a.receive()] == ["100125", "100121"]


def test_a_sender_below_the_window(start_router: Any, listener: Any) -> None:
    a, b = set_up(start_router(route(listener, "local"), *variants("MAY-FLOW-07")), listener)
    a.send("10010068", "10010269", "10012321")
    first, interrupt = b.receive(), b.receive()
    assert [first[4:], interrupt[4:]] == ["0068", "2321"]
    b.send(first[:4] + "21")
    assert b.receive()[4:] == "0269"


def test_rnr_acknowledges(start_router: Any, listener: Any) -> None:
    a, _b = set_up(start_router(route(listener, "local"), *variants("MAY-FLOW-06")), listener)
    a.send("10010068")
    assert [a.receive(), a.receive()] == ["100125", "100121"]


def test_a_reset_is_confirmed_by_the_far_end(start_router: Any, listener: Any) -> None:
    a, b = set_up(start_router(route(listener, "local"), *variants("MAY-RST-02")), listener)
    a.send("10011b0007")
    reset = b.receive()
    assert reset[4:] == "1b0007"
    b.send(reset[:4] + "1f", reset[:4] + "0068")
    assert [a.receive(), a.receive()] == ["10011f", "10010068"]


def test_no_diagnostic_octet_for_0(start_router: Any, listener: Any) -> None:
    both = variants("MAY-RST-06", "MAY-ERR-01")
    a, b = set_up(start_router(route(listener, "local"), *both), listener)
    a.send("10011b0000")
    reset = b.receive()
    assert reset[4:] == "1b00"
    b.send(reset[:4] + "1f")
    a.send("1001130000")
    assert b.receive()[4:] == "1300"


def test_a_call_is_refused_by_a_close(start_router: Any, listener: Any) -> None:
    a = start_router(route(listener, "local"), *variants("MAY-CLR-01")).connect()
    a.send(CALL.replace("77210", "77990"))
    assert a.receive() is None


def test_diagnostic_0(start_router: Any, listener: Any) -> None:
    a, b = set_up(start_router(route(listener, "local"), *variants("MAY-CLR-02")), listener)
    a.send("10010e68")
    assert a.receive() == "10011b0500"
    assert b.receive()[4:] == "1b0300"


def test_an_echo_outlives_a_reset(start_router: Any, listener: Any) -> None:
    echo = route(listener, "local", '[[route]]\nprefix = "11"\nto = "echo"\n')
    a = start_router(echo, *variants("MAY-RST-01")).connect()
    a.send(CALL.replace("77210", "77110"))
    assert a.receive()[4:6] == "0f"
    a.send("100105", "10010068", "10010e69")
    assert a.receive()[4:] == "1b0501"
    a.send("10011f", "1001006a")
    assert [a.receive(), a.receive()] == ["10010068", "1001226a"]
