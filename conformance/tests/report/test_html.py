# SPDX-License-Identifier: GPL-2.0-or-later
"""report.html: one file, complete without a script, inert whatever a router sent."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from x25shark.report import html
from x25shark.results import CaseResult, Results
from x25shark.verdicts import Verdict

Cases = Callable[..., CaseResult]
Runs = Callable[[list[CaseResult]], Results]
Poison = Callable[[str], Results]


class Page(HTMLParser):
    """What a browser without a script would see: elements, text, and the JSON behind cases."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = "packed" if dict(attrs).get("type") else tag
            self.raw.append((self._inside, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.raw[-1] = (self._inside, self.raw[-1][1] + data)
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def data(self) -> list[Any]:
        packed = [text for kind, text in self.raw if kind == "packed"]
        return [json.loads(zlib.decompress(base64.b64decode(text))) for text in packed]

    def all(self, tag: str, css: str = "") -> list[dict[str, str]]:
        """Attributes of the elements with this tag, and with this class if one is given."""
        found = [{k: v or "" for k, v in a.items()} for t, a in self.elements if t == tag]
        return [a for a in found if not css or css in a.get("class", "").split()]


def page(results: Results) -> Page:
    return Page(html.render_text(results))


def test_the_page_is_one_file_that_loads_nothing(results: Results, tmp_path: Path) -> None:
    html.render(results, tmp_path)
    made = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    for tag, attributes in made.elements:
        assert tag not in ("link", "img", "iframe", "base", "object", "embed", "form")
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        if "href" in attributes:
            assert (attributes["href"] or "").startswith(("#", "./evidence/"))


def test_only_its_own_style_and_script_are_allowed(results: Results) -> None:
    made = page(results)
    policy = next(a["content"] for a in made.all("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    kinds = [kind for kind, _ in made.raw]
    assert kinds.count("script") == kinds.count("style") == 1
    for kind, text in made.raw:
        if kind != "packed":
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"{kind}-src 'sha256-{digest}'" in policy


def test_summary_and_failures_stand_there_without_a_script(results: Results) -> None:
    made = page(results)
    for part in (
        "1 of 9 cases fail, 1 end in an error of the tester",
        "Exit status 4: the tester failed, or the judges disagree (ERROR)",
        "1 FAIL",
        "Reset Indication with cause 0 or 128 was expected at B; cause 5 came",
        "x25shark run --router reference --select PLP-RST-02",
        "evidence/PLP-RST-02.pcapng",
        "the Clear Confirmation came after TR",
        "frame 4711: 127.0.25.1:40122",
        "the capture lost no packet",
        "4.0.17",
        'router = "127.0.25.1:1998"',
    ):
        assert part in made.text


def test_what_needs_attention_comes_first_and_each_case_stands_once(results: Results) -> None:
    cases = page(results).all("details", "case")
    assert [c["data-verdict"] for c in cases[:3]] == ["ERROR", "FAIL", "INCONCLUSIVE"]
    anchors = [c["id"] for c in cases]
    assert sorted(anchors) == sorted({f"case-{c.id}" for c in results.cases})


def test_links_lead_to_cases(results: Results) -> None:
    made = page(results)
    anchors = {f"#{a['id']}" for t, a in made.elements if "id" in a}
    links = [a["href"] for a in made.all("a") if a["href"].startswith("#")]
    assert links
    assert set(links) <= anchors


def test_details_hold_both_readings_and_the_packets(case: Cases, run_of: Runs) -> None:
    (data,) = page(run_of([case(5, Verdict.ERROR)])).data()
    preamble, last = data["expectations"]
    assert preamble["preamble"]
    assert last["disagree"]
    assert last["one"]["met"] and not last["two"]["met"]
    assert last["two"]["saw"] == "Reset Indication: cause 5, diagnostic 7"
    assert last["filter"].startswith("x25s.type#1 == 0x1b")
    assert len(data["packets"]) == 6
    assert data["packets"][4][0] == pytest.approx(0.016)
    assert data["packets"][4][1:] == [
        11,
        1,
        "A",
        1,
        0,
        160,
        "Reset Request: cause 0, diagnostic 7",
        "10011b0007",
        0,
    ]


def test_long_ladders_keep_both_ends_and_the_offending_packet(case: Cases, run_of: Runs) -> None:
    item = case(1, Verdict.FAIL, packets=5_000)
    item.expectations[1].frame = item.packets[2_000].frame
    (data,) = page(run_of([item])).data()
    rows = [p for p in data["packets"] if isinstance(p, list)]
    gaps = [p for p in data["packets"] if not isinstance(p, list)]
    assert data["total"] == 5_000 == len(rows) + sum(gaps)
    assert len(rows) < 600
    frames = {row[1] for row in rows}
    assert {item.packets[0].frame, item.packets[2_000].frame, item.packets[-1].frame} <= frames


def test_octets_are_bounded(case: Cases, run_of: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    item = case(1, Verdict.PASS)
    item.packets[0].octets = "ab" * 5_000_000
    (data,) = page(run_of([item])).data()
    assert len(data["packets"][0][8]) == 2 * html.OCTETS_SHOWN
    assert data["packets"][0][9] == 5_000_000 - html.OCTETS_SHOWN
    monkeypatch.setattr(html, "OCTETS_TOTAL", 6)
    (data,) = page(run_of([case(1, Verdict.PASS)])).data()
    assert [len(p[8]) for p in data["packets"]] == [8, 4, 0, 0, 0, 0]


def test_hostile_text_is_inert(poisoned: Poison, hostile: str, bad_characters: set[str]) -> None:
    text = html.render_text(poisoned(hostile))
    assert not bad_characters & set(text)
    made = Page(text)
    kinds = [kind for kind, _ in made.raw]
    assert kinds.count("script") == kinds.count("style") == 1
    assert not made.all("img")
    assert "{{ 7*7 }}" in made.text
    for kind, body in made.raw:
        if kind == "packed":
            assert re.fullmatch("[A-Za-z0-9+/=]+", body)
    shown = [e["text"] for data in made.data() for e in data["expectations"]]
    assert any("<script>alert(1)</script>" in t for t in shown)
    for attributes in made.all("a"):
        assert attributes["href"].startswith("#")


@pytest.mark.parametrize("path", ["javascript:alert(1)", "x y%#?.pcapng", 'a"><b>/c.pcapng'])
def test_capture_links_are_always_relative_paths(path: str, case: Cases, run_of: Runs) -> None:
    item = case(1, Verdict.PASS)
    item.evidence = path
    hrefs = [a["href"] for a in page(run_of([item])).all("a") if a["href"][0] != "#"]
    assert len(hrefs) == 1
    assert re.fullmatch(r"\./[A-Za-z0-9%./_-]+", hrefs[0])


def test_ten_megabytes_are_bounded(poisoned: Poison) -> None:
    assert len(html.render_text(poisoned("z" * 10_000_000))) < 3_000_000


def test_ids_that_collide_get_anchors_of_their_own(case: Cases, run_of: Runs) -> None:
    cases = [case(1, Verdict.PASS), case(1, Verdict.FAIL)]
    anchors = [c["id"] for c in page(run_of(cases)).all("details", "case")]
    assert len(set(anchors)) == 2


def test_a_run_without_cases_does_not_look_green(run_of: Runs) -> None:
    made = page(run_of([]))
    assert "No case was run" in made.text
    assert made.all("div", "bad")
    assert not made.all("div", "good")


def test_a_good_run_says_so(case: Cases, run_of: Runs) -> None:
    made = page(run_of([case(n, Verdict.PASS) for n in range(3)]))
    assert "All 3 judged cases pass" in made.text
    assert made.all("div", "good")
    assert "Needs attention" not in made.text
