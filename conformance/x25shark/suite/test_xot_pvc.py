# SPDX-License-Identifier: GPL-2.0-or-later
"""Permanent circuits over XOT (RFC 1613 6.5): setup, reset, data, loss of the connection.

The initiator opens a connection and sends a PVC setup (type 0xF5, version 0x81, status 0x00); the
responder answers with a setup and a status. What one end calls incoming the other calls outgoing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import unwrap
from itertools import product
from typing import Any

from scapy_x25.x25 import PVC_SETUP, RESET_REQUEST, packet_type

from ..judges.values import Matcher, Named
from ..links.xot import Unit
from ..profile import PvcEnd
from ..sides.agreement import Values
from ..sides.listeners import INTERFACE_NOT_UP
from .clearing import end as end_call
from .connections import SMALLEST_SIZE, pause, send_in_pieces
from .language import (
    CLOSED,
    Bench,
    Call,
    CallAccepted,
    ClearConfirmation,
    ClearRequest,
    Data,
    Inconclusive,
    Interrupt,
    InterruptConfirmation,
    Packet,
    PvcSetup,
    Raw,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
    not_in,
    one_of,
    purpose,
    unit,
)
from .occasion import amid
from .reactions import both, resets, was_reset
from .walks.wrong import LONGEST
from .windows import data_between

VERSION = 0x81
SUCCESS = 0x00
NO_SUCH_INTERFACE, NO_X25_INTERFACE = 0x13, 0x15
NO_SUCH_PVC, CONFIGURATION_MISMATCH = 0x16, 0x17
FLOW_CONTROL_MISMATCH, FLOW_CONTROL_UNSUPPORTED, PROTOCOL_ERROR = 0x18, 0x19, 0x1A
# X.25 5.4.3: out of order, network out of order, network congestion.
PVC_CAUSES = one_of(0x01, 0x1D, 0x07)
# The same, of those only what says that the other end is away.
AWAY_CAUSES = one_of(0x01, 0x1D)
AWAY = ResetIndication(cause=AWAY_CAUSES)
# What a responder may say of a setup whose names or numbers are not those of its circuit: which of
# them it looks for first, and compares then, is its own matter.
OF_ANOTHER = one_of(NO_SUCH_INTERFACE, NO_SUCH_PVC, CONFIGURATION_MISMATCH, PROTOCOL_ERROR)
UNKNOWN_NAME = b"NotConfigured0"
# The same of a name that begins as the right one: it may be that of an interface without a circuit.
OF_ANOTHER_NAME = one_of(*OF_ANOTHER.values, INTERFACE_NOT_UP, NO_X25_INTERFACE)
# What it may say of values that no interface of modulo 8 has.
IMPOSSIBLE = one_of(FLOW_CONTROL_UNSUPPORTED, FLOW_CONTROL_MISMATCH, PROTOCOL_ERROR)


def log2(octets: int) -> int:
    return octets.bit_length() - 1


def setup(end: PvcEnd, **changes: Any) -> PvcSetup:
    """The setup that the tester, as initiator, sends for an end of the router."""
    fields: dict[str, Any] = {
        "lcn": end.remote_lcn,
        "pvc_version": VERSION,
        "pvc_status": SUCCESS,
        "pvc_initiator_lcn": end.remote_lcn,
        "pvc_responder_lcn": end.lcn,
        "pvc_incoming_window": end.outgoing_window,
        "pvc_outgoing_window": end.incoming_window,
        "pvc_incoming_packet_size": log2(end.outgoing_packet_size),
        "pvc_outgoing_packet_size": log2(end.incoming_packet_size),
        "pvc_initiator_name": end.remote_interface.encode(),
        "pvc_responder_name": end.interface.encode(),
    }
    return PvcSetup(**{**fields, **changes})


def own_values(end: PvcEnd) -> dict[str, int]:
    """The flow control values of the router's end, as it sends them itself."""
    return {
        "pvc_incoming_window": end.incoming_window,
        "pvc_outgoing_window": end.outgoing_window,
        "pvc_incoming_packet_size": log2(end.incoming_packet_size),
        "pvc_outgoing_packet_size": log2(end.outgoing_packet_size),
    }


def values_of(end: PvcEnd) -> Values:
    """The packet sizes and windows of the tester at the other end of this one."""
    return Values(
        end.incoming_packet_size,
        end.incoming_window,
        end.outgoing_packet_size,
        end.outgoing_window,
    )


def another_window(bench: Bench, window: int) -> int:
    """The next window, or the one before where the router may not have that."""
    return _another(window, 1, min(bench.profile.limits.window, 7))


def another_size(bench: Bench, size: int) -> int:
    """The same for the log2 of a packet size."""
    return _another(size, 4, log2(bench.profile.limits.packet_size))


