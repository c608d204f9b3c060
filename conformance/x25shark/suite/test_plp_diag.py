# SPDX-License-Identifier: GPL-2.0-or-later
"""Diagnostic packets on a serial line (X.25 3.4.1, 5.6, Tables C-1 and C-2)."""

from __future__ import annotations

from .calls import numbers, other_end, request_from
from .language import (
    Bench,
    Call,
    ClearConfirmation,
    ClearIndication,
    Diagnostic,
    LapbI,
    LineSide,
    Matcher,
    Packet,
    Raw,
    RegistrationConfirmation,
    RegistrationRequest,
    Side,
    purpose,
)
from .links import at_the_line
from .occasion import amid
from .reactions import UNDEFINED, both

BURST = 100
DATA, RR, CALL = 0x00, 0x01, 0x0B


def of_the_call(bench: Bench) -> tuple[LineSide, Call]:
    """A line and a call that it carries, which goes on whatever the tester sends beside it.

    One on which the router is the DCE if there is one: a DTE sends no Diagnostic packets.
    """
    call = bench.call()
    both(call)
    lines = [bench.lines[name] for name in ("b", "a") if name in bench.lines]
    return next((line for line in lines if line.profile.role == "dce"), lines[0]), call


def brings(bench: Bench, line: LineSide, packet: bytes, code: Matcher) -> None:
    """This diagnostic, where the router sends Diagnostic packets on this line; or silence.

    It has the first three octets of the packet, or those that there are (X.25 5.6).
    """
    begin = line.layer.cursor
    least = int(sends_diagnostics(bench, line))
    if not least:
        # Nothing is waited for then, and the answer to a poll need not stand behind I frames.
        line.layer.allow(Diagnostic(diagnostic=code))
    line.send(LapbI() / Raw(packet))
    line.link_fence()
    wanted = Diagnostic(diagnostic=code, explanation=packet[:3])
    line.layer.expect_count(wanted, least, 1, start=begin)


def sends_diagnostics(bench: Bench, line: LineSide) -> bool:
    """Only the DCE sends them (X.25 3.4.1)."""
    return bench.declared("P-DIAG") and line.profile.role == "dce"


def header(line: LineSide, lcn: int, packet_type: int) -> bytes:
    """The first three octets of a packet with the modulus of the line."""
    return bytes((line.modulo_bits << 4 | lcn >> 8, lcn & 0xFF, packet_type))


def beyond(bench: Bench, line: LineSide) -> int:
    """A logical channel that is not assigned."""
    highest = line.profile.lcn[1]
    bench.need(highest < 4095, "a logical channel that is not assigned (line.lcn)")
    return highest + 1


@purpose("PLP-DIAG-01")
def test_shorter_than_two_octets(bench: Bench) -> None:
    line, call = of_the_call(bench)
    brings(bench, line, header(line, 0, 0)[:1], bench.diagnostic(38))
    call.fence("the call goes on")


@purpose("PLP-DIAG-02")
def test_wrong_general_format(bench: Bench) -> None:
    """Neither modulo 8 nor 128, and that of the other modulo: in a Call with which nothing else is
    wrong, on a channel without a call.

    Where the line has no such channel it is one that is not assigned, and 36 is as right then.
    """
    line, call = of_the_call(bench)
    at = line.name.lower()
    lowest, highest = line.profile.lcn
    codes: tuple[int, ...] = (40,)
    free: Side
    if line.channels.free(range(lowest, highest + 1)) is None:
        free, codes = bench.serial.open(line, beyond(bench, line)), (40, 36)
    else:
        free = bench.connect(at=at, modulus=line.profile.modulo)
    whole = free.octets_of(request_from(bench, at))
    for general_format in (0x0, 0x3, 0x3 ^ line.modulo_bits):
        packet = bytes((general_format << 4 | free.lcn >> 8,)) + whole[1:]
        with amid(bench, f"a Call with general format identifier {general_format:04b}"):
            is_invalid(bench, line, free, packet, bench.diagnostic(*codes))
    call.fence("the call goes on")


def is_invalid(bench: Bench, line: LineSide, free: Side, packet: bytes, code: Matcher) -> None:
    """As brings(), on a channel without a call: one that clears it with this diagnostic will do."""
    begin = line.layer.cursor
    error = ClearIndication(cause=bench.local_clear, diagnostic=code)
    least = int(sends_diagnostics(bench, line))
    free.allow(error)
    if not least:
        line.layer.allow(Diagnostic(diagnostic=code))
    line.send(LapbI() / Raw(packet))
    line.link_fence()
    if least:
        line.layer.wait_until(
            lambda: free.phase == "being cleared" or bool(line.layer.arrivals.since(begin))
        )
    if free.phase == "being cleared":
        bench.remark("a wrong general format identifier clears the channel")
        free.send(ClearConfirmation())
        least = 0
    wanted = Diagnostic(diagnostic=code, explanation=packet[:3])
    line.layer.expect_count(wanted, least, 1, start=begin)


