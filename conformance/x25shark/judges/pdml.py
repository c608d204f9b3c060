# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark's PDML (the dissection tree as XML) read into packets, expert infos and TCP ends."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .reading import (
    TCP_ACK,
    TCP_FIN,
    TCP_RST,
    TCP_SYN,
    Difference,
    ExpertInfo,
    Hit,
    JudgeError,
    PacketRead,
    TcpEnd,
    Value,
)

STRICT = ("x25s.", "xots.", "x25t.", "hdlcs.", "lapbs.")
SEVERITY_MASK = 0x00F00000
SEVERITIES = {0x00800000: "error", 0x00600000: "warn", 0x00400000: "note"}
HALF_OF_SEQUENCE_SPACE = 1 << 31


@dataclass
class _Direction:
    first: int
    # It sent a SYN, and has not acknowledged the answer yet.
    opening: bool
    sent: int = 0


@dataclass
class Tree:
    """What one run of tshark showed. packets_of: the number of packets of each frame."""

    frames: int = 0
    packets_of: list[int] = field(default_factory=list)
    packets: list[PacketRead] = field(default_factory=list)
    tcp_ends: list[TcpEnd] = field(default_factory=list)
    experts: list[ExpertInfo] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    lua_errors: list[str] = field(default_factory=list)
    directions: dict[tuple[int, str, int], _Direction] = field(default_factory=dict)

    @property
    def most_packets(self) -> int:
        """The packets of the fullest frame."""
        return max(self.packets_of, default=0)

    def has(self, hit: Hit) -> bool:
        """Whether the packet of the hit exists: a filter that denies matches others as well."""
        return hit.k <= self.packets_of[hit.frame - 1]


class _Head(NamedTuple):
    stream: int = -1
    src: str = ""
    sport: int = 0
    dst: str = ""
    dport: int = 0


def _show(element: ET.Element | None) -> str:
    return element.get("show", "") if element is not None else ""


def _number(text: str) -> int:
    # Booleans are shown as words by some versions.
    if text in ("True", "False"):
        return int(text == "True")
    return int(text, 0)


def _child(parent: ET.Element, name: str) -> str:
    for element in parent.iter("field"):
        if element.get("name") == name:
            return _show(element)
    return ""


def _value(element: ET.Element, kind: str) -> Value:
    if kind == "FT_BYTES":
        return bytes.fromhex(element.get("value", ""))
    if kind.startswith("FT_UINT") or kind in ("FT_BOOLEAN", "FT_CHAR", "FT_FRAMENUM"):
        return _number(_show(element))
    return _show(element)


def _head(protos: list[ET.Element]) -> tuple[_Head, ET.Element | None]:
    """Addresses and ports: the outermost of the frame."""
    tcp = next((proto for proto in protos if proto.get("name") == "tcp"), None)
    if tcp is None:
        line = next((proto for proto in protos if proto.get("name") == "hdlcs"), None)
        direction = _child(line, "hdlcs.direction") if line is not None else ""
        if line is None or not direction:
            return _Head(), None
        src, dst = ("R", "A") if _number(direction) else ("A", "R")
        return _Head(stream=_number(_child(line, "hdlcs.link")), src=src, dst=dst), None
    ip = next((proto for proto in protos if proto.get("name") in ("ip", "ipv6")), None)
    name = ip.get("name", "") if ip is not None else ""
    return (
        _Head(
            stream=_number(_child(tcp, "tcp.stream") or "-1"),
            src=_child(ip, f"{name}.src") if ip is not None else "",
            sport=_number(_child(tcp, "tcp.srcport") or "0"),
            dst=_child(ip, f"{name}.dst") if ip is not None else "",
            dport=_number(_child(tcp, "tcp.dstport") or "0"),
        ),
        tcp,
    )