def _another(value: int, least: int, most: int) -> int:
    return value + 1 if value < most or value == least else value - 1


def mismatch(end: PvcEnd) -> list[PvcSetup]:
    """How a setup with other values than those of the circuit is refused: the router gives its own.

    It may also say that it cannot support them (RFC 1613 6.5): what it supports is its own matter.
    """
    return [answer(FLOW_CONTROL_MISMATCH, **own_values(end)), answer(FLOW_CONTROL_UNSUPPORTED)]


def answer(status: int | Matcher, **fields: Any) -> PvcSetup:
    """A template for the responder's answer."""
    return PvcSetup(pvc_version=VERSION, pvc_status=status, **fields)


def in_any_case(*names: bytes) -> Matcher:
    """One of these names, in any case (RFC 1613 6.5)."""
    spelt = dict.fromkeys(x for name in names for x in (name, name.lower(), name.upper()))
    return Named(tuple(spelt), name=f"{names[0].decode()} in any case")


def end_of(bench: Bench, name: str) -> PvcEnd:
    """An end of a permanent circuit, as the profile has it."""
    end: PvcEnd | None = getattr(bench.profile.pvc, name)
    bench.need(end, f"the profile has no pvc.{name}")
    assert end is not None
    return end


def confirms_resets(side: Side) -> None:
    """Every Reset is confirmed, as it comes or has come: ends of a circuit come and go.

    Not where the tester has sent one itself: a collision needs no confirmation (X.25 4.4.3.3).
    """
    arrived = side.connection.on_unit
    assert arrived is not None

    @wraps(arrived)
    def confirm(unit: Unit) -> None:
        collision = side.numbering.resetting
        arrived(unit)
        if packet_type(unit.packet) == RESET_REQUEST and not collision:
            side.send(ResetConfirmation())

    side.connection.on_unit = confirm
    side.allow(ResetIndication())
    if was_reset(side):
        # It shared a segment with the answer to the setup.
        side.send(ResetConfirmation())


@contextmanager
def resets_by_hand(*sides: Side) -> Iterator[None]:
    """While the block runs the case expects the Resets and confirms them; none is left over."""
    before = [(side.connection.on_unit, side.allowed) for side in sides]
    for side, (confirm, allowed) in zip(sides, before, strict=True):
        assert confirm is not None
        side.connection.on_unit = unwrap(confirm)
        side.allowed = [t for t in allowed if not isinstance(t, ResetRequest)]
    yield
    for side, (confirm, allowed) in zip(sides, before, strict=True):
        side.connection.on_unit, side.allowed = confirm, allowed


def opened(bench: Bench, end: PvcEnd, at: str) -> Side:
    """A connection with a circuit on it: setup, answer.

    A Reset follows on the connection when its other end is reset too (RFC 1613 6.5), and so for a
    circuit between two connections maybe not before the other one is there.
    """
    side = bench.connect(at=at)
    side.lcn = end.remote_lcn
    side.agree(values_of(end))
    side.send(setup(end))
    side.expect(answer(SUCCESS))
    confirms_resets(side)
    return side


def closed(*sides: Side) -> None:
    """Close and see the router close too, so that the circuit is free for the next setup."""
    for side in sides:
        side.wire.half_close()
    for side in sides:
        side.wait_until(lambda side=side: side.connection.end is not None)  # type: ignore[misc]


def closes_too(stays: Side, told: int, closes: bool | None) -> bool:
    """The other end of a circuit has gone, and this one is told: by a Reset, or by a close of its
    connection, or by both (RFC 1613 6.5). Whether it is closed.

    told: how many Resets had come. closes: whether the router has closed before. None: nobody
    knows, so a close behind the Reset has the time in which nothing may come unasked.
    """

    def ended() -> bool:
        return stays.connection.end is not None

    stays.wait_until(lambda: (resets(stays) > told and not closes) or ended())
    if closes is None:
        stays.wait_until(ended, stays.context.profile.times.quiet)
    return ended()


def circuit(bench: Bench) -> Call:
    """Both ends of the circuit are up (preamble)."""
    ends = end_of(bench, "a"), end_of(bench, "b")
    with bench.preamble():
        b = opened(bench, ends[1], "b")
        a = opened(bench, ends[0], "a")
        call = Call(bench, a, b)
        reset_behind_the_setup(call)
        data_passes(call)
    return call


def reset_behind_the_setup(call: Call) -> None:
    """Wait for the Resets of a circuit that came up, then reset it once more from A.

    Behind that one no Reset of the setup can be on its way to A and take Data with it. It may
    itself be on its way to B still, so data goes from A first: it comes to B behind that Reset.
    """
    a, b = call.a, call.b
    assert isinstance(b, Side)
    a.wait_until(lambda: was_reset(a) and was_reset(b))
    a.allow(ResetConfirmation())
    a.send(ResetRequest(cause=0, diagnostic=0))
    a.wait_until(lambda: not a.numbering.resetting)


