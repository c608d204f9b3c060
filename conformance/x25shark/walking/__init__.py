# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark walk: random walks over the calls of a router, and the shortest that fails.

hunt      walks one after another, and what can be left out of one that fails
command   the command line
"""
