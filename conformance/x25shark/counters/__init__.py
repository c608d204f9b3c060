# SPDX-License-Identifier: GPL-2.0-or-later
"""The router's counters: where they stand, how they are read, what the capture says they must be.

names.py      the neutral names that profiles and cases use
settings.py   the section [counters] of a profile
paths.py      where a value stands in a JSON document
reader.py     the page of a router, over HTTP
places.py     where each counter of a profile stands
pages.py      the values of the counters in a page
counts.py     how each name is counted in a capture, as packet templates
moved.py      the expectation that a counter moved as the capture shows
cleared.py    the same for the table of cleared circuits
kept.py       the same for the last FRMR
"""
