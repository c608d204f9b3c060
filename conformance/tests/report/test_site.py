# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark site: the matrix of several runs, its trends, what it takes from hostile results."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from x25shark.cli import main
from x25shark.report import site
from x25shark.report.site import Given
from x25shark.results import CaseResult, Results, write_results
from x25shark.verdicts import Verdict

Cases = Callable[..., CaseResult]
Runs = Callable[[list[CaseResult]], Results]
Poison = Callable[[str], Results]


class Cells(HTMLParser):
    """The titles of the cells of the matrix, and every element's name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.titles: list[str] = []
        self.elements: set[str] = set()
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        values = dict(attrs)
        self.handlers += [name for name in values if name.startswith("on")]
        if tag == "span" and (values.get("class") or "").startswith("cell "):
            self.titles.append(values.get("title") or "")


def stored(folder: Path, results: Results, name: str, started: str) -> Path:
    """A report's folder with these results, and a capture for each case that names one."""
    results.run.router, results.run.started = name, started
    for case in results.cases:
        if case.evidence:
            capture = folder / case.evidence
            capture.parent.mkdir(parents=True, exist_ok=True)
            capture.write_bytes(f"{name} {case.id}".encode())
    write_results(results, folder / "results.json")
    return folder


def made(arguments: list[str], output: Path) -> str:
    """The page that the command writes."""
    done = CliRunner().invoke(main, ["site", *arguments, "--output", str(output)])
    assert done.exit_code == 0, done.output
    return (output / "index.html").read_text()


def test_routers_stand_beside_each_other(tmp_path: Path, case: Cases, run_of: Runs) -> None:
    one = run_of([case(1, Verdict.PASS), case(2, Verdict.FAIL)])
    two = run_of([case(1, Verdict.PASS), case(3, Verdict.INCONCLUSIVE)])
    first = stored(tmp_path / "a", one, "alpha", "2026-01-01T00:00:00Z")
    second = stored(tmp_path / "b", two, "beta", "2026-01-02T00:00:00Z")
    page = made([str(first), f"beta 2.0={second / 'results.json'}"], tmp_path / "site")
    assert Cells(page).titles == [
        "alpha: 1 FAIL, 1 PASS",
        "beta 2.0: 1 INCONCLUSIVE, 1 PASS",
        "alpha: PASS",
        "beta 2.0: PASS",
        "alpha: FAIL",
        "beta 2.0: not in the run",
        "alpha: not in the run",
        "beta 2.0: INCONCLUSIVE",
    ]
    assert ">1/2</span>" in page
    # The explanation of the failure, and its capture beside the page.
    assert "cause 5 came" in page
    # So is that of each cell of a run, whatever its verdict.
    links = re.findall(r'href="\./(captures/[^"]+)"', page)
    assert sorted((tmp_path / "site" / link).read_text() for link in links) == [
        "alpha PLP-RST-01",
        "alpha PLP-RST-02",
        "beta PLP-RST-01",
        "beta PLP-RST-03",
    ]


