# SPDX-License-Identifier: GPL-2.0-or-later
"""All 256 values of octet 3, and what Annex C says of each as a packet of three octets.

A packet that lacks mandatory fields may also be refused for its length (38), whatever the state:
the order of checks is free (X.25 Annex C, introduction).
"""

from __future__ import annotations

from scapy_x25.x25 import (
    CALL_ACCEPTED,
    CALL_REQUEST,
    CLEAR_CONFIRMATION,
    CLEAR_REQUEST,
    DIAGNOSTIC,
    INTERRUPT,
    INTERRUPT_CONFIRMATION,
    PVC_SETUP,
    RECEIVE_NOT_READY,
    RECEIVE_READY,
    REGISTRATION_CONFIRMATION,
    REGISTRATION_REQUEST,
    REJECT,
    RESET_CONFIRMATION,
    RESET_REQUEST,
    RESTART_CONFIRMATION,
    RESTART_REQUEST,
)

from .language import (
    Bench,
    Call,
    ClearConfirmation,
    ClearIndication,
    Interrupt,
    InterruptConfirmation,
    PvcSetup,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    Side,
)
from .many import at_a_time, done
from .reactions import cleared_or_closed, fence_call, header, reach, withdrawn
from .scenes import complete_clear, enter

# RFC 1613 6.4: discarded on XOT. Restart and registration, Diagnostic.
_LOCAL = (
    RESTART_REQUEST,
    RESTART_CONFIRMATION,
    REGISTRATION_REQUEST,
    REGISTRATION_CONFIRMATION,
    DIAGNOSTIC,
)
_CONFIRMATIONS = (INTERRUPT_CONFIRMATION, RESET_CONFIRMATION)
_OF_CALLS = (CALL_REQUEST, CALL_ACCEPTED, CLEAR_REQUEST, CLEAR_CONFIRMATION)
# Types that are longer than three octets.
_CUT = (CALL_REQUEST, CLEAR_REQUEST, RESET_REQUEST, INTERRUPT)
_KNOWN = (*_CUT, CALL_ACCEPTED, CLEAR_CONFIRMATION, RESET_CONFIRMATION, INTERRUPT_CONFIRMATION)
# Odd values of octet 3 in modulo 8 that X.25 and RFC 1613 give no meaning.
UNDEFINED = [
    octet
    for octet in range(1, 256, 2)
    if octet not in (*_KNOWN, *_LOCAL, PVC_SETUP)
    and octet & 0x1F not in (RECEIVE_READY, RECEIVE_NOT_READY, REJECT)
]


def is_discarded(octet_3: int) -> bool:
    """Whether the type has no place on XOT: restart and its kin, REJ."""
    return octet_3 in _LOCAL or octet_3 & 0x1F == REJECT


def is_undefined(octet_3: int) -> bool:
    """Whether X.25 does not define the type."""
    flow = octet_3 & 0x1F in (RECEIVE_READY, RECEIVE_NOT_READY, REJECT)
    return bool(octet_3 & 1) and not flow and octet_3 not in (*_KNOWN, *_LOCAL)


def errors_in_data_transfer(octet_3: int) -> tuple[int, ...]:
    """Diagnostics of a three-octet packet in p4, d1, at the beginning; () if it is in order."""
    if is_undefined(octet_3):
        return (33,)
    if not octet_3 & 1 or octet_3 & 0x1F in (RECEIVE_READY, RECEIVE_NOT_READY):
        p_s = (octet_3 >> 1 & 7) if not octet_3 & 1 else 0
        wrong = (*((1,) if p_s else ()), *((2,) if octet_3 >> 5 else ()))
        # Data without user data may be too short, too (MAY-DATA-03).
        return (*wrong, 38) if wrong and not octet_3 & 1 else wrong
    return {
        RESET_REQUEST: (38,),
        RESET_CONFIRMATION: (27,),
        INTERRUPT: (38,),
        INTERRUPT_CONFIRMATION: (43,),
    }.get(octet_3, ())


