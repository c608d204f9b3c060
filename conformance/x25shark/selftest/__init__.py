# SPDX-License-Identifier: GPL-2.0-or-later
"""The suite tested by broken routers, and the judges by changed packets.

mutants        every fault of the reference router has to fail the case that the catalogue names
variants       routers that are right in other ways; variant_runs: what it runs
sightings      whether a permitted behaviour is seen on the wire
judge_mutants  every field that an expectation names has to matter to each judge alone;
               frame_changes: the same of frames
code_mutants   mutants of the reference router's own code; mutation, mutant_router, mutant_hunt
routers        the suite against every built-in router
networks       the suite over networks that delay, lose and reorder; network: one of them
walk_faults    whether random walks find faults of memory; planted: those faults
moments        commands interrupted at moments drawn by lot
judge_fuzz     the judge as a fuzz target
lines          the emulated line against what it is set to
author_loop    what a router author waits for; dissector_speed: what the dissector costs
known_truth    what bench and overload find of a router whose figures are known
measure_all    bench, overload and matrix beside the published tables
testers_netns  testers on hosts of their own against one tester
worker, warm   many changed routers through one campaign, started early
rows           rows of a long table, for a run that goes on where it was interrupted
golden         the captures of pcaps/
messages       every message that a user can see
documents      documents made from data; man_pages, rooms, pictures: the others
"""
