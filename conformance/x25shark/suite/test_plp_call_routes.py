# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a call goes, and with which addresses (X.25 5.2.1, 6.24 to 6.26; RFC 1613 6.1)."""

from __future__ import annotations

import time

from .anew import called_on
from .callers import takes_any_caller
from .calls import (
    accepted,
    behind_marker,
    calling_at_b,
    carries,
)
from .clearing import (
    end,
    generic,
    give_up,
    not_obtainable,
    refused,
)
from .facilities import for_dtes
from .language import (
    CLOSED,
    Bench,
    CallAccepted,
    CalledAddressExtension,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Side,
    one_of,
    purpose,
)
from .many import at_a_time, reachable_again
from .reactions import connects


def destination(bench: Bench, digits: str) -> str | None:
    """Where the profile's prefixes lead these digits, by its rule: "b", "b2", or nowhere."""
    prefixes = bench.profile.addresses.prefixes
    matching = [prefix for prefix in prefixes if digits.startswith(prefix)]
    if not matching:
        return None
    rule = bench.profile.route_rule
    return prefixes[max(matching, key=len) if rule == "longest" else matching[0]]


def goes_to(bench: Bench, digits: str, at: str) -> None:
    """A call for these digits arrives there.

    A network whose numbers have no more digits than some may refuse longer ones (X.121); then the
    call for as many digits as ADDR-B has goes the same way.
    """
    a, usual = bench.connect(), len(bench.far_end.address)
    a.send(bench.call_request(called=digits))
    if len(digits) > usual and not bench.went_on(a, at=at):
        refused(bench, a, not_obtainable(bench))
        bench.remark(f"a route takes no {len(digits)} digits")
        if destination(bench, digits[:usual]) == at:
            goes_to(bench, digits[:usual], at)
        return
    give_up(a, bench.incoming(CallRequest(called_address=digits), at=at))


@purpose("PLP-CALL-05")
def test_route_that_the_rule_selects(bench: Bench) -> None:
    """One call for each prefix of the profile, and one for ADDR-B."""
    for prefix in bench.profile.addresses.prefixes:
        digits = (prefix + "00000000")[:15]
        at = destination(bench, digits)
        assert at is not None
        goes_to(bench, digits, at)
    goes_to(bench, bench.far_end.address, "b")
    bench.fence()


@purpose("PLP-CALL-06")
def test_address_without_route(bench: Bench) -> None:
    """A further Call on its connection, unless the router closes that, gets through."""
    no_route = bench.profile.addresses.no_route
    bench.need(no_route, "the profile names no address without route (addresses.no_route)")
    a = bench.connect()
    a.send(bench.call_request(called=no_route))
    refused(bench, a, not_obtainable(bench))
    connects(bench, called_on(bench, a), note="A calls again behind the refused call")
    bench.fence()


@purpose("PLP-CALL-07")
def test_destination_that_is_down(bench: Bench) -> None:
    """B listens no more: its TCP answers with RST."""
    listener = bench.listeners.refuse("b")
    listener.stop()
    try:
        a = bench.connect()
        a.send(bench.call_request())
        refused(bench, a, ClearIndication(cause=bench.cause(*sorted(bench.profile.causes_down))))
    finally:
        listener.resume()
    reachable_again(bench)
    bench.fence()


@purpose("PLP-CALL-30")
def test_route_back_to_the_caller(bench: Bench) -> None:
    """A call that comes back goes through: refused there, then answered, with data each way."""
    for answered in (False, True):
        a = bench.connect()
        request = bench.call_request(called=bench.profile.addresses.loop)
        a.send(request)
        if not bench.went_on(a, at="a"):
            refused(bench, a, ClearIndication(cause=bench.network_clear))
            break
        back = bench.incoming(CallRequest(user_data=request.user_data), at="a")
        if answered:
            call = accepted(bench, a, back, request)
            carries(call)
            end(call)
        else:
            give_up(a, back)
        bench.fence()


@purpose("PLP-CALL-31")
def test_route_loop_is_stopped(bench: Bench) -> None:
    """The route leads to the router itself; other calls go on meanwhile.

    The loop may take a few channels until the router stops it.
    """
    at_a_time(bench, 1, spare=15)
    a = bench.connect()
    a.send(bench.call_request(called=bench.profile.addresses.loop_to_router))
    bench.fence("other calls go on")
    error = ClearIndication(cause=bench.network_clear)
    if a.expect(error, CLOSED, within=bench.profile.times.t21) is None:
        bench.remark("the loop ended by a close of TCP, without a Clear")
    a.send(ClearConfirmation())
    bench.fence()


