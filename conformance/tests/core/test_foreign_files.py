# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that somebody else made: a FIFO, a device without end, a folder, too much."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from x25shark.foreign import octets_of, text_of
from x25shark.load.compare import read_limits
from x25shark.load.results import ResultError
from x25shark.load.results import read as read_load
from x25shark.profile import ProfileError, load_profile
from x25shark.reference.config import load as load_config
from x25shark.reference.config_table import ConfigError
from x25shark.report.baseline import BaselineError, read_baseline
from x25shark.results import MOST_VALUES, ResultsError, read_results
from x25shark.walking.command import _read as read_steps

READERS: dict[str, tuple[Callable[[Path], object], type[Exception]]] = {
    "results": (read_results, ResultsError),
    "load result": (read_load, ResultError),
    "limits": (read_limits, ResultError),
    "baseline": (read_baseline, BaselineError),
    "profile": (lambda path: load_profile(str(path)), ProfileError),
    "steps of a walk": (read_steps, ValueError),
}
of_each = pytest.mark.parametrize("kind", READERS)


@of_each
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full"])
def test_a_device_is_no_file(kind: str, device: str, tmp_path: Path) -> None:
    reader, refusal = READERS[kind]
    link = tmp_path / "link"
    link.symlink_to(device)
    with pytest.raises(refusal, match="Not a regular file"):
        reader(link)


@of_each
def test_a_fifo_that_nobody_writes_to_is_empty(kind: str, tmp_path: Path) -> None:
    reader, refusal = READERS[kind]
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with pytest.raises(refusal):
        reader(path)


@of_each
def test_a_folder_is_no_file(kind: str, tmp_path: Path) -> None:
    reader, refusal = READERS[kind]
    with pytest.raises(refusal, match="Is a directory"):
        reader(tmp_path)


@of_each
def test_too_much_is_not_read(kind: str, tmp_path: Path) -> None:
    """A file of so many octets takes no room on the disk, and none in memory."""
    reader, refusal = READERS[kind]
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(refusal, match=r"More than [0-9,]+ octets"):
        reader(path)


def test_results_of_too_many_values_are_not_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would take a hundred times their octets."""
    path = tmp_path / "results.json"
    path.write_text(f"[{'[],' * (MOST_VALUES // 2)}[]]")
    monkeypatch.setattr("json.loads", lambda _text: pytest.fail("parsed"))
    with pytest.raises(ResultsError, match="More than 6,000,000 values"):
        read_results(path)


# Python's parsers say of the last two neither what they do not like nor where.
DAMAGED = {
    "(Expecting|Invalid) value": "[xot",
    "nested too deep": "[" * 20_000,
    "a number of thousands of digits": "9" * 10_000,
}
PARSED = {
    "results": "not JSON",
    "load result": "not JSON",
    "baseline": "not TOML",
    "profile": "not TOML",
    "router": "file",
}


@pytest.mark.parametrize("kind", PARSED)
@pytest.mark.parametrize("words", DAMAGED)
def test_what_the_parser_cannot_take_is_refused(kind: str, words: str, tmp_path: Path) -> None:
    reader, refusal = READERS.get(kind, (load_config, ConfigError))
    path = tmp_path / "file"
    path.write_text(DAMAGED[words] if PARSED[kind] == "not JSON" else f"a={DAMAGED[words]}")
    with pytest.raises(refusal, match=f"{PARSED[kind]}: {words}"):
        reader(path)


# The second half when the first one has been read.
_IN_HALVES = """
import fcntl, os, termios
os.write(1, b"he")
while any(fcntl.ioctl(1, termios.FIONREAD, bytes(4))):
    os.sched_yield()
os.write(1, b"re\\n")
"""


def test_what_a_shell_passes_is_read() -> None:
    reading, writing = os.pipe()
    with subprocess.Popen([sys.executable, "-c", _IN_HALVES], stdout=writing):
        os.close(writing)
        assert text_of(Path(f"/dev/fd/{reading}"), 100) == "here\n"
    os.close(reading)


def test_to_the_last_octet(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(100))
    assert octets_of(path, 100) == bytes(100)
    with pytest.raises(OSError, match="More than 99 octets"):
        octets_of(path, 99)


@pytest.mark.parametrize("command", ["list", "completion bash", "compare {0} {0}", "show X -h"])
@pytest.mark.parametrize("where", ["/dev/full", "&-"])
def test_standard_output_that_takes_nothing(command: str, where: str) -> None:
    words = command.format("x" * 300)
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m x25shark.start {words} >{where}"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert done.returncode in (0, 2)
    assert len(done.stderr.splitlines()) <= 1


@pytest.mark.parametrize(
    "words", ["show PLP-CALL-01 --output {}", "check {}.toml", "open {}.pcapng"]
)
def test_a_name_that_is_too_long(words: str) -> None:
    name = "x" * 300
    done = subprocess.run(
        [sys.executable, "-m", "x25shark.start", *words.format(name).split()],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("x25shark: ") and line.endswith("File name too long")
