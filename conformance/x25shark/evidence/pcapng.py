# SPDX-License-Identifier: GPL-2.0-or-later
"""pcapng, as far as evidence needs it: blocks pass octet for octet, comments are added.

A block is type (4 octets), total length (4), body, total length again. Section Header, Interface
Description and Enhanced Packet blocks are understood, others are kept. dumpcap writes in the
byte order of the machine, which the Section Header tells.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, NamedTuple

SECTION_HEADER = 0x0A0D0D0A
INTERFACE_DESCRIPTION = 1
ENHANCED_PACKET = 6
INTERFACE_STATISTICS = 5
_BYTE_ORDER_MAGIC = 0x1A2B3C4D
_OPTION_END = 0
_OPTION_COMMENT = 1
_OPTION_FLAGS = 2
_OPTION_TSRESOL = 9
# A custom option begins with a Private Enterprise Number.
_OPTION_CUSTOM = 2989
_ENTERPRISE_OF_THE_TAP = 32473
_OPTION_IFDROP = 5
_OPTION_OSDROP = 7
# Where the options of a block begin, and those that tell of the machine that captured.
_OPTIONS_AT = {SECTION_HEADER: 24, INTERFACE_DESCRIPTION: 16}
_OF_THE_MACHINE = {SECTION_HEADER: (2, 3, 4), INTERFACE_DESCRIPTION: (12, 15)}
LONGEST_BLOCK = 1 << 24
LONGEST_COMMENT = 4000


class CaptureFormatError(Exception):
    """The stream is not a pcapng that dumpcap writes."""


class Block(NamedTuple):
    """One block, header and trailer included, and the byte order of its section."""

    kind: int
    octets: bytes
    order: str


class Interface(NamedTuple):
    """Link type (LINKTYPE_...) and timestamp units per second of a capture interface."""

    link_type: int
    per_second: int


def read_blocks(stream: IO[bytes]) -> Iterator[Block]:
    """The blocks of a stream until its end. A block that is cut short ends the stream.

    Raises CaptureFormatError if it is not pcapng.
    """
    order = "<"
    while True:
        head = stream.read(8)
        if len(head) < 8:
            return
        kind = struct.unpack("<I", head[:4])[0]
        if kind == SECTION_HEADER:
            magic = stream.read(4)
            if len(magic) < 4:
                return
            order = "<" if struct.unpack("<I", magic)[0] == _BYTE_ORDER_MAGIC else ">"
            if struct.unpack(order + "I", magic)[0] != _BYTE_ORDER_MAGIC:
                raise CaptureFormatError("the capture stream is not pcapng")
            head += magic
        kind = struct.unpack(order + "I", head[:4])[0]
        length = struct.unpack(order + "I", head[4:8])[0]
        if length % 4 or not 12 <= length <= LONGEST_BLOCK:
            raise CaptureFormatError(
                f"the capture stream has a block of {length} octets, which is not pcapng"
            )
        rest = stream.read(length - len(head))
        if len(rest) < length - len(head):
            return
        yield Block(kind, head + rest, order)


def interface(block: Block) -> Interface:
    """What an Interface Description Block says."""
    link_type = struct.unpack_from(block.order + "H", block.octets, 8)[0]
    per_second = 1_000_000
    for code, value in _options(block, 16):
        if code == _OPTION_TSRESOL and value:
            per_second = 2 ** (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
    return Interface(link_type, per_second)


def dropped(block: Block) -> int:
    """Packets that an Interface Statistics Block says were lost."""
    return sum(
        struct.unpack(block.order + "Q", value)[0]
        for code, value in _options(block, 20)
        if code in (_OPTION_IFDROP, _OPTION_OSDROP) and len(value) == 8
    )


def packet(block: Block) -> tuple[int, int, bytes]:
    """Interface number, timestamp (in its units) and octets of an Enhanced Packet Block."""
    number, high, low, captured = struct.unpack_from(block.order + "IIII", block.octets, 8)
    return number, high << 32 | low, block.octets[28 : 28 + captured]


def flags(block: Block) -> int:
    """epb_flags of an Enhanced Packet Block; 0 if it has none."""
    captured = struct.unpack_from(block.order + "I", block.octets, 20)[0]
    for code, value in _options(block, 28 + captured + -captured % 4):
        if code == _OPTION_FLAGS and len(value) == 4:
            return int(struct.unpack(block.order + "I", value)[0])
    return 0


def line_octets(block: Block) -> int:
    """Octets of a serial line when the frame was complete, as its tap says; 0: it does not."""
    captured = struct.unpack_from(block.order + "I", block.octets, 20)[0]
    for code, value in _options(block, 28 + captured + -captured % 4):
        if code == _OPTION_CUSTOM and len(value) == 12:
            enterprise, octets = struct.unpack(block.order + "IQ", value)
            return int(octets) if enterprise == _ENTERPRISE_OF_THE_TAP else 0
    return 0


def on_interface(block: Block, number: int) -> Block:
    """An Enhanced Packet Block as one of another interface."""
    octets = block.octets[:8] + struct.pack(block.order + "I", number) + block.octets[12:]
    return Block(block.kind, octets, block.order)


def with_packet(block: Block, octets: bytes) -> Block:
    """An Enhanced Packet Block with other octets."""
    captured = struct.unpack_from(block.order + "I", block.octets, 20)[0]
    options = block.octets[28 + captured + -captured % 4 : -4]
    sizes = struct.pack(block.order + "II", len(octets), len(octets))
    body = block.octets[8:20] + sizes + octets + bytes(-len(octets) % 4) + options
    length = struct.pack(block.order + "I", len(body) + 12)
    return Block(block.kind, block.octets[:4] + length + body + length, block.order)


def _options(block: Block, start: int) -> Iterator[tuple[int, bytes]]:
    at = start
    end = len(block.octets) - 4
    while at + 4 <= end:
        code, length = struct.unpack_from(block.order + "HH", block.octets, at)
        if code == _OPTION_END or at + 4 + length > end:
            return
        yield code, block.octets[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4


def with_comment(block: Block, comment: str) -> Block:
    """The block with one more comment, in front of the options it has."""
    text = comment.encode("utf-8", "replace")[:LONGEST_COMMENT].decode("utf-8", "ignore").encode()
    option = struct.pack(block.order + "HH", _OPTION_COMMENT, len(text))
    option += text + bytes(-len(text) % 4)
    if block.kind == ENHANCED_PACKET:
        captured = struct.unpack_from(block.order + "I", block.octets, 20)[0]
        at = 28 + captured + -captured % 4
    else:
        at = _OPTIONS_AT[block.kind]
    has_options = at < len(block.octets) - 4
    if not has_options:
        option += struct.pack(block.order + "HH", _OPTION_END, 0)
    body = block.octets[8:at] + option + block.octets[at:-4]
    length = struct.pack(block.order + "I", len(body) + 12)
    return Block(block.kind, block.octets[:4] + length + body + length, block.order)


def impersonal(block: Block) -> Block:
    """The block without what dumpcap says of the machine it ran on (hardware, system, program)."""
    if block.kind not in _OF_THE_MACHINE:
        return block
    start = _OPTIONS_AT[block.kind]
    options = b""
    for code, value in _options(block, start):
        if code not in _OF_THE_MACHINE[block.kind]:
            options += struct.pack(block.order + "HH", code, len(value))
            options += value + bytes(-len(value) % 4)
    if options:
        options += struct.pack(block.order + "HH", _OPTION_END, 0)
    body = block.octets[8:start] + options
    length = struct.pack(block.order + "I", len(body) + 12)
    return Block(block.kind, block.octets[:4] + length + body + length, block.order)
