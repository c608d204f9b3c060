# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of permanent circuits over XOT (RFC 1613 6.5)."""

from collections import deque
from typing import Any

from .. import codec, pvc_setup
from ..channel import Channel
from ..channel_rules import Rules
from ..circuit import Circuit
from ..codec import Clear, Data
from ..codes import ClearCause, Diag, ResetCause, Type
from ..connection import Connection
from ..data_flow import DataFlow
from ..interrupts import Interrupts
from ..ports import Wire
from ..pvc import PvcEnd, PvcTable
from ..pvc_setup import Initiator, Responder, Setup, Status
from ..relay import Relay
from ..relay_local import Direction
from ..resets import Resets
from ..router import Router
from ..tables import UNDEFINED, D, P
from .common import keep, leak, packet_type
from .registry import Patch, fault


@fault("BUG-XOT-37")
def name_lengths(patch: Patch) -> None:
    patch.replace(pvc_setup, "names_fit", lambda n, m, available: True)


@fault("BUG-XOT-38")
def no_reset(patch: Patch) -> None:
    patch.replace(PvcEnd, "announce", lambda self, channel: None)


@fault("BUG-XOT-39")
def swaps_directions(patch: Patch) -> None:
    @patch.wrap(Responder, "values_fit")
    def values_fit(original: Any, responder: Responder, setup: Setup) -> bool:
        swapped = setup._replace(
            window_in=setup.window_out,
            window_out=setup.window_in,
            size_in=setup.size_out,
            size_out=setup.size_in,
        )
        return bool(original(responder, swapped))


@fault("BUG-XOT-40")
def retries(patch: Patch) -> None:
    patch.replace(Initiator, "retry_pause", lambda self: 0.02)


@fault("BUG-XOT-182")
def retries_at_once_without_an_answer(patch: Patch) -> None:
    @patch.wrap(Initiator, "answered")
    def answered(original: Any, initiator: Initiator, channel: Channel, octets: bytes) -> None:
        vars(initiator)["answered"] = True
        original(initiator, channel, octets)

    @patch.wrap(Initiator, "retry_pause")
    def retry_pause(original: Any, initiator: Initiator) -> float:
        return float(original(initiator)) if vars(initiator).pop("answered", False) else 0.02


def send_on_all(patch: Patch) -> None:
    """A PVC keeps the connections it had, and sends Data on each."""

    @patch.wrap(PvcEnd, "up")
    def up(original: Any, end: PvcEnd, channel: Channel) -> None:
        older: list[Channel] = vars(end).setdefault("older", [])
        if end.channel is not None:
            older.append(end.channel)
        original(end, channel)

    @patch.wrap(DataFlow, "forward_data")
    def forward_data(original: Any, flow: DataFlow, data: Data) -> None:
        channel = flow.channel
        original(flow, data)
        for one in vars(channel.user).get("older", []):
            if one is not channel:
                original(one.flow, data)


@fault("BUG-XOT-41")
def second_connection(patch: Patch) -> None:
    patch.replace(Responder, "is_taken", lambda self: False)
    send_on_all(patch)


@fault("BUG-XOT-42")
def forwards_clear(patch: Patch) -> None:
    types = (Type.CALL, Type.ACCEPT, Type.CLEAR, Type.CLEAR_CONFIRMATION)

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        end = channel.user
        other = end.partner.channel if isinstance(end, PvcEnd) and end.partner else None
        if other is not None and channel.permanent and packet_type(channel, octets) in types:
            other.send(bytes((octets[0] & 0xF0 | other.lcn >> 8, other.lcn & 0xFF)) + octets[2:])
        else:
            original(channel, octets)


@fault("BUG-XOT-49")
def collision(patch: Patch) -> None:
    patch.replace(Initiator, "keeps_own", lambda self: True)
    send_on_all(patch)