def data_passes(call: Call, note: str = "") -> None:
    """One message each way; a Reset of the circuit's other end may come before."""
    a, b = call.a, call.b
    assert isinstance(b, Side)
    for sender, receiver in ((a, b), (b, a)):
        octets = call.bench.record(SMALLEST_SIZE)
        sender.send_message(octets)
        passing = (ResetIndication(), ResetConfirmation())
        receiver.expect_message(octets, passing=passing, note=note)


def refused(
    bench: Bench,
    packet: Packet,
    *allowed: PvcSetup,
    usual: int | None = None,
    may_be_discarded: bool = False,
) -> Packet | None:
    """A setup is answered by one of these, or by a close; nothing else suffers.

    What is not a setup of RFC 1613 6.5 is a packet of invalid type, which 6.1 discards silently.
    Returns the answer. usual: the status that says best what is wrong; another one is a remark.
    """
    side = bench.connect()
    side.send(packet)
    if may_be_discarded:
        side.allow(*allowed)
        bench.fence()
        if not side.arrivals.reacted:
            bench.remark("the setup is discarded")
            return None
    came = side.expect(*allowed, CLOSED)
    if came is not None and came.pvc_status == SUCCESS:
        bench.remark("the values of the setup are accepted")
        side.allow(ResetIndication())
        closed(side)
    elif came is not None and usual is not None and came.pvc_status != usual:
        bench.remark(f"refused with status 0x{came.pvc_status:02x}, not 0x{usual:02x}")
    bench.fence()
    return came


@purpose("XOT-PVC-01")
def test_matching_setup(bench: Bench) -> None:
    """Whole; then cut in the XOT header, behind it, amid the fields and amid the names, and octet
    by octet."""
    end = end_of(bench, "a")
    for cuts in ((), (2,), (4,), (6,), (7,), (11,), (20,), range(1, 24)):
        a = bench.connect()
        with amid(bench, f"a setup cut at {', '.join(map(str, cuts)) or 'no octet'}"):
            send_in_pieces(a, a.unit_of(setup(end)), cuts)
            a.expect(answer(SUCCESS))
        a.allow(ResetIndication())
        closed(a)
    bench.fence()


@purpose("XOT-PVC-02")
def test_reset_after_the_setup(bench: Bench) -> None:
    end, far = end_of(bench, "a"), end_of(bench, "b")
    a = opened(bench, end, "a")
    with bench.preamble():
        b = opened(bench, far, "b")
    for side in (a, b):
        side.expect_count(ResetIndication(), 1, start=0)
    reset_behind_the_setup(Call(bench, a, b))
    for sender, receiver in ((a, b), (b, a)):
        octets = bench.record(SMALLEST_SIZE)
        sender.send_message(octets)
        receiver.expect_message(octets, p_s=0, passing=(ResetIndication(), ResetConfirmation()))
    closed(a, b)
    bench.fence()


@purpose("XOT-PVC-03")
def test_unknown_interface(bench: Bench) -> None:
    """One that has nothing of those that there are; then one that begins as the right one does,
    one that ends too early or is empty, and a right one asked for by an initiator named so;
    and names of up to 255 octets, of either."""
    end = end_of(bench, "a")
    unknown = setup(end, pvc_responder_name=UNKNOWN_NAME)
    refused(bench, unknown, answer(OF_ANOTHER), usual=NO_SUCH_INTERFACE)
    for name in ("responder", "initiator"):
        for wrong in wrong_names(bench, end, name):
            other = setup(end, **{f"pvc_{name}_name": wrong})
            # RFC 1613 6.5 knows no interface without a name: it may be no setup.
            refused(bench, other, answer(OF_ANOTHER_NAME), may_be_discarded=not wrong)
        unknown_at_any_length(bench, end, f"pvc_{name}_name")


def unknown_at_any_length(bench: Bench, end: PvcEnd, field: str) -> None:
    """A name that is too long for a buffer is unknown as a short one is; a protocol error it is
    only to a router that takes the short one for an error, too."""
    came = refused(bench, setup(end, **{field: UNKNOWN_NAME}), answer(OF_ANOTHER))
    status = None if came is None else came.pvc_status
    allowed = one_of(*({*OF_ANOTHER.values} - {PROTOCOL_ERROR}), status or NO_SUCH_INTERFACE)
    for length in (63, 64, 127, 128, 255):
        name = UNKNOWN_NAME.ljust(length, b"0")
        with amid(bench, f"a name of {length} octets"):
            refused(bench, setup(end, **{field: name}), answer(allowed))


