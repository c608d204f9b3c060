# SPDX-License-Identifier: GPL-2.0-or-later
"""Emulated lines at the router's interfaces: exact by a clock of the test's own, and in order."""

import heapq
import random
from collections.abc import Callable

import pytest
from conftest import Listener, StartRouter
from x25shark.reference.config_table import ConfigError, Table
from x25shark.reference.emulated_pipe import Pipe
from x25shark.reference.emulation import (
    Direction,
    EmulatedLine,
    Emulation,
    Way,
    read_emulation,
)

SECOND = 1_000_000_000
CALL = "10010b011006420707430202"


class Clock:
    """Time and timers of a test: nanoseconds that pass when it says so."""

    def __init__(self) -> None:
        self.now = 0
        self._due: list[tuple[int, int, Timer]] = []
        self._count = 0

    def start(self, seconds: float, expired: Callable[[], None]) -> "Timer":
        timer = Timer(expired)
        self._count += 1
        heapq.heappush(self._due, (self.now + round(seconds * SECOND), self._count, timer))
        return timer

    def run(self, until: int) -> None:
        while self._due and self._due[0][0] <= until:
            self.now, _, timer = heapq.heappop(self._due)
            if not timer.cancelled:
                timer.expired()
        self.now = until


class Timer:
    def __init__(self, expired: Callable[[], None]) -> None:
        self.expired = expired
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


def direction(way: Way, *, drops: bool = False) -> Direction:
    return Direction(way, drops=drops, seed=1)


@pytest.mark.parametrize("rate", [9600, 28_800, 56_000, 2_048_000])
def test_half_an_hour_is_exact_to_a_nanosecond(rate: int) -> None:
    line = direction(Way(rate=rate, delay=0.0425))
    octets, last, length = 0, 0, 700
    while octets * 8 < rate * 1800 and line.carried < 20_000:
        arrives = line.send(0, length)
        assert arrives is not None
        octets, last = octets + length, arrives
        length = 700 + (length * 31) % 3400
    assert last == octets * 8 * SECOND // rate + 42_500_000
    assert line.octets == octets


def test_an_idle_line_saves_nothing_up() -> None:
    line = direction(Way(rate=56_000, delay=0.08))
    time = 10_000_000  # 70 octets
    assert [line.send(5 * SECOND, 70), line.send(9 * SECOND, 70), line.send(9 * SECOND, 70)] == [
        5 * SECOND + time + 80_000_000,
        9 * SECOND + time + 80_000_000,
        9 * SECOND + 2 * time + 80_000_000,
    ]


def test_a_queue_of_packets_holds_exactly_as_many() -> None:
    line = direction(Way(rate=8000, queue=3), drops=True)
    assert [line.send(0, 1000) for _ in range(6)] == [SECOND, 2 * SECOND, 3 * SECOND, 4 * SECOND,
                                                      None, None]  # fmt: skip
    assert line.room_at(0, 1000) == SECOND
    assert line.send(SECOND, 1000) == 5 * SECOND
    assert (line.carried, line.overflowed) == (5, 2)


def test_a_queue_of_octets_holds_exactly_as_many() -> None:
    line = direction(Way(rate=8000, queue_octets=1500))
    line.send(0, 1000)
    line.send(0, 1000)
    assert line.room_at(0, 501) == SECOND
    assert line.room_at(0, 500) is None
    # One that is longer than the queue waits until nothing else does.
    assert line.room_at(0, 2000) == SECOND


def test_loss_is_the_share_it_says() -> None:
    line = direction(Way(loss=0.1))
    lost = sum(line.send(0, 100) is None for _ in range(20_000))
    assert 1_800 < lost == line.lost < 2_200


@pytest.mark.parametrize(
    ("framing", "octets"), [("xot", 9), ("hdlcoctet", 1 + 2 + 5 + 2 + 2), ("hdlc", 11)]
)
def test_a_packet_is_charged_with_what_it_has_on_the_wire(framing: str, octets: int) -> None:
    """Flag, address, control, FCS, and two octets escaped, or 88 bits with those stuffed."""
    line = EmulatedLine(Emulation("127.0.0.2", framing=framing))
    unit = b"\0\0\0\5" + bytes((0x10, 0x01, 0x00, 0x7E, 0x7D))
    assert line.charge(unit) - octets in ((0,) if framing == "xot" else (0, 1))


def test_all_ones_are_stuffed_behind_every_fifth() -> None:
    line = EmulatedLine(Emulation("127.0.0.2", framing="hdlc"))
    assert (
        1 + 2 + 128 + 2 + 25 <= line.charge(b"\0\0\0\x80" + b"\xff" * 128) <= 1 + 2 + 128 + 2 + 27
    )
    assert EmulatedLine(Emulation("serial:s0", framing="hdlc")).charge(b"\x7e" * 9) == 9


