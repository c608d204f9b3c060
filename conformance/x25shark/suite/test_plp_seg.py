# SPDX-License-Identifier: GPL-2.0-or-later
"""M bit, packet sequences and re-segmentation (X.25 4.3.4, 4.3.5)."""

from collections.abc import Callable
from itertools import product

from .amid_sequences import AMID, BETWEEN
from .calls import modes, moduli
from .clearing import clear_or_close, end, refused
from .language import (
    CLOSED,
    RNR,
    RR,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearIndication,
    ClearRequest,
    Data,
    Data128,
    PacketSize,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    WindowSize,
    not_in,
    one_of,
    purpose,
)
from .occasion import amid
from .procedure_errors import expect_after, part_filled_is_reset, takes_empty_data
from .reactions import both
from .transfer import call_of_sizes, each_way, fence_past_window
from .windows import before_interrupt, may_send


@purpose("PLP-SEG-01", both_sides=True)
def test_m_bit_passes(call: Call) -> None:
    full, rest = call.bench.random.randbytes(128), b"0123456789"
    call.a.send(call.a.data(full, m=1), call.a.data(rest))
    if isinstance(call.b, Side) and call.b.size_in > 128:
        call.b.expect(Data(m=0, user_data=full + rest))
    else:
        call.b.expect(Data(m=1, user_data=full))
        call.b.expect(Data(m=0, user_data=rest))
    call.fence()


@purpose("PLP-SEG-02")
def test_packets_are_joined(bench: Bench) -> None:
    for call in each_way(bench, 128, 512):
        octets = bench.random.randbytes(612)
        call.a.send_message(octets)
        call.b.expect(Data(m=1, user_data=octets[:512]))
        call.b.expect(Data(m=0, user_data=octets[512:]))
        call.fence()
    for modulus in moduli(bench):
        for call in each_way(bench, 128, 512, modulus=modulus):
            for something, what in AMID.items():
                with amid(bench, f"modulo {modulus}, with {what} amid what is joined"):
                    joined_amid(call, something)
            call.fence()


def joined_amid(call: Call, something: Callable[[Call, int | None], None]) -> None:
    """A sequence of five packets, this behind each of the first three, which the router keeps."""
    a, b = both(call)
    octets, begin = call.bench.random.randbytes(612), b.cursor
    parts = [octets[at : at + 128] for at in range(0, len(octets), 128)]
    for number, part in enumerate(parts):
        a.send_data(part, m=int(part is not parts[-1]), q=1)
        if number < 3:
            something(call, None)
    b.expect_message(octets, q=1, start=begin, passing=BETWEEN)
    b.expect_count(b.data(octets[:512], m=1), 1, 1, start=begin)


@purpose("PLP-SEG-03")
def test_packet_is_split(bench: Bench) -> None:
    for call in each_way(bench, 512, 128):
        octets = bench.random.randbytes(512)
        call.a.send_data(octets)
        for part in range(4):
            call.b.expect(Data(m=int(part < 3), user_data=octets[part * 128 : part * 128 + 128]))
        call.fence()


@purpose("PLP-SEG-22")
def test_split_and_joined_in_modulo_128(bench: Bench) -> None:
    """40 packets of 128 octets on the one side, 10 of 512 on the other, which B acknowledges one by
    one: the numbers go past those of modulo 8, and P(R) counts what A has sent. Every other one has
    Q=1."""
    for call in each_way(bench, 512, 128, window=20, modulus=128):
        for way in (call, call.turned()):
            a, b = both(way)
            for number in range(10):
                octets = bench.record(512)
                a.send_message(octets, q=number % 2)
                b.expect_message(octets, q=number % 2, longest=b.size_in)
        call.fence()


@purpose("PLP-SEG-04")
def test_split_keeps_m_on_the_last_part(bench: Bench) -> None:
    for call in each_way(bench, 512, 128):
        octets = bench.random.randbytes(513)
        call.a.send_message(octets)
        for part in range(4):
            call.b.expect(Data(m=1, user_data=octets[part * 128 : part * 128 + 128]))
        call.b.expect(Data(m=0, user_data=octets[512:]))
        call.fence()


@purpose("PLP-SEG-05", both_sides=True)
def test_part_filled_packet_with_m_ends_the_sequence(call: Call) -> None:
    """The next packet may have another Q. The part may be empty, of a router that takes such
    Data."""
    parts = (b"part of it", b"") if takes_empty_data(call) else (b"part of it",)
    for part, q in product(parts, (0, 1)):
        call.a.send_data(part, m=1)
        if part_filled_is_reset(call.bench, *both(call)):
            call.fence("both resets are complete")
            continue
        call.a.send_data(b"next after", q=q)
        call.b.expect(Data(m=0, q=0, user_data=part))
        call.b.expect(Data(m=0, q=q, user_data=b"next after"))
    call.fence()


