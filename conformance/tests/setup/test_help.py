# SPDX-License-Identifier: GPL-2.0-or-later
"""What --help says: something of every option, whole sentences, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner
from x25shark.cli import main


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(path), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _commands(below, (*path, name))


COMMANDS = dict(_commands(main, ()))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_whole(name: str) -> None:
    command = COMMANDS[name]
    unsaid = [p.opts for p in command.params if isinstance(p, click.Option) and not p.help]
    assert unsaid == []
    if name == "router":
        return  # its help is that of the reference router, which needs no click
    text = CliRunner().invoke(main, [*name.split(), "--help"], terminal_width=80).output
    assert max(map(len, text.splitlines())) <= 80
    _, *lines = text.splitlines()
    assert [line for line in lines if line.endswith("...")] == []
