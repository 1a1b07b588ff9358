# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that stay below a cgroup root and pass no symlink, whoever changes the tree meanwhile (openat(2))."""

from __future__ import annotations

import os
import stat
from typing import Sequence

from ..errors import ColocationError
from ..host import READ_LIMIT, Host

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_NAMES = frozenset(("", ".", ".."))
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def parts(relative: str) -> tuple[str, ...]:
    """The components of a path below a root; empty for the root itself. ColocationError for what may leave it."""
    if not relative:
        return ()
    found = tuple(relative.split("/"))
    if relative.startswith("/"):
        reason = "it begins with a slash"
    elif not _NO_NAMES.isdisjoint(found):
        reason = "there is an empty part, . or .. in it"
    elif "\0" in relative:
        reason = "it has a zero byte"
    else:
        return found
    raise ColocationError(
        f"{relative!r} is no path below the cgroup root: {reason}", "Write it like kubepods.slice/x.slice."
    )


def open_directory(host: Host, root: str, relative: str) -> int:
    """A descriptor of the folder, for ``dir_fd``; the caller closes it.

    ColocationError when the path would leave ``root``, passes a symlink, or is not there.
    """
    walk = Walk(host, root)
    try:
        return os.dup(walk.to(relative))
    finally:
        walk.close()


class Walk:
    """Goes from folder to folder below a root and opens what two paths have in common once."""

    def __init__(self, host: Host, root: str) -> None:
        self._place = root.rstrip("/")
        self._at = ""
        self._names: list[str] = []
        self._open = [_open_below(host.real_path(root), root)]

    def to(self, relative: str) -> int:
        """A descriptor of the folder, for ``dir_fd``, open until the next call; ColocationError as of open_folder."""
        if relative == self._at:
            return self._open[-1]
        names = parts(relative)
        self._leave(_common(self._names, names))
        for name in names[len(self._names) :]:
            self._open.append(_open_below(name, "/".join((self._place, *self._names, name)), self._open[-1]))
            self._names.append(name)
        self._at = relative
        return self._open[-1]

    def close(self) -> None:
        self._leave(0)
        os.close(self._open.pop())

    def _leave(self, kept: int) -> None:
        """Close all folders below the first ones."""
        self._at = "/".join(self._names[:kept])
        del self._names[kept:]
        while len(self._open) > kept + 1:
            os.close(self._open.pop())


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many names both paths begin with."""
    count = 0
    for left, right in zip(one, other):
        if left != right:
            break
        count += 1
    return count


def _open_below(name: str, place: str, above: int | None = None) -> int:
    flags = _DIRECTORY if above is not None else _DIRECTORY & ~os.O_NOFOLLOW
    try:
        return os.open(name, flags, dir_fd=above)
    except FileNotFoundError:
        raise ColocationError("the cgroup does not exist", "See whether it was removed.", file=place) from None
    except OSError as error:
        if _is_link(name, above):
            reason = "a symlink stands where a cgroup should be"
            raise ColocationError(reason, "Nothing follows it; remove it, or name its target.", file=place) from None
        raise ColocationError(f"cannot be opened: {error.strerror}", file=place) from error


def _is_link(name: str, above: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
    except OSError:
        return False


def read(folder: int, name: str) -> str:
    """The text of a file in an open folder; OSError as open(2) and read(2) give it."""
    handle = os.open(_file(name), os.O_RDONLY | _FILE, dir_fd=folder)
    with os.fdopen(handle, "rb") as stream:
        return stream.read(READ_LIMIT).decode("utf-8", "surrogateescape")


def write(folder: int, name: str, text: str) -> None:
    """Write to a file that is there, in one call, as kernel files want it; OSError as open(2) and write(2) give it."""
    handle = os.open(_file(name), os.O_WRONLY | os.O_TRUNC | _FILE, dir_fd=folder)
    try:
        os.write(handle, text.encode("utf-8", "surrogateescape"))
    finally:
        os.close(handle)


def _file(name: str) -> str:
    if len(parts(name)) != 1:
        raise ColocationError(f"{name!r} is no file of a cgroup", "Name one file, such as cpu.weight.")
    return name
