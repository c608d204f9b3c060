# SPDX-License-Identifier: GPL-2.0-or-later
"""x25shark ip over the reference router, with the programs themselves. Lines are fast here: what is
tested is that everything arrives, is counted and is said; how fast is the model's business."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import Ip, command

FAST = ("--rate", "10000000", "--delay", "1")


def processes(marker: str) -> list[int]:
    """Those whose environment names the marker."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and marker.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("lines_at", ["relay", "router"])
def test_pings_and_a_transfer(ip: Ip, tmp_path: Path, lines_at: str) -> None:
    words = ("--pings", "3", "--compress", "10", "--rate", "1000000", "--lines-at", lines_at)
    done = ip("ping", *words, "-o", str(tmp_path))
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "ip.json").read_text())
    assert (result["format"], result["version"]) == ("x25shark-ip", 1)
    for row in result["experiments"]["ping"]["rows"]:
        assert row["all"]["lost"] == 0
        # The circuit is called by the first one, and the line holds each back for so long at
        # least. How much longer is the machine's business.
        assert row["first"] >= row["model"]["first"] * 0.99
        assert row["all"]["minimum"] >= row["model"]["median"] * 0.99
        counted = row["counted"]["gateways"]["a"]
        # More where an answer is late, and a further call where the machine holds the first one up.
        assert counted["totals"]["datagrams_offered"] >= 3
        assert counted["totals"]["datagrams_delivered"] >= 3
        assert counted["totals"]["calls"] >= 1
    page = (tmp_path / "ip.html").read_text()
    assert "Table 1" in page
    assert 'src="http' not in page
    assert (tmp_path / "ping-64.pcapng").stat().st_size > 500


@pytest.mark.parametrize("encapsulation", ["snap", "null"])
def test_files_are_the_same_over_several_circuits(
    ip: Ip, tmp_path: Path, encapsulation: str
) -> None:
    done = ip(
        "files", *FAST, "--numbers", "3", "--file-octets", "20000", "--mtu", "1600",
        "--encapsulation", encapsulation, "-o", str(tmp_path), "--no-capture",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "ip.json").read_text())
    (row,) = result["experiments"]["files"]["rows"]
    assert [one["same"] for one in row["transfers"]] == [True] * 5
    calls = row["counted"]["gateways"]["a"]["totals"]["calls"]
    assert calls == 3
    assert not list(tmp_path.glob("*.pcapng"))


def test_ipv6_over_a_line_that_clears_all_circuits(ip: Ip, tmp_path: Path) -> None:
    done = ip(
        "circuits", *FAST, "--ipv6", "--mtu", "1500", "--octets", "200000", "--numbers", "2",
        "--clear-after", "1000", "--hold-down", "0.05", "-o", str(tmp_path), "--no-capture",
    )  # fmt: skip
    result = json.loads((tmp_path / "ip.json").read_text())
    assert [row["same"] for row in result["experiments"]["circuits"]["rows"]] == [True]
    assert done.returncode == 0, done.stdout
    assert re.search(r"\d+ circuits? cleared by the network", done.stdout)
    assert re.search(r"\d+ datagrams? cut off by a clear", done.stdout)


def test_changed_octets_are_said_and_do_not_reach_the_file(ip: Ip, tmp_path: Path) -> None:
    done = ip(
        "circuits", *FAST, "--numbers", "1", "--octets", "300000", "--corrupt", "0.00003",
        "-o", str(tmp_path), "--no-capture",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "ip.json").read_text())
    (row,) = result["experiments"]["circuits"]["rows"]
    assert row["same"]
    changed = len(row["counted"]["lines"][0]["injected"])
    assert changed > 0
    assert f"circuits: {changed} octets changed by the line (--corrupt); checksums" in done.stdout


def test_a_line_that_refuses_calls(ip: Ip, tmp_path: Path) -> None:
    done = ip(
        "circuits", *FAST, "--numbers", "3", "--octets", "100000", "--refuse-every", "3",
        "--hold-down", "0.1", "-o", str(tmp_path), "--no-capture",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "ip.json").read_text())
    assert [row["same"] for row in result["experiments"]["circuits"]["rows"]] == [True]
    assert re.search(r"\d+ calls? refused", done.stdout)


def test_bad_input_is_one_line(ip: Ip) -> None:
    for words, said in (
        (("ping", "--ipv6"), "--ipv6: --mtu is 576, IPv6 needs 1280"),
        (("ping", "--router", "nowhere"), "nowhere"),
        (
            ("transfer", "--circuits", "4"),
            "--circuits has no effect on transfer, only on datagrams, saturation, availability",
        ),
        (("up", "--address", "1.2.3.4/24", "--calling", "31", "--peer", "21"), "--peer '21'"),
        (
            ("up", "--address", "1.2.3.4/24", "--calling", "31", "--peer", "21=1.2.3.5/32"),
            "listen is missing",
        ),
    ):
        done = ip(*words)
        assert done.returncode == 2, words
        assert done.stderr.startswith("x25shark: ")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


