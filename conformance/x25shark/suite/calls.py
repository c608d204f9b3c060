# SPDX-License-Identifier: GPL-2.0-or-later
"""How calls begin, and the values agreed for them (X.25 4.1, 6.12; RFC 1613 6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from scapy.packet import Packet
from scapy_x25 import (
    CallAccepted,
    CallRequest,
    ClearIndication,
    FastSelectReverseCharging,
    Interrupt,
    InterruptConfirmation,
    Marker,
    PacketSize,
    WindowSize,
)

from ..judges.template import Lacks, decode, lacks
from ..judges.values import between
from ..sides.agreement import DEFAULTS, offer_of, towards
from ..sides.arriving import arriving
from ..sides.bench import Bench, Call
from ..sides.outcomes import Inconclusive, NoChannel
from ..sides.side import AbsentSide, Side
from .clearing import AnySide, end, give_up, refused
from .windows import fill_window, may_send

ADDRESS_FIELDS = ("called_address", "calling_address")
"""Of a Call, and of the answers to it (X.25 5.2.1.1)."""


def arrives(bench: Bench, *templates: Packet) -> AnySide:
    """The call at B as one of the templates says; where the router ends it itself, no side."""
    return bench.incoming(*templates) if bench.two_sided else AbsentSide()


def pending(
    bench: Bench, request: Packet | None = None, *, modulus: int = 8, at: str = "a"
) -> tuple[Side, Side]:
    """A Call of this side that has arrived at the other one, which has not answered yet. Raises
    Inconclusive."""
    request = request_from(bench, at) if request is None else request
    with bench.preamble():
        near = bench.connect(at=at, modulus=modulus)
        near.send(of_modulus(request, modulus))
        return near, bench.incoming(at=other_end(at))


def moduli(bench: Bench) -> tuple[int, ...]:
    """Those that a call may have: on a line the modulo is that of the line, and the calls of a DTE
    are as it places them where it is not told (T6)."""
    chosen = not bench.lines and (not bench.dials or bench.profile.calls_as_told)
    return (8, 128) if bench.declared("P-MOD128") and chosen else (8,)


def of_modulus(request: Packet, modulus: int) -> Packet:
    """The Call says its modulus itself, for what is made of it."""
    if modulus == 128:
        request.fields["modulo"] = 2
    return request


def accepted(
    bench: Bench,
    a: Side,
    b: AnySide,
    request: Packet,
    answer: Packet | None = None,
    connected: Sequence[Packet] = (),
) -> Call:
    """B accepts with this answer, A is connected (as one of the templates says); data may flow.

    Without an answer B takes the values that A asked for, as nearly as its offer lets it.
    """
    b.send(b.acceptance if answer is None else answer)
    came = a.expect(*(connected or (CallAccepted(),)))
    assert came is not None
    bench.settle(a, b, request, came)
    return Call(bench, a, b)


def call_of_b(bench: Bench, b: Side | None = None) -> Call:
    """A call from B to A; b: the side of the connection, unless it is to be a new one."""
    b = b or bench.connect(at="b")
    request = request_from(bench, "b")
    b.send(request)
    a = bench.incoming(CallRequest(user_data=request.user_data), at="a")
    return accepted(bench, b, a, request)


def numbers(bench: Bench) -> dict[str, str | None]:
    """The addresses of the two sides, by their names in the profile."""
    return {"a": bench.profile.addresses.a, "b": bench.far_end.address}


def other_end(at: str) -> str:
    """The other side."""
    return "a" if at == "b" else "b"


def request_from(bench: Bench, at: str, **options: Any) -> CallRequest:
    """A Call of this side to the other one; options: as of Bench.call_request()."""
    named = numbers(bench)
    return bench.call_request(called=named[other_end(at)], calling=named[at], **options)


def callers(bench: Bench) -> tuple[str, ...]:
    """The sides that may call the other one: B where the router takes its calls to A."""
    called = bench.two_sided and bench.profile.addresses.a is not None
    return ("a", "b") if called and ("a" in bench.lines or bench.declared("X-OUT")) else ("a",)


def towards_xot(bench: Bench) -> list[tuple[str, str]]:
    """The side that calls and the one where the router opens the connection for it."""
    both_ways = [(at, other_end(at)) for at in callers(bench)]
    return [(at, there) for at, there in both_ways if there not in bench.lines]


def callers_and_moduli(bench: Bench) -> Iterator[tuple[str, int]]:
    """The side that calls and the modulus, for all calls that there may be."""
    return product(callers(bench), moduli(bench))


def arrives_at(bench: Bench, there: str, *templates: Packet) -> AnySide:
    """As arrives(), at either side."""
    return bench.incoming(*templates, at=there) if there == "a" else arrives(bench, *templates)


def channel_is_free(bench: Bench, near: AnySide) -> None:
    """The channel of a line on which a call has ended takes another one of the same station."""
    at = near.name.lower()
    if isinstance(near, Side) and at in bench.lines and at in callers(bench):
        end(free_again(bench, near))


def free_again(bench: Bench, near: Side) -> Call:
    """A call from a line, on the channel of the last one."""
    at = near.name.lower()
    request = request_from(bench, at)
    near = bench.to_call_again(near)
    near.send(request)
    far = bench.incoming(CallRequest(user_data=request.user_data), at=other_end(at))
    far.send(far.acceptance)
    near.expect(CallAccepted(), note="the channel is free again")
    return Call(bench, near, far)


def seen_alike(call: Call, other: Call) -> Call:
    """Another call of the same ends, seen from the end that this one is seen from."""
    return other if other.a.name == call.a.name else other.turned()


def takes_fast_select(bench: Bench, at: str) -> bool:
    """Whether fast select calls of this side are taken at the other one. Side B is known to take
    them (F-FS); whether A has subscribed to them (X.25 6.17) only the router knows."""
    if at == "a":
        return True
    near = bench.connect(at=at)
    near.send(request_from(bench, at, fast_select=2))
    if bench.went_on(near, at=other_end(at)):
        give_up(near, bench.incoming(at=other_end(at)))
        return True
    refused(bench, near, ClearIndication(cause=bench.cause(0x29)))
    bench.remark("fast select calls of B are refused")
    return False


def modes(call: Call) -> Iterator[Call]:
    """The call, and one of modulo 128 with the same window, if it has two ends of the tester and
    the router takes a second call."""
    yield call
    bench = call.bench
    if not call.b.present or 128 not in moduli(bench):
        return
    if bench.profile.limits.calls == 1:
        bench.remark("modulo 128 was not looked at: the router takes 1 call (limits.calls)")
        return
    window = min(call.a.window, call.a.window_in)
    try:
        other = bench.place_call(modulus=128, options={"window": window})
    except NoChannel as full:
        bench.remark(f"modulo 128 was not looked at: {full}")
        return
    yield seen_alike(call, other)


def trusts_the_ends(bench: Bench) -> bool:
    """Whether the checks of a call may be left to its ends (section 6.2 of RFC 1613)."""
    return bench.model in ("splice", "end-to-end")


def checks_numbers(bench: Bench) -> bool:
    """Whether the router itself has to refuse a wrong number in a call."""
    return bench.model != "end-to-end" or bench.declared("N-CHECK")


def checks_calls(bench: Bench) -> bool:
    """Whether the router itself has to refuse what has no place in a call."""
    return not trusts_the_ends(bench) or bench.declared("N-CHECK")


def needs_trust(bench: Bench, what: str) -> None:
    """An error was left to the ends. Raises Inconclusive where the profile does not say so."""
    bench.remark(f"{what} passed on")
    if bench.model == "end-to-end" and not bench.declared("N-TRUST"):
        bench.fence()
        raise Inconclusive(f"{what} passed on: the profile should declare N-TRUST")


def needs_whole_addresses(bench: Bench) -> None:
    """Raises NotApplicable where the profile says that the router rewrites the called address: of
    one with type and plan it says nothing."""
    called = bench.far_end.address
    arrives = arriving(bench.profile.addresses, called)
    bench.need(arrives in (None, called), "a called address that arrives as it is")


def not_taken(bench: Bench, called: str, kinds: Iterable[int], charging: int, *causes: int) -> None:
    """Each of these kinds of fast select, with reverse charging or without, is refused so."""
    for kind in kinds:
        octet = FastSelectReverseCharging(fast_select=kind, reverse_charging=charging)
        a = bench.connect()
        a.send(bench.call_request(called=called, facilities=[octet, PacketSize(), WindowSize()]))
        refused(bench, a, ClearIndication(cause=bench.cause(*causes)))


# values in force


def at_b(bench: Bench, request: Packet) -> list[Packet]:
    """Packet size and window size that the Call at B may offer, where A asked so (X.25 6.12).

    A router with values of its own on each side may offer any that are legal.
    """
    if bench.model == "local":
        size, most = between(4, 12), 127 if request.fields.get("modulo") == 2 else 7
        window = between(1, most)
        return [PacketSize(called=size, calling=size), WindowSize(called=window, calling=window)]
    return [nearer(asked, default) for asked, default in _asked(request)]


def calling_at_b(digits: str) -> dict[str, int | str]:
    """The calling address of the Call at B: where there was none, a network may put one in."""
    if not digits:
        return {}
    return {"calling_address_length": len(digits), "calling_address": digits}


def offers(bench: Bench, request: Packet, there: str = "b") -> list[list[Packet | Lacks]]:
    """The same, as facilities of the Call: on a serial line they may stand for the defaults by
    being absent (X.25 6.12), over XOT both are there (RFC 1613 6.1)."""
    named = at_b(bench, request)
    if there not in bench.profile.line.by_side():
        return [list(named)]
    return [list(choice) for choice in product(*([one, lacks(type(one))] for one in named))]


def nearer(asked: Packet, default: int) -> Packet:
    """The facility with values from those asked for to the default."""
    octets = {}
    for octet in ("called", "calling"):
        value = asked.getfieldval(octet)
        octets[octet] = between(min(value, default), max(value, default))
    return type(asked)(**octets)


def agreed_by(b: Side, answer: Packet) -> tuple[PacketSize, WindowSize]:
    """The values that B agrees to by an answer: what it does not name is as offered."""
    assert b.call is not None
    offered, named = offer_of(b.call), offer_of(answer)
    size = named[0] if _names(answer, PacketSize) else offered[0]
    return size, named[1] if _names(answer, WindowSize) else offered[1]


def answer_to(b: Side, *, size: int, window: int) -> CallAccepted:
    """B's answer with these values, or the nearest that what it was offered lets it give."""
    assert b.call is not None
    answers = []
    for wanted, offered, (kind, default) in zip(
        (size, window), offer_of(b.call), DEFAULTS, strict=True
    ):
        octets = {
            octet: towards(wanted, offered.getfieldval(octet), default)
            for octet in ("called", "calling")
        }
        answers.append(kind(**octets))
    return CallAccepted(facilities=answers)


