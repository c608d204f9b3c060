# SPDX-License-Identifier: GPL-2.0-or-later
"""Purposes about everything that the router sends in a whole run."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from scapy_x25 import REJ128

from ..judges.expectation import PacketView
from ..judges.template import decode
from ..judges.watch import Rule
from .language import (
    REJ,
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearRequest,
    Conversation,
    Diagnostic,
    FacilityA,
    FacilityB,
    FacilityC,
    FacilityD,
    Marker,
    Packet,
    PvcSetup,
    Raw,
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

# The value of the marker behind which facilities of DTEs stand (X.25 7.1).
_OF_DTES = 0x0F
_NOT_OF_A_CALL = (
    Undefined,
    RestartRequest,
    RestartConfirmation,
    Diagnostic,
    RegistrationRequest,
    RegistrationConfirmation,
    PvcSetup,
)


@purpose("XOT-HDR-02")
def test_headers_of_the_router(watch: Watch) -> None:
    watch.framed()


@purpose("XOT-TCP-03")
def test_no_octets_with_the_syn(watch: Watch) -> None:
    watch.plain_syn()


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


@purpose("XOT-PVC-17")
def test_status_values_of_pvc_setups(watch: Watch) -> None:
    """RFC 1613 calls other values of a responder not appropriate: a remark."""
    watch.always("PVC setups that ask with status 0x00", _asks_with_status, about=(PvcSetup,))
    watch.always(
        "answers to a PVC setup with status 0x00 or 0x13 to 0x1A",
        _answers_with_other_status,
        about=(PvcSetup,),
        mild=True,
    )


def _asks_with_status(conversation: Conversation) -> PacketView | None:
    return _wrong_status(conversation, {0x00}, answers=False)


def _answers_with_other_status(conversation: Conversation) -> PacketView | None:
    return _wrong_status(conversation, {0x00, *range(0x13, 0x1B)}, answers=True)


def _wrong_status(
    conversation: Conversation, right: Collection[int], *, answers: bool
) -> PacketView | None:
    """The first setup of the router with a wrong status, as initiator or as responder.

    A connection with a call is none of a permanent circuit: a splice passes what comes on it.
    """
    asked = False
    for sent, packet, view in conversation:
        if isinstance(packet, CallRequest):
            return None
        if isinstance(packet, PvcSetup):
            if sent:
                asked = True
            elif asked is answers and packet.fields.get("pvc_status") not in right:
                return view
    return None


@purpose("PLP-FAC-34")
def test_facility_length_matches_the_facilities(watch: Watch) -> None:
    """Facilities that X.25 does not define count if the tester sent none like them."""
    watch.always(
        "a facility length that is that of the facilities",
        given_sent=partial(_facilities_rule, splice=watch.model == "splice"),
        told=_wrong_length,
        about=(CallRequest, CallAccepted),
    )


def _facilities_rule(sent: Sequence[Packet], *, splice: bool) -> Rule | None:
    """The rule in a case where the tester sent these; a splice passes malformed ones on."""
    undefined = {bytes(f) for packet in sent for f in _undefined_facilities(packet)}
    if splice and any(_facilities_are_wrong(packet, undefined) for packet in sent):
        return None

    def rule(conversation: Conversation) -> PacketView | None:
        for from_tester, packet, view in conversation:
            if not from_tester and _facilities_are_wrong(packet, undefined):
                return view
        return None

    return rule


def _facilities_are_wrong(packet: Packet, known: Collection[bytes]) -> bool:
    """One is cut off, the length runs past the end, or an undefined one came from nowhere."""
    if not isinstance(packet, (CallRequest, CallAccepted)):
        return False
    facilities = packet.fields.get("facilities")
    if facilities is None:
        return bool(packet.fields.get("facility_length"))
    return any(isinstance(f, Raw) for f in facilities) or any(
        bytes(f) not in known for f in _undefined_facilities(packet)
    )


def _wrong_length(view: PacketView) -> str:
    """What the facility length of a packet counts in place of its facilities."""
    packet = decode(view.octets)
    length, found = packet.fields.get("facility_length") or 0, packet.fields.get("facilities")
    strange = _undefined_facilities(packet)
    if found is None:
        why = f"the facility length is {length}, and fewer octets follow"
    elif any(isinstance(f, Raw) for f in found):
        why = f"the facility length is {length}: it cuts off the last facility"
    else:
        why = (
            f"the facility length is {length}: it counts the octets {bytes(strange[0]).hex(' ')} "
            "as a facility that nobody sent"
        )
    return f"{view.text} ({why})"


def _undefined_facilities(packet: Packet) -> list[Packet]:
    """Those that X.25 does not define; what stands behind the marker of a network it may know."""
    found, of_a_network = [], False
    for facility in packet.fields.get("facilities") or []:
        if isinstance(facility, Marker):
            of_a_network = facility.value != _OF_DTES
        elif type(facility) in (FacilityA, FacilityB, FacilityC, FacilityD) and not of_a_network:
            found.append(facility)
    return found


@purpose("PLP-CLR-17")
def test_clear_confirmation_has_three_octets(watch: Watch) -> None:
    watch.always("Clear Confirmations of three octets, or with charges", _long_confirmation)


# Charging, as a network tells it whose subscriber wants to know (X.25 6.22): call duration, segment
# count, monetary unit.
_CHARGES = frozenset({0xC1, 0xC2, 0xC5})


def _long_confirmation(conversation: Conversation) -> PacketView | None:
    for sent, packet, view in conversation:
        if sent or not isinstance(packet, ClearConfirmation) or len(bytes(packet)) == 3:
            continue
        codes = {bytes(facility)[0] for facility in packet.fields.get("facilities") or ()}
        if not codes or codes - _CHARGES or packet.payload:
            return view
    return None


@purpose("PLP-DATA-17")
def test_p_r_never_runs_ahead(watch: Watch) -> None:
    _of_numbers(watch, "P(R) that acknowledges only what was sent", _p_r_ahead)


@purpose("PLP-DATA-18")
def test_p_r_never_runs_back(watch: Watch) -> None:
    _of_numbers(watch, "P(R) that only moves forward between resets", _p_r_back)


def _of_numbers(watch: Watch, rule_in_words: str, rule: Rule) -> None:
    """A rule that is a remark where numbers are the ends' matter, and the tester's are wrong."""
    watch.always(rule_in_words, rule, mild=watch.passes_numbers)


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
    the tester still counts as before it, wherever it is in the conversation.
    """
    if not _by_the_rules([packet for sent, packet, _ in conversation if sent]):
        return None
    # One circuit a connection, whatever the LCN of its packets is (RFC 1613 5).
    circuit = _Circuit()
    for sent, packet, view in conversation:
        # On a line a restart ends a call as well, and is not of its channel.
        ended = circuit.cleared or (circuit.connected and isinstance(packet, CallRequest))
        if ended and isinstance(packet, (CallRequest, CallAccepted)):
            circuit = _Circuit()
        if isinstance(packet, CallAccepted):
            circuit.connected = True
        if sent:
            _from_tester(circuit, packet)
        elif _from_router(circuit, packet) is back:
            return view
    return None


def _by_the_rules(sent: Sequence[Packet]) -> bool:
    """Whether the tester sent only what belongs to a call, and one Call for each clearing.

    What the router makes of anything else is what other purposes are about. This asks for nothing
    but the order in which the tester sent, which both judges see alike.
    """
    called = False
    for packet in sent:
        if isinstance(packet, _NOT_OF_A_CALL) or (called and isinstance(packet, CallRequest)):
            return False
        if isinstance(packet, (ClearRequest, ClearConfirmation)):
            called = False
        called = called or isinstance(packet, CallRequest)
    return True


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
        elif not circuit.tester_resets:
            # One that nobody asked for: what the router counts from there on proves nothing. That
            # it came is another purpose's matter.
            circuit.left_out = True
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
