#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The engine against its yardsticks, in turn, REPEATS times (default 5), medians:
#   calls/s (call, one 4096-octet message echoed and verified, clear), 32 circuits and one,
#     against a bare epoll C program that makes the same system calls;
#   128-octet Data packets/s, window 7, 64 circuits, verified, both directions together;
#   a one-way stream of verified 4096-octet packets against iperf3;
#   system calls per call of both programs (strace -c).
# Needs cargo, cc, iperf3, python3; strace is left out if it is missing. Quiet machine, please.
set -eu
cd "$(dirname "$0")"
repeats=${REPEATS:-5}
seconds=${SECONDS_EACH:-3}
target=${CARGO_TARGET_DIR:-target}
work=$(mktemp -d)
server=
cleanup() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
cargo build --quiet --release --example loopback
cc -O2 -Wall -Wextra -Werror -pthread -o "$work/bare_epoll" benches/bare_epoll.c
loopback=$target/release/examples/loopback
milliseconds=$((seconds * 1000))

one_call='"message_length":[4096,4096],"packet_size":4096,"window":7'
packets='"circuits":64,"message_length":[4096,4096],"packet_size":128,"window":7'
stream='"circuits":1,"mode":"sink","modulo":128,"message_length":[4096,4096]'

engine() { # name, field, caller configuration, responder configuration
    "$loopback" "{\"duration_ms\":$milliseconds,$3}" "${4:-{\}}" >"$work/line"
    python3 - "$work/line" "$2" <<'PY' >>"$work/$1"
import json, sys
line = json.load(open(sys.argv[1]))
assert line["failed"] == 0 and line["integrity"] == 0, line
print(line[sys.argv[2]])
PY
}

echo "load before: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) processors, $(uname -r)"
for round in $(seq "$repeats"); do
    echo "round $round of $repeats" >&2
    "$work/bare_epoll" 32 "$seconds" 4096 >>"$work/c32"
    engine e32 calls_per_s "\"circuits\":32,$one_call"
    "$work/bare_epoll" 1 "$seconds" 4096 >>"$work/c1"
    engine e1 calls_per_s "\"circuits\":1,$one_call"
    engine packets data_packets_per_s "$packets,\"messages\":4000000000,\"depth\":4"
    iperf3 -s -1 -B 127.0.0.1 -p 5259 >/dev/null &
    server=$!
    sleep 0.5
    iperf3 -c 127.0.0.1 -p 5259 -t "$seconds" -J >"$work/iperf"
    wait "$server" || true
    server=
    python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["end"]["sum_received"]["bits_per_second"]/8)' \
        "$work/iperf" >>"$work/iperf3"
    engine stream verified_b_octets_per_s \
        "$stream,\"packet_size\":4096,\"window\":127,\"messages\":4000000000,\"depth\":4" \
        '{"mode":"sink"}'
done
echo "load after:  $(cut -d' ' -f1-3 /proc/loadavg)"
python3 - "$work" <<'PY'
import statistics, sys
from pathlib import Path
work = Path(sys.argv[1])
def values(name):
    return [float(line) for line in (work / name).read_text().split()]
def median(name):
    return statistics.median(values(name))
def spread(name):
    return f"{min(values(name)):,.0f} to {max(values(name)):,.0f}"
rows = [
    ("calls/s, 32 circuits", "e32", "c32", 1, "bare epoll", 0.8),
    ("calls/s, 1 circuit", "e1", "c1", 1, "bare epoll", 0.8),
    ("one-way stream, MB/s", "stream", "iperf3", 1e6, "iperf3", 0.5),
]
for words, ours, theirs, unit, name, wanted in rows:
    a, b = median(ours) / unit, median(theirs) / unit
    print(f"{words}: engine {a:,.0f}, {name} {b:,.0f}: {a / b:.2f} times (wanted {wanted})")
    print(f"    ranges: engine {spread(ours)}, {name} {spread(theirs)}")
packets = median("packets")
print(f"128-octet Data packets/s: {packets:,.0f} (wanted 500,000); range {spread('packets')}")
PY
if command -v strace >/dev/null; then
    calls=2000
    strace -f -c -o "$work/strace-engine" "$loopback" \
        "{\"calls\":$calls,\"circuits\":32,$one_call}" >/dev/null
    strace -f -c -o "$work/strace-c" "$work/bare_epoll" 32 1 4096 >"$work/strace-calls"
    python3 - "$work" "$calls" <<'PY'
import sys
from pathlib import Path
work = Path(sys.argv[1])
names = "socket setsockopt connect accept4 epoll_ctl epoll_wait epoll_pwait2 sendto recvfrom close"
def per_call(file, calls):
    counts = {}
    for line in (work / file).read_text().splitlines():
        parts = line.split()
        if len(parts) >= 5 and parts[3].isdigit():
            counts[parts[-1]] = int(parts[3])
    return {n: counts.get(n, 0) / calls for n in names.split()}
engine = per_call("strace-engine", int(sys.argv[2]))
bare = per_call("strace-c", float((work / "strace-calls").read_text()))
print("system calls per call (strace -c):")
for name in names.split():
    print(f"    {name:14} engine {engine[name]:5.2f}   bare {bare[name]:5.2f}")
print(f"    {'sum':14} engine {sum(engine.values()):5.2f}   bare {sum(bare.values()):5.2f}")
PY
fi
