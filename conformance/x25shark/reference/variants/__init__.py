# SPDX-License-Identifier: GPL-2.0-or-later
"""Legal variants of the reference router: what the standards permit and it does not do by itself.

Each makes use of one permission of the catalogue and is put on as a fault is, but none of them is
wrong. VARIANTS.switch_on() applies them by name; each module keeps to one group of
permissions, which its first line names; registry.py has them all.
"""

import importlib
import pkgutil

from .registry import VARIANTS

__all__ = ["VARIANTS"]

# Importing the modules registers their variants.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
