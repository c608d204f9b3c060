# SPDX-License-Identifier: GPL-2.0-or-later
"""What the load part must not do: import Scapy, or fail without words without the engine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .conftest import ROOT, environment

MODULES = [
    "arguments",
    "bench",
    "bench_findings",
    "bench_page",
    "bench_plots",
    "bench_run",
    "bench_tables",
    "ceiling",
    "chart",
    "cli",
    "closing",
    "cluster",
    "compare",
    "emulation",
    "ends",
    "engine",
    "errors",
    "figures",
    "filters",
    "idle",
    "management",
    "matrix",
    "matrix_cli",
    "matrix_plots",
    "matrix_run",
    "matrix_tables",
    "measure",
    "measure_cli",
    "options",
    "overload",
    "overload_cli",
    "overload_page",
    "overload_plots",
    "overload_run",
    "page",
    "plots",
    "polite",
    "processor",
    "programs",
    "published",
    "results",
    "running",
    "search",
    "simulation",
    "stress",
    "sweep",
    "target",
    "terminal",
    "tester",
    "trial",
    "wire",
    "wording",
]


def test_the_list_of_modules_is_whole() -> None:
    folder = ROOT / "conformance" / "x25shark" / "load"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(MODULES)


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def test_load_imports_no_scapy() -> None:
    imports = "; ".join(f"import x25shark.load.{name}" for name in MODULES)
    code = (
        f"import sys; {imports}\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('scapy', 'scapy_x25')])"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_the_library_of_another_licence_is_imported_by_the_search_alone() -> None:
    """MLRsearch is Apache-2.0, which does not go with Scapy (GPL-2.0-only) in one process."""
    named = [
        path.relative_to(ROOT / "conformance" / "x25shark")
        for path in (ROOT / "conformance" / "x25shark").rglob("*.py")
        if 'import_module("MLRsearch")' in path.read_text("utf-8")
    ]
    assert [str(path) for path in named] == ["load/search.py"]
    code = (
        "import sys; from x25shark.load.search import library; library()\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('scapy', 'scapy_x25')])"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_without_the_search_bench_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['MLRsearch'] = None\n"
        "import click; from x25shark.load.cli import commands\n"
        "click.Group(commands={c.name: c for c in commands})"
        "(['bench', '--quick', '--connect', '127.0.0.1:1'])"
    )
    done = python(code)
    assert done.returncode == 2
    assert "pip install MLRsearch" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        "'stress', '-T', '1'",
        "'sweep', '--quick'",
        "'bench', '--quick'",
        "'echo'",
        "'relay', '127.0.0.1', '127.0.0.1'",
    ],
)
def test_without_the_engine_each_command_says_what_to_install(arguments: str) -> None:
    code = (
        "import sys; sys.modules['x25shark_engine'] = None\n"
        "import click; from x25shark.load.cli import commands\n"
        f"click.Group(commands={{c.name: c for c in commands}})([{arguments}])"
    )
    done = python(code)
    assert done.returncode == 2
    assert "ci/setup engine" in done.stderr
    assert "pipx inject x25shark x25shark_engine-*.whl" in " ".join(done.stderr.split())
    assert "x25shark[load]" not in done.stderr  # nobody has published that name
    assert "Traceback" not in done.stderr


def test_help_needs_no_engine() -> None:
    code = (
        "import sys; sys.modules['x25shark_engine'] = None\n"
        "import click; from x25shark.load.cli import commands\n"
        "click.Group(commands={c.name: c for c in commands})(['stress', '--help'])"
    )
    done = python(code)
    assert done.returncode == 0
    assert "--hold-to-end" in done.stdout
