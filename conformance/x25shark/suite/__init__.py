# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases: one module per group of the catalogue, one function per purpose, in its order.

A case is a function under @purpose(id). It takes `call` (a call from A to B that is connected,
preamble P-CALL) or `bench` (no call yet), sends stimuli and states expectations. It needs no
verdict of its own: expectations are judged twice, and nothing unexpected may come.
"""