@purpose("PLP-CALL-32")
def test_incoming_calls_barred(bench: Bench) -> None:
    barred = bench.profile.addresses.barred
    bench.need(barred, "the profile names no destination that bars calls (addresses.barred)")
    a = bench.connect()
    a.send(bench.call_request(called=barred))
    refused(
        bench,
        a,
        ClearIndication(cause=bench.cause(0x0B), diagnostic=bench.diagnostic(*generic(70))),
    )
    bench.fence()


def rewrites(bench: Bench) -> list[tuple[str, str]]:
    """Called digits, and digits that arrive in their place: longer, then shorter."""
    addresses = bench.profile.addresses
    found = [
        (route["called"], route["arrives"])
        for route in (addresses.rewrite_longer, addresses.rewrite_shorter)
        if route is not None
    ]
    bench.need(found, "the profile names no rewriting (addresses.rewrite_longer, rewrite_shorter)")
    return found


def arrives_as(
    bench: Bench, sent: tuple[str, str], wanted: tuple[str, str], *, fast_select: bool = False
) -> None:
    """A call with these addresses (called, calling) arrives with those, all else unchanged.

    Facilities behind the marker of the DTEs show that the field is where it has to be; what stands
    in front of it is the router's own matter. D=1 is asked for where the router has it.
    """
    user_data = b"\xc0" + bench.random.randbytes(127 if fast_select else 15)
    digits = f"{bench.random.randrange(10_000):04}"
    dte = for_dtes(bench, CalledAddressExtension(use=0, address=digits))
    d = int(bench.declared("P-DBIT"))
    a = bench.connect()
    request = bench.call_request(
        called=sent[0],
        calling=sent[1],
        user_data=user_data,
        more=dte,
        fast_select=2 if fast_select else None,
    )
    request.d = d
    a.send(request)
    b = bench.listeners.accept()
    template = CallRequest(
        d=d,
        called_address=wanted[0],
        facilities=behind_marker(b, dte),
        user_data=user_data,
        **calling_at_b(wanted[1]),
    )
    if wanted[1] != sent[1]:
        # What the router puts in arrives as the profile says, whatever becomes of others.
        template.calling_address = one_of(wanted[1])
    b.expect(template)
    give_up(a, b)


@purpose("PLP-CALL-33")
def test_rewriting_changes_the_addresses_only(bench: Bench) -> None:
    for called, at_b in rewrites(bench):
        calling = bench.profile.addresses.a
        for fast_select in (False, True) if bench.declared("F-FS") else (False,):
            arrives_as(bench, (called, calling), (at_b, calling), fast_select=fast_select)
    bench.fence()


@purpose("PLP-CALL-34")
def test_second_destination_is_tried(bench: Bench) -> None:
    """B refuses TCP connections; the call arrives at B2, once."""
    alternate = bench.profile.addresses.alternate
    bench.need(alternate, "the profile names no address with two routes (addresses.alternate)")
    listener = bench.listeners.refuse("b")
    listener.stop()
    try:
        a = bench.connect()
        request = bench.call_request(called=alternate)
        a.send(request)
        b2 = bench.incoming(CallRequest(user_data=request.user_data), at="b2")
        call = accepted(bench, a, b2, request)
        call.fence()
        end(call)
    finally:
        listener.resume()
    reachable_again(bench)
    bench.fence()


@purpose("PLP-CALL-35")
def test_call_is_forwarded_once(bench: Bench) -> None:
    """200 calls; for 20 of them B's TCP leaves the first SYN without an answer.

    B refuses the others, as many as the router has channels at least: none of them is lost. A
    closes behind each: a router that closes behind its Clear may count the call until then.
    """
    for _ in range(max(180, min(bench.profile.limits.calls or 0, 300) + 1)):
        a = bench.connect()
        request = bench.call_request()
        a.send(request)
        give_up(a, bench.incoming(CallRequest(user_data=request.user_data)))
        a.close()
    slow: dict[bytes, Side] = {}
    began = time.monotonic()
    listener = bench.listeners.refuse("b")
    listener.ignore()
    try:
        for _ in range(at_a_time(bench, 20)):
            a = bench.connect()
            request = bench.call_request()
            a.send(request)
            slow[request.user_data] = a
        bench.loop.wait(lambda: False, 0.6)
    finally:
        listener.heed()
    while slow:
        bench.loop.wait(
            lambda: bench.listeners.is_called() or bool(ended_at_a(slow)), bench.reaction_limit
        )
        b = bench.listeners.take_called() if bench.listeners.is_called() else None
        over = ended_at_a(slow)
        if b is None and over:
            # T21, or the router's patience with B's TCP, which no clause bounds, was over before.
            bench.remark("a call was given up before B's TCP answered")
            refused(bench, slow.pop(over[0]), ClearIndication(cause=bench.network_clear))
            continue
        b = b or bench.listeners.accept()
        came = b.expect(CallRequest(user_data=one_of(*slow)))
        assert came is not None
        a = slow.pop(came.user_data)
        if time.monotonic() - began < bench.profile.times.t21 / 2:
            give_up(a, b)
        else:
            give_up_late(a, b)
    bench.fence()


