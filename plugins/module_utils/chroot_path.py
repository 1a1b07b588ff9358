# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resolve a path below a root, link by link, as chroot(2) does (path_resolution(7)).

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
    """Path on this machine of the target of ``path``, following a link at its end; OSError as from the kernel.

    Missing components are kept, so that they can be created, except after a dangling link.
    """
    return _Walk(root, path).resolve(0)


def resolve_parent(root: str, path: str) -> str:
    """As ``resolve``, but a link at the end of ``path`` is not followed."""
    parts = _parts(path)
    return _Walk(root, path).resolve(0 if not parts or parts[-1] in _DOTS else 1)


def _parts(path: str) -> list[str]:
    """The components of a path; a slash at its end stands for the directory itself."""
    components = [part for part in path.split("/") if part]
    return [*components, "."] if path.endswith("/") and components else components


class _Walk:
    """One resolution: the resolved components, and a stack of the pending ones."""

    def __init__(self, root: str, path: str) -> None:
        self._root = root.rstrip("/")
        self._path = path
        self._resolved: list[str] = []
        self._pending = _parts(path)[::-1]
        self._links = 0
        # With at least this many components pending, the current one comes from a link's text.
        self._own = len(self._pending)

    def resolve(self, unfollowed: int) -> str:
        """``unfollowed``: the number of components at the end that are not resolved."""
        while len(self._pending) > unfollowed:
            part = self._pending.pop()
            if part in _DOTS:
                self._leave(part)
            else:
                self._enter(part)
        self._resolved += self._pending[::-1]
        return self._current_path()

    def _current_path(self) -> str:
        return "/".join((self._root, *self._resolved)) or "/"

    def _leave(self, part: str) -> None:
        """Handle ``.`` and ``..``, which require an existing directory; the parent of the root is the root."""
        try:
            os.stat(self._current_path() + "/.")
        except OSError as error:
            raise self._error(error.errno) from error
        if part == "..":
            del self._resolved[-1:]

    def _enter(self, name: str) -> None:
        self._resolved.append(name)
        try:
            target = os.readlink(self._current_path())
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
        """Whether the missing component must exist: it comes from a link, or ``.`` or ``..`` follows."""
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
        """An error with the node's path, because users do not know the path on this machine."""
        return OSError(number, os.strerror(number or 0), self._path)
