# SPDX-License-Identifier: GPL-2.0-or-later
"""IP over a serial line: gateway, XOT, router, HDLC and LAPB, router, XOT, gateway. The line is
emulated by the router nearer to A."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from .conftest import Ip

NEAR = """
listen = "127.0.25.1:1998"
source = "127.0.25.1"
model = "local"
[[serial]]
name = "line"
listen = "127.0.25.1:2002"
framing = "{framing}"
role = "dce"
[[route]]
prefix = "21"
to = "serial:line"
[[route]]
prefix = "31"
to = "127.0.25.2:1998"
[[emulation]]
at = "serial:line"
in = {{ rate = 10000000, delay = 1 }}
out = {{ rate = 10000000, delay = 1 }}
"""
FAR = """
listen = "127.0.25.7:1998"
http = "127.0.25.7:8025"
source = "127.0.25.7"
model = "local"
[[serial]]
name = "line"
connect = "127.0.25.1:2002"
framing = "{framing}"
role = "dte"
retry = 1
[[route]]
prefix = "21"
to = "127.0.25.3:1998"
[[route]]
prefix = "31"
to = "serial:line"
"""
PROFILE = """
name = "two routers and a line"
[xot]
router = "127.0.25.1"
a = "127.0.25.2"
b = "127.0.25.3"
[addresses]
a = "3100001"
b = "2100001"
[control]
start = "sh {folder}/start"
stop = "sh {folder}/stop"
"""
# The line is up when restarts have gone both ways. What the last start printed is no
# word of this one's: it goes first.
START = """
set -e
rm -f {folder}/*.ready
for end in near far; do
  setsid {python} -m x25shark.reference --config {folder}/$end.router \
    > {folder}/$end.ready 2>&1 < /dev/null &
  echo $! >> {folder}/pids
  until grep -qs listen {folder}/$end.ready; do sleep 0.1; done
done
{python} {folder}/wait.py
"""
WAIT = """
import json, time, urllib.request
for _ in range(3000):
    with urllib.request.urlopen("http://127.0.25.7:8025/", timeout=60) as page:
        line = json.load(page)["interfaces"]["line"]
    if line["ifOperStatus"] == 1 and line["ifInUcastPkts"] and line["ifOutUcastPkts"]:
        break
    time.sleep(0.1)
else:
    raise SystemExit(f"the line did not come up: {line}")
"""
STOP = """
kill $(cat {folder}/pids)
for pid in $(cat {folder}/pids); do
  while kill -0 $pid 2> /dev/null; do sleep 0.1; done
done
rm {folder}/pids
"""


@pytest.mark.parametrize("framing", ["octet", "bit"])
def test_pings_and_files_are_whole(ip: Ip, tmp_path: Path, framing: str) -> None:
    names = {"folder": tmp_path, "python": sys.executable, "framing": framing}
    for name, text in (
        ("near.router", NEAR), ("far.router", FAR), ("own.toml", PROFILE), ("start", START),
        ("stop", STOP),
    ):  # fmt: skip
        (tmp_path / name).write_text(text.format(**names))
    (tmp_path / "wait.py").write_text(WAIT)
    fast = ("--rate", "10000000", "--delay", "1", "--router", str(tmp_path / "own.toml"))
    done = ip("ping", *fast, "--pings", "3", "-o", str(tmp_path / "ping"), "--no-capture")
    assert done.returncode == 0, done.stdout + done.stderr
    words = ("--numbers", "2", "--octets", "60000", "--no-capture")
    done = ip("circuits", *fast, *words, "-o", str(tmp_path / "file"))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "file" / "ip.json").read_text())
    assert [row["same"] for row in result["experiments"]["circuits"]["rows"]] == [True]
    assert not (tmp_path / "pids").exists()
