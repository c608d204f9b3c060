# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the core: profile, judges, evidence, links, and whole runs."""
