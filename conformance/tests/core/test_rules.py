# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules about the whole run take whatever a router sends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scapy.packet import Packet
from scapy_x25 import PACKETS, X25, CallRequest
from scapy_x25.x25 import code_of
from x25shark.judges.expectation import PacketView
from x25shark.judges.watch import Rule
from x25shark.suite import test_campaign, test_form

RULES: tuple[Callable[[Sequence[Packet]], Rule | None], ...] = (
    test_form._user_data_rule,
    test_form._dte_rule,
    test_form._cause_rule,
    test_form._answer_rule,
    *(partial(test_form._modulo_rule, splice=splice) for splice in (False, True)),
    *(partial(test_campaign._facilities_rule, splice=splice) for splice in (False, True)),
)
packets = st.builds(
    lambda gfi, octet_3, rest: bytes([gfi, 1, octet_3]) + rest,
    st.sampled_from([0x10, 0x20, 0x90, 0x50, 0x30]),
    st.sampled_from(sorted({code_of(kind) for kind in PACKETS})),
    st.binary(max_size=60),
)


@pytest.mark.parametrize("make", RULES)
@example(bytes.fromhex("10010f000103"))  # a facility that is cut off
@given(packets)
def test_no_rule_stumbles(make: Callable[[Sequence[Packet]], Rule | None], octets: bytes) -> None:
    packet = X25(octets)
    view = PacketView(0, len(octets), None, b"", 0, 0, octets)
    for sent in ([], [CallRequest()], [packet]):
        rule = make(sent)
        if rule is not None:
            rule([(True, CallRequest(), view), (False, packet, view)])
