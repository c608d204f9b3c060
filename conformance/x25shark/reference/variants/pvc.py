# SPDX-License-Identifier: GPL-2.0-or-later
"""Permanent circuits over XOT: what RFC 1613 6.5 leaves the initiator and the responder."""

from .. import pvc_setup
from ..channel import Channel
from ..codec import Clear
from ..codes import ResetCause, Type
from ..pvc import PvcEnd, PvcTable
from ..pvc_setup import Initiator, Responder, Setup, Status, encode_setup
from ..user import ChannelUser
from .connections import hang_up
from .registry import Original, Patch, variant

LATE_SECONDS = 0.05
XOT_PORT = 1998


@variant("MAY-PVC-01")
def reset_when_both_ends_are_there(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "announce")
    def announce(original: Original, end: PvcEnd, channel: Channel) -> None:
        partner = end.partner
        if partner is None or partner is end or partner.channel is not None:
            original(end, channel)


@variant("MAY-PVC-02")
def reset_a_moment_later(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "announce")
    def announce(original: Original, end: PvcEnd, channel: Channel) -> None:
        def reset() -> None:
            if end.channel is channel:
                original(end, channel)

        end.router.timers.start(LATE_SECONDS, reset)


@variant("MAY-PVC-03")
def refuse_by_a_close(patch: Patch) -> None:
    @patch.wrap(PvcTable, "refuse")
    def refuse(
        original: Original, table: PvcTable, channel: Channel, setup: Setup, status: int
    ) -> None:
        channel.wire.close()


@variant("MAY-PVC-04")
def values_of_its_own(patch: Patch) -> None:
    patch.replace(Responder, "values_fit", lambda responder, setup: True)


def refuse_as(patch: Patch, status: int, other: int) -> None:
    @patch.wrap(Responder, "check")
    def check(original: Original, responder: Responder, setup: Setup) -> int:
        found = int(original(responder, setup))
        return other if found == status else found


@variant("MAY-PVC-05")
def too_large_a_window_is_a_mismatch(patch: Patch) -> None:
    refuse_as(patch, Status.FLOW_CONTROL_UNSUPPORTED, Status.FLOW_CONTROL_MISMATCH)


@variant("MAY-PVC-06")
def the_newer_connection_counts(patch: Patch) -> None:
    patch.replace(Responder, "is_taken", lambda responder: False)

    @patch.wrap(PvcEnd, "up")
    def up(original: Original, end: PvcEnd, channel: Channel) -> None:
        older = end.channel
        if older is not None:
            older.user = ChannelUser()
            older.wire.close()
        original(end, channel)


@variant("MAY-PVC-07")
def another_version_is_no_setup(patch: Patch) -> None:
    @patch.wrap(PvcTable, "setup_received")
    def setup_received(
        original: Original, table: PvcTable, channel: Channel, octets: bytes
    ) -> bool:
        if octets[3:4] != bytes((pvc_setup.VERSION,)):
            channel.discard()
            return True
        return bool(original(table, channel, octets))


@variant("MAY-PVC-08")
def names_beyond_the_packet_are_no_setup(patch: Patch) -> None:
    @patch.wrap(PvcTable, "setup_received")
    def setup_received(
        original: Original, table: PvcTable, channel: Channel, octets: bytes
    ) -> bool:
        shortest = pvc_setup.SHORTEST
        if len(octets) < shortest or octets[5] + octets[8] + shortest != len(octets):
            channel.discard()
            return True
        return bool(original(table, channel, octets))


@variant("MAY-PVC-09")
def names_as_they_are_written(patch: Patch) -> None:
    @patch.wrap(PvcTable, "find")
    def find(original: Original, table: PvcTable, setup: Setup) -> tuple[PvcEnd | None, int]:
        end, status = original(table, setup)
        if end is not None and end.settings.name != setup.responder_name:
            return None, Status.NO_SUCH_INTERFACE
        return end, status


@variant("MAY-PVC-10")
def any_lcn_on_a_setup(patch: Patch) -> None:
    patch.replace(pvc_setup, "encode_setup", lambda lcn, setup: encode_setup(4000, setup))


@variant("MAY-PVC-11")
def own_spelling_of_the_names(patch: Patch) -> None:
    @patch.wrap(Responder, "reply")
    def reply(original: Original, responder: Responder, setup: Setup, status: int) -> Setup:
        answer: Setup = original(responder, setup, status)
        return answer._replace(
            initiator_name=answer.initiator_name.upper(),
            responder_name=answer.responder_name.upper(),
        )


def misplaced(patch: Patch, react: Original) -> None:
    """Packets of calls, which have no place on a permanent circuit."""
    kinds = (Type.CALL, Type.ACCEPT, Type.CLEAR, Type.CLEAR_CONFIRMATION)

    @patch.wrap(Channel, "process")
    def process(original: Original, channel: Channel, packet_type: int, octets: bytes) -> None:
        if channel.permanent and packet_type in kinds:
            react(channel)
        else:
            original(channel, packet_type, octets)


