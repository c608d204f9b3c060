# SPDX-License-Identifier: GPL-2.0-or-later
"""Every message that a user can see, in one list: python -m x25shark.selftest.messages

What the code says of itself: texts of exceptions, remarks, notes of expectations and lines that
commands print. An inserted value stands as {name}. The sentences of purposes, faults and
permissions are data of the catalogue and not here. The list is to be read as a whole, so that
one thing keeps one name; a module's messages stand together.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
#: Calls whose texts a user reads, by the last part of the name.
SAYING = frozenset({"echo", "secho", "print", "remark", "preamble_failed", "warn"})
#: Arguments by which a text reaches a report or --help.
KEYWORDS = frozenset({"note", "help", "short_help", "message", "epilog"})
#: Tools of those who work on the suite.
NOT_FOR_USERS = ("selftest", "reference/faults", "reference/variants")


def words(node: ast.expr) -> str:
    """A text as it is written, with inserted values by their names; empty if it is none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            words(part) if isinstance(part, ast.Constant) else f"{{{inserted(part)}}}"
            for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return words(node.left) + words(node.right)
    if isinstance(node, ast.IfExp):
        return " | ".join(filter(None, (words(node.body), words(node.orelse))))
    return ""


def inserted(part: ast.expr) -> str:
    return ast.unparse(part.value) if isinstance(part, ast.FormattedValue) else "..."


def last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each message of a module, in order."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        texts: list[ast.expr] = []
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            texts += node.exc.args
        elif isinstance(node, ast.Call):
            texts += node.args if last_name(node.func) in SAYING else []
            texts += [keyword.value for keyword in node.keywords if keyword.arg in KEYWORDS]
        found |= {(text.lineno, words(text)) for text in texts}
    # A single word is a name of something, not a message.
    yield from sorted((line, text) for line, text in found if " " in text.strip())


def modules() -> Iterator[Path]:
    """All modules that speak to users."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if not path.relative_to(PACKAGE).as_posix().startswith(NOT_FOR_USERS):
            yield path


def main() -> None:
    """Print the list."""
    for path in modules():
        for line, text in messages(path):
            print(f"{path.relative_to(PACKAGE)}:{line}: {' '.join(text.split())}")


if __name__ == "__main__":
    main()
