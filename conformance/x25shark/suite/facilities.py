# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls with facilities: what they have in common, and DTE facilities to pass on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from scapy_x25 import (
    CalledAddressExtension,
    CallingAddressExtension,
    EndToEndTransitDelay,
    ExpeditedDataNegotiation,
    Facility,
    MinimumThroughputClass,
    Priority,
    Protection,
)

from ..judges.template import Lacks
from .calls import arrives, of_modulus, request_from
from .clearing import end, give_up, refused
from .language import (
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    Marker,
    Packet,
    PacketSize,
    Side,
    ThroughputClass,
    WindowSize,
    between,
    lacks,
)

DTE = Marker(value=0x0F)
BOTH: tuple[type[Facility], ...] = (PacketSize, WindowSize)


def error(bench: Bench, *diagnostics: int) -> ClearIndication:
    """The Clear for facilities: invalid facility request or local procedure error."""
    return ClearIndication(cause=bench.cause(0x03, 0x13), diagnostic=bench.diagnostic(*diagnostics))


def call_with(
    bench: Bench, *facilities: Packet, modulus: int = 8, at: str = "a"
) -> tuple[Side, CallRequest]:
    """A Call of A, or of B, with exactly these facilities."""
    side = bench.connect(at=at, modulus=modulus)
    request = request_from(bench, at, facilities=facilities)
    side.send(of_modulus(request, modulus))
    return side, request


def refused_or(
    bench: Bench,
    made: tuple[Side, CallRequest],
    wrong: ClearIndication,
    offered: Sequence[Packet | Lacks],
    remark: str,
    *,
    may_lack: Sequence[type[Facility]] = (),
    may_lack_at_b: Sequence[type[Facility]] = (),
) -> None:
    """The Call is refused, or goes on to B (in T2: is answered) with these values and a remark.

    may_lack: what the answer need not name, as packet size and window size where they are as the
    Call named them (RFC 1613 6.1). may_lack_at_b: what B need not be told.
    """
    a, request = made
    lacking = may_lack_at_b if bench.two_sided else may_lack
    choices: list[list[Packet | Lacks]] = [
        [one, *(lacks(kind) for kind in lacking if isinstance(one, kind))] for one in offered
    ]
    values = [list(choice) for choice in product(*choices)]
    if not bench.two_sided:
        answers = [CallAccepted(facilities=choice) for choice in values]
        came = a.expect(*answers, wrong, CLOSED)
        if isinstance(came, CallAccepted):
            bench.remark(remark)
            end(Call(bench, a, arrives(bench)))
        else:
            a.send(ClearConfirmation())
    elif bench.went_on(a):
        bench.remark(remark)
        whole = [CallRequest(facilities=one, user_data=request.user_data) for one in values]
        give_up(a, bench.incoming(*whole))
    else:
        refused(bench, a, wrong)


def with_facilities(facilities: Sequence[Packet | Lacks]) -> CallRequest:
    return CallRequest(facilities=list(facilities))


def for_dtes(bench: Bench, *facilities: Packet) -> tuple[Packet, ...]:
    """These behind the marker of the DTEs; nothing where the router has none (F-DTE)."""
    return (DTE, *facilities) if bench.declared("F-DTE") else ()


def protection(octets: int) -> Protection:
    """One of so many octets: the format, the length of the level asked for, the level (Annex G)."""
    level = max(octets - 2, 0)
    return Protection(value=(bytes((0xC0, level)) + b"\xff" * level)[:octets])


DTE_FACILITIES: tuple[Packet, ...] = (
    DTE,
    CalledAddressExtension(use=1, address="1234567890123456789012345678901234567890"),
    CallingAddressExtension(use=0, address="98765"),
    EndToEndTransitDelay(cumulative=10, requested=200, maximum=3000),
    Priority(value=b"\x01\x02\x03\x04\x05\x06"),
    ExpeditedDataNegotiation(value=1),
    MinimumThroughputClass(called=3, calling=4),
)


MOST_FACILITIES = 109


def octets_of(facilities: Iterable[Packet]) -> int:
    """Length of a facility field with these."""
    return sum(len(bytes(facility)) for facility in facilities)


def added(came: Packet | None, sent: Iterable[Packet]) -> int:
    """Octets by which a facility field has grown on its way: a network may put a throughput class
    into every Call (X.25 6.13), or something of its own (7.1)."""
    assert came is not None
    return max(0, int(came.facility_length or 0) - octets_of(sent))


def at_most(answered: Packet) -> ThroughputClass:
    """X.25 6.13: Call Connected has the classes that finally apply, which B may have lowered."""
    called, calling = answered.called, answered.calling
    return ThroughputClass(called=between(3, called), calling=between(3, calling))
