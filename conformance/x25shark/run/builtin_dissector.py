# SPDX-License-Identifier: GPL-2.0-or-later
"""The third opinion: Wireshark's built-in dissector.

It never decides. Where it reads a packet differently from the strict dissector, and the
difference is not a known gap of this Wireshark version, the case gets a remark.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..judges.gaps import KnownGaps
from ..judges.reading import CaptureReader, Difference, Reading

MOST_REMARKS = 5


class BuiltinDissector:
    """Reads captures through judge two, and looks at what the built-in dissector says."""

    def __init__(self, judge: CaptureReader, version: str) -> None:
        self._judge = judge
        self._known = KnownGaps(version)

    def read(
        self,
        capture: bytes,
        numbers: Sequence[int],
        filters: Sequence[str],
        fields: Sequence[str],
        timeout: float,
    ) -> tuple[Reading, list[str]]:
        """The reading for these filters, and the remarks; numbers: of the capture's frames.

        Raises JudgeError.
        """
        reading, unexplained = self._known.read(
            self._judge, capture, filters, fields, timeout=timeout
        )
        remarks = [_in_words(d, numbers[d.frame - 1]) for d in unexplained[:MOST_REMARKS]]
        return reading.renumbered(numbers), remarks


def _in_words(difference: Difference, frame: int) -> str:
    return (
        f"Wireshark's built-in dissector differs, frame {frame}, "
        f"packet {difference.k}: {difference.text}"
    )
