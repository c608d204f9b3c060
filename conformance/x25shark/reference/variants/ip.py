# SPDX-License-Identifier: GPL-2.0-or-later
"""Encapsulations, circuits and datagrams of IP as a system may have them (RFC 1356)."""

from collections.abc import Callable
from dataclasses import replace

from .. import ipv4
from ..channel import Channel
from ..codec import Call
from ..codes import Diag
from ..ip_config import NLPID, NULL, IpSettings
from ..ip_end import SNAP_IP, IpEnd
from ..router import Router
from ..terminal import Terminal
from .registry import Original, Patch, variant

LEAST_MTU = 576
#: ICMP Router Solicitation (RFC 1256): type, code, checksum, reserved.
SOLICITATION = b"\x0a\x00\xf5\xff\x00\x00\x00\x00"


def _settings(patch: Patch, change: Callable[[IpSettings], IpSettings]) -> None:
    """The IP end is configured otherwise."""

    @patch.wrap(IpEnd, "__init__")
    def init(original: Original, end: IpEnd, router: Router) -> None:
        original(end, router)
        end.ip = change(end.ip)


@variant("MAY-IP-01")
def no_other_form(patch: Patch) -> None:
    _settings(patch, lambda ip: replace(ip, encapsulations=frozenset((NLPID,))))


@variant("MAY-IP-02")
def diagnostic_0(patch: Patch) -> None:
    @patch.wrap(IpEnd, "refuse")
    def refuse(original: Original, end: IpEnd, channel: Channel, diagnostic: int) -> None:
        original(end, channel, Diag.NONE)


@variant("MAY-IP-03")
def small_mtu(patch: Patch) -> None:
    _settings(patch, lambda ip: replace(ip, mtu=LEAST_MTU))


@variant("MAY-IP-04")
def one_circuit_for_each_protocol(patch: Patch) -> None:
    @patch.wrap(IpEnd, "takes")
    def takes(original: Original, end: IpEnd, form: str) -> bool:
        others = [one for one in end.router.circuits if isinstance(one, IpEnd) and one is not end]
        return bool(original(end, form)) and all(one.form != form for one in others)

    @patch.wrap(IpEnd, "refuse")
    def refuse(original: Original, end: IpEnd, channel: Channel, diagnostic: int) -> None:
        known = end.form_of(end.call.user_data) in end.ip.encapsulations
        original(end, channel, Diag.NONE if known else diagnostic)

    # Not up yet, so it has no form that another call could meet.
    patch.replace(IpEnd, "form", "")


@variant("MAY-IP-05")
def answers_on_another_circuit(patch: Patch) -> None:
    """On the circuit of the same form that came up last."""

    @patch.wrap(IpEnd, "start")
    def start(original: Original, end: IpEnd, channel: Channel) -> None:
        original(end, channel)
        vars(end)["channel"] = channel
        vars(end)["number"] = vars(end.router)["numbers"] = vars(end.router).get("numbers", 0) + 1

    @patch.wrap(IpEnd, "send_unit")
    def send_unit(original: Original, end: IpEnd, channel: Channel, unit: bytes) -> None:
        same = [
            one
            for one in end.router.circuits
            if isinstance(one, IpEnd) and one.form == end.form and vars(one).get("channel")
            if vars(one)["channel"].ready
        ]
        last = max(same, key=lambda one: vars(one)["number"], default=end)
        original(last, vars(last)["channel"], unit)


@variant("MAY-IP-06")
def answers_behind_snap(patch: Patch) -> None:
    @patch.wrap(IpEnd, "send_datagram")
    def send_datagram(
        original: Original, end: IpEnd, channel: Channel, datagram: bytes, identifier: bytes
    ) -> None:
        original(end, channel, datagram, SNAP_IP if end.form == NULL else identifier)


