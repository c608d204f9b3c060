# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading one table of the configuration: keys with their types, and what is wrong by its place."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, NoReturn

from .routes import Destination


class ConfigError(Exception):
    """What is wrong with the configuration, and where."""


class Table:
    """One table of the file; reads keys with their types and names what is wrong."""

    def __init__(self, where: str, values: Mapping[str, Any]) -> None:
        self.where = where
        self.values = {key.replace("-", "_"): value for key, value in values.items()}

    def fail(self, key: str, problem: str) -> NoReturn:
        raise ConfigError(f"{self.where}{key}: {problem}")

    def take(self, key: str, default: Any) -> Any:
        return self.values.pop(key, default)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.take(key, default)
        if value is None:
            self.fail(key, "missing")
        if not isinstance(value, str):
            self.fail(key, "must be a text in quotes")
        return value

    def digits(self, key: str, default: str | None = None) -> str:
        value = self.text(key, default)
        if (value and not (value.isascii() and value.isdecimal())) or len(value) > 15:
            self.fail(key, "must be at most 15 decimal digits in quotes")
        return value

    def choice(self, key: str, default: str, allowed: tuple[str, ...]) -> str:
        value = self.text(key, default)
        if value not in allowed:
            self.fail(key, f"must be one of {', '.join(allowed)}, not {value!r}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.take(key, default)
        if not isinstance(value, bool):
            self.fail(key, "must be true or false")
        return value

    def integer(self, key: str, default: int | None, low: int, high: int) -> int:
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fail(key, f"must be a whole number from {low} to {high}")
        return value

    def seconds(self, key: str, default: float) -> float:
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
            self.fail(key, "must be a number of seconds, 0 or more")
        return float(value)

    def number(self, key: str, default: float, most: float) -> float:
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            self.fail(key, f"must be a number from 0 to {most:g}")
        return float(value)

    def packet_size(self, key: str, default: int) -> int:
        """A size in octets; 0 stands for 'not set' where that is the default."""
        value = self.integer(key, default, 0, 4096)
        if (value and (value < 16 or value & (value - 1))) or (not value and default):
            self.fail(key, "must be a power of two from 16 to 4096")
        return value

    def address(self, key: str, default: str | None, low_port: int = 1) -> Destination:
        return self.destination(key, self.text(key, default), low_port)

    def destination(self, key: str, value: Any, low_port: int = 1) -> Destination:
        """An IPv4 address and port, as in 127.0.25.3:1998."""
        host, _, port = value.rpartition(":") if isinstance(value, str) else ("", "", "")
        try:
            if ip_address(host).version != 4 or not low_port <= int(port) <= 65535:
                raise ValueError
        except ValueError:
            self.fail(
                key, f"must be an IPv4 address and port such as 127.0.25.3:1998, not {value!r}"
            )
        return Destination(value, host, int(port))

    def tables(self, key: str) -> "list[Table]":
        value = self.take(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.fail(key, f"must be written as [[{key}]]")
        return [Table(f"{self.where}{key}[{at + 1}].", one) for at, one in enumerate(value)]

    def table(self, key: str) -> "Table":
        value = self.take(key, {})
        if not isinstance(value, dict):
            self.fail(key, "must be a table")
        return Table(f"{self.where}{key}.", value)

    def finish(self) -> None:
        """Nothing may be left over: a misspelt key is an error, not a default."""
        for key in self.values:
            self.fail(key, "unknown key")
