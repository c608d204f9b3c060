# SPDX-License-Identifier: GPL-2.0-or-later
"""What cases about LAPB have in common.

What makes a router send I frames is a Restart Request on a ready packet layer: each is confirmed.
"""

from __future__ import annotations

from scapy_x25 import hdlc

from .language import Bench, LapbI, LapbREJ, LapbRNR, LapbRR, LineSide, Packet, RestartRequest


def ready(bench: Bench) -> tuple[LineSide, Packet]:
    """A line whose link is up, and a Restart Request for it."""
    line = bench.line()
    line.bring_up()
    return line, RestartRequest(cause=line.restart_cause, modulo=line.modulo_bits)


def unacknowledged(line: LineSide, restart: Packet, count: int) -> int:
    """Restart Requests whose confirmations the tester does not acknowledge; the N(R) it keeps."""
    line.by_hand = True
    n_r = line.station.v_r
    # The router may poll for its acknowledgements.
    line.allow(LapbRR(address=line.response_address, p_f=1))
    for _ in range(count):
        line.send(line.packet(restart, n_r=n_r))
        taken = line.station.v_s
        line.expect(LapbRR(n_r=taken), LapbI(n_r=taken), passing=(LapbI(), LapbRR()))
    return n_r


def out_of_sequence(line: LineSide, packet: Packet, ahead: int, **fields: int) -> None:
    """An I frame with an N(S) that is so many ahead of the next; it uses up no number."""
    number = (line.station.v_s + ahead) % 8
    line.send_whole([line.frame_of(line.packet(packet, n_s=number, **fields))])


def polls(line: LineSide) -> tuple[Packet, ...]:
    """How a router may ask whether the tester is there: a command with P=1 (X.25 2.4.5.9)."""
    address = line.response_address
    commands = [kind(address=address, p_f=1) for kind in (LapbRR, LapbRNR, LapbREJ)]
    return (*commands, LapbI(p_f=1))


def final(line: LineSide, **fields: int) -> tuple[Packet, ...]:
    """Answers to a command with P=1."""
    address = line.command_address
    return tuple(kind(address=address, p_f=1, **fields) for kind in (LapbRR, LapbRNR, LapbREJ))


def send_control(line: LineSide, control: int, information: bytes = b"") -> None:
    """A command with this control octet."""
    line.send_whole([hdlc.with_fcs(bytes([line.command_address, control]) + information)])


def begin_again(line: LineSide) -> None:
    """The link anew, whatever state it is in; each new link begins with a restart."""
    line.layer.allow(RestartRequest())
    line.by_hand = False
    line.bring_down()
    line.bring_up()
