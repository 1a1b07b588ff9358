# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a path leads below a root: link by link, as chroot(2) would take it (path_resolution(7)).

openat2(2) with RESOLVE_IN_ROOT does this in the kernel, but the standard library cannot call it.
"""

from __future__ import annotations

import errno
import os

MAX_LINKS = 40
"""Symbolic links in one path; linux/include/linux/namei.h MAXSYMLINKS."""
_DOTS = (".", "..")
_MISSING = (errno.ENOENT, errno.ENOTDIR)


def resolve(root: str, path: str) -> str:
    """Path on this machine of what ``path`` leads to, a link at its end followed; OSError as the kernel gives it.

    Components that do not exist are kept, so that they can be created there; not behind a link that leads to nothing.
    """
    return _Walk(root, path).resolve(0)


def resolve_parent(root: str, path: str) -> str:
    """The same, but a link at the end of ``path`` itself is not followed."""
    parts = _parts(path)
    return _Walk(root, path).resolve(0 if not parts or parts[-1] in _DOTS else 1)


def _parts(path: str) -> list[str]:
    """The components of a path; a slash at its end stands for the directory itself."""
    found = [part for part in path.split("/") if part]
    return [*found, "."] if path.endswith("/") and found else found


class _Walk:
    """One resolution: the components that are resolved, and a stack of those that are not."""

    def __init__(self, root: str, path: str) -> None:
        self._root = root.rstrip("/")
        self._path = path
        self._resolved: list[str] = []
        self._pending = _parts(path)[::-1]
        self._links = 0
        # With so many components pending, and more, the current one comes from a link's text.
        self._own = len(self._pending)

    def resolve(self, unfollowed: int) -> str:
        """``unfollowed``: how many components at the end are taken as they are."""
        while len(self._pending) > unfollowed:
            part = self._pending.pop()
            if part in _DOTS:
                self._leave(part)
            else:
                self._enter(part)
        self._resolved += self._pending[::-1]
        return self._here()

    def _here(self) -> str:
        return "/".join((self._root, *self._resolved)) or "/"

    def _leave(self, part: str) -> None:
        """``.`` and ``..`` need a directory to start from; the one above the root is the root."""
        try:
            os.stat(self._here() + "/.")
        except OSError as error:
            raise self._error(error.errno) from error
        if part == "..":
            del self._resolved[-1:]

    def _enter(self, name: str) -> None:
        self._resolved.append(name)
        try:
            target = os.readlink(self._here())
        except OSError as error:
            if error.errno == errno.EINVAL:
                return
            if error.errno not in _MISSING or self._is_needed():
                raise self._error(error.errno) from error
            self._resolved += self._pending[::-1]
            self._pending = []
            return
        self._follow(target)

    def _is_needed(self) -> bool:
        """Whether what is missing has to be there: it is behind a link, or the path leads back from it."""
        in_link = len(self._pending) >= self._own
        return bool(self._pending) and (in_link or not set(_DOTS).isdisjoint(self._pending))

    def _follow(self, target: str) -> None:
        self._links += 1
        if self._links > MAX_LINKS:
            raise self._error(errno.ELOOP)
        self._resolved = [] if target.startswith("/") else self._resolved[:-1]
        self._own = min(self._own, len(self._pending))
        self._pending += _parts(target)[::-1]

    def _error(self, number: int | None) -> OSError:
        """Of the node's path: the one on this machine says nothing to its reader."""
        return OSError(number, os.strerror(number or 0), self._path)
