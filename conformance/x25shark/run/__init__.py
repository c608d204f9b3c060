# SPDX-License-Identifier: GPL-2.0-or-later
"""Running the suite: everything around the cases.

namespaces  an own network namespace, so that an ordinary user can capture
router      the router's control hooks and the embedded reference router
judging     judge two, running behind, and the verdict of a case
giving_up   a router that does not answer any more
repeats     the worst of several runs of a case
campaign    one run from preflight to results
plugin      the cases as pytest items (see ../plugin.py)
"""
