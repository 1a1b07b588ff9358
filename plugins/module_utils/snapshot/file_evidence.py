# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about one file: what it is, who may read it, and its text when it is small and regular."""

from __future__ import annotations

import errno
import hashlib
import stat
import time
from typing import Any

from ..host import Host

CONFIG_LIMIT = 1 << 20
"""Bytes of configuration text taken along; a longer file is recorded with an error instead of its text."""

_KINDS = (
    (stat.S_ISREG, "regular"),
    (stat.S_ISLNK, "symlink"),
    (stat.S_ISDIR, "directory"),
    (stat.S_ISSOCK, "socket"),
)


def _kind(mode: int) -> str:
    return next((name for is_kind, name in _KINDS if is_kind(mode)), "special")


def describe(host: Host, path: str) -> dict[str, Any]:
    """``{kind, mode, uid, gid, mtime, ctime}`` of a path; ``kind`` is ``missing`` when there is nothing.

    There is no ``ctime`` that is still to come: the clock was set back since, and nobody knows what came after what.
    """
    try:
        status = host.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {"kind": "missing"}
    except OSError as error:
        return {"kind": "unknown", "error": str(error.strerror or error)}
    except ValueError as error:
        return {"kind": "unknown", "error": str(error)}
    found = {
        "kind": _kind(status.st_mode),
        "mode": "%04o" % stat.S_IMODE(status.st_mode),
        "uid": status.st_uid,
        "gid": status.st_gid,
        "mtime": status.st_mtime,
    }
    if status.st_ctime <= time.time():
        found["ctime"] = status.st_ctime
    if found["kind"] == "symlink":
        found["target"] = host.readlink(path)
    return found


def capture(host: Host, path: str) -> dict[str, Any]:
    """``describe`` plus ``text`` and ``sha256`` of a regular file. A symlink's text is read, its kind stays symlink."""
    found = describe(host, path)
    if found["kind"] not in ("regular", "symlink"):
        return found
    try:
        content = b"" if host.is_masked(path) else host.read_bytes(path, CONFIG_LIMIT)
    except OSError as error:
        found.update(_size_error(host, path) if error.errno == errno.EFBIG else {"error": str(error.strerror or error)})
        return found
    found["sha256"] = hashlib.sha256(content).hexdigest()
    found["text"] = content.decode("utf-8", "surrogateescape")
    return found


def _size_error(host: Host, path: str) -> dict[str, Any]:
    """The error of a file that is longer than what is taken along, and what to do about it."""
    size = host.stat(path).st_size
    return {
        "error": "has %d bytes, and a configuration file of more than %d (1 MiB) is not read" % (size, CONFIG_LIMIT),
        "remedy": "Take out what is not configuration, such as comments, or move it to a drop-in or an import",
    }


def kernel_text(host: Host, path: str) -> str | None:
    """A kernel file's text without its last line end; None when the kernel does not have it."""
    try:
        # mountinfo and net/unix of a busy node outgrow what is taken along of a configuration file
        return host.read_table(path).rstrip("\n")
    except (OSError, ValueError):
        return None


def list_names(host: Host, directory: str) -> list[str]:
    """Sorted names in a directory; empty when it is missing, vanishes or may not be read."""
    try:
        return host.list(directory)
    except (OSError, ValueError):
        return []
