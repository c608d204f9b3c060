# SPDX-License-Identifier: GPL-2.0-or-later
"""Integrity of data and separation of calls (X.25 clauses 3 and 4; RFC 1613 5, 6.2).

Volumes are what a run of the whole suite can bear; `x25shark relay` puts the same questions at
full load.
"""

from __future__ import annotations

from scapy_x25 import Priority

from .callers import takes_any_caller
from .calls import accepted
from .facilities import for_dtes
from .language import (
    CLOSED,
    RNR,
    RR,
    Bench,
    Call,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Interrupt,
    InterruptConfirmation,
    Packet,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    purpose,
)
from .many import ANYTHING, as_many, at_a_time, done, first_packet
from .procedure_errors import expect_after
from .reactions import UNDEFINED, both, header, with_gfi

CALLS = 50
RECORDS = 6
WIDE = {"size": 1024, "window": 7}


def streams(bench: Bench, calls: list[Call]) -> None:
    """Test records on all calls in turn, of both sides; each arrives on its own call, in order, as
    it was."""
    ends = [pair for call in calls for pair in (both(call), both(call)[::-1])]
    for sequence in range(RECORDS):
        records = [bench.record(500, call=n, sequence=sequence) for n in range(len(ends))]
        for (sender, _), record in zip(ends, records, strict=True):
            sender.send_message(record)
        for (_, receiver), record in zip(ends, records, strict=True):
            receiver.expect_message(record)


@purpose("SYS-INTEG-01")
def test_fifty_calls_carry_fifty_streams(bench: Bench) -> None:
    """50 calls with LCN 1 to 50, six records of 500 octets each, in turn."""
    streams(
        bench,
        as_many(bench, CALLS, lambda n: bench.place_call(lcn=1 + n, options=WIDE), least=2),
    )


@purpose("SYS-INTEG-02")
def test_fifty_calls_with_the_same_lcn(bench: Bench) -> None:
    """50 calls with LCN 1, six records of 500 octets each, in turn."""
    streams(bench, as_many(bench, CALLS, lambda _: bench.place_call(lcn=1, options=WIDE), least=2))


@purpose("SYS-INTEG-03")
def test_new_call_sees_nothing_of_the_old_one(bench: Bench) -> None:
    """40 calls one after another on one connection; the last Data of each may be lost."""
    side: Side | None = None
    for number in range(40):
        call = bench.place_call() if side is None else bench.call_again(side)
        a, b = both(call)
        tag = f"call {number}".encode()
        a.send_data(tag)
        b.expect(Data(p_s=0, p_r=0, user_data=tag))
        b.send_data(tag)
        a.expect(Data(p_s=0, user_data=tag))
        a.send(a.data(tag + b", last"), ClearRequest(cause=0, diagnostic=0))
        expect_after(b, ClearIndication(cause=0, diagnostic=0), Data(user_data=tag + b", last"))
        b.send(ClearConfirmation())
        came = a.expect(ClearConfirmation(), CLOSED)
        side = a if came is not None and a.connection.end is None else None
    bench.fence()


@purpose("SYS-INTEG-04")
def test_late_confirmation_of_an_old_call(bench: Bench) -> None:
    """A clears and calls again with the same LCN, on the connection if it is free already.

    It is not where the confirmation is that of B (X.25 5.2.5), or where the router closes it.
    """
    old = bench.call()
    a, b = both(old)
    a.send(ClearRequest(cause=0, diagnostic=0))
    b.expect(ClearIndication(cause=0, diagnostic=0))
    confirmed = False
    if bench.model == "local":
        # Not when T13 has freed B's channel: there a confirmation would be an error by then.
        in_time = min(bench.reaction_limit, bench.profile.times.t13 / 2)
        a.wait_until(lambda: a.phase == "cleared" or a.connection.end is not None, in_time)
        confirmed = a.phase == "cleared" or a.connection.end is not None
    free = confirmed and a.expect(ClearConfirmation(), CLOSED) is not None
    new = bench.call_again(a) if free else bench.place_call()
    new.fence()
    b.send(ClearConfirmation())
    if not confirmed:
        a.expect(ClearConfirmation(), CLOSED)
    bench.fence()
    new.fence("the late confirmation has changed nothing")