def wrong_names(bench: Bench, end: PvcEnd, name: str) -> list[bytes]:
    """Names in part as that of the responder, or the initiator, of a circuit: each is nobody's."""
    right = end.interface if name == "responder" else end.remote_interface
    known = bench.profile.pvc
    ends = (known.a, known.b, known.asymmetric, known.outgoing)
    taken = {n.lower() for e in ends if e for n in (e.interface, e.remote_interface)}
    wrong = dict.fromkeys((f"{right}-of-another", right[:-1], ""))
    return [one.encode() for one in wrong if one.lower() not in taken and len(one) < 256]


@purpose("XOT-PVC-04")
def test_unknown_pvc_number(bench: Bench) -> None:
    end = end_of(bench, "a")
    known = bench.profile.pvc
    taken = {e.lcn for e in (known.a, known.b, known.asymmetric, known.outgoing) if e}
    unknown = max(set(range(1, 4096)) - taken)
    # The number is one of 16 bits, of which an LCN uses 12.
    for lcn in (unknown, end.lcn | 0x1000):
        other = setup(end, pvc_responder_lcn=lcn)
        refused(bench, other, answer(OF_ANOTHER), usual=NO_SUCH_PVC)
    refused(bench, setup(end, pvc_initiator_lcn=end.remote_lcn | 0x1000), answer(OF_ANOTHER))


@purpose("XOT-PVC-05")
def test_other_flow_control_values(bench: Bench) -> None:
    """A router with windows and sizes of each side's own may accept them."""
    end = end_of(bench, "a")
    other = setup(
        end,
        pvc_incoming_window=another_window(bench, end.outgoing_window),
        pvc_outgoing_window=another_window(bench, end.incoming_window),
        pvc_incoming_packet_size=another_size(bench, log2(end.outgoing_packet_size)),
        pvc_outgoing_packet_size=another_size(bench, log2(end.incoming_packet_size)),
    )
    allowed = mismatch(end)
    allowed += [answer(SUCCESS)] if bench.model == "local" else []
    refused(bench, other, *allowed, usual=FLOW_CONTROL_MISMATCH)


# What a value of a setup may have above its bits in modulo 8, or above those of a packet size.
IN_FEWER_BITS = {"window": (8, 128), "packet_size": (16, 128)}


@purpose("XOT-PVC-06")
def test_window_above_7(bench: Bench) -> None:
    """Of both directions; then of each alone windows, and packet sizes above 4096, that read as the
    right ones in fewer bits, which a router with values of each side's own may overlook."""
    end = end_of(bench, "a")
    too_large = setup(end, pvc_incoming_window=8, pvc_outgoing_window=8)
    refused(bench, too_large, answer(IMPOSSIBLE), usual=FLOW_CONTROL_UNSUPPORTED)
    allowed = [answer(IMPOSSIBLE)] + ([answer(SUCCESS)] if bench.model == "local" else [])
    for way, (value, bits) in product(("incoming", "outgoing"), IN_FEWER_BITS.items()):
        field = f"pvc_{way}_{value}"
        for more in bits:
            too_large = setup(end, **{field: setup(end).getfieldval(field) + more})
            with amid(bench, f"{more} more in the {way} {value.replace('_', ' ')}"):
                refused(bench, too_large, *allowed, usual=FLOW_CONTROL_UNSUPPORTED)


@purpose("XOT-PVC-07")
def test_circuit_that_is_up_already(bench: Bench) -> None:
    """Where the second setup is accepted, data takes one of the two connections only."""
    call = circuit(bench)
    first, b = call.a, call.b
    assert isinstance(b, Side)
    second = bench.connect()
    second.lcn = first.lcn
    second.send(setup(end_of(bench, "a")))
    came = second.expect(answer(one_of(*OF_ANOTHER.values, SUCCESS)), CLOSED)
    if came is None or came.pvc_status != SUCCESS:
        if came is not None and came.pvc_status != CONFIGURATION_MISMATCH:
            bench.remark(f"refused with status 0x{came.pvc_status:02x}")
        data_passes(call, note="the circuit that was up")
    else:
        bench.remark("the second setup is accepted")
        second.expect(ResetIndication())
        confirms_resets(second)
        with_data_on_one(bench, first, second, b)
    closed(first, second, b)
    bench.fence()


def with_data_on_one(bench: Bench, first: Side, second: Side, far: Side) -> None:
    """Data goes by one of two connections; the other one stays quiet, and nothing comes twice.

    The far end is reset first, so that no Reset of the router is on its way when the data begins.
    """
    far.allow(ResetConfirmation())
    far.send(ResetRequest(cause=0, diagnostic=0))
    far.wait_until(lambda: not far.numbering.resetting)
    octets = bench.record(SMALLEST_SIZE)
    far.send_message(octets)
    carrier = first_with_data(bench, [first, second])
    carrier.expect_message(octets, passing=(ResetIndication(),))
    for _ in range(2):
        data_passes(Call(bench, carrier, far))