@fault("BUG-XOT-52")
def asks_with_status(patch: Patch) -> None:
    @patch.wrap(Initiator, "setup")
    def setup(original: Any, initiator: Initiator, status: int) -> Setup:
        asked: Setup = original(initiator, status)
        return asked._replace(status=0x14)


@fault("BUG-XOT-53")
def like_a_call(patch: Patch) -> None:
    @patch.wrap(Router, "pvc_setup_received")
    def pvc_setup_received(original: Any, router: Router, channel: Channel, octets: bytes) -> bool:
        if router.settings.pvcs:
            return bool(original(router, channel, octets))
        to = router.settings.routes[0].to

        def connected(wire: Wire) -> Connection:
            connection = router.new_connection(wire, accepted=False)
            connection.channel.send(octets)
            return connection

        router.network.connect(to.host, to.port, connected, lambda _reason: None)
        return True


@fault("BUG-XOT-63")
def local_confirmation(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "interrupt_received")
    def interrupt_received(original: Any, end: PvcEnd, channel: Channel, octets: bytes) -> None:
        original(end, channel, octets)
        channel.interrupts.confirm()


@fault("BUG-XOT-64")
def numbers_of_the_partner(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "cleared")
    def cleared(original: Any, end: PvcEnd, channel: Channel, clear: Clear) -> None:
        far = end.partner.channel if end.partner is not None else None
        if far is not None:
            vars(far)["number"] = far.v_s
        original(end, channel, clear)

    @patch.wrap(PvcEnd, "reset_confirmed")
    def reset_confirmed(original: Any, end: PvcEnd, channel: Channel) -> None:
        channel.v_s = channel.p_r_received = vars(channel).get("number", 0)
        original(end, channel)


@fault("BUG-XOT-65")
def exchanged_sizes(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "join")
    def join(original: Any, end: PvcEnd) -> None:
        own, channel = end.settings, end.channel
        if channel is not None:
            channel.size_in = 1 << own.packet_size_out
            channel.size_out = 1 << own.packet_size_in
        original(end)


@fault("BUG-XOT-71")
def exchanged_windows(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "join")
    def join(original: Any, end: PvcEnd) -> None:
        own, channel = end.settings, end.channel
        if channel is not None:
            channel.window_in, channel.window_out = own.window_out, own.window_in
        original(end)


@fault("BUG-XOT-66")
def refusal_is_acceptance(patch: Patch) -> None:
    @patch.wrap(Initiator, "answered")
    def answered(original: Any, initiator: Initiator, channel: Channel, octets: bytes) -> None:
        original(initiator, channel, octets[:4] + b"\0" + octets[5:])


@fault("BUG-XOT-67")
def wrong_numbers_of_a_pvc(patch: Patch) -> None:
    @patch.wrap(Resets, "error")
    def reset_error(original: Any, resets: Resets, diagnostic: int) -> None:
        if not resets.channel.permanent or diagnostic != Diag.INVALID_P_S:
            original(resets, diagnostic)


@fault("BUG-XOT-68")
def return_is_not_told(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "up")
    def up(original: Any, end: PvcEnd, channel: Channel) -> None:
        partner = end.partner.channel if end.partner is not None else None
        if partner is not None:
            vars(partner.resets)["reset"] = lambda cause, diagnostic: None
        original(end, channel)
        if partner is not None:
            del vars(partner.resets)["reset"]


@fault("BUG-XOT-69")
def one_direction_dropped(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "reset_partner")
    def reset_partner(original: Any, end: PvcEnd, cause: int, diagnostic: int) -> None:
        vars(end)["towards"] = lambda: None
        try:
            original(end, cause, diagnostic)
        finally:
            del vars(end)["towards"]


@fault("BUG-XOT-70")
def cleared_by_t12(patch: Patch) -> None:
    @patch.wrap(Resets, "t12_expired")
    def t12_expired(original: Any, resets: Resets) -> None:
        if resets.channel.permanent and resets.channel.repeats:
            resets.channel.clearing.error(Diag.TIME_RESET)
        else:
            original(resets)


