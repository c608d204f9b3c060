# SPDX-License-Identifier: GPL-2.0-or-later
"""Data transfer (X.25 4.3, 4.4)."""

from itertools import product

from .clearing import end
from .connections import crosses
from .language import (
    Bench,
    Call,
    CallAccepted,
    Data,
    Interrupt,
    ResetConfirmation,
    ResetIndication,
    purpose,
)
from .occasion import amid
from .procedure_errors import confirmed_ahead, expect_refusal, takes_empty_data
from .shut_windows import outside_the_window
from .transfer import acknowledged_inside_data, interrupt_answered

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


@purpose("PLP-DATA-12", both_sides=True)
def test_q_change_within_a_sequence(call: Call) -> None:
    bench, a, b = call.bench, call.a, call.b
    full = bench.random.randbytes(128)
    a.send_data(b"one of its own", q=1)
    b.expect(Data(q=1, user_data=b"one of its own"))
    a.send(a.data(full, m=1, q=0), a.data(b"the end of it", q=1))
    reset = ResetIndication(cause=bench.remote_reset)
    here = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(83))
    ahead = confirmed_ahead(a, b, here)
    came = b.expect(Data(q=0, user_data=full), reset)
    if not isinstance(came, ResetIndication):
        came = b.expect(Data(q=1, user_data=b"the end of it"), reset)
    if isinstance(came, ResetIndication):
        if not ahead:
            a.expect(here)
            a.send(ResetConfirmation())
        b.send(ResetConfirmation())
    elif call.model == "local":
        bench.remark("a change of Q within a packet sequence passes")
    call.fence()


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