@purpose("XOT-PVC-08")
def test_wrong_version(bench: Bench) -> None:
    """A responder may send it back with few fields changed (RFC 1613 6.5), and so this version."""
    unknown = setup(end_of(bench, "a"), pvc_version=0x80)
    sent_back = PvcSetup(pvc_version=0x80, pvc_status=PROTOCOL_ERROR)
    refused(bench, unknown, answer(PROTOCOL_ERROR), sent_back, may_be_discarded=True)


@purpose("XOT-PVC-09")
def test_name_lengths_beyond_the_packet(bench: Bench) -> None:
    """One octet too much, then as much as the two length octets can say."""
    end = end_of(bench, "a")
    lengths = len(end.remote_interface), len(end.interface)
    for n, m in ((lengths[0] + 1, lengths[1]), (lengths[0], lengths[1] + 1), (255, 255)):
        beyond = setup(end, pvc_initiator_name_length=n, pvc_responder_name_length=m)
        refused(bench, beyond, answer(PROTOCOL_ERROR), may_be_discarded=True)


@purpose("XOT-PVC-10")
def test_names_in_the_other_case(bench: Bench) -> None:
    """RFC 1613 6.5: SHOULD, so that a refusal is a remark."""
    end = end_of(bench, "a")
    a = bench.connect()
    a.send(
        setup(
            end,
            pvc_initiator_name=end.remote_interface.swapcase().encode(),
            pvc_responder_name=end.interface.swapcase().encode(),
        )
    )
    came = a.expect(answer(SUCCESS), answer(OF_ANOTHER_NAME), CLOSED)
    if came is None or came.pvc_status != SUCCESS:
        bench.remark("names in the other case are refused")
    a.allow(ResetIndication())
    closed(a)
    bench.fence()


@contextmanager
def attempt_of_the_router(bench: Bench, end: PvcEnd) -> Iterator[Side]:
    """The connection that the router opens for an end, with its setup as the next packet.

    A router that can be restarted is, for it begins by opening its circuits; with others the
    tester waits for the next attempt (TPVC).
    """
    address = bench.profile.pvc.listen
    bench.need(address, "the profile has no pvc.listen: an address for the router's own circuits")
    assert address is not None
    with bench.listeners.listening("pvc", address):
        if bench.restart_router is not None:
            bench.restart_router()
            pause(bench)
        else:
            seconds = bench.profile.times.pvc_retry
            bench.loop.wait(lambda: bench.listeners.is_called("pvc"), seconds)
        side = bench.listeners.accept(at="pvc")
        while side.connection.end is not None:
            # An attempt from before the restart.
            side.allow(PvcSetup())
            side = bench.listeners.accept(at="pvc")
        side.lcn = end.remote_lcn
        side.agree(values_of(end))
        yield side


def setup_of_the_router(end: PvcEnd) -> Packet:
    """A template for the router's own setup: all fields, and nothing behind the names."""
    template: Packet = (
        answer(
            SUCCESS,
            pvc_initiator_name_length=len(end.interface),
            pvc_responder_name_length=len(end.remote_interface),
            pvc_initiator_lcn=end.lcn,
            pvc_responder_lcn=end.remote_lcn,
            pvc_initiator_name=in_any_case(end.interface.encode()),
            pvc_responder_name=in_any_case(end.remote_interface.encode()),
            **own_values(end),
        )
        / Raw()
    )
    return template


def reply(end: PvcEnd, status: int) -> PvcSetup:
    """The tester's answer to the router's setup."""
    return setup(
        end,
        pvc_status=status,
        pvc_initiator_lcn=end.lcn,
        pvc_responder_lcn=end.remote_lcn,
        pvc_initiator_name=end.interface.encode(),
        pvc_responder_name=end.remote_interface.encode(),
    )


def echoes(bench: Bench, side: Side) -> None:
    """The circuit carries data: what the tester sends comes back."""
    octets = bench.record(SMALLEST_SIZE)
    side.send_message(octets)
    side.expect_message(octets, passing=(ResetIndication(),))


@purpose("XOT-PVC-11")
def test_router_as_initiator(bench: Bench) -> None:
    """A router that can be restarted gets the answer once more, in pieces: cut in the XOT header,
    behind it, amid the fields and amid the names.
    """
    end = end_of(bench, "outgoing")
    attempts = [(), (2, 4, 11, 20)] if bench.restart_router is not None else [()]
    for cuts in attempts:
        with attempt_of_the_router(bench, end) as b:
            b.expect(setup_of_the_router(end))
            send_in_pieces(b, b.unit_of(reply(end, SUCCESS)), cuts)
            b.expect(ResetIndication())
            b.send(ResetConfirmation())
            echoes(bench, b)
            closed(b)
    bench.fence()


