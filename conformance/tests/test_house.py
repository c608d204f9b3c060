# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of the house: who may import whom, what lies where, one case for each purpose."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import x25shark
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from x25shark.catalogue import catalogue
from x25shark.cli import ELSEWHERE
from x25shark.counters.readers import BY_NAME, READERS, Reader
from x25shark.line_places import BY_KEY, WAYS, Way
from x25shark.profile import builtin_profiles
from x25shark.selftest import messages as message_list
from x25shark.selftest import rooms
from x25shark.suite import index, loader
from x25shark.verdicts import EXIT_STATUSES, OUTCOMES

ROOT = Path(__file__).parents[2]
TOP_LEVEL = {"scapy_layers", "dissectors", "conformance", "pcaps", "ci"}
PROJECT_FILES = {
    "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md",
    "pyproject.toml",
}  # fmt: skip
DOCS = ROOT / "conformance" / "x25shark" / "docs"
PACKAGES = {
    "x25shark": ROOT / "conformance" / "x25shark",
    "scapy_x25": ROOT / "scapy_layers" / "scapy_x25",
}
WITHOUT_COMMENTS = {
    ".fuzz",
    ".json",
    ".lock",
    ".pcapng",
    ".png",
    ".md",
    ".j2",
    ".svg",
    ".uts",
}


@cache
def files() -> tuple[Path, ...]:
    """What git has, as far as it is there."""
    out = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    return tuple(ROOT / name for name in out.split("\0") if name and (ROOT / name).exists())


def importers(package: str, folder: str, *forbidden: str) -> list[str]:
    found = []
    for path in sorted((PACKAGES[package] / folder).rglob("*.py")):
        for name in set(rooms.imports(path, PACKAGES[package])):
            # What a link is to those above it is said without any of the links.
            carrier = name == "x25shark.links" or name.startswith("x25shark.links.carrier")
            if carrier and folder in ("judges", "evidence"):
                continue
            if any(name == f or name.startswith(f + ".") for f in forbidden):
                found.append(f"{path.relative_to(ROOT)} imports {name}")
    return found


@pytest.mark.parametrize(
    ("package", "folder", "forbidden"),
    [
        ("scapy_x25", ".", ("x25shark",)),
        ("x25shark", "links", tuple(f"x25shark.{r}" for r in ("suite", "sides", "judges", "run"))),
        ("x25shark", "judges", tuple(f"x25shark.{r}" for r in ("links", "sides", "suite", "run"))),
        ("x25shark", "evidence", ("x25shark.links", "x25shark.sides", "x25shark.suite")),
        ("x25shark", "sides", ("x25shark.suite", "x25shark.run", "x25shark.report")),
        ("x25shark", "reference", ("scapy", "scapy_x25", "x25shark.judges", "x25shark.sides")),
        ("x25shark", "reference", ("x25shark.links", "x25shark.suite", "x25shark.run")),
        ("x25shark", "load", ("scapy", "scapy_x25")),
        ("x25shark", "ip", ("scapy", "scapy_x25")),
        ("x25shark", "report", ("x25shark.suite", "x25shark.sides", "x25shark.links")),
        ("x25shark", ".", ("MLRsearch", "asyncio.streams")),  # search.py asks for it by name
    ],
)
def test_imports_run_one_way(package: str, folder: str, forbidden: tuple[str, ...]) -> None:
    assert list((PACKAGES[package] / folder).rglob("*.py"))
    assert importers(package, folder, *forbidden) == []


def circles(package: str, folder: str) -> list[set[str]]:
    """Groups of modules of a folder that import each other, imports for types alone included."""
    base = PACKAGES[package] / folder
    paths = {
        ".".join([package, *folder.split("/"), *p.relative_to(base).with_suffix("").parts]): p
        for p in base.rglob("*.py")
        if p.name not in ("__init__.py", "__main__.py")
    }
    graph = {
        m: {n for n in rooms.imports(p, PACKAGES[package]) if n in paths and n != m}
        for m, p in paths.items()
    }
    reach = {module: rooms.reach(graph, module) for module in graph}
    found: list[set[str]] = []
    for module in graph:
        circle = {other for other in reach[module] if module in reach[other]}
        if circle and circle not in found:
            found.append(circle)
    return found


