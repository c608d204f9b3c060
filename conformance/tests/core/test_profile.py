# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile that cannot be used gets one message: file, line, field, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from x25shark.line_places import BY_KEY
from x25shark.profile import ProfileError, builtin_profiles, load_profile, parse_profile

GOOD = """\
relay_model = "local"
pics = ["P-MOD128"]

[xot]
router = "192.0.2.1"
a = "192.0.2.10:2000"
b = "192.0.2.11"

[addresses]
a = "31"
b = "21"
"""


@pytest.mark.parametrize("name", builtin_profiles())
def test_built_in_profiles_load(name: str) -> None:
    assert load_profile(name).name


def test_the_shortest_profile() -> None:
    profile = parse_profile(GOOD, "own.toml")
    assert profile.configuration == "T1"
    assert profile.xot_a == ("192.0.2.10", 2000)
    assert profile.xot_end.router == ("192.0.2.1", 1998)
    assert {"P-MOD128", "P-SVC", "M-LOCAL", "R-SW"} <= profile.declared
    assert not profile.is_loopback


def test_a_side_that_the_router_cannot_reach() -> None:
    assert parse_profile(GOOD, "own.toml").out_of_reach == ""
    alone = GOOD.replace('"192.0.2.11"', '"127.0.0.1"')
    assert parse_profile(alone, "own.toml").out_of_reach.startswith("xot.b is 127.0.0.1: only this")
    both = alone.replace('"192.0.2.1"', '"127.0.0.2"')
    assert parse_profile(both, "own.toml").out_of_reach == ""


def test_a_profile_that_extends_another(tmp_path: Path) -> None:
    """Tables are joined, the rest is replaced, and the text says all of it."""
    (tmp_path / "base.toml").write_text(GOOD + '[limits]\ncalls = 7\n[ip]\nrouter = "10.0.0.1"\n')
    own = tmp_path / "own.toml"
    own.write_text(
        'extends = "base.toml"\nomits = ["ip", "limits.calls"]\nrelay_model = "splice"\n'
        '[addresses]\nb = "99"\n'
    )
    found = load_profile(str(own))
    assert (found.relay_model, found.addresses.a, found.addresses.b) == ("splice", "31", "99")
    assert found.ip is None and found.limits.calls != 7
    again = parse_profile(found.text, "again.toml")
    assert again.model_dump() == found.model_dump()
    further = tmp_path / "further.toml"
    further.write_text('extends = "own.toml"\nlacks = ["P-SVC"]\n')
    assert load_profile(str(further)).addresses.b == "99"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('extends = "none.toml"', "line 1: extends: .*none.toml: no such profile file"),
        ("extends = 5", "line 1: extends: must be the name of a profile, or its path"),
        ('omits = ["ip"]', "line 1: omits: goes with extends alone"),
        ('extends = "own.toml"', "extends itself"),
        ('extends = "reference"\nomits = ["ip.none"]', "'ip.none' is not in what the file extends"),
        ('extends = "reference"\nomits = "ip"', "omits: must be a list of keys"),
        ('extends = "reference"\nrelay_modl = "local"', "line 2: relay_modl: unknown key"),
        ('extends = "reference"\nomits = ["addresses.b"]', "addresses: b is missing"),
    ],
)
def test_what_cannot_be_extended(text: str, message: str, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(text)
    with pytest.raises(ProfileError, match=message) as caught:
        load_profile(str(own))
    assert "\n" not in str(caught.value)


def test_the_tester_s_own_hosts() -> None:
    assert parse_profile(GOOD, "own.toml").own_hosts == {"192.0.2.10", "192.0.2.11"}
    chosen = GOOD.replace("192.0.2.10:2000", "0.0.0.0")
    assert not parse_profile(chosen, "own.toml").own_hosts, "the system chooses: any may be ours"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "relay_model",
            "relay_modl",
            "line 1: relay_modl: unknown key; did you mean 'relay_model'?",
        ),
        ("[addresses]", "[adresses]", "line 9: adresses: unknown key; did you mean 'addresses'?"),
        ('"192.0.2.1"', '"192.0.2.256"', "line 5: xot.router: '192.0.2.256' is not an IPv4"),
        ('"192.0.2.10:2000"', '"192.0.2.10:0"', "line 6: xot.a: '192.0.2.10:0' is not an IPv4"),
        ('"192.0.2.1"', "5", "line 5: xot.router: must be text"),
        ('"192.0.2.1"', '"0.0.0.0"', "line 5: xot.router: 0.0.0.0 is where a router listens"),
        ('a = "31"', 'a = "31x"', "line 10: addresses.a: '31x' is not 1 to 15 digits"),
        ('a = "31"', 'a = ""', "line 10: addresses.a:"),
        ('"P-MOD128"', '"P-MOD127"', "line 2: pics: 'P-MOD127' is not a PICS item; did you mean"),
        ('"local"', '"locl"', "line 1: relay_model: 'locl' is not allowed; allowed are: 'local'"),
        ('b = "21"', "", "addresses: b is missing"),
        ('b = "192.0.2.11"', "", "addresses: without xot.b (a second side) addresses.echo"),
        ('router = "192.0.2.1"', "", "xot.router: is missing"),
        ('b = "21"', 'b = "21"\n[limits]\nwindow = "7x"', "line 13: limits.window:"),
        ('b = "21"', 'b = "21"\n[times]\nreaction = -1', "line 13: times.reaction:"),
        ("[xot]", "[xot", "not TOML: "),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    said_of: Callable[[str, str, str], str], old: str, new: str, message: str
) -> None:
    assert message in said_of(GOOD, old, new)