def at_a(bench: Bench, request: Packet, agreed: Sequence[Packet]) -> list[Packet]:
    """Call Connected for what B has agreed to; see values_at_a()."""
    return [CallAccepted(facilities=f) for f in values_at_a(bench, request, agreed)]


def values_at_a(
    bench: Bench, request: Packet, agreed: Sequence[Packet]
) -> list[list[Packet | Lacks]]:
    """Facilities of Call Connected for what B has agreed to: these values, or what else may be.

    A router with values of its own on each side may have others (X.25 6.12). A facility that the
    Call has may be missing if its values are as asked for (RFC 1613 6.1); on a serial line one that
    the Call does not have, if its values are the defaults (X.25 6.12).
    """
    found: list[list[Packet | Lacks]] = []
    for (asked, default), value in zip(_asked(request), agreed, strict=True):
        local = bench.model == "local"
        named = nearer(asked, default) if local else type(value)(**_pair(value))
        missing = local or _pair(asked) == _pair(value)
        may_lack = missing and (_names(request, type(asked)) or "a" in bench.profile.line.by_side())
        found.append([named, *([lacks(type(asked))] if may_lack else [])])
    return [list(choice) for choice in product(*found)]


def _asked(request: Packet) -> Iterator[tuple[Packet, int]]:
    return zip(offer_of(request), (default for _, default in DEFAULTS), strict=True)


