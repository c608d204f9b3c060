# SPDX-License-Identifier: GPL-2.0-or-later
"""The manual pages of the commands, docs/man/, made of what --help says.

`selftest.documents` writes them; the wheel puts them where man(1) looks (share/man/man1).
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterator

import click
from click_man.man import ManPage

import x25shark
from x25shark.cli import main
from x25shark.reference.__main__ import parser as router

# Commands that hand their arguments on, and who reads those.
_ELSEWHERE: dict[str, Callable[[], argparse.ArgumentParser]] = {"router": router}
# Marks a paragraph of a help text that click does not fill.
_AS_IT_IS = "\b\n"


def pages() -> dict[str, str]:
    """Every page by the name of its file."""
    root = click.Context(main, info_name="x25shark", **main.context_settings)
    return {f"{_dashed(c)}.1": _page(c) for c in _contexts(root)}


def _contexts(context: click.Context) -> Iterator[click.Context]:
    """This command and all below it."""
    yield context
    for name, command in _below(context):
        yield from _contexts(
            click.Context(command, info_name=name, parent=context, **command.context_settings)
        )


def _below(context: click.Context) -> Iterator[tuple[str, click.Command]]:
    group = context.command
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is not None and not command.hidden:
                yield name, command


def _page(context: click.Context) -> str:
    command = context.command
    page = ManPage(context.command_path)
    page.version = f"x25shark {x25shark.__version__}"
    # The page says the same on the day after.
    page.date = ""
    page.short_help = _plain(command.get_short_help_str(200)).rstrip(".")
    page.synopsis = " ".join(command.collect_usage_pieces(context))
    page.description = _description(command)
    page.options = [(names, _plain(text)) for names, text in _options(context)]
    page.commands = [(n, _plain(c.get_short_help_str(200))) for n, c in _below(context)]
    named = _dashed(context)
    # The page of a command below another one is called after both.
    text = str(page).replace(f"\\fB{context.command_path}-", f"\\fB{named}-")
    above = f".SH SEE ALSO\n\\fB{_dashed(context.parent)}\\fP(1)\n" if context.parent else ""
    return f'.\\" SPDX-License-Identifier: GPL-2.0-or-later\n{text}{above}'


def _options(context: click.Context) -> Iterator[tuple[str, str]]:
    """Names and text of each option."""
    if reader := _ELSEWHERE.get(context.info_name or ""):
        yield from _as_told(reader())
        return
    for one in context.command.get_params(context):
        if record := one.get_help_record(context):
            yield record


def _as_told(reader: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """What --help says of each option of a parser, a paragraph of it for each."""
    formatter = argparse.HelpFormatter(reader.prog, max_help_position=4, width=10_000)
    formatter.add_arguments(reader._actions)
    # Names at the beginning of a line, text with an indent: behind them if it has room there.
    for one in re.split(r"\n(?=-)", formatter.format_help().strip()):
        names, text = re.split(r"\n|  +", one, maxsplit=1)
        yield names, " ".join(text.split())


def _dashed(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def _description(command: click.Command) -> str:
    """What --help says, its paragraphs as there."""
    text = inspect.cleandoc((command.help or "").partition("\f")[0])
    return "\n\n".join(_paragraph(one) for one in text.split("\n\n"))


def _paragraph(text: str) -> str:
    if text.startswith(_AS_IT_IS):
        return f".nf\n{_plain(text.removeprefix(_AS_IT_IS))}\n.fi"
    return _plain(text)


def _plain(text: str) -> str:
    """Text that roff takes as it is: a backslash, and a dot or quote at the beginning of a line."""
    lines = text.replace("\\", "\\e").splitlines()
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in lines)
