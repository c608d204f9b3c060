# SPDX-License-Identifier: GPL-2.0-or-later
"""A way to a line that hands whole frames on, and nothing else of a line."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import ValidationError
from x25shark.line_places import tcp
from x25shark.profile import Line
from x25shark.sides.line_wire import LineWire, OnALine
from x25shark.sides.outcomes import NotApplicable


@pytest.fixture
def of_frames(monkeypatch: pytest.MonkeyPatch) -> Line:
    monkeypatch.setattr(tcp, "WHOLE_FRAMES", True)
    return Line.model_validate({"tcp": "127.0.0.1:2001"})


def test_bits_are_refused(of_frames: Line) -> None:
    with pytest.raises(ValidationError, match=r'tcp hands whole frames on: .* framing = "octet"'):
        Line.model_validate({"tcp": "127.0.0.1:2001", "framing": "bit"})


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda wire: wire.send_part(b"1", 3), "single bits"),
        (lambda wire: wire.send_aborted(b"12"), "an abort"),
        (lambda wire: wire.send_flags(1), "flags alone"),
        (lambda wire: wire.send_idle(2), "ones"),
        (lambda wire: wire.send_behind_ones(9, b"12"), "ones ahead of a frame"),
        (lambda wire: wire.send(b"~12~"), "octets of any kind"),
    ],
)
def test_a_case_that_sends_no_whole_frame_does_not_apply(
    of_frames: Line, call: Any, what: str
) -> None:
    line = cast(OnALine, SimpleNamespace(name="B", profile=of_frames))
    with pytest.raises(NotApplicable, match=f"line b hands whole frames on.* {what}$"):
        call(LineWire(line))
