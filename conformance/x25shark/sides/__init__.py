# SPDX-License-Identifier: GPL-2.0-or-later
"""Sides A and B: a DTE on top of an XOT connection, and the calls between them.

side    one side: send packets, expect templates, numbering of data
call    a call with both its ends, and the fence
bench   what a case works with: it opens connections and calls, and keeps the expectations
"""
