# SPDX-License-Identifier: GPL-2.0-or-later
"""What a packet that comes in is, and which cell of the state tables it meets (X.25 Annex C).

Here stands what RFC 1613 changes of X.25; a serial line has rules of its own (serial_channel.py).
"""

from typing import TYPE_CHECKING

from . import codec
from .tables import CALL_SETUP, RESET, Cell, Do

if TYPE_CHECKING:
    from .channel import Channel


class Rules:
    """How packets of an XOT connection are read."""

    def __init__(self, channel: "Channel") -> None:
        self.channel = channel

    def state_diagnostic(self, diagnostic: int) -> int:
        """The diagnostic of a cell of the state tables."""
        return diagnostic

    def acceptable_modulo(self, octets: bytes) -> int:
        """Modulo of a packet, or 0 if this router does not support it."""
        modulo = codec.modulo_of(octets)
        return modulo if modulo == 8 or self.channel.settings.modulo128 else 0

    def classify(self, octets: bytes) -> int:
        """Packet type, UNDEFINED for those that X.25 does not define."""
        return codec.type_of(octets, self.channel.modulo)

    def gfi_is_valid(self, octets: bytes, packet_type: int) -> bool:
        return codec.gfi_is_valid(octets, packet_type, self.channel.modulo)

    def call_cell(self, packet_type: int) -> Cell:
        """Table C-3; a permanent circuit has only Table C-4."""
        channel = self.channel
        if channel.awaits_setup:
            return Do.DISCARD
        return Do.SEE_C4 if channel.permanent else CALL_SETUP[packet_type][channel.p]

    def reset_cell(self, packet_type: int) -> Cell:
        """Table C-4."""
        return RESET[packet_type][self.channel.d]

    def check_cause(self, cause: int) -> None:
        """Causes that the peer may give. On XOT no end is the DTE (RFC 1613 5): any."""

    def own_cause(self, cause: int) -> int:
        """The cause of a Clear or Reset as this side may write it."""
        return cause
