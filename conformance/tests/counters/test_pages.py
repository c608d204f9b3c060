# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a counter stands in a page, and what counts as one."""

from __future__ import annotations

from typing import Any

import pytest
from x25shark.counters.pages import COUNTER32, moved, numbers, others_moved, value
from x25shark.counters.paths import Missing, PathError, parse

PAGE = {
    "xot": {"calls.in": 3, "clears": {"0x00": 2, "0x13": 5}, "rate": 2.5, "up": True},
    "interfaces": [{"name": "s0", "in": 7}, {"name": "s1", "in": 9}],
    "127.0.0.1": {"text": "12", "whole": 4.0, "word": "x", "none": None},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ('xot."calls.in"', [3]),
        ("xot.'calls.in'", [3]),
        ("xot.clears.*", [2, 5]),
        ("interfaces[0].in", [7]),
        ("interfaces[-1].in", [9]),
        ("interfaces.*.in", [7, 9]),
        ('"127.0.0.1".text', ["12"]),
        ('$.xot."calls.in"', [3]),
    ],
)
def test_what_a_path_finds(path: str, found: list[Any]) -> None:
    assert parse(path).values(PAGE) == found


def test_a_path_below_a_root_and_with_a_cause() -> None:
    path = parse('"0x{cause:02x}"').with_cause(0x13).below(parse("xot.clears"))
    assert path.values(PAGE) == [5]
    assert path.text == 'xot.clears."0x13"'
    assert parse("{cause}").with_cause(19).steps == ("19",)
    assert parse("$.interfaces").below(parse("xot")).values(PAGE) == [PAGE["interfaces"]]
    assert parse("xot").below(parse("")).values(PAGE) == [PAGE["xot"]]


@pytest.mark.parametrize("path", ["xot.calls", "interfaces[2].in", "interfaces.in", "xot.*.x"])
def test_what_is_not_there(path: str) -> None:
    with pytest.raises(Missing, match="has no"):
        parse(path).values(PAGE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a..b", "a name is missing at character 3"),
        (".a", "at character 1"),
        ("a.", "at character 3"),
        ('a."b', "at character 3"),
        ("a b", "a dot or \\[ is needed at character 2"),
        ("a[x]", "at character 2"),
        ("a[1]b", "a dot or \\[ is needed at character 5"),
        ("{count}", "unknown placeholder {count}"),
        ("x" * 2000, "2000 characters"),
        (5, "must be text"),
    ],
)
def test_what_is_no_path(text: Any, message: str) -> None:
    with pytest.raises(PathError, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ('xot."calls.in"', 3),
        ("xot.clears.*", 7),
        ("xot.rate", None),
        ("xot.up", None),
        ('"127.0.0.1".text', 12),
        ('"127.0.0.1".whole', 4),
        ('"127.0.0.1".word', None),
        ('"127.0.0.1".none', None),
        ("nothing", None),
    ],
)
def test_what_counts_as_a_counter(path: str, found: int | None) -> None:
    assert value(PAGE, (parse(path),)) == found


@pytest.mark.parametrize("huge", [10**20, -(10**900), 1e300, float("inf"), float("nan")])
def test_what_no_router_can_have_counted(huge: float) -> None:
    assert value({"a": huge, "b": 1}, (parse("a"),)) is None
    assert value({"a": 2**64 - 1, "b": 1}, (parse("a"), parse("b"))) == 2**64


def test_several_paths_are_summed_up() -> None:
    both = (parse("interfaces[0].in"), parse("interfaces[1].in"))
    assert value(PAGE, both) == 16
    assert value(PAGE, (*both, parse("nothing"))) == 16, "it has counted nothing"
    assert value(PAGE, (parse("nothing"), parse("nor"))) is None
    assert value(PAGE, (*both, parse("xot.rate"))) is None, "no counter"


def test_a_counter_of_32_bits_passes_its_top() -> None:
    assert moved(COUNTER32 - 2, 3, 5) == 5
    assert moved(COUNTER32 - 2, 3, 4) == 5
    assert moved(7, 4, 5) == -3


def test_a_sum_passes_the_top_of_each_of_its_counters() -> None:
    assert moved(2 * COUNTER32 - 4, 2, 6) == 6
    assert moved(2 * COUNTER32 - 4, COUNTER32 - 1, 3) == 3


def test_what_moved_by_just_as_much() -> None:
    before = {"x": {"a": 1, "b.c": [5, 5], "d": 9}, "y": {"a": 0}}
    after = {"x": {"a": 1, "b.c": [5, 8], "d": 9, "new": 3}, "y": {"a": 3}}
    assert others_moved(before, after, parse("x"), 3) == ['x."b.c"[1]', "x.new"]
    assert others_moved(before, after, parse("nothing"), 3) == []
    mapped = [parse('x."b.c".*'), parse("x.{cause}"), parse("n.new")]
    assert others_moved(before, after, parse("x"), 3, mapped) == ["x.new"]


def test_what_a_path_leads_to() -> None:
    by_cause = parse('clears."0x{cause:02x}"')
    assert by_cause.leads_to(("clears", "0x1f"))
    assert not by_cause.leads_to(("clears", "0xno"))
    assert not by_cause.leads_to(("clears", "0x1f", "x"))
    assert parse("a.*").leads_to(("a", 5))
    assert not parse("a.*").leads_to(("b", 5))


def test_a_page_without_end_is_looked_at_in_part() -> None:
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    assert list(numbers(deep)) == []
    wide = [[0] * 1000] * 1000
    assert len(list(numbers(wide))) < 30_000


@pytest.mark.parametrize("document", [{"a": []}, {"a": {"x": 1, "y": 2}}, {}])
def test_where_one_value_has_to_stand(document: Any) -> None:
    assert parse("a.*").value({"a": [5]}) == 5
    with pytest.raises(Missing):
        parse("a.*").value(document)
