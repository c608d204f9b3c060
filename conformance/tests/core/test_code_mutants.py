# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants of the router's code: what is changed, how they are drawn, and the table of them."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from x25shark.selftest import code_mutants
from x25shark.selftest.code_mutants import SORTS, Table, draw, fixed_sample
from x25shark.selftest.mutant_hunt import Hunted, Reach, uses_of
from x25shark.selftest.mutation import Mutant, mutants_of, mutated, sources

SOURCE = '''
"""Text."""
LIMIT = 7

class Thing:
    def step(self, count: int, other: str = "x") -> bool:
        """Text."""
        if count < LIMIT and not self.over:
            self.count += 1
            self.send(count, other)
        return octets[at : at + count] == b""
'''


def changed(operator: str) -> list[str]:
    """Every mutant of the source with this operator, as text."""
    names = [m.name for m in mutants_of("thing", SOURCE) if f":{operator}:" in m.name]
    return [ast.unparse(mutated("thing", SOURCE, name)) for name in names]


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("compare", ["count <= LIMIT", "count >= LIMIT", "!= b''"]),
        ("connect", ["count < LIMIT or not self.over"]),
        ("part", ["if not self.over and", "count < LIMIT and count < LIMIT"]),
        ("not", ["not not self.over"]),
        ("decide", ["if True:", "if False:"]),
        ("step", ["self.count -= 1"]),
        ("constant", ["LIMIT = 8", "LIMIT = 6", "self.count += 2", "self.count += 0"]),
        ("exchange", ["self.send(other, count)"]),
        ("calculate", ["at:at - count"]),
        ("slice", ["at + 1:at + count", "at:at + count + 1"]),
        ("answer", ["return not octets"]),
        ("drop", ["pass\n        self.send", "self.count += 1\n            pass"]),
    ],
)
def test_what_an_operator_changes(operator: str, expected: list[str]) -> None:
    found = changed(operator)
    assert len(found) >= len(expected) - (operator == "drop")
    if operator != "drop":
        for text in expected:
            assert any(text in one for one in found), (text, found)
    assert all(one != ast.unparse(ast.parse(SOURCE)) for one in found)


def test_what_is_for_people_stays() -> None:
    source = 'def f():\n    """Text."""\n    assert a == 1\n    print(1 + 1)\n    log(f"{x + 1}")\n'
    assert mutants_of("m", source) == []


def test_every_mutant_of_the_router_has_a_name_of_its_own_and_can_be_compiled() -> None:
    for module, text in sources().items():
        found = mutants_of(module, text)
        assert len({m.name for m in found}) == len(found)
        for mutant in found[:: max(1, len(found) // 8)]:
            compile(mutated(module, text, mutant.name), module, "exec")
    with pytest.raises(KeyError):
        mutated("codec", sources()["codec"], "codec:-:drop:9999")


def test_a_sample_is_the_same_again_and_even() -> None:
    drawn = draw(60, 5)
    assert drawn == draw(60, 5) != draw(60, 6)
    assert len({m.module for m in drawn[:20]}) == 20


def test_the_fixed_sample_names_mutants_that_exist() -> None:
    sample = fixed_sample()
    every = {m.name for module, text in sources().items() for m in mutants_of(module, text)}
    assert set(sample.survivors) <= every
    assert {s.sort for s in sample.survivors.values()} <= set(SORTS)
    assert len(draw(sample.count, sample.seed)) == sample.count


def test_the_changed_module_is_loaded_and_no_other() -> None:
    """The router as a process, with a change that its help shows."""
    name = next(
        m.name
        for m in mutants_of("codec", sources()["codec"])
        if m.name.startswith("codec:encode_flow:")
    )
    told = subprocess.run(
        [
            *(sys.executable, "-m", "x25shark.selftest.mutant_router", "--mutant", name),
            *("--config", "/nonexistent"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 2
    assert "nonexistent" in told.stderr
    unknown = subprocess.run(
        [sys.executable, "-m", "x25shark.selftest.mutant_router", "--mutant", "codec:-:drop:9999"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KeyError" in unknown.stderr


def test_the_order_of_the_cases() -> None:
    """Who runs near the place what others do not comes first."""
    mutant = Mutant("codec", "codec:f:drop:1", 12, "")
    reach = Reach(
        "reference",
        lines={"A-01": {"codec": [11]}, "B-01": {"codec": [12]}, "B-02": {"codec": [12, 13]}},
    )
    assert reach.order(mutant) == ["B-02", "B-01"]
    assert not reach.reaches(Mutant("codec", "codec:f:drop:2", 14, ""))
    reach.start = {"codec": [12]}
    assert sorted(reach.order(mutant)) == ["A-01", "B-01", "B-02"]


def test_a_number_with_a_name_is_reached_where_it_is_used() -> None:
    line = sources()["codes"].splitlines().index("    TOO_LONG: Final = 39") + 1
    used = uses_of("codes", line)
    assert {module for module, _ in used} >= {"data_flow", "negotiation"}
    place = sorted(used)[0]
    reach = Reach("reference", lines={"A-01": {place[0]: [place[1]]}, "A-02": {place[0]: [1]}})
    reach.start = {"codes": [line]}
    assert reach.order(Mutant("codes", "codes:Diag:constant:37", line, "")) == ["A-01"]


def test_a_value_in_a_table_is_used_where_the_table_is() -> None:
    line = sources()["tables"].splitlines().index("UNDEFINED: Final = -1") + 1
    assert {module for module, _ in uses_of("tables", line)} >= {"channel", "serial_channel"}


def test_where_any_case_may_show_it_those_that_reach_most_come_first() -> None:
    reach = Reach(
        "reference",
        lines={"A-01": {"codec": [1]}, "A-02": {"codec": [1, 2]}, "A-03": {"codec": [1, 2, 3]}},
        start={"config": [5]},
    )
    assert reach.order(Mutant("config", "config:f:drop:1", 5, ""))[0] == "A-03"


def row(mutant: str, by: str = "", *differs: str) -> Hunted:
    return Hunted(mutant, profile="reference", by=by, differs=list(differs))


def test_sorts_of_survivors() -> None:
    table = Table(None, go_on=False)
    names = ("caught", "same", "open", "unreached")
    table.rows = {
        "caught": [row("caught"), row("caught", "PLP-RST-01")],
        "same": [row("same")],
        "open": [row("open", "", "PLP-RST-01")],
    }
    assert [table.sort(Mutant("codec", name, 1, "")) for name in names] == list(names)


def test_the_table_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    table = Table(path, go_on=True)
    table.reaches = {"reference": Reach("reference", lines={"A-01": {"codec": [1]}})}
    table.rows = {"one": [row("one", "PLP-RST-01")]}
    table.save()
    again = Table(path, go_on=True)
    assert again.rows == table.rows and again.reaches == table.reaches
    other = json.loads(path.read_text())
    path.write_text(json.dumps({**other, "digest": "of another suite"}))
    assert Table(path, go_on=True).reaches == {}
    path.write_text("[]")
    with pytest.raises(ValueError, match="is not a table of an earlier run"):
        Table(path, go_on=True)


def test_bad_usage(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert code_mutants.main(["codec:none:drop:1"]) == 2
    assert "no mutant codec:none:drop:1" in capsys.readouterr().err
    path = tmp_path / "table.json"
    path.write_text("{}")
    assert code_mutants.main(["--json", str(path), "--go-on"]) == 2
    assert "is not a table of an earlier run" in capsys.readouterr().err
