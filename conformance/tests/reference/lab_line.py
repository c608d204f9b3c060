# SPDX-License-Identifier: GPL-2.0-or-later
"""The other end of a serial line of the router, without a socket: frames as hexadecimal octets.

Frames go through the tester's codec (scapy_x25.hdlc), which shares nothing with the router's.
"""

from typing import Any

from scapy_x25 import hdlc

RESTART_CONFIRMATION = "1000ff"


class LabLine:
    """A line of a Lab's router. Frames are without FCS: 'address control information'."""

    def __init__(self, lab: Any, name: str = "s0") -> None:
        self.lab = lab
        self.interface = lab.router.serials[name]
        self.octet_stuffed = self.interface.settings.framing == "octet"
        self.framer = hdlc.BitFramer()
        self.deframer: Any = hdlc.OctetDeframer() if self.octet_stuffed else hdlc.BitDeframer()
        self.congested = self.closed = self.paused = False
        self.frames: list[str] = []
        #: Octets of all frames that this end has sent whole.
        self.octets = 0
        #: N(S) and N(R) of the next I frame of this end.
        self.v_s = self.v_r = 0
        self.command, self.answer = ("01", "03") if self.interface.dce else ("03", "01")
        self.link = self.interface.connected(self)

    # What the router does.
    def queue(self, octets: bytes) -> None:
        for event in self.deframer.feed(octets):
            assert isinstance(event, hdlc.Frame), event
            assert event.invalid() == ""
            self.frames.append(event.octets[:-2].hex())

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    # What the test does.
    def take(self) -> list[str]:
        """Frames of the router since the last time."""
        taken, self.frames = self.frames, []
        return taken

    def raw(self, octets: bytes) -> None:
        """Octets of the line."""
        self.link.octets_received(octets)

    def whole(self, octets: bytes) -> None:
        """What stands between two flags, FCS included."""
        self.octets += len(octets)
        if self.octet_stuffed:
            self.raw(hdlc.frame_octets([octets]))
            return
        self.framer.frames([octets])
        self.framer.flag()
        self.raw(self.framer.take())

    def abort_frame(self, octets: bytes) -> None:
        """Half a frame, and then an abort."""
        half = octets[: len(octets) // 2]
        if self.octet_stuffed:
            self.raw(b"\x7e" + hdlc.stuff_octets(half) + b"\x7d\x7e")
            return
        self.framer.flag()
        self.framer.body(half)
        self.framer.abort()
        self.framer.flag()
        self.raw(self.framer.take())

    def tell(self, *frames: str) -> list[str]:
        """Frames in hexadecimal without FCS; returns what the router sent."""
        for frame in frames:
            self.frame(frame)
        return self.take()

    def frame(self, frame: str) -> None:
        self.whole(hdlc.with_fcs(bytes.fromhex(frame)))

    def set_up(self) -> None:
        """SABM, UA, and the restart of the packet layer in both directions."""
        frames = self.tell(self.command + "3f")
        assert frames[0] == self.answer_of_router() + "73"
        assert frames[1][4:8] == "1000"
        self.v_s, self.v_r = 0, 1
        self.packet(RESTART_CONFIRMATION)
        self.take()

    def answer_of_router(self) -> str:
        """Responses of the router carry the address of commands to it (X.25 2.4.2)."""
        return self.command

    def packet(self, packet: str) -> list[str]:
        """An I frame with a packet; returns the packets that the router sent, acknowledged."""
        self.tell_information(packet)
        return self.packets()

    def tell_information(self, packet: str) -> None:
        control = self.v_r << 5 | self.v_s << 1
        self.v_s = (self.v_s + 1) % 8
        self.frame(f"{self.command}{control:02x}{packet}")

    def packets(self) -> list[str]:
        """Packets of the router that were not taken; they must come in order."""
        found = []
        for frame in self.take():
            control = int(frame[2:4], 16)
            if not control & 1:
                assert control >> 1 & 7 == self.v_r, frame
                self.v_r = (self.v_r + 1) % 8
                found.append(frame[4:])
        if found:
            self.frame(f"{self.answer}{self.v_r << 5 | 1:02x}")
            found += self.packets()
        return found
