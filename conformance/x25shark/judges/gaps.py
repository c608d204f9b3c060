# SPDX-License-Identifier: GPL-2.0-or-later
"""Known gaps of Wireshark's own dissectors (dissectors/gaps/gaps.toml).

They tell whether a difference between the strict and the built-in dissector is already understood
for this Wireshark version. One that is not is worth a remark with the case, never a verdict.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .reading import CaptureReader, Difference, Hit, Reading
from .sandbox import dissectors_folder


@dataclass(frozen=True)
class Gap:
    """One row of gaps.toml."""

    id: str
    what: str
    clause: str
    versions: tuple[str, ...]
    builtin_filter: str
    builtin_frames: tuple[int, ...]
    strict_filter: str
    right_frames: tuple[int, ...]
    applies: str | None
    differences: frozenset[str]
    capture: Path

    def concerns(self, version: str) -> bool:
        """Whether the gap was seen in this Wireshark ("4.0.17", "4.0")."""
        return release(version) in self.versions


def release(version: str) -> str:
    """ "4.0" of "4.0.17" or "Wireshark 4.0.17 (...)"; ValueError if there is no version in it."""
    found = re.search(r"(\d+)\.(\d+)", version)
    if found is None:
        raise ValueError(f"no Wireshark version in {version!r}")
    return f"{found[1]}.{found[2]}"


def load() -> tuple[Gap, ...]:
    """All known gaps. ValueError or KeyError if the file is wrong."""
    folder = dissectors_folder() / "gaps"
    with (folder / "gaps.toml").open("rb") as file:
        rows = tomllib.load(file)["gap"]
    return tuple(
        Gap(
            id=row["id"],
            what=row["what"],
            clause=row["clause"],
            versions=tuple(row["versions"]),
            builtin_filter=row["builtin_filter"],
            builtin_frames=tuple(row["builtin_frames"]),
            strict_filter=row["strict_filter"],
            right_frames=tuple(row["right_frames"]),
            applies=row.get("applies"),
            differences=frozenset(row.get("differences", ())),
            capture=folder / "captures" / f"{row['id']}.pcapng",
        )
        for row in rows
    )


class KnownGaps:
    """The gaps of one Wireshark version.

    Give `filters` to the judge along with others, and their hits to unexplained(); read() does
    both.
    """

    def __init__(self, version: str) -> None:
        self.gaps = tuple(gap for gap in load() if gap.concerns(version) and gap.applies)
        self.filters: tuple[str, ...] = tuple(gap.applies for gap in self.gaps if gap.applies)

    def unexplained(
        self, differences: Sequence[Difference], hits: Sequence[Sequence[Hit]]
    ) -> tuple[Difference, ...]:
        """The differences that no gap explains. hits: those of `filters`, in their order."""
        packets = [frozenset(each) for each in hits]
        return tuple(
            difference
            for difference in differences
            if not any(
                (difference.frame, difference.k) in where
                and difference.text.partition(":")[0] in gap.differences
                for gap, where in zip(self.gaps, packets, strict=True)
            )
        )

    def read(
        self,
        judge: CaptureReader,
        capture: bytes | int,
        filters: Sequence[str] = (),
        fields: Sequence[str] = (),
        *,
        timeout: float = 10.0,
    ) -> tuple[Reading, tuple[Difference, ...]]:
        """judge.read() with the differences that are not known gaps beside it."""
        reading = judge.read(capture, [*filters, *self.filters], fields, timeout=timeout)
        own = len(reading.hits) - len(self.filters)
        remarkable = self.unexplained(reading.differences, reading.hits[own:])
        return replace(reading, hits=reading.hits[:own]), remarkable
