# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that a call does, wherever it may stand (X.25 4, 6.12; RFC 1613 5, 6.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .anew import again, given_up, is_gone, refused_by_b, without_a_route
from .calls import call_of_b
from .clearing import end
from .counting import counting, measure_age
from .language import (
    CLOSED,
    Bench,
    Call,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    purpose,
)
from .reactions import UNDEFINED, both, header, reset
from .test_xot_pvc import circuit, closed
from .walks.all_of_it import does_all, is_reset_for_all


def error(way: Call) -> None:
    """The router resets both sides."""
    bench, (a, b) = way.bench, both(way)
    a.put(header(a, UNDEFINED))
    a.expect(ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(33)))
    a.send(ResetConfirmation())
    b.expect(ResetIndication(cause=bench.remote_reset))
    b.send(ResetConfirmation())
    # A's confirmation and what B does next may come in either order: they are on two connections,
    # and until it has come, an error of B does not call for a second Reset to A (X.25 Table C-4).
    way.fence()


def next_call(call: Call, *, apart: bool = False) -> Call:
    """The side that is the first of this call clears it; A calls again, on its connection unless
    apart."""
    a, b = both(call)
    a.send(ClearRequest(cause=0, diagnostic=0))
    b.expect(ClearIndication(cause=0, diagnostic=0))
    b.send(ClearConfirmation())
    a.expect(ClearConfirmation(), CLOSED)
    calling = a if a.name == "A" else b
    if apart:
        calling.close()
    return again(call.bench, calling)


def values(bench: Bench, size: int, window: int) -> dict[str, int]:
    """What a call asks for, as far as the router has it."""
    if not (bench.declared("F-PKT") and bench.declared("F-WIN")):
        return {}
    return {"size": min(size, bench.profile.limits.packet_size), "window": window}


def used_again_and_again(bench: Bench, *, apart: bool = False) -> None:
    """Behind a reset of each side and an error of each side, in the second and the third call of
    the connection, and in one behind attempts that failed. apart: each call has a connection of its
    own."""
    call = bench.place_call(options=values(bench, 256, 5))
    does_all(bench, call, "a new call")
    for way in (call, call.turned()):
        reset(way)
        does_all(bench, call, f"behind a reset of {way.a.name}")
    if bench.model != "splice":
        for way in (call, call.turned()):
            error(way)
            does_all(bench, call, f"behind an error of {way.a.name}")
    call = next_call(call, apart=apart)
    does_all(bench, call, "in the second call of the connection")
    call = next_call(call.turned(), apart=apart)
    does_all(bench, call, "in the third call of the connection")
    end(call)
    a, _ = both(call)
    for attempt in (refused_by_b, given_up, without_a_route):
        if apart:
            a.close()
        a = attempt(bench, a)
    if apart:
        a.close()
    call = again(bench, a)
    does_all(bench, call, "in a call behind attempts that failed")
    end(call)


@purpose("SYS-INTEG-16")
def test_behind_resets_and_calls(bench: Bench) -> None:
    used_again_and_again(bench)
    bench.fence()


# Not the packets at the end of a call, which a router may leave unread as it closes (MAY-XOT-07).
COUNTED = (
    *(f"{what}_{way}" for what in ("calls", "data", "data_octets") for way in ("in", "out")),
    *(f"{what}_{way}" for what in ("interrupts", "resets") for way in ("in", "out")),
    *(f"{what}_confirmations_{way}" for what in ("interrupt", "reset") for way in ("in", "out")),
    *("provider_resets_in", "remote_resets_in"),
)


def keeps_connections(bench: Bench) -> bool:
    """Whether a second call went on the connection of the first, and that is still there."""
    call = bench.place_call()
    end(call)
    second = again(bench, call.a)
    end(second)
    bench.fence()
    return second.a is call.a and not is_gone(call.a)


@purpose("SYS-MIB-22")
def test_all_of_it_is_counted(bench: Bench) -> None:
    """A router that closes connections need not read the next Call on one: each has its own."""
    measure_age(bench)
    apart = not keeps_connections(bench)
    with counting(bench, *COUNTED):
        used_again_and_again(bench, apart=apart)


