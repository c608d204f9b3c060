# SPDX-License-Identifier: GPL-2.0-or-later
"""Links: bytes to and from the router. They know nothing of cases or judges."""