@variant("MAY-PVC-12")
def discard_packets_of_calls(patch: Patch) -> None:
    misplaced(patch, lambda channel: channel.discard())


@variant("MAY-PVC-13")
def close_at_packets_of_calls(patch: Patch) -> None:
    misplaced(patch, hang_up)


@variant("MAY-PVC-14")
def close_the_other_end(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "cleared")
    def cleared(original: Original, end: PvcEnd, channel: Channel, clear: Clear) -> None:
        mine = channel is end.channel
        original(end, channel, clear)
        if mine:
            close_partner(end)


@variant("MAY-PVC-19")
def close_the_other_end_behind_its_reset(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "cleared")
    def cleared(original: Original, end: PvcEnd, channel: Channel, clear: Clear) -> None:
        partner = end.partner
        stays = partner.channel if channel is end.channel and partner is not None else None
        original(end, channel, clear)

        def close() -> None:
            if stays is not None and partner is not None and partner.channel is stays:
                close_partner(end)

        end.router.timers.start(LATE_SECONDS, close)


def close_partner(end: PvcEnd) -> None:
    """Close the connection of the other end, which loses its circuit without a word."""
    partner = end.partner
    if partner is not None and partner is not end and partner.channel is not None:
        other, partner.channel = partner.channel, None
        other.user = ChannelUser()
        other.wire.close()
        partner.initiator.try_later()


def lost_end_is(patch: Patch, cause: int) -> None:
    @patch.wrap(PvcEnd, "cleared")
    def cleared(original: Original, end: PvcEnd, channel: Channel, clear: Clear) -> None:
        vars(end)["lost_with"] = cause
        original(end, channel, clear)
        vars(end).pop("lost_with")

    @patch.wrap(PvcEnd, "reset_partner")
    def reset_partner(original: Original, end: PvcEnd, known: int, diagnostic: int) -> None:
        original(end, vars(end).get("lost_with", known), diagnostic)


@variant("MAY-PVC-15")
def lost_end_is_network_out_of_order(patch: Patch) -> None:
    lost_end_is(patch, ResetCause.NETWORK_OUT_OF_ORDER)


@variant("MAY-PVC-16")
def lost_end_is_congestion(patch: Patch) -> None:
    lost_end_is(patch, ResetCause.NETWORK_CONGESTION)


@variant("MAY-PVC-17")
def no_setup_while_its_own_is_out(patch: Patch) -> None:
    @patch.wrap(Responder, "is_taken")
    def is_taken(original: Original, responder: Responder) -> bool:
        return responder.end.waiting is not None or bool(original(responder))


@variant("MAY-PVC-18")
def the_connection_of_the_other_router_counts(patch: Patch) -> None:
    patch.replace(Initiator, "keeps_own", lambda initiator: initiator.end.channel is None)


@variant("MAY-PVC-20")
def another_version_is_sent_back(patch: Patch) -> None:
    @patch.wrap(PvcTable, "refusal")
    def refusal(original: Original, table: PvcTable, setup: Setup, status: int) -> Setup:
        answer: Setup = original(table, setup, status)
        return answer._replace(version=setup.version) if setup.version else answer


@variant("MAY-PVC-21")
def own_spelling_in_its_own_setup(patch: Patch) -> None:
    @patch.wrap(Initiator, "setup")
    def setup(original: Original, initiator: Initiator, status: int) -> Setup:
        own: Setup = original(initiator, status)
        return own._replace(
            initiator_name=own.initiator_name.upper(), responder_name=own.responder_name.upper()
        )


@variant("MAY-PVC-22")
def values_that_it_cannot_support(patch: Patch) -> None:
    refuse_as(patch, Status.FLOW_CONTROL_MISMATCH, Status.FLOW_CONTROL_UNSUPPORTED)


@variant("MAY-PVC-23")
def no_such_circuit_in_another_case(patch: Patch) -> None:
    @patch.wrap(Responder, "check")
    def check(original: Original, responder: Responder, setup: Setup) -> int:
        own = responder.end.settings
        if (setup.initiator_name, setup.responder_name) != (own.remote_name, own.name):
            return Status.NO_SUCH_PVC
        return int(original(responder, setup))


@variant("MAY-PVC-24")
def opened_by_the_router_as_well(patch: Patch) -> None:
    @patch.wrap(PvcEnd, "cleared")
    def cleared(original: Original, end: PvcEnd, channel: Channel, clear: Clear) -> None:
        lost = channel is end.channel
        original(end, channel, clear)
        if lost and end.settings.peer is None and not end.router.stopping:
            end.pending = end.router.network.connect(
                channel.wire.peer, XOT_PORT, end.initiator.connected, lambda reason: given_up(end)
            )


def given_up(end: PvcEnd) -> None:
    end.pending = None
