# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of the node: read them safely, back them up, replace them if they are unchanged, and restore them."""

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

# Signatures of the content; where they are used, the kernel computes them again.
DERIVED_XATTRS = ("security.ima", "security.evm")
# A file gets its label when it is created, and the label cannot be removed.
LABEL = "security.selinux"

REMEDIES = {
    errno.ENOSPC: "Free some space there",
    errno.EDQUOT: "Free some space there",
    errno.EROFS: "Remount it read-write, or exclude this node",
    errno.ELOOP: "Replace the link with the file itself",
    errno.ENOTDIR: "Move away what exists at the path of the directory",
    errno.ENOENT: "Restore it from a backup",
    errno.EISDIR: "Move the directory away",
    errno.EBUSY: "The file is itself a mount point: edit the file behind the mount",
    errno.EPERM: "Check for an immutable attribute (lsattr) and the permissions of the become user",
    errno.EACCES: "Use become: true with a user that may do this; SELinux and AppArmor log what they deny",
    errno.EIO: "Check the disk: the kernel's log (dmesg) has the cause",
}


class FileRefused(ColocationError):
    """A file that cannot or must not be changed."""


class ChangedConcurrently(FileRefused):
    """A file that another process changed, created or deleted since it was saved; it is not touched."""

    def __init__(self, path: str) -> None:
        super().__init__("it was changed by someone else during this run", "Run this again", path)