@purpose("PLP-SEG-20")
def test_full_is_what_its_own_side_says(bench: Bench) -> None:
    """M=1 in a packet that would be full at the other side, whose packets are smaller."""
    for call in each_way(bench, 512, 128):
        part = bench.random.randbytes(128)
        for q in (0, 1):
            call.a.send_data(part, m=1)
            if part_filled_is_reset(bench, *both(call)):
                call.fence("both resets are complete")
                continue
            call.a.send_data(b"next after", q=q)
            call.b.expect(Data(m=0, q=0, user_data=part))
            call.b.expect(Data(m=0, q=q, user_data=b"next after"))
        call.fence()


@purpose("PLP-SEG-19", both_sides=True)
def test_m_and_d_pass_together(call: Call) -> None:
    """In a full packet and in one that is not (Table 4-1): M=1 with D=1 stays in both.

    Of those that are not, one has an octet alone, one lacks an octet alone, and one is empty, of a
    router that takes such Data. In modulo 128 too.
    """
    for way in modes(call):
        size = way.a.packet_size
        empty = (0,) if takes_empty_data(way) else ()
        for length in (10, 1, *empty, size - 1, size):
            with amid(call.bench, f"{length} octets, modulo {way.a.modulus}"):
                _m_and_d(way, length)


def _m_and_d(call: Call, length: int) -> None:
    """So many octets with M=1 and D=1, in as many packets as B needs, and the rest behind them."""
    a, b = both(call)
    octets = call.bench.random.randbytes(length)
    a.send_data(octets, d=1, m=1)
    a.send_data(b"the rest of it")
    for at in range(0, max(length, 1), b.size_in):
        left = octets[at : at + b.size_in]
        b.expect(b.data(left, d=int(at + len(left) == length), m=1))
    b.expect(b.data(b"the rest of it", d=0, m=0))
    call.fence()


@purpose("PLP-SEG-06", both_sides=True)
def test_category_b_is_not_joined(call: Call) -> None:
    call.a.send(call.a.data(b"ten octets"), call.a.data(b"more octets here"))
    call.b.expect(Data(m=0, user_data=b"ten octets"))
    call.b.expect(Data(m=0, user_data=b"more octets here"))
    call.fence()


@purpose("PLP-SEG-07")
def test_exact_fit_has_no_empty_tail(bench: Bench) -> None:
    for call in each_way(bench, 128, 256):
        octets = bench.random.randbytes(256)
        call.a.send_message(octets)
        call.b.expect(Data(m=0, user_data=octets))
        call.fence()
    for sizes in ((128, 512), (512, 128)):
        for call in each_way(bench, *sizes):
            if takes_empty_data(call):
                _empty_end(call)


def _empty_end(call: Call) -> None:
    """Full packets with M=1 and an empty one behind them: the sequence ends at B too."""
    octets = call.bench.random.randbytes(512)
    for at in range(0, 512, call.a.packet_size):
        call.a.send_data(octets[at : at + call.a.packet_size], m=1)
    call.a.send_data(b"")
    call.b.expect_message(octets, longest=call.b.size_in, note="an empty packet ends it")
    call.a.send_data(b"the next")
    call.b.expect(Data(m=0, user_data=b"the next"))
    call.fence()


@purpose("PLP-SEG-08", window=7)
def test_long_chain_passes_while_it_arrives(call: Call) -> None:
    """8192 packets of 128 octets. A router may hold for a while what it has of a sequence (X.25
    4.3.4 says what is delivered, not when): its first packet comes before the second half goes."""
    a, b = call.a, call.b
    assert isinstance(b, Side)
    octets = call.bench.random.randbytes(8192 * 128 + 1)
    half = 4096 * 128
    for at in range(0, half, a.packet_size):
        a.send_data(octets[at : at + a.packet_size], m=1)
    b.expect(Data(m=1, user_data=octets[: b.size_in]))
    a.send_message(octets[half:])
    b.wait_until(lambda: b.connection.received_octets > len(octets))
    b.expect_message(octets[b.size_in :], longest=b.size_in)
    call.fence()


@purpose("PLP-SEG-09")
def test_no_packet_is_larger_than_agreed(bench: Bench) -> None:
    for size_a, size_b in ((16, 128), (128, 1024), (256, 128), (512, 256), (1024, 128)):
        call = call_of_sizes(bench, size_a, size_b)
        there, back = bench.random.randbytes(3000), bench.random.randbytes(3000)
        call.a.send_message(there)
        call.b.expect_message(there, longest=size_b)
        call.b.send_message(back)
        call.a.expect_message(back, longest=size_a)
        call.fence()