def test_captures_of_what_did_not_pass_come_first(
    tmp_path: Path, case: Cases, run_of: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the allowance is not enough for all."""
    results = run_of([case(1, Verdict.PASS), case(2, Verdict.FAIL), case(3, Verdict.PASS)])
    folder = stored(tmp_path / "a", results, "alpha", "2026-01-01T00:00:00Z")
    size = (folder / results.cases[0].evidence).stat().st_size if results.cases[0].evidence else 0
    for most, kept in (("CAPTURES_MOST", ["02", "01"]), ("PASSED_MOST", ["02", "01", "03"])):
        monkeypatch.setattr(site, most, len(kept) * size)
        page = site.page(site.view([Given("alpha", folder, results)], "t", tmp_path / most))
        found = re.findall(r'href="\./captures/1/PLP-RST-(\d\d)', page)
        assert sorted(found) == sorted(kept)
        monkeypatch.undo()
    monkeypatch.setattr(site, "PASSED_MOST", size)
    page = site.page(site.view([Given("alpha", folder, results)], "t", tmp_path / "site"))
    assert len(re.findall(r'href="\./captures/1/', page)) == 2


def test_runs_of_a_label_are_its_trend(tmp_path: Path, case: Cases, run_of: Runs) -> None:
    """In the order of their dates, whatever the order in which they are named."""
    runs = []
    for day, verdict in ((3, Verdict.PASS), (1, Verdict.PASS), (2, Verdict.FAIL)):
        results = run_of([case(1, verdict)])
        folder = tmp_path / str(day)
        runs.append(str(stored(folder, results, "alpha", f"2026-01-0{day}T00:00:00Z")))
    page = made(runs, tmp_path / "site")
    assert Cells(page).titles[-1] == "alpha: PASS"
    trend = page[page.index('id="trends-title"') :]
    assert re.findall(r"2026-01-0\d", trend) == ["2026-01-03", "2026-01-02", "2026-01-01"]
    changes = re.findall(r'<ul class="changes"><li>(.*?)</li>', trend)
    assert len(changes) == 2
    assert all("PLP-RST-01" in change for change in changes)
    text = (tmp_path / "site" / "index.md").read_text()
    assert "| group | alpha |" in text
    assert text.count("Changed in the run of") == 2


def test_markdown_names_what_failed(tmp_path: Path, case: Cases, run_of: Runs) -> None:
    results = run_of([case(2, Verdict.FAIL), case(3, Verdict.PASS)])
    made([str(stored(tmp_path / "a", results, "alpha", "2026"))], tmp_path / "site")
    text = (tmp_path / "site" / "index.md").read_text()
    assert r"| PLP\-RST | 1/2 |" in text
    assert r"- FAIL **PLP\-RST\-02**" in text


def test_hostile_text_is_inert(
    tmp_path: Path, poisoned: Poison, hostile: str, bad_characters: set[str]
) -> None:
    results = poisoned(hostile)
    page = site.page(site.view([Given(hostile, tmp_path, results)] * 2, hostile, tmp_path))
    assert not bad_characters & set(page)
    found = Cells(page)
    assert not {"script", "img", "iframe", "object"} & found.elements
    assert found.handlers == []
    assert "script-src" not in page
    assert "default-src &#39;none&#39;; style-src &#39;sha256-" in page
    text = site.markdown(site.view([Given(hostile, tmp_path, results)], hostile, tmp_path))
    assert not bad_characters & set(text)
    assert not re.search(r"(?<!\\)[<`\[]", text)
    assert "@team" not in text


def test_ten_megabytes_are_bounded(tmp_path: Path, poisoned: Poison) -> None:
    results = poisoned("z" * 10_000_000)
    assert len(site.page(site.view([Given("a", tmp_path, results)], "t", tmp_path))) < 500_000


@pytest.mark.parametrize("evidence", ["../secret.pcapng", "/etc/hostname", "link.pcapng", "x.txt"])
def test_no_capture_outside_the_report_is_copied(
    evidence: str, tmp_path: Path, case: Cases, run_of: Runs
) -> None:
    (tmp_path / "secret.pcapng").write_text("secret")
    report = tmp_path / "a"
    report.mkdir()
    (report / "link.pcapng").symlink_to(tmp_path / "secret.pcapng")
    (report / "x.txt").write_text("no capture")
    item = case(1, Verdict.FAIL)
    item.evidence = evidence
    page = site.page(site.view([Given("a", report, run_of([item]))], "t", tmp_path / "site"))
    assert "No capture is beside this page" in page
    assert not (tmp_path / "site" / "captures").exists()


def test_captures_are_bounded(
    tmp_path: Path, case: Cases, run_of: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "CAPTURES_MOST", 30)
    cases = [case(number, Verdict.FAIL) for number in (1, 2, 3)]
    folder = stored(tmp_path / "a", run_of(cases), "alpha", "2026")
    made([str(folder)], tmp_path / "site")
    assert len(list((tmp_path / "site" / "captures").rglob("*.pcapng"))) == 1


def test_what_is_refused(tmp_path: Path, results: Results) -> None:
    done = CliRunner().invoke(main, ["site", str(tmp_path / "nothing")])
    assert done.exit_code == 2
    assert "No such file" in done.output
    (tmp_path / "results.json").write_text("{}")
    done = CliRunner().invoke(main, ["site", str(tmp_path)])
    assert done.exit_code == 2
    assert "not a results file" in done.output
    write_results(results, tmp_path / "results.json")
    done = CliRunner().invoke(main, ["site", *([str(tmp_path)] * 201)])
    assert done.exit_code == 2
    assert "a page takes 200" in done.output
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(main, ["site", str(tmp_path), "--output", str(tmp_path / "file/x")])
    assert done.exit_code == 2
    assert "Not a directory" in done.output


def test_forty_routers_fit(tmp_path: Path, case: Cases, run_of: Runs) -> None:
    given = [Given(f"r{n}", tmp_path, run_of([case(1, Verdict.PASS)])) for n in range(40)]
    page = site.page(site.view(given, "t", tmp_path))
    assert '<body class="nmany">' in page
    with pytest.raises(site.SiteError, match="a page takes 40"):
        site.columns([*given, Given("more", tmp_path, given[0].results)])


@pytest.mark.parametrize(
    "command",
    [
        *("compare {0} {0}", "gate {0} --baseline {0} --write", "site {0}"),
        *("show {1} --output {0}", "open {1} --output {0}", "run --last-failed --output {0}"),
    ],
)
@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        *(("run", "xot_ports", ports) for ports in (["a"], [[1]], None, {"x": 1})),
        *(("cases.0", "evidence", evidence) for evidence in (5, ["a"])),
        *(("cases.0", "remarks", remarks) for remarks in (5, [5], None)),
        *(("cases.0", "duration_s", seconds) for seconds in (math.nan, math.inf, 10**400)),
        *(("run", "processor", {"tester": seconds}) for seconds in ("1", -math.inf)),
        *(("", "exit_status", status) for status in (math.inf, "1", None)),
    ],
)
def test_results_with_a_value_of_another_type(
    command: str, part: str, name: str, value: object, results: Results, tmp_path: Path
) -> None:
    document = json.loads(json.dumps(results.to_json()))
    place = {"": document, "run": document["run"], "cases.0": document["cases"][0]}[part]
    place[name] = value
    # Python writes the infinite as a word; others as a number that is too large.
    text = json.dumps(document).replace("Infinity", "1e400")
    (tmp_path / "results.json").write_text(text)
    done = CliRunner().invoke(main, command.format(tmp_path, results.cases[0].id).split())
    assert done.exit_code == 2
    (line,) = done.output.splitlines()
    where = f"{part}.{name}".lstrip(".")
    assert f"{tmp_path}/results.json: damaged results file: {where}" in line


@pytest.mark.parametrize(
    "command", ["compare {0} {0}", "gate {0} --baseline {0} --write", "site {0}"]
)
def test_results_that_are_nested_too_deep(command: str, results: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_results(results, path)
    document = json.loads(path.read_text())
    for _ in range(900):
        document["run"]["notes"] = [document["run"]["notes"]]
    path.write_text(json.dumps(document))
    done = CliRunner().invoke(main, command.format(tmp_path).split())
    assert done.exit_code == 2
    assert "damaged results file: run.notes.0: not of type str" in done.output
