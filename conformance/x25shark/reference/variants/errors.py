# SPDX-License-Identifier: GPL-2.0-or-later
"""How errors are answered: causes, diagnostics, and where X.25 or RFC 1613 leave a choice."""

from .. import codec
from ..addresses import Addresses
from ..channel import Channel
from ..channel_rules import Rules
from ..circuit import Circuit
from ..clearing import Clearing
from ..codec import Call, Clear, Data
from ..codes import LOCAL_TYPES, ClearCause, Diag, PacketError, ResetCause, Type
from ..connection import Connection
from ..data_flow import DataFlow
from ..facilities import Facilities
from ..framing import Framer
from ..relay import Relay
from ..relay_endtoend import EndToEndRelay
from ..resets import Resets
from ..router import Router
from ..tables import D, Do, P
from .registry import Original, Patch, variant

_MIRRORED = {18: 19, 19: 18, 21: 22, 22: 21, 25: 26, 26: 25, 28: 29, 29: 28}
# Table E-1: from here on they are the network's own.
_NETWORK_SPECIFIC = 128
# GFI, logical channel and type.
_HEADER = 3
MODULO_8 = 8
_LONGEST_DATA = _HEADER + 4096


def own_diagnostics(patch: Patch, change: Original) -> None:
    """Other diagnostics for what the router finds itself, towards both ends."""

    @patch.wrap(Clearing, "error")
    def clear_error(
        original: Original, clearing: Clearing, diagnostic: int, cause: int | None = None
    ) -> None:
        original(clearing, change(diagnostic), cause)

    @patch.wrap(Resets, "error")
    def reset_error(original: Original, resets: Resets, diagnostic: int) -> None:
        original(resets, change(diagnostic))


@variant("MAY-ERR-01")
def clear_without_diagnostic(patch: Patch) -> None:
    @patch.wrap(Clearing, "emit")
    def emit_clear(original: Original, clearing: Clearing, clear: Clear) -> None:
        channel = clearing.channel
        extended = channel.clearing.permitted(clear).extended
        if clear.diagnostic or extended or channel.on_line:
            original(clearing, clear)
            return
        cause = channel.rules.own_cause(clear.cause)
        channel.interface.clears_out[cause] += 1
        channel.send(codec.header(channel.modulo, channel.lcn, Type.CLEAR) + bytes((cause,)))