@fault("BUG-XOT-74")
def diagnostic_lost(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "reset_received")
    def reset_received(
        original: Any, end: PvcEnd, channel: Channel, cause: int, diagnostic: int
    ) -> None:
        original(end, channel, cause, Diag.NONE)


@fault("BUG-XOT-75")
def as_far_as_its_own(patch: Patch) -> None:
    @patch.wrap(PvcTable, "find")
    def find(original: Any, table: PvcTable, setup: Setup) -> tuple[PvcEnd | None, int]:
        for name, _lcn in table.ends:
            if setup.responder_name.lower().startswith(name):
                setup = setup._replace(responder_name=name)
        found: tuple[PvcEnd | None, int] = original(table, setup)
        return found


@fault("BUG-XOT-120")
def as_far_as_the_responders(patch: Patch) -> None:
    @patch.wrap(PvcTable, "find")
    def find(original: Any, table: PvcTable, setup: Setup) -> tuple[PvcEnd | None, int]:
        for name, lcn in table.ends:
            if name.startswith(setup.responder_name.lower()) and lcn == setup.responder_lcn:
                setup = setup._replace(responder_name=name)
        found: tuple[PvcEnd | None, int] = original(table, setup)
        return found


@fault("BUG-XOT-121")
def as_far_as_the_initiators(patch: Patch) -> None:
    @patch.wrap(Responder, "check")
    def check(original: Any, responder: Responder, setup: Setup) -> int:
        own = responder.end.settings.remote_name
        if own.lower().startswith(setup.initiator_name.lower()):
            setup = setup._replace(initiator_name=own)
        return int(original(responder, setup))


@fault("BUG-XOT-76")
def unreadable_is_acceptance(patch: Patch) -> None:
    @patch.wrap(Initiator, "answered")
    def answered(original: Any, initiator: Initiator, channel: Channel, octets: bytes) -> None:
        if len(octets) < pvc_setup.SHORTEST:
            octets = pvc_setup.encode_setup(channel.lcn, initiator.setup(Status.WAITING))
        original(initiator, channel, octets)