@purpose("SYS-INTEG-05")
def test_calls_in_both_directions(bench: Bench) -> None:
    """25 calls from A to B and 25 from B to A, at the same time, with Data and an Interrupt each.

    One of each side waits for its answer with one of the other: they cross, and neither is the
    other's collision, for each has a connection of its own.
    """
    there, back = [], []
    addresses = bench.profile.addresses
    for _ in range(at_a_time(bench, 25, each=2)):
        request = bench.call_request()
        crossing = bench.call_request(called=addresses.a, calling=addresses.b)
        a, b = bench.connect(), bench.connect(at="b")
        a.send(request)
        b.send(crossing)
        called_b = bench.incoming(CallRequest(user_data=request.user_data))
        called_a = bench.incoming(CallRequest(user_data=crossing.user_data), at="a")
        back.append(accepted(bench, b, called_a, crossing))
        there.append(accepted(bench, a, called_b, request))
    calls = there + back
    for number, call in enumerate(calls):
        call.a.send_data(f"to {number}".encode())
    for number, call in enumerate(calls):
        call.b.expect(Data(p_s=0, user_data=f"to {number}".encode()))
        call.b.send_data(f"from {number}".encode())
    for number, call in enumerate(calls):
        call.a.expect(Data(p_s=0, user_data=f"from {number}".encode()))
    for number, call in enumerate(calls):
        call.a.send(Interrupt(user_data=bytes((number,))))
    for number, call in enumerate(calls):
        call.b.expect(Interrupt(user_data=bytes((number,))), note="one is open on each call")
    for call in calls:
        call.b.send(InterruptConfirmation())
    for call in calls:
        call.a.expect(InterruptConfirmation())


