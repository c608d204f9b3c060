# SPDX-License-Identifier: GPL-2.0-or-later
"""Legal variants of the reference router: how its connections and calls end, through sockets."""

from typing import Any

import pytest
from lab_calls import CALL, route, set_up

CLEAR, CONFIRMATION = "1001130000", "100117"


@pytest.fixture
def call(start_router: Any, listener: Any, request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """A call through a router that makes use of this permission."""
    ends: tuple[Any, Any] = set_up(
        start_router(route(listener, "local"), "--variant", request.param), listener
    )
    return ends


def makes_use_of(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("call", [name], indirect=True)


@makes_use_of("MAY-CLR-03")
def test_a_confirmation_waits_for_the_other_end(call: tuple[Any, Any]) -> None:
    a, b = call
    a.send(CLEAR)
    assert b.receive()[4:] == "130000"
    assert a.silent()
    b.send(CONFIRMATION)
    assert a.receive()[4:] == "17"


@makes_use_of("MAY-CLR-04")
def test_diagnostic_0_is_left_out(call: tuple[Any, Any]) -> None:
    a, b = call
    a.send(CLEAR)
    assert b.receive()[4:] == "1300"


@makes_use_of("MAY-CLR-04")
def test_other_diagnostics_are_not(call: tuple[Any, Any]) -> None:
    a, b = call
    a.send("10011300f1")
    assert b.receive()[4:] == "1300f1"


@makes_use_of("MAY-CLR-05")
def test_diagnostic_0_of_a_reset_is_left_out(call: tuple[Any, Any]) -> None:
    a, b = call
    a.send("10011b0000")
    assert b.receive()[4:] == "1b00"


@makes_use_of("MAY-CLR-07")
def test_data_in_front_of_a_clear_is_lost(call: tuple[Any, Any]) -> None:
    a, b = call
    a.send("10010068", CLEAR)
    assert b.receive()[4:] == "130000"


@makes_use_of("MAY-XOT-07")
def test_a_close_follows_the_clear(call: tuple[Any, Any]) -> None:
    a, b = call
    a.send(CLEAR)
    assert [b.receive()[4:], b.receive()] == ["130000", None]


@makes_use_of("MAY-XOT-08")
def test_a_close_follows_the_confirmation(call: tuple[Any, Any]) -> None:
    a, _b = call
    a.send(CLEAR)
    assert [a.receive()[4:], a.receive()] == ["17", None]


@makes_use_of("MAY-XOT-08")
def test_what_follows_on_a_closed_connection_is_dropped(
    call: tuple[Any, Any], listener: Any
) -> None:
    a, b = call
    a.send(CLEAR, CALL)
    assert [a.receive()[4:], a.receive()] == ["17", None]
    assert b.receive()[4:] == "130000"
    listener.sock.settimeout(0.2)
    with pytest.raises(TimeoutError):
        listener.accept()


@makes_use_of("MAY-XOT-09")
def test_a_close_stands_for_the_confirmation(call: tuple[Any, Any]) -> None:
    a, _b = call
    a.send(CLEAR)
    assert a.receive() is None


@makes_use_of("MAY-XOT-21")
def test_a_spare_confirmation_is_discarded(call: tuple[Any, Any]) -> None:
    a, b = call
    a.send(CONFIRMATION, "10010068")
    assert b.receive()[4:] == "0068"


@makes_use_of("MAY-XOT-23")
def test_a_lost_end_is_told_by_a_close(call: tuple[Any, Any]) -> None:
    a, b = call
    a.reset()
    assert b.receive() is None


def test_a_call_whose_connection_is_lost_is_tried_once_more(
    start_router: Any, listener: Any
) -> None:
    a = start_router(route(listener, "local"), "--variant", "MAY-XOT-15").connect()
    a.send(CALL)
    for _ in range(2):
        b = listener.accept()
        assert b.receive()[4:] == CALL[4:]
        b.reset()
    assert a.receive()[4:6] == "13"