@purpose("PLP-SEG-10")
def test_numbers_belong_to_their_own_side(bench: Bench) -> None:
    for call in each_way(bench, 512, 128):
        for number in range(10):
            octets = bench.random.randbytes(512)
            call.a.send_data(octets)
            for part in range(4):
                numbered = Data(
                    p_s=(4 * number + part) % 8, user_data=octets[part * 128 : part * 128 + 128]
                )
                call.b.expect(numbered)
            if number == 0:
                # B has acknowledged four packets, A has sent one.
                fence_past_window(call)
                for kind in (RR, RNR):
                    call.a.expect_count(kind(p_r=not_in(0, 1)), 0, 0, start=0)
        call.fence()


@purpose("PLP-SEG-11")
def test_q_bit_on_every_part(bench: Bench) -> None:
    for call in each_way(bench, 512, 128):
        octets = bench.random.randbytes(512)
        call.a.send_data(octets, q=1)
        for part in range(4):
            call.b.expect(Data(q=1, user_data=octets[part * 128 : part * 128 + 128]))
        call.fence()


@purpose("PLP-SEG-12")
def test_d_bit_on_the_last_part_only(bench: Bench) -> None:
    for call in each_way(bench, 512, 128):
        octets = bench.random.randbytes(512)
        call.a.send_data(octets, d=1)
        for part in range(4):
            user_data = octets[part * 128 : part * 128 + 128]
            call.b.expect(Data(d=int(part == 3), m=int(part < 3), user_data=user_data))
        call.fence()
    for modulus in moduli(bench):
        for call in each_way(bench, 512, 128, window=2, modulus=modulus):
            for something, what in AMID.items():
                with amid(bench, f"modulo {modulus}, with {what} amid the parts"):
                    split_amid(call, something)
            call.fence()


def split_amid(call: Call, something: Callable[[Call, int | None], None]) -> None:
    """The same with this amid the parts: B's window does not let in all of them at once."""
    a, b = both(call)
    octets, begin, kept = call.bench.random.randbytes(512), b.cursor, b.numbering.p_r
    b.withholding = True
    a.send_data(octets, d=1, q=1)
    b.expect(b.data(octets[:128], d=0, m=1, q=1))
    something(call, kept)
    b.withholding = False
    b.acknowledge()
    b.expect_message(octets, q=1, start=begin, passing=BETWEEN)
    for number, part in enumerate(octets[at : at + 128] for at in range(0, 512, 128)):
        last = number == 3
        b.expect_count(b.data(part, d=int(last), m=int(not last)), 1, 1, start=begin)


@purpose("PLP-SEG-13")
def test_d_and_m_are_a_border(bench: Bench) -> None:
    for call in each_way(bench, 128, 256):
        full = bench.random.randbytes(128)
        call.a.send(call.a.data(full, d=1, m=1), call.a.data(b"after"))
        call.b.expect(Data(d=1, m=1, user_data=full))
        call.b.expect(Data(d=0, m=0, user_data=b"after"))
        call.fence()
    for call in each_way(bench, 512, 128):
        for length in (512, 300):
            _m_and_d(call, length)


@purpose("PLP-SEG-14")
def test_reset_drops_the_open_part(bench: Bench) -> None:
    """Where B has the larger size, so that the router keeps the full packet to join it.

    Then the same with all that A did done by B.
    """
    own_sizes = bench.model == "local" and bench.profile.addresses.own_sizes is not None
    for turned in (False, True):
        sizes = (256, 128) if turned else (128, 256)
        made = call_of_sizes(bench, *sizes) if own_sizes else bench.call()
        call = made.turned() if turned else made
        _part_is_dropped(call, bench.random.randbytes(128))


def _part_is_dropped(call: Call, full: bytes) -> None:
    """A resets behind the first packet of a sequence: what B gets then begins anew."""
    call.a.send_data(b"before")
    call.b.expect(Data(m=0, user_data=b"before"))
    call.a.send(call.a.data(full, m=1), ResetRequest(cause=0, diagnostic=0))
    reset = ResetIndication(cause=0, diagnostic=0)
    expect_after(call.b, reset, Data(m=one_of(0, 1), user_data=full))
    call.b.send(ResetConfirmation())
    call.a.expect(ResetConfirmation())
    call.a.send_data(b"after")
    call.b.expect(Data(p_s=0, m=0, user_data=b"after"))
    call.fence()


@purpose("PLP-SEG-15")
def test_unequal_sizes_per_direction(bench: Bench) -> None:
    bench.need(bench.profile.limits.packet_size >= 1024, "packet size 1024")
    for from_b, from_a in ((1024, 128), (128, 1024)):
        call = bench.call(size=(from_b, from_a), answer=CallAccepted())
        a, b = call.a, call.b
        there, back = bench.random.randbytes(2500), bench.random.randbytes(2500)
        a.send_message(there)
        b.expect_message(there, longest=b.size_in)
        b.send_message(back)
        a.expect_message(back, longest=a.size_in)
        call.fence()


