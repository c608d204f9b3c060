# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses with type of address and numbering plan, the A bit (X.25 5.2.1)."""

from __future__ import annotations

from itertools import product
from typing import Any

from scapy_x25.x25 import CALL_REQUEST

from .callers import takes_any_caller
from .calls import (
    accepted,
    arrives_at,
    callers,
    callers_and_moduli,
    moduli,
    needs_whole_addresses,
    numbers,
    of_modulus,
    other_end,
    takes_fast_select,
)
from .clearing import end, give_up, not_obtainable
from .language import (
    CLOSED,
    Bench,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    Packet,
    PacketSize,
    Side,
    WindowSize,
    one_of,
    purpose,
)
from .occasion import amid
from .reactions import call_arrived, connects, header, refuses

# International number of X.121.
INTERNATIONAL, X121 = 1, 3
NAMES = ("called", "calling")
MORE_DIGITS, OF_FIFTEEN = "123456789012345", "908172635445362"


def block(called: str, calling: str) -> dict[str, Any]:
    """Both addresses, with type and plan where there are digits."""
    found: dict[str, Any] = {}
    for name, digits in zip(NAMES, (called, calling), strict=True):
        found[f"{name}_address"] = digits
        if digits:
            found |= {f"{name}_type": INTERNATIONAL, f"{name}_plan": X121}
    return found


def as_it_may_be(kind: type[Packet], called: str, calling: str, **more: Any) -> list[Packet]:
    """With type and plan, or in the other format without (X.25 5.2.1); an address that was not
    there a network may put in."""
    whole = {n: v for n, v in block(called, calling).items() if calling or "calling" not in n}
    plain = {n: v for n, v in whole.items() if n.endswith("_address")}
    return [kind(q=1, **whole, **more), kind(q=0, **plain, **more)]


def call_request(bench: Bench, called: str, calling: str, modulus: int, **options: Any) -> Packet:
    plain = bench.call_request(called=called, calling=calling, **options)
    request = CallRequest(
        q=1,
        facilities=plain.facilities,
        user_data=plain.user_data,
        **block(called, calling),
    )
    return of_modulus(request, modulus)


@purpose("PLP-CALL-56")
def test_addresses_with_type_and_plan(bench: Bench) -> None:
    """The longest, of 17 half-octets, and shorter ones of odd and even sum; without calling
    address; with fast select. From A and from B, modulo 8 and 128. Each is answered with the
    addresses that came, or refused."""
    needs_whole_addresses(bench)
    fast = [at for at in callers(bench) if bench.declared("F-FS") and takes_fast_select(bench, at)]
    for (at, modulus), kind in product(callers_and_moduli(bench), (None, 2)):
        if kind is not None and at not in fast:
            continue
        with amid(bench, f"from {at.upper()}, modulo {modulus}, fast select {kind}"):
            each_length(bench, at, modulus, kind)
    bench.fence()


def each_length(bench: Bench, at: str, modulus: int, kind: int | None) -> None:
    there, named = other_end(at), numbers(bench)
    called, own = named[there] or "", named[at] or ""
    callers = ["", OF_FIFTEEN, OF_FIFTEEN[:14], own]
    if not takes_any_caller(bench, at=at):
        callers = ["", own]
    longest = 15 if bench.two_sided else len(called)
    lengths = {longest} if kind else {len(called), len(called) + 1, 14, longest}
    for length in sorted(lengths):
        digits = (called + MORE_DIGITS)[:length]
        for calling in callers:
            near = bench.connect(at=at, modulus=modulus)
            request = call_request(bench, digits, calling, modulus, fast_select=kind)
            near.send(request)
            if digits != called and not calling and not bench.went_on(near, at=there):
                near.expect(not_obtainable(bench), CLOSED)
                near.send(ClearConfirmation())
                bench.remark(f"the route to {there.upper()} does not take {length} digits")
                break
            wanted = as_it_may_be(CallRequest, digits, calling, user_data=request.user_data)
            far = arrives_at(bench, there, *wanted)
            if isinstance(far, Side) and calling != own:
                give_up(near, far)
                continue
            answered(bench, near, far, request)


def answered(bench: Bench, near: Side, far: Any, request: Packet) -> None:
    """The answer has the addresses that came, in their format; the caller gets them in either, or
    none of them."""
    came = getattr(far, "call", None)
    answer = None
    if came is not None and came.fields.get("q"):
        names = [f"{name}_{part}" for name in NAMES for part in ("type", "plan", "address")]
        given = {name: getattr(came, name) for name in names if getattr(came, name) is not None}
        answer = CallAccepted(q=1, **given)
    known = [request.called_address, *([came.called_address] if came is not None else [])]
    connected = [
        CallAccepted(q=q, called_address=digits) for q in (1, 0) for digits in dict.fromkeys(known)
    ]
    connected.append(CallAccepted(called_address_length=one_of(0, None)))
    end(accepted(bench, near, far, request, answer, connected))


def half_octets(called: str, calling: str) -> bytes:
    """The address block with these half-octets."""
    both = called + calling
    return bytes((len(called), len(calling))) + bytes.fromhex(both + "0" * (len(both) % 2))


@purpose("PLP-CALL-57")
def test_malformed_addresses_with_type_and_plan(bench: Bench) -> None:
    """Digits above 9, addresses of a type alone, and lengths beyond the packet, modulo 8 and 128.
    What is wrong in a calling address may go on, as in PLP-MALF-08."""
    own = bench.profile.addresses.a or OF_FIFTEEN
    right = {"called": f"13{bench.far_end.address}", "calling": f"13{own}"}
    for modulus, name in product(moduli(bench), NAMES):
        whole = right[name]
        wrong = [
            whole[:at] + digit + whole[at + 1 :]
            for digit in "af"
            for at in (2, len(whole) // 2, len(whole) - 1)
        ]
        for half in (*wrong, "1"):
            blocks = half_octets(**{**right, name: half})
            with amid(bench, f"the {name} address is {half}, modulo {modulus}"):
                refused_for_addresses(bench, blocks, name, modulus)
        cut = bytes((17, 17)) + half_octets(**right)[2:5]
        refused_for_addresses(bench, cut, "called", modulus)
    bench.fence()


def refused_for_addresses(bench: Bench, blocks: bytes, name: str, modulus: int) -> None:
    """A Call with this address block and nothing else that is wrong."""
    a = bench.connect(modulus=modulus)
    field = bytes(PacketSize()) + bytes(WindowSize())
    a.put(header(a, CALL_REQUEST, bits=0x80) + blocks + bytes((len(field),)) + field)
    if name == "calling" and call_arrived(bench, a):
        bench.remark("what is wrong in a calling address is passed on")
        connects(bench, a)
        return
    no_route = bench.cause(0x13, 0x0D, *sorted(bench.profile.causes_no_route))
    refuses(bench, a, no_route, 38, 67, 68, 69, *range(112, 123))
