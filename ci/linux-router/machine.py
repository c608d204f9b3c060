# SPDX-License-Identifier: GPL-2.0-or-later
"""Start, stop and look at Linux X.25 routers, each a small QEMU machine.

Called by the commands `start`, `stop`, `status` and `log` beside it.  Every machine has a name and
a directory of its own under the run directory; several may run at a time, each on its own address.

A machine is started from a snapshot, taken right after the first boot with the same QEMU, kernel
and settings: every start is the same fresh router, without the time of a boot.  It is ready when a
call to the echo DTE 1111 was accepted and cleared over its XOT port (RFC 1613), and not before.

Only the standard library is used.
"""

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
QEMU = "qemu-system-x86_64"
MEMORY = 256
MAC_ADDRESS = "52:54:00:25:00:02"
GUEST_ADDRESS = "10.25.0.2"
HOST_ADDRESS = "10.25.0.1"
# The sides of a switch: A where the tester is anyway, and B beside it.
SIDE_B_ADDRESS = "10.25.0.3"
XOT_PORT = 1998
DEFAULT_ADDRESS = "127.0.25.9"
BOOT_SECONDS = 180.0
READY_SECONDS = 20.0
POLL_SECONDS = 0.02
# Call Request to 1111 from 3100001, packet size 128/128, window 2/2, behind its XOT header.
CALL = bytes.fromhex("00000012 10010b 74 111131000010 06 420707 430202 c0")
CLEAR = bytes.fromhex("00000005 1001130000")
CALL_ACCEPTED, CLEAR_CONFIRMATION = 0x0F, 0x17


class MachineError(Exception):
    """Something a user can act upon; its text says what and how."""


def cache_directory() -> Path:
    """Where images and snapshots are kept; the same rule as in `build`."""
    if explicit := os.environ.get("X25SHARK_CACHE"):
        return Path(explicit) / "linux-router"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "x25shark" / "linux-router"


def run_directory(name: str) -> Path:
    """The directory of one machine: its pid, sockets, console and settings."""
    if not name or not name.replace("-", "").replace("_", "").isalnum():
        raise MachineError(f"{name!r} is not a name: use letters, digits, '-' and '_'")
    return cache_directory() / "run" / name


