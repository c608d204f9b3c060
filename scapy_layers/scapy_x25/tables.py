# SPDX-License-Identifier: GPL-2.0-or-later
"""Causes, diagnostics and PVC status values as data (X.25 5.2.4, Annex E; RFC 1613 6.5).

The values live in the TOML files of the folder data/; this module only reads them, once.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

DTE_ORIGINATED = "DTE originated"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one value stands for: its text and its kind (see the heads of the data files)."""

    value: int
    meaning: str
    kind: str
    pvc_only: bool = False


def _read(name: str) -> dict[str, list[dict[str, Any]]]:
    text = (files(__package__) / "data" / name).read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def causes(packet: str) -> dict[int, Meaning]:
    """Causes of one packet type: "clear", "reset", "restart" or "registration"."""
    return {
        row["value"]: Meaning(
            row["value"], row["meaning"], row["kind"], row.get("circuit") == "pvc"
        )
        for row in _read("causes.toml")["cause"]
        if row["packet"] == packet
    }


@cache
def diagnostics() -> dict[int, Meaning]:
    """Diagnostic codes by value."""
    return {
        row["value"]: Meaning(row["value"], row["meaning"], row["kind"])
        for row in _read("diagnostics.toml")["diagnostic"]
    }


@cache
def pvc_statuses() -> dict[int, Meaning]:
    """Status values of PVC setup packets."""
    return {
        row["value"]: Meaning(row["value"], row["meaning"], "pvc")
        for row in _read("pvc_status.toml")["status"]
    }


def cause_meaning(packet: str, value: int) -> str:
    """Text of a cause octet; empty if the value is not defined.

    0x80 to 0xFF stand for "DTE originated" unless listed, except in registration packets.
    """
    known = causes(packet).get(value)
    if known is not None:
        return known.meaning
    return DTE_ORIGINATED if 0x80 <= value <= 0xFF and packet != "registration" else ""


def diagnostic_meaning(value: int) -> str:
    """Text of a diagnostic octet; empty if the value is not defined."""
    known = diagnostics().get(value)
    return known.meaning if known is not None else ""


def pvc_status_meaning(value: int) -> str:
    """Text of a PVC setup status octet; empty if the value is not defined."""
    known = pvc_statuses().get(value)
    return known.meaning if known is not None else ""


@cache
def protocols() -> dict[int, Meaning]:
    """Protocol identifiers of call user data by value."""
    return {
        row["value"]: Meaning(row["value"], row["meaning"], "protocol")
        for row in _read("protocol_identifiers.toml")["protocol"]
    }


def protocol_meaning(value: int) -> str:
    """Text of a protocol identifier octet; empty if the value is not defined."""
    known = protocols().get(value)
    return known.meaning if known is not None else ""
