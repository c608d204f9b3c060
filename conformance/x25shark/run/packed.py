# SPDX-License-Identifier: GPL-2.0-or-later
"""A case on its way to the process that judges it: record and slice as octets.

Scapy makes a packet into its octets when it is pickled; a template is not octets, but the fields
that it names. Only octets that this program itself has made are ever unpacked.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from scapy.packet import NoPayload, Packet

from ..evidence.frames import Segment
from ..evidence.pcapng import Block
from ..evidence.slicer import Frame, Slice
from .judging import CaseRecord

Items = tuple[tuple[str, Any], ...]


def packed(record: CaseRecord, found: Slice) -> bytes:
    """What is needed to judge a case. Raises whatever pickle raises where it holds functions."""
    alone = replace(record, body=None, watched=[], turned_away=frozenset(record.turned_away))
    octets = io.BytesIO()
    whole = alone, replace(found, frames=[]), _rows(found.frames)
    _Pickler(octets, pickle.HIGHEST_PROTOCOL).dump(whole)
    return octets.getvalue()


def unpacked(octets: bytes | memoryview) -> tuple[CaseRecord, Slice]:
    """The case of packed()."""
    record, found, rows = pickle.loads(octets)
    found.frames = [
        Frame(Block._make(row[:3]), row[3], Segment._make(row[5:]), row[4]) for row in rows
    ]
    return record, found


# Frames are most of a case: as rows of plain values they are packed and unpacked much faster.
def _rows(frames: Iterable[Frame]) -> list[tuple[Any, ...]]:
    """Each frame as the values of its block, its time, its stream, and those of its segment."""
    return [(*frame.block, frame.time, frame.stream, *frame.segment) for frame in frames]


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, Packet):
            return NotImplemented
        payload = None if isinstance(value.payload, NoPayload) else value.payload
        return _template, (type(value), tuple(value.fields.items()), payload, _own(value))


def _own(packet: Packet) -> dict[str, Any]:
    """What a class of ours keeps beside the fields."""
    return dict(getattr(packet, "__dict__", {}))


def _template(
    kind: type[Packet], items: Items, payload: Packet | None, own: Mapping[str, Any]
) -> Packet:
    if payload is None and not own:
        try:
            return _shared(cast(Hashable, kind), items)
        except TypeError:  # a list of facilities, for instance
            pass
    made = _made(kind, items)
    for name, value in own.items():
        setattr(made, name, value)
    if payload is not None:
        made.payload = payload
    return made


@lru_cache(maxsize=4096)
def _shared(kind: type[Packet], items: Items) -> Packet:
    """Templates that say the same are one: they are not changed, and written as a filter once."""
    return _made(kind, items)


def _made(kind: type[Packet], items: Items) -> Packet:
    made = kind()
    made.fields = dict(items)
    return made
