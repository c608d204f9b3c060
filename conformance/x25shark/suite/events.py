# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tester sends for each event of the state tables.

An event may stand for several packets (Data, RR, ...): each is tried on a channel of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from .language import (
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearRequest,
    Interrupt,
    InterruptConfirmation,
    Packet,
    PacketSize,
    ResetConfirmation,
    ResetRequest,
    Side,
    WindowSize,
    unit,
)
from .reactions import header
from .scenes import Scene, request_of

Stimulus = Callable[[Scene], None]

# Values of octet 3 that neither X.25 nor RFC 1613 knows; odd in both moduli.
UNDEFINED_TYPES = (0x2B, 0x33, 0xD3)
LENGTHS = (0, 1, 2, 0xFFFF)
MOST_LCN = 4095
# The rest of a packet sequence that is sent with another Q bit than its beginning.
Q_DIFFERS = b"rest"


def _packet(make: Callable[[], Packet]) -> Stimulus:
    return lambda scene: scene.side.send(make())


def _octet_3(octet_3: int, behind: bytes = b"") -> Stimulus:
    """A packet with that type and these octets behind it, on the channel of the call."""

    def stimulus(scene: Scene) -> None:
        scene.side.put(header(scene.side, octet_3) + behind)

    return stimulus


def _call_request(scene: Scene) -> None:
    if scene.line is not None:
        # Whatever comes of it is told by its user data.
        scene.side.send(request_of(scene.bench, scene.side))
        return
    facilities = [PacketSize(called=7, calling=7), WindowSize(called=2, calling=2)]
    called = scene.bench.far_end.address
    scene.side.send(CallRequest(called_address=called, facilities=facilities))


def _data(side: Side, user_data: bytes, **fields: int) -> bytes:
    """A Data packet that does not count in the tester's own numbering."""
    return side.octets_of(side.data(user_data, **fields))


def _flow(side: Side, octet_3: int, p_r: int, behind: bytes = b"") -> bytes:
    """RR (0x01) or RNR (0x05)."""
    if side.modulus == 128:
        return header(side, octet_3) + bytes((p_r << 1,)) + behind
    return header(side, octet_3 | p_r << 5) + behind


def _flow_packet(octet_3: int, p_r: int | None = None, behind: bytes = b"") -> Stimulus:
    """p_r: the side's own, unless given."""

    def stimulus(scene: Scene) -> None:
        number = scene.side.numbering.p_r if p_r is None else p_r
        scene.side.put(_flow(scene.side, octet_3, number, behind))

    return stimulus


def _data_packet(user_data: bytes = b"data", **fields: int) -> Stimulus:
    return lambda scene: scene.side.put(_data(scene.side, user_data, **fields))


def _p_s_not_next(scene: Scene) -> None:
    """0, and then 2."""
    scene.side.send(scene.side.data(b"P(S) 0"))
    scene.side.put(_data(scene.side, b"P(S) 2", p_s=2))


def _p_s_outside_window(scene: Scene) -> None:
    """0, 1 and 2 with window 2, and B gives no P(R)."""
    assert isinstance(scene.other, Side)
    scene.other.withholding = True
    for number in range(3):
        scene.side.send(scene.side.data(b"window", p_s=number))


def _data_too_long(scene: Scene) -> None:
    scene.side.put(_data(scene.side, bytes(scene.side.packet_size + 1)))


def _q_differs(scene: Scene) -> None:
    """A full packet with Q = 0 and M = 1, and the rest of the sequence with Q = 1."""
    scene.side.send(scene.side.data(bytes(scene.side.packet_size), m=1))
    scene.side.send(scene.side.data(Q_DIFFERS, q=1))


def _version(scene: Scene) -> None:
    scene.side.wire.send(b"\0\1" + unit(header(scene.side, 0x23) + b"!")[2:])


def _length(length: int) -> Stimulus:
    """A header with that length, and the octets that it announces if they are few."""

    def stimulus(scene: Scene) -> None:
        octets = header(scene.side, 0x23)[: length if length < 3 else 3]
        scene.side.wire.send(b"\0\0" + length.to_bytes(2, "big") + octets)

    return stimulus


def _other_channel(scene: Scene) -> None:
    """Data, or in p7 the Clear Confirmation, with another LCN than the call's."""
    side = scene.side
    if scene.state == "p7":
        side.send(ClearConfirmation(lcn=side.lcn % MOST_LCN + 1))
    else:
        side.send(side.data(b"another LCN", lcn=side.lcn % MOST_LCN + 1))


def _close(scene: Scene) -> None:
    scene.side.close()


def _reset_tcp(scene: Scene) -> None:
    scene.side.wire.reset()


_RESTARTS = (_octet_3(0xFB, b"\0\0"), _octet_3(0xFF), _octet_3(0xF3, b"\0\0"))
_INTERRUPTS = (_octet_3(0x23, b"!"), _octet_3(0x27))
_FLOW = (_flow_packet(0x01), _flow_packet(0x05))
_RESETS = (_packet(lambda: ResetRequest(cause=0, diagnostic=0)), _packet(ResetConfirmation))

STIMULI: dict[str, tuple[Stimulus, ...]] = {
    "call_request": (_call_request,),
    "call_accepted": (_packet(CallAccepted),),
    "clear_request": (_packet(lambda: ClearRequest(cause=0, diagnostic=241)),),
    "clear_confirmation": (_packet(ClearConfirmation),),
    "data_transfer_packet": (_data_packet(), *_INTERRUPTS, *_FLOW, *_RESETS),
    "restart_packet": _RESTARTS,
    "two_octets": (lambda scene: scene.side.put(header(scene.side, 0)[:2]),),
    "undefined_type": tuple(_octet_3(octet) for octet in UNDEFINED_TYPES),
    "reset_request": (_RESETS[0],),
    "reset_confirmation": (_RESETS[1],),
    "data": (_data_packet(),),
    "rr_or_rnr": _FLOW,
    "interrupt_packet": _INTERRUPTS,
    "reject": (_flow_packet(0x09),),
    "interrupt": (_packet(lambda: Interrupt(user_data=b"?")),),
    "interrupt_confirmation": (_packet(InterruptConfirmation),),
    "interrupt_empty": (_octet_3(0x23),),
    "interrupt_too_long": (_octet_3(0x23, bytes(33)),),
    "interrupt_confirmation_too_long": (_octet_3(0x27, b"\0"),),
    "p_s_next": (lambda scene: scene.side.send(scene.side.data(b"next")),),
    "p_s_not_next": (_p_s_not_next,),
    "p_s_outside_window": (_p_s_outside_window,),
    "first_p_s_not_0": (_data_packet(p_s=1),),
    "p_r_invalid": (_flow_packet(0x01, 5), _flow_packet(0x05, 5), _data_packet(p_r=5)),
    "data_too_long": (_data_too_long,),
    "q_differs": (_q_differs,),
    "rr": (lambda scene: scene.side.acknowledge(),),
    "rnr": (_flow_packet(0x05),),
    "flow_too_long": (_flow_packet(0x01, None, b"\0"), _flow_packet(0x05, None, b"\0")),
    "version": (_version,),
    "length": tuple(_length(length) for length in LENGTHS),
    "diagnostic_packet": (_octet_3(0xF1, b"\x24"), _octet_3(0xF7, bytes(4))),
    "other_channel_number": (_other_channel,),
    "tcp_end": (_close, _reset_tcp),
}

# Where the tester is the DCE of a line: Registration Requests are a DTE's.
AT_A_DTE: dict[str, tuple[Stimulus, ...]] = {"restart_packet": _RESTARTS[:2]}
