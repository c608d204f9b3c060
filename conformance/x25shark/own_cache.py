# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache of this user. What lies there is executed, or says what is: it has to be his own.

HOME may be that of somebody else (sudo -E), or a folder that others may write.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path


class CacheError(Exception):
    """Nothing can be kept, or taken from there; the message says why."""


def folder() -> Path:
    """The folder of x25shark in the cache, which is made if need be. Raises CacheError."""
    why = "neither HOME nor XDG_CACHE_HOME is set"
    for number, base in enumerate(_bases()):
        try:
            return own(_made(base / "x25shark"))
        except CacheError as error:
            why = str(error) if number == 0 else why
    raise CacheError(f"no cache of this user: {why}. XDG_CACHE_HOME may name another folder")


def own(path: Path) -> Path:
    """The same path without links, if it and each folder above it are for this user alone to write.

    Raises CacheError.
    """
    try:
        whole = path.resolve(strict=True)
        for place in (whole, *whole.parents):
            _demand_own(place)
    except (OSError, RuntimeError) as error:
        raise CacheError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return whole


def _bases() -> Iterator[Path]:
    """Where caches are: what the environment says, then the home of the user that this is."""
    if named := os.environ.get("XDG_CACHE_HOME"):
        yield Path(named)
    elif home := os.environ.get("HOME"):
        yield Path(home) / ".cache"
    try:
        yield Path(pwd.getpwuid(os.geteuid()).pw_dir) / ".cache"
    except KeyError:
        return


def _made(path: Path) -> Path:
    """Make a folder and those above it, where these are the user's own. Raises CacheError."""
    try:
        if not path.is_dir():
            _made(path.parent)
            path = own(path.parent) / path.name
            path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise CacheError(f"{error.filename}: {error.strerror}") from None
    return path


def _demand_own(place: Path) -> None:
    found = place.stat()
    # In a user namespace root has another number, which all strangers share.
    if found.st_uid not in {os.geteuid(), 0, os.stat("/").st_uid}:
        raise CacheError(f"{place} belongs to another user")
    # In a folder like /tmp everybody may write, but nobody may rename what another has.
    if stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX:
        return
    if found.st_mode & stat.S_IWOTH or (
        found.st_mode & stat.S_IWGRP and not _alone_in(found.st_gid)
    ):
        raise CacheError(f"other users may write {place}")


def _alone_in(group: int) -> bool:
    """Whether a group is that of this user, who has one for himself; or root's."""
    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    private = (user.pw_gid, user.pw_name) == (found.gr_gid, found.gr_name)
    return (private or group == 0) and set(found.gr_mem) <= {user.pw_name, "root"}