def listed_modules(tree: ast.Module) -> str:
    """_MODULES of a package, which imports what is in it."""
    lists = [node for node in tree.body if isinstance(node, ast.Assign)]
    return "".join(ast.unparse(n.value) for n in lists if ast.unparse(n.targets[0]) == "_MODULES")


def test_the_text_of_a_package_names_its_modules() -> None:
    """Or its list of modules does, where each is one way to do the same. Those of the cases, faults
    and variants say in their first lines what they are about."""
    without = []
    for folder in PACKAGES.values():
        for path in sorted(folder.rglob("__init__.py")):
            if path.parent.name in ("faults", "variants"):
                continue
            tree = ast.parse(path.read_text())
            text = (ast.get_docstring(tree) or "") + listed_modules(tree)
            without += [
                str(module.relative_to(ROOT))
                for module in sorted(path.parent.glob("[!_]*.py"))
                if not module.name.startswith("test_")
                and not re.search(rf"\b{module.stem}\b", text)
            ]
    assert without == []


def test_no_rooms_import_each_other() -> None:
    edges = rooms.between(rooms.rooms())
    assert [room for room in edges if room in rooms.reach(edges, room)] == []


def test_few_modules_import_each_other() -> None:
    """What belongs together by nature is named in the package's text."""
    names = [sorted(m.rpartition(".")[2] for m in c) for c in circles("x25shark", "reference")]
    channel = "call_setup channel channel_rules clearing data_flow interrupts resets user"
    station = "lapb lapb_acknowledging lapb_errors lapb_phases lapb_recovery lapb_transfer"
    assert sorted(names) == [channel.split(), station.split()]
    for folder in (
        "links",
        "judges",
        "evidence",
        "run",
        "sides",
        "report",
        "counters",
        "catalogue",
        "suite",
    ):
        assert circles("x25shark", folder) == [], folder


def test_the_schema_of_a_profile_needs_nothing_above_it() -> None:
    names = "sorted({m.split('.')[1] for m in sys.modules if m.startswith('x25shark.')})"
    text = f"import sys, x25shark.profile; print(*{names})"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, check=True, text=True)
    below = "counters endpoints extending foreign line_places profile"
    assert done.stdout.split() == below.split()


#: A class with more public methods, properties among them, is split by what it does: into parts
#: with a name of their own, not into base classes.
MOST_PUBLIC_METHODS = 25


