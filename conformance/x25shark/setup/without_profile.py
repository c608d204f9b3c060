# SPDX-License-Identifier: GPL-2.0-or-later
"""A router of which only addresses are given: x25shark run --address IP --a IP --b IP."""

from __future__ import annotations

from pathlib import Path

from ..links import own_addresses
from ..links.xot import LinkError
from ..profile import ProfileError, parse_profile
from ..results import write_whole
from .questions import same
from .routers import A_ADDRESS, B_ADDRESS, ECHO, KINDS, Plan, host, profile_text


def write_profile(
    router: str, a: str | None, b: str | None, folder: Path, *, here: bool = True
) -> tuple[Path, str]:
    """Write the profile of such a router to a file named after it, so that the run can be repeated.

    A file that is there and says the same stays. Returns the file, and what the router has to be
    told. here: the tester's addresses have to be this machine's, or no file is left that would be
    in the way of one with the right ones. Raises ProfileError.
    """
    if a is None:
        raise ProfileError("--address needs --a, this machine's address (and --b, where calls go)")
    taken = {"--address": router}
    for option, end in (("--a", a), ("--b", b)):
        for other, value in taken.items():
            if end is not None and same(end, value):
                raise ProfileError(f"{option} and {other} are both {end}; give each its own")
        taken[option] = end or ""
    kind = KINDS["other"]
    plan = Plan(router, a, b, A_ADDRESS, B_ADDRESS, ECHO, kind.model)
    text = profile_text(host(router), kind, plan)
    path = folder / f"x25shark-{host(router)}.toml"
    parse_profile(text, "--address, --a, --b")
    try:
        if here:
            own_addresses.demand([host(end) for end in (a, b) if end], host(router))
        if path.exists() and path.read_bytes() != text.encode():
            raise ProfileError(
                f"{path} already exists and differs: run --router {path}, or move it away"
            )
        write_whole(path, text)
    except LinkError as error:
        raise ProfileError(str(error)) from None
    except OSError as error:
        raise ProfileError(f"{path}: {error.strerror or error}") from None
    return path, KINDS["other"].configuration(plan)
