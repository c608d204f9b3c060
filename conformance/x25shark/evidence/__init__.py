# SPDX-License-Identifier: GPL-2.0-or-later
"""Evidence: what dumpcap saw, cut into one pcapng per case.

pcapng    blocks of a capture stream, and comments in them
frames    the TCP part of a captured frame
slicer    which frame belongs to which case
capture   dumpcap, read through a pipe
line_tap  the same of a serial line; tap: its process
in_order  a capture with its TCP segments in order
"""
