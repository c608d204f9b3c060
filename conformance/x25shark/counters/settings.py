# SPDX-License-Identifier: GPL-2.0-or-later
"""The section [counters] of a profile.

    [counters]
    url = "http://127.0.0.1:8080/debug/vars"

    [counters.names]                       # neutral name = where it stands below each root
    calls_in = "calls_received"
    circuits = ["incoming", "outgoing"]    # a list is summed up

    [counters.roots]                       # the whole router, and the interfaces to A and B
    router = "xot"
    a = 'xot.interfaces."192.0.2.10"'

    [counters.cleared]                     # a table of cleared circuits
    table = "$.cleared"
    cause = "cause"

    [counters.frame_rejects]               # the field of the last FRMR, below each root
    sent = "last_frmr_sent"

    [counters.machine]                     # what the router's processors and memory do
    cpu_seconds = "process.cpu"

What the router does not count is left out. Without url the embedded router's own page is read.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    create_model,
    field_validator,
)

from .names import NAMES
from .paths import Path, parse
from .readers import BY_NAME

_CONFIG = ConfigDict(extra="forbid", frozen=True)
INTERFACES = ("router", "a", "b")
# One of the readers that there are.
if TYPE_CHECKING:
    ReaderName = str
else:
    ReaderName = Literal[tuple(BY_NAME)]


def _paths(value: Any) -> Any:
    """One path, or a list of them."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, list) and not value:
        raise ValueError("an empty list: leave out what the router does not count")
    found = tuple(parse(v) for v in value) if isinstance(value, list) else (parse(value),)
    if not all(path.steps for path in found):
        raise ValueError("an empty path: it has to say where the counter is")
    return found


def _path(value: Any) -> Any:
    return value if isinstance(value, Path) else parse(value)


def _with_cause(value: Any) -> Any:
    if value is not None and not all(path.by_cause for path in value):
        raise ValueError("counts by cause: the path needs {cause} or {cause:02x} in it")
    return value


def _without_cause(value: Any) -> Any:
    if value is not None and any(path.by_cause for path in value):
        raise ValueError("does not count by cause: its path cannot have {cause}")
    return value


OnePath = Annotated[Path, BeforeValidator(_path)]
Paths = Annotated[tuple[Path, ...], BeforeValidator(_paths)]

_fields: dict[str, Any] = {
    name: (
        Annotated[Paths | None, AfterValidator(_with_cause if n.by_cause else _without_cause)],
        None,
    )
    for name, n in NAMES.items()
}
Names: type[BaseModel] = create_model(
    "Names", __config__=ConfigDict(**_CONFIG, arbitrary_types_allowed=True), **_fields
)


class Roots(BaseModel):
    """[counters.roots]: below which part of the document the names of an interface stand."""

    model_config = ConfigDict(**_CONFIG, arbitrary_types_allowed=True)

    router: OnePath | None = None
    a: OnePath | None = None
    b: OnePath | None = None


class Cleared(BaseModel):
    """[counters.cleared]: a list of cleared circuits, and where each value is in an entry."""

    model_config = ConfigDict(**_CONFIG, arbitrary_types_allowed=True)

    table: OnePath
    called_address: OnePath | None = None
    calling_address: OnePath | None = None
    cause: OnePath | None = None
    diagnostic: OnePath | None = None

    def columns(self) -> dict[str, Path]:
        """The values that the router keeps, by the field's name."""
        names = ("called_address", "calling_address", "cause", "diagnostic")
        return {name: path for name in names if (path := getattr(self, name)) is not None}


class FrameRejects(BaseModel):
    """[counters.frame_rejects]: where an interface keeps the field of the last FRMR."""

    model_config = ConfigDict(**_CONFIG, arbitrary_types_allowed=True)

    sent: OnePath | None = None
    received: OnePath | None = None


class Machine(BaseModel):
    """[counters.machine]: processor time so far and memory, from the top of the document."""

    model_config = ConfigDict(**_CONFIG, arbitrary_types_allowed=True)

    cpu_seconds: OnePath | None = None
    memory_octets: OnePath | None = None


class Counters(BaseModel):
    """[counters]: how the router's counters are read.

    timeout: seconds for one reading. age: seconds by which what is read may be too old.
    """

    model_config = _CONFIG

    reader: ReaderName = "http-json"
    remote: bool = Field(default=False, description="whether url may lead to another machine")
    url: str | None = None
    timeout: float = Field(default=2.0, gt=0, le=60)
    age: float | None = Field(default=None, ge=0, le=60)
    names: Names = Field(default_factory=Names)  # type: ignore[valid-type]
    roots: Roots = Roots()
    cleared: Cleared | None = None
    frame_rejects: FrameRejects = FrameRejects()
    machine: Machine = Machine()

    @field_validator("url")
    @classmethod
    def _can_be_read(cls, url: str | None, info: ValidationInfo) -> str | None:
        if url is not None:
            reader = info.data.get("reader", "http-json")
            check_url(url, reader, remote=bool(info.data.get("remote")))
        return url

    def paths(self, name: str) -> tuple[Path, ...] | None:
        """Where a counter stands below its root; None if the profile does not name it."""
        found: tuple[Path, ...] | None = getattr(self.names, name)
        return found

    def named(self) -> list[str]:
        """The neutral names that the profile maps."""
        return [name for name in NAMES if self.paths(name) is not None]

    def root(self, interface: str) -> Path | None:
        """Where the counters of the router, or of the interface to A or B, stand.

        Without any root the names stand at the top, for the whole router.
        """
        found: Path | None = getattr(self.roots, interface)
        if found is None and interface == "router" and self.roots == Roots():
            return parse("")
        return found


def check_url(url: str, reader: str, *, remote: bool) -> None:
    """Raises ValueError for what the reader cannot read, or may not."""
    BY_NAME[reader].check(url)
    host = BY_NAME[reader].host(url)
    if not remote and not is_loopback(host):
        raise ValueError(
            f"{host} is not this machine; to read counters from another one, set remote = true"
        )


def is_loopback(host: str) -> bool:
    """Whether a host is this machine for sure."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
