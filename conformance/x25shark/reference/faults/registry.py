# SPDX-License-Identifier: GPL-2.0-or-later
"""The faults of the reference router, by the ids of the fault catalogue."""

from ..switches import Patch, Switches

__all__ = ["FAULTS", "Patch", "fault"]

FAULTS = Switches("fault")
#: Decorator: fault(id, number). What the router does wrong is said in the catalogue.
fault = FAULTS.register
