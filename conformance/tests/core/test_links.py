# SPDX-License-Identifier: GPL-2.0-or-later
"""XOT connections of the tester: how an end is read, and where reading stops."""

from __future__ import annotations

import errno
import fcntl
import socket
import struct
import termios
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from x25shark.links import loop as loop_module
from x25shark.links import stream, xot
from x25shark.links.loop import Loop, Overdue


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.close()


@pytest.fixture
def pair(loop: Loop) -> Iterator[tuple[xot.Connection, socket.socket]]:
    """A connection of the tester, and the router's end of it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        connection = xot.connect(loop, listening.getsockname(), "127.0.0.1", 20.0)
        router, _ = listening.accept()
    with router:
        yield connection, router
    connection.close()


def test_a_pause_ends_where_the_machine_holds_the_tester_up(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By 3 s in each slice: a wait would go on for as long as that lasts."""
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], thread_time=lambda: 0.0)
    monkeypatch.setattr(loop_module, "time", clock)

    def poll(timeout: float = 0.0) -> None:
        now[0] += timeout + 3.0 if timeout else 0.0

    monkeypatch.setattr(loop, "poll", poll)
    loop.pause(0.3)
    assert 0.3 < now[0] < 4.0


def test_behind_the_testers_own_fin_nothing_is_sent(
    pair: tuple[xot.Connection, socket.socket],
) -> None:
    connection, router = pair
    connection.send(b"\x00\x00\x00\x03abc")
    connection.finish_sending()
    connection.send(b"\x00\x00\x00\x03def")
    assert [unit.packet for unit in connection.sent] == [b"abc"]
    assert router.recv(100) == b"\x00\x00\x00\x03abc"


def reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def test_fin(pair: tuple[xot.Connection, socket.socket], loop: Loop) -> None:
    connection, router = pair
    router.send(b"\x00\x00\x00\x03abc")
    router.close()
    assert loop.wait(lambda: connection.end is not None, 20.0)
    assert connection.end == "FIN"
    assert [unit.packet for unit in connection.received] == [b"abc"]


def test_a_connection_that_time_ran_out_for_leaves_nothing_behind(loop: Loop) -> None:
    """Its descriptor belongs to the next one, which the loop would take for it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        loop.interruptible = True
        loop.begin_case(0.0)
        with pytest.raises(Overdue):
            xot.connect(loop, listening.getsockname(), "127.0.0.1", 20.0)
        loop.begin_case()
        xot.connect(loop, listening.getsockname(), "127.0.0.1", 20.0).close()


@pytest.mark.parametrize("first", ["the tester", "the tester, amid a unit", "the router"])
def test_who_closed_first(
    pair: tuple[xot.Connection, socket.socket], loop: Loop, first: str
) -> None:
    connection, router = pair
    if first == "the tester, amid a unit":
        router.send(b"\x00\x00\x00\x03a")
        assert loop.wait(lambda: connection.amid_a_unit, 20.0)
    if first != "the router":
        connection.finish_sending()
    router.close()
    assert loop.wait(lambda: connection.end is not None, 20.0)
    connection.finish_sending()
    assert connection.finished_first == (first == "the tester")


def test_rst_that_sending_meets_first(
    pair: tuple[xot.Connection, socket.socket], loop: Loop
) -> None:
    """The socket tells of a RST once; whoever reads later would take the end for a FIN."""
    connection, router = pair
    reset(router)
    connection.send(b"\x00\x00\x00\x03abc")
    connection.send(b"\x00\x00\x00\x03abc")
    assert loop.wait(lambda: connection.end is not None, 20.0)
    assert connection.end == "RST"


def test_urgent_octets_stay_in_the_stream(
    pair: tuple[xot.Connection, socket.socket], loop: Loop
) -> None:
    connection, router = pair
    for octets in (b"\x00\x00\x00\x03abc", b"\x00\x00\x00", b"\x03def", b"\x00\x00\x00\x03ghi"):
        router.send(octets, socket.MSG_OOB)
    assert loop.wait(lambda: connection.received_octets == 21, 20.0)
    assert [unit.packet for unit in connection.received] == [b"abc", b"def", b"ghi"]


@pytest.mark.parametrize(
    ("sent", "most"),
    [
        (0, xot.MOST_OF_ITS_OWN),
        (1000, xot.MOST_OF_ITS_OWN + 2000),
        (stream.MOST_OCTETS, stream.MOST_OCTETS),
    ],
)
def test_flood(
    pair: tuple[xot.Connection, socket.socket], loop: Loop, sent: int, most: int
) -> None:
    """Reading stops a little behind the bound; the connection has no end.

    A router that passes on what the tester sent may send more than one that says it by itself.
    """
    connection, router = pair
    loop.begin_case()
    connection.send(bytes(sent))
    assert loop.sent == sent
    router.setblocking(False)
    unit = b"\x00\x00\x10\x00" + bytes(4096)

    def flooded() -> bool:
        try:
            while True:
                router.send(unit)
        except BlockingIOError:
            return connection.flooded

    assert loop.wait(flooded, 60.0)
    assert connection.end is None
    assert most < connection.received_octets <= most + stream.READ
    loop.begin_case()
    assert loop.sent == 0


class Clock:
    """In place of the module time: seconds by the clock, and computed."""

    def __init__(self) -> None:
        self.now = self.computed = 0.0

    def monotonic(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return self.computed


def test_how_long_the_tester_was_away(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(loop_module, "time", clock)
    loop = Loop()
    clock.now = 50.0
    loop.begin_case()
    clock.now, clock.computed = 55.0, 5.0
    loop.poll()
    assert loop.away == 0.0
    clock.now = 62.0
    loop.poll()
    assert loop.away == 7.0
    clock.now = 100.0
    loop.here()
    loop.poll()
    assert loop.away == 7.0
    loop.begin_case()
    assert loop.away == 0.0
    loop.close()


def test_what_another_thread_has_computed_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(loop_module, "time", clock)
    loop = Loop()
    clock.computed = 9.0
    loop.begin_case()

    def of_another_thread() -> None:
        clock.computed = 0.1
        loop.poll()

    other = threading.Thread(target=of_another_thread)
    other.start()
    other.join()
    clock.computed = 9.1
    loop.poll()
    assert loop.away == 0.0
    loop.close()


def ticking(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that goes on by a slice of a wait with each turn of the loop."""
    clock = Clock()
    monkeypatch.setattr(loop_module, "time", clock)
    monkeypatch.setattr(loop_module, "_SLICE", 0.001)
    loop.on_turn = [lambda: setattr(clock, "now", clock.now + 0.001)]
    return clock


