# SPDX-License-Identifier: GPL-2.0-or-later
"""Evidence that waits for the judges."""

from __future__ import annotations

import threading

from x25shark.evidence.slicer import Slice
from x25shark.run.pipeline import _OF_AN_OCTET, MOST_WAITING, Backlog


def test_too_much_waits_for_the_judges() -> None:
    backlog = Backlog()
    for number in range(3):
        # What is made of an octet is several in memory: two of three are too much.
        backlog.put(Slice(number, octets=MOST_WAITING * 6 // 10 // _OF_AN_OCTET))
    went_on = threading.Event()

    def next_case() -> None:
        backlog.wait()
        went_on.set()

    waiting = threading.Thread(target=next_case, daemon=True)
    waiting.start()
    for _ in range(2):
        found = backlog.get()
        assert found is not None
        assert not went_on.is_set()
        backlog.judged(found)
    assert went_on.wait(30.0)
    waiting.join()


def test_little_does_not_wait() -> None:
    backlog = Backlog()
    backlog.put(Slice(1, octets=1 << 20))
    backlog.wait()
    backlog.put(None)
    assert backlog.get() is not None
    assert backlog.get() is None
