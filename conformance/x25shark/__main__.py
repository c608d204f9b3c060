# SPDX-License-Identifier: GPL-2.0-or-later
"""python -m x25shark: the x25shark command."""

from .start import main

main()
