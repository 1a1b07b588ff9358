# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing a file so that every reader, at any moment and after a power cut, finds the old text or the new one.

The text goes into a file without a name (O_TMPFILE). For a new file that is in the folder of its target, so that it
is born with the SELinux label that files have there; it then gets its name in one step. For one that replaces another
it is in the folder above, where it gets a dot-name and is renamed from. So a folder of manifests or drop-ins, or of
NRI's plugins, never shows anything but the file itself, nor does a power cut leave anything in it: CRI-O reads every
file below crio.conf.d, whatever its name (pkg/config/config.go UpdateFromPath).
Where a file system knows no nameless files, or the folder above is on another one, the dot-name stands in for it.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import Callable, Sequence

SetAttributes = Callable[[int], None]
"""Gives an open file its owner, mode and extended attributes."""
CheckTarget = Callable[[], None]
"""Raises when the target is not what it is taken to be, or does nothing."""

_UNNAMED_UNSUPPORTED = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOSYS)
_STAGE_UNUSABLE = (errno.EXDEV, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)


def temporary_path(folder: str, target: str) -> str:
    """The dot-name of a target in a folder; no watcher takes it for a file of its kind."""
    return os.path.join(folder, f".{os.path.basename(target)}.volcano-colocation")


def create(target: str, text: bytes, dress: SetAttributes) -> None:
    """A new file; FileExistsError when there is one already, which then stays."""
    folder = os.path.dirname(target)
    if _write_then_link(folder, target, text, dress):
        sync_directory(folder)
        return
    staged = temporary_path(folder, target)
    write_new(staged, text, dress)
    _rename(staged, target, lambda: _require_absent(target))


def replace(target: str, text: bytes, stages: Sequence[str], dress: SetAttributes, ready: CheckTarget) -> None:
    """Another text for a file that exists. ``stages``: folders for the moment before the rename, the best one first."""
    for folder in stages:
        if remove_if_present(temporary_path(folder, target)):
            sync_directory(folder)
    for folder in stages:
        staged = temporary_path(folder, target)
        try:
            if not _write_then_link(folder, staged, text, dress):
                write_new(staged, text, dress)
            _rename(staged, target, ready)
        except OSError as error:
            if error.errno not in _STAGE_UNUSABLE or folder == stages[-1]:
                raise
            with suppress(OSError):
                sync_directory(folder)
        else:
            return


def probe(folder: str, text: bytes) -> None:
    """Really write ``text`` in the folder, and leave nothing; OSError when there is no room or no right.

    Where there are no nameless files only the right is looked at: nobody would know of one with a name after a kill.
    """
    handle = _open_unnamed(folder)
    if handle is None:
        _require_right(folder)
        return
    try:
        _fill(handle, text, lambda _handle: None)
    finally:
        os.close(handle)


def write_new(path: str, text: bytes, dress: SetAttributes = lambda _handle: None) -> None:
    """Durably write a file of mode 0600 that must not exist."""
    remove_if_present(path)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        _fill(handle, text, dress)
    except BaseException:
        discard(path)
        raise
    finally:
        os.close(handle)


def remove_if_present(path: str) -> bool:
    """Whether there was something to remove."""
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        # Of a read-only file system Linux says so before it looks (fs/namei.c do_unlinkat).
        if error.errno == errno.EROFS and not os.path.lexists(path):
            return False
        raise
    return True


def discard(path: str) -> None:
    """Clean up after an error, which is the one that counts."""
    with suppress(OSError):
        os.unlink(path)


def sync_directory(path: str) -> None:
    """Make names that came and went in a folder durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _open_unnamed(folder: str) -> int | None:
    """A file that is in no folder yet; None where the file system has no such."""
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno in _UNNAMED_UNSUPPORTED:
            return None
        raise


def _fill(handle: int, text: bytes, dress: SetAttributes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(handle, rest) :]
    dress(handle)
    # Behind the owner and the mode, which a power cut would otherwise undo.
    os.fsync(handle)


def _link_unnamed(handle: int, path: str) -> None:
    # Only with a folder given does Python call linkat(2), which follows the link in /proc.
    folder = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _write_then_link(folder: str, path: str, text: bytes, dress: SetAttributes) -> bool:
    """Whether the file could be written without a name before it got one; FileExistsError when there is one."""
    handle = _open_unnamed(folder)
    if handle is None:
        return False
    try:
        _fill(handle, text, dress)
        _link_unnamed(handle, path)
    finally:
        os.close(handle)
    return True


def _rename(staged: str, target: str, ready: CheckTarget) -> None:
    try:
        ready()
        os.replace(staged, target)
    except BaseException:
        discard(staged)
        raise
    for folder in sorted({os.path.dirname(target), os.path.dirname(staged)}):
        sync_directory(folder)


def _require_right(folder: str) -> None:
    """access(2) knows of immutable folders and read-only file systems too."""
    if os.access(folder, os.W_OK | os.X_OK):
        return
    reason = errno.EROFS if os.statvfs(folder).f_flag & os.ST_RDONLY else errno.EPERM
    raise OSError(reason, os.strerror(reason), folder)


def _require_absent(target: str) -> None:
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
