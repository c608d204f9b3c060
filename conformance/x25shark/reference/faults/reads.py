# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that show at the second or third packet of one TCP read, by its type and by the side, or
by what is ahead of it.
"""

from collections.abc import Callable
from typing import Any

from ..channel import Channel
from ..codes import Type
from ..connection import Connection
from .common import packet_type
from .registry import Patch, fault

SECOND, THIRD, FOURTH = 2, 3, 4


def _loses(patch: Patch, place: int, kind: int, of_side: Callable[[Channel], bool]) -> None:
    """The packet at this place of a read is lost if it is of this type, from such a side."""
    number = [0]

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        number[0] = 0
        original(connection, octets)

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        number[0] += 1
        is_lost = number[0] == place and packet_type(channel, octets) == kind
        if not is_lost or not of_side(channel):
            original(channel, octets)


def loses_behind(patch: Patch, ahead: int, kind: int, of_side: Callable[[Channel], bool]) -> None:
    """A packet of this type is lost in one read behind one of the other type, from such a side."""
    before: list[int | None] = [None]

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        before[0] = None
        original(connection, octets)

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        now = packet_type(channel, octets)
        is_lost, before[0] = before[0] == ahead and now == kind, now
        if not is_lost or not of_side(channel):
            original(channel, octets)


def _calling(channel: Channel) -> bool:
    return channel.accepted


def _called(channel: Channel) -> bool:
    return not channel.accepted


@fault("BUG-XOT-140")
def third_interrupt_of_a(patch: Patch) -> None:
    _loses(patch, THIRD, Type.INTERRUPT, _calling)


@fault("BUG-XOT-141")
def third_interrupt_of_b(patch: Patch) -> None:
    _loses(patch, THIRD, Type.INTERRUPT, _called)


@fault("BUG-XOT-142")
def second_rr_of_b(patch: Patch) -> None:
    _loses(patch, SECOND, Type.RR, _called)


@fault("BUG-XOT-143")
def second_rr_of_a(patch: Patch) -> None:
    _loses(patch, SECOND, Type.RR, _calling)


@fault("BUG-XOT-144")
def second_rnr_of_b(patch: Patch) -> None:
    _loses(patch, SECOND, Type.RNR, _called)


@fault("BUG-XOT-145")
def third_confirmation_of_b(patch: Patch) -> None:
    _loses(patch, THIRD, Type.INTERRUPT_CONFIRMATION, _called)


@fault("BUG-XOT-146")
def interrupt_behind_a_reset_confirmation(patch: Patch) -> None:
    loses_behind(patch, Type.RESET_CONFIRMATION, Type.INTERRUPT, _calling)


@fault("BUG-XOT-147")
def reset_behind_a_reset_confirmation(patch: Patch) -> None:
    loses_behind(patch, Type.RESET_CONFIRMATION, Type.RESET, _called)


@fault("BUG-XOT-148")
def reset_behind_an_interrupt_confirmation(patch: Patch) -> None:
    loses_behind(patch, Type.INTERRUPT_CONFIRMATION, Type.RESET, _called)


@fault("BUG-XOT-149")
def data_behind_an_interrupt_confirmation(patch: Patch) -> None:
    loses_behind(patch, Type.INTERRUPT_CONFIRMATION, Type.DATA, _called)


@fault("BUG-XOT-150")
def third_rr_of_b(patch: Patch) -> None:
    _loses(patch, THIRD, Type.RR, _called)


@fault("BUG-XOT-151")
def fourth_interrupt_of_a(patch: Patch) -> None:
    _loses(patch, FOURTH, Type.INTERRUPT, _calling)


@fault("BUG-XOT-152")
def second_confirmation_of_b(patch: Patch) -> None:
    _loses(patch, SECOND, Type.INTERRUPT_CONFIRMATION, _called)


@fault("BUG-XOT-153")
def data_of_a_behind_two_others(patch: Patch) -> None:
    others = [0]

    @patch.wrap(Connection, "octets_received")
    def octets_received(original: Any, connection: Connection, octets: bytes) -> None:
        others[0] = 0
        original(connection, octets)

    @patch.wrap(Channel, "receive")
    def receive(original: Any, channel: Channel, octets: bytes) -> None:
        is_data = packet_type(channel, octets) == Type.DATA
        others[0] += not is_data
        if not is_data or others[0] < SECOND or not _calling(channel):
            original(channel, octets)


@fault("BUG-XOT-154")
def twentieth_packet_of_one_read(patch: Patch) -> None:
    _loses(patch, 20, Type.DATA, _calling)