def test_several_errors_are_several_lines() -> None:
    text = GOOD.replace("router =", "routr =").replace('a = "31"', 'a = "x"')
    with pytest.raises(ProfileError) as raised:
        parse_profile(text, "own.toml")
    assert len(str(raised.value).splitlines()) == 3


@pytest.mark.parametrize("octets", [b"\xff\xfe", b"[" * 5000, b"a = 1\n" * 200_000])
def test_a_file_that_is_no_profile(octets: bytes, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(octets)
    with pytest.raises(ProfileError, match=r"own\.toml"):
        load_profile(str(path))


def test_a_name_that_is_nothing() -> None:
    with pytest.raises(ProfileError, match="did you mean 'reference'"):
        load_profile("referense")
    with pytest.raises(ProfileError, match=r"no such .* file.*init missing/own\.toml"):
        load_profile("missing/own.toml")


LINE = """
[line.a]
tcp = "192.0.2.1:2001"
[line.b]
pty = "/dev/pts/7"
framing = "bit"
role = "dte"
[addresses]
b = "21"
"""


def test_a_profile_of_serial_lines_only() -> None:
    profile = parse_profile(LINE, "own.toml")
    assert profile.configurations == ("T4",)
    assert profile.two_sided
    assert {"L-LAPB", "L-HDLC", "R-SW"} <= profile.declared
    assert not profile.declared & {"X-TCP", "X-OUT", "L-INIT"}
    assert profile.line.a is not None
    assert profile.line.a.place == (BY_KEY["tcp"], ("192.0.2.1", 2001))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            'tcp = "192.0.2.1:2001"',
            "",
            f"own.toml, line 2: line.a: give one of {', '.join(BY_KEY)} and serial",
        ),
        ('pty = "/dev/pts/7"', 'pty = "dev"', "own.toml, line 5: line.b.pty"),
        ('framing = "bit"', 'framing = "bits"', "own.toml, line 6: line.b.framing: 'bits'"),
        ('role = "dte"', 'rôle = "dte"', "not TOML"),
        ('role = "dte"', "n1 = 1000", "own.toml, line 7: line.b.n1"),
        ('role = "dte"', "lcn = [9, 1]", "own.toml, line 7: line.b.lcn: [9, 1] is not two numbers"),
        ('role = "dte"', "rolle = 1", "own.toml, line 7: line.b.rolle: unknown key; did you mean"),
        (
            'pty = "/dev/pts/7"',
            'serial = "s1"',
            "line.b.serial: names an interface of the",
        ),
        (
            "[line.a]",
            '[xot]\nrouter = "192.0.2.1"\na = "192.0.2.2"\n[line.a]',
            "line.a: side A is already given",
        ),
        ("[addresses]\nb", "[addresses]\na", "addresses: b is missing"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(old: str, new: str, says: str) -> None:
    assert old in LINE
    with pytest.raises(ProfileError) as error:
        parse_profile(LINE.replace(old, new), "own.toml")
    assert says in str(error.value)


IP = """
[addresses]
ip = "1114"
[xot]
router = "192.0.2.1"
a = "192.0.2.2"
[ip]
router = "10.25.0.1"
tester = "10.25.0.2"
idle = 90
"""


def test_a_router_that_carries_ip_only() -> None:
    profile = parse_profile(IP, "own.toml")
    assert profile.configurations == ("T5",)
    assert "I-IP" in profile.declared
    assert profile.has("ip.idle")
    echoes = parse_profile(IP.replace("ip =", 'echo = "1111"\nip ='), "own.toml")
    assert echoes.configurations == ("T2",)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('ip = "1114"', 'echo = "1111"', "addresses: ip is missing: where calls that carry IP go"),
        (
            "10.25.0.2",
            "10.25.0.1",
            "own.toml, line 7: ip: tester: 10.25.0.1 is the router's own address",
        ),
        ("10.25.0.2", "10.25.0", "own.toml, line 9: ip.tester: "),
        ('tester = "10.25.0.2"', "", "own.toml, line 7: ip.tester: is missing"),
        ("idle = 90", "idle = -1", "own.toml, line 10: ip.idle: "),
        ("idle = 90", "mtu = 100", "own.toml, line 10: ip.mtu: "),
        ("idle = 90", 'encapsulations = ["nul"]', "own.toml, line 10: ip.encapsulations"),
        (IP[IP.index("[ip]") :], "", "ip: the section is missing: the IP addresses of router"),
    ],
)
def test_what_is_wrong_with_ip(old: str, new: str, says: str) -> None:
    with pytest.raises(ProfileError) as caught:
        parse_profile(IP.replace(old, new), "own.toml")
    assert says in str(caught.value)