@fault("BUG-XOT-122")
def restart_resets_a_circuit(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        original(channel, octets)
        end = channel.user
        if isinstance(end, PvcEnd) and packet_type(channel, octets) == Type.RESTART:
            channel.resets.reset(ResetCause.NETWORK_OPERATIONAL, Diag.NONE)
            end.reset_partner(ResetCause.NETWORK_OPERATIONAL, Diag.NONE)


@fault("BUG-XOT-123")
def bad_header_is_not_told(patch: Patch) -> None:
    @patch.wrap(Connection, "framing_failed")
    def framing_failed(original: Any, connection: Connection) -> None:
        end = connection.channel.user
        if isinstance(end, PvcEnd):
            vars(end)["reset_partner"] = lambda cause, diagnostic: None
        original(connection)
        if isinstance(end, PvcEnd):
            del vars(end)["reset_partner"]


@fault("BUG-XOT-124")
def undefined_on_a_circuit(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Any, channel: Channel, kind: int, octets: bytes) -> None:
        if channel.permanent and kind == UNDEFINED:
            channel.discard()
        else:
            original(channel, kind, octets)


@fault("BUG-XOT-125")
def confirms_a_collision(patch: Patch) -> None:
    @patch.wrap(Resets, "on_reset")
    def on_reset(original: Any, resets: Resets, octets: bytes) -> None:
        channel = resets.channel
        collision = channel.permanent and channel.d is D.RESET_SENT
        original(resets, octets)
        if collision:
            channel.send(codec.header(channel.modulo, channel.lcn, Type.RESET_CONFIRMATION))


@fault("BUG-XOT-126")
def held_for_an_end_that_is_away(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "data_received")
    def data_received(original: Any, end: PvcEnd, channel: Channel, data: Data) -> None:
        partner = end.partner
        if partner is None or partner.channel is not None:
            original(end, channel, data)
        else:
            vars(partner).setdefault("held", []).append(data)
            channel.flow.acknowledge(1)

    @patch.wrap(PvcEnd, "reset_confirmed")
    def reset_confirmed(original: Any, end: PvcEnd, channel: Channel) -> None:
        original(end, channel)
        for data in vars(end).pop("held", ()):
            channel.flow.send_data(data.q, data.d, data.m, data.user_data)


@fault("BUG-XOT-127")
def data_of_circuits_is_not_counted(patch: Patch) -> None:
    @patch.wrap(DataFlow, "on_data")
    def on_data(original: Any, flow: DataFlow, octets: bytes) -> None:
        values = flow.channel.interface.values
        before = values["x25StatInDataPackets"]
        original(flow, octets)
        if flow.channel.permanent:
            values["x25StatInDataPackets"] = before


@fault("BUG-XOT-88")
def call_ends_beside_a_circuit(patch: Patch) -> None:
    @patch.wrap(Relay, "released")
    def released(original: Any, relay: Relay, channel: Channel) -> None:
        original(relay, channel)
        for end in vars(relay.router)["pvcs"].ends.values():
            if end.channel is not None and end.channel.interface is channel.interface:
                end.channel.resets.reset(ResetCause.OUT_OF_ORDER, Diag.NONE)


def _calls(end: PvcEnd) -> list[Relay]:
    """Calls in data transfer."""
    calls = [one for one in end.router.circuits if isinstance(one, Relay)]
    return [one for one in calls if one.near.p is P.DATA_TRANSFER]


@fault("BUG-XOT-89")
def circuit_is_reset_beside_a_call(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "reset_received")
    def reset_received(original: Any, end: PvcEnd, channel: Channel, *said: int) -> None:
        original(end, channel, *said)
        for call in _calls(end):
            call.near.resets.reset(*said)


@fault("BUG-XOT-90")
def circuit_goes_beside_a_call(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "cleared")
    def cleared(original: Any, end: PvcEnd, channel: Channel, clear: Clear) -> None:
        original(end, channel, clear)
        for call in _calls(end):
            call.near.clearing.error(Diag.NONE, ClearCause.OUT_OF_ORDER)


@fault("BUG-SEG-18")
def empty_part(patch: Patch) -> None:
    @patch.wrap(Direction, "data")
    def data(original: Any, direction: Direction, data: Data) -> None:
        if data.m and not data.user_data and not direction.segmenter.waiting:
            direction.owed.append((direction.made, False))
            direction.pump()
        else:
            original(direction, data)


@fault("BUG-XOT-130")
def octet_behind_a_confirmation(patch: Patch) -> None:
    @patch.wrap(Interrupts, "on_confirmation")
    def on_confirmation(original: Any, interrupts: Interrupts, octets: bytes) -> None:
        original(interrupts, octets[:3] if interrupts.channel.permanent else octets)


@fault("BUG-XOT-131")
def any_modulo_on_a_circuit(patch: Patch) -> None:
    @patch.wrap(Rules, "gfi_is_valid")
    def gfi_is_valid(original: Any, rules: Rules, octets: bytes, packet_type: int) -> bool:
        return rules.channel.permanent or bool(original(rules, octets, packet_type))


@fault("BUG-XOT-132")
def interrupt_for_an_end_amid_a_reset(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "interrupt_received")
    def interrupt_received(original: Any, end: PvcEnd, channel: Channel, octets: bytes) -> None:
        other = end.partner.channel if end.partner is not None else None
        if other is None or other.ready:
            original(end, channel, octets)
        else:
            channel.interrupts.confirm()


@fault("BUG-XOT-133")
def takes_smaller_values(patch: Patch) -> None:
    @patch.wrap(Responder, "values_fit")
    def values_fit(_original: Any, responder: Responder, setup: Setup) -> bool:
        own = responder.end.settings
        return (
            setup.window_in <= own.window_out
            and setup.window_out <= own.window_in
            and setup.size_in <= own.packet_size_out
            and setup.size_out <= own.packet_size_in
        )


@fault("BUG-XOT-159")
def names_below_64_octets(patch: Patch) -> None:
    @patch.wrap(pvc_setup, "names_fit")
    def names_fit(original: Any, n: int, m: int, available: int) -> bool:
        return max(n, m) < 64 and bool(original(n, m, available))


@fault("BUG-XOT-169")
def answer_in_one_read(patch: Patch) -> None:
    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        channel = connection.channel
        whole = len(octets) >= 4 and len(octets) == 4 + int.from_bytes(octets[2:4], "big")
        if channel.awaits_setup and isinstance(channel.user, PvcEnd) and not whole:
            channel.user.initiator.failed(channel)
        else:
            original(connection, octets)


@fault("BUG-XOT-183")
def place_of_a_refused_setup(patch: Patch) -> None:
    @patch.wrap(PvcTable, "refuse")
    def refuse(original: Any, table: PvcTable, channel: Channel, setup: Setup, status: int) -> None:
        leak(channel)
        original(table, channel, setup, status)


@fault("BUG-XOT-184")
def some_statuses_alone_refuse(patch: Patch) -> None:
    @patch.wrap(Initiator, "answered")
    def answered(original: Any, initiator: Initiator, channel: Channel, octets: bytes) -> None:
        status = Status.WAITING if octets[4:5] < b"\x13" else octets[4]
        original(initiator, channel, octets[:4] + bytes((status,)) + octets[5:])


@fault("BUG-XOT-185")
def reject_resets_a_circuit(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        if channel.permanent and channel.ready and packet_type(channel, octets) == Type.REJ:
            channel.resets.error(Diag.REJ_NOT_SUBSCRIBED)
        else:
            original(channel, octets)


@fault("BUG-XOT-186")
def obeys_a_reject_on_a_circuit(patch: Patch) -> None:
    @patch.wrap(Channel, "send")
    def send(original: Any, channel: Channel, octets: bytes) -> None:
        if channel.permanent and packet_type(channel, octets) == Type.DATA:
            vars(channel).setdefault("sent", deque(maxlen=7)).append(octets)
        original(channel, octets)

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        original(channel, octets)
        if channel.permanent and channel.ready and packet_type(channel, octets) == Type.REJ:
            p_r = octets[2] >> 5
            again = (channel.v_s - p_r) % channel.modulo if channel.p_r_is_valid(p_r) else 0
            sent = list(vars(channel).get("sent", ()))
            for packet in sent[len(sent) - again :]:
                channel.send(packet)


def _is_own(circuit: Circuit) -> bool:
    """A permanent circuit that the router has set up itself."""
    return circuit.permanent and isinstance(circuit, Channel) and not circuit.accepted


@fault("BUG-XOT-187")
def numbers_of_its_own_circuit(patch: Patch) -> None:
    keep(patch, "v_s", _is_own)


@fault("BUG-XOT-188")
def interrupts_of_its_own_circuit(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "interrupt_received")
    def interrupt_received(original: Any, end: PvcEnd, channel: Channel, octets: bytes) -> None:
        if not _is_own(channel):
            original(end, channel, octets)


@fault("BUG-XOT-189")
def values_in_fewer_bits(patch: Patch) -> None:
    @patch.wrap(Responder, "check")
    def check(original: Any, responder: Responder, setup: Setup) -> int:
        short = setup._replace(
            window_in=setup.window_in & 0x7F,
            window_out=setup.window_out & 0x7F,
            size_in=setup.size_in & 0x0F,
            size_out=setup.size_out & 0x0F,
        )
        return int(original(responder, short))
