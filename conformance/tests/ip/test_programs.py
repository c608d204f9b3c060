# SPDX-License-Identifier: GPL-2.0-or-later
"""Stock programs between two gateways, over the reference router with lines at its interfaces."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROUTER = """
listen = "127.0.25.1:1998"
source = "127.0.25.1"
model = "local"
[[route]]
prefix = "21"
to = "127.0.25.3:1998"
[[route]]
prefix = "31"
to = "127.0.25.2:1998"
[[emulation]]
at = "127.0.25.3"
framing = "hdlc"
in = { rate = 2000000, delay = 2 }
out = { rate = 2000000, delay = 2, queue = 50 }
"""
# Everything in namespaces of its own: what is left of it ends with its first process, this one.
RUN = """
ip link set lo up
{python} -m x25shark.reference --config {folder}/own.router > {folder}/ready &
until grep -q ready {folder}/ready; do sleep 0.05; done
gateway() {{
  own=$1 address=$2 far=$3 there=$4 listen=$5
  shift 5
  {python} -m x25shark.start ip up --address $address/24 --calling $own --peer $far=$there/32 \
    --connect 127.0.25.1 --listen $listen -P 1024 -W 7 --circuits 2 -- "$@"
}}
gateway 21 10.1.0.2 31 10.1.0.1 127.0.25.3 {server} > {folder}/server.log 2>&1 &
gateway 31 10.1.0.1 21 10.1.0.2 127.0.25.2 sh {folder}/client > {folder}/client.log 2>&1
"""
HTTP = """
until curl -s -o /dev/null --max-time 20 http://10.1.0.2:8080/own.router; do sleep 0.2; done
curl -s --max-time 600 -o {folder}/got http://10.1.0.2:8080/file
"""
SSHD = """
Port 2222
ListenAddress 10.1.0.2
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
StrictModes no
PasswordAuthentication no
PidFile none
"""
SSH = """
there() {{
  ssh -F none -i {folder}/user -p 2222 -o StrictHostKeyChecking=no -o ConnectTimeout=20 \
    -o UserKnownHostsFile=/dev/null -o ConnectionAttempts=20 {user}@10.1.0.2 "$@"
}}
there "cat > {folder}/put" < {folder}/file && there "cat {folder}/put" > {folder}/got
"""


def names_of(folder: Path, server: str) -> dict[str, object]:
    user = pwd.getpwuid(os.geteuid()).pw_name
    return {"folder": folder, "python": sys.executable, "server": server, "user": user}


def run(folder: Path, server: str, client: str) -> None:
    names = names_of(folder, server)
    (folder / "own.router").write_text(ROUTER)
    (folder / "client").write_text(client.format(**names))
    (folder / "run").write_text(RUN.format(**names))
    sent = os.urandom(60_000)
    (folder / "file").write_bytes(sent)
    user = "-n" if os.geteuid() == 0 else "-Urn"
    enter = ["unshare", user, "-p", "-f", "--mount-proc", "--kill-child"]
    done = subprocess.run(
        [*enter, "sh", str(folder / "run")], capture_output=True, text=True, timeout=900,
        check=False,
    )  # fmt: skip
    logs = "".join((folder / f"{name}.log").read_text() for name in ("server", "client"))
    assert done.returncode == 0, done.stderr + logs
    assert (folder / "got").read_bytes() == sent


@pytest.mark.usefixtures("ip")
def test_a_file_over_http(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    server = f"{sys.executable} -m http.server -d {tmp_path} -b 10.1.0.2 8080"
    run(tmp_path, server, HTTP)


@pytest.mark.usefixtures("ip")
def test_a_file_over_ssh_there_and_back(tmp_path: Path) -> None:
    sshd = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if sshd is None or shutil.which("ssh-keygen") is None:
        pytest.skip("openssh-server is not installed")
    if os.geteuid() == 0 and not Path("/run/sshd").is_dir():
        pytest.skip("sshd was never started on this machine: /run/sshd is missing")
    for name in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True)
    (tmp_path / "sshd").write_text(SSHD.format(folder=tmp_path))
    run(tmp_path, f"{sshd} -D -e -f {tmp_path}/sshd", SSH)
