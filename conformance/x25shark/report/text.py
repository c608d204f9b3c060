# SPDX-License-Identifier: GPL-2.0-or-later
"""Text that a router had a hand in, made harmless before a person or a parser sees it.

A router chooses the bytes behind decoded packets, causes and explanations, so any string of a
result may hold terminal escapes, bidirectional overrides, lone surrogates or ten megabytes.
Every renderer passes what it prints through `printable` or `one_line`: characters that act
instead of showing are written as escapes, and what is too long is cut with a note that says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePosixPath

from ..results import CaseResult, ExpectationResult, PacketLine

LINE_LIMIT = 400
"""Longest one-line text, in characters."""
TEXT_LIMIT = 20_000
"""Longest multi-line text, in characters."""

# C0 and C1 controls but newline and tab; invisible and bidirectional formatting characters
# (U+00AD, U+061C, U+115F, U+180E, U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F, U+FEFF,
# U+FFF9 to U+FFFB, tags); surrogates; noncharacters of the first plane (XML forbids two of them).
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    "\U000e0000-\U000e007f]"
)
_COMBINING_RUN = 4


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _thin_combining(text: str) -> str:
    """Drop combining marks beyond a few in a row: a tower of them paints over other lines."""
    kept: list[str] = []
    run = 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        if run <= _COMBINING_RUN:
            kept.append(character)
    return "".join(kept)


def printable(text: object, limit: int = TEXT_LIMIT) -> str:
    """The text with acting characters written as escapes, cut to `limit` characters with a note."""
    whole = text if isinstance(text, str) else str(text)
    return _printable(whole, limit) if len(whole) <= _LONGEST_KEPT else _made(whole, limit)


# A report says the same words again and again.
_LONGEST_KEPT = 400


@lru_cache(maxsize=8192)
def _printable(whole: str, limit: int) -> str:
    return _made(whole, limit)


# A text that a note about the rest would not make shorter is shown whole.
_LONGEST_NOTE = 36


def _note(gone: int) -> str:
    return f" [{gone:,} more characters left out]"


def _made(whole: str, limit: int) -> str:
    left_out = len(whole) - limit
    shown = (whole[:limit] if left_out > _LONGEST_NOTE else whole).replace("\r\n", "\n")
    if not shown.isascii():
        shown = _thin_combining(shown)
    shown = _ACTING.sub(_escape, shown)
    return shown + _note(left_out) if left_out > _LONGEST_NOTE else shown


def one_line(text: object, limit: int = LINE_LIMIT, *, words: bool = False) -> str:
    """As `printable`, on one line: white space folded to single blanks.

    words: cut between two words. Not for what is kept and held against a later run: baselines have
    lines that were cut anywhere.
    """
    whole = text if isinstance(text, str) else str(text)
    made = _one_line if len(whole) <= _LONGEST_KEPT else _folded
    return made(whole, limit, words)


def moment(text: object) -> str:
    """A time as results.json has it, for people."""
    return one_line(text, 40).replace("T", " ").replace("+00:00", " UTC")


@lru_cache(maxsize=8192)
def _one_line(whole: str, limit: int, words: bool) -> str:
    return _folded(whole, limit, words)


def _folded(whole: str, limit: int, words: bool) -> str:
    # Fold only what can be shown, and never more: folding ten megabytes to cut them is waste.
    unseen = len(whole) - 4 * limit
    head = " ".join((whole[: 4 * limit] if unseen > _LONGEST_NOTE else whole).split(None))
    gone = (unseen if unseen > _LONGEST_NOTE else 0) + max(len(head) - limit, 0)
    if gone > _LONGEST_NOTE:
        shown = _whole_words(head, limit) if words else head[:limit]
        return printable(shown, limit) + _note(gone + min(len(head), limit) - len(shown))
    return printable(head, limit)


# Half a number is another number. What is longer is octets, or a router's: it is cut anywhere.
_LONGEST_WORD = 40


def _whole_words(line: str, limit: int) -> str:
    """At most `limit` characters from the beginning of a line, without half a word at their end."""
    if line[limit : limit + 1] in ("", " "):
        return line[:limit]
    end = line.rfind(" ", max(limit - _LONGEST_WORD, 0), limit)
    return line[:end] if end > 0 else line[:limit]


def markdown_cell(text: object, limit: int = 300) -> str:
    """Text for a cell of a Markdown table: no markup, no link, no mention, one line."""
    escaped = re.sub(r"([\\`*_{}\[\]()<>#+!|~$&:-])", r"\\\1", one_line(text, limit))
    # A joiner of no width keeps "@name" and bare web addresses from becoming links.
    return escaped.replace("@", "@\u2060").replace("www.", "www\u2060.")


def first_line(text: object, limit: int = LINE_LIMIT, *, words: bool = False) -> str:
    """The first line of a text that is not blank, bounded; words: as of one_line."""
    whole = text if isinstance(text, str) else str(text)
    for line in whole[: 16 * limit].splitlines():
        if line.strip():
            return one_line(line, limit, words=words)
    return ""


def shorten(text: str, width: int) -> str:
    """At most `width` columns of an already harmless line, with an ellipsis if it was cut."""
    return text if len(text) <= width else text[: max(width - 1, 0)].rstrip() + "…"


def relative_path(evidence: str | None) -> str | None:
    """The evidence path if it is a plain path inside the report's directory, otherwise None."""
    if not evidence or len(evidence) > LINE_LIMIT or _ACTING.search(evidence):
        return None
    path = PurePosixPath(evidence)
    if path.is_absolute() or ".." in path.parts or "\n" in evidence or "\t" in evidence:
        return None
    return str(path)


def direction(packet: PacketLine) -> str:
    """Who sent the packet to whom: "A > router", "router > A" and the same for B."""
    side = one_line(packet.side, 8)
    return f"{side} > router" if packet.sent else f"router > {side}"


def unmet(case: CaseResult) -> list[ExpectationResult]:
    """The expectations that decided against the case: not met, or met for one judge alone."""
    return [e for e in case.expectations if not e.met or disagree(e)]


def disagree(expectation: ExpectationResult) -> bool:
    """Whether both judges have read the expectation and differ."""
    one, two = expectation.judge_one, expectation.judge_two
    return one is not None and two is not None and one.met != two.met


def deciding_packets(expectations: Iterable[ExpectationResult]) -> set[tuple[int, int]]:
    """(frame, k) of the packets that decided these expectations, where one did."""
    return {(e.frame, e.k or 1) for e in expectations if e.frame is not None}
