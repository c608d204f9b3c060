# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge two by starting tshark: the same readings as the C judge, slower, where that one cannot be.

One tshark run writes the dissection tree as PDML, which keeps the packets of a segment apart, and
evaluates every filter for every layer number through Lua taps: libwireshark's own filter engine.
A second run follows only if a segment holds more packets than the first run looked at.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence

from ..cpu_time import ends_within
from . import pdml
from .reading import CaptureReader, Hit, JudgeError, Reading
from .sandbox import Sandbox, as_nobody

FIRST_LAYERS = 8
MOST_LAYERS = 200  # the strict dissector gives no layer numbers beyond
MOST_OUTPUT = 1 << 30
# Every tap is evaluated for every frame: so many of them double the time that a run may take, and
# it grows no further than this many times.
TAPS_OF_ONE_TIME = 400
MOST_TIMES = 12
PROTOCOLS = "x25s xots x25t hdlcs lapbs tcp ip ipv6 _ws.lua"
PREFERENCES = ("x25.reassemble:FALSE", "tcp.reassemble_out_of_order:TRUE")

# Listener.new compiles the filter; draw is called when the capture has been read. Fields of Lua
# dissectors exist only when all scripts are loaded, so the taps are made when the file is opened.
TAPS = """
local output = assert(io.open(%s, "w"))
local protocol = Proto("x25shark_taps", "x25shark taps")
local function tap(place, k, filter)
  local fine, made = pcall(Listener.new, "frame", filter)
  if not fine then
    output:write("E ", place, " ", (tostring(made):gsub("[%%c]", " ")), "\\n")
    output:flush()
    return
  end
  function made.packet(pinfo)
    output:write("H ", place, " ", pinfo.number, " ", k, "\\n")
  end
  function made.draw()
    output:flush()
  end
end
"""


def _lua_string(text: str) -> str:
    return '"' + "".join(f"\\{octet:03d}" for octet in text.encode()) + '"'


def _taps(filters: Sequence[str], layers: range, output: str, frames_too: bool) -> str:
    lines = [TAPS % _lua_string(output), "local made = false", "function protocol.init()"]
    lines += ["if made then return end", "made = true"]
    for place, text in enumerate(filters):
        if "{k}" in text:
            lines += [
                f"tap({place}, {k}, {_lua_string(text.replace('{k}', str(k)))})" for k in layers
            ]
        elif frames_too:
            lines.append(f"tap({place}, 0, {_lua_string(text)})")
    return "\n".join([*lines, "end"]) + "\n"


