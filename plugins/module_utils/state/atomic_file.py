# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Atomic writes: every reader sees either the old or the new content, at any moment and after a power cut.

The content is written to an unnamed file (O_TMPFILE). A new file is written in the directory of its target, where it
gets the directory's SELinux label, and is then linked to its name in one step. A file that replaces another is written
in the parent directory, linked to a dot-name there and renamed. A directory of manifests, drop-ins or NRI plugins
therefore never contains a temporary file, not even after a power cut: CRI-O reads every file below crio.conf.d,
whatever its name (pkg/config/config.go UpdateFromPath).
If the file system does not support O_TMPFILE, or the parent directory is on another file system, a file with the
dot-name is used instead.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import Callable, Sequence

SetAttributes = Callable[[int], None]
"""Sets owner, mode and extended attributes of an open file."""
CheckTarget = Callable[[], None]
"""Raises if the target is not in the expected state."""

_UNNAMED_UNSUPPORTED = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOSYS)
_STAGE_UNUSABLE = (errno.EXDEV, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)


def temporary_path(directory: str, target: str) -> str:
    """The dot-name of a target in a directory; programs that watch the directory ignore such names."""
    return os.path.join(directory, f".{os.path.basename(target)}.volcano-colocation")


def create(target: str, text: bytes, set_attributes: SetAttributes) -> None:
    """Create a new file; FileExistsError if the file exists, which is then unchanged."""
    directory = os.path.dirname(target)
    if _write_then_link(directory, target, text, set_attributes):
        sync_directory(directory)
        return
    staged = temporary_path(directory, target)
    write_new(staged, text, set_attributes)
    _rename(staged, target, lambda: _require_absent(target))


def replace(
    target: str, text: bytes, stages: Sequence[str], set_attributes: SetAttributes, check_target: CheckTarget
) -> None:
    """Replace the content of an existing file. ``stages``: directories for the temporary file, best first."""
    for directory in stages:
        if remove_if_present(temporary_path(directory, target)):
            sync_directory(directory)
    for directory in stages:
        staged = temporary_path(directory, target)
        try:
            if not _write_then_link(directory, staged, text, set_attributes):
                write_new(staged, text, set_attributes)
            _rename(staged, target, check_target)
        except OSError as error:
            if error.errno not in _STAGE_UNUSABLE or directory == stages[-1]:
                raise
            with suppress(OSError):
                sync_directory(directory)
        else:
            return


def probe(directory: str, text: bytes) -> None:
    """Write ``text`` to a temporary file in the directory and delete it; OSError on missing disk space or permission.

    Without O_TMPFILE only the permission is checked: after a kill, a named temporary file would remain there.
    """
    handle = _open_unnamed(directory)
    if handle is None:
        _require_writable(directory)
        return
    try:
        _fill(handle, text, lambda _handle: None)
    finally:
        os.close(handle)


def write_new(path: str, text: bytes, set_attributes: SetAttributes = lambda _handle: None) -> None:
    """Durably write a new file of mode 0600; an existing one is deleted first."""
    remove_if_present(path)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        _fill(handle, text, set_attributes)
    except BaseException:
        discard(path)
        raise
    finally:
        os.close(handle)


def remove_if_present(path: str) -> bool:
    """Delete a file; False if it did not exist."""
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        # Linux returns EROFS before it looks the name up (fs/namei.c do_unlinkat).
        if error.errno == errno.EROFS and not os.path.lexists(path):
            return False
        raise
    return True


def discard(path: str) -> None:
    """Delete a temporary file after an error; a second error is ignored so that the first one is reported."""
    with suppress(OSError):
        os.unlink(path)


def sync_directory(path: str) -> None:
    """Make creations and deletions in a directory durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _open_unnamed(directory: str) -> int | None:
    """A handle of a new unnamed file; None if the file system does not support O_TMPFILE."""
    try:
        return os.open(directory, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno in _UNNAMED_UNSUPPORTED:
            return None
        raise


def _fill(handle: int, text: bytes, set_attributes: SetAttributes) -> None:
    remaining = memoryview(text)
    while remaining:
        remaining = remaining[os.write(handle, remaining) :]
    set_attributes(handle)
    # After setting owner and mode, which a power cut could otherwise undo.
    os.fsync(handle)


def _link_unnamed(handle: int, path: str) -> None:
    # Python calls linkat(2), which follows the link in /proc, only if src_dir_fd is set.
    directory = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=directory, follow_symlinks=True)
    finally:
        os.close(directory)


def _write_then_link(directory: str, path: str, text: bytes, set_attributes: SetAttributes) -> bool:
    """Write an unnamed file, then link it to ``path``; False if unnamed files are not supported, else True.

    FileExistsError if ``path`` exists.
    """
    handle = _open_unnamed(directory)
    if handle is None:
        return False
    try:
        _fill(handle, text, set_attributes)
        _link_unnamed(handle, path)
    finally:
        os.close(handle)
    return True


def _rename(staged: str, target: str, check_target: CheckTarget) -> None:
    try:
        check_target()
        os.replace(staged, target)
    except BaseException:
        discard(staged)
        raise
    for directory in sorted({os.path.dirname(target), os.path.dirname(staged)}):
        sync_directory(directory)


def _require_writable(directory: str) -> None:
    """OSError if the directory is not writable; access(2) also covers immutable directories and read-only mounts."""
    if os.access(directory, os.W_OK | os.X_OK):
        return
    reason = errno.EROFS if os.statvfs(directory).f_flag & os.ST_RDONLY else errno.EPERM
    raise OSError(reason, os.strerror(reason), directory)


def _require_absent(target: str) -> None:
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
