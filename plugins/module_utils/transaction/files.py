# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of the node: safe reading, durable replacing, backups and putting back.

A new text is written under a dot-name with no known suffix beside its target and renamed over it. All watchers of such
folders pass that name over: kubelet reads "[^.]*" of a manifest folder (pkg/kubelet/config/file.go extractFromDir) and
"*.conf" of its configuration folder, containerd imports "*.toml", NRI starts only executable files.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import ColocationError
from ..host import Host
from .plan import sha256

# They are signatures of the content, made anew by the kernel where they are in use.
DERIVED_XATTRS = ("security.ima", "security.evm")

REMEDIES = {
    errno.ENOSPC: "Free some space there",
    errno.EDQUOT: "Free some space there",
    errno.EROFS: "Remount it read-write, or leave this node out",
    errno.EBUSY: "The file is a mount point of its own: edit the file behind the mount",
    errno.EPERM: "Check for an immutable attribute (lsattr) and for the rights of the user Ansible becomes",
    errno.EACCES: "Check the rights of the user Ansible becomes",
}


class FileRefused(ColocationError):
    """A file that cannot be changed, or must not be."""


@dataclass(frozen=True)
class Saved:
    """What is needed to put one path back as it was. ``backup`` is a name in the transaction's folder of backups.

    Absent files have ``backup`` None, and ``folders`` lists the folders that did not exist either, outermost first.
    """

    path: str
    backup: str | None
    sha256: str | None
    mode: int
    uid: int
    gid: int
    xattrs: dict[str, str]
    folders: list[str]

    def document(self) -> dict[str, Any]:
        return asdict(self)


def refused(error: OSError, path: str, action: str) -> FileRefused:
    """A system error in words, with the remedy for its number."""
    reason = error.strerror or str(error)
    return FileRefused(f"cannot {action}: {reason}", REMEDIES.get(error.errno or 0, ""), path)


def identity(host: Host, path: str) -> os.stat_result | None:
    """What lies at ``path``, None when nothing does; FileRefused for anything but a regular file."""
    _require_inside(host, path)
    try:
        found = host.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refused(error, path, "look at it") from error
    if stat.S_ISLNK(found.st_mode):
        destination = os.readlink(host.path(path))
        raise FileRefused(
            f"it is a symbolic link to {destination}",
            "Name the file itself as the configuration path, or put a regular file in the place of the link",
            path,
        )
    if not stat.S_ISREG(found.st_mode):
        raise FileRefused("it is not a regular file", "Name the file that holds the configuration", path)
    return found


def _require_inside(host: Host, path: str) -> None:
    """In an image, a linked folder could lead to the files of the machine that holds the image."""
    if host.live:
        return
    root = os.path.realpath(host.root)
    parent = os.path.realpath(os.path.dirname(host.path(path)))
    if parent != root and not parent.startswith(root.rstrip("/") + "/"):
        raise FileRefused(f"a folder of this path is a link that leads out of {host.root}", "", path)


