# SPDX-License-Identifier: GPL-2.0-or-later
"""The router's counters: where they stand, how they are read.

names.py      the neutral names that profiles and cases use
settings.py   the section [counters] of a profile
paths.py      where a value is in a JSON document
reader.py     one reading, in a thread of its own
readers/      the ways to read: a module for each
locations.py  where each counter of a profile stands
pages.py      the values of the counters in a page

What the capture says that they must be is judged in judges/ (counter_*.py, cleared_table.py,
frame_reject_kept.py).
"""
