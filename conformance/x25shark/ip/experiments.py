# SPDX-License-Identifier: GPL-2.0-or-later
"""The measurements of the paper, each beside its model.

Times in results are of the paper's scale: with --compress K the line is K times as fast and as
short, and what was measured is multiplied.
"""

from __future__ import annotations

import contextlib
import hashlib
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..interrupts import interrupts
from ..load.engine import Engine
from ..load.wording import plural
from ..temporary import temporary_folder
from . import paper
from .datagrams import HEADER, carry, compare
from .hosts import Host
from .lab import Conditions, Lab, captured, lab
from .model import ICMP_IP, Model
from .traffic import Transfer, Upload, ftp_server, make_file, ping, url

Tell = Callable[[str], None]
WITHIN = 0.05
"""A figure further from the model gets a remark."""
_SIZES = (64, 512)
_PATIENT, _AND, _AND_WHERE_LOST = 5, 120.0, 900.0
"""A transfer is given up after so many times what the model says, and so many seconds: more where
datagrams are lost, whose sender waits twice as long each time that a repetition is lost as well."""
_DATAGRAM_LIMIT = 30.0
"""Longer than gateways wait after a refusal by default."""
_MOST_CHANGES = 100
"""Are kept in the result."""


@dataclass(frozen=True)
class Plan:
    """What is measured. hours: of the availability run; minutes: of the saturation run; limit:
    seconds after which a transfer is given up."""

    engine: Engine
    conditions: Conditions
    hosts: tuple[Host, Host]
    router: str | None
    faults: tuple[str, ...] = ()
    compress: float = 1.0
    pings: int = paper.PINGS
    file_octets: int = paper.FILE_OCTETS
    circuit_numbers: tuple[int, ...] = (1, 2, 4)
    files_octets: int = paper.FILES_OCTETS
    files_circuits: tuple[int, ...] = tuple(range(1, 11))
    minutes: int = 5
    hours: float = 1.0
    limit: float | None = None
    capture_folder: Path | None = None

    @property
    def real(self) -> Conditions:
        """The conditions as they are set up: compressed."""
        line = self.conditions.line
        fast = replace(
            line, rate=round(line.rate * self.compress), delay=line.delay / self.compress
        )
        return replace(self.conditions, line=fast)

    def model(self, circuits: int = 1) -> Model:
        return Model(self.conditions.with_circuits(circuits))

    def time_limit(self, octets: int, circuits: int = 1, files: int = 1) -> float:
        """Seconds after which a transfer is given up."""
        if self.limit is not None:
            return self.limit
        model = Model(self.real.with_circuits(circuits))
        more = _AND_WHERE_LOST if self.conditions.loses else _AND
        return _PATIENT * model.transfer_time(octets, circuits, files) + more

    @contextlib.contextmanager
    def open(self, name: str, circuits: int = 1) -> Iterator[Lab]:
        """The lab for one measurement, recorded."""
        path = self.capture_folder / f"{name}.pcapng" if self.capture_folder else None
        conditions = self.real.with_circuits(circuits)
        with (
            captured(path),
            lab(self.engine, conditions, self.hosts, self.router, self.faults) as opened,
        ):
            yield opened


@contextlib.contextmanager
def _kept(found: dict[str, Any]) -> Iterator[None]:
    """What was measured until an interrupt is kept, and marked so."""
    try:
        yield
    except KeyboardInterrupt:
        if not found["rows"]:
            raise
        found["interrupted"] = True


def ratio(measured: float | None, expected: float) -> float | None:
    return measured / expected if measured is not None and expected > 0 else None


def _summary(times: Sequence[float | None]) -> dict[str, Any]:
    came = [value for value in times if value is not None]
    return {
        "sent": len(times),
        "lost": len(times) - len(came),
        "minimum": min(came, default=None),
        "average": statistics.fmean(came) if came else None,
        "median": statistics.median(came) if came else None,
        "maximum": max(came, default=None),
    }


def measure_ping(plan: Plan, tell: Tell) -> dict[str, Any]:
    """Table 1: pings a second apart, each size on a circuit of its own."""
    found: dict[str, Any] = {"rows": []}
    with _kept(found):
        for size in _SIZES:
            found["rows"].append(_pings(plan, tell, size))
    return found