def ended_at_a(calls: dict[bytes, Side]) -> list[bytes]:
    """The user data of those calls that the router has ended at A."""
    return [
        user_data
        for user_data, a in calls.items()
        if a.phase == "being cleared" or a.connection.end is not None
    ]


def give_up_late(a: Side, b: Side) -> None:
    """B refuses what T21 may have ended (X.25 Table D-2)."""
    b.send(ClearRequest(cause=0, diagnostic=0))
    a.expect(ClearIndication())
    a.send(ClearConfirmation())
    b.expect(ClearConfirmation(), ClearIndication(), CLOSED)


@purpose("PLP-CALL-36")
def test_prefix_matches_leading_digits_only(bench: Bench) -> None:
    """The longest prefix cut to, and filled up to, lengths around those of all prefixes."""
    longest = max(bench.profile.addresses.prefixes, key=len)
    chain = [p for p in bench.profile.addresses.prefixes if longest.startswith(p)]
    lengths = {len(p) + more for p in chain for more in (0, 1)} | {len(longest) - 1, 15}
    for length in sorted(n for n in lengths if n <= 15):
        digits = (longest + "000000000000000")[:length]
        at = destination(bench, digits)
        if at is not None:
            goes_to(bench, digits, at)
    no_route = bench.profile.addresses.no_route
    if no_route is not None:
        a = bench.connect()
        a.send(bench.call_request(called=(no_route + longest)[:15]))
        refused(bench, a, not_obtainable(bench))
    bench.fence()


@purpose("PLP-CALL-37")
def test_inserted_calling_address(bench: Bench) -> None:
    """Odd and even called lengths, where the route and the insertion take a further digit; a
    calling address that is there stays."""
    insertion = bench.profile.addresses.insert_calling
    bench.need(insertion, "the profile names no insertion (addresses.insert_calling)")
    assert insertion is not None
    any_caller = takes_any_caller(bench)
    for called in (insertion["called"], insertion["called"] + "0"):
        if called != insertion["called"] and not _takes_a_further_digit(bench, called):
            continue
        arrives_as(bench, (called, ""), (called, insertion["calling"]))
        if any_caller:
            arrives_as(bench, (called, "31000017"), (called, "31000017"))
    bench.fence()


def _takes_a_further_digit(bench: Bench, called: str) -> bool:
    """Whether such a call arrives, and with a calling address: no clause says how a network picks
    the calls into which it puts one."""
    a = bench.connect()
    a.send(bench.call_request(called=called, calling=""))
    if not bench.went_on(a):
        refused(bench, a, ClearIndication())
        bench.remark("calls to the address of the insertion with a further digit are refused")
        return False
    b = bench.listeners.accept()
    came = b.expect(CallRequest())
    given = came is not None and bool(came.calling_address)
    if not given:
        bench.remark("nothing is put into calls to that address with a further digit")
    give_up(a, b)
    return given


@purpose("PLP-CALL-38")
def test_rewriting_that_changes_the_number_of_digits(bench: Bench) -> None:
    """With a calling address of odd and of even length, and with none."""
    callers = ["3100001", "310001", ""]
    if not takes_any_caller(bench):
        callers = [bench.profile.addresses.a or "", ""]
    for called, at_b in rewrites(bench):
        for calling in callers:
            arrives_as(bench, (called, calling), (at_b, calling))
    bench.fence()


@purpose("PLP-CALL-39")
def test_called_address_of_length_0(bench: Bench) -> None:
    """A declared default route may take the call, and put in the address that it leads to."""
    error = ClearIndication(
        cause=bench.cause(0x0D, 0x13, *sorted(bench.profile.causes_no_route)),
        diagnostic=bench.diagnostic(*generic(67), *range(112, 123)),
    )
    for calling in ("", "31000") if takes_any_caller(bench) else ("",):
        a = bench.connect()
        request = bench.call_request(calling=calling)
        request.called_address = ""
        a.send(request)
        if bench.two_sided and bench.went_on(a):
            b = bench.listeners.accept()
            came = b.expect(CallRequest(user_data=request.user_data))
            assert came is not None
            told = f", to {came.called_address}" if came.called_address else ""
            bench.remark(f"a call without called address was routed{told}")
            give_up(a, b)
        elif bench.two_sided:
            refused(bench, a, error)
        else:
            came = a.expect(CallAccepted(), error, CLOSED)
            if isinstance(came, ClearIndication):
                a.send(ClearConfirmation())
    bench.fence()
