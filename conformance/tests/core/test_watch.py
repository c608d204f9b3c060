# SPDX-License-Identifier: GPL-2.0-or-later
"""Demands on a whole run: headers, SYNs, PVC setups and facility lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from scapy_x25 import (
    X25,
    CallRequest,
    FacilityB,
    PacketSize,
    PvcSetup,
    ResetRequest,
)
from x25shark.judges import tester
from x25shark.judges.expectation import Direction
from x25shark.judges.watch import Follows, Watch
from x25shark.links.xot import Cutter, Unit
from x25shark.suite import test_campaign as campaign

DIRECTION = Direction(("192.0.2.1", 1998), ("192.0.2.10", 20000))


@dataclass
class Link:
    """One connection as a link keeps it."""

    received: list[Unit] = field(default_factory=list)
    sent: list[Unit] = field(default_factory=list)
    end: str | None = None
    octets_read: int = 0
    syn_octets: int | None = None
    finished_first: bool = False
    sent_in_part: bool = False
    end_at: int | None = None


def judge(
    came: bytes, sent: bytes = b"", end: str | None = None, syn_octets: int | None = None
) -> tester.TesterJudge:
    link = Link(Cutter().take(came), Cutter().take(sent), end, len(came), syn_octets)
    return tester.TesterJudge({DIRECTION: tester.Received(link)}, {})


def unit(packet: bytes, version: int = 0, length: int | None = None) -> bytes:
    announced = len(packet) if length is None else length
    return version.to_bytes(2, "big") + announced.to_bytes(2, "big") + packet


RESET = bytes(ResetRequest(lcn=1))


def first_unmet(watch: Watch, looks: tester.TesterJudge, sent: Sequence[bytes] = ()) -> str | None:
    for expectation in watch.expectations("A", DIRECTION, looks, sent):
        if not isinstance(expectation, Follows) or expectation.applies(looks):
            seen = expectation.evaluate(looks, set())
            if not seen.met:
                return seen.saw
    return None


def demands(case: object, model: str = "local") -> Watch:
    watch = Watch("RFC 1613", model)
    case(watch)  # type: ignore[operator]
    return watch


@pytest.mark.parametrize(
    ("came", "end", "said"),
    [
        (unit(RESET) * 3, "FIN", None),
        (unit(RESET) + unit(RESET)[:-1], None, None),
        (unit(RESET) + unit(RESET)[:-1], "RST", None),
        (unit(RESET) + unit(RESET)[:-1], "FIN", "8 octets that are not a whole unit"),
        (unit(RESET) + unit(RESET, version=256), None, "another version"),
        (unit(RESET) + unit(b""), None, "length 0"),
        (unit(RESET[:2]), None, "length 2"),
        (unit(RESET + bytes(5000)), None, "length 5005"),
        (unit(RESET, length=9) + unit(RESET), "FIN", "5 octets that are not a whole unit"),
    ],
)
def test_headers(came: bytes, end: str | None, said: str | None) -> None:
    found = first_unmet(demands(campaign.test_headers_of_the_router), judge(came, end=end))
    assert found is None if said is None else said in str(found)


def test_the_rest_of_a_unit_is_dropped_when_the_tester_has_closed() -> None:
    came = unit(RESET) + unit(RESET)[:-1]
    link = Link(Cutter().take(came), [], "FIN", len(came), finished_first=True)
    looks = tester.TesterJudge({DIRECTION: tester.Received(link)}, {})
    assert first_unmet(demands(campaign.test_headers_of_the_router), looks) is None


def test_a_splice_passes_what_the_tester_sent() -> None:
    bad = unit(RESET, version=1)
    splice = demands(campaign.test_headers_of_the_router, "splice")
    assert first_unmet(splice, judge(bad, sent=bad)) is None
    assert first_unmet(splice, judge(bad, sent=unit(RESET))) is not None


@pytest.mark.parametrize(("octets", "said"), [(0, None), (4, "4 octets"), (None, None)])
def test_octets_with_the_syn(octets: int | None, said: str | None) -> None:
    watch = demands(campaign.test_no_octets_with_the_syn)
    looks = judge(unit(RESET), syn_octets=octets)
    assert first_unmet(watch, looks) == said
    assert len(watch.expectations("B", DIRECTION, looks, [])) == (octets is not None)


def test_status_of_pvc_setups() -> None:
    watch = demands(campaign.test_status_values_of_pvc_setups)
    asks = unit(bytes(PvcSetup(lcn=1, pvc_status=0x14)))
    assert "PVC setup" in str(first_unmet(watch, judge(asks)))
    assert first_unmet(watch, judge(unit(bytes(PvcSetup(lcn=1, pvc_status=0))))) is None
    assert first_unmet(watch, judge(unit(call()) + asks)) is None
    nothing = judge(unit(RESET))
    rules = watch.expectations("A", DIRECTION, nothing, [])
    assert [isinstance(r, Follows) and r.applies(nothing) for r in rules] == [False, False]
    assert [isinstance(r, Follows) and r.mild for r in rules] == [False, True]


def call(length: int | None = None, facilities: list[X25] | None = None) -> bytes:
    whole = CallRequest(
        lcn=1,
        called_address="2100001",
        calling_address="3100001",
        facilities=facilities or [PacketSize(called=7, calling=7)],
        user_data=b"\xc0\0\0\1",
    )
    if length is not None:
        whole.facility_length = length
    return bytes(whole)


@pytest.mark.parametrize(
    ("packet", "right"),
    [(call(), True), (call(2), False), (call(5), False), (call(100), False), (call(0), True)],
)
def test_facility_length(packet: bytes, right: bool) -> None:
    watch = demands(campaign.test_facility_length_matches_the_facilities)
    assert (first_unmet(watch, judge(unit(packet))) is None) is right


@pytest.mark.parametrize(
    ("packet", "said"),
    [
        (call(2), "the facility length is 2: it cuts off the last facility"),
        (call(100), "the facility length is 100, and fewer octets follow"),
        (call(5), "the facility length is 5: it counts the octets c0 00 as a facility that nobody"),
    ],
)
def test_what_is_wrong_with_a_facility_length(packet: bytes, said: str) -> None:
    watch = demands(campaign.test_facility_length_matches_the_facilities)
    assert said in (first_unmet(watch, judge(unit(packet))) or "")


def test_facilities_that_nobody_defined() -> None:
    """Octets of the user data may look like one; the tester's own pass."""
    watch = demands(campaign.test_facility_length_matches_the_facilities)
    strange = call(facilities=[FacilityB(code=0x7E, value=b"\1\2")])
    assert first_unmet(watch, judge(unit(strange))) is not None
    assert first_unmet(watch, judge(unit(strange)), [strange]) is None
    splice = demands(campaign.test_facility_length_matches_the_facilities, "splice")
    assert first_unmet(splice, judge(unit(call(2))), [call(2)]) is None
    assert first_unmet(splice, judge(unit(call(2))), [call()]) is not None


def test_the_capture_says_what_was_first_of_two_that_crossed() -> None:
    """The tester read the first Reset after it had sent its own; on the wire it was before it."""
    came, sent = (Cutter().take(unit(RESET) * count) for count in (3, 1))
    back = Direction(DIRECTION.destination, DIRECTION.source)

    def seen(*times: float) -> tester.TesterJudge:
        units = [u._replace(time=t) for u, t in zip((*came, *sent), times, strict=False)]
        link = Link(units[: len(times) - 1], [sent[0]._replace(time=times[-1])])
        return tester.TesterJudge({DIRECTION: tester.Received(link)}, {})

    def order(looks: tester.TesterJudge) -> list[tuple[bool, int]]:
        return [(sent, view.offset) for sent, _, view in looks.conversation(DIRECTION, back)]

    one = seen(2.0, 3.0, 4.0, 1.0)
    assert order(one) == [(True, 0), (False, 0), (False, 9), (False, 18)]
    one.settle_by(seen(1.0, 4.0, 3.0), ())
    # The capture lacks the last: it stays where it was, behind the one before it.
    assert order(one) == [(False, 0), (True, 0), (False, 9), (False, 18)]
