# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the reference router, one small change each, kept apart from the router's own text.

The ids are those of the fault catalogue. FAULTS.switch_on() applies faults by name.
"""

from . import (
    amid_a_call,
    calls,
    clearing,
    collision,
    control,
    counting,
    data,
    facilities,
    form,
    framing,
    hdlc,
    ip,
    lapb,
    lapb_answers,
    lapb_links,
    left_over,
    line,
    overload,
    permanent,
    restart,
    sides,
    system,
    values,
)
from .registry import FAULTS, fault

__all__ = ["FAULTS", "fault"]

# Importing the modules has registered their faults.
_MODULES = (
    amid_a_call,
    calls,
    clearing,
    collision,
    control,
    counting,
    data,
    facilities,
    form,
    framing,
    hdlc,
    ip,
    lapb,
    lapb_answers,
    lapb_links,
    left_over,
    line,
    overload,
    permanent,
    restart,
    sides,
    system,
    values,
)
