# SPDX-License-Identifier: GPL-2.0-or-later
"""IP over X.25 (RFC 1356, RFC 877): a gateway, an access line, and the experiments of 1987.

hosts     network namespaces with a TUN device, and programs in them
gateway   x25shark ip up: one gateway, until Ctrl-C
lab       two hosts, two gateways, two lines and a router between them
model     what window, packet size, delay and rate let one expect
traffic   stock programs: ping, an FTP server and curl, and what they print
experiments   the measurements, each beside its model
paper     the published figures
datagrams  a file as UDP datagrams between the hosts
tables, page  the tables and plots in the paper's form; result: ip.json
cli       the commands

Nothing here imports Scapy, as in load/.
"""
