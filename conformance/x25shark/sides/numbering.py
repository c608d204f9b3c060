# SPDX-License-Identifier: GPL-2.0-or-later
"""P(S) and P(R) of one side (X.25 4.4.1), read straight from the octets.

The tester counts along with what it sends and receives, so that a case may leave numbers out.
Numbers that a case gives explicitly are sent as given.
"""

from __future__ import annotations

from dataclasses import dataclass

from scapy_x25.x25 import (
    RECEIVE_NOT_READY,
    RECEIVE_READY,
    REJECT,
    RESET_CONFIRMATION,
    RESET_REQUEST,
)

DATA = 0


def kind_of(packet: bytes, modulus: int) -> int | None:
    """The packet type: DATA, or octet 3, of RR, RNR and REJ without their P(R)."""
    if len(packet) < 3:
        return None
    octet = packet[2]
    if not octet & 1:
        return DATA
    if modulus == 8 and octet & 0x1F in (RECEIVE_READY, RECEIVE_NOT_READY, REJECT):
        return octet & 0x1F
    return octet


@dataclass
class Numbering:
    """Sequence numbers of one side.

    next_p_s      P(S) of the next Data to send
    p_r           P(R) to send: P(S) of the next Data expected
    acknowledged  last P(R) received
    """

    modulus: int = 8
    next_p_s: int = 0
    p_r: int = 0
    acknowledged: int = 0
    resetting: bool = False

    @property
    def outstanding(self) -> int:
        """Data sent and not acknowledged."""
        return (self.next_p_s - self.acknowledged) % self.modulus

    def reset(self) -> None:
        """All numbers start at 0 (X.25 4.4.3)."""
        self.next_p_s = self.p_r = self.acknowledged = 0

    def _numbers(self, packet: bytes, kind: int) -> tuple[int, int] | None:
        """P(S) and P(R) of a packet that has them."""
        if self.modulus == 8:
            return packet[2] >> 1 & 7, packet[2] >> 5
        if len(packet) < 4:
            return None
        return (packet[2] >> 1 if kind == DATA else 0), packet[3] >> 1

    def sent(self, packet: bytes) -> None:
        """Count a packet that this side sends."""
        kind = kind_of(packet, self.modulus)
        if kind == DATA:
            numbers = self._numbers(packet, kind)
            if numbers and numbers[0] == self.next_p_s:
                self.next_p_s = (self.next_p_s + 1) % self.modulus
        elif kind == RESET_REQUEST:
            self.reset()
            self.resetting = True
        elif kind == RESET_CONFIRMATION:
            self.reset()

    def received(self, packet: bytes) -> bool:
        """Count a packet from the router; True if it is Data that wants an acknowledgement."""
        kind = kind_of(packet, self.modulus)
        if kind in (RESET_REQUEST, RESET_CONFIRMATION):
            self.reset()
            self.resetting = False
        if kind not in (DATA, RECEIVE_READY, RECEIVE_NOT_READY) or self.resetting:
            return False
        numbers = self._numbers(packet, kind)
        if numbers is None:
            return False
        p_s, p_r = numbers
        if (p_r - self.acknowledged) % self.modulus <= self.outstanding:
            self.acknowledged = p_r
        if kind == DATA and p_s == self.p_r:
            self.p_r = (self.p_r + 1) % self.modulus
            return True
        return False
