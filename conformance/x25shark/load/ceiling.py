# SPDX-License-Identifier: GPL-2.0-or-later
"""What a line can carry, from its rate and all overheads: computed, not measured.

A Data packet has 3 octets of header (modulo 128: 4) and 4 of XOT (RFC 1613 2.2); a TCP segment 20
of TCP, 12 of timestamps and 20 of IPv4; an Ethernet frame 14 of header, 4 of FCS, 8 of preamble and
12 of gap, and at least 46 of payload. Packets are counted one to a segment, as a tester sends them
that does not wait for the next one; long ones take as many segments as they need.
"""

from __future__ import annotations

from math import ceil

from .options import LoadOptions

XOT = 4
TCP_IP = 20 + 12 + 20
ETHERNET = 14 + 4 + 8 + 12
ETHERNET_LEAST = 46
MTU = 1500


def frame_octets(payload: int, mtu: int = MTU) -> int:
    """Octets of line time for so many octets of TCP payload sent at once."""
    segment = mtu - TCP_IP
    whole, rest = divmod(payload, segment)
    octets = whole * (mtu + ETHERNET)
    if rest or not whole:
        octets += max(rest + TCP_IP, ETHERNET_LEAST) + ETHERNET
    return octets


def messages_per_second(
    line_rate: float, size: int, packet_size: int, options: LoadOptions
) -> float:
    """Messages/s of `size` octets on a line of so many bit/s."""
    header = XOT + (3 if options.modulo == 8 else 4)
    packets = max(ceil(size / packet_size), 1)
    last = size - (packets - 1) * packet_size
    octets = (packets - 1) * frame_octets(packet_size + header) + frame_octets(last + header)
    return line_rate / (8 * octets)


def user_data_share(mss: int, packet_size: int, modulo: int) -> float:
    """Share of a line that is user data in a stream without gaps.

    Segments are full then (the 12 octets of timestamps are part of the MSS), and packets follow
    each other within them: with an MSS of 1460 and Ethernet 1538 octets of line carry 1448 of TCP.
    """
    header = XOT + (3 if modulo == 8 else 4)
    payload = mss - 12
    return payload / (payload + TCP_IP + ETHERNET) * packet_size / (packet_size + header)
