# SPDX-License-Identifier: GPL-2.0-or-later
"""Routers that nobody would want to test, each hostile or dying in one way.

    router.py run KIND                run it; one line "ready" on standard output
    router.py start KIND --state DIR  the same in the background, for the hooks of a profile
    router.py stop --state DIR
    router.py profile KIND --state DIR   a profile whose hooks do that

Standard library and plain sockets only: nothing here may share a fault with the tester. What a
kind does stands beside its name in KINDS. A kind that has to look alive copies octets between
side A and side B, as a splice does.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

if __package__:
    from .endless import ENDLESS
    from .habits import HABITS
    from .wire import HOST, PORT, SIDE_A, SIDE_B, Serve, forever, relay, reset, send_all, unit
else:
    sys.path.insert(0, str(Path(__file__).parent))
    from endless import ENDLESS  # type: ignore[import-not-found,no-redef]
    from habits import HABITS  # type: ignore[import-not-found,no-redef]
    from wire import (  # type: ignore[import-not-found,no-redef]
        HOST,
        PORT,
        SIDE_A,
        SIDE_B,
        Serve,
        forever,
        relay,
        reset,
        send_all,
        unit,
    )

SEED = 1998
# Long enough for some cases, short enough that most of the suite is still to come.
CONNECTIONS_OF_A_LIFE = 120
BIG = 10 << 20

STRINGS = (
    b"<script>alert(1)</script>",
    b"<!-- ]]> & \"'><img src=x onerror=alert(1)>",
    b"\x1b[2J\x1b]0;owned\x07\x1b[31m\x9b1m\x08\x08\r\n\x00",
    b"[bold red]markup[/bold red] [/] {braces} %s%n $(reboot) `reboot`",
    "\u202egnp.exe \u0000 \ud7ff \uffff".encode() + b"\xff\xfe\xed\xa0\x80",
    b"../../../../etc/passwd",
    b"A" * 200,
)


def numbered_data() -> Iterator[bytes]:
    """Data packets whose P(S) counts on, windows notwithstanding."""
    block = b"".join(unit(bytes((0x10, 1, p_s << 1)) + b"never ending") for p_s in range(8))
    return forever(block)


# One connection each; the number counts from 1 within a life.


def talks_nonsense(sock: socket.socket, number: int) -> None:
    chance = random.Random(f"{SEED}/{number}")
    sock.settimeout(0.2)
    with contextlib.suppress(OSError):
        for _ in range(200):
            sock.sendall(chance.randbytes(chance.randrange(1, 400)))
            with contextlib.suppress(TimeoutError):
                if not sock.recv(65536):
                    break
    sock.close()


_KEPT: list[socket.socket] = []


def never_closes(sock: socket.socket, _number: int) -> None:
    _KEPT.append(sock)
    with contextlib.suppress(OSError):
        while sock.recv(65536):
            pass


def closes_at_once(sock: socket.socket, _number: int) -> None:
    sock.close()


def resets(sock: socket.socket, _number: int) -> None:
    with contextlib.suppress(OSError):
        sock.recv(1)
    reset(sock)


def one_octet_a_second(sock: socket.socket, _number: int) -> None:
    with contextlib.suppress(OSError):
        for octet in unit(b"\x10\x01\x0f") * 1000:
            sock.sendall(bytes((octet,)))
            time.sleep(1)
    sock.close()


def sends(pieces: Callable[[], Iterator[bytes]]) -> Callable[[socket.socket, int], None]:
    def serve(sock: socket.socket, _number: int) -> None:
        send_all(sock, pieces())
        sock.close()

    return serve


def relays(sock: socket.socket, _number: int) -> None:
    """Octets of side A go to side B and back, unread."""
    relay(sock, lambda octets: octets, lambda octets: octets)


def urges(sock: socket.socket, _number: int) -> None:
    """The same, the last octet of each piece as TCP urgent data."""
    relay(sock, lambda octets: octets, lambda octets: octets, socket.MSG_OOB)


def crowds(sock: socket.socket, _number: int) -> None:
    """With each piece to side A come as many RR as nobody objects to in one segment."""
    relay(sock, lambda octets: octets, lambda octets: octets + unit(b"\x10\x01\x01") * 990)


def floods_a_call(sock: socket.socket, _number: int) -> None:
    """A call comes about, then legal RRs come to side A without end."""

    def then_flood(octets: bytes) -> bytes:
        if octets[6:7] == b"\x0f":
            sock.sendall(octets)
            send_all(sock, forever(unit(b"\x10\x01\x01")))
        return octets

    relay(sock, lambda octets: octets, then_flood)


def sends_strings(sock: socket.socket, _number: int) -> None:
    """A call comes about; strings in every field that holds some, then ten megabytes."""

    def hostile() -> Iterator[bytes]:
        for text in STRINGS:
            yield unit(b"\x10\x00\xf1\x26" + text[:3])
            yield unit(b"\x10\x01\x00" + text)
            yield unit(b"\x10\x01\x23" + text[:32])
            yield unit(b"\x10\x01\x1b\x05" + text[:1] + text)
            field = bytes((0xC9, min(len(text), 60))) + text[:60]
            yield unit(b"\x10\x01\x0b\x00" + bytes((len(field),)) + field + b"\xc0" + text[:100])
        data = unit(b"\x10\x01\x10" + STRINGS[0] * 160)
        yield from (data for _ in range(BIG // len(data) + 1))
        yield unit(b"\x10\x01\x13\x13\x26\x00\x00" + STRINGS[2])

    def then_strings(octets: bytes) -> bytes:
        if octets[6:7] == b"\x0f":
            sock.sendall(octets)
            send_all(sock, hostile())
            return b""
        return octets

    relay(sock, lambda octets: octets, then_strings)


def storms(sock: socket.socket, _number: int) -> None:
    """Each connection of side A brings up to a thousand to side B, which stay open."""
    with contextlib.suppress(OSError):
        for _ in range(1000):
            other = socket.create_connection((SIDE_B, PORT), 5, (HOST, 0))
            other.sendall(unit(b"\x10\x01\x0b\x00\x00"))
            _KEPT.append(other)
            if len(_KEPT) > 5000:
                _KEPT.pop(0).close()
    never_closes(sock, 0)


KINDS: dict[str, tuple[Serve, str]] = {
    "nonsense": (talks_nonsense, "sends random octets"),
    "silent": (never_closes, "reads, never answers, never closes"),
    "closes": (closes_at_once, "closes each connection at once"),
    "resets": (resets, "resets each connection when the first octet came"),
    "slow": (one_octet_a_second, "sends a legal packet, one octet a second"),
    "zeros": (sends(lambda: forever(b"\0")), "sends octets 0x00 without end"),
    "headers": (sends(lambda: forever(b"\0\0\xff\xff")), "sends XOT headers 0/65535 without end"),
    "data": (sends(numbered_data), "sends valid Data without end"),
    "rr": (sends(lambda: forever(unit(b"\x10\x01\x01"))), "sends valid RR without end"),
    "calls": (
        sends(lambda: forever(unit(b"\x10\x01\x0b\x77\x21\x00\x00\x01\x31\x00\x00\x01\x00"))),
        "sends valid Calls without end",
    ),
    "flood": (floods_a_call, "lets a call come about, then sends RR without end"),
    "strings": (sends_strings, "markup, escapes and 10 MB within a call"),
    "storm": (storms, "opens a thousand connections to side B for each of side A"),
    "dies": (relays, f"works; its process ends at connection {CONNECTIONS_OF_A_LIFE}"),
    "mortal": (relays, "as dies, and cannot be started again"),
    "returns": (relays, "as dies, and comes back by itself after a second"),
    "crowd": (crowds, "works, and sends 990 RR with everything"),
    "urgent": (urges, "works, with TCP urgent data"),
    **HABITS,
    **ENDLESS,
    "relay": (relays, "works, for comparison"),
}
MORTAL = ("dies", "mortal", "returns")


def live(kind: str) -> None:
    """Serve until the process ends."""
    serve = KINDS[kind][0]
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((HOST, PORT))
    listener.listen(512)
    # A later life of one that returns has nobody who listens any more.
    with contextlib.suppress(BrokenPipeError):
        print("ready", flush=True)
    number = 0
    while True:
        sock, _ = listener.accept()
        number += 1
        if kind in MORTAL and number >= CONNECTIONS_OF_A_LIFE:
            os._exit(9)
        threading.Thread(target=serve, args=(sock, number), daemon=True).start()


def run(kind: str) -> None:
    """Run a kind, as often as it comes back."""
    if kind != "returns":
        live(kind)
    while True:
        life = subprocess.Popen([sys.executable, __file__, "run", "dies"])
        signal.signal(signal.SIGTERM, lambda *_, life=life: (life.kill(), sys.exit(0)))
        life.wait()
        time.sleep(1)


def start(kind: str, state: Path) -> int:
    """Start a kind in the background; 1 if it does not start."""
    state.mkdir(parents=True, exist_ok=True)
    stop(state)
    if kind == "mortal" and (state / "lived").exists():
        print("it had only one life", file=sys.stderr)
        return 1
    (state / "lived").touch()
    process = subprocess.Popen(
        [sys.executable, __file__, "run", kind],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    (state / "process").write_text(str(process.pid))
    assert process.stdout is not None
    return 0 if process.stdout.readline() == b"ready\n" else 1


def stop(state: Path) -> int:
    file = state / "process"
    if file.exists():
        number = int(file.read_text())
        # Its own session holds the lives of one that returns.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(number, signal.SIGKILL)
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and Path(f"/proc/{number}").exists():
            time.sleep(0.02)
        file.unlink()
    return 0


def profile(kind: str, state: Path, reaction: float = 2.0) -> str:
    """A profile for the suite (T1), with hooks that start and stop the kind."""
    me = f"{shlex.quote(sys.executable)} {shlex.quote(str(Path(__file__).resolve()))}"
    where = f"--state {shlex.quote(str(state.resolve()))}"
    return f'''name = "hostile: {kind}"
relay_model = "splice"
diagnostics = "group"

[xot]
router = "{HOST}"
a = "{SIDE_A}"
b = "{SIDE_B}"

[addresses]
a = "3100001"
b = "2100001"
no_route = "9990001"

[times]
reaction = {reaction}

[control]
start = "{me} start {kind} {where}"
stop = "{me} stop {where}"
'''


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("run", "start", "stop", "profile"))
    parser.add_argument("kind", nargs="?", choices=[*KINDS])
    parser.add_argument("--state", type=Path, default=Path("hostile-router"))
    given = parser.parse_args()
    if given.what != "stop" and given.kind is None:
        parser.error("KIND is missing")
    if given.what == "run":
        run(given.kind)
    elif given.what == "start":
        return start(given.kind, given.state)
    elif given.what == "stop":
        return stop(given.state)
    else:
        print(profile(given.kind, given.state), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