def start_time(pid: int) -> str | None:
    """The kernel's start time of a process (clock ticks since boot), None if there is none.

    Together with the pid it names a process once and for all: a pid is used again, the pair never.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return None if fields[0] == "Z" else fields[19]


def recorded_pid(directory: Path) -> int | None:
    """The pid of the machine in `directory` if that very process still runs."""
    try:
        pid_text, started = (directory / "pid").read_text().split()
        pid = int(pid_text)
    except (OSError, ValueError):
        return None
    return pid if start_time(pid) == started else None


def accelerator() -> str:
    """`kvm` where the processor really has vmx or svm and /dev/kvm may be used, else `tcg`.

    /dev/kvm alone says too little: nested in a machine without these flags a kernel may stall.
    """
    try:
        words = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        words = set()
    usable = bool(words & {"vmx", "svm"}) and os.access("/dev/kvm", os.R_OK | os.W_OK)
    return "kvm" if usable else "tcg"


def kernel_command_line(timers: int | None, switch: bool = False) -> str:
    """What the kernel is told; `timers` shortens T20 to T23 to that many seconds.

    As a `switch` it forwards calls between sides A and B, told apart by their addresses.
    """
    words = (
        "console=ttyS0 quiet loglevel=4 panic=-1 reboot=t ipv6.disable=1 mitigations=off "
        "tsc=reliable no_timer_check random.trust_cpu=on rdinit=/init"
    )
    if timers is not None:
        words += f" x25.timers={timers}"
    return f"{words} x25.sides={HOST_ADDRESS},{SIDE_B_ADDRESS}" if switch else words


def qemu_command(network: str, accel: str, words: str) -> list[str]:
    """The command of a machine; console.log comes into its working directory."""
    image = cache_directory() / "image"
    command = [QEMU, "-M", "q35,smm=off,vmport=off,hpet=off", "-nodefaults", "-no-user-config"]
    if accel == "kvm":
        command += ["-accel", "kvm", "-cpu", "host"]
    else:
        command += ["-accel", "tcg,thread=multi", "-cpu", "max"]
    command += ["-smp", "1", "-m", str(MEMORY), "-display", "none", "-no-reboot"]
    command += ["-kernel", str(image / "kernel"), "-initrd", str(image / "initrd.img")]
    command += ["-append", words]
    command += ["-serial", "file:console.log", "-netdev", network]
    command += ["-device", f"virtio-net-pci,romfile=,netdev=net,mac={MAC_ADDRESS}"]
    return command


def found_qemu() -> str:
    """Where QEMU is. Raises MachineError."""
    found = shutil.which(QEMU)
    if found is None:
        raise MachineError(f"{QEMU} not found: install qemu-system-x86, or run make linux-router")
    return found


def launch(directory: Path, command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start QEMU in a session of its own and record which process it is."""
    with (directory / "qemu.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    started = start_time(process.pid) or "0"
    (directory / "pid").write_text(f"{process.pid} {started}\n")
    return process


def text_of(path: Path) -> str:
    """What a log says so far, with everything that is not printable taken out."""
    try:
        octets = path.read_bytes()[-65536:]
    except OSError:
        return ""
    text = octets.decode("ascii", "replace").replace("\r", "")
    return "".join(c if c == "\n" or " " <= c <= "~" else "?" for c in text)


def why_it_ended(directory: Path) -> str:
    """The last lines of what QEMU and the console said."""
    lines = text_of(directory / "qemu.log") + text_of(directory / "console.log")[-2000:]
    return lines.strip() or "it said nothing"


class Monitor:
    """A QMP session: one JSON object a line, commands answered in order."""

    def __init__(self, directory: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(BOOT_SECONDS)
        # A socket's path has at most 107 octets, a directory's may have more.
        here = os.open(directory, os.O_PATH)
        try:
            self._socket.connect(f"/proc/self/fd/{here}/qmp")
        finally:
            os.close(here)
        self._lines = self._socket.makefile("rb")
        self._lines.readline()
        self.execute("qmp_capabilities")

    def execute(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Run a command; returns its answer.  Raises MachineError if QEMU refuses it."""
        request = {"execute": command, "arguments": arguments}
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        while True:
            answer = json.loads(self._lines.readline() or b'{"error": "QEMU has ended"}')
            if "error" in answer:
                raise MachineError(f"QEMU, {command}: {answer['error']}")
            if "return" in answer:
                result = answer["return"]
                return result if isinstance(result, dict) else {}

    def close(self) -> None:
        """End the session; the machine goes on."""
        self._lines.close()
        self._socket.close()


def waiting(seconds: float) -> Iterator[None]:
    """Come back every POLL_SECONDS until `seconds` have passed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(POLL_SECONDS)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock: starts and stops of one machine take turns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# ---- snapshots ---------------------------------------------------------------------------------


def snapshot_path(accel: str, words: str) -> Path:
    """The snapshot that fits this QEMU, image, accelerator and kernel command line."""
    image = cache_directory() / "image"
    version = subprocess.run([found_qemu(), "--version"], capture_output=True, check=False).stdout
    parts = [version, (image / "sources.sha256").read_bytes()]
    parts += [(image / "kernel.version").read_bytes(), f"{accel} {words} {MEMORY}".encode()]
    parts.append("\0".join(qemu_command("", accel, words)).encode())
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    return cache_directory() / "snapshots" / key


def wait_for_boot(directory: Path, process: subprocess.Popen[bytes]) -> None:
    """Until the guest says that its DTEs and gateway listen."""
    for _ in waiting(BOOT_SECONDS):
        console = text_of(directory / "console.log")
        if "ROUTER-READY" in console:
            return
        if "ROUTER-FAILED" in console or process.poll() is not None:
            raise MachineError(f"the router does not boot: {why_it_ended(directory)}")
    raise MachineError(f"not booted after {BOOT_SECONDS:.0f} s: {why_it_ended(directory)}")


def make_snapshot(accel: str, words: str) -> Path:
    """Boot once without a network and keep the machine's state.  Does nothing if it is there."""
    target = snapshot_path(accel, words)
    with locked(cache_directory() / "snapshots.lock"):
        if target.exists():
            return target
        directory = target.with_name(target.name + ".new")
        if (left_over := recorded_pid(directory)) is not None:
            end_process(left_over)  # of a start that was killed
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        print(f"first start with these settings: booting once ({accel}), then a snapshot is kept")
        began = time.monotonic()
        # A hub port has no state of its own, so the snapshot fits any kind of network later.
        command = qemu_command("hubport,id=net,hubid=0", accel, words)
        process = launch(directory, [*command, "-qmp", "unix:qmp,server=on,wait=off"])
        try:
            wait_for_boot(directory, process)
            print(f"booted in {time.monotonic() - began:.2f} s")
            monitor = Monitor(directory)
            # Not stopped first: QEMU restores the state it finds, and it shall run at once.
            monitor.execute("migrate", uri="exec:cat > state")
            wait_for_migration(monitor)
            monitor.close()
        finally:
            process.kill()
            process.wait()
        (directory / "state").replace(target)
        shutil.rmtree(directory, ignore_errors=True)
    return target


def wait_for_migration(monitor: Monitor) -> None:
    """Until the state of the machine is written."""
    for _ in waiting(BOOT_SECONDS):
        status = monitor.execute("query-migrate").get("status")
        if status == "completed":
            return
        if status in ("failed", "cancelled"):
            raise MachineError(f"QEMU could not write a snapshot ({status}); is the disk full?")
    raise MachineError("QEMU did not finish the snapshot")


# ---- machines ----------------------------------------------------------------------------------


def network_option(net: str, address: str, name: str) -> str:
    """QEMU's network: its own TCP/IP on the host's loopback, or a TAP in this network namespace."""
    if net == "tap":
        return f"tap,id=net,ifname={tap_name(name)},script=no,downscript=no,vnet_hdr=off"
    return (
        f"user,id=net,ipv6=off,restrict=on,net=10.25.0.0/24,host={HOST_ADDRESS},"
        f"hostfwd=tcp:{address}:{XOT_PORT}-{GUEST_ADDRESS}:{XOT_PORT}"
    )


def tap_name(name: str) -> str:
    """The TAP device of a machine; an interface name has at most 15 characters."""
    return f"x25-{name}"[:15]


def check_address(address: str) -> None:
    """Raise MachineError if XOT cannot be listened to on `address`."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, XOT_PORT))
            probe.listen(1)
        except OSError as error:
            raise MachineError(
                f"cannot listen on {address}:{XOT_PORT} ({error.strerror}); "
                "choose another with --address, or stop what listens there"
            ) from error


def configure_tap(name: str, process: subprocess.Popen[bytes]) -> None:
    """Give the TAP device the tester's addresses.

    QEMU makes it and takes it away with itself, unless it was there before.
    """
    device = tap_name(name)
    for _ in waiting(READY_SECONDS):
        if Path("/sys/class/net", device).exists() or device in device_names():
            break
        if process.poll() is not None:
            return
    for words in (
        ["addr", "replace", f"{HOST_ADDRESS}/24", "dev", device],
        ["addr", "replace", f"{SIDE_B_ADDRESS}/24", "dev", device],
        ["link", "set", device, "up"],
    ):
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise MachineError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def device_names() -> list[str]:
    """The network devices of this namespace (/sys may show those of another)."""
    return [device for _, device in socket.if_nameindex()]


def packet_types(octets: bytes) -> list[int]:
    """Octet 3 of each whole packet in a stream of XOT units."""
    types = []
    while len(octets) >= 7 and len(octets) >= (size := 4 + int.from_bytes(octets[2:4], "big")):
        types.append(octets[6])
        octets = octets[max(size, 7) :]
    return types


def answers_calls(address: str, seconds: float) -> bool:
    """Whether a call to the echo DTE is accepted, and then its clearing confirmed."""
    try:
        with socket.create_connection((address, XOT_PORT), seconds) as peer:
            for packet, answer in ((CALL, CALL_ACCEPTED), (CLEAR, CLEAR_CONFIRMATION)):
                peer.sendall(packet)
                received = b""
                while not packet_types(received):
                    chunk = peer.recv(4096)
                    if not chunk or len(received) > 65536:
                        return False
                    received += chunk
                if packet_types(received)[0] != answer:
                    return False
    except OSError:
        return False
    return True


def wait_until_ready(directory: Path, address: str, process: subprocess.Popen[bytes]) -> None:
    """Until a call over XOT succeeds."""
    wait = 0.1
    for _ in waiting(READY_SECONDS):
        if process.poll() is not None:
            raise MachineError(f"QEMU ended at once: {why_it_ended(directory)}")
        if answers_calls(address, wait):
            return
        # An early SYN is lost and only sent again seconds later: a fresh connection is quicker.
        wait = min(2 * wait, READY_SECONDS / 4)
    raise MachineError(
        f"no call over XOT to {address}:{XOT_PORT} within {READY_SECONDS:.0f} s: "
        f"{why_it_ended(directory)}"
    )


def settings_of(directory: Path) -> dict[str, Any]:
    """What a machine was started with, {} if that cannot be read."""
    try:
        settings = json.loads((directory / "machine.json").read_text())
    except (OSError, ValueError):
        return {}
    return settings if isinstance(settings, dict) else {}


def start(options: argparse.Namespace) -> int:
    """Start a machine; does nothing if it runs with the same settings."""
    directory = run_directory(options.name)
    address = GUEST_ADDRESS if options.net == "tap" else options.address
    accel = accelerator() if options.accel == "auto" else options.accel
    if options.switch and options.net != "tap":
        raise MachineError("--switch tells its sides by their addresses: it needs --net tap")
    settings = {
        "address": address,
        "net": options.net,
        "accel": accel,
        "timers": options.timers,
        "switch": options.switch,
    }
    with locked(directory.with_name(directory.name + ".lock")):
        if (pid := recorded_pid(directory)) is not None:
            if settings_of(directory) != settings:
                raise MachineError(f"{options.name} runs (pid {pid}) with other settings: stop it")
            if not answers_calls(address, READY_SECONDS / 4):
                raise MachineError(
                    f"{options.name} runs (pid {pid}) but {address}:{XOT_PORT} does not answer: "
                    "it hangs, or is in another network namespace; stop it or use another --name"
                )
            print(f"{options.name} runs already: XOT at {address}:{XOT_PORT}, pid {pid}")
            return 0
        # Better said now than after the minute that building takes.
        found_qemu()
        if subprocess.run([str(HERE / "build")], check=False).returncode:
            return 1
        if options.net == "user":
            check_address(address)
        words = kernel_command_line(options.timers, options.switch)
        command = qemu_command(network_option(options.net, address, options.name), accel, words)
        if not options.boot:
            snapshot = make_snapshot(accel, words)
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
            (directory / "snapshot").symlink_to(snapshot)
            command += ["-incoming", "exec:cat < snapshot"]
        else:
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
        (directory / "machine.json").write_text(json.dumps(settings))
        began = time.monotonic()
        process = launch(directory, command)
        try:
            if options.net == "tap":
                configure_tap(options.name, process)
            wait_until_ready(directory, address, process)
        except BaseException:
            process.kill()
            process.wait()
            raise
    took = time.monotonic() - began
    print(f"{options.name}: XOT at {address}:{XOT_PORT}, ready after {took:.2f} s ({accel})")
    return 0


def stop(options: argparse.Namespace) -> int:
    """Stop one machine or all; none running is not an error."""
    names = [options.name]
    if options.all:
        names = sorted(path.parent.name for path in (cache_directory() / "run").glob("*/pid"))
    for name in names:
        directory = run_directory(name)
        with locked(directory.with_name(directory.name + ".lock")):
            pid = recorded_pid(directory)
            if pid is None:
                print(f"{name} does not run")
            else:
                end_process(pid)
                print(f"{name} stopped")
            (directory / "pid").unlink(missing_ok=True)
    return 0


def end_process(pid: int) -> None:
    """SIGTERM, after five seconds SIGKILL; returns when the process is gone."""
    started = start_time(pid)
    for number in (signal.SIGTERM, signal.SIGKILL):
        if start_time(pid) != started:
            return
        os.kill(pid, number)
        for _ in waiting(5.0):
            if start_time(pid) != started:
                return
    raise MachineError(f"process {pid} does not end")


def status(options: argparse.Namespace) -> int:
    """One line a machine; exit status 3 if the named one, or every one, is down."""
    names = [options.name] if options.name else []
    if not names:
        names = sorted(path.parent.name for path in (cache_directory() / "run").glob("*/pid"))
    up = 0
    for name in names:
        directory = run_directory(name)
        pid = recorded_pid(directory)
        settings = settings_of(directory)
        if pid is None or "address" not in settings:
            print(f"{name}: does not run")
            continue
        answers = answers_calls(str(settings["address"]), 5.0)
        up += answers
        print(
            f"{name}: pid {pid}, XOT at {settings['address']}:{XOT_PORT} ({settings['net']}, "
            f"{settings['accel']}), {'answers calls' if answers else 'DOES NOT ANSWER CALLS'}"
        )
    if not names:
        print("no machine runs")
    return 0 if up else 3


def log(options: argparse.Namespace) -> int:
    """What QEMU and the machine's console said."""
    directory = run_directory(options.name)
    if not directory.is_dir():
        raise MachineError(f"there is no machine {options.name}; see 'status'")
    print(text_of(directory / "qemu.log") + text_of(directory / "console.log"), end="")
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line of the four commands."""
    top = argparse.ArgumentParser(prog="linux-router", description="Linux X.25 routers in QEMU")
    commands = top.add_subparsers(dest="command", required=True)
    for function in (start, stop, status, log):
        command = commands.add_parser(function.__name__, help=function.__doc__)
        default = None if function is status else "default"
        command.add_argument("--name", default=default, help="which machine (default: %(default)s)")
        command.set_defaults(function=function)
    begin = commands.choices["start"]
    begin.add_argument(
        "--address", default=DEFAULT_ADDRESS, help="where XOT is served: %(default)s"
    )
    begin.add_argument("--net", choices=("user", "tap"), default="user", help="see README.md")
    begin.add_argument("--accel", choices=("auto", "kvm", "tcg"), default="auto")
    begin.add_argument("--timers", type=int, metavar="SECONDS", help="T20 to T23 of the kernel")
    begin.add_argument(
        "--switch", action="store_true", help="forward calls between two sides; with --net tap"
    )
    begin.add_argument("--boot", action="store_true", help="boot instead of using the snapshot")
    commands.choices["stop"].add_argument("--all", action="store_true", help="every machine")
    return top


def main(arguments: Sequence[str]) -> int:
    """Run a command; every expected failure is one line on standard error and exit status 1."""
    options = parser().parse_args(arguments)
    # Told to end while it starts a machine, a command takes that machine with it.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        function = options.function
        return int(function(options))
    except MachineError as error:
        print(f"{options.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
