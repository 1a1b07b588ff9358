# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Open paths below a cgroup root without following symbolic links, also while the tree changes (openat(2))."""

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
    """The components of a path below a root; empty for the root itself. ColocationError if the path may leave it."""
    if not relative:
        return ()
    names = tuple(relative.split("/"))
    if relative.startswith("/"):
        reason = "it begins with a slash"
    elif not _NO_NAMES.isdisjoint(names):
        reason = "it has an empty, . or .. part"
    elif "\0" in relative:
        reason = "it has a zero byte"
    else:
        return names
    raise ColocationError(
        f"{relative!r} is not a path below the cgroup root: {reason}", "Write it like kubepods.slice/x.slice."
    )


def open_directory(host: Host, root: str, relative: str) -> int:
    """A descriptor of the directory, for ``dir_fd``; the caller closes it.

    ColocationError if the path would leave ``root``, has a symbolic link or does not exist.
    """
    walk = Walk(host, root)
    try:
        return os.dup(walk.to(relative))
    finally:
        walk.close()


class Walk:
    """Opens directories below a root, one after the other; the common part of two paths is opened once."""

    def __init__(self, host: Host, root: str) -> None:
        self._place = root.rstrip("/")
        self._at = ""
        self._names: list[str] = []
        self._open = [_open_below(host.real_path(root), root)]

    def to(self, relative: str) -> int:
        """A descriptor of the directory, for ``dir_fd``, open until the next call; errors as of open_directory."""
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

    def _leave(self, count: int) -> None:
        """Close all directories except the first ``count``."""
        self._at = "/".join(self._names[:count])
        del self._names[count:]
        while len(self._open) > count + 1:
            os.close(self._open.pop())


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of names at the start that both paths have in common."""
    count = 0
    for first, second in zip(one, other):
        if first != second:
            break
        count += 1
    return count


def _open_below(name: str, place: str, above: int | None = None) -> int:
    flags = _DIRECTORY if above is not None else _DIRECTORY & ~os.O_NOFOLLOW
    try:
        return os.open(name, flags, dir_fd=above)
    except FileNotFoundError:
        raise ColocationError("the cgroup does not exist", "Check whether it was removed.", file=place) from None
    except OSError as error:
        if _is_link(name, above):
            reason = "it is a symbolic link instead of a cgroup, and is not followed"
            raise ColocationError(reason, "Remove it, or name its target.", file=place) from None
        raise ColocationError(f"cannot be opened: {error.strerror}", file=place) from error


def _is_link(name: str, above: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
    except OSError:
        return False


def read(directory: int, name: str) -> str:
    """The text of a file in an open directory; OSError of open(2) and read(2)."""
    handle = os.open(_file(name), os.O_RDONLY | _FILE, dir_fd=directory)
    with os.fdopen(handle, "rb") as stream:
        return stream.read(READ_LIMIT).decode("utf-8", "surrogateescape")


def write(directory: int, name: str, text: str) -> None:
    """Write to an existing file in one call, as kernel files require; OSError of open(2) and write(2)."""
    handle = os.open(_file(name), os.O_WRONLY | os.O_TRUNC | _FILE, dir_fd=directory)
    try:
        os.write(handle, text.encode("utf-8", "surrogateescape"))
    finally:
        os.close(handle)


def _file(name: str) -> str:
    if len(parts(name)) != 1:
        raise ColocationError(f"{name!r} is not a file of a cgroup", "Name one file, such as cpu.weight.")
    return name
