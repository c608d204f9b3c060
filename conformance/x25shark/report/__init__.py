# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports: what a person, a CI server or a release gate reads of a run. All made from `Results`."""