def _pair(facility: Packet) -> dict[str, int]:
    return {octet: facility.getfieldval(octet) for octet in ("called", "calling")}


def _names(packet: Packet, kind: type[Packet]) -> bool:
    return any(isinstance(f, kind) for f in packet.fields.get("facilities") or ())


def received_call(side: Side) -> Packet:
    """The first packet of a call: the Incoming Call of a called side."""
    side.wait_until(lambda: bool(side.arrivals.units or side.connection.end))
    return decode(side.arrivals.units[0].packet if side.arrivals.units else b"")


def next_packet(side: Side) -> Packet:
    """The next packet of a side, which the case has not looked at yet."""
    side.wait_until(
        lambda: side.connection.end is not None or bool(side.arrivals.since(side.cursor))
    )
    units = side.arrivals.since(side.cursor)
    return decode(units[0].packet if units else b"")


def next_facilities(side: Side) -> list[Packet]:
    """The facilities of the next packet of a side, which the case has not looked at yet."""
    return list(next_packet(side).fields.get("facilities") or ())


def holding(side: Side, wanted: Packet) -> bytes:
    """The facility field that the next packet must have to hold this facility, octet for octet.

    Which others there are, and in which order, is the router's own matter (X.25 7.1).
    """
    found = next_facilities(side)
    kept = [wanted if type(facility) is type(wanted) else facility for facility in found]
    if not any(facility is wanted for facility in kept):
        kept.append(wanted)
    return b"".join(bytes(facility) for facility in kept)