@purpose("PLP-SEG-16")
def test_windows_hold_while_splitting(bench: Bench) -> None:
    call = call_of_sizes(bench, 1024, 128, window=2)
    a, b = both(call)
    first, second = bench.random.randbytes(1024), bench.random.randbytes(1024)
    b.withholding = True
    a.send_data(first)
    further = may_send(a)
    if further:
        a.send_data(second)
    parts = [first[at : at + 128] for at in range(0, 128 * b.window_in, 128)]
    due = [Data(p_s=p_s, m=1, user_data=part) for p_s, part in enumerate(parts)]
    came = before_interrupt(a, b, due)
    b.withholding = False
    b.acknowledge()
    if not further:
        a.send_data(second)
    b.expect_message(first[128 * came :], longest=128)
    b.expect_message(second, longest=128)
    call.fence()


@purpose("PLP-SEG-17")
def test_random_sequence_of_messages(bench: Bench) -> None:
    """24 messages each way, long and short in turn; without user data they are PLP-DATA-03."""
    pairs = ((128, 1024), (1024, 128), (512, 256))
    own_sizes = bench.model == "local" and bench.profile.addresses.own_sizes is not None
    for size_a, size_b in pairs if own_sizes else ((size, size) for size, _ in pairs):
        if size_a == size_b:
            call = bench.call(size=min(size_a, bench.profile.limits.packet_size), window=7)
        else:
            call = call_of_sizes(bench, size_a, size_b)
        for sender, receiver in ((call.a, call.b), (call.b, call.a)):
            messages = [
                (bench.random.randbytes(bench.random.randint(1, longest)), number % 3 // 2)
                for number, longest in enumerate((5000, 100) * 4)
            ]
            for octets, q in messages:
                sender.send_message(octets, q=q)
            for octets, q in messages:
                receiver.expect_message(octets, q=q)
        call.fence()


@purpose("PLP-SEG-18")
def test_smaller_answer_is_handled_at_set_up(bench: Bench) -> None:
    bench.need(bench.profile.limits.packet_size >= 1024, "packet size 1024")
    with bench.preamble():
        a = bench.connect()
        a.send(bench.call_request(size=1024))
        b = bench.incoming()
    default = PacketSize(called=7, calling=7)
    b.send(CallAccepted(facilities=[default, WindowSize(called=2, calling=2)]))
    refusal = ClearIndication(cause=bench.network_clear)
    came = a.expect(CallAccepted(facilities=[default]), refusal, CLOSED)
    if not isinstance(came, CallAccepted):
        bench.remark("packet sizes that differ are refused at set-up")
        clear_or_close(bench, a)
        refused(bench, b, refusal)
        bench.fence()
        return
    octets = bench.random.randbytes(1000)
    a.send_message(octets)
    b.packet_size = 128
    b.expect_message(octets, longest=128)
    b.send_message(octets)
    a.expect_message(octets, longest=128)
    bench.fence()


@purpose("PLP-SEG-23")
def test_nothing_that_waits_for_the_next_call(bench: Bench) -> None:
    """The first packet of a sequence, of the side with the smaller ones: A, or B. One of the two
    clears the call, and A calls again, on that connection if it is kept."""
    for modulus, (q, clears) in product(moduli(bench), ((0, "A"), (1, "B"))):
        for call in each_way(bench, 128, 512, modulus=modulus):
            occasion = f"modulo {modulus}, from {call.a.name} with Q={q}, and {clears} clears"
            with amid(bench, occasion):
                _part_is_left_by_a_clear(call, q, clears)


def _part_is_left_by_a_clear(call: Call, q: int, clears: str) -> None:
    bench, (sender, receiver) = call.bench, both(call)
    sender.send(sender.data(b"left of the last call".ljust(sender.packet_size), m=1, q=q))
    end(bench.fence("the router has it"))
    by, other = (sender, receiver) if sender.name == clears else (receiver, sender)
    by.send(ClearRequest(cause=0, diagnostic=0))
    # What waits may also have come in front of it.
    other.expect(ClearIndication(cause=0, diagnostic=0), passing=(Data(), Data128()))
    other.send(ClearConfirmation())
    by.expect(ClearConfirmation(), CLOSED, passing=(Data(), Data128()))
    caller = sender if sender.name == "A" else receiver
    sizes = (128, 512) if caller is sender else (512, 128)
    made = call_of_sizes(bench, *sizes, modulus=sender.modulus, on=caller)
    again = made if caller is sender else made.turned()
    a, b = both(again)
    a.send_data(b"new")
    b.expect(b.data(b"new", p_s=0, m=0, q=0), note="behind the last call")
    octets = bench.record(600)
    a.send_message(octets)
    b.expect_message(octets, longest=b.size_in)
    again.fence()
    end(again)
