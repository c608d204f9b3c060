# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands against the reference router, a faulty relay and each other, over loopback."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crc32c import crc32c
from x25shark.load import results
from x25shark.load.engine import Engine
from x25shark.load.measure import measure, measure_control
from x25shark.load.options import LoadOptions
from x25shark.load.target import Target
from x25shark.record import HEADER, crc_of, filler

from .conftest import command, environment

Run = Callable[..., subprocess.CompletedProcess[str]]
Result = Callable[[], dict[str, Any]]


@pytest.mark.usefixtures("engine")
def test_the_record_is_the_one_of_the_layers() -> None:
    x25shark_engine = importlib.import_module("x25shark_engine")

    for run, call, sequence, direction, length in (
        (1, 2, 3, 0, 24),
        (0xFFFFFFFF, 0xFFFFFFFE, 7, 1, 25),
        (9, 10, 11, 0, 4096),
        (9, 10, 11, 1, 70001),
    ):
        octets = bytes(x25shark_engine.build_record(run, call, sequence, direction, length))
        head = HEADER.unpack_from(octets)
        assert head[:5] == (b"X25T", run, call, sequence, direction)
        assert head[5] == length.to_bytes(3, "big")
        assert head[6] == crc_of(octets)
        assert octets[24:] == filler(run, call, sequence, direction, length - 24)
        assert x25shark_engine.check_record(octets) == "good"
        damaged = octets[:-1] + bytes([octets[-1] ^ 1])
        assert x25shark_engine.check_record(damaged) != "good"


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("length", range(16, 24))
def test_a_short_record_is_the_one_of_the_dissector(length: int) -> None:
    x25shark_engine = importlib.import_module("x25shark_engine")
    octets = bytes(x25shark_engine.build_record(9, 10, 0xABCDEF, 1, length))
    head = bytes([0xA8 | length - 16]) + bytes.fromhex("abcdef 00000009 0000000a")
    last = filler(9, 10, 0xABCDEF, 1, length - 16)
    crc = crc32c(head + bytes(4) + last).to_bytes(4, "big")
    assert octets == head + crc + last
    assert x25shark_engine.check_record(octets) == "good"
    assert x25shark_engine.check_record(octets[:-1]) != "good"


def test_stress_against_the_reference_router(
    engine: Engine, x25shark: Run, profile: Path, tmp_path: Path, load_json: Result
) -> None:
    out = tmp_path / "out"
    done = x25shark("stress", "--router", str(profile), "-N", "3", "-n", "60", "-P", "512",
                    "-W", "3", "--late", "60000", "--control", "0.5", "-o", str(out))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for line in ("Calls made", "Data mismatches", "Short receives", "Average bandwidth sent"):
        assert line in done.stdout
    result = load_json()
    router, control = result["measurements"]
    assert (router["name"], control["name"]) == ("router", "control")
    figures = router["figures"]
    assert figures["calls_completed"] == figures["messages_verified"] == 60
    assert figures["calls_received"] == 60
    assert router["caller"]["negotiated"]["packet_size_out"] == {"min": 512, "max": 512}
    assert figures["octets_sent"] == figures["octets_received"] > 0
    assert figures["router_cpu"] is not None
    assert control["figures"]["calls_completed"] > 0
    assert result["verdict"]["share_of_control"] is not None
    page = (out / "load.html").read_text("utf-8")
    assert "Latency by percentile" in page
    assert "src=" not in page.split("<script>", maxsplit=1)[0]


def test_the_router_can_answer_itself(
    engine: Engine, x25shark: Run, profile: Path, tmp_path: Path, load_json: Result
) -> None:
    out = tmp_path / "out"
    done = x25shark("stress", "--router", str(profile), "--router-echo", "-n", "20",
                    "--late", "60000", "--control", "0", "-o", str(out))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = load_json()
    assert result["measurements"][0]["responder"] is None
    assert result["measurements"][0]["figures"]["messages_verified"] == 20
    assert "may be the tester's own limit" in done.stdout