@dataclass(frozen=True)
class Saved:
    """The saved state of one path, as needed to restore it.

    ``backup`` is a file name in the transaction's directory of backups. For a file that did not exist it is None, and
    ``folders`` lists the parent directories that did not exist either, outermost first.
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
        """Build the value from a document that matches the schema."""
        return cls(**{field.name: document[field.name] for field in fields(cls)})


def file_error(error: OSError, path: str, action: str) -> FileRefused:
    """Convert a system error; the remedy depends on its errno."""
    reason = error.strerror or str(error)
    return FileRefused(f"cannot {action}: {reason}", REMEDIES.get(error.errno or 0, ""), path)


def regular_file_status(host: Host, path: str) -> os.stat_result | None:
    """The status of the file at ``path``, None if it does not exist; FileRefused if it is not a regular file."""
    require_safe_path(host, path)
    try:
        status = host.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise file_error(error, path, "look at it") from error
    if stat.S_ISLNK(status.st_mode):
        destination = host.readlink(path)
        raise FileRefused(
            f"it is a symbolic link to {destination}",
            "Use the path of the file itself as the configuration path, or replace the link with a regular file",
            path,
        )
    if not stat.S_ISREG(status.st_mode):
        raise FileRefused("it is not a regular file", "Use the path of the file that contains the configuration", path)
    return status


def require_safe_path(host: Host, path: str) -> None:
    """FileRefused if a parent directory of ``path`` is a link that another user can redirect.

    Other links are allowed, for example /var/lib/kubelet on a data disk. The files of an image belong to the user who
    builds it, and no link leads out of the image (chroot_path.py).
    """
    if not host.live:
        return
    directory = os.path.dirname(path)
    while directory != "/":
        if os.path.islink(directory):
            link, parent = os.lstat(directory), os.stat(os.path.dirname(directory))
            if link.st_uid != 0 or (parent.st_mode & 0o022 and not parent.st_mode & stat.S_ISVTX):
                raise FileRefused(
                    f"its directory {directory} is a symbolic link that users other than root can change",
                    "Use the path without that link as the configuration path",
                    path,
                )
        directory = os.path.dirname(directory)


def read_content(host: Host, path: str) -> bytes | None:
    """The bytes of a regular file, links not followed; None if it does not exist."""
    current = read_file(host, path)
    return None if current is None else current[0]


def read_file(host: Host, path: str) -> tuple[bytes, FileAttributes] | None:
    """Content and attributes of a file, read from one handle; None if it does not exist."""
    if regular_file_status(host, path) is None:
        return None
    try:
        handle = os.open(host.path(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            status = os.fstat(handle)
            return stream.read(), FileAttributes(
                stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, _xattrs(handle)
            )
    except OSError as error:
        raise file_error(error, path, "read it") from error


def content_sha256(host: Host, path: str) -> str | None:
    """Hash of a regular file; None if it does not exist."""
    content = read_content(host, path)
    return None if content is None else sha256(content)


def probe_write(host: Host, path: str, text: bytes) -> None:
    """Write ``text`` to a temporary file where ``path`` will be written, and delete it; FileRefused if that fails."""
    missing = missing_directories(host, path)
    if missing:
        _require_free_name(host, path, missing[0])
    try:
        atomic_file.probe(host.real_path(os.path.dirname(missing[0] if missing else path)), text)
    except OSError as error:
        raise file_error(error, path, f"write it ({len(text)} bytes)") from error


def _require_free_name(host: Host, path: str, directory: str) -> None:
    """FileRefused if something else exists at the path of a directory to create; a later write would fail on it."""
    if host.is_symlink(directory):
        raise FileRefused(
            f"its directory {directory} is a symbolic link to {host.readlink(directory)}, which is not a directory",
            "Create the directory that the link points to, or replace the link with a directory",
            path,
        )
    if host.lexists(directory):
        raise FileRefused(f"{directory} is not a directory", REMEDIES[errno.ENOTDIR], path)


def missing_directories(host: Host, path: str) -> list[str]:
    """Directories above ``path`` that do not exist, outermost first, as paths of the node."""
    missing: list[str] = []
    directory = os.path.dirname(path)
    while directory != "/" and not host.is_directory(directory):
        missing.insert(0, directory)
        directory = os.path.dirname(directory)
    return missing


def save(host: Host, path: str, mode: int, backups: str, name: str) -> Saved:
    """Copy the file to ``backups/name`` and describe it; ``mode`` is recorded for a file that does not exist."""
    current = read_file(host, path)
    if current is None:
        return Saved(path, None, None, mode, os.geteuid(), os.getegid(), {}, missing_directories(host, path))
    text, attributes = current
    write_private(os.path.join(backups, name), text)
    return Saved(path, name, sha256(text), attributes.mode, attributes.uid, attributes.gid, attributes.xattrs, [])


def require_unchanged(host: Host, saved: Saved) -> None:
    """ChangedConcurrently if content, owner, mode or extended attributes differ from the saved ones."""
    if not is_as_saved(read_file(host, saved.path), saved):
        raise ChangedConcurrently(saved.path)


def is_as_saved(current: tuple[bytes, FileAttributes] | None, saved: Saved) -> bool:
    """Whether a file has the content, owner, mode and extended attributes of the saved one."""
    if current is None or saved.backup is None:
        return current is None and saved.backup is None
    return sha256(current[0]) == saved.sha256 and current[1] == saved.attributes


def write(host: Host, saved: Saved, text: bytes, attributes: FileAttributes | None = None) -> None:
    """Write ``text`` to the path atomically if the file is unchanged since it was saved, else ChangedConcurrently.

    ``attributes``: mode, owner and extended attributes to set; None keeps the current ones.
    """
    target = saved if attributes is None else replace(saved, **asdict(attributes))
    _put(host, target, text, lambda: require_unchanged(host, saved))


def delete(host: Host, saved: Saved) -> None:
    """Delete the file if it is unchanged since it was saved, else ChangedConcurrently. Its directory stays."""
    require_unchanged(host, saved)
    remove(host, saved.path)


def restore(host: Host, saved: Saved, backups: str) -> None:
    """Restore the path from its backup; an unchanged file needs no disk space and may be on a read-only disk."""
    if saved.backup is not None and is_as_saved(read_file(host, saved.path), saved):
        _keep_unchanged(host, saved.path)
        return
    if saved.backup is None:
        remove(host, saved.path)
        for directory in reversed(saved.folders):
            remove_empty_directory(host.path(directory))
        return
    text = read_private(os.path.join(backups, saved.backup))
    if sha256(text) != saved.sha256:
        raise FileRefused("its backup is damaged", "Restore the file from elsewhere", saved.path)
    _put(host, saved, text, lambda: None)


def _keep_unchanged(host: Host, path: str) -> None:
    """Delete an abandoned temporary file only, and sync: the name of this file may not be on the disk yet."""
    try:
        _unlink_temporaries(host, path)
        atomic_file.sync_directory(os.path.dirname(host.path(path)))
    except OSError as error:
        raise file_error(error, path, "restore it") from error


def _unlink_temporaries(host: Host, path: str) -> None:
    for directory in _staging_directories(host, path):
        if atomic_file.remove_if_present(atomic_file.temporary_path(directory, host.path(path))):
            atomic_file.sync_directory(directory)


def remove(host: Host, path: str) -> None:
    """Delete a file and its abandoned temporary file, if they exist."""
    try:
        target = host.path(path)
        _unlink_temporaries(host, path)
        if atomic_file.remove_if_present(target):
            atomic_file.sync_directory(os.path.dirname(target))
    except OSError as error:
        raise file_error(error, path, "remove it") from error


def write_private(path: str, text: bytes) -> None:
    """Atomically and durably write a file of the collection with mode 0600."""
    temporary = atomic_file.temporary_path(os.path.dirname(path), path)
    atomic_file.write_new(temporary, text)
    os.replace(temporary, path)
    atomic_file.sync_directory(os.path.dirname(path))


def read_private(path: str) -> bytes:
    """The content of a file of the collection, links not followed; OSError of open(2)."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        return stream.read()