def _pings(plan: Plan, tell: Tell, size: int) -> dict[str, Any]:
    with plan.open(f"ping-{size}") as opened:
        tell(f"ping: {plan.pings} of {size} octets")
        raw = ping(opened.a, opened.address_b, plan.pings, size, 1 / plan.compress)
        counted = opened.finish()
    times = [None if value is None else value * plan.compress for value in raw]
    steady = min(paper.STEADY_FROM, len(times) // 2 + 1)
    model = plan.model()
    row: dict[str, Any] = {
        "octets": size,
        "ms": times,
        "all": _summary(times),
        "steady_from": steady,
        "steady": _summary(times[steady - 1 :]),
        "first": times[0],
        "model": {
            "median": model.round_trip(size) * 1000,
            "first": model.first_ping(size) * 1000,
        },
        "counted": counted,
    }
    return row | {"ratio": ratio(row["steady"]["median"], row["model"]["median"])}


def _scaled(transfer: Transfer, plan: Plan) -> dict[str, Any]:
    times = replace(
        transfer, seconds=transfer.seconds * plan.compress, begun=transfer.begun * plan.compress
    )
    return asdict(times) | {"bits_per_second": times.bits_per_second}


@contextlib.contextmanager
def _served(opened: Lab) -> Iterator[tuple[Path, Path]]:
    """A server on host B: the folder of the server, and one of the client's own."""
    with temporary_folder("ip") as folder:
        server, client = folder / "server", folder / "client"
        server.mkdir()
        client.mkdir()
        with ftp_server(opened.b, opened.address_b, server, folder / "ftp.log"):
            yield server, client


def _transfer(
    plan: Plan, tell: Tell, opened: Lab, server: Path, client: Path, *, put: bool, seed: int
) -> Transfer:
    octets = plan.file_octets
    name = "put" if put else "get"
    source, target = (client, server) if put else (server, client)
    digest = make_file(source / name, octets, seed)
    began = time.monotonic()
    at = url(opened.address_b, name)
    limit = plan.time_limit(octets, opened.conditions.circuits)
    job = Upload(
        opened.a, at, client / name, digest, octets,
        put=put, limit=limit, asks=opened.conditions.loses,
    )  # fmt: skip
    return job.finish(target / name, began, tell)


def measure_transfer(plan: Plan, tell: Tell) -> dict[str, Any]:
    """Table 2: one file there and back on one circuit."""
    found: dict[str, Any] = {"rows": []}
    with plan.open("transfer") as opened, _served(opened) as (server, client):
        with _kept(found):
            for put in (True, False):
                tell(f"transfer: {'put' if put else 'get'} {plan.file_octets} octets")
                seed = plan.conditions.seed + put
                done = _transfer(plan, tell, opened, server, client, put=put, seed=seed)
                found["rows"].append(_row(plan, done, 1))
        found["counted"] = opened.finish()
    return found


def _row(plan: Plan, done: Transfer, circuits: int) -> dict[str, Any]:
    seconds = plan.model(circuits).transfer_time(plan.file_octets, circuits)
    row = _scaled(done, plan) | {"circuits": circuits}
    row["model"] = {"seconds": seconds, "bits_per_second": plan.file_octets * 8 / seconds}
    measured = row["bits_per_second"] if done.same is not None else None
    row["ratio"] = ratio(measured, row["model"]["bits_per_second"])
    return row


def measure_circuits(plan: Plan, tell: Tell) -> dict[str, Any]:
    """Table 3: the same put over several circuits."""
    found: dict[str, Any] = {"rows": []}
    with _kept(found):
        for number in plan.circuit_numbers:
            with plan.open(f"circuits-{number}", number) as opened:
                tell(f"circuits: put {plan.file_octets} octets over {number}")
                with _served(opened) as (server, client):
                    seed = plan.conditions.seed
                    done = _transfer(plan, tell, opened, server, client, put=True, seed=seed)
                row = _row(plan, done, number) | {"counted": opened.finish()}
            used = [c for c in row["counted"]["gateways"]["a"]["circuits"] if c["datagrams_out"]]
            row["circuits_used"] = len(used)
            found["rows"].append(row)
    return found


def measure_files(plan: Plan, tell: Tell) -> dict[str, Any]:
    """Table 4: five files at the same time."""
    found: dict[str, Any] = {"rows": []}
    with _kept(found):
        for number in plan.files_circuits:
            found["rows"].append(_five_files(plan, tell, number))
    return found


def _five_files(plan: Plan, tell: Tell, number: int) -> dict[str, Any]:
    with plan.open(f"files-{number}", number) as opened:
        tell(f"files: {paper.FILES} of {plan.files_octets} octets over {number}")
        with _served(opened) as (server, client):
            done = _together(plan, tell, opened, server, client)
        counted = opened.finish()
    whole = [one for one in done if one.same]
    ends = [one.begun + one.seconds for one in whole]
    begin = min((one.begun for one in done), default=0.0)
    longest = (max(ends) - begin) * plan.compress if ends else None
    model = plan.model(number).transfer_time(plan.files_octets, number, paper.FILES)
    return {
        "circuits": number,
        "longest_s": longest,
        "bits_per_second": sum(o.octets for o in whole) * 8 / longest if longest else None,
        "lost": len(done) - len(whole),
        "transfers": [_scaled(one, plan) for one in done],
        "model": {
            "longest_s": model,
            "bits_per_second": paper.FILES * plan.files_octets * 8 / model,
        },
        "ratio": ratio(longest, model) if len(whole) == len(done) else None,
        "counted": counted,
    }


def _together(plan: Plan, tell: Tell, opened: Lab, server: Path, client: Path) -> list[Transfer]:
    names = [f"file{n}" for n in range(1, paper.FILES + 1)]
    digests = [
        make_file(client / name, plan.files_octets, plan.conditions.seed * 100 + n)
        for n, name in enumerate(names)
    ]
    began = time.monotonic()
    limit = plan.time_limit(plan.files_octets, opened.conditions.circuits, paper.FILES)
    jobs = [
        Upload(
            opened.a, url(opened.address_b, name), client / name, digest, plan.files_octets,
            put=True, limit=limit, asks=opened.conditions.loses,
        )
        for name, digest in zip(names, digests, strict=True)
    ]  # fmt: skip
    return [job.finish(server / name, began, tell) for job, name in zip(jobs, names, strict=True)]


def measure_datagrams(plan: Plan, tell: Tell) -> dict[str, Any]:
    """A file without TCP: what a router changes reaches it, and is found."""
    circuits = plan.conditions.circuits
    model = Model(plan.real.with_circuits(circuits))
    octets = plan.conditions.mtu - ICMP_IP[plan.conditions.ip_version] - HEADER
    # As fast as TCP would be there, so that no queue grows; without a line: 1 Mbit/s.
    rate = model.rate(circuits)
    every = model.segment * 8 / (rate if rate < float("inf") else 1e6)
    with plan.open("datagrams", circuits) as opened, temporary_folder("ip") as folder:
        digest = make_file(folder / "file", plan.file_octets, plan.conditions.seed)
        tell(f"datagrams: {plan.file_octets} octets, {octets} each, without checksum")
        limit = _DATAGRAM_LIMIT + 2 * model.round_trip(octets + HEADER)
        passage = carry(
            opened.a, opened.b, opened.address_b, folder / "file", folder / "log", octets, every,
            limit,
        )  # fmt: skip
        content = (folder / "file").read_bytes()
        counted = opened.finish()
    found = compare(content, octets, passage.came)
    arrived = hashlib.sha256(found.content).hexdigest()
    seconds = passage.seconds * plan.compress
    lost = len(found.missing)
    row = {
        "name": "the file",
        "octets": plan.file_octets,
        "seconds": seconds,
        "same": None if lost and not found.changes else arrived == digest,
        "sha256": arrived,
        "error": f"{plural(lost, 'datagram')} of {passage.sent} did not arrive" if lost else "",
        "circuits": circuits,
        "sent": passage.sent,
        "lost": lost,
        "doubled": found.doubled,
        "changed": len(found.changes),
        "changes": [asdict(change) for change in found.changes[:_MOST_CHANGES]],
        "bits_per_second": (len(passage.came) - 1) * octets * 8 / seconds if seconds else None,
        "model": {"bits_per_second": octets * 8 / every / plan.compress},
    }
    return {"rows": [row], "counted": counted}


def measure_saturation(plan: Plan, tell: Tell) -> dict[str, Any]:
    """Figure 5: each minute one transfer more, until the line is full."""
    circuits = plan.conditions.circuits
    found: dict[str, Any] = {"rows": []}
    transfers: list[Transfer] = []
    with plan.open("saturation", circuits) as opened, _served(opened) as (server, client):
        octets = plan.file_octets
        digest = make_file(client / "file", octets, plan.conditions.seed)
        jobs: list[tuple[str, Upload]] = []
        began, number = time.monotonic(), 0
        before = _sample(opened)
        try:
            with _kept(found):
                for minute in range(1, plan.minutes + 1):
                    tell(f"saturation: minute {minute} of {plan.minutes}")
                    end = began + minute * 60 / plan.compress
                    while time.monotonic() < end:
                        for job in [job for job in jobs if job[1].ended]:
                            jobs.remove(job)
                            transfers.append(job[1].finish(server / job[0], began, tell))
                        while len(jobs) < minute:
                            number += 1
                            at = url(opened.address_b, f"file{number}")
                            added = Upload(
                                opened.a, at, client / "file", digest, octets, put=True,
                                limit=plan.time_limit(octets, circuits, plan.minutes),
                                asks=opened.conditions.loses,
                            )  # fmt: skip
                            jobs.append((f"file{number}", added))
                        interrupts.check()
                        time.sleep(0.02)
                    after = _sample(opened)
                    row = {"minute": minute, "transfers": minute} | _minute(before, after, plan)
                    found["rows"].append(row)
                    before = after
        finally:
            for _, left in jobs:
                left.stop()
        found["counted"] = opened.finish()
    return found | {
        "circuits": circuits,
        "transfers": [_scaled(one, plan) for one in transfers],
        "model": plan.model(circuits).as_dict(circuits),
    }


def _sample(opened: Lab) -> dict[str, float]:
    totals = opened.counted()[0]["totals"]
    return {
        "at": time.monotonic(),
        "datagrams": totals["datagrams_offered"],
        "packets": totals["packets_out"],
        "octets": opened.carried()[0]["octets"],
    }


def _minute(before: dict[str, float], after: dict[str, float], plan: Plan) -> dict[str, Any]:
    gone = {name: after[name] - before[name] for name in before}
    seconds = gone["at"] * plan.compress
    rate = gone["octets"] * 8 / seconds
    return {
        "seconds": seconds,
        "datagrams_per_minute": gone["datagrams"] * 60 / seconds,
        "packets_per_minute": gone["packets"] * 60 / seconds,
        "bits_per_second": rate,
        "line_share": rate / plan.conditions.line.rate if plan.conditions.line.rate else None,
    }


def measure_availability(plan: Plan, tell: Tell) -> dict[str, Any]:
    """Figures 1 to 4: round trips by time, and the share of time with an answer."""
    spans = max(min(round(plan.hours * 4), 960), 4)
    seconds = plan.hours * 3600 / spans
    interval = min(10.0, seconds / 5)
    number = max(round(seconds / interval), 1)
    rows: list[dict[str, Any]] = []
    found: dict[str, Any] = {"rows": rows, "interval_s": interval}
    with plan.open("availability", plan.conditions.circuits) as opened:
        with _kept(found):
            for span in range(spans):
                tell(f"availability: {span + 1} of {spans}")
                raw = ping(opened.a, opened.address_b, number, 64, interval / plan.compress)
                times = [None if value is None else value * plan.compress for value in raw]
                rows.append({"from_s": span * seconds, "ms": times} | _summary(times))
                interrupts.check()
        found["counted"] = opened.finish()
    sent = sum(row["sent"] for row in rows)
    answered = sent - sum(row["lost"] for row in rows)
    return found | {
        "available": answered / sent,
        "model": {"median": plan.model().round_trip(64) * 1000},
        "ratio": ratio(
            statistics.median([v for row in rows for v in row["ms"] if v is not None] or [0.0]),
            plan.model().round_trip(64) * 1000,
        ),
    }


EXPERIMENTS: dict[str, Callable[[Plan, Tell], dict[str, Any]]] = {
    "ping": measure_ping,
    "transfer": measure_transfer,
    "datagrams": measure_datagrams,
    "circuits": measure_circuits,
    "files": measure_files,
    "saturation": measure_saturation,
    "availability": measure_availability,
}
