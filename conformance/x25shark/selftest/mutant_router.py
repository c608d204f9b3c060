# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference router with one changed module: python -m x25shark.selftest.mutant_router

    --mutant NAME       the change (see mutation.py); it is made while the module is loaded, and
                        nothing is written
    --record FILE       for each line written to the pipe FILE.ask a line of JSON: the lines of each
                        module that have run since the last one

All other arguments are those of the router. What a change makes of it is bounded: processor time
and memory have a limit.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.machinery
import importlib.util
import json
import os
import resource
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

from .mutation import mutated

ROUTER = "x25shark.reference"
_SECONDS = 300
_OCTETS = 1 << 30
Trace = Callable[[FrameType, str, Any], Any]


class _Loader(SourceFileLoader):
    """Loads a module from its changed tree."""

    mutant = ""

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_data(self.path).decode()
        tree = mutated(fullname.rpartition(".")[2], source, self.mutant)
        return compile(tree, self.path, "exec")


class _Finder(MetaPathFinder):
    """Finds the one module that is changed."""

    def __init__(self, mutant: str) -> None:
        self.mutant = mutant
        self.module = f"{ROUTER}.{mutant.partition(':')[0]}"

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname == self.module else None
        if spec is None or spec.origin is None:
            return None
        loader = _Loader(fullname, spec.origin)
        loader.mutant = self.mutant
        return importlib.util.spec_from_file_location(fullname, spec.origin, loader=loader)


class _Recorder:
    """The lines of the router's modules that have run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ask = asking(path)
        spec = importlib.util.find_spec(ROUTER)
        assert spec is not None and spec.origin is not None
        self._folder = str(Path(spec.origin).parent)
        self._ran: dict[str, set[int]] = {}

    def start(self) -> None:
        if not self._ask.exists():
            os.mkfifo(self._ask)
        threading.Thread(target=self._answer, daemon=True).start()
        sys.settrace(self._enter)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Trace | None:
        path = Path(frame.f_code.co_filename)
        if str(path.parent) != self._folder:
            return None
        ran = self._ran.setdefault(path.stem, set())
        ran.add(frame.f_lineno)

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            ran.add(frame.f_lineno)
            return step

        return step

    def _answer(self) -> None:
        while True:
            with self._ask.open() as pipe:
                for _ in pipe:
                    self._write()

    def _write(self) -> None:
        ran = {module: sorted(lines) for module, lines in list(self._ran.items())}
        for lines in list(self._ran.values()):
            lines.clear()
        with self._path.open("a", encoding="utf-8") as file:
            print(json.dumps(ran), file=file)


def asking(path: Path) -> Path:
    """The pipe that asks for a line of the record."""
    return path.with_name(f"{path.name}.ask")


def main() -> int:
    options = argparse.ArgumentParser(prog="x25shark.selftest.mutant_router")
    options.add_argument("--mutant", default="")
    options.add_argument("--record", type=Path)
    own, others = options.parse_known_args()
    if own.mutant:
        sys.meta_path.insert(0, _Finder(own.mutant))
        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_OCTETS, _OCTETS))
    if own.record is not None:
        _Recorder(own.record).start()
    sys.argv[1:] = others
    router = importlib.import_module(f"{ROUTER}.__main__")
    return int(router.main(others))


if __name__ == "__main__":
    sys.exit(main())