@purpose("PLP-DIAG-03")
def test_channel_that_is_not_assigned(bench: Bench) -> None:
    """The next one, the last one, and one whose low octet is that of the call: RR, Data and a Call,
    on each line."""
    _, call = of_the_call(bench)
    for name, line in sorted(bench.lines.items()):
        _, side, _ = at_the_line(bench, call, name)
        highest = line.profile.lcn[1]
        alike = (side.lcn + high for high in (0x100, 0x800) if highest < side.lcn + high <= 4095)
        for lcn in (beyond(bench, line), 4095, *alike):
            brings(bench, line, header(line, lcn, RR), bench.diagnostic(36))
            brings(bench, line, header(line, lcn, DATA) + b"nobody's", bench.diagnostic(36))
            a_call_brings(bench, name, call, lcn)
    call.fence("the call goes on")


@purpose("PLP-DIAG-04")
def test_explanation(bench: Bench) -> None:
    """The first three octets of the packet in question."""
    line, call = of_the_call(bench)
    bench.need(sends_diagnostics(bench, line), "a DCE that sends Diagnostic packets")
    packet = header(line, beyond(bench, line), DATA) + b"with user data"
    line.send(LapbI() / Raw(packet))
    line.layer.expect(Diagnostic(diagnostic=bench.diagnostic(36), explanation=packet[:3]))
    call.fence("the call goes on")


@purpose("PLP-DIAG-05")
def test_diagnostic_is_not_answered(bench: Bench) -> None:
    """A DCE may say that it does not take one: 33, or 36 for a packet of no use on channel 0."""
    line, call = of_the_call(bench)
    if line.profile.role == "dce":
        line.layer.allow(Diagnostic(diagnostic=bench.diagnostic(33, 36)))
    line.layer.send(Diagnostic(diagnostic=38, explanation=header(line, 1, DATA)))
    line.link_fence()
    call.fence("the call goes on")


@purpose("PLP-DIAG-06")
def test_channel_zero_is_no_channel(bench: Bench) -> None:
    """Data; and to each DCE RR, an undefined type and a Call."""
    line, call = of_the_call(bench)
    brings(bench, line, header(line, 0, DATA) + b"nobody's", bench.diagnostic(36))
    for name, one in sorted(bench.lines.items()):
        if one.profile.role == "dce":
            brings(bench, one, header(one, 0, RR), bench.diagnostic(36))
            brings(bench, one, header(one, 0, UNDEFINED), bench.diagnostic(33))
            a_call_brings(bench, name, call, 0)
    call.fence("the call goes on")


def a_call_brings(bench: Bench, name: str, call: Call, lcn: int) -> None:
    """A Call to the other side, on a channel that is none of this line's, where there is a way."""
    line, side, _ = at_the_line(bench, call, name)
    called = numbers(bench)[other_end(name)]
    if called is not None:
        request = side.octets_of(bench.call_request(called=called))
        brings(bench, line, header(line, lcn, CALL) + request[3:], bench.diagnostic(36))


@purpose("PLP-DIAG-08")
def test_channel_zero_without_a_type(bench: Bench) -> None:
    line, call = of_the_call(bench)
    brings(bench, line, header(line, 0, RR)[:2], bench.diagnostic(38))
    call.fence("the call goes on")


# Registers nothing; the confirmation is of that.
REGISTRATIONS: tuple[Packet, ...] = (
    RegistrationRequest(registration=b""),
    RegistrationConfirmation(cause=0x7F, diagnostic=0, registration=b""),
)


@purpose("PLP-DIAG-09")
def test_registration(bench: Bench) -> None:
    """To each DCE. It may confirm a request, or say that it knows no such type (33), and does not
    take a confirmation; but it restarts nothing."""
    _, call = of_the_call(bench)
    dces = [one for one in bench.lines.values() if one.profile.role == "dce"]
    bench.need(bool(dces), "a line on which the router is the DCE")
    for line in dces:
        line.layer.allow(
            RegistrationConfirmation(), Diagnostic(diagnostic=bench.diagnostic(33, 36))
        )
        for packet in REGISTRATIONS:
            line.layer.send(packet)
            line.link_fence()
            call.fence(f"the call goes on behind {packet.name}")


@purpose("PLP-DIAG-07")
def test_a_burst_of_bad_packets(bench: Bench) -> None:
    """At most one Diagnostic for each, and the call goes on."""
    line, call = of_the_call(bench)
    begin = line.layer.cursor
    packet = header(line, beyond(bench, line), RR)
    for _ in range(BURST):
        line.layer.wait_until(lambda: line.station.unacknowledged < line.profile.k)
        line.send(LapbI() / Raw(packet))
    # A busy station may drop some of them, and asks for them (X.25 2.4.5.8).
    line.layer.wait_until(lambda: not line.station.unacknowledged)
    line.link_fence()
    # With few I frames open, Diagnostic packets may still be on their way behind the fence.
    line.layer.allow(Diagnostic())
    call.fence("the call goes on")
    line.layer.expect_count(Diagnostic(), 0, BURST, start=begin)
