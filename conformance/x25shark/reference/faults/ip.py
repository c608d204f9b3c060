# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the IP end: datagrams, their encapsulations and their circuits (RFC 1356)."""

from collections.abc import Callable
from typing import Any

from .. import ipv4
from ..channel import Channel
from ..codec import Call, Data
from ..codes import Diag
from ..ip_config import NLPID, NULL, SNAP
from ..ip_end import IP, SNAP_IP, IpEnd
from ..relay_local import Segment
from ..terminal import Terminal
from .registry import Patch, fault

State = dict[str, Any]


def _segments(patch: Patch, change: Callable[[list[Segment], int], list[Segment]]) -> None:
    """The packets of a unit are changed; the number is the packet size."""

    @patch.wrap(IpEnd, "segments")
    def segments(original: Any, end: IpEnd, unit: bytes, size: int) -> list[Segment]:
        return change(original(end, unit, size), size)


@fault("BUG-IP-01")
def m_bit_missing(patch: Patch) -> None:
    _segments(patch, lambda segments, size: [one._replace(m=False) for one in segments])


@fault("BUG-IP-02")
def joined_over_a_reset(patch: Patch) -> None:
    patch.replace(IpEnd, "drop", lambda end: end.queue.clear())


@fault("BUG-IP-03")
def one_octet_of_user_data(patch: Patch) -> None:
    @patch.wrap(IpEnd, "form_of")
    def form_of(original: Any, end: IpEnd, user_data: bytes) -> Any:
        form = original(end, user_data)
        return form if form == SNAP or len(user_data) == 1 else None


@fault("BUG-IP-04")
def never_idle(patch: Patch) -> None:
    patch.replace(IpEnd, "spoke", lambda end, channel: None)


@fault("BUG-IP-05")
def identifier_where_none_is(patch: Patch) -> None:
    @patch.wrap(IpEnd, "send_unit")
    def send_unit(original: Any, end: IpEnd, channel: Channel, unit: bytes) -> None:
        original(end, channel, IP + unit if end.form == NLPID else unit)


def _identifier_sent(patch: Patch, instead: bytes) -> None:
    @patch.wrap(IpEnd, "send_datagram")
    def send_datagram(
        original: Any, end: IpEnd, channel: Channel, datagram: bytes, identifier: bytes
    ) -> None:
        original(end, channel, datagram, instead if end.form == NULL else identifier)


@fault("BUG-IP-06")
def identifier_missing(patch: Patch) -> None:
    _identifier_sent(patch, b"")


@fault("BUG-IP-07")
def wrong_identifier(patch: Patch) -> None:
    _identifier_sent(patch, b"\x81")


@fault("BUG-IP-08")
def any_protocol(patch: Patch) -> None:
    @patch.wrap(IpEnd, "form_of")
    def form_of(original: Any, end: IpEnd, user_data: bytes) -> Any:
        return original(end, user_data) or NLPID


@fault("BUG-IP-09")
def accepted_and_cleared(patch: Patch) -> None:
    @patch.wrap(IpEnd, "refuse")
    def refuse(original: Any, end: IpEnd, channel: Channel, diagnostic: int) -> None:
        Terminal.call_received(end, channel, end.call)
        original(end, channel, diagnostic)


@fault("BUG-IP-10")
def wrong_diagnostic(patch: Patch) -> None:
    @patch.wrap(IpEnd, "refuse")
    def refuse(original: Any, end: IpEnd, channel: Channel, diagnostic: int) -> None:
        original(end, channel, Diag.CALLED_ADDRESS)


@fault("BUG-IP-11")
def sequence_without_an_end(patch: Patch) -> None:
    def change(segments: list[Segment], size: int) -> list[Segment]:
        return [one._replace(m=len(one.user_data) == size) for one in segments]

    _segments(patch, change)


@fault("BUG-IP-12")
def mtu_ignored(patch: Patch) -> None:
    patch.replace(ipv4, "fragments", lambda datagram, mtu: [datagram])


@fault("BUG-IP-13")
def no_more_than_1500(patch: Patch) -> None:
    @patch.wrap(IpEnd, "answer")
    def answer(original: Any, end: IpEnd, datagram: bytes) -> Any:
        return original(end, datagram) if len(datagram) <= 1500 else None


@fault("BUG-IP-14")
def one_place_for_all(patch: Patch) -> None:
    @patch.wrap(IpEnd, "start")
    def start(original: Any, end: IpEnd, channel: Channel) -> None:
        original(end, channel)
        state: State = vars(end.router)
        end.unit = state.setdefault("unit", end.unit)


