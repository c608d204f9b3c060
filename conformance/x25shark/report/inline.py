# SPDX-License-Identifier: GPL-2.0-or-later
"""What every page of x25shark has inside: style, script and data, in one file without a network.

The pages allow only their own style and script (Content-Security-Policy with digests), so that even
an escaping error would not run what a router sent.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
BASE_STYLE = TEMPLATES / "base.css"
"""Colours in light and dark, type, heads: common to all pages."""


def environment(*folders: Path) -> Environment:
    """Templates of these folders: everything escaped, a missing name an error."""
    return Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def source(text: str) -> str:
    """The CSP source of a style or script element with this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def inline(*files: Path) -> tuple[Markup, str]:
    """Files put into one style or script element, and its CSP source."""
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    return Markup(text), source(text)


def script_json(value: object) -> Markup:
    """JSON that can stand inside a script element: no `<`, `>` or `&`, ASCII only."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def script_packed(value: object) -> Markup:
    """JSON compressed (zlib) and in base 64, for a script element: details may be long."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return Markup(base64.b64encode(zlib.compress(text.encode("ascii"))).decode("ascii"))