def make_private_directory(path: str) -> None:
    """Create a directory of the collection with mode 0700, and its parents; an existing one gets this mode.

    NotADirectoryError if something else exists at the path; it is not changed.
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
        # chmod(2) would follow a link to a directory of another owner.
        if stat.S_ISDIR(mode) and mode & 0o077:
            os.chmod(path, 0o700)


def _put(host: Host, saved: Saved, text: bytes, check_target: atomic_file.CheckTarget) -> None:
    """Replace the file, or create it if it does not exist (any more)."""
    try:
        target = host.path(saved.path)
        check_target()
        for directory in saved.folders:
            _make_directory(host.path(directory))
        if os.path.lexists(target):
            atomic_file.replace(
                target,
                text,
                _staging_directories(host, saved.path),
                lambda handle: _set_attributes(handle, saved),
                check_target,
            )
        else:
            atomic_file.create(target, text, lambda handle: _set_attributes(handle, saved))
    except FileExistsError as error:
        raise ChangedConcurrently(saved.path) from error
    except OSError as error:
        raise file_error(error, saved.path, "replace it") from error


def _staging_directories(host: Host, path: str) -> list[str]:
    """Directories for temporary files: the parent of the directory, which may be watched, then the directory itself."""
    directory = os.path.dirname(path)
    return [host.real_path(os.path.dirname(directory)), host.real_path(directory)]


def _set_attributes(handle: int, saved: Saved) -> None:
    os.chown(handle, saved.uid, saved.gid)
    if saved.backup is not None:
        for name in _xattrs(handle):
            # Inherited from a default ACL of the directory.
            if name not in saved.xattrs and name != LABEL:
                os.removexattr(handle, name)
    for name, value in saved.xattrs.items():
        os.setxattr(handle, name, bytes.fromhex(value))
    os.chmod(handle, saved.mode)


def _xattrs(handle: int) -> dict[str, str]:
    """All extended attributes as hexadecimal text: SELinux label, ACL, capabilities and others."""
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
    os.chmod(path, 0o755)  # noqa: S103 - a directory of /etc, as its package would make it
    atomic_file.sync_directory(os.path.dirname(path))


def remove_empty_directory(path: str) -> None:
    """Remove a directory of this machine if it is empty."""
    try:
        os.rmdir(path)
    except OSError as error:
        # Another process uses the directory now.
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
            raise
    else:
        atomic_file.sync_directory(os.path.dirname(path))