def public_methods(path: Path) -> Iterator[tuple[str, int]]:
    """Classes of a file, wherever they stand in it, with how many public methods they define."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef):
            methods = [
                n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            yield node.name, sum(not method.name.startswith("_") for method in methods)


def test_ways_to_a_line_and_readers_of_counters_have_all_that_is_asked_of_them() -> None:
    assert [way.KEY for way in WAYS if isinstance(way, Way)] == list(BY_KEY)
    assert [one.NAME for one in READERS if isinstance(one, Reader)] == list(BY_NAME)


def test_no_class_has_more_public_methods_than_a_reader_keeps_in_mind() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name} has {count}"
        for folder in PACKAGES.values()
        for path in sorted(folder.rglob("*.py"))
        for name, count in public_methods(path)
        if count > MOST_PUBLIC_METHODS
    ]
    assert found == []


def test_the_list_of_messages_has_what_users_see(capsys: pytest.CaptureFixture[str]) -> None:
    message_list.main()
    lines = capsys.readouterr().out.splitlines()
    assert any("ip/hosts.py" in line and "{name}" in line for line in lines)
    assert any(line.startswith("load/cli.py") for line in lines)
    assert not [line for line in lines if re.search(r"\b(is|are) no [A-Z]", line)]


def test_each_case_has_a_purpose_and_each_purpose_one_case_at_most() -> None:
    marked: list[str] = []
    for path in sorted((PACKAGES["x25shark"] / "suite").glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "purpose":
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    marked.append(str(first.value))
    assert len(marked) == len(set(marked))
    assert set(marked) <= set(catalogue().purposes)
    # Cases that are made from tables are there too; the loader raises if one is doubled.
    assert set(marked) <= set(loader.cases())


def test_what_lies_at_the_top() -> None:
    tops = {path.relative_to(ROOT).parts for path in files()}
    folders = {p[0] for p in tops if len(p) > 1 and not p[0].startswith(".")}
    single = {p[0] for p in tops if len(p) == 1 and not p[0].startswith(".")}
    assert folders <= TOP_LEVEL
    assert single == PROJECT_FILES


def test_the_bill_of_materials_has_every_pinned_package() -> None:
    done = subprocess.run([ROOT / "ci" / "sbom"], capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    purls = {component["purl"] for component in document["components"]}
    pins = re.findall(r"(?m)^([\w.-]+)==(\S+)", (ROOT / "ci" / "constraints.txt").read_text())
    lock = (ROOT / "conformance" / "engine" / "Cargo.lock").read_text()
    assert len(purls) == len(pins) + lock.count("checksum = ")
    assert any(purl.startswith("pkg:pypi/scapy@") for purl in purls)
    assert document["metadata"]["component"]["version"] == x25shark.__version__


def test_nothing_advertises_a_name_that_nobody_has_published() -> None:
    for path in files():
        if path.suffix in (".md", ".py") and "tests" not in path.parts:
            assert "pip install 'x25shark" not in path.read_text("utf-8"), path


def test_every_source_file_names_its_licence() -> None:
    without = []
    for path in files():
        if path.suffix in WITHOUT_COMMENTS or path.name in ("LICENSE", ".gitignore", "py.typed"):
            continue
        if "profile" in path.parts and path.suffix == "":
            continue  # Wireshark writes and reads these; it would keep no comment
        head = path.read_text(encoding="utf-8", errors="replace")[:200]
        if not head:
            continue
        if "SPDX-License-Identifier: GPL-2.0-or-later" not in head:
            without.append(str(path.relative_to(ROOT)))
    assert without == []


def table(text: str, first: str) -> list[tuple[str, ...]]:
    """The rows of the Markdown table whose first column is called so."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(f"| {first} |"):
            next(lines)
            break
    else:
        raise AssertionError(f"no table that begins with {first!r}")
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append(tuple(cell.strip() for cell in line.strip("|").split("|")))
    return rows


def test_the_tables_of_the_documents_are_the_data() -> None:
    text = (DOCS / "verdicts.md").read_text()
    assert table(text, "verdict") == [
        (str(verdict), o.meaning, o.pytest, o.junit) for verdict, o in OUTCOMES.items()
    ]
    assert table(text, "exit status") == [(str(n), words) for n, words in EXIT_STATUSES.items()]
    named = {row[0].strip("`") for row in table((DOCS / "commands.md").read_text(), "profile")}
    assert named == set(builtin_profiles())


def outside(dependencies: list[str]) -> list[str]:
    """Those that are not made of this tree."""
    return [d for d in dependencies if not d.startswith("x25shark-")]


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {
        row[0].strip("`") for row in table((DOCS / "dependencies.md").read_text(), "dependency")
    }
    optional = project["optional-dependencies"]
    wanted = {*project["dependencies"], *outside(optional["load"]), *optional["cluster"]}
    assert {Requirement(d).name for d in wanted} <= named