def on_a_free_channel(bench: Bench) -> None:
    """Each on a connection of its own: discarded, cleared or closed, and no Call at B."""
    sides: list[Side] = []
    room = at_a_time(bench, 256, spare=1)
    for octet_3 in range(256):
        a = reach(bench)
        sides.append(a)
        # Which cause a cut Call deserves is what PLP-MALF-02 to -06 ask.
        a.allow(ClearIndication(cause=bench.network_clear), ClearConfirmation())
        if octet_3 == PVC_SETUP:
            # Whether it should is what XOT-PVC-16 asks.
            a.allow(PvcSetup())
        a.put(header(a, octet_3))
        if octet_3 % 64 == 63 or len(sides) == room:
            fence_call(bench)
        if len(sides) == room:
            done(bench, sides)


def while_a_call_is_pending(bench: Bench) -> None:
    """Each on a call of its own: cleared; what has no place on XOT is left out."""
    for octet_3 in range(256):
        if is_discarded(octet_3) or octet_3 in (CLEAR_REQUEST, CLEAR_CONFIRMATION, PVC_SETUP):
            continue
        scene = enter(bench, "p2")
        scene.side.put(header(scene.side, octet_3))
        codes = (33,) if is_undefined(octet_3) else (21, *((38,) if octet_3 in _CUT else ()))
        clear = ClearIndication(cause=bench.local_clear, diagnostic=bench.diagnostic(*codes))
        cleared_or_closed(bench, scene.side, clear)
        assert scene.other is not None
        withdrawn(bench, scene.other)
        if octet_3 % 64 == 60:
            bench.fence()


def in_data_transfer(call: Call) -> None:
    """All that reset a call, on one; those without effect too. Clear and Call have other cases.

    Wrong numbers are left out where checking them may be left to the ends (RFC 1613 6.2). A host
    may ignore what has no meaning to it: a reset behind it collides with its own, or is confirmed.
    """
    bench, a, b = call.bench, call.a, call.b
    if bench.far_end.without_echo:
        # Its user may have said something already; P(R) is to begin at 0.
        a.send(ResetRequest(cause=0, diagnostic=0))
        a.expect(ResetConfirmation())
    trusts = bench.model == "end-to-end" and not bench.declared("N-CHECK")
    for octet_3 in range(256):
        codes = errors_in_data_transfer(octet_3)
        if octet_3 in (*_OF_CALLS, PVC_SETUP, 0x00, 0x10):
            continue
        if trusts and {1, 2} & set(codes):
            continue
        a.put(header(a, octet_3))
        if not codes:
            continue
        reset = ResetIndication(cause=bench.local_reset, diagnostic=bench.diagnostic(*codes))
        if bench.is_a_dte and (is_undefined(octet_3) or octet_3 in _CONFIRMATIONS):
            a.send(ResetRequest(cause=0, diagnostic=0))
            if isinstance(a.expect(reset, ResetConfirmation()), ResetConfirmation):
                bench.remark("the host ignores a packet; X.25 asks for a reset")
            continue
        a.expect(reset)
        a.send(ResetConfirmation())
        b.expect(ResetIndication(cause=bench.remote_reset))
        b.send(ResetConfirmation())
        # B's reset is over when its next packet has passed.
        b.send(Interrupt(user_data=b"!"))
        if b.present:
            a.expect(Interrupt(user_data=b"!"))
            a.send(InterruptConfirmation())
            b.expect(InterruptConfirmation())
    # RNR was among them.
    a.acknowledge()
    call.fence()


def while_a_clear_is_pending(bench: Bench) -> None:
    """All but Clear and its confirmation on one channel in p7: nothing to see."""
    scene = enter(bench, "p7")
    for octet_3 in range(256):
        if octet_3 not in (CLEAR_REQUEST, CLEAR_CONFIRMATION):
            scene.side.put(header(scene.side, octet_3))
        if octet_3 % 64 == 63:
            # So that no segment holds more than the judge that starts tshark can tell apart.
            fence_call(bench)
    complete_clear(scene)