# Statuses of other kinds than CONFIGURATION_MISMATCH (RFC 1613 6.5): the destination is
# disconnected, there is no way to it, and one that nobody has defined.
NO_CIRCUIT = [0x08, 0x0A, 0xFF]
# Seconds in which no retry may come; how long one is waited for; and the share of TPVC before which
# a retry is early for sure: how late the router's timer began, nobody knows.
TOO_SHORT, LOOKED_FOR, EARLY = 1.0, 4.0, 0.9


@purpose("XOT-PVC-12")
def test_pause_between_retries(bench: Bench) -> None:
    """Up to five refusals; a pause below TPVC is a remark, one below a second is too short. Of a
    router that can be restarted the connection is also closed, or reset, without an answer."""
    end = end_of(bench, "outgoing")
    endings = dict(ENDINGS) if bench.restart_router is not None else {_refused: "refused"}
    for ends, how in endings.items():
        with amid(bench, f"attempts that are {how}"):
            _pauses(bench, end, ends)
    bench.fence()


def _pauses(bench: Bench, end: PvcEnd, ends: Callable[[Side, PvcEnd], None]) -> None:
    retry = bench.profile.times.pvc_retry
    with attempt_of_the_router(bench, end) as first:
        b = first
        for left in reversed(range(5)):
            b.expect(PvcSetup())
            ended_at = time.monotonic()
            ends(b, end)
            if not is_called_until(bench, ended_at + min(LOOKED_FOR, EARLY * retry)):
                break
            if time.monotonic() - ended_at < TOO_SHORT:
                bench.listeners.no_connection(at="pvc")
                break
            bench.remark(f"a retry before TPVC ({retry:g} s)")
            if left:
                b = bench.listeners.accept(at="pvc")


def _refused(b: Side, end: PvcEnd) -> None:
    b.send(reply(end, INTERFACE_NOT_UP))
    b.close()


def _closed(b: Side, end: PvcEnd) -> None:
    b.close()


def _reset(b: Side, end: PvcEnd) -> None:
    b.wire.reset()


ENDINGS: dict[Callable[[Side, PvcEnd], None], str] = {
    _refused: "refused",
    _closed: "closed without an answer",
    _reset: "reset without an answer",
}


def is_called_until(bench: Bench, end: float) -> bool:
    """Whether the router has tried its circuit again by then (time.monotonic())."""

    def called() -> bool:
        return bench.listeners.is_called("pvc")

    bench.loop.wait(lambda: called() or time.monotonic() >= end, max(end - time.monotonic(), 0.0))
    return called()


@purpose("XOT-PVC-13")
def test_call_and_clear_packets(bench: Bench) -> None:
    """Each is discarded or answered by a Reset (35), or ends the connection; so is a setup, which
    may be refused besides.

    The Reset Request that A sends behind each packet ends whatever state that led to.
    """
    call, end = circuit(bench), end_of(bench, "a")
    a, b = call.a, call.b
    assert isinstance(b, Side)
    a.allow(ResetConfirmation())
    for packet in (
        bench.call_request(),
        CallAccepted(),
        ClearRequest(cause=0, diagnostic=0),
        ClearConfirmation(),
        setup(end),
        setup(end, pvc_responder_lcn=end.lcn % 4095 + 1),
    ):
        refused_setup: tuple[Packet, ...] = ()
        if isinstance(packet, PvcSetup):
            # The circuit's own once more may be answered as the first was.
            another = packet.pvc_responder_lcn != end.lcn
            fields = {"pvc_status": not_in(SUCCESS)} if another else {}
            refused_setup = (PvcSetup(**fields),)
        # Not as a Clear of the tester's own, behind which it would take no more Data.
        a.wire.send(unit(a.octets_of(packet)) + a.unit_of(ResetRequest(cause=0, diagnostic=0)))
        error = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(35))
        if isinstance(packet, PvcSetup):
            # As behind the first one, which crosses with that of A.
            error = ResetIndication()
        if a.expect(error, ResetConfirmation(), CLOSED, passing=refused_setup) is None:
            bench.remark(f"{packet.name} of A ends the connection")
            break
        data_passes(call, note=f"behind {packet.name} and a reset of A")
    closed(a, b)
    bench.fence()


@purpose("XOT-PVC-14")
def test_close_is_signalled(bench: Bench) -> None:
    call = circuit(bench)
    a, b = call.a, call.b
    assert isinstance(b, Side)
    a.wire.half_close()
    came = b.expect(ResetIndication(cause=PVC_CAUSES), ResetIndication(), CLOSED)
    if came is not None and not PVC_CAUSES.matches(came.cause):
        bench.remark(f"the far end is reset with cause 0x{came.cause:02x}")
    closed(a, b)
    bench.fence()


