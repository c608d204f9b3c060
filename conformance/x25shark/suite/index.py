# SPDX-License-Identifier: GPL-2.0-or-later
"""Which case is in which module, without importing them all.

The modules are imported once, and what they hold is kept in the user's cache for as long as none
of their files changes. Where there is no cache to be had, it costs half a second more each time.
"""

from __future__ import annotations

import ast
import hashlib
import json
import textwrap
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .. import own_cache
from ..own_cache import CacheError
from . import state_words

_FORMAT = 1
SUITE = Path(__file__).parent


def _cache_file() -> Path:
    place = hashlib.sha256(str(SUITE).encode()).hexdigest()[:16]
    return own_cache.folder() / f"suite-{place}.json"


def _state() -> str:
    """What tells whether a file that the cases come from has changed."""
    files = [*SUITE.glob("*.py"), *(SUITE.parent / "catalogue").iterdir()]
    seen = [(str(f), (s := f.stat()).st_mtime_ns, s.st_size) for f in sorted(files) if f.is_file()]
    return hashlib.sha256(repr((_FORMAT, seen)).encode()).hexdigest()


def _kept(state: str) -> dict[str, str] | None:
    try:
        # The modules that it names are executed.
        kept = json.loads(own_cache.own(_cache_file()).read_text(encoding="utf-8"))
        if kept["state"] != state:
            return None
        return {str(case): str(module) for case, module in kept["cases"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, CacheError):
        return None


@cache
def modules() -> dict[str, str]:
    """The module ("test_plp_rst") of every case, by its purpose's id, in catalogue order."""
    state = _state()
    found = _kept(state)
    if found is None:
        from ..results import write_whole
        from .loader import cases

        found = {i: case.function.__module__.rpartition(".")[2] for i, case in cases().items()}
        try:
            write_whole(_cache_file(), json.dumps({"state": state, "cases": found}) + "\n")
        except (OSError, CacheError):
            return found
    return found


def files_for(identifiers: Iterable[str]) -> list[str]:
    """The paths of the modules that hold these cases."""
    return [str(SUITE / f"{m}.py") for m in dict.fromkeys(modules()[i] for i in identifiers)]


def steps(case: str) -> str:
    """The steps of a case as its module has them, without importing it; of a cell of a state table,
    which has no function of its own, in words."""
    if in_words := state_words.steps(case):
        return in_words
    source = (SUITE / f"{modules()[case]}.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and case in map(_purpose, node.decorator_list):
            body = node.body[ast.get_docstring(node) is not None :]
            lines = source.splitlines()[body[0].lineno - 1 : body[-1].end_lineno]
            return textwrap.dedent("\n".join(lines))
    return ""


def _purpose(decorator: ast.expr) -> str:
    """The id that @purpose("ID", ...) names."""
    match decorator:
        case ast.Call(func=ast.Name("purpose"), args=[ast.Constant(str(identifier))]):
            return identifier
    return ""
