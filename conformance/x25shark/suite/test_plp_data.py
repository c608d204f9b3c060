# SPDX-License-Identifier: GPL-2.0-or-later
"""Data transfer (X.25 4.3, 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from .calls import checks_numbers, moduli
from .clearing import end
from .connections import crosses
from .language import (
    RNR,
    RNR128,
    RR,
    RR128,
    Bench,
    Call,
    CallAccepted,
    Data,
    Data128,
    Interrupt,
    Packet,
    ResetConfirmation,
    ResetIndication,
    Side,
    purpose,
)
from .occasion import amid
from .procedure_errors import confirmed_ahead, expect_refusal, expect_reset, takes_empty_data
from .reactions import UNDEFINED, both, header
from .shut_windows import outside_the_window
from .transfer import acknowledged_inside_data, interrupt_answered
from .windows import all_acknowledged

# In T2 the router returns what A sent, so that "B sends the same, A expects it" holds there too.


@purpose("PLP-DATA-01")
def test_all_octet_values_pass(call: Call) -> None:
    """In one message, and each of them twice where a message begins and where it ends: a router
    that takes octets for escapes or for its own framing loses one there."""
    halves = bytes(range(128)), bytes(range(128, 256))
    for half in halves:
        call.a.send_data(half)
        call.b.expect_message(half)
    for half in halves:
        call.b.send_data(half)
        call.a.expect_message(half)
    for octet in range(256):
        message = bytes((octet, octet)) + b"between" + bytes((octet, octet))
        crosses(call, message, message)
    call.fence()


@purpose("PLP-DATA-02")
def test_every_length_passes(call: Call) -> None:
    messages = [call.bench.random.randbytes(length) for length in range(1, 129)]
    for octets in messages:
        call.a.send_data(octets)
        call.b.expect_message(octets)
    for octets in messages:
        call.b.send_data(octets)
        call.a.expect_message(octets)
    call.fence()


@purpose("PLP-DATA-03", both_sides=True)
def test_data_without_user_data(call: Call) -> None:
    """With Q=0 and with Q=1."""
    for q in (0, 1):
        takes_empty_data(call, q=q)


@purpose("PLP-DATA-04", both_sides=True)
def test_one_octet_above_the_agreed_size(call: Call) -> None:
    too_long = call.a.data(call.bench.random.randbytes(129))
    call.a.send(too_long)
    expect_refusal(call, too_long, 39)


@purpose("PLP-DATA-05")
def test_p_s_counts_modulo_8(call: Call) -> None:
    for number in range(40):
        call.a.send_data(bytes([number]))
        call.b.expect(Data(p_s=number % 8, user_data=bytes([number])))
    for number in range(40):
        call.b.send_data(bytes([number]))
        call.a.expect(Data(p_s=number % 8, user_data=bytes([number])))
    call.fence()


@purpose("PLP-DATA-06", both_sides=True)
def test_skipped_p_s(call: Call) -> None:
    call.fence("P(S) 0")
    skipping = call.a.data(b"P(S) 2 for 1", p_s=2)
    call.a.send(skipping)
    expect_refusal(call, skipping, 1)


@purpose("PLP-DATA-07", both_sides=True)
def test_repeated_p_s(call: Call) -> None:
    call.fence("P(S) 0")
    repeated = call.a.data(b"P(S) 0 once more", p_s=0)
    call.a.send(repeated)
    expect_refusal(call, repeated, 1)


@purpose("PLP-DATA-08")
def test_p_s_outside_the_window(bench: Bench) -> None:
    """Each window of modulo 8, that of 2 first; from A, and from B where there is a side B."""
    for window in (2, 1, 3, 4, 5, 6, 7):
        for from_b in (False, True) if bench.two_sided else (False,):
            call = bench.call(window=window)
            with amid(bench, f"window {window}"):
                outside_the_window(call.turned() if from_b else call)
            end(call)


@purpose("PLP-DATA-09", both_sides=True)
def test_first_p_s_is_0(call: Call) -> None:
    first = call.a.data(b"first has P(S) 1", p_s=1)
    call.a.send(first)
    expect_refusal(call, first, 1)


@purpose("PLP-DATA-10", both_sides=True)
def test_invalid_p_r_in_data(call: Call) -> None:
    invalid = call.a.data(b"P(R) 5 of none", p_r=5)
    call.a.send(invalid)
    expect_refusal(call, invalid, 2)


@purpose("PLP-DATA-11", both_sides=True)
def test_q_bit_passes(call: Call) -> None:
    for sender, receiver in ((call.a, call.b), (call.b, call.a)):
        for q in (0, 1, 0, 1):
            octets = f"from {sender.name}, Q={q}".encode()
            sender.send_data(octets, q=q)
            receiver.expect(Data(q=q, user_data=octets))
    call.fence()


# Q of each packet of a sequence: one change, in the second packet or in the third.
Q_CHANGES = ((0, 1), (1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 0))


@purpose("PLP-DATA-12")
def test_q_change_within_a_sequence(bench: Bench) -> None:
    """From 0 to 1 and back, of A and of B, with D=0 and with D=1 in the last packet; in modulo 128
    too. A router that has refused one of them refuses each of its modulo and D."""
    refused: dict[tuple[str, int, int], bool] = {}
    for modulus in moduli(bench):
        call = bench.call(window=3, modulus=modulus)
        for way, changes in product((call, call.turned()), Q_CHANGES):
            if len(changes) > way.a.window:
                continue
            a, b = both(way)
            a.send_data(b"one of its own", q=1)
            b.expect(b.data(b"one of its own", q=1))
            for d in (0, 1) if bench.declared("P-DBIT") else (0,):
                occasion = f"Q={changes}, D={d} in the last, modulo {modulus}, from {way.a.name}"
                with amid(bench, occasion):
                    # What looks at Q may be another part of the router at either side.
                    which = way.a.name, modulus, d
                    before = refused.get(which, False)
                    refused[which] = _q_change_is_refused(way, changes, d, before)
        end(call)
    bench.fence()


def _q_change_is_refused(call: Call, changes: Sequence[int], d: int, surely: bool) -> bool:
    """Whether both sides are reset for it; else B gets each packet with its own Q. surely: a router
    that has done so before does not pass the last of them."""
    bench, (a, b) = call.bench, both(call)
    all_acknowledged(a)
    parts = [bench.random.randbytes(a.packet_size) for _ in changes[1:]] + [b"the end of it"]
    last = len(parts) - 1
    packets = [
        a.data(octets, q=q, m=int(number < last), d=d * int(number == last))
        for number, (octets, q) in enumerate(zip(parts, changes, strict=True))
    ]
    a.send(*packets)
    reset = ResetIndication(cause=bench.remote_reset)
    here = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(83))
    behind = [at for at in range(1, last + 1) if len({*changes[at:]}) == 1]
    through = [b.data(b"".join(parts[at:]), q=changes[-1]) for at in behind]
    ahead = confirmed_ahead(a, b, here, *through)
    came: Packet | None = None
    for q in (changes[0], changes[-1]):
        left = b"".join(part for part, own in zip(parts, changes, strict=True) if own == q)
        while left and not isinstance(came, ResetIndication):
            step = min(a.packet_size, b.size_in)
            pieces = [left[:end] for end in range(step, len(left), step)]
            if not (surely and left.endswith(parts[-1])):
                pieces.append(left)
            came = b.expect(*(b.data(octets, q=q) for octets in pieces), reset)
            if came is not None and not isinstance(came, ResetIndication):
                left = left[len(came.user_data) :]
    if isinstance(came, ResetIndication):
        if not ahead:
            a.expect(here)
            a.send(ResetConfirmation())
        b.send(ResetConfirmation())
    elif call.model == "local":
        bench.remark("a change of Q within a packet sequence passes")
    call.fence()
    return surely or isinstance(came, ResetIndication)


@purpose("PLP-DATA-26")
def test_errors_in_later_packets_of_a_sequence(bench: Bench) -> None:
    """Behind one full packet with M=1 and behind two, with Q=0 and with Q=1, of A and of B: Data
    that is too long, or whose P(S) or P(R) is wrong; an RR and an RNR whose P(R) is; an Interrupt
    that is too long, and an undefined type. In modulo 128 too."""
    bench.need(checks_numbers(bench), "a router that checks the numbers of a call (N-CHECK)")
    for modulus in moduli(bench):
        call = bench.call(window=4, modulus=modulus)
        for way, before in product((call, call.turned()), (1, 2)):
            for number, (what, wrong, code) in enumerate(LATER_ERRORS):
                if before < way.a.window:
                    occasion = f"{what} behind {before} full packets, modulo {way.a.modulus}"
                    with amid(bench, f"{occasion}, from {way.a.name}"):
                        _error_amid(way, before, number % 2, wrong(way.a), code)
        end(call)
    bench.fence()


def _error_amid(call: Call, before: int, q: int, wrong: Packet | bytes, code: int) -> None:
    """The full packets may still come, joined where B has the larger size."""
    a, b = both(call)
    all_acknowledged(a)
    sent = call.bench.random.randbytes(before * a.packet_size)
    parts = [sent[at : at + a.packet_size] for at in range(0, len(sent), a.packet_size)]
    for octets in parts:
        a.send_data(octets, q=q, m=1)
    joined = [sent] if before > 1 and b.size_in > a.packet_size else []
    may_come = [b.data(octets, q=q, m=1) for octets in (*parts, *joined)]
    if isinstance(wrong, bytes):
        a.put(wrong)
        expect_reset(call, code, before=may_come)
        return
    if isinstance(wrong, (Data, Data128)):
        wrong.q = q
        step = wrong.fields.pop("p_s", None)
        if step is not None:
            wrong.p_s = (a.numbering.next_p_s + step) % a.modulus
    a.send(wrong)
    expect_refusal(call, wrong, code, before=may_come)


def _invalid_p_r(side: Side) -> int:
    """Beyond all that the router can have sent."""
    return (side.numbering.p_r + 4) % side.modulus


def _ready(side: Side, kind: type[Packet], kind_128: type[Packet]) -> Packet:
    return (kind_128 if side.modulus == 128 else kind)(p_r=_invalid_p_r(side))


# P(S) counts from the next one here.
LATER_ERRORS: tuple[tuple[str, Callable[[Side], Packet | bytes], int], ...] = (
    ("Data of an octet too many with M=1", lambda a: a.data(bytes(a.packet_size + 1), m=1), 39),
    ("Data of an octet too many", lambda a: a.data(bytes(a.packet_size + 1)), 39),
    ("Data of many octets too many", lambda a: a.data(bytes(2 * a.packet_size)), 39),
    ("a skipped P(S)", lambda a: a.data(b"skipped", p_s=1), 1),
    ("a repeated P(S)", lambda a: a.data(b"repeated", p_s=-1), 1),
    ("a wrong P(R) in Data", lambda a: a.data(b"P(R)", p_r=_invalid_p_r(a)), 2),
    ("a wrong P(R) in an RR", lambda a: _ready(a, RR, RR128), 2),
    ("a wrong P(R) in an RNR", lambda a: _ready(a, RNR, RNR128), 2),
    ("an Interrupt of 33 octets", lambda a: a.octets_of(Interrupt(user_data=bytes(33))), 39),
    ("an undefined type", lambda a: header(a, UNDEFINED), 33),
)


@purpose("PLP-DATA-13")
def test_window_opens_without_end(call: Call) -> None:
    """10 000 Data, as 100 packet sequences."""
    for _ in range(100):
        sequence = call.bench.random.randbytes(100 * 128)
        call.a.send_message(sequence)
        if call.b.present:
            call.b.expect_message(sequence)
        else:
            call.a.expect_message(sequence)
    call.fence()


@purpose("PLP-DATA-14", window=7)
def test_both_directions_at_full_rate(call: Call) -> None:
    """10 000 Data each way, as 100 packet sequences each."""
    a, b = call.a, call.b
    for _ in range(100):
        there, back = (call.bench.random.randbytes(100 * 128) for _ in range(2))
        for at in range(0, len(there), 128):
            more = int(at + 128 < len(there))
            a.send_data(there[at : at + 128], m=more)
            b.send_data(back[at : at + 128], m=more)
        b.expect_message(there)
        a.expect_message(back)
    call.fence()


@purpose("PLP-DATA-15", both_sides=True)
def test_acknowledgement_inside_data(call: Call) -> None:
    acknowledged_inside_data(call)


@purpose("PLP-DATA-16")
def test_data_right_after_call_connected(bench: Bench) -> None:
    with bench.preamble():
        a = bench.connect()
        a.send(bench.call_request())
        b = bench.incoming() if bench.two_sided else None
        if b is not None:
            b.send(b.acceptance)
        a.expect(CallAccepted())
    a.send_data(b"at once")
    if b is None:
        a.expect_message(b"at once")
    else:
        b.expect_message(b"at once")
        b.send_data(b"and back")
        a.expect_message(b"and back")
    bench.fence()


@purpose("PLP-DATA-19", window=7)
def test_order_of_small_and_large_packets(call: Call) -> None:
    """5 000 Data of 4 to 128 octets, each with its number in front."""
    for start in range(0, 5000, 50):
        packets = [
            number.to_bytes(4, "big") + bytes(call.bench.random.randint(0, 124))
            for number in range(start, start + 50)
        ]
        for octets in packets:
            call.a.send_data(octets)
        for octets in packets:
            call.b.expect_message(octets)
    call.fence()


# Behind Q=1 a PAD does not act upon this message (X.29 4.4).
_NO_PAD_MESSAGE = b"\x0f"


@purpose("PLP-DATA-25")
def test_an_end_of_the_router_takes_every_q_d_and_m(call: Call) -> None:
    """More packets than the window holds, so that they have to be acknowledged.

    What its user makes of them, and whether it sends them back with their Q, is its own matter.
    """
    a = call.a
    a.allow(Data())
    for q, d in product((0, 1), (0, 1) if call.bench.declared("P-DBIT") else (0,)):
        for length in (0, a.packet_size - 1, 2 * a.packet_size):
            a.send_message(_NO_PAD_MESSAGE + call.bench.random.randbytes(length), q=q, d=d)
    behind = Interrupt(user_data=b"!")
    a.send(behind)
    interrupt_answered(call, behind)