@variant("MAY-ERR-02")
def generic_diagnostics(patch: Patch) -> None:
    own_diagnostics(patch, lambda diagnostic: diagnostic // 16 * 16)


@variant("MAY-ERR-03")
def states_as_a_dte_sees_them(patch: Patch) -> None:
    @patch.wrap(Rules, "state_diagnostic")
    def state_diagnostic(original: Original, rules: Rules, diagnostic: int) -> int:
        found = int(original(rules, diagnostic))
        return found if rules.channel.on_line else _MIRRORED.get(found, found)


@variant("MAY-ERR-04")
def no_diagnostic_for_the_far_end(patch: Patch) -> None:
    @patch.wrap(Clearing, "remote_clear")
    def remote_clear(original: Original, clearing: Clearing, cause: int, _diagnostic: int) -> Clear:
        found: Clear = original(clearing, cause, 0)
        return found

    @patch.wrap(Relay, "reset_by_error")
    def reset_by_error(
        original: Original, relay: Relay, channel: Channel, cause: int, _diagnostic: int
    ) -> None:
        original(relay, channel, cause, 0)


@variant("MAY-ERR-05")
def network_specific_diagnostics(patch: Patch) -> None:
    own_diagnostics(patch, lambda diagnostic: diagnostic | _NETWORK_SPECIFIC)


@variant("MAY-ERR-06")
def discards_in_p1(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Original, channel: Channel, packet_type: int, octets: bytes) -> None:
        if is_spare(channel, packet_type):
            channel.discard()
        else:
            original(channel, packet_type, octets)


@variant("MAY-ERR-07")
def closes_in_p1(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Original, channel: Channel, packet_type: int, octets: bytes) -> None:
        if is_spare(channel, packet_type):
            channel.wire.close()
        else:
            original(channel, packet_type, octets)


def is_spare(channel: Channel, packet_type: int) -> bool:
    """A packet of a call, on an XOT connection without one."""
    free = channel.p is P.READY and not channel.permanent and not channel.on_line
    return free and packet_type in _OF_A_CALL


_OF_A_CALL = frozenset(
    {
        *(Type.ACCEPT, Type.CLEAR, Type.CLEAR_CONFIRMATION, Type.DATA, Type.RR, Type.RNR),
        *(Type.INTERRUPT, Type.INTERRUPT_CONFIRMATION, Type.RESET, Type.RESET_CONFIRMATION),
    }
)


@variant("MAY-ERR-08")
def discards_spare_clear_confirmations(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Original, channel: Channel, packet_type: int, octets: bytes) -> None:
        due = channel.p is P.CLEAR_SENT or channel.on_line or channel.permanent
        if packet_type == Type.CLEAR_CONFIRMATION and not due:
            channel.discard()
        else:
            original(channel, packet_type, octets)


@variant("MAY-ERR-09")
def clears_for_a_spare_clear_confirmation(patch: Patch) -> None:
    @patch.wrap(Channel, "process")
    def process(original: Original, channel: Channel, packet_type: int, octets: bytes) -> None:
        free = channel.p is P.READY and not channel.permanent and not channel.on_line
        if packet_type == Type.CLEAR_CONFIRMATION and free:
            channel.clearing.error(channel.rules.state_diagnostic(Diag.STATE_P1))
        else:
            original(channel, packet_type, octets)


@variant("MAY-ERR-10")
def discards_data_in_d2(patch: Patch) -> None:
    @patch.wrap(Rules, "reset_cell")
    def reset_cell(original: Original, rules: Rules, packet_type: int) -> object:
        if packet_type == Type.DATA and rules.channel.d is D.RESET_RECEIVED:
            return Do.DISCARD
        return original(rules, packet_type)


@variant("MAY-ERR-11")
def takes_a_clear_without_cause(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Original, clearing: Clearing, octets: bytes) -> None:
        original(clearing, octets if len(octets) > _HEADER else octets + b"\0")


@variant("MAY-ERR-12")
def takes_an_empty_extended_clear(patch: Patch) -> None:
    @patch.wrap(Clearing, "check_clear")
    def check_clear(original: Original, clearing: Clearing, clear: Clear) -> None:
        if clear.user_data or clear.facilities.items or clearing.channel.on_line:
            original(clearing, clear)


@variant("MAY-ERR-13")
def refuses_a_long_clear_confirmation(patch: Patch) -> None:
    @patch.wrap(Channel, "take")
    def take(original: Original, channel: Channel, packet_type: int, octets: bytes) -> None:
        too_long = packet_type == Type.CLEAR_CONFIRMATION and len(octets) > _HEADER
        if too_long and not vars(channel).get("told_too_long"):
            vars(channel)["told_too_long"] = True
            channel.clearing.emit(Clear(ClearCause.LOCAL_PROCEDURE_ERROR, Diag.TOO_LONG))
            return
        original(channel, packet_type, octets)


@variant("MAY-ERR-14")
def passes_digits_of_the_calling_address(patch: Patch) -> None:
    @patch.wrap(Router, "check_addresses")
    def check_addresses(original: Original, router: Router, parties: Addresses) -> None:
        original(router, parties._replace(calling=""))


@variant("MAY-ERR-15")
def refuses_a_filler_that_is_not_0(patch: Patch) -> None:
    @patch.wrap(Router, "call_received")
    def call_received(original: Original, router: Router, channel: Channel, call: Call) -> None:
        parties = call.addresses
        digits = len(parties.called) + len(parties.calling)
        last = call.octets[_HEADER + (2 if parties.a_bit else 1) + digits // 2]
        if digits % 2 and last & 0x0F:
            raise PacketError(Diag.CALLING_ADDRESS)
        original(router, channel, call)


@variant("MAY-ERR-16")
def bad_addresses_are_not_obtainable(patch: Patch) -> None:
    @patch.wrap(Router, "check_addresses")
    def check_addresses(original: Original, router: Router, parties: Addresses) -> None:
        try:
            original(router, parties)
        except PacketError as error:
            raise PacketError(error.diagnostic, ClearCause.NOT_OBTAINABLE) from error


@variant("MAY-ERR-17")
def facility_errors_are_procedure_errors(patch: Patch) -> None:
    @patch.wrap(Facilities, "check")
    def check(original: Original, found: Facilities, *limits: object) -> None:
        try:
            original(found, *limits)
        except PacketError as error:
            raise PacketError(error.diagnostic) from error


@variant("MAY-ERR-18")
def answers_two_octets_before_it_closes(patch: Patch) -> None:
    @patch.wrap(Framer, "length_is_legal")
    def length_is_legal(original: Original, framer: Framer, length: int) -> bool:
        vars(framer)["last_length"] = length
        return bool(original(framer, length))

    @patch.wrap(Connection, "framing_failed")
    def framing_failed(original: Original, connection: Connection) -> None:
        channel = connection.channel
        if vars(connection.framer).get("last_length") == _HEADER - 1:
            if channel.p is P.DATA_TRANSFER:
                channel.resets.emit(ResetCause.LOCAL_PROCEDURE_ERROR, Diag.TOO_SHORT)
            elif channel.p in (P.CALL_RECEIVED, P.CALL_SENT):
                channel.clearing.emit(Clear(ClearCause.LOCAL_PROCEDURE_ERROR, Diag.TOO_SHORT))
        original(connection)


@variant("MAY-ERR-19")
def closes_at_more_than_any_packet_has(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Original, channel: Channel, octets: bytes) -> None:
        modulo_8 = channel.modulo == MODULO_8 and channel.p is P.DATA_TRANSFER
        if modulo_8 and len(octets) > _LONGEST_DATA and not channel.on_line:
            channel.connection_lost()
            channel.wire.close()
        else:
            original(channel, octets)


def leaves_to_the_ends(patch: Patch, sizes: bool) -> None:
    """P(S), P(R) and Q are not checked; sizes: nor is the packet size."""

    def of_the_ends(circuit: Circuit) -> bool:
        return isinstance(getattr(circuit, "user", None), EndToEndRelay)

    @patch.wrap(DataFlow, "check_data")
    def check_data(original: Original, flow: DataFlow, data: Data) -> None:
        if not of_the_ends(flow.channel):
            original(flow, data)
        elif not sizes and len(data.user_data) > flow.channel.size_in:
            raise PacketError(Diag.TOO_LONG)

    @patch.wrap(Channel, "p_r_is_valid")
    def p_r_is_valid(original: Original, channel: Channel, p_r: int) -> bool:
        return of_the_ends(channel) or bool(original(channel, p_r))


@variant("MAY-ERR-20")
def leaves_numbers_to_the_ends(patch: Patch) -> None:
    leaves_to_the_ends(patch, sizes=True)


@variant("MAY-ERR-26")
def leaves_all_but_sizes_to_the_ends(patch: Patch) -> None:
    leaves_to_the_ends(patch, sizes=False)


@variant("MAY-ERR-21")
def confirms_in_a_collision(patch: Patch) -> None:
    @patch.wrap(Clearing, "on_clear")
    def on_clear(original: Original, clearing: Clearing, octets: bytes) -> None:
        channel = clearing.channel
        if channel.p is P.CLEAR_SENT and not channel.on_line:
            channel.clearing.confirm()
        original(clearing, octets)


@variant("MAY-ERR-23")
def wrong_gfi_resets(patch: Patch) -> None:
    @patch.wrap(Channel, "receive")
    def receive(original: Original, channel: Channel, octets: bytes) -> None:
        kind = channel.rules.classify(octets)
        wrong = kind not in LOCAL_TYPES and not channel.rules.gfi_is_valid(octets, kind)
        if wrong and channel.ready and channel.joined is None and not channel.on_line:
            channel.resets.error(Diag.INVALID_GFI)
        else:
            original(channel, octets)


@variant("MAY-ERR-24")
def unknown_modulo_is_refused(patch: Patch) -> None:
    @patch.wrap(Rules, "gfi_is_valid")
    def gfi_is_valid(original: Original, rules: Rules, octets: bytes, packet_type: int) -> bool:
        channel = rules.channel
        valid = bool(original(rules, octets, packet_type))
        if not valid and channel.p is P.READY and octets[0] & 0x30 == 0x30:
            channel.modulo = MODULO_8
            channel.clearing.error(Diag.INVALID_GFI)
        return valid


@variant("MAY-ERR-25")
def discards_a_long_clear_confirmation(patch: Patch) -> None:
    @patch.wrap(Channel, "take")
    def take(original: Original, channel: Channel, packet_type: int, octets: bytes) -> None:
        if packet_type == Type.CLEAR_CONFIRMATION and len(octets) > _HEADER:
            channel.discard()
            return
        original(channel, packet_type, octets)
