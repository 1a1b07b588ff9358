# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of the node: safe reading, replacing what is still as it was, backups and putting back."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ..errors import ColocationError
from ..host import Host
from . import atomic_file
from .document_reader import FileAttributes
from .plan_document import sha256

# They are signatures of the content, made anew by the kernel where they are in use.
DERIVED_XATTRS = ("security.ima", "security.evm")
# A file has one from its birth, and it cannot be taken off.
LABEL = "security.selinux"

REMEDIES = {
    errno.ENOSPC: "Free some space there",
    errno.EDQUOT: "Free some space there",
    errno.EROFS: "Remount it read-write, or leave this node out",
    errno.ELOOP: "Put the file itself in the place of the link",
    errno.ENOTDIR: "Move away what is in the place of the folder",
    errno.EBUSY: "The file is a mount point of its own: edit the file behind the mount",
    errno.EPERM: "Check for an immutable attribute (lsattr) and for the rights of the user Ansible becomes",
    errno.EACCES: "Check the rights of the user Ansible becomes",
}


class FileRefused(ColocationError):
    """A file that cannot be changed, or must not be."""


class ChangedConcurrently(FileRefused):
    """A file that somebody else changed, made or removed since it was saved; it is as they left it."""

    def __init__(self, path: str) -> None:
        super().__init__("it was changed by someone else just now", "Run this again", path)


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

    @property
    def attributes(self) -> FileAttributes:
        return FileAttributes(self.mode, self.uid, self.gid, self.xattrs)

    def document(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, document: dict[str, Any]) -> Saved:
        """The value of a document that has the shape."""
        return cls(**{each.name: document[each.name] for each in fields(cls)})


def file_error(error: OSError, path: str, action: str) -> FileRefused:
    """A system error in words, with the remedy for its number."""
    reason = error.strerror or str(error)
    return FileRefused(f"cannot {action}: {reason}", REMEDIES.get(error.errno or 0, ""), path)


def regular_file_status(host: Host, path: str) -> os.stat_result | None:
    """What lies at ``path``, None when nothing does; FileRefused for anything but a regular file."""
    require_safe_path(host, path)
    try:
        found = host.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise file_error(error, path, "look at it") from error
    if stat.S_ISLNK(found.st_mode):
        destination = host.readlink(path)
        raise FileRefused(
            f"it is a symbolic link to {destination}",
            "Name the file itself as the configuration path, or put a regular file in the place of the link",
            path,
        )
    if not stat.S_ISREG(found.st_mode):
        raise FileRefused("it is not a regular file", "Name the file that holds the configuration", path)
    return found


def require_safe_path(host: Host, path: str) -> None:
    """FileRefused where a folder above ``path`` is a link that must not be followed.

    A folder may be a link, as /var/lib/kubelet on a data disk is, but not one that another user can redirect. In an
    image, whose files belong to the user who builds it, no link leads out of it (chroot_path.py).
    """
    if not host.live:
        return
    folder = os.path.dirname(path)
    while folder != "/":
        if os.path.islink(folder):
            link, around = os.lstat(folder), os.stat(os.path.dirname(folder))
            if link.st_uid != 0 or (around.st_mode & 0o022 and not around.st_mode & stat.S_ISVTX):
                raise FileRefused(
                    f"its folder {folder} is a symbolic link that not only root can change",
                    "Name the path without that link as the configuration path",
                    path,
                )
        folder = os.path.dirname(folder)


def read_content(host: Host, path: str) -> bytes | None:
    """The bytes of a regular file, links not followed; None when there is no file."""
    found = read_file(host, path)
    return None if found is None else found[0]


