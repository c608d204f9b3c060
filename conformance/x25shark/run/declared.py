# SPDX-License-Identifier: GPL-2.0-or-later
"""What a profile says, or leaves out, that makes a case run with a router."""

from __future__ import annotations

from ..catalogue import Purpose
from ..profile import MODELS, PICS_ITEMS, Profile


def why_it_runs(purpose: Purpose, profile: Profile) -> str | None:
    """A remark for a case that failed: the router is not wrong where its profile is.

    None if the case does not hang on anything that the profile chose.
    """
    said = []
    for condition in purpose.pics:
        wanted = condition.removeprefix("not ")
        if wanted in MODELS.values():
            # A router that ends the calls itself relays none, and its profile says nothing of it.
            if profile.configurations != ("T2",):
                said.append(f'relay_model is "{profile.relay_model}"')
        elif wanted != condition:
            said += [f"pics has no {_in_words(wanted)}"] if wanted in PICS_ITEMS else []
        else:
            here = [item for item in wanted.split(" or ") if item in profile.pics]
            said += [f"pics has {_in_words(item)}" for item in here if item in PICS_ITEMS]
    if not said:
        return None
    return f"it runs because of the profile: {', '.join(dict.fromkeys(said))}"


def _in_words(item: str) -> str:
    return f"{item} ({PICS_ITEMS[item]})"
