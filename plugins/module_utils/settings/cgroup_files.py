# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading and writing a cgroup's files, through a folder that was reached without passing a link."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import Iterable, Iterator

from ..cgroup.safe_path import Walk, open_directory
from ..errors import ColocationError
from ..host import Host

LIMIT = 1 << 16
"""Bytes; io.max has a line for each device, every other file one."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_RDWR | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_MEANINGS = {
    errno.EINVAL: "the kernel does not take this value here",
    errno.ERANGE: "the value is out of the kernel's range",
    errno.EBUSY: "the kernel cannot do it while it is in use",
    errno.EACCES: "the file cannot be written, or the value is outside of what the parent has",
    errno.EPERM: "the rights do not suffice",
    errno.EROFS: "the cgroups are mounted read-only",
    errno.ENOENT: "the file, or the cgroup, is gone",
    errno.ENODEV: "the cgroup, or the device, is gone",
    errno.ENOSPC: "the cgroup would have no CPU or memory node left",
    errno.EOPNOTSUPP: "this kernel, or this kind of cgroup, has no such setting",
    errno.ELOOP: "the file is a symbolic link",
}
"""What the handlers of kernel/sched/core.c, kernel/cgroup/cpuset.c, mm/memcontrol.c and block/ mean by their errors."""


_NOT_THERE = (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP)
"""Of reading: no such file, a cgroup that is being removed, a file that this kind of cgroup does not answer."""


def error_meaning(error: OSError) -> str:
    """The number of a failed write in words."""
    name = errno.errorcode.get(error.errno or 0, str(error.errno))
    return f"{name} ({_MEANINGS.get(error.errno or 0, os.strerror(error.errno or 0))})"


def open_cgroup(host: Host, point: str, cgroup: str) -> int | None:
    """The open folder of a cgroup below a mount point; None when it is not there, ColocationError for a link."""
    try:
        return open_directory(host, point, cgroup)
    except ColocationError:
        if host.lexists(f"{point}/{cgroup}"):
            raise
        return None


def read_texts(folder: int, names: Iterable[str], place: str) -> dict[str, str]:
    """Texts of those files that the open folder has; ``place`` is its path, for a ColocationError."""
    texts = {}
    for name in names:
        try:
            handle = os.open(name, _READ, dir_fd=folder)
            try:
                texts[name] = os.read(handle, LIMIT).decode("utf-8", "surrogateescape").rstrip("\n")
            finally:
                os.close(handle)
        except OSError as error:
            if error.errno not in _NOT_THERE:
                raise ColocationError(f"cannot be read: {error_meaning(error)}", "", f"{place}/{name}") from error
    return texts


@contextmanager
def close_after(folder: int) -> Iterator[int]:
    """The open folder, closed in the end."""
    try:
        yield folder
    finally:
        os.close(folder)


class Files:
    """Files of one cgroup after the other. A written one stays open, for reading back, until another's turn comes."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._walks: dict[str, Walk] = {}
        self._cgroup = ""
        self._folders: dict[str, int] = {}
        self._written: dict[str, tuple[int, bytes]] = {}

    def write(self, point: str, cgroup: str, name: str, text: str) -> None:
        """Write a file that exists, one call for each line: a cgroup file takes one setting at a time.

        OSError as open(2) and write(2) give it; ColocationError when the cgroup below the mount point is gone.
        """
        if cgroup != self._cgroup:
            self._leave(cgroup)
        folder = self._folders.get(point)
        if folder is None:
            folder = self._folders[point] = self._walk(point).to(cgroup)
        if name in self._written:
            os.close(self._written.pop(name)[0])
        handle = os.open(name, _WRITE, dir_fd=folder)
        content = (text.rstrip("\n") + "\n").encode("utf-8", "surrogateescape")
        self._written[name] = handle, content
        for line in content.splitlines(True):
            os.write(handle, line)

    def read_back_matches(self) -> bool:
        """Whether every file of the cgroup that was written says just that now."""
        try:
            return all(os.pread(handle, len(text) + 1, 0) == text for handle, text in self._written.values())
        except OSError:
            return False

    def close(self) -> None:
        self._leave("")
        while self._walks:
            self._walks.popitem()[1].close()

    def _leave(self, cgroup: str) -> None:
        """Turn to another cgroup."""
        for handle, _content in self._written.values():
            os.close(handle)
        self._written.clear()
        self._folders.clear()
        self._cgroup = cgroup

    def _walk(self, point: str) -> Walk:
        if point not in self._walks:
            self._walks[point] = Walk(self._host, point)
        return self._walks[point]