@purpose("XOT-PVC-15")
def test_data_on_a_circuit(bench: Bench) -> None:
    """20 Data each way; P(S) starts at 0 behind the Reset of A."""
    call = circuit(bench)
    a, b = call.a, call.b
    assert isinstance(b, Side)
    a.send(ResetRequest(cause=0, diagnostic=0))
    a.expect(ResetConfirmation())
    for number in range(20):
        for sender, receiver in ((a, b), (b, a)):
            octets = bench.record(SMALLEST_SIZE)
            sender.send_message(octets)
            receiver.expect_message(octets, p_s=number % 8, passing=(ResetIndication(),))
    closed(a, b)
    bench.fence()


@purpose("XOT-PVC-20")
def test_interrupts_on_a_circuit(bench: Bench) -> None:
    """Three each way; the confirmation is that of the other end (RFC 1613 6.3)."""
    call = circuit(bench)
    ends = both(call)
    for number in range(3):
        for here, there in (ends, ends[::-1]):
            octets = bytes((number,)) * (number + 1)
            here.send(Interrupt(user_data=octets))
            there.expect(Interrupt(user_data=octets))
            there.send_data(b"unconfirmed")
            here.expect(Data(user_data=b"unconfirmed"), note="no confirmation before it")
            there.send(InterruptConfirmation())
            here.expect(InterruptConfirmation())
    closed(*ends)
    bench.fence()


@purpose("XOT-PVC-21")
def test_circuit_that_comes_back(bench: Bench) -> None:
    """A's end goes and comes again three times: numbers start at 0 at B too.

    B is reset each time; a router may also close its connection, and then it comes again as well.
    That A is back is told to B by a Reset (X.25 4.6), but where B's last one is not confirmed yet:
    once in the three times at least.
    """
    call = circuit(bench)
    a, b = both(call)
    told_of_it = False
    closes: bool | None = None
    for left in (2, 1, 0):
        told = resets(b)
        closed(a)
        closes = closes_too(b, told, closes)
        if closes:
            closed(b)
            b = opened(bench, end_of(bench, "b"), "b")
        bench.fence("B's confirmation has been read")
        begin, told = b.connection.received_octets, resets(b)
        a = opened(bench, end_of(bench, "a"), "a")
        if not told_of_it:
            b.wait_until(lambda: resets(b) > told)  # noqa: B023
            told_of_it = resets(b) > told
        if not told_of_it and not left:
            b.expect_count(ResetIndication(), 1, start=begin, note="A's end is back")
        reset_behind_the_setup(Call(bench, a, b))
        for number in range(3):
            for here, there in ((a, b), (b, a)):
                octets = bench.record(SMALLEST_SIZE)
                here.send_message(octets)
                there.expect_message(octets, p_s=number, passing=(ResetIndication(),))
    closed(a, b)
    bench.fence()


def asymmetric(bench: Bench, end: PvcEnd) -> Side:
    """The circuit whose values differ by direction is up and reset (preamble)."""
    with bench.preamble():
        side = opened(bench, end, "a")
        side.wait_until(lambda: was_reset(side))
        side.allow(ResetConfirmation())
        side.send(ResetRequest(cause=0, diagnostic=0))
        side.wait_until(lambda: not side.numbering.resetting)
    return side


def the_other_end_is_there(side: Side) -> None:
    """Raises Inconclusive where a Reset said that it is away (X.25 5.4.3): what this end sends has
    no receiver then, and need not be looked at."""
    for arrived in side.arrivals.since(0):
        came = side.decoded(arrived.packet)
        if isinstance(came, ResetRequest) and AWAY_CAUSES.matches(came.cause):
            raise Inconclusive(
                "the router says by a Reset that the other end of pvc.asymmetric is out of order: "
                "it has to be up"
            )


@purpose("XOT-PVC-22")
def test_each_direction_has_its_own_values(bench: Bench) -> None:
    """Full packets of A's direction are taken; where they return, it is in full ones of the other.

    What the circuit is joined to is not said: nothing need return.
    """
    end = end_of(bench, "asymmetric")
    side = asymmetric(bench, end)
    returned = True
    for octets in (end.incoming_packet_size, 2 * end.outgoing_packet_size + 1):
        message = bench.record(octets)
        begin = side.cursor
        side.send_message(message)
        side.wait_until(lambda: data_between(side, begin, side.connection.received_octets) > 0)  # noqa: B023
        if data_between(side, begin, side.connection.received_octets):
            side.expect_message(message, longest=end.outgoing_packet_size)
        else:
            the_other_end_is_there(side)
            returned = False
            bench.remark("nothing returns on the circuit")
    if bench.model == "local" and end.incoming_packet_size < LONGEST:
        side.send(side.data(bytes(end.incoming_packet_size + 1)))
        too_long = bench.diagnostic(39)
        wrong = ResetIndication(cause=bench.local_reset, diagnostic=too_long)
        side.expect(wrong, *([] if returned else [AWAY]))
        if not returned:
            the_other_end_is_there(side)
    closed(side)
    bench.fence()


