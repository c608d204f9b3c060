# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants of Python source: what may be changed in a module, each by a name of its own.

A mutant is one small change that the syntax tree allows: a comparison, a constant by one, a
condition, a statement left out, two arguments exchanged, an end of a slice. Its name is
"module:function:operator:number", where the number counts such places within the function, so that
it stays what it is when other functions change. What is said to people, not to a peer (texts, error
messages, annotations), is left as it is.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_CALCULATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitXor: ast.BitAnd,
}
# Calls whose whole purpose is a text for people.
_OF_TEXT = frozenset({"print", "log", "ConfigError", "TypeVar", "ArgumentParser", "add_argument"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

# What is not part of the router as it is: the command, null routers, and what switches faults on.
LEFT_OUT = frozenset({"__init__", "__main__", "null", "switches"})

Change = Callable[[], None]


@dataclass(frozen=True)
class Mutant:
    """One change. module: the last part of the module's name; line: where its statement begins."""

    module: str
    name: str
    line: int
    text: str


class _Finder(ast.NodeVisitor):
    """Finds all places. change: what makes the change of the name that is wanted."""

    def __init__(self, module: str, wanted: str | None = None) -> None:
        self.module = module
        self.wanted = wanted
        self.found: list[Mutant] = []
        self.change: Change | None = None
        self._where: list[str] = []
        self._line = 0
        self._counts: Counter[tuple[str, str]] = Counter()

    def _offer(self, operator: str, text: str, change: Change) -> None:
        where = ".".join(self._where) or "-"
        self._counts[where, operator] += 1
        name = f"{self.module}:{where}:{operator}:{self._counts[where, operator]}"
        self.found.append(Mutant(self.module, name, self._line, text))
        if name == self.wanted:
            self.change = change

    # what is looked through

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self._line = node.lineno
        if isinstance(node, _FUNCTIONS):
            self._where.append(node.name)
            self._body(node.body)
            self._where.pop()
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.visit(node.value)
        elif _is_for_people(node):
            return
        else:
            self._mutate(node)
            for name, value in ast.iter_fields(node):
                if name in ("body", "orelse", "finalbody") and isinstance(value, list):
                    self._body(value)
                elif isinstance(value, list):
                    for item in value:
                        if isinstance(item, ast.AST):
                            self.visit(item)
                elif isinstance(value, ast.AST):
                    self.visit(value)

    def _body(self, statements: list[ast.stmt]) -> None:
        """Each statement may be missing, but one that the rest cannot do without."""
        for place, statement in enumerate(list(statements)):
            if place == 0 and _is_text(statement):
                continue
            if _may_be_dropped(statement):

                def drop(place: int = place) -> None:
                    statements[place] = ast.copy_location(ast.Pass(), statements[place])

                self._line = statement.lineno
                self._offer("drop", f"without: {_shown(statement)}", drop)
            self.visit(statement)

    # what is changed

    def _mutate(self, node: ast.AST) -> None:
        match node:
            case ast.Compare():
                self._compare(node)
            case ast.BinOp():
                self._calculate(node)
            case ast.AugAssign():
                self._step(node)
            case ast.BoolOp():
                self._connect(node)
            case ast.UnaryOp(op=ast.Not()):
                self._offer("not", f"no not: {_shown(node)}", lambda: _replace(node))
            case ast.If() | ast.IfExp() | ast.While():
                self._decide(node)
            case ast.Constant():
                self._constant(node)
            case ast.Slice():
                self._slice(node)
            case ast.Call():
                self._call(node)
            case ast.Return(value=ast.expr()):
                self._answer(node)

    def _compare(self, node: ast.Compare) -> None:
        for place, operator in enumerate(node.ops):
            for other in _COMPARISONS[type(operator)]:

                def change(place: int = place, other: type[ast.cmpop] = other) -> None:
                    node.ops[place] = other()

                self._offer("compare", f"{_shown(node)}: {other.__name__}", change)

    def _calculate(self, node: ast.BinOp) -> None:
        other = _CALCULATIONS.get(type(node.op))
        if other is not None and not _is_string(node.left) and not _is_string(node.right):

            def change() -> None:
                node.op = other()

            self._offer("calculate", f"{_shown(node)}: {other.__name__}", change)

    def _step(self, node: ast.AugAssign) -> None:
        other = _CALCULATIONS.get(type(node.op))
        if other is not None:

            def change() -> None:
                node.op = other()

            self._offer("step", f"{_shown(node)}: {other.__name__}", change)

    def _connect(self, node: ast.BoolOp) -> None:
        def change() -> None:
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()

        self._offer("connect", f"and for or: {_shown(node)}", change)
        for place in range(len(node.values)):

            def without(place: int = place) -> None:
                del node.values[place]
                if len(node.values) == 1:
                    node.values *= 2

            part = _shown(node.values[place])
            self._offer("part", f"without {part} in: {_shown(node)}", without)

    def _decide(self, node: ast.If | ast.IfExp | ast.While) -> None:
        for value in (True, False):
            if isinstance(node, ast.While) and value:
                continue

            def change(value: bool = value) -> None:
                node.test = ast.copy_location(ast.Constant(value), node.test)

            self._offer("decide", f"{value} for: {_shown(node.test)}", change)

    def _constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            changed: list[object] = [not node.value]
        elif isinstance(node.value, int):
            changed = [node.value + 1, node.value - 1]
        elif isinstance(node.value, float):
            changed = [node.value * 2 or 1.0]
        else:
            return
        for value in changed:

            def change(value: object = value) -> None:
                node.value = value  # type: ignore[assignment]

            self._offer("constant", f"{value!r} for {node.value!r}", change)

    def _slice(self, node: ast.Slice) -> None:
        for end in ("lower", "upper"):
            bound = getattr(node, end)
            if bound is None or isinstance(bound, (ast.Constant, ast.UnaryOp)):
                continue

            def change(end: str = end, bound: ast.expr = bound) -> None:
                moved = ast.BinOp(bound, ast.Add(), ast.Constant(1))
                setattr(node, end, ast.copy_location(moved, bound))

            self._offer("slice", f"{end} end one higher in [{_shown(node)}]", change)

    def _call(self, node: ast.Call) -> None:
        for place in range(len(node.args) - 1):
            first, second = node.args[place : place + 2]
            if isinstance(first, ast.Starred) or isinstance(second, ast.Starred):
                continue
            if ast.dump(first) == ast.dump(second):
                continue

            def change(place: int = place) -> None:
                node.args[place : place + 2] = node.args[place + 1], node.args[place]

            self._offer("exchange", f"arguments {place + 1}, {place + 2} of {_shown(node)}", change)

    def _answer(self, node: ast.Return) -> None:
        if isinstance(node.value, (ast.Compare, ast.BoolOp)) or _is_not(node.value):
            value = node.value
            assert value is not None

            def change() -> None:
                node.value = ast.copy_location(ast.UnaryOp(ast.Not(), value), value)

            self._offer("answer", f"the contrary of: {_shown(value)}", change)


def _name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _is_for_people(node: ast.AST) -> bool:
    """What changes nothing that a peer sees: texts, imports, what only the type checker reads."""
    if isinstance(node, ast.Call):
        return _name_of(node.func) in _OF_TEXT
    if isinstance(node, ast.If):
        return _name_of(node.test) == "TYPE_CHECKING"
    return isinstance(node, (ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr))


def _is_not(node: ast.AST | None) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and _is_string(statement.value)


def _may_be_dropped(statement: ast.stmt) -> bool:
    """Calls, raises, steps, returns of nothing, and assignments to what lives on."""
    if isinstance(statement, ast.Expr):
        call = statement.value
        return isinstance(call, ast.Call) and _name_of(call.func) not in _OF_TEXT
    if isinstance(statement, ast.Assign):
        return all(isinstance(t, (ast.Attribute, ast.Subscript)) for t in statement.targets)
    if isinstance(statement, ast.Return):
        return statement.value is None
    if isinstance(statement, ast.Raise):
        raised = statement.exc
        return not (isinstance(raised, ast.Call) and _name_of(raised.func) in _OF_TEXT)
    return isinstance(statement, (ast.AugAssign, ast.Delete, ast.Break, ast.Continue))


def _replace(node: ast.UnaryOp) -> None:
    """Without its not: twice not."""
    node.operand = ast.copy_location(ast.UnaryOp(ast.Not(), node.operand), node.operand)


def _shown(node: ast.AST) -> str:
    text = ast.unparse(node).splitlines()[0]
    return text if len(text) <= 80 else text[:77] + "..."


def mutants_of(module: str, source: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    finder = _Finder(module)
    finder.visit(ast.parse(source))
    return finder.found


def mutated(module: str, source: str, name: str) -> ast.Module:
    """The module with the change of that name. Raises KeyError if it has none of that name."""
    tree = ast.parse(source)
    finder = _Finder(module, name)
    finder.visit(tree)
    if finder.change is None:
        raise KeyError(name)
    finder.change()
    return ast.fix_missing_locations(tree)


def evenly(
    found: dict[str, list[Mutant]], order: Callable[[list[Mutant]], None]
) -> Iterator[Mutant]:
    """Mutants of all modules in turn; order puts those of one module into the order of the draw."""
    queues = []
    for mutants in found.values():
        drawn = copy.copy(mutants)
        order(drawn)
        queues.append(drawn)
    while queues:
        for queue in queues:
            yield queue.pop(0)
        queues = [queue for queue in queues if queue]


def sources() -> dict[str, str]:
    """The text of the router's modules."""
    folder = resources.files("x25shark.reference")
    names = sorted(f.name for f in folder.iterdir() if f.name.endswith(".py"))
    found = {name.removesuffix(".py"): (folder / name).read_text("utf-8") for name in names}
    return {name: text for name, text in found.items() if name not in LEFT_OUT}