@fault("BUG-IP-15")
def answers_on_the_last(patch: Patch) -> None:
    @patch.wrap(IpEnd, "start")
    def start(original: Any, end: IpEnd, channel: Channel) -> None:
        original(end, channel)
        state: State = vars(end.router)
        state["last"] = end, channel

    @patch.wrap(IpEnd, "send_unit")
    def send_unit(original: Any, end: IpEnd, channel: Channel, unit: bytes) -> None:
        state: State = vars(end.router)
        original(*state["last"], unit)


@fault("BUG-IP-16")
def answers_on_the_first(patch: Patch) -> None:
    @patch.wrap(IpEnd, "start")
    def start(original: Any, end: IpEnd, channel: Channel) -> None:
        original(end, channel)
        state: State = vars(end.router)
        if end.form == NLPID and len(end.router.circuits) == 1:
            state["first"] = end, channel

    @patch.wrap(IpEnd, "send_unit")
    def send_unit(original: Any, end: IpEnd, channel: Channel, unit: bytes) -> None:
        state: State = vars(end.router)
        if end.form == NLPID and "first" in state:
            end, channel = state["first"]
        original(end, channel, unit)


@fault("BUG-IP-17")
def form_of_the_last_call(patch: Patch) -> None:
    @patch.wrap(IpEnd, "identifier_of")
    def identifier_of(original: Any, end: IpEnd, unit: bytes) -> Any:
        others = [one for one in end.router.circuits if isinstance(one, IpEnd)]
        before, end.form = end.form, vars(end.router).get("form", others[-1].form)
        try:
            return original(end, unit)
        finally:
            end.form = before

    @patch.wrap(IpEnd, "start")
    def start(original: Any, end: IpEnd, channel: Channel) -> None:
        original(end, channel)
        state: State = vars(end.router)
        state["form"] = end.form


@fault("BUG-IP-18")
def answers_what_did_not_come(patch: Patch) -> None:
    @patch.wrap(IpEnd, "answer")
    def answer(original: Any, end: IpEnd, datagram: bytes) -> Any:
        state: State = vars(end)
        left, length = state.get("left", b""), int.from_bytes(datagram[2:4], "big")
        if len(datagram) < length:
            datagram += left[len(datagram) : length]
            message = datagram[20:22] + b"\0\0" + datagram[24:]
            right = ipv4.checksum(message).to_bytes(2, "big")
            datagram = datagram[:22] + right + datagram[24:]
        state["left"] = datagram
        return original(end, datagram)


@fault("BUG-IP-19")
def joined_over_a_clear(patch: Patch) -> None:
    @patch.wrap(IpEnd, "start")
    def start(original: Any, end: IpEnd, channel: Channel) -> None:
        original(end, channel)
        end.unit += vars(end.router).pop("half", b"")

    @patch.wrap(IpEnd, "released")
    def released(original: Any, end: IpEnd, channel: Channel) -> None:
        state: State = vars(end.router)
        state["half"] = bytes(getattr(end, "unit", b""))
        original(end, channel)


@fault("BUG-IP-20")
def qualified(patch: Patch) -> None:
    _segments(patch, lambda segments, size: [one._replace(q=True) for one in segments])


@fault("BUG-IP-21")
def idle_since_the_call(patch: Patch) -> None:
    @patch.wrap(IpEnd, "spoke")
    def spoke(original: Any, end: IpEnd, channel: Channel) -> None:
        state: State = vars(end)
        if not state.get("runs"):
            state["runs"] = True
            original(end, channel)


@fault("BUG-IP-22")
def any_identifier(patch: Patch) -> None:
    @patch.wrap(IpEnd, "identifier_of")
    def identifier_of(original: Any, end: IpEnd, unit: bytes) -> Any:
        found = original(end, unit)
        return IP if found is None else found


@fault("BUG-IP-23")
def snap_in_each_unit(patch: Patch) -> None:
    @patch.wrap(IpEnd, "identifier_of")
    def identifier_of(original: Any, end: IpEnd, unit: bytes) -> Any:
        if end.form != SNAP:
            return original(end, unit)
        return SNAP_IP if unit.startswith(SNAP_IP) else None


@fault("BUG-IP-24")
def full_is_more(patch: Patch) -> None:
    @patch.wrap(IpEnd, "data_received")
    def data_received(original: Any, end: IpEnd, channel: Channel, data: Data) -> None:
        full = len(data.user_data) == channel.size_in
        original(end, channel, data._replace(m=full or data.m))