def read_file(host: Host, path: str) -> tuple[bytes, FileAttributes] | None:
    """Text and nature of one and the same file; None when there is none."""
    if regular_file_status(host, path) is None:
        return None
    try:
        handle = os.open(host.path(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            found = os.fstat(handle)
            return stream.read(), FileAttributes(
                stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, _xattrs(handle)
            )
    except OSError as error:
        raise file_error(error, path, "read it") from error


def content_sha256(host: Host, path: str) -> str | None:
    """Hash of a regular file; None when there is no file."""
    found = read_content(host, path)
    return None if found is None else sha256(found)


def probe_write(host: Host, path: str, text: bytes) -> None:
    """Really write ``text`` where the file will be written, and leave nothing; FileRefused when that fails."""
    missing = missing_directories(host, path)
    if missing:
        _require_free_name(host, path, missing[0])
    try:
        atomic_file.probe(host.real_path(os.path.dirname(missing[0] if missing else path)), text)
    except OSError as error:
        raise file_error(error, path, f"write it ({len(text)} bytes)") from error


def _require_free_name(host: Host, path: str, folder: str) -> None:
    """Something else in the place of a folder that is to be created would be noticed between two writes."""
    if host.is_symlink(folder):
        raise FileRefused(
            f"its folder {folder} is a symbolic link to {host.readlink(folder)}, which does not lead to a folder",
            "Create the folder that it leads to, or put a folder in the place of the link",
            path,
        )
    if host.lexists(folder):
        raise FileRefused(f"{folder} is not a folder", REMEDIES[errno.ENOTDIR], path)


def missing_directories(host: Host, path: str) -> list[str]:
    """Folders above ``path`` that do not exist, outermost first, as paths of the node."""
    missing: list[str] = []
    folder = os.path.dirname(path)
    while folder != "/" and not host.is_directory(folder):
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    return missing


def save(host: Host, path: str, mode: int, backups: str, name: str) -> Saved:
    """Copy the file to ``backups/name`` and describe it; ``mode`` is noted for a file that does not exist."""
    found = read_file(host, path)
    if found is None:
        return Saved(path, None, None, mode, os.geteuid(), os.getegid(), {}, missing_directories(host, path))
    text, nature = found
    write_private(os.path.join(backups, name), text)
    return Saved(path, name, sha256(text), nature.mode, nature.uid, nature.gid, nature.xattrs, [])


def require_unchanged(host: Host, saved: Saved) -> None:
    """ChangedMeanwhile when text, owner, mode or attributes are not those that were saved any more."""
    if not is_as_saved(read_file(host, saved.path), saved):
        raise ChangedConcurrently(saved.path)


def is_as_saved(found: tuple[bytes, FileAttributes] | None, saved: Saved) -> bool:
    """Whether a file that was observed has the text, owner, mode and attributes of one that was saved."""
    if found is None or saved.backup is None:
        return found is None and saved.backup is None
    return sha256(found[0]) == saved.sha256 and found[1] == saved.attributes


def write(host: Host, saved: Saved, text: bytes, nature: FileAttributes | None = None) -> None:
    """Put ``text`` at the path in one step if it is still as it was saved; ChangedMeanwhile otherwise.

    ``attributes``: what the file gets in the place of the mode, owner and attributes that it has.
    """
    dressed = saved if nature is None else replace(saved, **asdict(nature))
    _put(host, dressed, text, lambda: require_unchanged(host, saved))


def delete(host: Host, saved: Saved) -> None:
    """Remove the file if it is still as it was saved; ChangedMeanwhile otherwise. Its folder stays."""
    require_unchanged(host, saved)
    remove(host, saved.path)


def restore(host: Host, saved: Saved, backups: str) -> None:
    """Make the path what it was when it was saved; one that is so takes no room, and may be on a read-only disk."""
    if saved.backup is not None and is_as_saved(read_file(host, saved.path), saved):
        _keep_unchanged(host, saved.path)
        return
    if saved.backup is None:
        remove(host, saved.path)
        for folder in reversed(saved.folders):
            remove_empty_directory(host.path(folder))
        return
    text = read_private(os.path.join(backups, saved.backup))
    if sha256(text) != saved.sha256:
        raise FileRefused("its backup is damaged", "Restore the file from elsewhere", saved.path)
    _put(host, saved, text, lambda: None)


def _keep_unchanged(host: Host, path: str) -> None:
    """Only a left-over temporary of ours goes; that the name stands for this file may not be on the disk yet."""
    try:
        _unlink_temporaries(host, path)
        atomic_file.sync_directory(os.path.dirname(host.path(path)))
    except OSError as error:
        raise file_error(error, path, "put it back") from error


def _unlink_temporaries(host: Host, path: str) -> None:
    for folder in _staging_directories(host, path):
        if atomic_file.remove_if_present(atomic_file.temporary_path(folder, host.path(path))):
            atomic_file.sync_directory(folder)


def remove(host: Host, path: str) -> None:
    """Remove a file and any left-over temporary of ours; nothing to do when it is not there."""
    try:
        target = host.path(path)
        _unlink_temporaries(host, path)
        if atomic_file.remove_if_present(target):
            atomic_file.sync_directory(os.path.dirname(target))
    except OSError as error:
        raise file_error(error, path, "remove it") from error


def write_private(path: str, text: bytes) -> None:
    """Durably write a file of our own: mode 0600, whole or not at all."""
    temporary = atomic_file.temporary_path(os.path.dirname(path), path)
    atomic_file.write_new(temporary, text)
    os.replace(temporary, path)
    atomic_file.sync_directory(os.path.dirname(path))


def read_private(path: str) -> bytes:
    """The text of a file of our own, links not followed; OSError as open(2) gives it."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        return stream.read()


def make_private_directory(path: str) -> None:
    """Make a folder of our own, mode 0700, with its parents; one that is there already gets this mode.

    NotADirectoryError for anything else in its place, which is left as it is.
    """
    parent = os.path.dirname(path)
    if not os.path.isdir(parent):
        make_private_directory(parent)
    try:
        os.mkdir(path, 0o700)
        atomic_file.sync_directory(parent)
    except FileExistsError:
        if not os.path.isdir(path):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from None
        mode = os.lstat(path).st_mode
        # chmod(2) would follow a link to a folder that is not ours.
        if stat.S_ISDIR(mode) and mode & 0o077:
            os.chmod(path, 0o700)


def _put(host: Host, saved: Saved, text: bytes, ready: atomic_file.CheckTarget) -> None:
    """What was there gets another text; what is new, or gone by now, is made."""
    try:
        target = host.path(saved.path)
        ready()
        for folder in saved.folders:
            _make_directory(host.path(folder))
        if os.path.lexists(target):
            atomic_file.replace(
                target,
                text,
                _staging_directories(host, saved.path),
                lambda handle: _set_attributes(handle, saved),
                ready,
            )
        else:
            atomic_file.create(target, text, lambda handle: _set_attributes(handle, saved))
    except FileExistsError as error:
        raise ChangedConcurrently(saved.path) from error
    except OSError as error:
        raise file_error(error, saved.path, "replace it") from error


def _staging_directories(host: Host, path: str) -> list[str]:
    """Where a whole file may stand under a dot-name for a moment: above the folder, which may be watched, or in it."""
    folder = os.path.dirname(path)
    return [host.real_path(os.path.dirname(folder)), host.real_path(folder)]


def _set_attributes(handle: int, saved: Saved) -> None:
    os.chown(handle, saved.uid, saved.gid)
    if saved.backup is not None:
        for name in _xattrs(handle):
            # A default ACL of the folder.
            if name not in saved.xattrs and name != LABEL:
                os.removexattr(handle, name)
    for name, value in saved.xattrs.items():
        os.setxattr(handle, name, bytes.fromhex(value))
    os.chmod(handle, saved.mode)


def _xattrs(handle: int) -> dict[str, str]:
    """Extended attributes as hexadecimal text: SELinux label, ACL, capabilities, whatever else is there."""
    try:
        names = os.listxattr(handle)
        return {name: os.getxattr(handle, name).hex() for name in names if name not in DERIVED_XATTRS}
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return {}
        raise


def _make_directory(path: str) -> None:
    try:
        os.mkdir(path)
    except FileExistsError:
        return
    os.chmod(path, 0o755)  # noqa: S103 - a folder of /etc, as its package would make it
    atomic_file.sync_directory(os.path.dirname(path))


def remove_empty_directory(path: str) -> None:
    """Remove a folder of this machine when nothing is in it."""
    try:
        os.rmdir(path)
    except OSError as error:
        # Somebody else uses the folder by now.
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
            raise
    else:
        atomic_file.sync_directory(os.path.dirname(path))
