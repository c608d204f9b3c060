# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands print: text that no terminal obeys, whoever had a hand in it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import textwrap

import click

from .text import printable

_MOST = 1_000_000
_MESSAGE = 4_000


def tell(text: str = "", *, nl: bool = True, hang: int | None = None) -> None:
    """Print text of one or more lines.

    hang: on a terminal a line that is too long for it is broken between words, and what follows is
    set in by so many columns. Elsewhere a line stays one line.
    """
    text = printable(text, _MOST)
    width = terminal_width()
    if hang is not None and width is not None:
        width = max(width, hang + 20)
        text = "\n".join(_broken(line, width, " " * hang) for line in text.split("\n"))
    click.echo(text, nl=nl)


def terminal_width() -> int | None:
    """Columns of the terminal that standard output is; None if it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _broken(line: str, width: int, indent: str) -> str:
    if len(line) <= width:
        return line
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def complain(message: object) -> None:
    """A message on standard error."""
    click.echo(f"x25shark: {printable(message, _MESSAGE)}", err=True)


def drop_what_cannot_be_printed() -> None:
    """Where standard output takes no more (a full disk), nothing is left for it at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            print_nowhere(sys.stdout.fileno())


def print_nowhere(number: int) -> None:
    """What is written to this descriptor from now on, and what waits to be, goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