def test_units_are_whole_and_what_is_none_passes_at_once() -> None:
    line = EmulatedLine(Emulation("127.0.0.2"))
    buffer = bytearray(b"\0\0\0\3\x10\1\1\0\0\0\4\x10")
    assert list(line.units(buffer)) == [b"\0\0\0\3\x10\1\1"]
    assert buffer == b"\0\0\0\4\x10"
    for wrong in (b"\0\1\0\3\x10\1\1rest", b"\0\0\0\2ab"):
        assert list(line.units(bytearray(wrong))) == [wrong]


def pipe(clock: Clock, way: Way, overflow: str = "hold") -> tuple[Pipe, list[tuple[int, bytes]]]:
    came: list[tuple[int, bytes]] = []
    line = EmulatedLine(Emulation("127.0.0.2", overflow=overflow, towards=way))
    made = Pipe(
        clock, line, line.towards, lambda unit: came.append((clock.now, unit)), lambda: None,
        lambda: clock.now,
    )  # fmt: skip
    return made, came


@pytest.mark.parametrize("overflow", ["hold", "drop"])
def test_what_is_put_in_comes_out_in_order_and_on_time(overflow: str) -> None:
    clock = Clock()
    line, came = pipe(clock, Way(rate=8000, delay=0.5, queue=2), overflow)
    for n in range(5):
        line.put(bytes((n,)) * 1000)
    assert line.is_full(10_000) is (overflow == "hold")
    clock.run(9 * SECOND)
    arrived = 5 if overflow == "hold" else 3
    assert came == [((n + 1) * SECOND + SECOND // 2, bytes((n,)) * 1000) for n in range(arrived)]
    assert line.octets == 0
    line.put(b"x" * 1000)
    clock.run(20 * SECOND)
    assert came[-1] == (10 * SECOND + SECOND // 2, b"x" * 1000)


def test_any_mixture_keeps_its_order_and_loses_nothing() -> None:
    draw = random.Random(7)
    clock = Clock()
    line, came = pipe(clock, Way(rate=64_000, delay=0.02, queue_octets=3000))
    sent = []
    for _ in range(500):
        unit = draw.randbytes(draw.randrange(1, 900))
        sent.append(unit)
        line.put(unit)
        clock.run(clock.now + draw.randrange(0, SECOND // 10))
    clock.run(clock.now + 3600 * SECOND)
    assert [unit for _, unit in came] == sent
    assert [at for at, _ in came] == sorted(at for at, _ in came)


def test_hurry_and_clear() -> None:
    clock = Clock()
    line, came = pipe(clock, Way(rate=8000, queue=1))
    for n in range(4):
        line.put(bytes((n,)) * 1000)
    assert line.seconds_left() == pytest.approx(4)
    line.hurry()
    assert [unit[0] for _, unit in came] == [0, 1, 2, 3]
    line.put(b"x")
    line.clear()
    clock.run(99 * SECOND)
    assert len(came) == 4


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "at: missing"),
        ({"at": "127.0.0.2", "framing": "x"}, "framing: must be one of"),
        ({"at": "127.0.0.2", "in": {"loss": 2}}, "loss: must be a number from 0 to 1"),
        ({"at": "127.0.0.2", "out": {"speed": 2}}, "out.speed: unknown key"),
    ],
)
def test_what_is_wrong_in_the_configuration_is_named(
    values: dict[str, object], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        read_emulation(Table("", values))


CONFIG = """
model = "splice"
[[route]]
prefix = "1"
to = "{far}"
[[emulation]]
at = "127.0.0.1"
in = {{ delay = 40, rate = 1000000, queue = 4 }}
out = {{ delay = 20, rate = 1000000, queue = 4 }}
"""


def test_data_and_the_end_behind_it_arrive_in_order(
    start_router: StartRouter, listener: Listener
) -> None:
    """Both connections share the line: what goes over it is late, whole, and ends with its end."""
    router = start_router(CONFIG.format(far=listener.address))
    near = router.connect()
    near.send(CALL)
    far = listener.accept()
    assert far.receive() is not None
    far.send("10010f")
    assert near.receive() == "10010f"
    data = [f"1001{2 * (n % 8):02x}" + f"{n:02x}" * 128 for n in range(50)]
    near.send(*data, "1001130000")
    assert [far.receive() for _ in range(51)] == [*data, "1001130000"]
    far.send("100117")
    assert near.receive() == "100117"
    far.close()
    near.close()


def test_an_emulation_at_an_interface_that_is_none(
    start_router: StartRouter,
) -> None:
    text = '[[emulation]]\nat = "serial:s9"\n'
    with pytest.raises(AssertionError, match="no \\[\\[serial\\]\\] has the name 's9'"):
        start_router(text)
