# SPDX-License-Identifier: GPL-2.0-or-later
"""ip.json, what is wrong in it, and the exit status.

ip.json (UTF-8, one object):
    format "x25shark-ip", version 1, command "ip", started, engine, machine, router as in load.json,
    options (see lab.Conditions; and compress), model (see model.Model.as_dict)
    experiments {name: {rows, ...}}, see experiments.py; counted: what hosts (hosts.COUNTERS),
        gateways and lines counted; interrupted: true where rows that were planned are missing
    exit_status, verdict {ok, reasons, remarks}
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ..load.wording import count, plural
from .experiments import WITHIN, Plan

_DAMAGE = ("Ip.InHdrErrors", "Icmp.InCsumErrors", "Udp.InCsumErrors", "Tcp.InCsumErrors")
_TOLD_CHANGES = 5
FORMAT = "x25shark-ip"
VERSION = 1


def head(plan: Plan, router: str) -> dict[str, Any]:
    """What is known before anything was measured."""
    c = plan.conditions
    return {
        "format": FORMAT,
        "version": VERSION,
        "command": "ip",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "engine": plan.engine.version,
        "machine": {"processors": os.cpu_count(), "system": platform.release()},
        "router": {"name": router, "address": "", "called": []},
        "options": c.as_dict() | {"compress": plan.compress},
        "model": plan.model().as_dict(c.circuits),
        "experiments": {},
    }


def judge(result: dict[str, Any]) -> None:
    """Fill in exit_status and verdict. A file that is lost or differs is a reason; a figure that is
    far from the model, and what the network did, are remarks."""
    reasons = list(_reasons(result["experiments"]))
    result["exit_status"] = 1 if reasons else 0
    result["verdict"] = {
        "ok": not reasons,
        "reasons": reasons,
        "remarks": list(_remarks(result["experiments"])),
        "tester_was_limit": False,
        "share_of_control": None,
    }


def _reasons(found: Mapping[str, Any]) -> Iterator[str]:
    for name, experiment in found.items():
        transfers = [*experiment.get("transfers", [])]
        for row in experiment["rows"]:
            nested = row.get("transfers")
            transfers += nested if isinstance(nested, list) else [row] if "sha256" in row else []
            if name == "ping" and row["all"]["lost"]:
                yield f"ping, {row['octets']} octets: {row['all']['lost']} lost"
        for one in transfers:
            where = f"{name}, {one['name']}" + (
                f" ({plural(one['circuits'], 'circuit')})" if "circuits" in one else ""
            )
            if one["same"] is None:
                yield f"{where}: lost, {one['error']}"
            elif not one["same"]:
                if one["error"]:
                    yield f"{where}: {one['error']}"
                yield f"{where}: differs from what was sent (SHA-256 {one['sha256']})"
            for change in one.get("changes", [])[:_TOLD_CHANGES]:
                yield f"{where}: {_change(change)}"
        yield from _damaged(name, experiment)


def _change(change: Mapping[str, int]) -> str:
    sent, received = (
        f"0x{change[key]:02x}" if change[key] >= 0 else "nothing" for key in ("sent", "received")
    )
    more = change["octets"] - 1
    behind = f", and {plural(more, 'octet')} more of it differ" if more else ""
    return (
        f"octet {count(change['at'])} is {received}, sent was {sent} (datagram "
        f"{change['number']}{behind})"
    )


def _damaged(name: str, experiment: Mapping[str, Any]) -> Iterator[str]:
    """What the hosts' checksums found, unless this run's own line made it."""
    damaged, injected, _ = _changed(experiment)
    if damaged and not injected:
        yield (
            f"{name}: {plural(damaged, 'datagram')} arrived with a wrong checksum: octets are "
            "changed on the way. Where files are the same all the same, TCP sent again what "
            "was damaged; `x25shark ip datagrams` shows the octets"
        )


def _changed(experiment: Mapping[str, Any]) -> tuple[int, int, int]:
    """Datagrams that the hosts found damaged, packets that this run's own line changed, segments
    that TCP sent again."""
    damaged = injected = again = 0
    for counted in _counted(experiment):
        for host in counted["hosts"].values():
            damaged += sum(host.get(name, 0) for name in _DAMAGE)
            again += host.get("Tcp.RetransSegs", 0)
        for line in counted["lines"]:
            injected += sum(fault["kind"] == "corrupt" for fault in line["injected"])
    return damaged, injected, again


def _counted(experiment: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "counted" in experiment:
        yield experiment["counted"]
    for row in experiment["rows"]:
        if "counted" in row:
            yield row["counted"]


def _remarks(found: Mapping[str, Any]) -> Iterator[str]:
    for name, experiment in found.items():
        if experiment.get("interrupted"):
            yield f"{name}: interrupted; its figures are those until then"
        for row in experiment["rows"]:
            ratio = row.get("ratio")
            if ratio is not None and abs(ratio - 1) > WITHIN:
                what = row.get("octets") if name == "ping" else row.get("circuits", "")
                yield f"{name} {what}: {ratio:.2f} of the model"
        totals: dict[str, int] = {}
        for counted in _counted(experiment):
            ends = [gateway["totals"] for gateway in counted["gateways"].values()]
            for key in _SPOKEN:
                seen = [end.get(key, 0) for end in ends]
                totals[key] = totals.get(key, 0) + (max(seen) if key in _AT_BOTH else sum(seen))
        damaged, injected, again = _changed(experiment)
        if injected:
            yield (
                f"{name}: {plural(injected, 'octet')} changed by the line (--corrupt); checksums "
                f"found {plural(damaged, 'datagram')}, TCP sent {plural(again, 'segment')} again"
            )
        elif again:
            yield f"{name}: TCP sent {plural(again, 'segment')} again"
        for key, (noun, words) in _SPOKEN.items():
            if totals.get(key):
                yield f"{name}: {plural(totals[key], noun)}{words}"


_SPOKEN = {
    "calls_refused": ("call", " refused"),
    "clears_in": ("circuit", " cleared by the network; the next datagram called again"),
    "resets": ("reset", ""),
    "cut_off": ("datagram", " cut off by a clear"),
    "held_down": ("datagram", " dropped while no call was made after a refusal"),
    "queue_full": ("datagram", " dropped because the gateway's queue was full"),
    "not_understood": ("unit", " not understood as datagrams"),
}
_AT_BOTH = {"clears_in", "resets"}
"""Both ends of a circuit count them."""
