# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of the machine's control and of the image's build that need no machine."""

import importlib.util
import lzma
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).resolve().parent.parent


def load(name: str) -> ModuleType:
    """A script beside this folder as a module."""
    spec = importlib.util.spec_from_file_location(f"linux_router_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


machine = load("machine")
vmlinux = load("vmlinux")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X25SHARK_CACHE", str(tmp_path))


def pid_file(name: str, text: str) -> Path:
    directory: Path = machine.run_directory(name)
    directory.mkdir(parents=True)
    (directory / "pid").write_text(text)
    return directory


def test_a_pid_of_another_process_is_not_ours() -> None:
    """A pid may have been given away: without the same start time nothing is stopped."""
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        pid_file("stale", f"{other.pid} 1\n")
        assert machine.main(["stop", "--name", "stale"]) == 0
        assert other.poll() is None
    finally:
        other.kill()
        other.communicate()


def test_without_qemu_nothing_is_built(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "QEMU", "qemu-of-nobody")
    assert machine.main(["start", "--accel", "tcg"]) == 1
    out, err = capfd.readouterr()
    assert err.startswith("start: qemu-of-nobody not found: install qemu-system-x86") and not out


def test_stop_ends_the_recorded_process(capsys: pytest.CaptureFixture[str]) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    directory = pid_file("own", f"{process.pid} {machine.start_time(process.pid)}\n")
    assert machine.recorded_pid(directory) == process.pid
    assert machine.main(["stop", "--name", "own"]) == 0
    process.communicate()
    assert process.returncode == -15
    assert not (directory / "pid").exists()
    assert capsys.readouterr().out == "own stopped\n"


@pytest.mark.parametrize("text", ["", "12", "x y", "1 2 3", "999999999 5"])
def test_a_broken_pid_file_names_no_process(text: str) -> None:
    assert machine.recorded_pid(pid_file("broken", text)) is None


def test_status_without_a_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert machine.main(["status"]) == 3
    assert machine.main(["status", "--name", "none"]) == 3
    assert capsys.readouterr().out == "no machine runs\nnone: does not run\n"


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", "-", "é/"])
def test_names_stay_in_the_run_directory(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert machine.main(["log", f"--name={name}"]) == 1
    assert "is not a name" in capsys.readouterr().err


def test_an_address_in_use_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(machine.MachineError, match=r"192\.0\.2\.1:1998 .*--address"):
        machine.check_address("192.0.2.1")


def test_units_are_cut_by_their_length() -> None:
    units = bytes.fromhex("00000005 1001130d00 00000003 100117 00000003 1001")
    assert machine.packet_types(units) == [0x13, 0x17]
    assert machine.packet_types(b"") == []
    assert machine.packet_types(bytes(64)) != [0x0F]


def test_the_first_call_is_well_formed() -> None:
    """Both units announce what they hold; the address block has 11 digits and a filler."""
    for unit in (machine.CALL, machine.CLEAR):
        assert int.from_bytes(unit[2:4], "big") == len(unit) - 4
    assert machine.CALL[7] == 0x74
    assert machine.CALL[8:14].hex() == "1111" + "3100001" + "0"


def test_a_console_cannot_control_the_terminal(tmp_path: Path) -> None:
    console = tmp_path / "console.log"
    console.write_bytes(b"a\x1b[2Jb\r\nc\x07\xff\n")
    assert machine.text_of(console) == "a?[2Jb\nc??\n"
    assert machine.text_of(tmp_path / "missing") == ""


def test_a_snapshot_fits_one_image_and_one_set_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    # No test needs QEMU; its version is whatever this one says.
    monkeypatch.setattr(machine, "QEMU", "true")
    image = machine.cache_directory() / "image"
    image.mkdir(parents=True)
    (image / "sources.sha256").write_text("1")
    (image / "kernel.version").write_text("6.1")
    words = machine.kernel_command_line(None)
    first = machine.snapshot_path("tcg", words)
    assert machine.snapshot_path("tcg", words) == first
    assert machine.snapshot_path("kvm", words) != first
    assert machine.snapshot_path("tcg", machine.kernel_command_line(2)) != first
    (image / "sources.sha256").write_text("2")
    assert machine.snapshot_path("tcg", words) != first


def bzimage(compressed: bytes) -> bytes:
    """A bzImage with four set-up sectors, which holds `compressed` 16 octets behind them."""
    head = bytearray(5 * 512 + 16)
    head[0x1F1] = 4
    head[0x202:0x208] = b"HdrS" + struct.pack("<H", 0x20F)
    struct.pack_into("<II", head, 0x248, 16, len(compressed))
    return bytes(head) + compressed


ELF = b"\x7fELF" + bytes(1000)


@pytest.mark.parametrize("pack", [lzma.compress, lambda data: zlib.compress(data, wbits=31)])
def test_the_kernel_is_taken_out(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    (tmp_path / "in").write_bytes(bzimage(pack(ELF) + b"size"))
    command = [
        sys.executable,
        str(HERE / "vmlinux.py"),
        str(tmp_path / "in"),
        str(tmp_path / "out"),
    ]
    subprocess.run(command, check=True)
    assert (tmp_path / "out").read_bytes() == ELF


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (b"", "not a bzImage"),
        (bytes(4096), "not a bzImage"),
        (bzimage(b"\x28\xb5\x2f\xfd rest"), "unknown compression"),
        (bzimage(lzma.compress(b"no elf")), "no ELF"),
        (bzimage(lzma.compress(ELF))[:-50], "beyond the end"),
        (bzimage(b"\xfd7zXZ\0" + bytes(40)), "broken payload"),
    ],
)
def test_what_is_no_kernel_is_refused(image: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        vmlinux.uncompressed(vmlinux.payload(image))


@pytest.mark.parametrize("source", ["xotd.c", "dte.c", "xot.c"])
def test_the_programs_of_the_machine_compile_without_a_warning(source: str, tmp_path: Path) -> None:
    warnings = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wshadow", "-Werror"]
    output = str(tmp_path / "object")
    subprocess.run(["gcc", *warnings, "-c", str(HERE / "vm" / source), "-o", output], check=True)


@pytest.mark.parametrize("script", ["build", "start", "stop", "status", "log", "vm/init"])
def test_the_commands_are_programs(script: str) -> None:
    assert script == "vm/init" or os.access(HERE / script, os.X_OK)
    subprocess.run(["bash", "-n", str(HERE / script)], check=True)
