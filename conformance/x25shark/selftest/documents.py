# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents that are made from data: profile keys, PICS items, a page for each group of cases,
the rooms of the house, and the manual pages.

python -m x25shark.selftest.documents [FOLDER] writes them below docs/; a test demands that those in
the tree are what it writes.
"""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import x25shark
from x25shark.catalogue import CONFIGURATIONS, Purpose, catalogue, faults
from x25shark.catalogue.data import told
from x25shark.catalogue.permission import alternatives, permissions
from x25shark.counters.names import NAMES
from x25shark.profile import LINE_ITEMS, MANDATORY, PATTERNS, Profile
from x25shark.results import write_whole
from x25shark.run.listing import in_words
from x25shark.selftest import man_pages, rooms
from x25shark.setup.pics import SENTENCES, cases_about
from x25shark.setup.profile_keys import KEYS, SECTIONS
from x25shark.suite import index
from x25shark.suite.loader import cases

FOLDER = Path(x25shark.__file__).parent / "docs"
_HEAD = (
    "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->\n"
    "<!-- Made by python -m x25shark.selftest.documents; do not change it by hand. -->\n"
)
# Tables of the profile that have the keys of another one.
_ALIKE = {
    **{"line.b": "line.a", "pvc.b": "pvc.a", "pvc.asymmetric": "pvc.a", "pvc.outgoing": "pvc.a"},
    "emulation.b": "emulation.a",
    **{
        f"emulation.{way}": "emulation.a.to_router"
        for way in ("a.to_tester", "b.to_router", "b.to_tester")
    },
}
_HIDDEN = {"path", "text"}
_STATES = "STATE-"


def profile_keys() -> Iterator[tuple[str, dict[str, Any]]]:
    """Path and schema of every key and table of a profile, tables before what they hold."""
    schema = json.loads(json.dumps(Profile.model_json_schema(), default=str))
    yield from _keys(schema, schema["$defs"], "")


def _keys(
    schema: dict[str, Any], definitions: dict[str, Any], prefix: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in schema["properties"].items():
        path = f"{prefix}{name}"
        if path in _HIDDEN:
            continue
        table = _table(value, definitions)
        yield path, table or value
        if table:
            yield from _keys(table, definitions, f"{path}.")


def _table(value: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any] | None:
    """The table that a key leads to, if it is one; a path of a counter is a text."""
    for one in value.get("anyOf", [value]):
        name = one.get("$ref", "").rpartition("/")[2]
        if name and name != "Path":
            found: dict[str, Any] = definitions[name]
            return found
    return None


def kind(schema: dict[str, Any]) -> str:
    """Type and range of a key in words."""
    choices = schema.get("anyOf", [schema])
    return " or ".join(_kind(one) for one in choices if one.get("type") != "null")


def _kind(one: dict[str, Any]) -> str:
    if "enum" in one or "const" in one:
        return " or ".join(f"`{value}`" for value in one.get("enum", [one.get("const")]))
    if one.get("$ref", "").endswith("/Path"):
        return "path"
    if "prefixItems" in one:
        types = [item["type"] for item in one["prefixItems"]]
        if types == ["string", "integer"]:
            return "IPv4 address, or one with `:port`"
        if types == ["integer"] * 2:
            return "two numbers"
        return ", ".join(map(_kind, one["prefixItems"]))
    if one.get("type") == "array":
        return f"list of {_kind(one['items'])}s"
    if one.get("type") == "object":
        return "table"
    if one.get("pattern") in PATTERNS:
        return PATTERNS[one["pattern"]]
    words = {"string": "text", "boolean": "true or false", "integer": "whole number"}
    bounds = [
        f"{sign} {one[key]}"
        for key, sign in (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "up to"))
        if key in one
    ]
    return " ".join([words.get(one["type"], one["type"]), *bounds])


def _usual(schema: dict[str, Any]) -> str:
    """The usual value as TOML writes it; nothing where there is none."""
    value = schema.get("default")
    if value is None:
        return ""
    return f"`{json.dumps(value)}`"


def profile_page() -> str:
    """docs/profile.md."""
    lines = [
        _HEAD,
        "# Keys of a profile\n",
        "A profile is a TOML file; [the tutorial](own-router.md) writes one. Only "
        "`[xot]` (or a `[line]`) and `[addresses]` are needed. `x25shark check FILE` names file, "
        "line and key of what is wrong.\n",
    ]
    section = None
    for path, schema in profile_keys():
        if "properties" in schema:
            if path in ("line", "emulation", "counters.names"):
                section = None
            if path == "counters.names":
                lines += _names()
            continue
        table, _, name = path.rpartition(".")
        if table in _ALIKE or table == "counters.names":
            if table in SECTIONS and section != table and table in _ALIKE:
                lines += [f"\n## `[{table}]`\n", SECTIONS[table]]
                section = table
            continue
        if section != table:
            section = table
            title = f"`[{table}]`" if table else "Before the first table"
            lines += [f"\n## {title}\n", SECTIONS[table], ""]
            lines += ["| key | value | unless given | meaning |", "|---|---|---|---|"]
        lines.append(f"| `{name}` | {kind(schema)} | {_usual(schema)} | {KEYS[path]} |")
    return "\n".join(lines) + "\n"


def _names() -> list[str]:
    rows = [f"| `{name}` | {found.text} |" for name, found in NAMES.items()]
    head = ["\n## `[counters.names]`\n", SECTIONS["counters.names"], ""]
    return [*head, "| name | what it counts |", "|---|---|", *rows]


def pics_page() -> str:
    """docs/pics.md."""
    lines = [
        _HEAD,
        "# PICS items\n",
        "What a router can do beyond what the standards demand goes into `pics`, what it cannot "
        "although it should into `lacks`. A case whose conditions do not hold is NOT APPLICABLE.\n",
        "| item | meaning | cases with a condition on it |",
        "|---|---|---|",
    ]
    for item, sentence in SENTENCES.items():
        lines.append(f"| `{item}` | {sentence} | {_listed(cases_about(item))} |")
    for title, items in (
        ("Demanded of everyone: only `lacks` takes them away", MANDATORY),
        ("Said by the lines of a profile", LINE_ITEMS),
    ):
        lines += [f"\n## {title}\n", "| item | meaning | cases |", "|---|---|---|"]
        for item, words in items.items():
            lines.append(f"| `{item}` | {words} | {len(cases_about(item))} |")
    return "\n".join(lines) + "\n"


def _listed(named: list[str], most: int = 6) -> str:
    """Links to the cases, the first of many."""
    shown = [f"[{i}]({page_of(i)}#{i.lower()})" for i in named[:most]]
    return ", ".join([*shown, f"and {len(named) - most} more"] if len(named) > most else shown)


def page_of(identifier: str) -> str:
    """The page of a case, from docs/."""
    group = catalogue().purposes[identifier].group
    return f"cases/{'STATE' if group.startswith(_STATES) else group}.md"


def _case(purpose: Purpose) -> list[str]:
    module = index.modules().get(purpose.id)
    needs = [in_words(condition) for condition in purpose.pics] or ["nothing that is declared"]
    caught = [
        f"  - `{fault.id}` {fault.behaviour}"
        for fault in faults().values()
        if purpose.id in (*fault.witnesses, *fault.also_fails)
    ]
    seen = {i: p for i, p in permissions().items() if purpose.id in p.witnesses}
    allowed = [f"  - `{i}` {p.text} ({p.clause})" for i, p in seen.items()]
    others = [f"`{i}`" for i in alternatives().get(purpose.id, ()) if i not in seen]
    allowed += [f"  - also touched: {', '.join(others)}"] if others else []
    lines = [
        f"\n## {purpose.id}\n",
        f"{purpose.purpose}\n",
        f"- Clause: {purpose.clause}",
        f"- For: {'; '.join(f'{CONFIGURATIONS[c]} ({c})' for c in purpose.configurations)}",
        f"- Needs: {'; '.join(needs)}",
        *_stimulus(purpose, module),
    ]
    lines += ["- Slow: it runs with `--slow`"] if purpose.slow else []
    lines += ["- Known faults that fail it:", *caught] if caught else []
    lines += ["- What the standards leave open and it allows:", *allowed] if allowed else []
    return lines


def _stimulus(purpose: Purpose, module: str | None) -> list[str]:
    """What is sent: what the case says of itself, or else its steps."""
    if module is None:
        return ["- Stimulus and expectations: none yet"]
    code = f"[{module}.py](../../suite/{module}.py)"
    words = inspect.cleandoc(cases()[purpose.id].function.__doc__ or "")
    if words and words != purpose.purpose:
        text = " ".join(words.split())
        return [f"- Stimulus: {text}", f"- Expectations, step by step: {code}"]
    if not (steps := index.steps(purpose.id)):
        return [f"- Stimulus: the packet that the cell names, in its state ({code})"]
    # Of no language: ruff formats those of its own.
    fenced = ["```", *steps.splitlines(), "```"]
    lines = [f"  {line}".rstrip() for line in fenced]
    return [f"- Stimulus and expectations, from {code}:", "", *lines, ""]


def case_pages() -> dict[str, str]:
    """docs/cases/*.md by path from docs/: a page for each group, one for all tables of states."""
    found: dict[str, list[str]] = {}
    titles = catalogue().groups
    for purpose in catalogue().purposes.values():
        path = page_of(purpose.id)
        if path not in found:
            states = purpose.group.startswith(_STATES)
            title = "STATE: the tables of states" if states else titles[purpose.group]
            named = title if states else f"{purpose.group}: {title}"
            found[path] = [_HEAD, f"# {named}"]
        found[path] += _case(purpose)
    return {path: "\n".join(lines) + "\n" for path, lines in found.items()}


def overview(pages: dict[str, str]) -> str:
    """docs/cases/README.md: the groups."""
    lines = [_HEAD, "# Cases by group\n", "| group | cases |", "|---|---:|"]
    for path, text in pages.items():
        title = next(line[2:] for line in text.splitlines() if line.startswith("# "))
        name = Path(path).name
        lines.append(f"| [{title}]({name}) | {text.count(chr(10) + '## ')} |")
    return "\n".join(lines) + "\n"


def all_pages() -> dict[str, str]:
    """Every page that is made, by its path below docs/."""
    groups = case_pages()
    return {
        "profile.md": profile_page(),
        "pics.md": pics_page(),
        "rooms.md": f"{_HEAD}\n{rooms.page()}",
        "cases/README.md": overview(groups),
        **groups,
        **{f"man/{name}": text for name, text in man_pages.pages().items()},
    }


def main() -> None:
    """Write them."""
    parser = argparse.ArgumentParser(
        prog="python -m x25shark.selftest.documents",
        description="Write the documents that are made from data.",
    )
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="below it (docs/)")
    folder: Path = parser.parse_args().folder
    for path, text in all_pages().items():
        write_whole(folder / path, text)


if __name__ == "__main__":
    with told():
        main()
