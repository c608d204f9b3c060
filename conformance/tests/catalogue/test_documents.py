# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents that are made from data are those in the tree, and name everything there is."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from x25shark.catalogue import catalogue
from x25shark.profile import PICS_ITEMS, Profile
from x25shark.reference.__main__ import parser as router
from x25shark.selftest import documents, man_pages
from x25shark.setup.profile_keys import KEYS, SECTIONS


def test_they_are_current() -> None:
    """If not: python -m x25shark.selftest.documents writes them."""
    made = documents.all_pages()
    stale = [
        path
        for path, text in made.items()
        if not (documents.FOLDER / path).exists()
        or (documents.FOLDER / path).read_text("utf-8") != text
    ]
    assert stale == [], "python -m x25shark.selftest.documents writes them"
    there = {
        f"{folder}/{page.name}"
        for folder in ("cases", "man")
        for page in (documents.FOLDER / folder).iterdir()
    }
    assert there <= set(made)


def test_manual_pages_are_there_for_every_command() -> None:
    pages = man_pages.pages()
    assert {"x25shark.1", "x25shark-run.1", "x25shark-ip-all.1"} <= set(pages)
    assert "--last-failed" in pages["x25shark-run.1"].replace("\\-", "-")
    assert "\\fBx25shark-ip-all(1)\\fP" in pages["x25shark-ip.1"]


def test_the_page_of_the_router_has_its_options() -> None:
    page = man_pages.pages()["x25shark-router.1"].replace("\\-", "-")
    options = [name for action in router()._actions for name in action.option_strings]
    assert len(options) > 8
    for name in options:
        assert name in page
    assert page.count("\n.TP\n") == len(router()._actions)
    assert "\nswitch a fault on; may be repeated\n" in page
    assert "[ARGUMENTS]" not in page.partition(".SH OPTIONS")[2]


@pytest.mark.parametrize(
    "name", ["x25shark.1", "x25shark-run.1", "x25shark-ip.1", "x25shark-router.1"]
)
def test_man_takes_its_pages(name: str) -> None:
    if not (groff := shutil.which("groff")):
        pytest.skip("no groff here")
    page = documents.FOLDER / "man" / name
    made = subprocess.run(
        [groff, "-man", "-ww", "-z", str(page)], check=True, capture_output=True, timeout=60
    )
    assert made.stderr == b""


def test_every_key_of_a_profile_has_a_sentence() -> None:
    found = {path for path, schema in documents.profile_keys() if "properties" not in schema}
    tables = {path for path, schema in documents.profile_keys() if "properties" in schema}
    alike = {
        path
        for path in found
        if path.rpartition(".")[0] in documents._ALIKE or path.startswith("counters.names.")
    }
    assert found - alike == set(KEYS)
    assert set(Profile.model_fields) - {"path", "text"} == {
        path for path in found | tables if "." not in path
    }
    assert set(SECTIONS) - {""} == tables - {"line"}


def test_every_section_key_and_item_is_on_its_page() -> None:
    page = documents.profile_page()
    for section in SECTIONS:
        if section:
            assert page.count(f"## `[{section}]`\n") == 1, section
    for path in KEYS:
        assert f"| `{path.rpartition('.')[2]}` |" in page
    assert all(f"| `{item}` |" in documents.pics_page() for item in PICS_ITEMS)


def test_every_case_has_its_place() -> None:
    pages = documents.case_pages()
    for identifier in catalogue().purposes:
        assert f"\n## {identifier}\n" in pages[documents.page_of(identifier)]


def test_every_case_says_what_is_sent() -> None:
    """In its own words, or by its steps."""
    pages = documents.case_pages()
    entries = [entry for page in pages.values() for entry in page.split("\n## ")[1:]]
    assert [e.partition("\n")[0] for e in entries if "\n- Stimulus" not in e] == []
    of = {entry.partition("\n")[0]: entry for entry in entries}
    assert "call.b.send(ResetRequest(cause=0, diagnostic=7))" in of["PLP-RST-02"]
    assert "- Stimulus: Every diagnostic once from either side" in of["PLP-RST-04"]
    assert "A sends: a Clear Request" in of["STATE-C3-p2-clear_request"]
    assert [page for page, text in pages.items() if text.count("```") % 2] == []


def test_links_lead_somewhere() -> None:
    pages = sorted(documents.FOLDER.rglob("*.md"))
    assert len(pages) > 30
    package = documents.FOLDER.parent
    for page in [*pages, *package.glob("*/README.md"), *package.glob("*.md")]:
        for target in links(page):
            place = (page.parent / target).resolve()
            assert place.exists(), f"{page.name}: {target}"
            # A wheel has nothing else of the repository.
            assert place.is_relative_to(package), f"{page.name}: {target}"


def test_links_of_the_repository_lead_somewhere() -> None:
    root = documents.FOLDER.parents[2]
    for page in (*root.glob("*.md"), *root.glob("ci/*/README.md")):
        for target in links(page):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_description_of_the_package_has_no_link() -> None:
    """It is shown where no file of the repository is beside it."""
    root = documents.FOLDER.parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert links(root / project["readme"]) == []


def links(page: Path) -> list[str]:
    """What a page links, other than addresses."""
    return re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))


def test_the_readme_is_short() -> None:
    text = (documents.FOLDER.parents[2] / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 150
    assert "    make demo " in text
    assert "    make test " in text