class TsharkJudge(CaptureReader):
    """The same interface as WiresharkJudge. Raises JudgeError("start") if there is no tshark."""

    def __init__(self, xot_ports: Iterable[int] = ()) -> None:
        found = os.environ.get("X25SHARK_TSHARK") or shutil.which("tshark")
        if found is None:
            raise JudgeError(
                "start",
                "tshark is not installed. On Debian and Ubuntu: sudo apt-get install tshark",
            )
        self._tshark = found
        self._lock = threading.Lock()
        self._prefix, self._identity = as_nobody()
        self._sandbox = Sandbox(xot_ports)
        self._types: dict[str, str] = {}
        # tshark takes -G only as its first option, so the dissector must load as a plugin.
        plugins = self._sandbox.folder / "config" / "plugins"
        plugins.symlink_to(self._sandbox.lua.parent)
        try:
            self._load_types()
        except JudgeError:
            self._sandbox.close()
            raise

    @property
    def computed(self) -> float:
        """Its processes have ended: nobody tells."""
        return 0.0

    def _run(self, arguments: Sequence[str], stdin: int, seconds: float) -> tuple[int, bytes, str]:
        command = [*self._prefix, self._tshark, *arguments]
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(
                    command,
                    stdin=stdin,
                    stdout=output,
                    stderr=errors,
                    env=self._sandbox.environment(),
                    cwd=self._sandbox.folder,
                    **self._identity,
                )
            except OSError as error:
                raise JudgeError("start", f"tshark cannot be started: {error}") from error
            with process:
                try:
                    if not ends_within(process, seconds):
                        raise JudgeError("timeout", "tshark did not answer in time")
                finally:
                    process.kill()
            if output.tell() > MOST_OUTPUT:
                raise JudgeError("limit", "tshark's output is longer than 1 GiB")
            output.seek(0)
            errors.seek(0)
            return process.returncode, output.read(), errors.read().decode(errors="replace").strip()

    def _load_types(self) -> None:
        status, output, errors = self._run(["-G", "fields"], subprocess.DEVNULL, 60.0)
        for line in output.decode(errors="replace").splitlines():
            columns = line.split("\t")
            if len(columns) > 3 and columns[0] == "F":
                self._types[columns[2]] = columns[3]
        if status != 0 or "x25s.type" not in self._types:
            raise JudgeError(
                "start", f"tshark does not load the strict dissector: {errors[-2000:]}"
            )

    def read(
        self,
        capture: bytes | int,
        filters: Sequence[str] = (),
        fields: Sequence[str] = (),
        *,
        timeout: float = 10.0,
    ) -> Reading:
        """As WiresharkJudge.read(); timeout is for each start of tshark, and more where there are
        many filters and layers to evaluate. Raises JudgeError."""
        with self._lock:
            for place, name in enumerate(fields):
                if name not in self._types:
                    raise JudgeError("field", "Wireshark has no such field", place)
            for place, text in enumerate(filters):
                if not text.strip():
                    raise JudgeError("filter", "the filter is empty", place)
            with tempfile.TemporaryFile() as file:
                if isinstance(capture, bytes):
                    file.write(capture)
                    file.flush()
                descriptor = capture if isinstance(capture, int) else file.fileno()
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise JudgeError("file", "the capture is not a regular file")
                if status.st_size == 0:
                    raise JudgeError("file", "the capture is empty: not even a file header")
                return self._read(descriptor, filters, fields, timeout)

    def _read(
        self, capture: int, filters: Sequence[str], fields: Sequence[str], timeout: float
    ) -> Reading:
        started = time.monotonic()
        numbered = any("{k}" in text for text in filters)
        layers = range(1, FIRST_LAYERS + 1)
        output, lines, problem = self._dissect(capture, _Taps(filters, layers, True), timeout)
        tree = pdml.read(output, {name: self._types[name] for name in fields})
        if problem is not None and tree.frames == 0:
            raise JudgeError("file", problem)
        hits = _hits(lines, filters)
        if numbered and tree.most_packets > FIRST_LAYERS:
            if tree.most_packets > MOST_LAYERS:
                raise JudgeError(
                    "limit",
                    f"a frame holds {tree.most_packets} packets; above {MOST_LAYERS} only the C "
                    "judge can tell them apart",
                )
            layers = range(FIRST_LAYERS + 1, tree.most_packets + 1)
            _, lines, _ = self._dissect(capture, _Taps(filters, layers, False), timeout)
            for first, further in zip(hits, _hits(lines, filters), strict=True):
                first.extend(further)
        return Reading(
            frames=tree.frames,
            packets=tuple(tree.packets),
            tcp_ends=tuple(tree.tcp_ends),
            hits=tuple(tuple(sorted(hit for hit in each if tree.has(hit))) for each in hits),
            experts=tuple(tree.experts),
            differences=tuple(tree.differences),
            lua_errors=tuple(tree.lua_errors),
            file_error=problem,
            milliseconds=(time.monotonic() - started) * 1000,
        )

    def _dissect(
        self, capture: int, taps: _Taps, timeout: float
    ) -> tuple[bytes, list[str], str | None]:
        """One run: its PDML, the lines of the taps, and why the file could not be read whole."""
        number, hits = tempfile.mkstemp(dir=self._sandbox.folder, prefix="hits-")
        os.fchmod(number, 0o666)
        script = self._sandbox.folder / (os.path.basename(hits) + ".lua")
        script.write_text(_taps(taps.filters, taps.layers, hits, taps.frames_too))
        script.chmod(0o644)
        try:
            arguments = ["-n", "-r", "-"]
            arguments += ["-X", f"lua_script:{script}"]
            for preference in PREFERENCES:
                arguments += ["-o", preference]
            arguments += ["-T", "pdml", "-J", PROTOCOLS]
            with contextlib.suppress(OSError):
                os.lseek(capture, 0, os.SEEK_SET)
            times = min(1 + len(taps.filters) * len(taps.layers) / TAPS_OF_ONE_TIME, MOST_TIMES)
            status, text, errors = self._run(arguments, capture, timeout * times)
            with os.fdopen(number, encoding="utf-8", errors="replace") as file:
                lines = file.read().splitlines()
        finally:
            script.unlink()
            os.unlink(hits)
        if status < 0:
            raise JudgeError("crash", f"tshark ended with signal {-status}: {errors[-2000:]}")
        return text, lines, (errors[-2000:] or f"status {status}") if status else None

    def close(self) -> None:
        """Remove the folder."""
        self._sandbox.close()


class _Taps:
    """What one run evaluates: filters with {k} for these layers, the others if frames_too."""

    def __init__(self, filters: Sequence[str], layers: range, frames_too: bool) -> None:
        self.filters = filters
        self.layers = layers
        self.frames_too = frames_too


def _hits(lines: Sequence[str], filters: Sequence[str]) -> list[list[Hit]]:
    hits: list[list[Hit]] = [[] for _ in filters]
    for line in lines:
        kind, place, rest = line.split(" ", 2)
        if kind == "E":
            raise JudgeError("filter", rest, int(place))
        frame, k = rest.split(" ")
        hits[int(place)].append(Hit(int(frame), int(k)))
    return hits