def _read_tcp(tree: Tree, frame: int, head: _Head, tcp: ET.Element) -> None:
    flags = _number(_child(tcp, "tcp.flags") or "0")
    sequence = _number(_child(tcp, "tcp.seq_raw") or "0")
    length = _number(_child(tcp, "tcp.len") or "0")
    syn = 1 if flags & TCP_SYN else 0
    key = (head.stream, head.src, head.sport)
    asks = flags & (TCP_SYN | TCP_ACK) == TCP_SYN
    direction = tree.directions.setdefault(key, _Direction(sequence + syn, asks))
    before = (sequence + syn - direction.first) % (2 * HALF_OF_SEQUENCE_SPACE)
    opened = direction.opening and flags & (TCP_SYN | TCP_RST | TCP_ACK) == TCP_ACK
    direction.opening = direction.opening and not opened
    if opened or flags & (TCP_SYN | TCP_FIN | TCP_RST):
        tree.tcp_ends.append(
            TcpEnd(
                frame=frame,
                stream=head.stream,
                src=head.src,
                sport=head.sport,
                dst=head.dst,
                dport=head.dport,
                flags=flags,
                seq=sequence,
                length=length,
                # What was sent before a FIN it says itself: octets that were lost come later.
                offset=before if flags & TCP_FIN else direction.sent,
            )
        )
    reached = (before + length) % (2 * HALF_OF_SEQUENCE_SPACE)
    ahead = (reached - direction.sent) % (2 * HALF_OF_SEQUENCE_SPACE)
    if length > 0 and ahead < HALF_OF_SEQUENCE_SPACE:
        direction.sent = reached


def _experts(
    tree: Tree, frame: int, k: int, head: _Head, offset: int | None, proto: ET.Element
) -> None:
    for element in proto.iter():
        if element.get("name") != "_ws.expert":
            continue
        names = [child.get("name", "") for child in element]
        message = _child(element, "_ws.expert.message")
        if "_ws.lua.error" in names:
            tree.lua_errors.append(f"frame {frame}: {message}")
            continue
        severity = _number(_child(element, "_ws.expert.severity") or "0") & SEVERITY_MASK
        for name in names:
            if name.startswith(STRICT):
                word = SEVERITIES.get(severity, "chat")
                tree.experts.append(ExpertInfo(frame, k, *head, offset, name, message, word))
                break


def _offset(proto: ET.Element, name: str) -> int | None:
    text = _child(proto, name)
    return _number(text) if text else None


def _read_frame(tree: Tree, packet: ET.Element, kinds: Mapping[str, str]) -> None:
    tree.frames += 1
    frame = tree.frames
    protos = list(packet)
    head, tcp = _head(protos)
    if tcp is not None:
        _read_tcp(tree, frame, head, tcp)
    k = 0
    if any(proto.get("name") == "hdlcs" for proto in protos):
        k = 1
        _read_packet(tree, frame, k, head, packet, "hdlcs.offset", kinds)
        protos = []
    for proto in protos:
        name = proto.get("name")
        if name != "x25s":
            offset = _offset(proto, "xots.offset") if name == "xots" else None
            _experts(tree, frame, 0, head, offset, proto)
            continue
        k += 1
        _read_packet(tree, frame, k, head, proto, "x25s.offset", kinds)
    tree.packets_of.append(k)


def _read_packet(
    tree: Tree,
    frame: int,
    k: int,
    head: _Head,
    part: ET.Element,
    offset_name: str,
    kinds: Mapping[str, str],
) -> None:
    """Take the fields and expert infos of a part of the frame as its packet k."""
    offset = _offset(part, offset_name)
    values: dict[str, list[Value]] = {}
    for element in part.iter("field"):
        field_name = element.get("name", "")
        if field_name in kinds:
            values.setdefault(field_name, []).append(_value(element, kinds[field_name]))
        if field_name == "x25s.builtin_differs":
            tree.differences.append(Difference(frame, k, _show(element)))
    _experts(tree, frame, k, head, offset, part)
    tree.packets.append(
        PacketRead(
            frame=frame,
            k=k,
            stream=head.stream,
            src=head.src,
            sport=head.sport,
            dst=head.dst,
            dport=head.dport,
            offset=offset,
            fields={each: tuple(all_values) for each, all_values in values.items()},
        )
    )


def _packets(output: bytes) -> Iterator[ET.Element]:
    if not output.strip():
        return
    root: ET.Element | None = None
    for event, element in ET.iterparse(io.BytesIO(output), events=("start", "end")):
        if root is None:
            root = element
        if event == "end" and element.tag == "packet":
            yield element
            root.clear()


def read(output: bytes, kinds: Mapping[str, str]) -> Tree:
    """The tree of a capture. kinds: the fields whose values are wanted, with their types (FT_...).

    Raises JudgeError("crash") if the output is not PDML.
    """
    tree = Tree()
    try:
        for packet in _packets(output):
            _read_frame(tree, packet, kinds)
    except (ET.ParseError, ValueError) as error:
        raise JudgeError("crash", f"tshark's PDML cannot be read: {error}") from error
    return tree