@purpose("SYS-INTEG-06")
def test_volume_arrives_as_sent(bench: Bench) -> None:
    """In records of 64 kB, size 1024, window 7. A reset or any other octet fails. Where the packets
    are smaller it is so much less."""
    call = bench.call(size=1024, window=7)
    smallest = min(side.size_in for side in both(call))
    for sender, receiver in (both(call), both(call)[::-1]) * max(1, smallest // 128):
        record = bench.record(min(65536, 512 * smallest))
        for at in range(0, len(record), 4096):
            part = record[at : at + 4096]
            sender.send_message(part)
            receiver.expect_message(part)
    call.fence()


def faults(side: Side) -> list[bytes]:
    """Malformed packets for a call that is up."""
    return [
        with_gfi(side, 0x00, 0x00) + b"GFI 0",
        with_gfi(side, 0x30, 0x00) + b"GFI 3",
        header(side, UNDEFINED),
        header(side, 0x13),
        header(side, 0x13) + bytes(8),
        header(side, 0x17),
        header(side, 0x1F) + b"\0",
        header(side, 0x0B) + b"\xff",
        header(side, 0x0F) + b"\x44",
        header(side, 0x23),
        header(side, 0x23) + bytes(40),
        header(side, 0x0E) + b"P(S) 7",
        header(side, 0xE0) + b"P(R) 7",
        header(side, 0x00) + bytes(4096),
        header(side, 0xFB) + bytes(2),
        header(side, 0xF1) + bytes(4),
    ]


@purpose("SYS-INTEG-07")
def test_faults_on_one_call_leave_the_others_alone(bench: Bench) -> None:
    """Nine calls with data; malformed packets on a tenth, each on a fresh one."""
    others = as_many(bench, 9, lambda _: bench.call(), spare=1)
    for number in range(len(faults(others[0].a))):
        victim = bench.call()
        victim.a.allow(ANYTHING)
        victim.b.allow(ANYTHING)
        victim.a.put(faults(victim.a)[number])
        others[number % len(others)].fence("a call beside the one with the error")
        done(bench, [victim.a])
    for call in others:
        call.fence("a call beside those with errors")


@purpose("SYS-INTEG-08")
def test_what_belongs_to_a_call_arrives_together(bench: Bench) -> None:
    """100 calls at once, or as many as the router takes.

    Each has user data and a DTE facility of its own, and a calling address where the network takes
    any. B answers them as they arrive: over a slow network T11 would run out before the last is on
    its way.
    """
    sent: dict[bytes, tuple[Side, Packet]] = {}
    answered: list[Side] = []

    def take_next() -> None:
        b = bench.listeners.accept()
        first = first_packet(b)
        key = first.user_data if isinstance(first, CallRequest) else b""
        if key not in sent:
            b.expect(*(wanted for _, wanted in sent.values()))
        a, wanted = sent.pop(key)
        b.expect(wanted)
        b.send(CallAccepted())
        answered.append(a)

    digits = bench.profile.addresses.a
    any_caller = takes_any_caller(bench)
    calls = at_a_time(bench, 100, least=2, spare=1)
    for number in range(calls):
        facility = Priority(value=bytes((number, 1)))
        calling = digits[: max(len(digits) - 2, 0)] + f"{number:02}" if any_caller else digits
        marked = for_dtes(bench, facility)
        request = bench.call_request(calling=calling, more=marked)
        wanted = CallRequest(
            calling_address=calling, user_data=request.user_data, facilities=[*marked[1:]]
        )
        a = bench.connect()
        a.send(request)
        sent[request.user_data] = (a, wanted)
        # Not for a connection alone: the router may close it without a Call.
        while bench.listeners.has_call():
            take_next()
    while sent:
        take_next()
    for a in answered:
        a.expect(CallAccepted())
    bench.fence()


@purpose("SYS-INTEG-09")
def test_resets_on_some_calls_leave_the_others_alone(bench: Bench) -> None:
    """20 calls with three Data and an Interrupt each; ten of them, taken at random, are reset."""
    calls = as_many(bench, 20, lambda _: bench.call(), least=2)
    for number, call in enumerate(calls):
        for here, there in (both(call), both(call)[::-1]):
            here.send(Interrupt(user_data=bytes((number,))))
            there.expect(Interrupt(user_data=bytes((number,))))
            there.send(InterruptConfirmation())
            here.expect(InterruptConfirmation())
    for call in calls:
        for number in range(3):
            call.a.send_data(bytes((number,)))
            call.b.expect(Data(p_s=number, user_data=bytes((number,))))
    reset = set(bench.random.sample(range(len(calls)), len(calls) // 2))
    for number in sorted(reset):
        calls[number].a.send(ResetRequest(cause=0, diagnostic=number))
        calls[number].b.expect(ResetIndication(cause=0, diagnostic=number))
        calls[number].b.send(ResetConfirmation())
        calls[number].a.expect(ResetConfirmation())
    for number, call in enumerate(calls):
        call.a.send_data(b"after")
        call.b.expect(Data(p_s=0 if number in reset else 3, user_data=b"after"))
        call.fence()


@purpose("SYS-INTEG-10")
def test_random_legal_session(bench: Bench) -> None:
    """1,000 steps taken with the seed of the run: messages, interrupts and resets of both sides.

    The model is X.25 itself: what one side sends, the other one has next, and nothing else.
    """
    call = bench.call(size=256, window=4)
    for _ in range(1000):
        there, back = both(call) if bench.random.random() < 0.5 else both(call)[::-1]
        match bench.random.choices(("message", "interrupt", "reset"), (90, 6, 4))[0]:
            case "message":
                octets = bench.random.randbytes(bench.random.randint(1, 700))
                q = bench.random.randint(0, 1)
                there.send_message(octets, q=q)
                back.expect_message(octets, q=q)
            case "interrupt":
                octets = bench.random.randbytes(bench.random.randint(1, 32))
                there.send(Interrupt(user_data=octets))
                back.expect(Interrupt(user_data=octets))
                back.send(InterruptConfirmation())
                there.expect(InterruptConfirmation())
            case _:
                diagnostic = bench.random.randint(0, 255)
                there.send(ResetRequest(cause=0, diagnostic=diagnostic))
                back.expect(ResetIndication(cause=0, diagnostic=diagnostic))
                back.send(ResetConfirmation())
                there.expect(ResetConfirmation())
                # Where its side still waits for that confirmation, another Reset is nothing new.
                call.fence()
    call.fence()


@purpose("SYS-INTEG-11", window=7)
def test_splice_is_transparent(call: Call) -> None:
    """150 packets each way with any LCN; all fields but the LCN arrive as they were sent.

    Behind them RR and RNR that all have the P(R) of the one before."""
    chance = call.bench.random
    any_lcn = "sent with another LCN, which has no significance"
    for _ in range(150):
        for there, back in (both(call), both(call)[::-1]):
            octets = chance.randbytes(chance.randint(1, 128))
            lcn = chance.randint(1, 4095)
            if chance.random() < 0.1:
                there.send(Interrupt(user_data=octets[:32], lcn=lcn))
                back.expect(Interrupt(user_data=octets[:32]), note=any_lcn)
                back.send(InterruptConfirmation())
                there.expect(InterruptConfirmation())
                continue
            same = {
                "q": chance.randint(0, 1),
                "d": chance.randint(0, 1),
                "m": chance.randint(0, 1),
                "p_s": there.numbering.next_p_s,
                "p_r": there.numbering.p_r,
            }
            there.send_data(octets, **same, lcn=lcn)
            back.expect(Data(**same, user_data=octets), note=any_lcn)
    for there, back in (both(call), both(call)[::-1]):
        there.send_data(b"ahead")
        back.expect(Data(user_data=b"ahead"))
        mark = back.cursor
        there.send(*(kind(p_r=there.numbering.p_r) for kind in (RR, RR, RNR, RNR, RR)))
        there.send_data(b"behind")
        back.expect(Data(user_data=b"behind"))
        for kind, times in ((RR, 3), (RNR, 2)):
            back.expect_count(
                kind(), times, times, start=mark, note="flow control is between the ends"
            )
    call.fence()


@purpose("SYS-INTEG-12", window=7)
def test_order_across_types(call: Call) -> None:
    """Data with an Interrupt between, five times; Data and Reset; Data and Clear.

    Data keeps its order. What was sent ahead of the Reset or Clear arrives ahead of it or never.
    """
    a, b = call.a, call.b
    for number in range(5):
        tags = [f"{number} {part}".encode() for part in ("first", "second")]
        a.send(a.data(tags[0]), Interrupt(user_data=b"!"), a.data(tags[1]))
        waiting: list[Packet] = [Data(user_data=tag) for tag in tags]
        interrupt = False
        while waiting or not interrupt:
            wanted = waiting[:1] + ([] if interrupt else [Interrupt(user_data=b"!")])
            if isinstance(b.expect(*wanted), Interrupt):
                interrupt = True
            else:
                waiting.pop(0)
        b.send(InterruptConfirmation())
        a.expect(InterruptConfirmation())
    a.send(a.data(b"old"), ResetRequest(cause=0, diagnostic=7))
    expect_after(b, ResetIndication(cause=0, diagnostic=7), Data(user_data=b"old"))
    b.send(ResetConfirmation())
    a.expect(ResetConfirmation())
    a.send_data(b"new")
    b.expect(Data(p_s=0, user_data=b"new"))
    a.send(a.data(b"last"), ClearRequest(cause=0, diagnostic=241))
    expect_after(b, ClearIndication(cause=0, diagnostic=241), Data(user_data=b"last"))
    b.send(ClearConfirmation())
    a.expect(ClearConfirmation(), CLOSED)
    call.bench.fence()


def call_from(bench: Bench, at: str) -> Call:
    """A call of this side, which is the a of it."""
    if at == "a":
        return bench.call()

    def placed() -> tuple[Side, Side]:
        x = bench.connect(at=at)
        x.send(request)
        return x, bench.incoming(at="a")

    addresses = bench.profile.addresses
    request = bench.call_request(called=addresses.a, calling=bench.far_end.address)
    with bench.preamble():
        x, y = bench.capacity.in_the_end(placed)
        return accepted(bench, x, y, request)


@purpose("SYS-INTEG-21")
def test_full_packets_on_many_channels(bench: Bench) -> None:
    """20 calls, every second one of B: each has a channel from the other end of the range. A full
    packet each way on each, all under way at once."""
    ranges = [line.profile.lcn for line in bench.lines.values()]
    wanted = min(20, *(highest - lowest + 1 for lowest, highest in ranges))
    calls = as_many(bench, wanted, lambda n: call_from(bench, "ba"[n % 2]))
    for turned in (False, True):
        ways = [both(call)[::-1] if turned else both(call) for call in calls]
        records = [
            bench.record(here.packet_size, call=number) for number, (here, _) in enumerate(ways)
        ]
        for (here, _), record in zip(ways, records, strict=True):
            here.send_message(record)
        for (_, there), record in zip(ways, records, strict=True):
            there.expect_message(record)
    calls[-1].fence()
