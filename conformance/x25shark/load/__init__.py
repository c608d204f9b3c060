# SPDX-License-Identifier: GPL-2.0-or-later
"""Load: stress, sweep, bench, overload and matrix, echo and relay, on top of the Rust engine.

engine    the engine as an optional part: found, or what to install
options   what a load is: packet size, window, messages, rates; checked before anything starts
target    which router is loaded: a profile, a plain address, or none
processor CPU time and memory of the router, and the machine's load
measure   one measurement from start to result, with live progress
results   figures out of raw results, judgement, load.json
terminal  the original's report and tables
wording   numbers as people read them
page, plots, chart     one offline HTML page with interactive plots
stress, sweep   the two experiments
trial     messages at a stated rate over circuits that are up, and what became of them
search    the highest rate without loss, by MLRsearch (the only one that imports it)
bench     Bradner's router tests: what is measured; bench_findings: what its trials say;
          bench_run: the command, judgement
bench_tables, bench_page, bench_plots   its tables, page and plots
overload  calls/s by schedule, the knee, floods; polite: the caller beside them, and recovery
overload_run, overload_page, overload_plots, overload_cli  the command, its page, plots, options
matrix    speed by TCP and X.25 settings; wire: what of them took effect; matrix_run,
          matrix_tables, matrix_plots, matrix_cli: the command, its tables, plots, options
published   the published measurements beside ours
cluster, tester   several testers on Dask; simulation: many in one process
running, closing   progress and sentences of long measurements, and how they end
errors    bad units, sent by the suite's cases, and what counted them
programs  other programs, run to their end
figures, compare  the figures of a result by name with their spread; changes and limits
management, idle, filters, ceiling      the counters page under load, a router left alone, filter
          conditions, what a line can carry
emulation   access lines of a profile in front of the router
arguments, cli, measure_cli  the commands, and the options they share
ends      the commands echo and relay

Nothing here imports Scapy: speed, and licences. A test checks it.
"""
