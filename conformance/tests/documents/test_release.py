# SPDX-License-Identifier: GPL-2.0-or-later
"""What a tag is released with: its version, its notes, and rights no wider than each step needs."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
CHANGELOG = """# Changelog

## [Unreleased]

- Not yet.

## [1.2.3] - 2026-01-31

### Added

- A thing, see [there](x.md).

## 1.2.2

- Older.

## [1.2.1]

[1.2.3]: https://example.org
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of version 1.2.3 with both scripts."""
    (tmp_path / "ci").mkdir()
    for name in ("release-notes", "release-check"):
        shutil.copy(ROOT / "ci" / name, tmp_path / "ci")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    engine = tmp_path / "conformance" / "engine"
    engine.mkdir(parents=True)
    for file in (tmp_path / "pyproject.toml", engine / "Cargo.toml"):
        file.write_text('[project]\nversion = "1.2.3"\n[other]\nversion = "9"\n')
    return tmp_path


def run(tree: Path, script: str, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [tree / "ci" / script, *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_the_notes_are_the_section_of_the_version(tree: Path) -> None:
    notes = "### Added\n\n- A thing, see [there](x.md).\n"
    assert run(tree, "release-notes", "1.2.3") == (0, notes, "")
    assert run(tree, "release-notes", "v1.2.3") == (0, notes, "")
    assert run(tree, "release-notes", "1.2.2") == (0, "- Older.\n", "")
    assert run(tree, "release-notes", "Unreleased") == (0, "- Not yet.\n", "")


@pytest.mark.parametrize("version", ["1.2.1", "1.2.4", "1.2", "1x2.3"])
def test_a_version_of_which_nothing_is_said_is_no_release(tree: Path, version: str) -> None:
    said = f"ci/release-notes: CHANGELOG.md says nothing of {version}\n"
    assert run(tree, "release-notes", version) == (1, "", said)
    assert run(tree, "release-notes")[0] == 2


def test_a_tag_has_to_be_the_version(tree: Path) -> None:
    assert run(tree, "release-check", "v1.2.3")[0] == 0
    status, _, said = run(tree, "release-check", "v1.2.2")
    assert (status, said) == (
        1, "ci/release-check: pyproject.toml has version 1.2.3, the tag is v1.2.2\n"
    )  # fmt: skip
    (tree / "conformance" / "engine" / "Cargo.toml").write_text('version = "1.2.4"\n')
    assert "Cargo.toml has version 1.2.4" in run(tree, "release-check", "v1.2.3")[2]


def test_it_reads_the_changelog_and_the_versions_of_this_tree() -> None:
    assert run(ROOT, "release-notes", "Unreleased")[0] == 0
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    status, _, said = run(ROOT, "release-check", f"v{version}")
    # Until the version has its section.
    assert status == 0 or said == f"ci/release-notes: CHANGELOG.md says nothing of {version}\n"


def test_each_job_of_the_workflow_has_the_rights_that_it_needs() -> None:
    document = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    jobs = document["jobs"]
    assert {name: job.get("permissions") for name, job in jobs.items()} == {
        "build": None,
        "publish": {"id-token": "write"},
        "notes": {"contents": "write"},
    }
    # A job that may publish runs nothing of the tree.
    assert all("run" not in step for step in jobs["publish"]["steps"])
    assert (jobs["publish"]["needs"], jobs["notes"]["needs"]) == ("build", "publish")
    commands = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
    assert "make dist" in commands
    for command in commands:
        for word in command.split():
            if word.startswith("ci/"):
                assert (ROOT / word).exists(), word
