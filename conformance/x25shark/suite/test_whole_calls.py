# SPDX-License-Identifier: GPL-2.0-or-later
"""Every way in which calls begin and end, wherever they stand (X.25 4.1, 5.2, 6; RFC 1613 5)."""

from __future__ import annotations

from .calls import checks_calls
from .counting import counting
from .language import Bench, Side, purpose
from .many import at_a_time, tidy
from .scene import Scene
from .test_all_of_it import values
from .whole_calls import (
    WAYS,
    collided,
    collided_there,
    fast,
    from_b,
    makes_all,
    octets,
    take_back,
    unroutable,
)
from .whole_errors import ERRORS, among


@purpose("PLP-CALL-42")
def test_one_behind_the_other(bench: Bench) -> None:
    makes_all(Scene(bench), WAYS, "on one connection")
    bench.fence()


@purpose("PLP-CALL-43")
def test_in_another_order_beside_a_call(bench: Bench) -> None:
    held = bench.place_call()
    makes_all(Scene(bench, at_once=True), WAYS[::-1], "beside a call, the other way round")
    held.fence()
    held.fence_back()


@purpose("PLP-CALL-44")
def test_from_the_other_side(bench: Bench) -> None:
    """Beside a call of A."""
    held = bench.place_call()
    makes_all(from_b(bench), WAYS, "from B")
    held.fence()


@purpose("PLP-CALL-45")
def test_of_modulo_128(bench: Bench) -> None:
    """Then now and again one of modulo 8 on the same connection."""
    scene = Scene(bench, modulus=128)
    makes_all(scene, WAYS[1::2] + WAYS[::2], "modulo 128")
    for nth in range(4):
        scene.modulus = 8 if scene.modulus == 128 else 128
        makes_all(scene, WAYS[2 * nth : 2 * nth + 2], f"modulo {scene.modulus} among others")
    bench.fence()


@purpose("PLP-CALL-46")
def test_errors_among_them(bench: Bench) -> None:
    """Behind calls of every kind, from A, from B, and with modulo 128."""
    bench.need(checks_calls(bench), "a router that checks calls")
    scenes = [(Scene(bench), "on one connection")]
    if bench.profile.addresses.a is not None:
        scenes.append((from_b(bench), "from B"))
    if bench.declared("P-MOD128"):
        scenes.append((Scene(bench, modulus=128), "modulo 128"))
    for number, (scene, where) in enumerate(scenes):
        makes_all(scene, among(ERRORS, WAYS[11 * number :] + WAYS[: 11 * number]), where)
    bench.fence()


@purpose("PLP-CALL-47")
def test_many_at_once(bench: Bench) -> None:
    """None of them is answered until all have arrived; the last is answered first.

    Each asks for more than the one before it, so that it shows if one gets another's values.
    """
    number = at_a_time(bench, 8, least=4)
    fast_select = bench.declared("F-FS")
    calls = []
    for nth in range(number):
        scene = Scene(bench)
        select = nth % 5 == 1 and fast_select
        rising = values(bench, 128 << nth // 4, min(2 + nth, 7))
        options = fast(scene, 20 + nth) if select else rising
        calls.append((scene, scene.call(**options), select))
    up = []
    for nth, (scene, call, select) in reversed(list(enumerate(calls))):
        x, y, _ = call
        if nth % 4 == 1:
            scene.clear(y, x, 0, 128 + nth, octets(scene, 30 + nth) if select else b"")
        elif nth % 4 == 2:
            up.append((scene, scene.answer(call, user_data=octets(scene, nth) if select else b"")))
        elif nth % 4 == 3:
            take_back(scene, call, 64 + nth)
        else:
            up.append((scene, scene.answer(call)))
    for _, connected in up:
        connected.fence()
    for scene, connected in up:
        assert isinstance(connected.b, Side)
        scene.clear(connected.b, connected.a, 0x80, 7)
    bench.fence()


# Packets that the router has read whatever it does at the end of a call.
COUNTED = (
    *("calls_in", "calls_out", "accepts_in", "accepts_out", "circuits"),
    *("clears_in", "clears_out", "provider_clears_in"),
)


@purpose("SYS-MIB-23")
def test_all_of_them_are_counted(bench: Bench) -> None:
    """Clears that collide count where the router keeps the connection: else one may be unread."""
    unclear = (collided, collided_there, unroutable)
    ways = [way for way in WAYS if way.make not in unclear and not way.other_caller]
    with counting(bench, *COUNTED):
        makes_all(Scene(bench, apart=True), ways, "counted")
        tidy(bench)
    scene = Scene(bench)
    collided(scene)
    bench.fence("the router is done with the collision")
    if scene.last is None or scene.last.connection.end is not None:
        bench.remark("the router closes a connection whose Clears collide")
        return
    with counting(bench, "clears_in"):
        for _ in range(3):
            collided(scene)
