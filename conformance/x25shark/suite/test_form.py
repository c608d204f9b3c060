# SPDX-License-Identifier: GPL-2.0-or-later
"""Purposes about the form of everything that the router sends, in a whole run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from scapy.packet import Raw
from scapy_x25 import MODULO_128
from scapy_x25.lapb import ADDRESS_A, ADDRESS_B
from scapy_x25.tables import CAUSES

from ..judges.expectation import PacketView
from ..judges.form import fast_select_of
from ..judges.frames import decode_frame
from ..judges.watch import Rule
from ..sides.agreement import DEFAULTS, SIZES, towards, values_of
from ..sides.arriving import is_another_form
from .language import (
    REJ,
    REJ128,
    RNR,
    RNR128,
    RR,
    RR128,
    CallAccepted,
    CalledLineAddressModified,
    CallRequest,
    ClearConfirmation,
    ClearRequest,
    Conversation,
    Data,
    Data128,
    Interrupt,
    InterruptConfirmation,
    LapbDISC,
    LapbDM,
    LapbFRMR,
    LapbI,
    LapbSABM,
    LapbUA,
    Marker,
    Packet,
    PacketSize,
    PvcSetup,
    ResetConfirmation,
    ResetRequest,
    RestartRequest,
    Watch,
    not_in,
    purpose,
)

_NAMES: dict[type[Packet], str] = {
    ClearRequest: "clear",
    ResetRequest: "reset",
    RestartRequest: "restart",
}
# Closed user groups, fast select and reverse charging (X.25 7.2.1).
_IN_A_CALL_ALONE = frozenset({0x01, 0x03, 0x09, 0x41, 0x47, 0x48})
_FAST_SELECT = 0x01
# Bit 8: fast select, bit 1: reverse charging (X.25 7.2.2; bit 7 says something with bit 8 alone).
_ASKED_FOR = 0x81
# Selection of transit networks, which once was a facility for each of them, and the extension of
# codes, which says nothing by itself.
_LISTED = frozenset({0x44, 0xC4, 0xFF})
# What has a place in a call that is up (X.25 4.3).
_DATA = (Data, Data128)
_OF_A_CALL = (
    *(*_DATA, RR, RR128, RNR, RNR128, REJ, REJ128),
    *(Interrupt, InterruptConfirmation, ResetRequest, ResetConfirmation),
)
# From here on a cause is that of a DTE (X.25 5.2.4.1.1, 5.4.3.1, 5.5.1.1).
_OF_A_DTE = 0x80


@purpose("PLP-FORM-01")
def test_form_of_every_packet(watch: Watch) -> None:
    watch.well_formed()


@purpose("PLP-FORM-02")
def test_user_data_only_with_fast_select(watch: Watch) -> None:
    watch.always(
        "user data in Call Accepted and Clear only where the call asked for fast select",
        given_sent=_user_data_rule,
        about=(CallAccepted, ClearRequest),
    )


def _user_data_rule(sent: Sequence[Packet]) -> Rule | None:
    """No rule where the tester itself gave user data beside a call without fast select."""
    answers = [p for p in sent if isinstance(p, (CallAccepted, ClearRequest))]
    given = any(p.fields.get("user_data") for p in answers)
    plain = any(isinstance(p, CallRequest) and fast_select_of(p) < 2 for p in sent)
    return None if given and plain else _unasked_user_data


def _unasked_user_data(conversation: Conversation) -> PacketView | None:
    asked = False
    for sent, packet, view in conversation:
        if isinstance(packet, CallRequest):
            asked = fast_select_of(packet) >= 2
        elif sent or asked or not isinstance(packet, (CallAccepted, ClearRequest)):
            continue
        elif packet.fields.get("user_data"):
            return view
    return None


@purpose("PLP-FORM-03")
def test_modulo_of_a_call(watch: Watch) -> None:
    watch.always(
        "packets of the modulo that the call was set up with",
        given_sent=partial(_modulo_rule, splice=watch.model == "splice"),
        about=(CallRequest, CallAccepted, PvcSetup),
    )


def _modulo_rule(sent: Sequence[Packet], *, splice: bool) -> Rule | None:
    mixed = len({p.fields.get("modulo") for p in sent}) > 1
    return None if splice and mixed else _other_modulo


def _other_modulo(conversation: Conversation) -> PacketView | None:
    """The first packet of another modulo in a call that is up, or a Clear Confirmation for one that
    is up or that the router has sent; until then it may be refused.

    Where the tester itself changes the modulo, nothing more is asked.
    """
    modulo: int | None = None
    to_confirm: int | None = None
    up = known = False
    for sent, packet, view in conversation:
        own = packet.fields.get("modulo")
        if isinstance(packet, (CallRequest, PvcSetup)) and not up:
            modulo, known, to_confirm = own, not sent, None
        up = up or isinstance(packet, CallAccepted)
        if up and modulo is not None and own != modulo:
            return None if sent else view
        if isinstance(packet, ClearConfirmation) and not sent and to_confirm not in (None, own):
            return view
        if isinstance(packet, (ClearRequest, ClearConfirmation)):
            confirmable = isinstance(packet, ClearRequest) and sent and (up or known)
            to_confirm = modulo if confirmable and own == modulo else None
            modulo, up, known = None, False, False
    return None


@purpose("PLP-FORM-04")
def test_causes_are_defined(watch: Watch) -> None:
    watch.always(
        "causes that X.25 defines, or that the other end gave",
        given_sent=_cause_rule,
        about=tuple(_NAMES),
    )
    for side, role in watch.roles.items():
        if role == "dte":
            watch.always(
                "causes that a DTE may give, or that the other end gave",
                given_sent=_dte_rule,
                about=tuple(_NAMES),
                side=side,
            )


def _dte_rule(sent: Sequence[Packet]) -> Rule:
    """0x00, or 0x80 to 0xFF (X.25 5.2.4.1.1, 5.4.3.1, 5.5.1.1; ISO/IEC 8208 12).

    0x01 in a Clear is a remark elsewhere: systems exist that have no other one.
    """
    given = {p.fields.get("cause") for p in sent if type(p) in _NAMES}

    def rule(conversation: Conversation) -> PacketView | None:
        for from_tester, packet, view in conversation:
            cause = (
                None if from_tester or type(packet) not in _NAMES else packet.fields.get("cause")
            )
            if cause is None or not 0 < cause < _OF_A_DTE or cause in given:
                continue
            if not (cause == 1 and isinstance(packet, ClearRequest)):
                return view
        return None

    return rule


def _cause_rule(sent: Sequence[Packet]) -> Rule:
    given = {p.fields.get("cause") for p in sent if type(p) in _NAMES}

    def rule(conversation: Conversation) -> PacketView | None:
        for from_tester, packet, view in conversation:
            name = _NAMES.get(type(packet))
            if from_tester or name is None:
                continue
            cause = packet.fields.get("cause")
            if cause is not None and cause < _OF_A_DTE and cause not in given | CAUSES[name].keys():
                return view
        return None

    return rule


@purpose("PLP-FORM-05")
def test_facilities_of_a_call_are_not_in_its_answer(watch: Watch) -> None:
    watch.always(
        "no facility in Call Connected that X.25 has for a Call alone",
        given_sent=_answer_rule,
        about=(CallAccepted,),
    )


def _answer_rule(sent: Sequence[Packet]) -> Rule:
    """What the tester itself gives in an answer may go on."""
    given = {code for p in sent if isinstance(p, CallAccepted) for code in _of_a_call(p)}

    def rule(conversation: Conversation) -> PacketView | None:
        for from_tester, packet, view in conversation:
            if not from_tester and isinstance(packet, CallAccepted) and _of_a_call(packet) - given:
                return view
        return None

    return rule


def _of_a_call(answer: Packet) -> set[int]:
    """Codes of the facilities in front of a marker that belong into a Call.

    Fast select and reverse charging with the value of their absence say nothing.
    """
    found = set()
    for facility in _in_front_of_a_marker(answer):
        code, value = bytes(facility)[:2]
        says_nothing = code == _FAST_SELECT and not value & _ASKED_FOR
        if code in _IN_A_CALL_ALONE and not says_nothing:
            found.add(code)
    return found


@purpose("PLP-FORM-06")
def test_answers_are_between_the_call_and_the_default(watch: Watch) -> None:
    watch.always(
        "packet and window size in Call Connected from what the Call asked for to the default",
        given_sent=partial(_between_rule, ends_agree=watch.model != "local" or watch.takes_below),
        about=(CallAccepted,),
    )


def _between_rule(sent: Sequence[Packet], *, ends_agree: bool) -> Rule | None:
    """No rule where the ends agree and the tester itself answered what none of its Calls allows."""
    answers = [p for p in sent if isinstance(p, CallAccepted)]
    calls = [p for p in sent if isinstance(p, CallRequest)]
    wrong = (answer for answer in answers if all(_beyond(answer, call) for call in calls))
    return None if ends_agree and any(wrong) else _answer_beyond_the_call


def _answer_beyond_the_call(conversation: Conversation) -> PacketView | None:
    """The first answer of the router to a Call of the tester that moves away from the default."""
    call: Packet | None = None
    for sent, packet, view in conversation:
        if isinstance(packet, CallRequest):
            call = packet if sent else None
        elif call is not None and isinstance(packet, CallAccepted) and not sent:
            if _beyond(packet, call):
                return view
            call = None
    return None


def _beyond(answer: Packet, call: Packet) -> bool:
    """Whether a value of an answer is not from the one of the Call to the default (X.25 6.12).

    What a Call does not name, names twice or has no right to name says nothing of the answer.
    """
    for kind, default in DEFAULTS:
        asked = [facility for facility in _in_front_of_a_marker(call) if isinstance(facility, kind)]
        if len(asked) != 1 or not _defined(asked[0], call):
            continue
        for facility in _in_front_of_a_marker(answer):
            if isinstance(facility, kind) and any(
                towards(value, of_call, default) != value
                for value, of_call in zip(_octets(facility), _octets(asked[0]), strict=True)
            ):
                return True
    return False


def _defined(asked: Packet, call: Packet) -> bool:
    """Whether both values are those of a packet size or of a window (X.25 7.2.2)."""
    most = 127 if call.getfieldval("modulo") == MODULO_128 else 7
    low, high = (4, 12) if isinstance(asked, PacketSize) else (1, most)
    return all(low <= value <= high for value in _octets(asked))


def _octets(facility: Packet) -> tuple[int, int]:
    return facility.getfieldval("called"), facility.getfieldval("calling")


def _in_front_of_a_marker(packet: Packet) -> Iterator[Packet]:
    """Facilities of X.25; what the end of the field cuts off is none."""
    for facility in packet.fields.get("facilities") or ():
        if isinstance(facility, (Marker, Raw)):
            return
        yield facility


@purpose("PLP-FORM-07")
def test_nothing_behind_a_clear(watch: Watch) -> None:
    watch.always(
        "behind a Clear nothing of the call before the next one", _of_a_cleared_call,
        about=(ClearRequest,),
    )  # fmt: skip
    watch.always(
        "one confirmation of a Clear at most", _confirmation_of_nothing,
        about=(ClearConfirmation,),
    )  # fmt: skip


def _of_a_cleared_call(conversation: Conversation) -> PacketView | None:
    """The first packet of the router in a call that it has cleared (state p7).

    Whatever the tester has sent meanwhile, a call of either begins with a packet of the router.
    """
    cleared = False
    for sent, packet, view in conversation:
        if isinstance(packet, PvcSetup) or (
            not sent and isinstance(packet, (CallRequest, CallAccepted))
        ):
            cleared = False
        elif not sent and isinstance(packet, ClearRequest):
            cleared = True
        elif not sent and cleared and isinstance(packet, _OF_A_CALL):
            return view
    return None


def _confirmation_of_nothing(conversation: Conversation) -> PacketView | None:
    """The first Clear Confirmation of the router for which the tester has sent no Clear.

    One that crossed the router's Clear may be confirmed all the same: on XOT no end is the DCE,
    which would not (X.25 4.1.9).
    """
    free = 0
    for sent, packet, view in conversation:
        if sent:
            free += isinstance(packet, ClearRequest)
        elif isinstance(packet, ClearConfirmation):
            free -= 1
            if free < 0:
                return view
    return None


@purpose("PLP-FORM-08")
def test_packets_with_more_to_come_are_full(watch: Watch) -> None:
    watch.always(
        "Data with M=1 and D=0 as long as the packet size",
        given_sent=_full_rule,
        about=_DATA,
    )


def _full_rule(sent: Sequence[Packet]) -> Rule | None:
    """No rule where the tester itself sends such a packet that no packet size makes full."""
    short = (p for p in sent if _more_to_come(p) and len(p.user_data) not in SIZES)
    return None if any(short) else _not_full


def _not_full(conversation: Conversation) -> PacketView | None:
    """The first Data of the router with M=1 and D=0 that is not of the size that was agreed on."""
    offered = size = None
    for sent, packet, view in conversation:
        if isinstance(packet, CallRequest):
            offered, size = (sent, packet), None
        elif isinstance(packet, PvcSetup):
            offered = size = None
        elif isinstance(packet, CallAccepted) and offered is not None:
            by_tester, call = offered
            values = values_of(call, called=not by_tester)
            size = values_of(packet, called=not by_tester, otherwise=values).size_in
        elif size is None or sent or not _more_to_come(packet):
            continue
        elif len(packet.user_data) != size:
            return view
    return None


def _more_to_come(packet: Packet) -> bool:
    return isinstance(packet, _DATA) and bool(packet.fields.get("m")) and not packet.fields.get("d")


@purpose("PLP-FORM-09")
def test_values_are_named(watch: Watch) -> None:
    watch.always(
        "packet size and window size in each Call, and in Call Connected where the Call lacks them",
        given_sent=lambda _sent: _value_missing,
        about=(CallRequest, CallAccepted),
    )


def _value_missing(conversation: Conversation) -> PacketView | None:
    """The first Call of the router, or answer to a Call of the tester, that leaves a value out."""
    call: Packet | None = None
    for sent, packet, view in conversation:
        if isinstance(packet, CallRequest):
            call = packet if sent else None
            if not sent and not all(_names(packet, kind) for kind, _ in DEFAULTS):
                return view
        elif call is not None and isinstance(packet, CallAccepted) and not sent:
            if any(not _names(call, kind) and not _names(packet, kind) for kind, _ in DEFAULTS):
                return view
            call = None
    return None


def _names(packet: Packet, kind: type[Packet]) -> bool:
    return any(isinstance(facility, kind) for facility in _in_front_of_a_marker(packet))


@purpose("PLP-FORM-10")
def test_nothing_of_a_call_before_it_is_up(watch: Watch) -> None:
    watch.always(
        "nothing of a call before Call Connected or Call Accepted, nor behind Clear Confirmation",
        given_sent=lambda _sent: _of_no_call,
        about=_OF_A_CALL,
    )


def _of_no_call(conversation: Conversation) -> PacketView | None:
    """The first packet of a call that the router sends in p2 or p3, or in p1 behind a call.

    What the router had read of the tester when it sent something need not be known: in p2 its own
    packets count alone, and in p3 nothing but the tester's answer sets the call up. A Call of the
    tester in a call is not a new one, and what is on its way when it clears is of the call still.
    """
    called, up, clearing, over = False, False, False, False
    for sent, packet, view in conversation:
        if isinstance(packet, PvcSetup):
            return None
        if isinstance(packet, CallRequest) and not (up or clearing):
            called, over = True, False
        elif isinstance(packet, CallAccepted):
            # One of the tester where no Call waits for it accepts nothing (p1: discarded).
            if called or not sent:
                called, up, over = False, not clearing, False
        elif sent and isinstance(packet, ClearRequest):
            called, up, clearing = False, False, True
        elif not sent and isinstance(packet, (ClearRequest, ClearConfirmation)):
            over = isinstance(packet, ClearConfirmation)
            called, up, clearing = False, False, False
        elif not sent and (called or over) and isinstance(packet, _OF_A_CALL):
            return view
    return None


@purpose("PLP-FORM-11")
def test_nothing_between_reset_and_confirmation(watch: Watch) -> None:
    watch.always(
        "behind a Reset nothing of the call until it is confirmed or has crossed one of the tester",
        given_sent=lambda _sent: _behind_a_reset,
        about=(ResetRequest,),
    )


def _behind_a_reset(conversation: Conversation) -> PacketView | None:
    """The first packet of the router in d3 but for its Reset once more, and for a confirmation.

    A Reset of the tester that is not confirmed when the router resets has crossed with it, and ends
    d3 as a confirmation does (X.25 4.4.3.3).
    """
    waits = asked = False
    for sent, packet, view in conversation:
        if sent and isinstance(packet, ResetRequest):
            waits, asked = False, not waits
        elif isinstance(packet, ResetConfirmation):
            waits, asked = False, asked and sent
        elif isinstance(packet, ResetRequest):
            if waits:
                # T12: what the router makes of no answer at all is of other purposes.
                return None
            waits, asked = not asked, False
        elif isinstance(packet, (CallRequest, CallAccepted, ClearRequest, PvcSetup)):
            waits = asked = False
        elif waits and not sent and isinstance(packet, _OF_A_CALL):
            return view
    return None


@purpose("PLP-FORM-12")
def test_called_addresses_of_answers_are_known(watch: Watch) -> None:
    watch.always(
        "a called address in Call Connected or Clear that the Call or the answer had",
        given_sent=_address_rule,
        about=(CallAccepted, ClearRequest),
    )


def _address_rule(sent: Sequence[Packet]) -> Rule | None:
    """A called address that no packet of the tester had in the case is one that the router made.

    With called line address modified it may be any (X.25 6.26), and so it may where the tester
    gave none in its answers. A router that rewrites addresses may put a prefix in front of one, or
    take it away, or give it back as the Call had it.
    """
    answers = [p for p in sent if isinstance(p, (CallAccepted, ClearRequest))]
    if not any(map(_called, answers)):
        return None
    known = {_called(p) for p in sent if isinstance(p, (CallRequest, CallAccepted, ClearRequest))}

    def rule(conversation: Conversation) -> PacketView | None:
        for from_tester, packet, view in conversation:
            if from_tester or not isinstance(packet, (CallAccepted, ClearRequest)):
                continue
            digits = _called(packet)
            if not digits or digits in known or _says_modified(packet):
                continue
            if not any(is_another_form(one, digits) for one in known):
                return view
        return None

    return rule


def _called(packet: Packet) -> str:
    return str(packet.fields.get("called_address") or "")


def _says_modified(packet: Packet) -> bool:
    return any(isinstance(f, CalledLineAddressModified) for f in _in_front_of_a_marker(packet))


@purpose("PLP-FORM-13")
def test_no_facility_twice(watch: Watch) -> None:
    watch.always(
        "no facility twice in Call or Call Connected",
        given_sent=_twice_rule,
        about=(CallRequest, CallAccepted),
    )


def _twice_rule(sent: Sequence[Packet]) -> Rule | None:
    """No rule where the tester itself has sent such a packet: PLP-FAC-22 looks at that."""
    given = any(_repeated(p) for p in sent if isinstance(p, (CallRequest, CallAccepted)))
    return None if given else _facility_twice


def _facility_twice(conversation: Conversation) -> PacketView | None:
    for sent, packet, view in conversation:
        if not sent and isinstance(packet, (CallRequest, CallAccepted)) and _repeated(packet):
            return view
    return None


def _repeated(packet: Packet) -> bool:
    """Whether a facility stands twice in front of a marker."""
    codes = [bytes(facility)[0] for facility in _in_front_of_a_marker(packet)]
    codes = [code for code in codes if code not in _LISTED]
    return len(codes) != len(set(codes))


@purpose("LAPB-FORM-01")
def test_form_of_every_frame(watch: Watch) -> None:
    watch.well_formed()


@purpose("LAPB-FORM-02")
def test_addresses_of_commands_and_responses(watch: Watch) -> None:
    for side, role in watch.roles.items():
        command, response = _addresses(role)
        watch.never(
            *(kind(address=not_in(command)) for kind in (LapbI, LapbSABM, LapbDISC)),
            *(kind(address=not_in(response)) for kind in (LapbUA, LapbDM, LapbFRMR)),
            side=side,
        )


def _addresses(role: str) -> tuple[int, int]:
    """Address of the commands and of the responses that a router in this role sends (2.4.2)."""
    return (ADDRESS_A, ADDRESS_B) if role == "dce" else (ADDRESS_B, ADDRESS_A)


@purpose("LAPB-FORM-03")
def test_final_bit_answers_a_poll(watch: Watch) -> None:
    for side, role in watch.roles.items():
        watch.always(
            "responses with F=1 only to a command with P=1",
            partial(_unasked_final, address=_addresses(role)[1]),
            side=side,
        )


def _unasked_final(conversation: Conversation, *, address: int) -> PacketView | None:
    """The first response with F=1 that no poll explains.

    address: that of the router's responses and of the tester's commands. One poll may have come
    before the case began. FRMR is left aside: it may be sent again for other reasons.
    """
    polls = 1
    for sent, _, view in conversation:
        frame = decode_frame(view.octets)
        if frame is None or frame.fields["address"] != address or not frame.fields.get("p_f"):
            continue
        if sent:
            polls += 1
        elif not isinstance(frame, LapbFRMR):
            if not polls:
                return view
            polls -= 1
    return None


@purpose("LAPB-FORM-04")
def test_n_r_is_what_was_sent(watch: Watch) -> None:
    for side, role in watch.roles.items():
        watch.always(
            "N(R) acknowledges what was sent, no more, and does not run back",
            partial(_wrong_n_r, command=_addresses(role)[1]),
            side=side,
        )


def _wrong_n_r(conversation: Conversation, *, command: int) -> PacketView | None:
    """The first I or supervisory frame of the router whose N(R) is neither the last one nor any up
    to V(S) of the tester.

    command: the address of the tester's commands.
    """
    last = taken = 0
    for begins, sent, frame, view in _on_links(conversation):
        if begins:
            last = taken = 0
        elif frame.fields.get("n_r") is None:
            continue
        elif sent:
            if isinstance(frame, LapbI) and frame.fields["address"] == command:
                taken += frame.fields["n_s"] == (last + taken) % 8
        else:
            ahead = (frame.fields["n_r"] - last) % 8
            if ahead > taken:
                return view
            last, taken = frame.fields["n_r"], taken - ahead
    return None


def _on_links(conversation: Conversation) -> Iterator[tuple[bool, bool, Packet, PacketView]]:
    """Frames of links of whose set-up the case has seen all: where the last SABM is answered both
    ends begin at 0. The first of each four is whether a link begins with this frame."""
    known, set_ups = False, 0
    for sent, _, view in conversation:
        frame = decode_frame(view.octets)
        if frame is None:
            continue
        if isinstance(frame, LapbSABM):
            known, set_ups = False, set_ups + 1
        elif isinstance(frame, (LapbDISC, LapbDM, LapbFRMR)):
            known, set_ups = False, 0
        elif isinstance(frame, LapbUA):
            # One that answers no SABM begins nothing.
            if set_ups == 1:
                known = True
                yield True, sent, frame, view
            set_ups = max(0, set_ups - 1)
        elif known:
            yield False, sent, frame, view


@purpose("LAPB-FORM-05")
def test_no_more_than_k_are_open(watch: Watch) -> None:
    for side, role in watch.roles.items():
        k = watch.windows[side]
        watch.always(
            f"no more than k = {k} I frames that the tester has not acknowledged",
            partial(_beyond_k, k=k, command=_addresses(role)[0]),
            side=side,
        )


def _beyond_k(conversation: Conversation, *, k: int, command: int) -> PacketView | None:
    """The first new I frame of the router while k of them are open (X.25 2.4.8.6).

    command: the address of the router's commands. What the router has read of the tester it need
    not be asked: it knows of no more acknowledgements than were sent before its frame came. A frame
    with another N(S) than the next is one that is sent again, or one behind another that was lost
    on the line: neither makes more than the tester has seen. An N(R) of the tester that
    acknowledges nothing that has come says nothing.
    """
    oldest = is_open = 0
    for begins, sent, frame, view in _on_links(conversation):
        if begins:
            oldest = is_open = 0
        elif sent:
            n_r = frame.fields.get("n_r")
            if n_r is not None and (n_r - oldest) % 8 <= is_open:
                oldest, is_open = n_r, is_open - (n_r - oldest) % 8
        elif isinstance(frame, LapbI) and frame.fields["address"] == command:
            if frame.fields["n_s"] != (oldest + is_open) % 8:
                continue
            if is_open == k:
                return view
            is_open += 1
    return None
