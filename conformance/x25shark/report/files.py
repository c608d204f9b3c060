# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of a report: results.json, junit.xml, report.html."""

from __future__ import annotations

from pathlib import Path

from ..results import Results, write_results, write_whole
from . import html, junit


def write_all(results: Results, directory: Path) -> None:
    """Write all files of the report; each is either whole or the one from before."""
    write_results(results, directory / "results.json")
    write_whole(directory / "junit.xml", junit.render(results))
    html.render(results, directory)