def test_dependencies_are_ranges_and_the_constraints_pin_a_version_in_each() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / "ci" / "constraints.txt").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    pins = dict(line.lower().split("==") for line in lines)
    optional = project["optional-dependencies"]
    wanted = {*project["dependencies"], *optional["dev"], *outside(optional["load"])}
    wanted |= {*optional["cluster"]}
    for requirement in map(Requirement, wanted):
        # A wheel that pins leaves no room for what else stands in an environment.
        assert {s.operator for s in requirement.specifier} <= {">=", "<"}, requirement
        assert pins[requirement.name.lower()] in requirement.specifier, requirement


def test_the_hashes_are_those_of_the_constraints() -> None:
    """If not: ci/hashes writes ci/requirements.txt anew."""
    text = (ROOT / "ci" / "requirements.txt").read_text()
    hashes = r"(?: \\\n    --hash=sha256:[0-9a-f]{64})+"
    found = re.findall(rf"(?m)^([\w.-]+)==(\S+)(?: ; [^\\\n]+)?{hashes}$", text)
    lines = (ROOT / "ci" / "constraints.txt").read_text().splitlines()
    pins = {
        canonicalize_name(name): version
        for name, version in (line.split("==") for line in lines if "==" in line)
    }
    for name, version in found:
        # What other systems need beside (colorama on Windows) has no pin there.
        assert pins.get(canonicalize_name(name), version) == version
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    wanted = {*project["dependencies"], *outside(optional["load"]), *optional["cluster"]}
    hashed = {canonicalize_name(name) for name, _ in found}
    assert {canonicalize_name(Requirement(line).name) for line in wanted} <= hashed
    assert len(found) == len(re.findall(r"(?m)^[\w.-]+==", text))


MAN = ROOT / "conformance" / "x25shark" / "docs" / "man"


def test_the_wheel_holds_what_is_read_at_run_time(tmp_path: Path) -> None:
    builder = WheelBuilder(str(ROOT))
    (made,) = builder.build(directory=str(tmp_path), versions=["standard"])
    inside = set(zipfile.ZipFile(made).namelist())
    for package, folder in PACKAGES.items():
        for path in files():
            if path.parent == MAN:
                end = f".data/data/share/man/man1/{path.name}"
                assert any(name.endswith(end) for name in inside)
            elif path.is_relative_to(folder):
                name = f"{package}/{path.relative_to(folder)}"
                assert name in inside
    for path in files():
        if path.is_relative_to(ROOT / "dissectors" / "lua"):
            assert f"x25shark/{path.relative_to(ROOT)}" in inside
    assert {"x25shark/dissectors/judge/Makefile", "x25shark/dissectors/gaps/gaps.toml"} <= inside
    assert not any({"tests", "corpus"} & set(Path(name).parts) for name in inside)


@pytest.mark.parametrize(
    "script", ["ci/dist", "ci/gate", "ci/hashes", "ci/roots", "ci/setup", ".ci/run"]
)
def test_shell_scripts_parse(script: str) -> None:
    subprocess.run(["bash", "-n", str(ROOT / script)], check=True)


def test_help_says_of_every_command_what_that_says_of_itself() -> None:
    """The words stand in cli.py as well, so that --help need not import every command."""
    for name, (module, words) in ELSEWHERE.items():
        commands = importlib.import_module(module).commands
        (command,) = (c for c in commands if c.name == name)
        assert command.get_short_help_str(100) == words


def test_the_index_of_the_suite_knows_every_case() -> None:
    assert list(index.modules()) == list(loader.cases())
    assert all(Path(file).is_file() for file in index.files_for(index.modules()))


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"state": 1}', '{"state": "%s", "cases": 3}'])
def test_a_damaged_index_is_made_anew(
    damage: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    expected = index.modules.__wrapped__()
    (kept,) = (tmp_path / "x25shark").iterdir()
    whole = kept.read_text()
    kept.write_text(damage.replace("%s", json.loads(whole)["state"]))
    assert index.modules.__wrapped__() == expected
    assert kept.read_text() == whole