@fault("BUG-IP-25")
def sequence_cut(patch: Patch) -> None:
    def change(segments: list[Segment], size: int) -> list[Segment]:
        if len(segments) < 2:
            return segments
        return [*segments[:-2], segments[-2]._replace(m=False)]

    _segments(patch, change)


@fault("BUG-IP-26")
def deaf_on_the_second(patch: Patch) -> None:
    @patch.wrap(IpEnd, "call_received")
    def call_received(original: Any, end: IpEnd, channel: Channel, call: Call) -> None:
        vars(end)["deaf"] = sum(isinstance(one, IpEnd) for one in end.router.circuits) > 1
        original(end, channel, call)

    @patch.wrap(IpEnd, "unit_received")
    def unit_received(original: Any, end: IpEnd, channel: Channel, unit: bytes) -> None:
        if not vars(end)["deaf"]:
            original(end, channel, unit)


@fault("BUG-IP-27")
def rest_behind_a_reset(patch: Patch) -> None:
    patch.replace(IpEnd, "drop", lambda end: end.unit.clear())


@fault("BUG-IP-28")
def rest_on_the_next_circuit(patch: Patch) -> None:
    @patch.wrap(IpEnd, "start")
    def start(original: Any, end: IpEnd, channel: Channel) -> None:
        original(end, channel)
        end.queue.extend(vars(end.router).pop("rest", ()))

    @patch.wrap(IpEnd, "released")
    def released(original: Any, end: IpEnd, channel: Channel) -> None:
        state: State = vars(end.router)
        state["rest"] = tuple(getattr(end, "queue", ()))
        original(end, channel)


@fault("BUG-IP-29")
def held_by_any_shut_window(patch: Patch) -> None:
    @patch.wrap(IpEnd, "send_unit")
    def send_unit(original: Any, end: IpEnd, channel: Channel, unit: bytes) -> None:
        others = [one for one in end.router.circuits if isinstance(one, IpEnd)]
        if not any(one.queue for one in others if one is not end):
            original(end, channel, unit)


@fault("BUG-IP-30")
def any_number_in_a_snap_header(patch: Patch) -> None:
    @patch.wrap(IpEnd, "form_of")
    def form_of(original: Any, end: IpEnd, user_data: bytes) -> Any:
        return SNAP if user_data[:1] == SNAP_IP[:1] else original(end, user_data)


@fault("BUG-IP-31")
def idle_only_the_first_time(patch: Patch) -> None:
    @patch.wrap(IpEnd, "start")
    def start(original: Any, end: IpEnd, channel: Channel) -> None:
        vars(channel)["used"] = vars(channel).get("used", 0) + 1
        original(end, channel)

    @patch.wrap(IpEnd, "spoke")
    def spoke(original: Any, end: IpEnd, channel: Channel) -> None:
        if vars(channel)["used"] == 1:
            original(end, channel)


@fault("BUG-IP-32")
def interrupt_not_confirmed(patch: Patch) -> None:
    @patch.wrap(Terminal, "interrupt_received")
    def interrupt_received(
        original: Any, end: Terminal, channel: Channel, user_data: bytes
    ) -> None:
        if not isinstance(end, IpEnd):
            original(end, channel, user_data)


@fault("BUG-IP-33")
def answers_lost_while_the_peer_is_busy(patch: Patch) -> None:
    @patch.wrap(IpEnd, "send_unit")
    def send_unit(original: Any, end: IpEnd, channel: Channel, unit: bytes) -> None:
        if not channel.peer_busy:
            original(end, channel, unit)


@fault("BUG-IP-34")
def size_of_the_other_direction(patch: Patch) -> None:
    @patch.wrap(IpEnd, "send_unit")
    def send_unit(original: Any, end: IpEnd, channel: Channel, unit: bytes) -> None:
        end.queue.extend(end.segments(unit, channel.size_in))
        end.writable(channel)


@fault("BUG-IP-35")
def m_bit_missing_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(IpEnd, "send_unit")
    def send_unit(original: Any, end: IpEnd, channel: Channel, unit: bytes) -> None:
        if channel.modulo == 8:
            original(end, channel, unit)
            return
        end.queue.extend(one._replace(m=False) for one in end.segments(unit, channel.size_out))
        end.writable(channel)


@fault("BUG-IP-36")
def m_bit_not_read_in_modulo_128(patch: Patch) -> None:
    @patch.wrap(IpEnd, "data_received")
    def data_received(original: Any, end: IpEnd, channel: Channel, data: Data) -> None:
        original(end, channel, data if channel.modulo == 8 else data._replace(m=False))