def test_without_rights_nothing_is_written(ip: Ip, tmp_path: Path) -> None:
    """A host that has no TUN device: one line, and no folder."""
    folder = tmp_path / "report"
    hide = 'mount -t tmpfs none /dev/net && exec "$@"'
    words = command("ping", "--pings", "2", "-o", str(folder))
    done = subprocess.run(
        ["unshare", "-m" if os.geteuid() == 0 else "-Urm", "sh", "-c", hide, "sh", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if "mount" in done.stderr:
        pytest.skip("this system gives no mount namespaces")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("x25shark: no TUN device: /dev/net/tun: No such file")
    assert done.stderr.count("\n") == 1, done.stderr
    assert not folder.exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_of_a_gateway(ip: Ip, number: signal.Signals) -> None:
    marker = f"X25SHARK_TEST_MARKER={os.getpid()}.{number}"
    words = ("--address", "10.9.0.1/24", "--calling", "31", "--peer", "21=10.9.0.2/32")
    process = subprocess.Popen(
        command("up", *words, "--connect", "127.0.0.1:1", "--", "sleep", "1000"),
        env=os.environ | dict([marker.split("=")]),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert "its own namespace" in process.stdout.readline()
    assert len(processes(marker)) >= 2
    process.send_signal(number)
    process.communicate(timeout=600)
    while processes(marker):  # the kernel ends them; how soon is its business
        time.sleep(0.05)
    assert ip("ping", "--help").returncode == 0


@pytest.mark.parametrize("name", ["availability", "saturation", "circuits"])
def test_what_was_measured_until_ctrl_c_is_kept(name: str, tmp_path: Path) -> None:
    """Ctrl-C reaches every process of the terminal."""
    words, second = {
        "availability": (("--hours", "0.1", "--compress", "100"), "availability: 3 of 4"),
        "saturation": (("--minutes", "40", "--compress", "100"), "saturation: minute 3 of 40"),
        "circuits": (("--numbers", "1,2,3", "--octets", "300000"), " over 3"),
    }[name]
    process = subprocess.Popen(
        command(name, *FAST, *words, "-o", str(tmp_path), "--no-capture"),
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert any(second in line for line in process.stdout)
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=600)
    assert process.returncode == 130
    assert f"{name}: interrupted; its figures are those until then" in said
    result = json.loads((tmp_path / "ip.json").read_text())
    assert result["exit_status"] == 130
    # The two that were complete when the third began, and what went on until the interrupt came.
    assert len(result["experiments"][name]["rows"]) >= 2
    assert "Interrupted" in (tmp_path / "ip.html").read_text()


# The signal comes when everything was measured and nothing is written yet.
_CONCLUDING = """
import os, signal, sys
from x25shark.ip import cli
from x25shark.start import main
judge = cli.judge
def late(result):
    os.kill(os.getpid(), signal.SIGTERM)
    judge(result)
cli.judge = late
sys.argv = ["x25shark", *sys.argv[1:]]
main()
"""


@pytest.mark.usefixtures("ip")
def test_an_interrupt_while_it_is_written_leaves_the_result_whole(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CONCLUDING, "ip", "circuits", *FAST, "--numbers", "1",
         "--octets", "1000", "-o", str(tmp_path), "--no-capture"],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "")
    assert json.loads((tmp_path / "ip.json").read_text())["exit_status"] == 0
    assert (tmp_path / "ip.html").stat().st_size > 0


def test_nothing_is_left_of_an_experiment(ip: Ip, tmp_path: Path) -> None:
    """Killed while it measures: hosts, gateways, router, capture. The next one starts."""
    marker = f"X25SHARK_TEST_MARKER={os.getpid()}.experiment"
    process = subprocess.Popen(
        command("transfer", *FAST, "--octets", "100000000", "-o", str(tmp_path / "one")),
        env=os.environ | dict([marker.split("=")]),
        stderr=subprocess.PIPE,
        text=True,
    )
    capture = tmp_path / "one" / "transfer.pcapng"
    while not (capture.exists() and capture.stat().st_size > 100_000):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.kill()
    process.communicate(timeout=600)
    while processes(marker):  # the kernel ends them; how soon is its business
        time.sleep(0.05)
    done = ip("ping", *FAST, "--pings", "2", "--no-capture", "-o", str(tmp_path / "two"))
    assert done.returncode == 0, done.stderr