@variant("MAY-IP-07")
def own_datagrams(patch: Patch) -> None:
    @patch.wrap(IpEnd, "send_datagram")
    def send_datagram(
        original: Original, end: IpEnd, channel: Channel, datagram: bytes, identifier: bytes
    ) -> None:
        all_routers = b"\xe0\x00\x00\x02"
        own = ipv4.datagram_of(end.ip.address, all_routers, SOLICITATION, b"\0\1", 0)
        original(end, channel, own, identifier)
        original(end, channel, datagram, identifier)


@variant("MAY-IP-08")
def other_units_clear(patch: Patch) -> None:
    @patch.wrap(IpEnd, "identifier_of")
    def identifier_of(original: Original, end: IpEnd, unit: bytes) -> bytes | None:
        found: bytes | None = original(end, unit)
        if found is None:
            vars(end)["ended"] = True
        return found

    @patch.wrap(IpEnd, "unit_received")
    def unit_received(original: Original, end: IpEnd, channel: Channel, unit: bytes) -> None:
        original(end, channel, unit)
        if vars(end).get("ended"):
            end.idle(channel)


@variant("MAY-IP-09")
def no_snap_within_null(patch: Patch) -> None:
    @patch.wrap(IpEnd, "identifier_of")
    def identifier_of(original: Original, end: IpEnd, unit: bytes) -> bytes | None:
        found: bytes | None = original(end, unit)
        return None if found == SNAP_IP else found


@variant("MAY-IP-10")
def cut_datagrams_clear(patch: Patch) -> None:
    """Those with fewer octets than their header says."""

    @patch.wrap(IpEnd, "unit_received")
    def unit_received(original: Original, end: IpEnd, channel: Channel, unit: bytes) -> None:
        identifier = end.identifier_of(unit)
        datagram = unit[len(identifier) :] if identifier is not None else b""
        if datagram and len(datagram) < int.from_bytes(datagram[2:4]):
            end.idle(channel)
            return
        original(end, channel, unit)


@variant("MAY-IP-11")
def the_newer_circuit_counts(patch: Patch) -> None:
    @patch.wrap(IpEnd, "start")
    def start(original: Original, end: IpEnd, channel: Channel) -> None:
        original(end, channel)
        vars(end)["channel"] = channel
        for one in tuple(end.router.circuits):
            if isinstance(one, IpEnd) and one is not end and one.form == end.form:
                older = vars(one).get("channel")
                if older is not None:
                    one.idle(older)


@variant("MAY-IP-12")
def a_reset_clears(patch: Patch) -> None:
    @patch.wrap(IpEnd, "reset_received")
    def reset_received(
        original: Original, end: IpEnd, channel: Channel, cause: int, diagnostic: int
    ) -> None:
        original(end, channel, cause, diagnostic)
        end.idle(channel)


@variant("MAY-IP-13", number=0.01)
def the_newest_circuit_of_all_counts(patch: Patch) -> None:
    """Whatever its form; the others are cleared when it has been up for a moment."""

    @patch.wrap(IpEnd, "start")
    def start(original: Original, end: IpEnd, channel: Channel) -> None:
        original(end, channel)
        vars(end)["channel"] = channel
        others = [one for one in end.router.circuits if isinstance(one, IpEnd) and one is not end]

        def clear() -> None:
            for one in others:
                older = vars(one).get("channel")
                if older is not None and older.ready:
                    one.idle(older)
            channel.router.flush()

        channel.start_timer("newest", patch.number, clear)


@variant("MAY-IP-14")
def modulo_128_refused(patch: Patch) -> None:
    @patch.wrap(IpEnd, "call_received")
    def call_received(original: Original, end: IpEnd, channel: Channel, call: Call) -> None:
        if call.modulo == 8:
            original(end, channel, call)
            return
        end.call = call
        end.refuse(channel, Diag.NONE)


@variant("MAY-IP-15")
def an_interrupt_clears(patch: Patch) -> None:
    @patch.wrap(Terminal, "interrupt_received")
    def interrupt_received(
        original: Original, end: Terminal, channel: Channel, user_data: bytes
    ) -> None:
        if isinstance(end, IpEnd):
            end.idle(channel)
        else:
            original(end, channel, user_data)
