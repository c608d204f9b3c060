# SPDX-License-Identifier: GPL-2.0-or-later
"""The throughput matrix: what the wire shows, what had no effect, and the ceiling of a line."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from x25shark.load.ceiling import user_data_share
from x25shark.load.engine import Engine
from x25shark.load.figures import figures_of, names_of
from x25shark.load.matrix import SEVEN, Load, Pair, Setting, reasons_of, without_effect
from x25shark.load.matrix_cli import settings
from x25shark.load.options import OptionError
from x25shark.load.wire import Seen, agreed, digest

from .between import MOST_MEMORY, Between, weighed
from .conftest import COLUMNS, command, environment, free_port
from .samples import raw
from .schema import Matrix
from .test_bench_runs import path, read_until, start

Run = Callable[..., subprocess.CompletedProcess[str]]
Result = Callable[[], dict[str, Any]]
SHORT = ("matrix", "--tcp-window", "65536", "--mss", "1460", "-N", "2", "-T", "1", "--control", "0")
ROUTER, A, B = "10.0.0.9:1998", "10.0.0.1:40000", "10.0.0.2:1998"
# Call Request to 2100001 from 31 and Call Accepted with sizes 4096/1024, windows 7/3.
REQUEST = "0000000b1001 0b 27 2100001310 01 00 c0"
ACCEPTED = "0000000b1001 0f 00 06 420c0a 430703"


def line(source: str, target: str, *, flags: int = 0x18, **shown: str | float) -> str:
    """A packet as tshark prints it."""
    names = ("len", "window", "mss", "again", "payload")
    values = [str(shown.get(name, "")) for name in names]
    ends = [*source.split(":"), *target.split(":")]
    return "\t".join([str(shown.get("at", 0.0)), "0", *ends, hex(flags), *values])


def packet(text: str) -> str:
    """Octets with their XOT length put right."""
    octets = bytes.fromhex(text)
    return (octets[:2] + (len(octets) - 4).to_bytes(2, "big") + octets[4:]).hex()


def setting(**other: int) -> Setting:
    usual = {"tcp_window": 65536, "mss": 1460, "parallel": 1, "packet_size": 4096, "window": 7}
    return Setting(**(usual | other))


def test_each_way_of_each_leg_is_told_apart() -> None:
    request, accepted = packet(REQUEST), packet(ACCEPTED)
    lines = [
        line(A, ROUTER, flags=0x02, mss=1460, window=65000),
        line(ROUTER, A, flags=0x12, mss=536, window=64000),
        line(A, ROUTER, len=len(request) // 2, window=500, payload=request),
        line(ROUTER, A, len=len(accepted) // 2, window=700, payload=accepted),
        line(A, ROUTER, len=4000, window=500, again=1, payload="00"),
        line(ROUTER.replace(":1998", ":41000"), B, len=900, window=800, at=2.5),
        line(B, ROUTER.replace(":1998", ":41000"), len=0, window=900),
        line("10.9.9.9:1", "10.9.9.8:2", len=5),
    ]
    seen = digest("\n".join(lines), {"a": ROUTER, "b": B})
    assert (seen.packets, seen.seconds) == (7, 0.0)
    a, b = seen.leg("a", ("2100001", "2100001")), seen.leg("b")
    assert (a.connections, b.connections) == (1, 1)
    assert (a.tester.mss, a.router.mss) == ({1460}, {536})
    assert (a.tester.largest_segment, a.tester.retransmitted, a.tester.segments) == (4000, 1, 2)
    assert (a.router.advertised, b.tester.advertised, b.router.advertised) == (700, 900, 800)
    assert (a.packet_sizes, a.windows) == ({1024}, {3})
    assert seen.leg("a", ("2200001", "2200001")).connections == 0


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        "\t" * 11,
        "no\tline",
        line(A, ROUTER, len="x"),
        line(A, ROUTER, len=20, payload="zz"),
        line(A, ROUTER, flags=0x02, mss="9,9"),
    ],
)
def test_damaged_lines_are_left_out(damaged: str) -> None:
    assert digest(damaged, {"a": ROUTER}).packets == 0


@pytest.mark.parametrize(
    "octets", ["", "42", "4200", "42ff", "c3ff00", "00420c0a", "420000 43ff00", "43"]
)
def test_hostile_facilities_state_nothing(octets: str) -> None:
    assert agreed(bytes.fromhex(octets)) == (0, 0)


def test_the_ceiling_counts_every_overhead() -> None:
    # 1538 octets of line carry 1448 of TCP payload, and 4103 of those 4096 of user data.
    assert user_data_share(1460, 4096, 8) == pytest.approx(1448 / 1538 * 4096 / 4103)
    assert user_data_share(1460, 16, 128) == pytest.approx(1448 / 1538 * 16 / 24)


def test_the_rows_are_the_seven_or_every_combination() -> None:
    assert [(s.tcp_window, s.mss, s.parallel) for s in settings(None, None, None, [128], [2])] == [
        *SEVEN
    ]
    assert len(settings(None, None, None, [128, 4096], [2, 7])) == 28
    assert settings(None, "536,1460", "1,5", [128], [2])[1] == Setting(65536, 536, 5, 128, 2)
    for tcp, mss, parallel in (("1", None, None), (None, "9", None), (None, "fast", "0")):
        with pytest.raises(OptionError):
            settings(tcp, mss, parallel, [128], [2])
    with pytest.raises(OptionError, match="at most 500"):
        settings(None, None, "1-200", [128, 256, 512], [2])


def load(segment: int = 1448, **other: Any) -> Load:
    caller = raw(calls_connected=1) | {"tcp": {"retransmitted": 0, "segment": {"max": segment}}}
    extents = {name: {"min": 4096, "max": 4096} for name in ("packet_size_in", "packet_size_out")}
    extents |= {name: {"min": 7, "max": 7} for name in ("window_in", "window_out")}
    caller |= {"negotiated": extents} | other
    return Load(Pair("A-B", ROUTER, B, ("2100001", "2100001")), caller, None)


@pytest.mark.parametrize(
    ("arrived", "words"),
    [
        ([0] * 10, "A-B: nothing arrived over 1 call that stood"),
        ([9] * 4 + [0] * 6, "A-B: nothing arrived any more in the last 1.2 s"),
        ([9] * 6 + [0] * 4, ""),
        ([0] * 6 + [9] * 4, ""),
    ],
)
def test_a_transfer_that_stands_still_is_a_finding(arrived: list[int], words: str) -> None:
    # The first two intervals are those of the start.
    timeline = [{"octets_received": octets} for octets in (9, 9, *arrived)]
    one = load(timeline=timeline, end_ns=len(timeline) * 200_000_000)
    assert list(reasons_of(one)) == [words] * bool(words)
    none = load(timeline=timeline, total=one.caller["total"] | {"calls_connected": 0})
    assert list(reasons_of(none)) == []


def test_a_setting_without_effect_is_named_without_a_capture_too() -> None:
    assert without_effect(setting(), [load()], Seen(problem="no right")) == []
    (words,) = without_effect(setting(mss=8960), [load()], Seen())
    assert words == "A-B: MSS 8960 had no effect: the kernel sends segments of 1448 at most"
    (words,) = without_effect(setting(window=127), [load()], Seen())
    assert words == "A-B: window 127 had no effect: 7 agreed"
    (words,) = without_effect(setting(parallel=5), [load()], Seen())
    assert words == "A-B: 5 parallel connections had no effect: 1 connected"


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ({}, ""),
        ({"mss": 536}, "MSS 1460 had no effect: the router to A announces 536 in its SYN"),
        ({"window": 2}, "window 7 had no effect: 2 agreed"),
    ],
)
def test_a_relay_that_clamps_is_found_on_the_wire(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result,
    faults: dict[str, int], words: str,
) -> None:  # fmt: skip
    with path(engine, faults=faults) as way:
        done = x25shark(*SHORT, *way, "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stdout + done.stderr
    result = load_json()
    Matrix.model_validate(result)
    (cell,) = result["cells"]
    assert not cell["capture"]["problem"], cell["capture"]
    assert cell["no_effect"] == ([f"A-B: {words}"] if words else []), done.stdout
    assert ("had no effect" in done.stdout) == bool(words)
    assert max(map(len, done.stdout.splitlines())) <= COLUMNS
    (pair,) = cell["pairs"]
    assert pair["speed"] > 0 and pair["connected"] == 2
    assert pair["legs"]["a"]["connections"] == pair["legs"]["b"]["connections"] == 2
    kinds = ("speed", "retransmitted", "tshark")
    assert set(figures_of(result)) == {f"{kind}.65536.1460.2.4096.7.A-B" for kind in kinds}
    assert (tmp_path / "out" / "captures" / "test-1.pcapng").stat().st_size > 1000
    assert "Speed by test" in (tmp_path / "out" / "load.html").read_text("utf-8")


def test_two_pairs_of_the_reference_router_at_the_same_time(
    engine: Engine, x25shark: Run, profile: Path, tmp_path: Path, load_json: Result
) -> None:
    done = x25shark(*SHORT, "--router", str(profile), "--control", "0.5", "-P", "1024", "-o",
                    str(tmp_path / "out"))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = load_json()
    Matrix.model_validate(result)
    pairs = result["cells"][0]["pairs"]
    assert [pair["pair"] for pair in pairs] == ["A-B", "A-B2"]
    assert all(pair["speed"] > 0 and pair["legs"]["b"]["connections"] for pair in pairs)
    assert result["cells"][0]["control"] > 0


@pytest.mark.measures
def test_a_line_is_filled_to_its_ceiling(tmp_path: Path, load_json: Result, engine: Engine) -> None:
    # A namespace whose loopback is an Ethernet of 50 Mbit/s: 24 octets around each frame.
    shaped = (
        "ip link set lo up mtu 1500 && tc qdisc add dev lo root stab overhead 24 linklayer "
        'ethernet tbf rate 50mbit burst 20kb limit 200kb && exec "$@"'
    )
    unshare = ["unshare", "-n"] if os.getuid() == 0 else ["unshare", "-Urn"]
    matrix = command("matrix", "--connect", "127.0.0.1:3998", "--listen", "127.0.0.1:3998",
                     "--tcp-window", "65536", "--mss", "1460", "-N", "1", "-P", "4096", "-W",
                     "127", "--modulo", "128", "-T", "4", "--control", "0", "--line-rate", "50M",
                     "-o", str(tmp_path / "out"))  # fmt: skip
    assert shutil.which("tc"), "tc (Debian package iproute2) is needed"
    done = subprocess.run(
        [*unshare, "sh", "-c", shaped, "sh", *matrix],
        env=environment(), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (cell,) = load_json()["cells"]
    assert cell["ceiling"] == pytest.approx(50 * user_data_share(1460, 4096, 128))
    assert cell["share_of_ceiling"] == pytest.approx(1, abs=0.05), done.stdout
    assert cell["no_effect"] == [], done.stdout


def test_interrupting_keeps_the_tests_until_then(
    engine: Engine, tmp_path: Path, load_json: Result
) -> None:
    with path(engine) as way:
        process = start(*SHORT, "-N", "1,2,3,4", *way, "-o", str(tmp_path / "out"))
        read_until(process, "test 2/4")
        os.kill(process.pid, signal.SIGINT)
        said, errors = process.communicate(timeout=600)
    assert process.returncode == 130, said + errors
    result = load_json()
    Matrix.model_validate(result)
    assert 1 <= len(result["cells"]) < 4
    # A limit on what it did not come to is missed, and no error.
    missing = "speed.65536.1460.4.4096.7.A-B"
    assert missing in names_of(result) and missing not in figures_of(result)
    assert "Traceback" not in errors


@pytest.mark.parametrize("ends", [signal.SIGKILL, signal.SIGSTOP])
def test_a_router_that_dies_or_hangs_leaves_a_report(
    engine: Engine, tmp_path: Path, load_json: Result, ends: signal.Signals
) -> None:
    port, b = free_port("127.0.0.1"), free_port("127.0.0.1")
    relay = start("relay", f"127.0.0.1:{port}", f"127.0.0.1:{b}")
    read_until(relay, "Relaying")
    process = start(*SHORT, "-N", "1,2,3", "--timeout", "2", "--connect", f"127.0.0.1:{port}",
                    "--listen", f"127.0.0.1:{b}", "-o", str(tmp_path / "out"))  # fmt: skip
    read_until(process, "test 2/3")
    relay.send_signal(ends)
    said, errors = process.communicate(timeout=600)
    relay.kill()
    relay.communicate()
    assert process.returncode == 1, said + errors
    assert errors == ""
    result = load_json()
    Matrix.model_validate(result)
    good, *bad = result["cells"]
    assert not good["reasons"] and all("failed" in cell["reasons"][0] for cell in bad) and bad
    (remark,) = [r for r in result["verdict"]["remarks"] if "takes no calls any more" in r]
    assert ("timeout" if ends == signal.SIGSTOP else "connection refused") in remark


def test_a_smaller_tcp_window_than_asked_for_is_found_on_the_wire(
    engine: Engine, x25shark: Run, tmp_path: Path, load_json: Result
) -> None:
    b = free_port("127.0.0.1")
    with Between(("127.0.0.1", b), receive=8192) as router:
        done = x25shark(*SHORT, "--connect", f"127.0.0.1:{router.port}", "--listen",
                        f"127.0.0.1:{b}", "-o", str(tmp_path / "out"))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (cell,) = load_json()["cells"]
    assert not cell["capture"]["problem"], cell["capture"]
    (words,) = cell["no_effect"]
    found = re.fullmatch(
        r"A-B: TCP window 65 536 had no effect: the router grants (.*) at most", words
    )
    assert found and 1000 < int(found[1].replace(" ", "")) < 20_000, words


@pytest.mark.parametrize("turn", ["floods", "lies"])
def test_a_router_that_turns_bad_leaves_a_report_and_takes_no_memory(
    engine: Engine, tmp_path: Path, load_json: Result, turn: str
) -> None:
    b = free_port("127.0.0.1")
    with Between(("127.0.0.1", b)) as router:
        process = start(*SHORT, "-N", "1,2", "--timeout", "2", "--connect",
                        f"127.0.0.1:{router.port}", "--listen", f"127.0.0.1:{b}", "-o",
                        str(tmp_path / "out"))  # fmt: skip
        read_until(process, "test 2/2")
        router.turned = turn
        status, said, errors, memory = weighed(process)
    assert status == 1 and errors == "", said + errors
    assert memory < MOST_MEMORY
    result = load_json()
    Matrix.model_validate(result)
    assert len(result["cells"]) == 2 and not result["cells"][0]["reasons"]


def test_a_router_that_is_not_there_is_status_3(engine: Engine, x25shark: Run) -> None:
    done = x25shark(*SHORT, "--connect", "127.0.0.1:1", "--listen", "127.0.0.1:0")
    assert done.returncode == 3, done.stdout
    assert "connection refused" in done.stdout and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [["--mss", "9"], ["--second", "127.0.0.1"], ["--line-rate", "fast"], ["-W", "9"]]
)
def test_a_bad_option_is_one_clear_line(x25shark: Run, arguments: list[str]) -> None:
    refused = x25shark("matrix", *arguments)
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) <= 4 and "Traceback" not in refused.stderr