def of_two_moduli(bench: Bench) -> Iterator[Call]:
    """A call of modulo 128 to a destination of modulo 8, if the router has one."""
    called = bench.profile.addresses.modulo8_only
    if called is not None and bench.declared("P-MIXMOD") and bench.two_sided:
        yield bench.place_call(modulus=128, options={"called": called})


@purpose("SYS-INTEG-17")
def test_with_other_values(bench: Bench) -> None:
    """Values of each kind, then a call of B to A, and a fast select call."""
    different: dict[str, Any] = {"size": (128, 64), "window": (2, 5)}
    for options in (values(bench, 128, 1), values(bench, 512, 7), different):
        call = bench.place_call(options=options)
        does_all(bench, call, f"size {options['size']} and window {options['window']} asked for")
        end(call)
    if bench.declared("P-MOD128"):
        call = bench.place_call(options={"window": 16}, modulus=128)
        does_all(bench, call, "window 16 of modulo 128 asked for")
        end(call)
    for call in of_two_moduli(bench):
        does_all(bench, call, "modulo 128 at A, 8 at B")
        end(call)
    does_all(bench, call_of_b(bench), "in a call of B")
    if bench.declared("F-FS"):
        request = bench.call_request(fast_select=2, user_data=b"\xc0fast select, more than 16")
        does_all(bench, bench.place_call(request), "in a fast select call")
    bench.fence()


@purpose("SYS-INTEG-18")
def test_errors_of_every_kind(bench: Bench) -> None:
    """In a call with other values, behind two resets of each side, and the next one of its
    connection, in one of modulo 128, and in one of B."""
    call = bench.place_call(options=values(bench, 256, 5))
    for way in (call, call.turned()):
        for _ in range(2):
            reset(way)
            # The router has the other side's confirmation: it may have confirmed before.
            way.fence()
    is_reset_for_all(bench, call, "packet size 256 and window 5 asked for, two resets of each side")
    call = next_call(call)
    is_reset_for_all(bench, call, "in the second call of the connection")
    end(call)
    if bench.declared("P-MOD128"):
        is_reset_for_all(bench, bench.place_call(modulus=128), "modulo 128")
    for call in of_two_moduli(bench):
        is_reset_for_all(bench, call, "modulo 128 at A, 8 at B")
    is_reset_for_all(bench, call_of_b(bench), "in a call of B")
    bench.fence()


@purpose("XOT-PVC-30")
def test_on_a_permanent_circuit(bench: Bench) -> None:
    """When it is up, behind a reset of each end, and when it has been set up again."""
    call = circuit(bench)
    does_all(bench, call, "on a new circuit")
    for way in (call, call.turned()):
        here, there = both(way)
        here.send(ResetRequest(cause=0, diagnostic=0))
        there.expect(ResetIndication(cause=0, diagnostic=0))
        here.expect(ResetConfirmation())
        does_all(bench, call, f"on a circuit, behind a reset of {here.name}")
    closed(*both(call))
    call = circuit(bench)
    does_all(bench, call, "on a circuit that was set up again")
    closed(*both(call))
    bench.fence()


# What a permanent circuit carries besides RR, as far as it is known from what the tester sends.
CARRIED = (*(name for name in COUNTED if not name.startswith("calls")), "receive_not_ready_in")


@purpose("SYS-MIB-30")
def test_permanent_circuits_are_counted(bench: Bench) -> None:
    """All that a circuit does, and a reset of each end; behind it Data each way."""
    measure_age(bench)
    call = circuit(bench)
    with counting(bench, *CARRIED):
        does_all(bench, call, "on a circuit that is counted")
        for way in (call, call.turned()):
            here, there = both(way)
            here.send(ResetRequest(cause=0, diagnostic=0))
            there.expect(ResetIndication(cause=0, diagnostic=0))
            here.expect(ResetConfirmation())
            call.fence()
            call.fence_back()
    closed(*both(call))
    bench.fence()
