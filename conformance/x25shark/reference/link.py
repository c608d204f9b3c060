# SPDX-License-Identifier: GPL-2.0-or-later
"""One serial line: octets from a wire below, HDLC frames, LAPB, packets for the interface above.

A frame that is invalid (X.25 2.2.9, 2.3.5.3) is counted under the first reason that applies: no
whole octets, fewer than 32 bits, longer than N1, wrong FCS, address neither A nor B. It does
nothing else.
"""

from dataclasses import replace

from . import hdlc, lapb_frames
from .environment import Interface
from .hdlc import FRAMINGS, SHORTEST, Kind, Received
from .lapb import Lapb
from .lapb_station import Parameters, Phase
from .line_counters import LineCounters
from .ports import StreamWire, Timers

#: Packets that wait for the link before the calls above are held.
HIGH_WATER = 32
LOW_WATER = 8
#: Octets beyond N1 that are kept of a frame, so that its end is found and its length is known.
SPARE = 1024


class SerialLink:
    """Joins the wire (if there is one at the time), the framing and the LAPB station."""

    def __init__(
        self,
        interface: Interface,
        framing: str,
        parameters: Parameters,
        dce: bool,
        timers: Timers,
        counters: LineCounters,
        reject_giants: bool = False,
    ) -> None:
        self.interface = interface
        self.longest = parameters.n1 // 8
        self.framing = FRAMINGS[framing](self.longest + SPARE)
        self.counters = counters
        self.reject_giants = reject_giants
        self.wire: StreamWire | None = None
        self.congested = False
        self.closing = False
        self.lapb = Lapb(parameters, dce, timers, self)

    @property
    def longest_packet(self) -> int:
        """Octets of the longest packet: N1 counts address, control and FCS too."""
        return self.longest - 2 - hdlc.FCS_LENGTH

    # -- the wire -------------------------------------------------------------------------------

    def connected(self, wire: StreamWire) -> None:
        """There is a line now."""
        self.wire = wire
        self.framing.restart()
        self.counters.line(True)
        self.lapb.line_up()
        self.flush()

    def octets_received(self, octets: bytes) -> None:
        for received in self.framing.feed(octets):
            self.take(received)
        self.interface.router.flush()
        if self.wire is not None and self.wire.congested:
            # Who does not read is not read either: answers cannot pile up.
            self.wire.pause()

    def connection_lost(self, reset: bool) -> None:
        """The other end of the pipe has gone."""
        if self.wire is not None:
            if reset:
                self.wire.abort()
            else:
                self.wire.close()
        self.ended()

    def ended(self) -> None:
        if self.wire is not None:
            self.wire = None
            self.counters.line(False)
            self.lapb.line_down()
            self.interface.line_lost()
            self.interface.router.flush()

    def drained(self) -> None:
        if self.wire is not None:
            self.wire.resume()

    # -- frames ---------------------------------------------------------------------------------

    def take(self, received: Received) -> None:
        """One thing that ended on the line."""
        octets = received.octets
        if received.kind is Kind.ABORTED:
            self.bad("rs232SyncPortAbortedFrames", octets)
        elif received.kind is Kind.UNALIGNED:
            self.bad("hdlcInUnaligned", octets)
        else:
            self.counters.count("ifInOctets", len(octets))
            problem = self.problem(received)
            if problem:
                self.bad(problem, octets)
            else:
                self.good(octets)

    def problem(self, received: Received) -> str:
        """The counter of what is wrong with a frame, empty if it is valid."""
        octets = received.octets
        if self.is_runt(octets):
            return "hdlcInRunts"
        if received.kind is Kind.ENDLESS or self.is_giant(octets):
            return "hdlcInGiants"
        if not hdlc.fcs_is_good(octets):
            return "rs232SyncPortFrameCheckErrors"
        if not self.address_is_known(octets[0]):
            return "hdlcInUnknownAddresses"
        return ""

    def is_runt(self, octets: bytes) -> bool:
        return len(octets) < SHORTEST

    def is_giant(self, octets: bytes) -> bool:
        return len(octets) > self.longest

    def address_is_known(self, address: int) -> bool:
        return address in (lapb_frames.ADDRESS_A, lapb_frames.ADDRESS_B)

    def bad(self, counter: str, octets: bytes) -> None:
        """A frame that is discarded."""
        self.counters.error(counter)
        if counter == "hdlcInGiants" and self.reject_giants and self.is_rejectable(octets):
            self.lapb.errors.too_long(octets)

    def is_rejectable(self, octets: bytes) -> bool:
        """Only a frame that is right but for its length is worth an FRMR."""
        return hdlc.fcs_is_good(octets) and self.address_is_known(octets[0])

    def good(self, octets: bytes) -> None:
        """A valid frame."""
        self.counters.frame_in(lapb_frames.name_of(octets[1]))
        self.lapb.receive(octets[: -hdlc.FCS_LENGTH])

    # -- what LAPB asks for ---------------------------------------------------------------------

    def frame_out(self, octets: bytes) -> None:
        if self.wire is None or self.wire.congested:
            # A lost frame is repeated; what nobody reads must not pile up.
            self.counters.count("ifOutDiscards")
            return
        whole = hdlc.add_fcs(octets)
        self.counters.frame_out(lapb_frames.name_of(octets[1]), len(whole))
        self.wire.queue(self.framing.frame(whole))

    def link_up(self) -> None:
        self.congested = False
        self.interface.link_up()

    def link_down(self) -> None:
        self.congested = False
        self.interface.link_down()
        if self.closing and self.wire is not None:
            self.wire.close()

    def packet_in(self, packet: bytes) -> None:
        self.interface.packet_in(packet)

    def window_moved(self) -> None:
        if self.congested and len(self.lapb.waiting) <= LOW_WATER:
            self.congested = False
            self.interface.drained()

    def count(self, name: str) -> None:
        self.counters.count(name)

    def note_rejection(self, name: str, field: bytes) -> None:
        self.counters.rejections[name] = field.hex()
        self.counters.count(
            "lapbInFrameRejects" if name == "lapbFlowFrmrReceived" else "lapbOutFrameRejects"
        )

    # -- what the interface asks for ------------------------------------------------------------

    def send(self, packet: bytes) -> None:
        """A packet for the other side, in order."""
        if len(packet) > self.longest_packet:
            self.counters.count("ifOutDiscards")
            return
        self.lapb.send(packet)
        if len(self.lapb.waiting) >= HIGH_WATER:
            self.congested = True

    def flush(self) -> None:
        self.lapb.flush()

    def close(self) -> None:
        """Orderly end: DISC, and when it is answered the end of the line."""
        self.closing = True
        self.lapb.parameters = replace(self.lapb.parameters, initiate=False)
        if self.lapb.phase is not Phase.DISCONNECTED:
            self.lapb.phases.disconnect()
        elif self.wire is not None:
            self.wire.close()