def content(host: Host, path: str) -> bytes | None:
    """The bytes of a regular file, links not followed; None when there is no file."""
    if identity(host, path) is None:
        return None
    try:
        handle = os.open(host.path(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise refused(error, path, "read it") from error


def content_sha256(host: Host, path: str) -> str | None:
    """Hash of a regular file; None when there is no file."""
    found = content(host, path)
    return None if found is None else sha256(found)


def probe(host: Host, path: str, text: bytes) -> None:
    """Really write ``text`` where the file will be written, and take it away again; FileRefused when that fails."""
    folder = _nearest_folder(host, path)
    temporary = os.path.join(folder, _temporary_name(path))
    try:
        _unlink_if_there(temporary)
        _write_new(temporary, text)
        os.unlink(temporary)
    except OSError as error:
        _discard(temporary)
        raise refused(error, path, f"write it ({len(text)} bytes)") from error


def missing_folders(host: Host, path: str) -> list[str]:
    """Folders above ``path`` that do not exist, outermost first, as paths of the node."""
    missing: list[str] = []
    folder = os.path.dirname(path)
    while folder != "/" and not os.path.isdir(host.path(folder)):
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    return missing


def save(host: Host, path: str, mode: int, backups: str, name: str) -> Saved:
    """Copy the file to ``backups/name`` and describe it; ``mode`` is noted for a file that does not exist."""
    found = identity(host, path)
    if found is None:
        return Saved(path, None, None, mode, 0, 0, {}, missing_folders(host, path))
    text = content(host, path) or b""
    write_private(os.path.join(backups, name), text)
    return Saved(
        path,
        name,
        sha256(text),
        stat.S_IMODE(found.st_mode),
        found.st_uid,
        found.st_gid,
        _xattrs(host.path(path)),
        [],
    )


def replace(host: Host, saved: Saved, text: bytes) -> None:
    """Put ``text`` at the path in one step, with the owner, mode and extended attributes that were saved."""
    try:
        for folder in saved.folders:
            _make_folder(host.path(folder))
        _put(host.path(saved.path), text, saved)
    except OSError as error:
        raise refused(error, saved.path, "replace it") from error


def restore(host: Host, saved: Saved, backups: str) -> None:
    """Make the path what it was when it was saved."""
    if saved.backup is None:
        remove(host, saved.path)
        for folder in reversed(saved.folders):
            _remove_folder(host.path(folder))
        return
    with open(os.path.join(backups, saved.backup), "rb") as stream:
        text = stream.read()
    if sha256(text) != saved.sha256:
        raise FileRefused("its backup is damaged", "Restore the file from elsewhere", saved.path)
    replace(host, saved, text)


def remove(host: Host, path: str) -> None:
    """Remove a file and any left-over temporary of ours; nothing to do when it is not there."""
    target = host.path(path)
    try:
        _unlink_if_there(_temporary(target))
        if _unlink_if_there(target):
            _sync_folder(os.path.dirname(target))
    except OSError as error:
        raise refused(error, path, "remove it") from error


def write_private(path: str, text: bytes) -> None:
    """Durably write a file of our own: mode 0600, whole or not at all."""
    temporary = _temporary(path)
    _unlink_if_there(temporary)
    _write_new(temporary, text)
    os.replace(temporary, path)
    _sync_folder(os.path.dirname(path))


def private_folder(path: str) -> None:
    """Make a folder of our own, mode 0700, with its parents."""
    parent = os.path.dirname(path)
    if not os.path.isdir(parent):
        private_folder(parent)
    try:
        os.mkdir(path, 0o700)
        _sync_folder(parent)
    except FileExistsError:
        pass


def _put(target: str, text: bytes, saved: Saved) -> None:
    temporary = _temporary(target)
    _unlink_if_there(temporary)
    try:
        _write_new(temporary, text)
        os.chown(temporary, saved.uid, saved.gid)
        for name, value in saved.xattrs.items():
            os.setxattr(temporary, name, bytes.fromhex(value))
        os.chmod(temporary, saved.mode)
        os.replace(temporary, target)
    except OSError:
        _discard(temporary)
        raise
    _sync_folder(os.path.dirname(target))


def _xattrs(target: str) -> dict[str, str]:
    """Extended attributes as hexadecimal text: SELinux label, ACL, capabilities, whatever else is there."""
    try:
        names = os.listxattr(target)
        return {name: os.getxattr(target, name).hex() for name in names if name not in DERIVED_XATTRS}
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return {}
        raise


def _temporary_name(path: str) -> str:
    return f".{os.path.basename(path)}.volcano-colocation"


def _temporary(target: str) -> str:
    return os.path.join(os.path.dirname(target), _temporary_name(target))


def _nearest_folder(host: Host, path: str) -> str:
    missing = missing_folders(host, path)
    return host.path(os.path.dirname(missing[0] if missing else path))


def _write_new(path: str, text: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def _make_folder(path: str) -> None:
    try:
        os.mkdir(path)
    except FileExistsError:
        return
    os.chmod(path, 0o755)
    _sync_folder(os.path.dirname(path))


def _remove_folder(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError as error:
        # Somebody else uses the folder by now.
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
            raise


def _unlink_if_there(path: str) -> bool:
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _discard(path: str) -> None:
    """Clean up after an error, which is the one that counts."""
    with suppress(OSError):
        os.unlink(path)


def _sync_folder(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
