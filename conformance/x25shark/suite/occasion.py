# SPDX-License-Identifier: GPL-2.0-or-later
"""On which occasion something came, where a case makes one list of steps on many of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..sides.context import Context
from ..sides.outcomes import ExpectationFailed


@contextmanager
def amid(context: Context, occasion: str) -> Iterator[None]:
    """Say with the reason of a FAIL in here on which occasion it came: "in a call of B"."""
    try:
        yield
    except ExpectationFailed as failed:
        unmet = failed.expectation
        unmet.note = "; ".join(filter(None, (unmet.note, occasion)))
        raise
    except Exception:
        context.remark(occasion)
        raise
