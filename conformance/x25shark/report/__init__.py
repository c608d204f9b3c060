# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports: what a person, a CI server or a release gate reads of a run. All made from `Results`.

terminal  progress, one failure in full, the summary
html      report.html, and inline: what every page has inside
junit     JUnit XML
site      several runs as one page
compare   what changed between two runs
gate      a run against a reviewed baseline; baseline: that file
counters  the router's counters
about     what the catalogue says of a case
folder    the folder of a report; files: what lies in it
tell      what commands print
text      text of a router made harmless
"""