@pytest.mark.parametrize(
    ("patient", "moving_until", "ends"),
    [(False, 2.0, 0.02), (True, 0.0, 0.02), (True, 0.065, 0.1), (True, 2.0, 0.2)],
)
def test_patience_counts_from_the_last_octet_that_moved(
    patient: bool, moving_until: float, ends: float, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ticking(loop, monkeypatch)

    def nothing_of_it() -> bool:
        loop.received += clock.now < moving_until
        return False

    assert not loop.wait(nothing_of_it, 0.02, patient=patient)
    assert ends <= clock.now < ends + 0.05


def stuffed(connection: xot.Connection) -> None:
    """The router does not read: its TCP takes no more, and octets wait for it."""
    connection.send((b"\x00\x00\xff\xff" + bytes(65535)) * 128)
    assert connection.unsent


def test_octets_on_their_way_to_the_router_count_as_moving(
    pair: tuple[xot.Connection, socket.socket], loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TCP sent 100 octets that nobody acknowledged yet: a slow network, or one that lost them."""
    queued = {termios.TIOCOUTQ: 4196, loop_module._SIOCOUTQNSD: 4096}
    monkeypatch.setattr(fcntl, "ioctl", lambda _, which, __: struct.pack("i", queued[which]))
    clock = ticking(loop, monkeypatch)
    assert not loop.wait(lambda: False, 0.02, patient=True)
    assert clock.now >= 0.2


def test_octets_that_a_router_does_not_read_are_not_on_their_way(
    pair: tuple[xot.Connection, socket.socket], loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, _router = pair
    stuffed(connection)
    # What TCP sent is acknowledged by a kernel, at once or a little later.
    assert loop.wait(lambda: not loop._outgoing()[1], 20.0)
    clock = ticking(loop, monkeypatch)
    assert not loop.wait(lambda: False, 0.02, patient=True)
    assert clock.now < 0.1


def test_octets_of_a_connection_that_has_ended_are_not_on_their_way(
    pair: tuple[xot.Connection, socket.socket], loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, router = pair
    stuffed(connection)
    reset(router)
    assert loop.wait(lambda: connection.end is not None, 20.0)
    clock = ticking(loop, monkeypatch)
    assert not loop.wait(lambda: False, 0.02, patient=True)
    assert clock.now < 0.1


def test_what_came_before_a_listener_stops_is_taken(loop: Loop) -> None:
    """The capture shows that TCP accepted it, so the tester has to know of it as well."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    listener = xot.Listener(loop, address)
    taken: list[xot.Connection] = []
    listener.on_accept = taken.append
    routers = [socket.create_connection(address) for _ in range(3)]
    listener.stop()
    assert [c.remote for c in taken] == [router.getsockname() for router in routers]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
    listener.resume()
    socket.create_connection(address).close()
    listener.close()
    for router in routers:
        router.close()
    for connection in taken:
        connection.close()


def test_nothing_comes_amid_the_stop_of_a_listener(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that its kernel accepted and reset would be one that the capture alone knows."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    listener = xot.Listener(loop, address)
    router = socket.socket()
    router.setblocking(False)
    close = listener.close

    def call_before_closing() -> None:
        assert router.connect_ex(address) == errno.EINPROGRESS
        close()

    monkeypatch.setattr(listener, "close", call_before_closing)
    listener.stop()
    with pytest.raises(OSError, match="not connected"):
        router.getpeername()
    router.close()


def test_how_long_units_take_that_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(xot, "time", SimpleNamespace(monotonic=lambda: now[0]))
    cutter = xot.Cutter()
    whole = b"\x00\x00\x00\x03abc"
    for octets in (whole, whole + whole, b"\x00", b"\x00\x00", b"\x03abc" + whole[:5], whole[5:]):
        now[0] += 10.0
        cutter.take(octets)
    assert cutter.in_parts == 30.0 - 2 * xot.ACKNOWLEDGED_WITHIN


def test_a_unit_may_wait_for_the_acknowledgement_of_its_header() -> None:
    """A sender with Nagle's algorithm that writes header and packet apart."""
    cutter = xot.Cutter()
    cutter.take(b"\x00\x00\x00\x03")
    assert len(cutter.take(b"abc")) == 1
    assert cutter.in_parts == 0
