# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark: conformance tester and benchmark for X.25 switches and XOT (RFC 1613) routers."""

__version__ = "0.1.0"
