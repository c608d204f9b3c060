# SPDX-License-Identifier: GPL-2.0-or-later
"""Purposes about everything that the router sends in a whole run."""

from dataclasses import dataclass

from scapy_x25 import REJ128

from ..judges.expectation import PacketView
from .language import (
    REJ,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearRequest,
    Conversation,
    Diagnostic,
    Packet,
    RegistrationConfirmation,
    RegistrationRequest,
    ResetConfirmation,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
    Undefined,
    Watch,
    purpose,
)


@purpose("XOT-FORB-07")
def test_no_packet_of_local_significance(watch: Watch) -> None:
    for template in (
        RestartRequest(),
        RestartConfirmation(),
        Diagnostic(),
        RegistrationRequest(),
        RegistrationConfirmation(),
        REJ(),
        REJ128(),
    ):
        watch.never(template)


@purpose("PLP-CLR-17")
def test_clear_confirmation_has_three_octets(watch: Watch) -> None:
    watch.always("Clear Confirmations of three octets", _long_confirmation)


def _long_confirmation(conversation: Conversation) -> PacketView | None:
    for sent, packet, view in conversation:
        if not sent and isinstance(packet, ClearConfirmation) and len(bytes(packet)) > 3:
            return view
    return None


@purpose("PLP-DATA-17")
def test_p_r_never_runs_ahead(watch: Watch) -> None:
    watch.always("P(R) that acknowledges only what was sent", _p_r_ahead)


@purpose("PLP-DATA-18")
def test_p_r_never_runs_back(watch: Watch) -> None:
    watch.always("P(R) that only moves forward between resets", _p_r_back)


def _p_r_ahead(conversation: Conversation) -> PacketView | None:
    return _wrong_p_r(conversation, back=False)


def _p_r_back(conversation: Conversation) -> PacketView | None:
    return _wrong_p_r(conversation, back=True)


@dataclass
class _Circuit:
    """One call, between two resets.

    sent_count and acknowledged count Data packets of the tester. left_out: nothing is demanded any
    more, for the tester numbered wrongly on purpose. cleared: the next Call starts anew.
    """

    sent_count: int = 0
    acknowledged: int = 0
    tester_resets: bool = False
    router_resets: bool = False
    left_out: bool = False
    connected: bool = False
    cleared: bool = False


def _wrong_p_r(conversation: Conversation, *, back: bool) -> PacketView | None:
    """The first P(R) that is behind the last one, or ahead of what the tester sent.

    Packets of the two directions cross: what the router sent before it saw a Reset or a Clear of
    the tester still counts as before it, wherever it stands in the conversation.
    """
    # One circuit a connection, whatever the LCN of its packets is (RFC 1613 5).
    circuit = _Circuit()
    for sent, packet, view in conversation:
        if circuit.cleared and isinstance(packet, (CallRequest, CallAccepted)):
            circuit = _Circuit()
        if isinstance(packet, CallAccepted):
            circuit.connected = True
        if sent:
            _from_tester(circuit, packet)
        elif _from_router(circuit, packet) is back:
            return view
    return None


def _from_tester(circuit: _Circuit, packet: Packet) -> None:
    if isinstance(packet, ResetRequest):
        # Where both reset, the tester's request is its confirmation too.
        circuit.tester_resets, circuit.router_resets = not circuit.router_resets, False
    elif isinstance(packet, ResetConfirmation):
        # One that is not due may be taken for the end of something: no measure any more.
        circuit.left_out = circuit.left_out or not circuit.router_resets
        circuit.router_resets = False
    elif isinstance(packet, ClearConfirmation):
        circuit.cleared = True
    elif isinstance(packet, Undefined):
        # Whether the router takes a malformed packet for Data is what other purposes are about.
        circuit.left_out = True
    elif packet.fields.get("p_s") is not None:
        if circuit.router_resets:
            return
        # Data before the confirmation of a Reset may count or not: the router may have confirmed.
        wrong = packet.fields["p_s"] != circuit.sent_count % _modulus(packet)
        wrong = wrong or not circuit.connected
        circuit.left_out = circuit.left_out or wrong or circuit.tester_resets
        circuit.sent_count += 1


def _from_router(circuit: _Circuit, packet: Packet) -> bool | None:
    """None if the packet is right; otherwise whether its P(R) runs back (or else ahead)."""
    if isinstance(packet, (ResetRequest, ResetConfirmation)):
        if isinstance(packet, ResetRequest):
            circuit.router_resets = not circuit.tester_resets
        circuit.tester_resets = False
        circuit.sent_count = circuit.acknowledged = 0
    elif isinstance(packet, (ClearRequest, ClearConfirmation)):
        circuit.cleared = True
    elif packet.fields.get("p_r") is not None:
        if circuit.left_out or circuit.cleared or circuit.tester_resets:
            return None
        modulus = _modulus(packet)
        step: int = (packet.fields["p_r"] - circuit.acknowledged) % modulus
        if step > circuit.sent_count - circuit.acknowledged:
            behind = modulus - step
            return behind <= modulus // 2 and behind <= circuit.acknowledged
        circuit.acknowledged += step
    return None


def _modulus(packet: Packet) -> int:
    return 128 if packet.fields.get("modulo") == 2 else 8
