# SPDX-License-Identifier: GPL-2.0-or-later
"""A template matches the same packets as Scapy match and as display filter, whatever they are."""

from __future__ import annotations

from typing import Any

import scapy_x25 as x
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.packet import Packet
from x25shark.judges.template import lacks, matches, to_filter
from x25shark.judges.values import ABSENT, OneOf, between, not_in, one_of
from x25shark.judges.wireshark import WiresharkJudge

from .conftest import Exchange

OCTET = st.integers(0, 255)
LCN = st.integers(0, 4095)
NUMBER = st.integers(0, 7)
DATA = st.binary(max_size=20)
DIGITS = st.text("0123456789", max_size=15)
FACILITIES = st.lists(
    st.one_of(
        st.builds(x.PacketSize, called=st.integers(4, 12), calling=st.integers(4, 12)),
        st.builds(x.WindowSize, called=st.integers(1, 7), calling=st.integers(1, 7)),
        st.builds(x.ThroughputClass, called=st.integers(0, 15), calling=st.integers(0, 15)),
        st.builds(
            x.FastSelectReverseCharging,
            fast_select=st.integers(0, 3),
            reverse_charging=st.integers(0, 1),
        ),
        # A code means one thing behind the marker of the DTEs and another in front of it.
        st.builds(x.Marker, value=st.sampled_from((0x00, 0x0F, 0xFF))),
        st.builds(x.Priority, value=DATA),
        st.builds(x.Protection, value=DATA),
        st.builds(x.FacilityD, code=st.sampled_from((0xC6, 0xD2, 0xD4)), value=DATA),
        st.builds(x.FacilityA, code=st.just(0x3E), value=OCTET.map(lambda o: bytes([o]))),
        st.builds(x.NetworkUserIdentification, value=DATA),
    ),
    max_size=4,
    unique_by=type,
)
PACKETS = st.one_of(
    st.builds(
        x.CallRequest,
        lcn=LCN,
        called_address=DIGITS,
        calling_address=DIGITS,
        facilities=FACILITIES,
        user_data=DATA,
    ),
    st.builds(x.ClearRequest, lcn=LCN, cause=OCTET, diagnostic=OCTET),
    st.builds(x.ClearConfirmation, lcn=LCN),
    st.builds(x.ResetRequest, lcn=LCN, cause=OCTET, diagnostic=OCTET),
    st.builds(x.ResetConfirmation, lcn=LCN),
    st.builds(
        x.Data,
        lcn=LCN,
        q=st.integers(0, 1),
        d=st.integers(0, 1),
        m=st.integers(0, 1),
        p_s=NUMBER,
        p_r=NUMBER,
        user_data=DATA,
    ),
    st.builds(x.Data128, lcn=LCN, p_s=st.integers(0, 127), p_r=st.integers(0, 127), user_data=DATA),
    st.builds(x.RR, lcn=LCN, p_r=NUMBER),
    st.builds(x.RNR, lcn=LCN, p_r=NUMBER),
    st.builds(x.RR128, lcn=LCN, p_r=st.integers(0, 127)),
    st.builds(x.Interrupt, lcn=LCN, user_data=DATA),
    st.builds(x.InterruptConfirmation, lcn=LCN),
    st.builds(x.RestartRequest, cause=OCTET, diagnostic=OCTET),
    st.builds(x.Diagnostic, diagnostic=OCTET, explanation=st.binary(min_size=3, max_size=3)),
)


@st.composite
def templates(draw: st.DrawFn, packet: Packet) -> Packet:
    """A template that names some fields of a packet: as they are, otherwise, or by a matcher."""
    made = type(packet)()
    names = sorted(n for n in packet.fields if n not in ("facilities", "type"))
    for name in draw(st.lists(st.sampled_from(names), unique=True, max_size=3)) if names else ():
        made.fields[name] = draw(_wanted(packet.fields[name]))
    if packet.fields.get("facilities") and draw(st.booleans()):
        made.fields["facilities"] = [draw(st.sampled_from(packet.fields["facilities"])).copy()]
        kind = type(made.fields["facilities"][0])
        if kind not in (x.FacilityA, x.FacilityD) and draw(st.integers(0, 3)) == 0:
            made.fields["facilities"] = [lacks(kind)]
    return made


def _wanted(value: Any) -> st.SearchStrategy[Any]:
    other: list[st.SearchStrategy[Any]] = [st.just(value), st.just(ABSENT)]
    if isinstance(value, int):
        other += [
            st.just((value + 1) % 8),
            st.just(between(max(value - 1, 0), value)),
            st.just(not_in(value)),
            st.just(one_of(value, None)),
        ]
    elif value:
        other += [st.just(value[:-1]), st.just(OneOf((value, value + value[:1])))]
    return st.one_of(other)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_match_and_filter_agree(data: st.DataObject, wireshark: WiresharkJudge) -> None:
    packets = data.draw(st.lists(PACKETS, min_size=2, max_size=8))
    made = [data.draw(templates(p)) for p in packets]
    octets = [bytes(p) for p in packets]
    # All in two segments, so that a filter that mixes packets of a segment is found out.
    half = len(octets) // 2
    segments = [part for part in (octets[:half], octets[half:]) if part]
    places = [(4 + i, k) for i, part in enumerate(segments) for k in range(1, len(part) + 1)]
    filters = [to_filter(t) for t in made]
    reading = wireshark.read(Exchange(segments).capture(), filters)
    assert [(p.frame, p.k) for p in reading.packets] == places
    for template, text, hits in zip(made, filters, reading.hits, strict=True):
        mine = [place for place, o in zip(places, octets, strict=True) if matches(template, o)]
        assert [tuple(hit) for hit in hits] == mine, text


def test_a_single_octet_is_no_name_of_a_protocol(wireshark: WiresharkJudge) -> None:
    """dc, fc and ff are protocols to Wireshark."""
    packet = x.Interrupt(lcn=1, user_data=b"\xdc")
    wanted = [x.Interrupt(user_data=bytes([octet])) for octet in range(256)]
    filters = [to_filter(template) for template in wanted]
    hits = wireshark.read(Exchange([[bytes(packet)]]).capture(), filters).hits
    assert [octet for octet in range(256) if hits[octet]] == [0xDC]