def behind_marker(side: Side, marked: Sequence[Packet]) -> bytes:
    """The facility field that the next packet must have to end with exactly these facilities.

    What precedes them is up to the router: X.25 facilities, and behind a marker
    those of a network (X.25 7.1). Facilities of DTEs are none of its.
    """
    own, rest, wanted = b"", list(next_facilities(side)), _octets(marked)
    while rest and _octets(rest) != wanted and not _of_dtes(rest[0]):
        own += bytes(rest.pop(0))
    return own + wanted


def _octets(field: Sequence[Packet]) -> bytes:
    return b"".join(bytes(facility) for facility in field)


def _of_dtes(facility: Packet) -> bool:
    return isinstance(facility, Marker) and facility.value == Marker().value


def carries(call: Call) -> None:
    """1500 octets each way, or one packet if that is longer, in packets no longer than each
    receiving side has agreed to.

    Where the router ends the call, one packet as long as it takes: how much more is read at once,
    and what for, is its own matter there.
    """
    if isinstance(call.b, AbsentSide):
        octets = call.bench.record(call.a.packet_size)
        call.a.send_message(octets)
        call.a.expect_message(octets, longest=call.a.size_in)
        return
    for sender, receiver in ((call.a, call.b), (call.b, call.a)):
        octets = call.bench.record(max(1500, sender.packet_size))
        sender.send_message(octets)
        receiver.expect_message(octets, longest=receiver.size_in)


def window_holds(sender: AnySide, receiver: AnySide) -> None:
    """Towards the receiver the router never has more packets open than its window.

    The receiver gives no P(R), the sender sends what it may, a window more than the receiver's if
    the router opens its own, and is not reset for it. An Interrupt, which Data may not hold
    up (X.25 4.3.7), shows that all that was to come has come. How much of a window the router uses,
    and when it opens the sender's, is its own matter.
    """
    if isinstance(sender, AbsentSide) or isinstance(receiver, AbsentSide):
        return
    receiver.withholding = True
    agreed = receiver.window_in
    parts = [bytes((number + 1,)) * 5 for number in range(agreed + sender.window)]
    filled = fill_window(sender, receiver, parts[:agreed], most=agreed)
    for octets in parts[len(filled.sent) :]:
        if not may_send(sender):
            break
        filled.send_one_more(sender, octets)
    mark, due = receiver.cursor, filled.due
    interrupt_passes(sender, receiver, filled.passing)
    receiver.expect_count(filled.any_data, 0, due, start=mark)
    receiver.withholding = False
    receiver.acknowledge()
    filled.take_rest()


def interrupt_passes(
    sender: Side, receiver: Side, passing: Sequence[Packet] = (), note: str = ""
) -> None:
    """An Interrupt arrives next (behind what may pass), and its confirmation returns."""
    sender.send(Interrupt(user_data=b"!"))
    receiver.expect(Interrupt(user_data=b"!"), passing=passing, note=note)
    receiver.send(InterruptConfirmation())
    sender.expect(InterruptConfirmation())
