# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration of the reference router: what is wrong is said in one line with its place."""

from pathlib import Path
from typing import Any

import pytest
from x25shark.reference.config import load, parse, read
from x25shark.reference.config_table import ConfigError

ROUTE = {"prefix": "21", "to": "127.0.25.3:1998"}
SERIAL = {"name": "s0", "listen": "127.0.0.1:0"}
PVC = {"name": "S0", "lcn": 1, "remote_name": "S1", "remote_lcn": 2, "to": "echo"}


def test_lines_of_the_command_line(tmp_path: Path) -> None:
    """They come on top of those of the file, and what is wrong with them is one line."""
    file = tmp_path / "own.router"
    file.write_text('[[emulation]]\nat = "127.0.0.2"\n')
    lines = load(file, ['at = "127.0.0.3", in = { rate = 9600 }']).emulations
    assert [line.at for line in lines] == ["127.0.0.2", "127.0.0.3"]
    for text, said in (
        ('at = "127.0.0.2"', "has a line already"),
        ("at = 3", "emulation[2].at: must be a text"),
        ("at", "--emulate 'at': "),
        ("} \nmodel = 3 #", "--emulate"),
    ):
        with pytest.raises(ConfigError) as caught:
            load(file, [text])
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_configuration_that_extends_another(tmp_path: Path) -> None:
    base = 'model = "local"\n[ip]\nmtu = 9\n[[route]]\nprefix = "21"\n[[route]]\nprefix = "29"\n'
    (tmp_path / "base.router").write_text(base)
    own = tmp_path / "own.router"
    own.write_text('extends = "base.router"\nomits = ["ip", "route.29"]\nmodel = "splice"\n')
    assert read(own) == {"model": "splice", "route": [{"prefix": "21"}]}
    for text, said in (
        ('extends = "none.router"', "none.router: No such file"),
        ('extends = "own.router"', "a file that is extended extends none"),
        ('extends = "base.router"\nomits = ["route.77"]', "'route.77' is not in what the file"),
        ('extends = "base.router"\nomits = "ip"', "omits: must be a list of keys"),
    ):
        own.write_text(text)
        with pytest.raises(ConfigError) as caught:
            read(own)
        assert said in str(caught.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lisen": "x"}, "lisen: unknown key"),
        ({"listen": "127.0.0.1"}, "listen: must be an IPv4 address and port"),
        ({"listen": "localhost:1998"}, "listen: "),
        ({"listen": 1998}, "listen: must be a text"),
        ({"http": "192.0.2.1:80"}, "http: must be a loopback address"),
        ({"source": "here"}, "source: "),
        ({"model": "e2e"}, "model: must be one of local, end-to-end, splice"),
        ({"max_calls": 0}, "max_calls: must be a whole number from 1"),
        ({"max_calls": True}, "max_calls: "),
        ({"packet_size_max": 100}, "packet_size_max: must be a power of two"),
        ({"packet_size_max": 64}, "packet_size_max: must be 128 or more"),
        ({"timers": {"t11": -1}}, "timers.t11: must be a number of seconds"),
        ({"timers": {"t9": 1}}, "timers.t9: unknown key"),
        ({"timers": 3}, "timers: must be a table"),
        ({"route": ROUTE}, "route: must be written as"),
        ({"route": [{"to": "echo"}]}, "route[1].prefix: missing"),
        ({"route": [ROUTE | {"prefix": "2a"}]}, "route[1].prefix: must be at most 15 decimal"),
        ({"route": [ROUTE, ROUTE | {"to": "nowhere"}]}, "route[2].to: "),
        ({"route": [ROUTE | {"window": 3}]}, "route[1].window: needs model"),
        ({"route": [ROUTE | {"rewrite": {"cut": 1}}]}, "route[1].rewrite.cut: unknown key"),
        ({"route": [ROUTE | {"alternates": "x"}]}, "route[1].alternates: must be a list"),
        ({"route": [{"prefix": "1", "to": "echo", "alternates": ["127.0.0.1:1"]}]}, "inside"),
        ({"pvc": [PVC | {"to": "S7/1"}]}, "pvc: s0/1: to must be"),
        ({"pvc": [PVC, PVC]}, "two entries"),
        ({"pvc": [PVC | {"lcn": 4096}]}, "pvc[1].lcn: "),
        ({"pvc": [PVC | {"window_in": 8}]}, "pvc[1].window_in: "),
        ({"pvc": [PVC | {"retry": 0}]}, "pvc[1].retry: "),
        ({"pvc": [PVC | {"name": "x" * 256}]}, "pvc[1].name: "),
        ({"serial": [{"name": "s0"}]}, "serial[1].listen: give one of"),
        ({"serial": [SERIAL | {"pty": True}]}, "serial[1].listen: give one of"),
        ({"serial": [SERIAL | {"name": "s 0"}]}, "serial[1].name: "),
        ({"serial": [SERIAL, SERIAL]}, "serial: two entries"),
        ({"serial": [SERIAL | {"framing": "ppp"}]}, "serial[1].framing: must be one of octet, bit"),
        ({"serial": [SERIAL | {"role": "ste"}]}, "serial[1].role: "),
        ({"serial": [SERIAL | {"modulo": 9}]}, "serial[1].modulo: must be 8 or 128"),
        ({"serial": [SERIAL | {"lcn_range": [0, 9]}]}, "serial[1].lcn_range: "),
        ({"serial": [SERIAL | {"lcn_range": [True, 9]}]}, "serial[1].lcn_range: "),
        ({"serial": [SERIAL | {"t2": 4}]}, "serial[1].t1: must be above 0 and above t2"),
        ({"serial": [SERIAL | {"n1": 100}]}, "serial[1].n1: "),
        ({"serial": [SERIAL | {"k": 8}]}, "serial[1].k: "),
        ({"serial": [SERIAL | {"speed": 9600}]}, "serial[1].speed: unknown key"),
        ({"route": [ROUTE | {"to": "serial:s0"}]}, "route[1].to: no [[serial]]"),
        (
            {"serial": [SERIAL], "route": [ROUTE | {"to": "serial:s0", "model": "splice"}]},
            'route[1].model: must be "local"',
        ),
    ],
)
def test_wrong_configuration(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse(values, "router.toml: ")
    assert message in str(error.value)
    assert str(error.value).startswith("router.toml: ")
    assert "\n" not in str(error.value)


def test_defaults_and_spelling() -> None:
    assert parse({}).t11 == 180
    assert parse({"max-calls": 7, "stop-on-eof": True}).max_calls == 7
    values = {"serial": [SERIAL], "route": [ROUTE | {"to": "serial:s0"}]}
    assert parse(values).routes[0].model == "local"
    assert parse(values).serials[0].lapb.n1 == 2104
    assert parse({"serial": [SERIAL | {"role": "dte"}]}).serials[0].lapb.initiate
    route = parse({"model": "local", "route": [ROUTE | {"packet-size": 512}]}).routes[0]
    assert (route.packet_size, route.independent, route.model) == (9, True, "local")


def test_file_that_is_not_there_or_no_toml(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("listen = \n")
    with pytest.raises(ConfigError, match="line 1"):
        load(broken)
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"broken\.toml"):
        load(broken)