def test_channels_that_leak_are_reported_as_exhaustion(
    engine: Engine, x25shark: Run, profile: Path, tmp_path: Path, load_json: Result
) -> None:
    more = ("-l", "100", "--late", "60000", "--control", "0", "-o", str(tmp_path / "out"))
    calls = ("stress", "--router", str(profile), "-N", "4", "-n", "1000")
    healthy = x25shark(*calls, *more)
    assert healthy.returncode == 0, healthy.stdout + healthy.stderr
    assert load_json()["measurements"][0]["figures"]["calls_completed"] == 1000
    leaking = x25shark(*calls, "--fault", "BUG-SYS-08", *more)
    assert leaking.returncode == 1, leaking.stdout + leaking.stderr
    result = load_json()
    found = [r for r in result["verdict"]["reasons"] if r.startswith("exhaustion")]
    assert len(found) == 1
    # 255 channels: the 256th call finds none. Four calls at a time may change places.
    named = int(found[0].split("call ")[1].split(" ")[0])
    assert 253 <= named <= 256
    assert result["measurements"][0]["figures"]["calls_completed"] == 255


def test_sweep_runs_every_cell(
    engine: Engine, x25shark: Run, profile: Path, tmp_path: Path, load_json: Result
) -> None:
    done = x25shark("sweep", "--router", str(profile), "-P", "128,1024", "-W", "1,7", "-N", "1,2",
                    "-T", "0.2", "--control", "0.1", "-o", str(tmp_path / "out"))  # fmt: skip
    result = load_json()
    assert done.returncode == result["exit_status"], done.stderr
    assert [(c["circuits"], c["packet_size"], c["window"]) for c in result["cells"]] == [
        (n, p, w) for n in (1, 2) for p in (128, 1024) for w in (1, 7)
    ]
    # On a busy machine a fifth of a second may be too short for a call.
    assert any(c["figures"]["calls_completed"] > 0 for c in result["cells"])
    assert not [r for r in result["verdict"]["reasons"] if "asked" in r]
    page = (tmp_path / "out" / "load.html").read_text("utf-8")
    for words in ("by packet size, 1 circuit<", "by window, 2 circuits<"):
        assert f"Calls in 20 s {words}" in page


@pytest.mark.parametrize(
    ("octets", "size", "messages", "words"),
    [(4096, 128, 1, "data of call"), (16, 16, 20, "got message")],
)
def test_a_faulty_relay_is_found_out(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result,
    octets: int, size: int, messages: int, words: str,
) -> None:  # fmt: skip
    b = engine.responder({"listen": "127.0.0.1:0"})
    relay = engine.relay(
        {
            "listen": "127.0.0.1:0",
            "connect": f"127.0.0.1:{b.port}",
            "faults": {"swap": [300], "drop": [900], "duplicate": [1500], "seed": 1},
        }
    )
    done = x25shark("stress", "--connect", f"127.0.0.1:{relay.port}", "-N", "4", "-n", "80",
                    "-l", str(octets), "--shortest", str(octets), "-P", str(size), "-W", "7",
                    "--messages", str(messages), "--depth", "4", "--late", "60000",
                    "--control", "0", "-o", str(tmp_path / "out"))  # fmt: skip
    injected = [fault["kind"] for fault in json.loads(relay.result())["injected"]]
    b.stop()
    answered = json.loads(b.result())["total"]
    assert sorted(injected) == ["drop", "duplicate", "swap", "swap"]
    assert done.returncode == 1, done.stdout + done.stderr
    total = load_json()["measurements"][0]["caller"]["total"]
    both = {name: total[name] + answered[name] for name in total}
    assert both["mixed_up_messages"] == 2
    assert both["lost_packets"] + both["lost_messages"] >= 1
    assert both["duplicated_packets"] == 1
    assert words in done.stdout


