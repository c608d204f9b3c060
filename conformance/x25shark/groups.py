# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of commands whose --help gives the whole sentence of each; click would cut them."""

from __future__ import annotations

import click

_LONGEST = 200


class Group(click.Group):
    """A click group that cuts no sentence."""

    def sentences(self) -> dict[str, str]:
        """What each command does, in one sentence."""
        return {n: c.get_short_help_str(_LONGEST) for n, c in self.commands.items()}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self.sentences().items()))
