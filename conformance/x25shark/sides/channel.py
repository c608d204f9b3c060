# SPDX-License-Identifier: GPL-2.0-or-later
"""A side on a logical channel of a serial line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scapy.packet import Packet
from scapy_x25 import Diagnostic

from ..links.circuits import Circuit
from ..profile import Line as LineProfile
from .context import Context
from .outcomes import NotOnALine
from .side import Side
from .wire import ConnectionWire


class ChannelWire(ConnectionWire):
    """What a logical channel has not."""

    def send(self, octets: bytes) -> None:
        raise NotOnALine("octets of an XOT connection have no counterpart on a serial line")

    def reset(self) -> None:
        raise NotOnALine("a TCP RST has no counterpart on a serial line")

    def half_close(self) -> None:
        raise NotOnALine("a TCP FIN has no counterpart on a serial line")


class ChannelSide(Side):
    """A DTE or DCE on one logical channel of a line; lcn 0: restarts and diagnostics.

    on_channel_0: told of the Diagnostics that may come on channel 0 of the line.
    """

    def __init__(
        self,
        context: Context,
        name: str,
        circuit: Circuit,
        line: LineProfile,
        on_channel_0: Callable[[Sequence[Packet]], None],
    ) -> None:
        self._circuit = circuit
        self._on_channel_0 = on_channel_0
        self.router_is_dce = line.role == "dce"
        # A circuit has all of a connection that a side needs; what it has not is of XOT only.
        super().__init__(context, name, circuit, line.modulo, circuit.start)
        self.wire = ChannelWire(self)
        self.lcn = circuit.lcn
        self.origin = circuit.start

    def _says_dte(self) -> bool:
        return not self.router_is_dce

    def _transmit(self, packets: Sequence[bytes]) -> None:
        self.context.sends(self)
        self._circuit.send_packets(list(packets))

    def allow(self, *templates: Packet) -> None:
        """As at any side; a Diagnostic comes on channel 0 of the line (X.25 5.6)."""
        super().allow(*templates)
        diagnostics = [template for template in templates if isinstance(template, Diagnostic)]
        if diagnostics and self._circuit.lcn:
            self._on_channel_0(diagnostics)

    def close(self) -> None:
        """The line outlives its calls."""
        self._circuit.close()

    @property
    def stop(self) -> int | None:  # type: ignore[override]
        """Where another call on the same channel begins."""
        return self._circuit.stop