@purpose("XOT-PVC-23")
def test_refusal_of_the_routers_setup(bench: Bench) -> None:
    """The tester does not close: no Reset and nothing else of a circuit comes.

    A router that can be restarted is asked for more attempts, and gets a setup that ends in front
    of the status, and other statuses that say that there is no circuit.
    """
    end = end_of(bench, "outgoing")
    statuses = [CONFIGURATION_MISMATCH]
    if bench.restart_router is not None:
        statuses += NO_CIRCUIT
        with attempt_of_the_router(bench, end) as b:
            b.expect(setup_of_the_router(end))
            b.put(b.octets_of(reply(end, SUCCESS))[:4])
            closed(b)
    for status in statuses:
        with amid(bench, f"status 0x{status:02x}"), attempt_of_the_router(bench, end) as b:
            b.expect(setup_of_the_router(end))
            b.send(reply(end, status))
            # It would not outlast a restart.
            end_call(bench.fence("the refusal has been dealt with"))
            closed(b)
    bench.fence()


@purpose("XOT-PVC-16")
def test_setup_without_support(bench: Bench) -> None:
    """Silence or a close; nothing at B."""
    a = bench.connect()
    a.send(PvcSetup(pvc_initiator_name=b"Serial0", pvc_responder_name=b"Serial1"))
    bench.fence()
    if PVC_SETUP in a.arrivals.types():
        raise Inconclusive("the router answers a PVC setup: its profile should declare X-PVC")


@purpose("XOT-PVC-18")
def test_values_are_compared_crosswise(bench: Bench) -> None:
    """First as the router has them, seen from the other side; then incoming and outgoing changed
    over, which a router with values of each side's own may accept.
    """
    end = end_of(bench, "asymmetric")
    a = bench.connect()
    a.send(setup(end))
    a.expect(answer(SUCCESS))
    a.allow(ResetIndication())
    closed(a)
    allowed = mismatch(end)
    allowed += [answer(SUCCESS)] if bench.model == "local" else []
    refused(bench, setup(end, **own_values(end)), *allowed, usual=FLOW_CONTROL_MISMATCH)


@purpose("XOT-PVC-19")
def test_collision_of_setups(bench: Bench) -> None:
    """B answers the router's setup after it has sent its own; one connection carries the data."""
    end = end_of(bench, "outgoing")
    with attempt_of_the_router(bench, end) as theirs:
        theirs.expect(PvcSetup(pvc_status=SUCCESS))
        ours = bench.connect(at="b")
        ours.lcn = end.remote_lcn
        ours.send(setup(end))
        came = ours.expect(PvcSetup(), CLOSED)
        theirs.allow(ResetIndication())
        sides = [theirs]
        if came is not None and came.pvc_status == SUCCESS:
            sides.append(ours)
        for side in sides:
            confirms_resets(side)
        theirs.send(reply(end, SUCCESS))
        one_carries_data(bench, sides)
        closed(*sides)
    bench.fence()


def one_carries_data(bench: Bench, sides: list[Side]) -> None:
    """Each connection is reset or closed; one that was reset and is not closed echoes data.

    RFC 1613 6.5: where both are up the router takes data on either and sends on one of them only.
    """
    bench.loop.wait(
        lambda: all(s.connection.end is not None or was_reset(s) for s in sides),
        bench.reaction_limit,
    )
    left = [side for side in sides if side.connection.end is None and was_reset(side)]
    if not left:
        raise Inconclusive("both setups failed; the router may try again after TPVC")
    if len(left) == 1:
        echoes(bench, left[0])
        echoes(bench, left[0])
        return
    bench.remark("both setups succeed")
    octets = bench.record(SMALLEST_SIZE)
    left[0].send_message(octets)
    carrier = first_with_data(bench, left)
    carrier.expect_message(octets, passing=(ResetIndication(),))
    octets = bench.record(SMALLEST_SIZE)
    left[0].send_message(octets)
    carrier.expect_message(octets, passing=(ResetIndication(),))


def first_with_data(bench: Bench, sides: list[Side]) -> Side:
    """The first of several connections on which Data comes from now on; the first one if none."""
    seen = [(side, side.connection.received_octets) for side in sides]

    def carriers() -> list[Side]:
        return [
            side
            for side, start in seen
            for arrived in side.arrivals.since(start)
            if len(arrived.packet) > 2 and not arrived.packet[2] & 1
        ]

    bench.loop.wait(lambda: bool(carriers()), bench.reaction_limit, patient=True)
    return (carriers() or sides)[0]
