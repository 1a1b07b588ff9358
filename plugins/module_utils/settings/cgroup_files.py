# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write the files of a cgroup, through a directory that was opened without following a symbolic link."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import Iterable, Iterator

from ..cgroup.safe_path import Walk, open_directory
from ..errors import ColocationError
from ..host import Host

LIMIT = 1 << 16
"""Bytes; io.max has a line for each device, every other file has one line."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_RDWR | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_MEANINGS = {
    errno.EINVAL: "the kernel does not accept this value here",
    errno.ERANGE: "the value is out of the kernel's range",
    errno.EBUSY: "the kernel cannot change it while the cgroup is in use",
    errno.EACCES: "the file cannot be written, or the value is outside of the parent's",
    errno.EPERM: "permission denied",
    errno.EROFS: "the cgroups are mounted read-only",
    errno.ENOENT: "the file or the cgroup does not exist",
    errno.ENODEV: "the cgroup or the device does not exist",
    errno.ENOSPC: "the cgroup would have no CPU or memory node",
    errno.EOPNOTSUPP: "this kernel, or this type of cgroup, does not have the setting",
    errno.ELOOP: "the file is a symbolic link",
}
"""Meaning of the errors of handlers in kernel/sched/core.c, kernel/cgroup/cpuset.c, mm/memcontrol.c and block/."""

_NOT_THERE = (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP)
"""Errors of a read: the file does not exist, the cgroup is being removed, this type of cgroup has no such value."""


def error_meaning(error: OSError) -> str:
    """The name of a failed write's error, with its meaning."""
    name = errno.errorcode.get(error.errno or 0, str(error.errno))
    return f"{name} ({_MEANINGS.get(error.errno or 0, os.strerror(error.errno or 0))})"


def open_cgroup(host: Host, point: str, cgroup: str) -> int | None:
    """Open the directory of a cgroup below a mount point; None if it does not exist, ColocationError for a link."""
    try:
        return open_directory(host, point, cgroup)
    except ColocationError:
        if host.lexists(f"{point}/{cgroup}"):
            raise
        return None


def read_texts(directory: int, names: Iterable[str], place: str) -> dict[str, str]:
    """Texts of the files that the open directory has; ``place`` is its path for a ColocationError."""
    texts = {}
    for name in names:
        try:
            handle = os.open(name, _READ, dir_fd=directory)
            try:
                texts[name] = os.read(handle, LIMIT).decode("utf-8", "surrogateescape").rstrip("\n")
            finally:
                os.close(handle)
        except OSError as error:
            if error.errno not in _NOT_THERE:
                raise ColocationError(f"cannot be read: {error_meaning(error)}", "", f"{place}/{name}") from error
    return texts


@contextmanager
def close_after(directory: int) -> Iterator[int]:
    """The open directory, which is closed at the end."""
    try:
        yield directory
    finally:
        os.close(directory)


class Files:
    """Writes files, one cgroup after the other. Written files stay open for reading back until the next cgroup."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._walks: dict[str, Walk] = {}
        self._cgroup = ""
        self._directories: dict[str, int] = {}
        self._written: dict[str, tuple[int, bytes]] = {}

    def write(self, point: str, cgroup: str, name: str, text: str) -> None:
        """Write an existing file, with one call for each line: a cgroup file accepts one setting at a time.

        OSError of open(2) and write(2); ColocationError if the cgroup does not exist below the mount point.
        """
        if cgroup != self._cgroup:
            self._leave(cgroup)
        directory = self._directories.get(point)
        if directory is None:
            directory = self._directories[point] = self._walk(point).to(cgroup)
        if name in self._written:
            os.close(self._written.pop(name)[0])
        handle = os.open(name, _WRITE, dir_fd=directory)
        content = (text.rstrip("\n") + "\n").encode("utf-8", "surrogateescape")
        self._written[name] = handle, content
        for line in content.splitlines(True):
            os.write(handle, line)

    def read_back_matches(self) -> bool:
        """Whether every written file of the cgroup has exactly the written text now."""
        try:
            return all(os.pread(handle, len(text) + 1, 0) == text for handle, text in self._written.values())
        except OSError:
            return False

    def close(self) -> None:
        self._leave("")
        while self._walks:
            self._walks.popitem()[1].close()

    def _leave(self, cgroup: str) -> None:
        """Close the current cgroup's files and continue with another cgroup."""
        for handle, _content in self._written.values():
            os.close(handle)
        self._written.clear()
        self._directories.clear()
        self._cgroup = cgroup

    def _walk(self, point: str) -> Walk:
        if point not in self._walks:
            self._walks[point] = Walk(self._host, point)
        return self._walks[point]
