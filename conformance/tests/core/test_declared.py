# SPDX-License-Identifier: GPL-2.0-or-later
"""A case that failed says what in the profile made it run."""

from __future__ import annotations

import pytest
from x25shark.catalogue import Purpose
from x25shark.profile import load_profile
from x25shark.run.declared import why_it_runs

BECAUSE = "it runs because of the profile: "


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ((), None),
        (("P-SVC", "R-SW", "needs limits.calls"), None),
        (("not P-REJ",), "pics has no P-REJ (packet retransmission)"),
        (("P-MOD128",), "pics has P-MOD128 (modulo 128)"),
        (("P-REJ or P-MOD128",), "pics has P-MOD128 (modulo 128)"),
        (("M-LOCAL", "not M-SPLICE"), 'relay_model is "local"'),
        (
            ("not M-SPLICE", "P-MOD128"),
            'relay_model is "local", pics has P-MOD128 (modulo 128)',
        ),
    ],
)
def test_what_the_profile_chose(conditions: tuple[str, ...], said: str | None) -> None:
    purpose = Purpose("PLP-X-01", "Something.", "X.25 1", ("T1",), conditions)
    why = why_it_runs(purpose, load_profile("reference"))
    assert why == (None if said is None else BECAUSE + said)


def test_what_the_router_is_on_its_lines_need_not_be_said_twice() -> None:
    """A DTE has causes of its own (X.25 5.4.3.1), whether or not pics names R-DTE."""
    profile = load_profile("reference-serial").model_copy(update={"pics": frozenset()})
    assert {line.role for line in profile.line.by_side().values()} == {"dce", "dte"}
    assert {"R-DCE", "R-DTE"} <= profile.declared