@pytest.mark.parametrize(
    ("name", "number"),
    [("stress", signal.SIGINT), ("stress", signal.SIGTERM), ("sweep", signal.SIGINT)],
)
def test_interrupting_keeps_the_results(
    engine: Engine,
    profile: Path,
    tmp_path: Path,
    load_json: Result,
    name: str,
    number: signal.Signals,
) -> None:
    arguments = ("--router", str(profile), "-T", "600", "-o", str(tmp_path / "out"))
    process = subprocess.Popen(
        command(name, *arguments),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    text = ""
    while " calls/s" not in text:  # the line that a measurement prints every few seconds
        line = process.stdout.readline()
        assert line, text
        text += line
    os.kill(process.pid, number)
    rest, errors = process.communicate(timeout=600)
    text += rest
    assert process.returncode == 130, text + errors
    assert "Interrupted" in text
    result = load_json()
    assert result["exit_status"] == 130
    if name == "sweep":
        (cell,) = result["cells"]
        assert cell["figures"]["calls_completed"] > 0
        assert cell["figures"]["calls_failed"] == 0
        assert "Interrupted in or after cell 1 of 84" in text
    else:
        assert result["measurements"][0]["interrupted"] is True
        assert result["measurements"][0]["caller"]["total"]["calls_failed"] == 0


# The signal comes when everything was measured and nothing is written yet.
_CONCLUDING = """
import os, signal, sys
from x25shark.load import results
from x25shark.start import main
write = results.write
def late(*words):
    os.kill(os.getpid(), signal.SIGTERM)
    write(*words)
results.write = late
sys.argv = ["x25shark", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("name", ["stress", "sweep", "matrix", "overload", "bench"])
def test_an_interrupt_while_it_is_written_leaves_the_result_whole(
    engine: Engine, profile: Path, tmp_path: Path, load_json: Result, name: str
) -> None:
    words = {
        "stress": ("-T", "0.2", "--control", "0"),
        "sweep": ("-P", "128", "-W", "2", "-N", "1", "-T", "0.2", "--control", "0"),
        "matrix": ("-N", "1", "-T", "0.5", "--control", "0.2", "--one-pair"),
        "overload": ("--rates", "20", "-T", "0.2", "--flood", "0.2", "--bound", "1", "--skip",
                     "clears", "--skip", "half-closed", "--skip", "connections"),
        "bench": ("-P", "128", "--trial", "0.1", "--bound", "1", "--skip", "idle", "--skip",
                  "errors", "--skip", "burst", "--skip", "delay"),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", _CONCLUDING, name, "--router", str(profile), *words[name], "-o",
         str(tmp_path / "out")],
        env=environment(), capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 128 + signal.SIGTERM, done.stdout + done.stderr
    assert done.stderr.endswith("interrupted when everything was measured: the result is whole\n")
    assert load_json()["exit_status"] != 128 + signal.SIGTERM
    assert (tmp_path / "out" / "load.html").stat().st_size > 0


def test_a_router_that_is_not_there_is_status_3(
    engine: Engine, x25shark: Run, tmp_path: Path
) -> None:
    done = x25shark("stress", "--connect", "127.0.0.1:1", "-n", "3", "--control", "0")
    assert done.returncode == 3
    assert "connect: connection refused" in done.stdout
    assert "No call was connected" in done.stdout
    assert "limit" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stress", "--connect", "router"], "not an IPv4 address"),
        (["stress", "-W", "8", "--connect", "127.0.0.1:1"], "window is 8"),
        (["stress", "-d", "5,4", "--connect", "127.0.0.1:1"], "same number of digits"),
        (["stress", "--router", "nonesuch"], "no such profile"),
        (["sweep", "-P", "100"], "packet size 100"),
        (["echo", "127.0.0.1:99999"], "not an IPv4 address"),
        (["stress", "--fault", "BUG-SYS-08", "--connect", "127.0.0.1:1"], "--connect"),
        (["stress", "--fault", "NOPE"], "no fault 'NOPE'"),
        (["stress", "--shortest", "9", "-l", "8"], "--shortest 9"),
        (["stress", "--hold-to-end", "-n", "1"], "-T"),
        (["sweep", "--quick", "-o", "/proc/none"], "no results can be written into /proc/none"),
        (["echo", "203.0.113.77"], "this machine does not have that address"),
    ],
)
def test_bad_usage_is_one_clear_line(
    engine: Engine, x25shark: Run, arguments: list[str], words: str
) -> None:
    done = x25shark(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_an_address_in_use_is_named(engine: Engine, x25shark: Run) -> None:
    b = engine.responder({"listen": "127.0.0.1:0"})
    for arguments in (
        ["echo", f"127.0.0.1:{b.port}"],
        ["relay", f"127.0.0.1:{b.port}", "127.0.0.1:1"],
        ["stress", "--connect", "127.0.0.1:1", "--listen", f"127.0.0.1:{b.port}"],
    ):
        done = x25shark(*arguments)
        assert done.returncode == 2
        assert f"127.0.0.1:{b.port}: another program listens there" in done.stderr
        assert "Traceback" not in done.stderr
    b.stop()


@pytest.mark.usefixtures("engine")
def test_two_runs_do_not_write_into_one_folder(x25shark: Run, tmp_path: Path) -> None:
    arguments = ["stress", "--connect", "127.0.0.1:1", "-n", "1", "-o", str(tmp_path)]
    with results.held(tmp_path):
        done = x25shark(*arguments)
    assert done.returncode == 2
    assert f"{tmp_path}: another run is writing its results there" in done.stderr
    assert "another run" not in x25shark(*arguments).stderr


# What was written before is there; then the file system has no room for what is written again.
_FULL = (
    'mount -t tmpfs -o size=96k none "$0" && echo before >"$0/load.json" || exit 99; '
    'head -c 1000000 /dev/zero >"$0/zeros" 2>/dev/null; "$@"; status=$?; cat "$0/load.json"; '
    'ls -A "$0"; exit $status'
)


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user may not mount")
@pytest.mark.usefixtures("engine")
def test_a_full_disk_is_one_clear_line(profile: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    run = command("stress", "--router", str(profile), "-N", "1", "-n", "2", "--control", "0",
                  "-o", str(out))  # fmt: skip
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", _FULL, str(out), *run],
        env=environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr
    # Nothing was measured in vain, and what was there before is left.
    said = f"x25shark: no results can be written into {out}: No space left on device\n"
    assert done.stderr == said
    assert done.stdout == "before\nload.json\nzeros\n"


# The disk is full when everything was measured.
_FULL_LATER = """
import sys
from pathlib import Path
from x25shark.load import results
from x25shark.start import main
write = results.write
def late(path, result):
    try:
        (path.parent / "zeros").write_bytes(bytes(1000000))
    except OSError:
        write(path, result)
results.write = late
sys.argv = ["x25shark", *sys.argv[1:]]
main()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user may not mount")
@pytest.mark.usefixtures("engine")
def test_a_disk_that_fills_is_one_clear_line(profile: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    script = _FULL.replace("96k", "500k").replace("1000000", "1")
    words = ("stress", "--router", str(profile), "-N", "1", "-n", "2", "--control", "0")
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, str(out), sys.executable, "-c", _FULL_LATER, *words,
         "-o", str(out)],
        env=environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr == f"x25shark: {out}/load.json: No space left on device\n"
    # The figures were told, and what was there before is left.
    assert "Calls made" in done.stdout
    assert done.stdout.endswith("before\nload.json\nzeros\n")


def test_control_runs_directly_and_through_a_relay(engine: Engine) -> None:
    options = LoadOptions(duration=None, calls=30, late_ms=60_000)
    for relay in (False, True):
        alone = measure_control(engine, options, relay=relay)
        assert alone.caller["total"]["messages_verified"] == 30
        assert alone.responder is not None
        assert alone.responder["total"]["calls_completed"] == 30


def test_sink_and_source_count_what_arrived(engine: Engine) -> None:
    for mode in ("sink", "source"):
        options = LoadOptions(
            duration=None, calls=4, messages=10, shortest=1000, longest=1000, mode=mode,
            late_ms=60_000,
        )  # fmt: skip
        done = measure_control(engine, options)
        verifier = done.responder if mode == "sink" else done.caller
        assert verifier is not None
        assert verifier["total"]["messages_verified"] == 40


def test_a_target_without_a_called_side_is_only_called(engine: Engine) -> None:
    b = engine.responder({"listen": "127.0.0.1:0"})
    target = Target("b", f"127.0.0.1:{b.port}", None, ("21", "29"))
    done = measure(engine, LoadOptions(duration=None, calls=5, late_ms=60_000), target)
    b.stop()
    assert done.responder is None
    assert done.caller["total"]["messages_verified"] == 5
    assert json.loads(b.result())["total"]["calls_accepted"] == 5


# Alone: a caller whose Call echo cannot read within its bound for idle connections is one of them.
@pytest.mark.measures
def test_idle_connections_do_not_keep_callers_out() -> None:
    """64 descriptors, 60 of them idle: echo says so, and closes idle ones for a caller."""
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64));"
        "from x25shark.cli import main; main(['echo', '127.0.0.1:0'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"COLUMNS": "200"},
    ) as echo:  # fmt: skip
        assert echo.stdout is not None
        first = echo.stdout.readline()
        port = int(re.search(r":(\d+)", first)[1])  # type: ignore[index]
        idle = [socket.create_connection(("127.0.0.1", port), 30) for _ in range(60)]
        said = echo.stdout.readline()
        with socket.create_connection(("127.0.0.1", port), 30) as caller:
            caller.sendall(bytes.fromhex("0000000610010b0000"))
            caller.sendall(bytes.fromhex("00"))
            caller.settimeout(60)
            answer = caller.recv(100)
        echo.send_signal(signal.SIGINT)
        rest = echo.stdout.read()
        for sock in idle:
            sock.close()
    assert "Further callers may have to wait" in said and "of 64 descriptors" in said
    assert answer[6:7] == b"\x0f", answer.hex()
    assert "closed without a call, for want of descriptors" in rest
