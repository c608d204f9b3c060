# SPDX-License-Identifier: GPL-2.0-or-later
"""Purposes about the numbers and the sizes of all Data that the router sends in a whole run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ..judges.expectation import PacketView
from ..judges.watch import Rule
from ..sides.agreement import DEFAULTS
from .language import (
    CallAccepted,
    CallRequest,
    ClearConfirmation,
    ClearRequest,
    Conversation,
    LapbSABM,
    Packet,
    PacketSize,
    PvcSetup,
    ResetConfirmation,
    ResetRequest,
    Watch,
    WindowSize,
    purpose,
)

# What an answer may fall or rise to (X.25 6.12): log2 of 128 octets, 2 packets.
_DEFAULTS = dict(DEFAULTS)


@purpose("PLP-DATA-20")
def test_p_s_is_consecutive(watch: Watch) -> None:
    _of_numbers(watch, "P(S) from 0 on, one by one", "number")


@purpose("PLP-DATA-21")
def test_no_data_longer_than_agreed(watch: Watch) -> None:
    _of_numbers(watch, "no Data longer than the agreed packet size", "size")


@purpose("PLP-FLOW-18")
def test_no_data_outside_the_window(watch: Watch) -> None:
    _of_numbers(watch, "no Data outside the agreed window", "window")


def _of_numbers(watch: Watch, rule_in_words: str, what: str) -> None:
    """As a remark where what the tester sent at the other end may pass as it is."""
    rule = partial(_rule, what, len(watch.roles))
    watch.always(rule_in_words, given_sent=rule, mild=watch.passes_numbers)


def _rule(what: str, lines: int, sent: Sequence[Packet]) -> Rule:
    """Where a link was reset, what it did not acknowledge may come again (X.25 2.4.7)."""
    set_ups = sum(isinstance(frame, LapbSABM) for frame in sent)
    return partial(_wrong, what, set_ups > lines)


# The conversation that was looked at last, with what was wrong in it: three purposes ask.
_latest: list[tuple[Conversation, dict[str, PacketView]]] = []


def _wrong(what: str, again: bool, conversation: Conversation) -> PacketView | None:
    """The first Data of the router with this wrong: its number, its size, or its window.

    again: the same Data may come twice. What the tester sent, which decides it, is the same for all
    who ask of one conversation.
    """
    if not _latest or _latest[0][0] is not conversation:
        _latest[:] = [(conversation, _all_wrong(conversation, again))]
    return _latest[0][1].get(what)


def _all_wrong(conversation: Conversation, again: bool) -> dict[str, PacketView]:
    """The first Data of the router with each of these. One circuit a connection, or a channel."""
    found: dict[str, PacketView] = {}
    came: set[tuple[object, ...]] = set()
    circuit = _Circuit()
    for sent, packet, view in conversation:
        if isinstance(packet, (ClearRequest, ClearConfirmation)):
            circuit = _Circuit()
        elif isinstance(packet, CallRequest):
            # A call may have ended with its link, without a Clear.
            circuit = _Circuit(packet, sent)
            came.clear()
        elif isinstance(packet, (CallAccepted, PvcSetup)):
            circuit.set_up(sent, packet)
        elif isinstance(packet, (ResetRequest, ResetConfirmation)):
            circuit.reset(sent, packet)
            came.clear()
        elif packet.fields.get("p_r") is None:
            continue
        elif sent:
            circuit.take_p_r(packet)
        elif packet.fields.get("p_s") is not None:
            there = _is_there(packet, came)
            if again and there and packet.fields["p_s"] != circuit.next_p_s:
                continue
            if wrong := circuit.data(packet):
                found.setdefault(wrong, view)
    return found


def _is_there(data: Packet, came: set[tuple[object, ...]]) -> bool:
    """Whether this very Data came before; it is put to them."""
    this = tuple(data.fields.get(name) for name in ("q", "d", "m", "p_s", "user_data"))
    there = this in came
    came.add(this)
    return there


@dataclass
class _Circuit:
    """What an observer knows of the direction from the router.

    edge: the last P(R) of the tester; next_p_s: what the router's next Data has to have. left_out:
    nothing is demanded any more, for the tester itself broke the rules. Until both have sent what
    ends a reset, what the tester sends counts for nothing.
    """

    call: Packet | None = None
    called_by_tester: bool = False
    up: bool = False
    left_out: bool = False
    next_p_s: int = 0
    edge: int = 0
    size: int | None = None
    window: int | None = None
    tester_resets: bool = False
    router_resets: bool = False

    def set_up(self, sent: bool, packet: Packet) -> None:
        if self.up:
            return
        if isinstance(packet, CallAccepted):
            if self.call is None or self.called_by_tester is sent:
                return
            self.up = not isinstance(self.call, PvcSetup)
            size = self._agreed(PacketSize, packet, by_tester=sent)
            self.size = None if size is None else 1 << size
            self.window = self._agreed(WindowSize, packet, by_tester=sent)
        elif isinstance(packet, PvcSetup) and self.call is not None:
            self.up = self.called_by_tester is not sent and not packet.fields.get("pvc_status")
        else:
            self.call, self.called_by_tester = packet, sent

    def _agreed(self, kind: type[Packet], answer: Packet, *, by_tester: bool) -> int | None:
        """The value of the direction from the router: its octet is that of the router's role."""
        assert self.call is not None
        role = "called" if self.called_by_tester else "calling"
        asked, answered = (_value(packet, kind, role) for packet in (self.call, answer))
        if asked is None:
            return answered
        if answered is None:
            # By X.25 6.12 the called DTE agrees by saying nothing; a router may mean the default.
            return asked if by_tester else max(asked, _DEFAULTS[kind])
        low, high = sorted((asked, _DEFAULTS[kind]))
        self.left_out = self.left_out or (by_tester and not low <= answered <= high)
        return answered

    def reset(self, sent: bool, packet: Packet) -> None:
        if sent:
            if isinstance(packet, ResetRequest):
                self.tester_resets = not self.router_resets
            else:
                self.left_out = self.left_out or not self.router_resets
            self.router_resets = False
            return
        if isinstance(packet, ResetRequest):
            self.router_resets = not self.tester_resets
        self.tester_resets = False
        self.next_p_s = self.edge = 0

    def take_p_r(self, packet: Packet) -> None:
        if self.tester_resets or self.router_resets:
            return
        modulus, p_r = _modulus(packet), packet.fields["p_r"]
        ahead = (p_r - self.edge) % modulus
        if ahead > (self.next_p_s - self.edge) % modulus:
            self.left_out = True
        self.edge = p_r

    def data(self, packet: Packet) -> str | None:
        """Take Data of the router; what is wrong with it."""
        if not self.up or self.left_out:
            return None
        modulus, p_s = _modulus(packet), packet.fields["p_s"]
        expected, self.next_p_s = self.next_p_s, (p_s + 1) % modulus
        if p_s != expected:
            return "number"
        if self.window is not None and (p_s - self.edge) % modulus >= self.window:
            return "window"
        if self.size is not None and len(packet.fields.get("user_data") or b"") > self.size:
            return "size"
        return None


def _value(packet: Packet, kind: type[Packet], role: str) -> int | None:
    for facility in packet.fields.get("facilities") or []:
        if isinstance(facility, kind):
            value: int | None = facility.fields.get(role)
            return value
    return None


def _modulus(packet: Packet) -> int:
    return 128 if packet.fields.get("modulo") == 2 else 8
