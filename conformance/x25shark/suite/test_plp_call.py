# SPDX-License-Identifier: GPL-2.0-or-later
"""Call set-up (X.25 4.1, 5.2.1 to 5.2.3, Table C-3; RFC 1613 6.1)."""

from __future__ import annotations

from .clearing import arrives, confirmed, end, generic, give_up, refused
from .language import (
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Packet,
    purpose,
)

NETWORK_CAUSES = (0x01, 0x05, 0x09, 0x0B, 0x0D, 0x11, 0x13, 0x15, 0x19, 0x21, 0x29, 0x39)


def refusal_passes(bench: Bench, cause: int, diagnostic: int, *others: int) -> None:
    """B refuses a call; A gets cause and diagnostic. others: causes that are as good."""
    a = bench.connect()
    a.send(bench.call_request())
    b = bench.incoming()
    b.send(ClearRequest(cause=cause, diagnostic=diagnostic))
    wanted: list[Packet] = [
        ClearIndication(cause=allowed, diagnostic=diagnostic) for allowed in (cause, *others)
    ]
    came = a.expect(*wanted)
    if came is not None and came.cause != cause:
        bench.remark(f"cause 0x{cause:02x} arrives as 0x{came.cause:02x}")
    a.send(ClearConfirmation())
    confirmed(b)


@purpose("PLP-CALL-01")
def test_call_from_a_to_b(bench: Bench) -> None:
    a = bench.connect()
    request = bench.call_request()
    a.send(request)
    b = arrives(
        bench,
        CallRequest(called_address=bench.called_address, calling_address=bench.profile.addresses.a),
    )
    b.send(CallAccepted())
    a.expect(CallAccepted())
    Call(bench, a, b).fence()


@purpose("PLP-CALL-04")
def test_empty_calling_address(bench: Bench) -> None:
    """ADDR-B is not the route on which the profile declares an insertion."""
    a = bench.connect()
    a.send(bench.call_request(calling=""))
    b = arrives(bench, CallRequest(calling_address_length=0))
    b.send(CallAccepted())
    a.expect(CallAccepted())
    Call(bench, a, b).fence()


@purpose("PLP-CALL-06")
def test_address_without_route(bench: Bench) -> None:
    no_route = bench.profile.addresses.no_route
    bench.need(no_route, "the profile names no address without route (addresses.no_route)")
    a = bench.connect()
    a.send(bench.call_request(called=no_route))
    refused(
        bench,
        a,
        ClearIndication(
            cause=bench.cause(*sorted(bench.profile.causes_no_route)),
            diagnostic=bench.diagnostic(*generic(67), *range(112, 123)),
        ),
    )
    bench.fence()


@purpose("PLP-CALL-07")
def test_destination_that_is_down(bench: Bench) -> None:
    """B listens no more: its TCP answers with RST."""
    listener = bench.refuse("b")
    listener.stop()
    try:
        a = bench.connect()
        a.send(bench.call_request())
        refused(bench, a, ClearIndication(cause=bench.cause(*sorted(bench.profile.causes_down))))
    finally:
        listener.resume()
    bench.fence()


@purpose("PLP-CALL-08")
def test_refusal_of_b_reaches_a(bench: Bench) -> None:
    for diagnostic in (0, 1, 67, 160, 241, 255):
        refusal_passes(bench, 0, diagnostic)
    bench.fence()


@purpose("PLP-CALL-09")
def test_private_cause_of_a_refusal_reaches_a(bench: Bench) -> None:
    for cause in (0x80, 0x81, 0xC1, 0xFF):
        refusal_passes(bench, cause, 67)
    bench.fence()


@purpose("PLP-CALL-10")
def test_network_cause_of_a_refusal_reaches_a(bench: Bench) -> None:
    """0x11 in place of 0x13 is a remark: the error was local at B."""
    for number, cause in enumerate(NETWORK_CAUSES):
        refusal_passes(bench, cause, 112 + number % 11, *((0x11,) if cause == 0x13 else ()))
    bench.fence()


@purpose("PLP-CALL-14")
def test_caller_clears_before_the_answer(bench: Bench) -> None:
    a = bench.connect()
    a.send(bench.call_request())
    b = bench.incoming()
    a.send(ClearRequest(cause=0, diagnostic=241))
    b.expect(ClearIndication(cause=0, diagnostic=241))
    b.send(ClearConfirmation())
    confirmed(a)
    bench.fence()


@purpose("PLP-CALL-22")
def test_call_accepted_of_three_octets(bench: Bench) -> None:
    """Nothing behind the type octet; the values of the Call apply."""
    a = bench.connect()
    a.send(bench.call_request(size=256, window=3))
    b = bench.incoming()
    b.send(CallAccepted())
    a.expect(CallAccepted())
    Call(bench, a, b).fence()


@purpose("PLP-CALL-25")
def test_user_data_of_0_to_16_octets(bench: Bench) -> None:
    """One call for each length, with random octets behind a protocol identifier."""
    for length in range(17):
        user_data = (b"\xc0" + bench.random.randbytes(16))[:length]
        a = bench.connect()
        a.send(bench.call_request(user_data=user_data))
        b = arrives(bench, CallRequest(user_data=user_data))
        b.send(CallAccepted())
        a.expect(CallAccepted())
        end(Call(bench, a, b))
    bench.fence()


@purpose("PLP-CALL-27")
def test_protocol_identifier_changes_nothing(bench: Bench) -> None:
    for identifier in (0x00, 0x01, 0x80, 0xC0, 0xC5, 0xCC, 0xFF):
        user_data = bytes((identifier, 0, 0, 0))
        a = bench.connect()
        a.send(bench.call_request(user_data=user_data))
        b = bench.incoming(CallRequest(user_data=user_data))
        give_up(a, b)
    bench.fence()
