# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands print: text that no terminal obeys, whoever had a hand in it."""

from __future__ import annotations

import contextlib
import os
import sys

import click

from .text import printable

_MOST = 1_000_000
_MESSAGE = 4_000


def tell(text: str = "", *, nl: bool = True) -> None:
    """Print text of one or more lines."""
    click.echo(printable(text, _MOST), nl=nl)


def complain(message: object) -> None:
    """A message on standard error."""
    click.echo(f"x25shark: {printable(message, _MESSAGE)}", err=True)


def drop_what_cannot_be_printed() -> None:
    """Where standard output takes no more (a full disk), nothing is left for it at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
