# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark: conformance tester and benchmark for X.25 switches and XOT (RFC 1613) routers.

The packages and what imports what: docs/rooms.md. The modules beside them:

cli, start, session, plugin   the command; the suite under pytest
finished, groups, number_range, interrupts   parts of the command
profile, extending, endpoints what a router is
verdicts, record              what a verdict means; the test record
results, case_results, stored, results_schema   results.json
foreign, typed                files that somebody else may have made
own_cache, temporary, tied, cpu_time, memory    caches, folders, processes, and their bounds
wireshark, plain_tshark       Wireshark on the evidence; tshark without the user's settings
"""

__version__ = "0.1.0"
