# SPDX-License-Identifier: GPL-2.0-or-later
"""Purposes about everything that the router sends in a whole run."""

from scapy_x25 import REJ128

from ..judges.expectation import PacketView
from .language import (
    REJ,
    ClearConfirmation,
    Conversation,
    Diagnostic,
    RegistrationConfirmation,
    RegistrationRequest,
    ResetConfirmation,
    ResetRequest,
    RestartConfirmation,
    RestartRequest,
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


def _wrong_p_r(conversation: Conversation, *, back: bool) -> PacketView | None:
    """The first P(R) that is behind the last one, or ahead of what the tester sent.

    A connection is looked at up to the first Data that the case numbered wrongly on purpose.
    """
    sent_count = acknowledged = 0
    for sent, packet, view in conversation:
        modulus = 128 if packet.fields.get("modulo") == 2 else 8
        if isinstance(packet, (ResetRequest, ResetConfirmation)):
            sent_count = acknowledged = 0
        elif sent and packet.fields.get("p_s") is not None:
            if packet.fields["p_s"] != sent_count % modulus:
                return None
            sent_count += 1
        elif not sent and packet.fields.get("p_r") is not None:
            step = (packet.fields["p_r"] - acknowledged) % modulus
            if step > sent_count - acknowledged:
                is_back = modulus - step <= modulus // 2 and modulus - step <= acknowledged
                if is_back == back:
                    return view
                continue
            acknowledged += step
    return None
