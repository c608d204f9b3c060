# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of the house: its rooms, and which imports which, made from the code."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import x25shark

ROOT = Path(x25shark.__file__).parent
# Modules beside the packages that many rooms stand on; all others belong to the command.
_BY_THEMSELVES = ("plugin", "profile", "results")
_WITH = {
    **dict.fromkeys(("stored", "results_schema", "verdicts"), "results"),
    **dict.fromkeys(("start", "session", "finished"), "cli"),
}

Rooms = dict[str, set[str]]


def imports(path: Path, root: Path) -> Iterator[str]:
    """Every module that a file of the package at root names, absolute, wherever in the file."""
    here = [root.name, *path.relative_to(root).with_suffix("").parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = here[: len(here) - node.level]
                base = ".".join([*above, *([node.module] if node.module else [])])
            # What is imported may be a module itself.
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def rooms() -> dict[str, str]:
    """Each room and the first sentence of its docstring."""
    files = {p.parent.name: p for p in sorted(ROOT.glob("*/__init__.py"))}
    files |= {name: ROOT / f"{name}.py" for name in ("cli", *_BY_THEMSELVES)}
    found = {}
    for name, path in files.items():
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found[name] = " ".join(text.split("\n\n")[0].split())
    return found


def between(those: Collection[str]) -> Rooms:
    """Which room imports which others."""
    edges: Rooms = {room: set() for room in those}
    for path in ROOT.rglob("*.py"):
        first = path.relative_to(ROOT).parts[0].removesuffix(".py")
        room = _WITH.get(first, first)
        for name in imports(path, ROOT) if room in those else ():
            package, _, rest = name.partition(".")
            other = rest.partition(".")[0]
            other = _WITH.get(other, other)
            if package == ROOT.name and other in those and other != room:
                edges[room].add(other)
    return edges


def reach(edges: Rooms, start: str) -> set[str]:
    """The rooms to which a way leads from here; itself, where it is part of a circle."""
    found: set[str] = set()
    left = list(edges[start])
    while left:
        room = left.pop()
        if room not in found:
            found.add(room)
            left += edges[room]
    return found


def _drawn(edges: Rooms) -> Iterator[tuple[str, str]]:
    """The arrows that no way over other rooms says already."""
    further = {room: reach(edges, room) for room in edges}
    for room, others in sorted(edges.items()):
        for other in sorted(others):
            if all(other not in further[over] for over in others - {other}):
                yield room, other


def page() -> str:
    """docs/rooms.md below its head: picture and table."""
    found = rooms()
    lines = [
        "# The rooms of the house\n",
        "An arrow goes from a room to one that it imports; left out are the arrows that a way over "
        "other rooms makes plain. `dissectors/`, `scapy_layers/` and the engine know nothing of "
        "these rooms, nor does the reference router of the tester's codec. How one case passes "
        "through them: [decisions](decisions.md).\n",
        "```mermaid",
        "flowchart TD",
        *(f"    {room} --> {other}" for room, other in _drawn(between(found))),
        "```\n",
        "| room | what it is |",
        "|---|---|",
        *(f"| `{room}` | {text} |" for room, text in sorted(found.items())),
    ]
    return "\n".join(lines) + "\n"
