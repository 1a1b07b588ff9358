# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about one file: kind, owner, mode, and the text of a small regular file."""

from __future__ import annotations

import errno
import hashlib
import stat
import time
from typing import Any

from ..host import Host
from ..state.files import REMEDIES

CONFIG_LIMIT = 1 << 20
"""Bytes of a configuration file that is collected; a longer file is recorded with an error instead of its text."""

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

    A ``ctime`` in the future is omitted: the clock was set back since, so times cannot be compared.
    """
    try:
        status = host.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {"kind": "missing"}
    except OSError as error:
        return {"kind": "unknown", **read_error(error)}
    except ValueError:
        reason = "the path has a null byte" if "\0" in path else "not an absolute path: %r" % path
        return {"kind": "unknown", "error": reason}
    evidence = {
        "kind": _kind(status.st_mode),
        "mode": "%04o" % stat.S_IMODE(status.st_mode),
        "uid": status.st_uid,
        "gid": status.st_gid,
        "mtime": status.st_mtime,
    }
    if status.st_ctime <= time.time():
        evidence["ctime"] = status.st_ctime
    if evidence["kind"] == "symlink":
        evidence["target"] = host.readlink(path)
    return evidence


def capture(host: Host, path: str) -> dict[str, Any]:
    """``describe`` plus ``text`` and ``sha256`` of a regular file or a symlink's target (``kind`` stays symlink)."""
    evidence = describe(host, path)
    if evidence["kind"] not in ("regular", "symlink"):
        return evidence
    try:
        content = b"" if host.is_masked(path) else host.read_bytes(path, CONFIG_LIMIT)
    except OSError as error:
        evidence.update(_size_error(host, path) if error.errno == errno.EFBIG else read_error(error))
        return evidence
    evidence["sha256"] = hashlib.sha256(content).hexdigest()
    evidence["text"] = content.decode("utf-8", "surrogateescape")
    return evidence


def read_error(error: OSError) -> dict[str, Any]:
    """``{error, remedy}`` of a file or directory that was not read; no remedy for an unknown cause."""
    remedy = REMEDIES.get(error.errno or 0)
    return {"error": str(error.strerror or error), **({"remedy": remedy} if remedy else {})}


def _size_error(host: Host, path: str) -> dict[str, Any]:
    """The error and remedy of a file that is longer than CONFIG_LIMIT."""
    size = host.stat(path).st_size
    return {
        "error": "it has %d bytes, more than a configuration file may have: %d (1 MiB)" % (size, CONFIG_LIMIT),
        "remedy": "Take out what is not configuration, such as comments, or move it to a drop-in or an import",
    }


def kernel_text(host: Host, path: str) -> str | None:
    """A kernel file's text without its last line end; None when the kernel does not have it."""
    try:
        # mountinfo and net/unix of a busy node can be longer than CONFIG_LIMIT
        return host.read_table(path).rstrip("\n")
    except (OSError, ValueError):
        return None


def list_names(host: Host, directory: str) -> list[str]:
    """Sorted names in a directory; empty when it is missing, disappears or cannot be read."""
    try:
        return host.list(directory)
    except (OSError, ValueError):
        return []
