# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the reference router, one small change each, kept apart from the router's own text.

Each module says in its first line which faults it has; registry.py has them all, common.py what
several need. The ids are those of the fault catalogue. FAULTS.switch_on() applies faults by name.
"""

import importlib
import pkgutil

from .registry import FAULTS, fault

__all__ = ["FAULTS", "fault"]

# Importing the modules registers their faults.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
