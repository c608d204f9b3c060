# SPDX-License-Identifier: GPL-2.0-or-later
"""XOT over TCP: how the stream is cut, how connections open and end (RFC 1613 4, 5, 6.1).

A clear of the far side after the loss of a connection may be a Clear with a cause of the network
or a close of TCP: RFC 1613 6.1 leaves the choice.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

from ..links.xot import HEADER_OCTETS
from ..sides.channel import ChannelSide
from ..sides.side import receive_ready
from .calls import (
    accepted,
    callers,
    channel_is_free,
    modes,
    moduli,
    pending,
    request_from,
    towards_xot,
)
from .clearing import end, give_up
from .connections import (
    arrives,
    arrives_there,
    call_at,
    call_is_cleared,
    cleared_and_finished,
    closes,
    crosses,
    far_side_ends,
    pause,
    refused,
    same_call,
    second_call,
    send_in_pieces,
    units_of,
)
from .language import (
    CLOSED,
    RR,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    IncomingCall,
    Inconclusive,
    Interrupt,
    InterruptConfirmation,
    LapbDM,
    LapbSABM,
    NotApplicable,
    Packet,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    RestartRequest,
    Side,
    purpose,
)
from .many import HOLD_DOWN_SECONDS, as_many, at_a_time, reachable_again
from .occasion import amid
from .reactions import both, header
from .windows import all_acknowledged

XOT_PORT = 1998
# More than any router needs to queue for a call whose peer takes nothing.
MOST_UNDER_WAY = 1 << 20
# For the control hooks of a router that boots.
RESTART_SECONDS = 600.0
# What a router that is not busy needs to read a packet and pass it on.
READ_SECONDS = 0.1
# A router that gives a Call less time than this cannot be told from one that does not join it.
SOON_SECONDS = 0.3
MOST_TRIES = 3
# Longer than a router that thinks of segments as packets waits for the rest of one.
SLOWLY_SECONDS = 0.8
QUIET_SECONDS = 4.0
# Of a timer, behind which it may have run out by the time that its packets are looked at.
HELD_UP = 0.8
# More packets than anybody takes out of what was read at a time, and none more with the one behind
# them than a judge by tshark can tell apart in a frame (200).
MANY = 190
# In one segment, each of which is tried.
PLACES = 40
# Data in front of another packet of the same segment.
MOST_BEFORE = 5
# Of packets, where the high octet of the length counts on.
HIGH_LENGTHS = (255, 256, 257, 511, 512)
# Packets in front of one that begins in the same segment.
WHOLE = (1, 2, 3, 4, 6, 8, 9, 10)


def call_on_port(bench: Bench, port: int) -> None:
    """A call, with a remark where the port is another than the registered one."""
    if port != XOT_PORT:
        bench.remark(f"the profile names port {port}")
    bench.place_call().fence()


@purpose("XOT-TCP-01")
def test_listens(bench: Bench) -> None:
    """That the connection is answered is shown by a call on it."""
    call_on_port(bench, bench.profile.xot_end.router[1])


@purpose("XOT-TCP-02")
def test_opens_connections(bench: Bench) -> None:
    assert bench.profile.xot_end.b is not None
    call_on_port(bench, bench.profile.xot_end.b[1])


@purpose("XOT-TCP-04")
def test_one_octet_per_segment(bench: Bench) -> None:
    request = bench.call_request(window=7)
    a = sent_in_pieces(bench, request)

    def send(octets: bytes) -> None:
        send_in_pieces(a, octets, range(1, len(octets)))

    if bench.two_sided:
        b = bench.incoming(IncomingCall(user_data=request.user_data))
        b.send(b.acceptance)
    a.expect(CallAccepted())
    for number in range(3):
        octets = b"by octets %d" % number
        send(a.unit_of(a.data(octets)))
        (b if bench.two_sided else a).expect_message(octets)
    send(a.unit_of(ClearRequest(cause=0, diagnostic=241)))
    if bench.two_sided:
        b.expect(ClearIndication(cause=0, diagnostic=241))
        b.send(ClearConfirmation())
    a.expect(ClearConfirmation(), CLOSED)
    bench.fence()


@purpose("XOT-TCP-05")
def test_header_split_in_the_length(bench: Bench) -> None:
    """The pause is 50 ms, which is long enough to be read by itself.

    Then Data of either side, split behind each octet of the header; Data with lengths that have a
    high octet, too, of a router that takes such packets.
    """
    a = bench.connect()
    unit = a.unit_of(bench.call_request())
    a.wire.send(unit[:3])
    pause(bench, 0.05)
    a.wire.send(unit[3:])
    b = arrives(bench)
    b.send(b.acceptance)
    a.expect(CallAccepted())
    call = Call(bench, a, b)
    for way in (call, call.turned()) if b.present else (call,):
        for position in range(1, 5):
            octets = bench.record(60)
            way.a.wait_for_window()
            send_in_pieces(way.a, way.a.unit_of(way.a.data(octets)), [position])
            arrives_there(way, octets, note=f"a pause behind {position} octets of the header")
    call.fence()
    if bench.declared("F-PKT"):
        lengths_in_pieces(bench)


def lengths_in_pieces(bench: Bench) -> None:
    """Of Data of either side, as far as the packet size goes that is agreed; in modulo 128 too."""
    size = min(512, bench.profile.limits.packet_size)
    for modulus in moduli(bench) if bench.two_sided else (8,):
        of_high_lengths(bench.place_call(modulus=modulus, options={"size": size}))


def of_high_lengths(call: Call) -> None:
    """Data of units whose length has a high octet, from either side."""
    bench = call.bench
    for way in (call, call.turned()) if call.b.present else (call,):
        headers = len(way.a.octets_of(way.a.data(b"")))
        for length, position in product(HIGH_LENGTHS, range(1, HEADER_OCTETS + 1)):
            if length - headers <= way.a.packet_size:
                octets = bench.random.randbytes(length - headers)
                way.a.wait_for_window()
                send_in_pieces(way.a, way.a.unit_of(way.a.data(octets)), [position])
                with amid(bench, f"a length of {length}"):
                    arrives_there(way, octets, f"a pause behind {position} octets of the header")
    call.fence()


def sent_in_pieces(bench: Bench, request: Packet, *ends: int) -> Side:
    """A connection and the Call on it, cut at these positions, or everywhere.

    A connection without a call may be closed after a time of the router's own (RFC 1613 5): what
    took the tester long is sent again on another one.
    """
    for _ in range(MOST_TRIES):
        a, began = bench.connect(), time.monotonic()
        octets = a.unit_of(request)
        send_in_pieces(a, octets, ends or range(1, len(octets)))
        if a.connection.end is None or time.monotonic() - began < SOON_SECONDS:
            return a
    raise Inconclusive("the router closes a connection without a call before the tester is done")


def call_and_refusal(bench: Bench, a: Side, *templates: IncomingCall) -> Side | None:
    """The Call that A has sent in pieces arrives, B refuses; in T2 it is answered and cleared."""
    if not bench.two_sided:
        a.expect(CallAccepted())
        a.send(ClearRequest(cause=0, diagnostic=0))
        a.expect(ClearConfirmation(), CLOSED)
        a.close()
        return None
    b = bench.incoming(*templates)
    b.send(ClearRequest(cause=0, diagnostic=0))
    a.expect(ClearIndication(cause=0, diagnostic=0))
    a.send(ClearConfirmation())
    b.expect(ClearConfirmation(), CLOSED)
    a.close()
    return b


@purpose("XOT-TCP-06")
def test_body_split_at_every_position(bench: Bench) -> None:
    """The Call is one of minimal user data, so that there are some thirty positions."""
    request = bench.call_request(user_data=b"\xc0")
    a = bench.connect()
    a.send(request)
    b = call_and_refusal(bench, a)
    templates = () if b is None else (same_call(call_at(b)),)
    for position in range(1, len(a.unit_of(request))):
        a = sent_in_pieces(bench, request, position)
        call_and_refusal(bench, a, *templates)
    bench.fence()


@purpose("XOT-TCP-39")
def test_answer_of_b_split_at_every_position(bench: Bench) -> None:
    """Call Accepted without facilities and with them, and a Clear; then Data, cut as well."""
    for answer in (None, CallAccepted(), ClearRequest(cause=0, diagnostic=241)):
        position, whole = 1, 2
        while position < whole:
            a, b = pending(bench)
            packet = b.acceptance if answer is None else answer
            octets = b.unit_of(packet)
            whole = len(octets)
            send_in_pieces(b, octets, [position])
            with amid(bench, f"{type(packet).__name__} of B, a pause behind {position} octets"):
                if isinstance(packet, ClearRequest):
                    a.expect(ClearIndication(cause=0, diagnostic=241))
                    a.send(ClearConfirmation())
                    b.expect(ClearConfirmation(), CLOSED)
                    a.close()
                else:
                    a.expect(CallAccepted())
                    call = Call(bench, a, b)
                    octets = bench.record(40)[: b.packet_size]
                    send_in_pieces(b, b.unit_of(b.data(octets)), [position])
                    arrives_there(call.turned(), octets)
                    end(call)
            position += 1
    bench.fence()


@purpose("XOT-TCP-40")
def test_units_that_come_slowly(call: Call) -> None:
    """Data of either side, with a pause behind the header or within it, and one in the body."""
    stall = call.bench.profile.times.stall
    seconds = min(SLOWLY_SECONDS, stall / 6)
    ways = [(call, 4), (call.turned(), 2)] if call.b.present else [(call, 4)]
    for way, end_of_first in ways:
        octets, began = call.bench.record(60), time.monotonic()
        way.a.wait_for_window()
        send_in_pieces(way.a, way.a.unit_of(way.a.data(octets)), [end_of_first, 20], seconds)
        if way.a.connection.end is not None and time.monotonic() - began >= stall:
            raise Inconclusive("the tester was held up for longer than times.stall")
        arrives_there(way, octets, note=f"pauses of {seconds:.1f} s")
    call.fence()


@purpose("XOT-TCP-07", both_sides=True, window=7)
def test_several_packets_in_one_segment(call: Call) -> None:
    """An Interrupt, and its confirmation, behind no Data, one, and so on up to five; they may
    overtake them. Then Data behind RRs that say nothing new: at each place up to the fortieth, and
    behind very many. In modulo 128 too."""
    for way in modes(call):
        with amid(call.bench, f"modulo {way.a.modulus}"):
            several_in_one_segment(way)


def several_in_one_segment(call: Call) -> None:
    bench, a, b = call.bench, *both(call)
    for before in range(MOST_BEFORE + 1):
        last_of_a_segment(bench, a, b, before, Interrupt(user_data=bytes((before,))))
        last_of_a_segment(bench, b, a, before, InterruptConfirmation())
    for many in (*range(MOST_BEFORE + 1, PLACES), MANY):
        octets = bench.record(60)
        a.wait_for_window()
        ready = [a.unit_of(receive_ready(a))] * many
        a.wire.send(b"".join((*ready, a.unit_of(a.data(octets)))))
        b.expect_message(octets, note=f"behind {many} RRs")
    call.fence()


def last_of_a_segment(
    bench: Bench, sender: Side, receiver: Side, before: int, last: Packet
) -> None:
    """This packet behind so many Data, or as many as the window takes."""
    all_acknowledged(sender)
    free = sender.window - sender.numbering.outstanding
    messages = [bench.record(60) for _ in range(min(before, free))]
    bench.fence("the router has read what came before")
    start = receiver.cursor
    sender.send(*map(sender.data, messages), last)
    for octets in messages:
        receiver.expect_message(octets, passing=(last,))
    receiver.expect_count(last, 1, 1, start=start, note=f"behind {len(messages)} Data")


@purpose("XOT-TCP-08", both_sides=True, window=7)
def test_one_and_a_half_packets_per_segment(call: Call) -> None:
    """Then up to ten packets and the beginning of another: each part of its header, or an octet
    more. Behind the pause comes the rest of that, alone and with as many again. In modulo 128
    too."""
    for way in modes(call):
        with amid(call.bench, f"modulo {way.a.modulus}"):
            one_and_a_half(way)


def one_and_a_half(call: Call) -> None:
    messages = [call.bench.record(60) for _ in range(min(6, call.a.window))]
    stream = b"".join(call.a.unit_of(call.a.data(octets)) for octets in messages)
    one = len(stream) // len(messages)
    send_in_pieces(call.a, stream, range(one * 3 // 2, len(stream), one * 3 // 2))
    for octets in messages:
        arrives_there(call, octets)
    for whole, begun in product(WHOLE, range(1, HEADER_OCTETS + 2)):
        more = whole if begun % 2 else 0
        units, messages = units_of(call, whole + 1 + more)
        end_of_first = len(b"".join(units[:whole])) + begun
        send_in_pieces(call.a, b"".join(units), [end_of_first])
        for octets in messages:
            arrives_there(call, octets, note=f"{whole} packets and {begun} octets in a segment")
    call.fence()


@purpose("XOT-TCP-09")
def test_what_comes_in_one_segment_with_accept(bench: Bench) -> None:
    """Data; an Interrupt; RR and then Data; a Reset: on a call each, behind the Call Connected."""
    for kind in (Data, Interrupt, RR, ResetRequest):
        a = bench.connect()
        a.send(bench.call_request())
        b = bench.incoming()
        octets = bench.record(60)
        behind = {
            Data: (b.data(octets),),
            Interrupt: (Interrupt(user_data=b"at once"),),
            RR: (RR(p_r=0), b.data(octets)),
            ResetRequest: (ResetRequest(cause=0, diagnostic=7),),
        }[kind]
        b.send(b.acceptance, *behind)
        with amid(bench, f"{kind().name} with the Call Accepted"):
            a.expect(CallAccepted())
            if kind is Interrupt:
                a.expect(*behind)
                a.send(InterruptConfirmation())
                b.expect(InterruptConfirmation())
            elif kind is ResetRequest:
                a.expect(ResetIndication(cause=0, diagnostic=7))
                a.send(ResetConfirmation())
                b.expect(ResetConfirmation())
            else:
                a.expect_message(octets, p_s=0)
            Call(bench, a, b).fence()


@purpose("XOT-TCP-10")
def test_stalled_header(bench: Bench) -> None:
    stalled = bench.connect()
    stalled.wire.send(b"\0\0")
    call = bench.place_call(options={"window": 7}, note="while a header is stalled")
    octets = bench.record(100 * call.a.packet_size)
    call.a.send_message(octets)
    arrives_there(call, octets)
    call.fence()


@purpose("XOT-TCP-11")
def test_many_stalled_connections(bench: Bench) -> None:
    """5 octets of a packet of 30 on each of NSTALL connections."""
    for _ in range(at_a_time(bench, bench.profile.limits.stalled_connections, spare=1)):
        bench.connect().wire.send(bytes.fromhex("0000 001e 10"))
    bench.fence(note="a call beside stalled connections")


@purpose("XOT-TCP-12")
def test_connection_without_octets(bench: Bench) -> None:
    a = bench.connect()
    a.wait_until(lambda: a.connection.end is not None, bench.profile.times.idle)
    if a.connection.end is not None:
        a.expect_closed()
        bench.remark("a connection without a call is closed before TIDLE")
    else:
        bench.call_again(a, note="after an idle time").fence()
    bench.fence()


@purpose("XOT-TCP-13", both_sides=True)
def test_half_close_after_clear_request(call: Call) -> None:
    """In data transfer; and of the called side, which refuses the call, of A's calls and of B's."""
    cleared_and_finished(call)
    for at in callers(call.bench):
        near, far = pending(call.bench, at=at)
        with amid(call.bench, f"the call of {near.name} is refused, and FIN follows"):
            cleared_and_finished(Call(call.bench, far, near))
    call.bench.fence()


@purpose("XOT-TCP-14", both_sides=True)
def test_half_close_in_data_transfer(call: Call) -> None:
    call.a.wire.half_close()
    far_side_ends(call.bench, call.b)
    closes(call.a, ClearIndication())
    call.bench.fence()


@purpose("XOT-TCP-15", both_sides=True)
def test_reset_in_data_transfer(call: Call) -> None:
    call.a.wire.reset()
    far_side_ends(call.bench, call.b)
    call.bench.fence()


@purpose("XOT-TCP-16")
def test_loss_before_the_answer(bench: Bench) -> None:
    """The Call Accepted of B crosses the Clear."""
    a = bench.connect()
    a.send(bench.call_request())
    b = bench.incoming()
    a.wire.reset()
    came = b.expect(ClearIndication(), CLOSED)
    b.send(b.acceptance)
    if came is not None:
        b.send(ClearConfirmation())
    bench.fence()


@purpose("XOT-TCP-17")
def test_refused_connection_towards_b(bench: Bench) -> None:
    """And where B calls, towards A."""
    for at, there in towards_xot(bench):
        listener = bench.listeners.refuse(there)
        listener.stop()
        try:
            # Behind it: a relay opens a connection for this one, not for the Call.
            near = bench.connect(at=at)
            near.send(request_from(bench, at))
            refused(bench, near, ClearIndication(cause=bench.cause(*bench.profile.causes_down)))
        finally:
            listener.resume()
        if at == "a":
            reachable_again(bench)
        else:
            a_is_reachable_again(bench)
    bench.fence()


def a_is_reachable_again(bench: Bench) -> None:
    """As reachable_again(), of calls of B to A; on a line on the channel of the refused one too."""
    last = time.monotonic() + HOLD_DOWN_SECONDS
    while True:
        b = bench.connect(at="b")
        b.send(request_from(bench, "b"))
        if bench.went_on(b, at="a"):
            break
        refused(bench, b, ClearIndication(cause=bench.network_clear))
        if time.monotonic() > last:
            break
        bench.remark("the router refuses calls to A a while longer than A does")
        bench.loop.pause(1.0)
    give_up(b, bench.incoming(at="a"))


@purpose("XOT-TCP-18")
def test_unanswered_syn_towards_b(bench: Bench) -> None:
    """Bounded by T11 or T21, whichever the router runs; another call goes on meanwhile."""
    times = bench.profile.times
    within = 1.2 * max(times.t11, times.t21) + bench.reaction_limit
    other = bench.call()
    listener = bench.listeners.refuse()
    listener.ignore()
    try:
        a = bench.connect()
        a.send(bench.call_request())
        other.fence(note="while a connection to B is being opened")
        came = a.expect(ClearIndication(cause=bench.network_clear), CLOSED, within=within)
        if came is not None:
            a.send(ClearConfirmation())
    finally:
        listener.heed()
    other.fence()
    reachable_again(bench)
    bench.fence()


@purpose("XOT-TCP-19")
def test_b_closes_at_once(bench: Bench) -> None:
    """The Call may be on its way to B by then, and a Clear may follow it. And where B calls, A."""
    for at, there in towards_xot(bench):
        near = bench.connect(at=at)
        near.send(request_from(bench, at))
        far = bench.listeners.accept(at=there)
        far.wire.half_close()
        far.allow(IncomingCall(), ClearIndication())
        refused(bench, near, ClearIndication(cause=bench.network_clear))
        channel_is_free(bench, near)
    bench.fence()


@purpose("XOT-TCP-20")
def test_b_closes_without_an_answer(bench: Bench) -> None:
    """And where B calls, A."""
    for at in (at for at, _ in towards_xot(bench)):
        near, far = pending(bench, at=at)
        far.wire.half_close()
        far.allow(ClearIndication())
        refused(bench, near, ClearIndication(cause=bench.network_clear))
        channel_is_free(bench, near)
    bench.fence()


@purpose("XOT-TCP-21")
def test_idle_call(call: Call) -> None:
    """A router that ends idle calls which carry IP is judged by IP-ENC-08 instead."""
    silence(call, call.bench.profile.times.idle)
    crosses(call, call.bench.record(60), call.bench.record(60))


@purpose("XOT-TCP-41")
def test_quiet_call(call: Call) -> None:
    """For some seconds nothing is sent; a router may repeat its P(R) meanwhile, and no more. On
    calls beside it a Call, a Reset and a Clear are not answered until then, if the router's timers
    are known: none comes again, and each ends as it would have at once."""
    bench, times = call.bench, call.bench.profile.times
    kinds = [kind for item, kind in LATE.items() if call.b.present and bench.declared(item)]
    late = [kind(bench) for kind in kinds]
    shortest, began = min(times.t11, times.t12, times.t13), time.monotonic()
    for waits in late:
        next(waits)
    silence(call, min(QUIET_SECONDS, times.idle / 2, shortest / 2))
    crosses(call, bench.record(60), bench.record(60))
    call.fence()
    for waits in late:
        if time.monotonic() - began > HELD_UP * shortest:
            raise Inconclusive("the router was asked again when T11, T12 or T13 was nearly over")
        next(waits, None)


def late_answer(bench: Bench) -> Iterator[None]:
    """With user data, where the router takes that."""
    fast_select = 2 if bench.declared("F-FS") else None
    request = bench.call_request(fast_select=fast_select)
    a, b = pending(bench, request)
    start = b.cursor
    yield
    b.expect_count(IncomingCall(), 0, 0, start=start, note="a Call comes once")
    answer = CallAccepted(user_data=b"late") if fast_select else b.acceptance
    accepted(bench, a, b, request, answer, [CallAccepted(user_data=answer.user_data)]).fence()


def late_confirmation_of_a_reset(bench: Bench) -> Iterator[None]:
    call = bench.call()
    call.b.send(ResetRequest(cause=0, diagnostic=0))
    call.a.expect(ResetIndication(cause=0, diagnostic=0))
    start = call.a.cursor
    yield
    call.a.expect_count(ResetIndication(), 0, 0, start=start, note="T12 is not over")
    call.a.send(ResetConfirmation())
    call.b.expect(ResetConfirmation())
    call.fence()


def late_confirmation_of_a_clear(bench: Bench) -> Iterator[None]:
    call = bench.call()
    call.b.send(ClearRequest(cause=0, diagnostic=241))
    call.a.expect(ClearIndication(cause=0, diagnostic=241))
    start = call.a.cursor
    yield
    call.a.expect_count(ClearIndication(), 0, 0, start=start, note="T13 is not over")
    call.a.send(ClearConfirmation())
    call.b.expect(ClearConfirmation(), CLOSED)


# What the tester may be late with, by the PICS item of the timer that watches over it.
LATE: dict[str, Callable[[Bench], Iterator[None]]] = {
    "T-11": late_answer,
    "T-12": late_confirmation_of_a_reset,
    "T-13": late_confirmation_of_a_clear,
}


def silence(call: Call, seconds: float) -> None:
    """Neither side sends for so long, or until the router has ended a connection."""
    ends = [side.connection for side in (call.a, call.b) if isinstance(side, Side)]
    call.a.wait_until(lambda: any(connection.end is not None for connection in ends), seconds)


@purpose("XOT-TCP-22", both_sides=True)
def test_dead_peer(call: Call) -> None:
    """What the router still sends to the dead peer is its own affair."""
    call.a.allow(ClearIndication())
    call.a.wire.tcp.play_dead()
    within = call.bench.profile.times.keepalive
    template = ClearIndication(cause=call.bench.lost_clear)
    if call.b.expect(template, CLOSED, within=within) is not None:
        call.b.send(ClearConfirmation())
    call.a.wire.reset()
    call.bench.fence()


@purpose("XOT-TCP-23", window=7, size=1024)
def test_peer_that_stops_reading(call: Call) -> None:
    """B reads nothing and acknowledges nothing. A sends as the window allows; where no P(R) has
    come after a round trip on another call, A is held. It has to be before 1 MB is under way.
    """
    bench, a, b = call.bench, call.a, call.b
    assert isinstance(b, Side)
    other = bench.call()
    b.withholding = True
    b.wire.tcp.stop_reading()
    sent: list[bytes] = []
    while len(sent) * a.packet_size < MOST_UNDER_WAY:
        if a.numbering.outstanding < a.window and not a.wire.tcp.unsent:
            sent.append(bench.record(a.packet_size))
            a.send(a.data(sent[-1], m=1))
            continue
        before = a.numbering.outstanding
        other.fence()
        if a.wire.tcp.unsent or a.numbering.outstanding == before:
            break
    else:
        a.expect_count(RR(), 0, 0, start=0, note=f"B reads nothing; {len(sent)} Data were taken")
    b.withholding = False
    b.wire.tcp.go_on_reading()
    sent.append(b"the end")
    a.send_data(sent[-1])
    b.expect_message(b"".join(sent))
    call.fence()


@purpose("XOT-TCP-24")
def test_second_call_on_the_same_connection(call: Call) -> None:
    second = None
    if call_is_cleared(call):
        second = second_call(call)
    else:
        call.bench.remark("the connection is closed after the call")
    if second is not None:
        second.fence()
    call.bench.fence()


@purpose("XOT-TCP-25")
def test_released_after_clearing(bench: Bench) -> None:
    """20 calls; A's direction is closed behind the Clear, so that the router's FIN can be seen."""
    for _ in range(20):
        cleared_and_finished(bench.place_call())
    bench.fence()


@purpose("XOT-TCP-26")
def test_one_connection_to_b_per_call(bench: Bench) -> None:
    first = bench.place_call()
    second = bench.place_call()
    first.fence()
    second.fence()


def clear_was_read(call: Call) -> bool:
    """The router has confirmed the Clear of A, or passed it on to B."""
    a, b = both(call)
    return a.phase == "cleared" or b.phase == "being cleared"


@purpose("XOT-TCP-27")
def test_reset_behind_a_clear(bench: Bench) -> None:
    """First when the router has shown that it has read the Clear, then at once.

    What a reset finds unread is lost (RFC 9293 3.10.7.4), and nothing bounds when it is read.
    """
    for reads in (True, False):
        call = bench.call()
        a, b = both(call)
        a.allow(ClearConfirmation())
        a.send(ClearRequest(cause=0, diagnostic=241))
        read = reads and a.wait_until(partial(clear_was_read, call), READ_SECONDS)
        a.wire.reset()
        of_a = ClearIndication(cause=0, diagnostic=241)
        of_the_network = ClearIndication(cause=bench.network_clear)
        came = b.expect(*([of_a] if read else [of_a, of_the_network, CLOSED]))
        if came is not None:
            # Whether B's connection is closed behind it, or kept for another call, is left open.
            call.b.send(ClearConfirmation())
    bench.fence()


@purpose("XOT-TCP-29")
def test_orderly_stop(bench: Bench) -> None:
    """Ten calls are up when the router is stopped and started again."""
    restart = bench.restart_router
    if restart is None:
        raise NotApplicable("the profile has no way to stop the router")
    if not bench.profile.control.orderly:
        raise NotApplicable("the profile's way to stop the router switches it off")
    calls = as_many(bench, 10, lambda _: bench.call())
    problems: list[Exception] = []

    def stop_and_start() -> None:
        try:
            restart()
        except Exception as problem:
            problems.append(problem)

    template = ClearIndication(cause=bench.network_clear)
    sides = [side for call in calls for side in (call.a, call.b)]
    for side in sides:
        if isinstance(side, ChannelSide):
            # A line that goes down with the router ends its calls too (X.25 4.6).
            side.allow(template)
    stopping = threading.Thread(target=stop_and_start, name="restart", daemon=True)
    stopping.start()
    try:
        for side in (side for side in sides if not isinstance(side, ChannelSide)):
            if side.expect(template, CLOSED, within=5 * bench.profile.times.reaction) is not None:
                side.send(ClearConfirmation())
    finally:
        bench.loop.wait(lambda: not stopping.is_alive(), RESTART_SECONDS)
    if problems or stopping.is_alive():
        raise Inconclusive(f"the router did not start again: {problems or 'it took too long'}")
    with bench.preamble():
        for line in bench.lines.values():
            # The router that is back knows of no link; it may ask for one before the tester does.
            line.allow(LapbSABM(), LapbDM(p_f=0))
            line.layer.allow(RestartRequest())
            line.link.end()
            line.link.bring_up()
    after = "after the router was started again"
    bench.place_call(on=bench.connect_patiently(), note=after).fence(after)


@purpose("XOT-TCP-30")
def test_idle_timer_without_a_call(call: Call) -> None:
    """Call again when the timer has nearly run out, then one Data now and then for twice its time.

    The steps are 10 s, or a quarter of TEMPTY where that is less.
    """
    bench, a = call.bench, call.a
    timer = bench.profile.times.tempty
    second = None
    if call_is_cleared(call):
        a.wait_until(lambda: a.connection.end is not None, timer - min(5.0, timer / 4))
        second = second_call(call)
    if second is not None:
        step = min(10.0, timer / 4)
        for _ in range(math.ceil(2 * timer / step)):
            a.wait_until(lambda: a.connection.end is not None, step)
            crosses(second, bench.record(40), bench.record(40))
    bench.fence()


@purpose("XOT-TCP-31")
def test_peer_that_does_not_read_holds_no_other_call(bench: Bench) -> None:
    """B of the first call has little room to receive and reads nothing; A sends a whole window,
    which is 127 packets where the router knows modulo 128. Three other calls carry 100 Data each.
    """
    modulus, window = (128, 127) if bench.declared("P-MOD128") else (8, 7)
    size = min(4096, bench.profile.limits.packet_size)
    listener = bench.listeners.refuse()
    listener.stop()
    listener.resume(receive_buffer=4096)
    try:
        held = bench.call(modulus=modulus, window=window, size=size)
    finally:
        listener.stop()
        listener.resume()
    others = [bench.call(window=7) for _ in range(at_a_time(bench, 3, spare=1))]
    assert isinstance(held.b, Side)
    held.b.withholding = True
    held.b.wire.tcp.stop_reading()
    sent = [bench.record(held.a.packet_size) for _ in range(held.a.window)]
    held.a.send(*(held.a.data(octets, m=1) for octets in sent))
    for other in others:
        octets = bench.record(100 * other.a.packet_size)
        other.a.send_message(octets)
        arrives_there(other, octets, note="while the peer of another call does not read")
    held.b.withholding = False
    held.b.wire.tcp.go_on_reading()
    sent.append(b"the end")
    where = f"modulo {modulus}, {window} packets of {held.a.packet_size} octets, B reads again"
    with amid(bench, where):
        held.a.send_data(sent[-1])
        held.b.expect_message(b"".join(sent))
        held.fence()


@purpose("XOT-TCP-32", both_sides=True)
def test_segment_that_looks_like_a_unit(call: Call) -> None:
    """Data with a whole unit in its octets, which a segment has for itself: alone, and with more
    of the packet behind it. The inner packets would clear, reset or interrupt the call."""
    a = call.a
    for octet_3, tail in ((0x13, b"\0\x07"), (0x1B, b"\0\x07"), (0x23, b"!"), (0x02, b"Data")):
        packet = header(a, octet_3) + tail
        inner = b"\0\0" + len(packet).to_bytes(2, "big") + packet
        for behind in (b"", b"behind the unit"):
            octets = b"before the unit" + inner + behind
            a.wait_for_window()
            whole = a.unit_of(a.data(octets))
            start = len(whole) - len(inner + behind)
            send_in_pieces(a, whole, [start, start + len(inner)])
            arrives_there(call, octets)
    call.fence()
