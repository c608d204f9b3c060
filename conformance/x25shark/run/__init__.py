# SPDX-License-Identifier: GPL-2.0-or-later
"""Running the suite: everything around the cases.

namespaces  an own network namespace, so that an ordinary user can capture
router      the router's control hooks and the embedded reference router
judging     judge two, running behind, and the verdict of a case
giving_up   a router that does not answer any more
repeats     the worst of several runs of a case
plan        which cases will run, and what they cost
campaign    one run from preflight to results
session     `x25shark run`: the suite under pytest
watching    `x25shark run --watch`
plugin      the cases as pytest items (see ../plugin.py)
"""
