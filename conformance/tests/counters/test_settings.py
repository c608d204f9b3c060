# SPDX-License-Identifier: GPL-2.0-or-later
"""The section [counters] of a profile: what it says, and what is wrong with it and where."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from x25shark.counters.names import NAMES
from x25shark.counters.settings import Counters
from x25shark.profile import ProfileError, load_profile, parse_profile

GOOD = """\
[xot]
router = "192.0.2.1"
a = "192.0.2.10"
b = "192.0.2.11"
[addresses]
b = "21"
[counters]
url = "http://127.0.0.1:8080/debug/vars"
[counters.names]
calls_in = 'xot."calls.in"'
circuits = ["xot.up_in", "xot.up_out"]
clears_in_by_cause = "xot.clears.{cause}"
[counters.roots]
router = "total"
a = 'peers."192.0.2.10"'
"""


def counters_of(text: str) -> Counters:
    counters = parse_profile(text, "own.toml").counters
    assert counters is not None
    return counters


def test_the_section() -> None:
    profile = parse_profile(GOOD, "own.toml")
    assert "G-MIB" in profile.declared
    counters = counters_of(GOOD)
    assert counters.named() == ["calls_in", "clears_in_by_cause", "circuits"]
    root = counters.root("a")
    assert root is not None
    assert root.steps == ("peers", "192.0.2.10")
    assert counters.root("b") is None
    (calls,) = counters.paths("calls_in") or ()
    assert calls.below(root).steps == ("peers", "192.0.2.10", "xot", "calls.in")


def test_without_roots_the_names_stand_at_the_top() -> None:
    counters = counters_of(GOOD[: GOOD.index("[counters.roots]")])
    root = counters.root("router")
    assert root is not None
    assert root.steps == ()
    assert counters.root("a") is None


def test_without_the_section_nothing_is_declared() -> None:
    profile = parse_profile(GOOD[: GOOD.index("[counters]")], "own.toml")
    assert profile.counters is None
    assert "G-MIB" not in profile.declared


def test_every_name_can_be_mapped() -> None:
    lines = [
        f'{name} = "x.{{cause}}"' if name_.by_cause else f'{name} = "x"'
        for name, name_ in NAMES.items()
    ]
    text = GOOD[: GOOD.index("calls_in")] + "\n".join(lines)
    assert counters_of(text).named() == list(NAMES)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("calls_in", "call_in", "line 10: counters.names.call_in: unknown key; did you mean"),
        ("calls.in\"'", "calls.in'", "line 10: counters.names.calls_in: 'xot.\"calls.in': a name"),
        ("'xot.\"calls.in\"'", "[]", "line 10: counters.names.calls_in: an empty list"),
        ("'xot.\"calls.in\"'", '""', "line 10: counters.names.calls_in: an empty path"),
        ("'xot.\"calls.in\"'", "5", "line 10: counters.names.calls_in: must be text such as"),
        ("'xot.\"calls.in\"'", '"x{cause}"', "line 10: counters.names.calls_in: does not count by"),
        (".{cause}", "", "line 12: counters.names.clears_in_by_cause: counts by cause: the path"),
        ("{cause}", "{c}", "line 12: counters.names.clears_in_by_cause: 'xot.clears.{c}': unknown"),
        ("[counters.names]", "[counters.name]", "line 9: counters.name: unknown key; did you mean"),
        ('router = "total"', 'c = "x"', "line 14: counters.roots.c: unknown key"),
        ("127.0.0.1", "192.0.2.1", "line 8: counters.url: 192.0.2.1 is not this machine"),
        ("127.0.0.1", "router.example", "line 8: counters.url: router.example is not this machine"),
        (
            "http://",
            "https://",
            "line 8: counters.url: 'https://127.0.0.1:8080/debug/vars': must be",
        ),
        (":8080", ":99999", "line 8: counters.url: 'http://127.0.0.1:99999/debug/vars' is not"),
        ("vars", "v\\u000aars", "line 8: counters.url:"),
        ('url = "http', 'timeout = 0\nurl = "http', "line 8: counters.timeout:"),
        ('url = "http', 'reader = "snmp"\nurl = "http', "line 8: counters.reader: 'snmp' is not"),
        ('url = "http://127.0.0.1:8080/debug/vars"', "", "counters: url is missing"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    said_of: Callable[[str, str, str], str], old: str, new: str, message: str
) -> None:
    assert message in said_of(GOOD, old, new)


def test_another_machine_where_the_profile_says_so() -> None:
    text = GOOD.replace("[counters]", "[counters]\nremote = true", 1)
    assert counters_of(text.replace("127.0.0.1", "192.0.2.1")).url is not None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "[::1]"])
def test_this_machine(host: str) -> None:
    assert counters_of(GOOD.replace("127.0.0.1", host)).url is not None


def test_g_mib_needs_the_section() -> None:
    text = 'pics = ["G-MIB"]\n' + GOOD[: GOOD.index("[counters]")]
    with pytest.raises(ProfileError, match=r"line 1: pics: G-MIB needs the section \[counters\]"):
        parse_profile(text, "own.toml")


@pytest.mark.parametrize("name", ["reference", "reference-e2e", "reference-splice"])
def test_built_in_profiles_have_counters(name: str) -> None:
    counters = load_profile(name).counters
    assert counters is not None
    assert counters.cleared is not None
    assert {"calls_in", "data_in", "circuits"} <= set(counters.named())
