# SPDX-License-Identifier: GPL-2.0-or-later
"""The suite tested by broken routers, and the judges by changed packets.

mutants        every fault of the reference router has to fail the case that the catalogue names
judge_mutants  every field that an expectation names has to matter to each judge alone
"""
