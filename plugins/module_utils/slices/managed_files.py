# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a slice: its unit file or managed drop-in, the link that starts it at boot, and the controller unit.

Either all of them are written, or none if a later step fails.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Iterable, Iterator, Mapping, Sequence

from ..cgroup.slice_names import ROOT
from ..errors import ColocationError
from ..host import Host
from ..state import atomic_file, files
from . import unit_files
from .property_knobs import is_kubelet_slice
from .unit_files import CONFIG, RUNTIME_CONFIG, VENDOR
from .unit_request import Request

DROP_IN = "50-volcano-colocation.conf"
CONTROLLER_UNIT_PREFIX = "volcano-colocation-cgroups-"
"""Prefix of the names of controller units."""
WANTS = CONFIG + "/slices.target.wants"
_SHIPPED = frozenset((ROOT, "system.slice", "user.slice", "machine.slice"))
"""systemd's own slices, with or without a unit file: src/core/slice.c slice_make_perpetual(), units/."""


@dataclass(frozen=True)
class FileLocations:
    """Path of the file with a slice's settings, and of its boot link; ``link`` is None for foreign slices."""

    settings: str
    link: str | None


@dataclass(frozen=True)
class FileChange:
    """A file that is created (``before`` is None), changed, or deleted (``after`` is None)."""

    path: str
    before: str | None
    after: str | None


def locate_files(host: Host, name: str, unit: Mapping[str, object]) -> FileLocations:
    """A drop-in for a foreign slice, a unit file for all others; ``unit`` has the slice's D-Bus properties."""
    elsewhere = [f"{place}/{name}" for place in (RUNTIME_CONFIG, *VENDOR)]
    if (
        name in _SHIPPED
        or is_kubelet_slice(name)
        or unit.get("Transient")
        or any(host.lexists(path) for path in elsewhere)
    ):
        return FileLocations(f"{CONFIG}/{name}.d/{DROP_IN}", None)
    return FileLocations(f"{CONFIG}/{name}", f"{WANTS}/{name}")


def managed_text(host: Host, request: Request, path: str) -> str | None:
    """The content of a managed file; None if it does not exist.

    ColocationError for a foreign file, unless the request needs no file.
    """
    content = files.read_content(host, path)
    if content is None:
        return None
    text = content.decode("utf-8", "surrogateescape")
    if not unit_files.is_managed(text):
        if request.present and not request.persistent:
            return None
        raise ColocationError(
            "volcano.colocation does not manage this file: its first line does not name the collection",
            "Remove the file, choose another slice, or set properties of this one with persistent: false",
            file=path,
        )
    return text


def has_boot_link(host: Host, request: Request, locations: FileLocations) -> bool:
    """Whether the managed boot link exists; ColocationError for anything else in its place."""
    link, target = locations.link, locations.settings
    foreign = managed_text(host, request, target) is None and host.lexists(target)
    if link is None or foreign:
        return False
    try:
        actual = host.readlink(link)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ColocationError(f"it is not a symbolic link: {error.strerror}", "Remove it", link) from error
    if actual != target:
        raise ColocationError(f"it is a link to {actual}, not to {target}", "Remove it (systemctl disable)", link)
    return True


def desired_files(request: Request, locations: FileLocations) -> dict[str, str]:
    """Content by path of every file that the request needs."""
    if not request.present or not request.persistent:
        return {}
    controller_unit = request.controller_unit
    texts = {controller_unit.path: controller_unit.text()} if controller_unit and locations.link else {}
    if locations.link is None:
        # An empty drop-in would have no effect, but systemd would read it at every boot.
        return {locations.settings: unit_files.render_drop_in(request.settings)} if request.settings else {}
    wants = [controller_unit.unit] if controller_unit else []
    text = unit_files.render_unit_file(request.description, request.before, wants, request.settings)
    return {locations.settings: text, **texts}


def plan_file_changes(host: Host, request: Request, locations: FileLocations) -> tuple[FileChange, ...]:
    """The files to write and delete; the controller unit of an earlier request is identified by its name."""
    texts = desired_files(request, locations)
    controller_unit = f"{CONFIG}/{CONTROLLER_UNIT_PREFIX}{request.name[: -len('.slice')]}.service"
    changes = []
    for path in (controller_unit, locations.settings):
        before, after = managed_text(host, request, path), texts.get(path)
        if before != after:
            changes.append(FileChange(path, before, after))
    return tuple(changes)


MODE = 0o644
RUN = "/run"


@contextmanager
def apply_file_changes(
    host: Host, changes: Sequence[FileChange], link: str | None, target: str | None
) -> Iterator[None]:
    """Apply the changes for the time of the context; an error inside of it restores all files.

    ``link`` is pointed at ``target``, or deleted if ``target`` is None. Without ``link`` no link is changed.
    """
    with tempfile.TemporaryDirectory(prefix="volcano-colocation-", dir=_backup_directory()) as backup_directory:
        backups = [
            files.save(host, change.path, MODE, backup_directory, str(place)) for place, change in enumerate(changes)
        ]
        previous_target = host.readlink(link) if link is not None and host.is_symlink(link) else None
        directories = [] if link is None else files.missing_directories(host, link)
        try:
            # The file shows that both are managed, so delete a link before its file and make it after its file.
            if link is not None and target is None:
                remove_files(host, [link])
            for change, backup in zip(changes, backups):
                _apply_change(host, change, backup)
            if link is not None and target is not None:
                _link(host, link, target)
            yield
        except BaseException:
            _undo(host, backups, backup_directory)
            if link is not None:
                _link(host, link, previous_target)
                _remove_empty_directories(host, directories)
            raise


def require_writable(host: Host, changes: Iterable[FileChange], link: str | None) -> None:
    """FileRefused if a file or the link cannot be written. Nothing is changed."""
    for change in changes:
        files.probe_write(host, change.path, (change.after or "").encode("utf-8", "surrogateescape"))
    if link is not None:
        files.require_safe_path(host, link)
        files.probe_write(host, link, b"")


def _backup_directory() -> str | None:
    """A directory that only root can write; None (the user's default) if an image is built without root."""
    return RUN if os.access(RUN, os.W_OK) else None


def remove_files(host: Host, paths: Iterable[str]) -> None:
    """Delete files or links, and their directories if they are empty then."""
    for path in paths:
        try:
            if atomic_file.remove_if_present(host.path(path)):
                atomic_file.sync_directory(os.path.dirname(host.path(path)))
        except OSError as error:
            raise files.file_error(error, path, "remove it") from error
        _remove_empty_directories(host, [os.path.dirname(path)])


def _apply_change(host: Host, change: FileChange, backup: files.Saved) -> None:
    if change.after is None:
        files.require_unchanged(host, backup)
        remove_files(host, [change.path])
        return
    files.write(host, backup, change.after.encode("utf-8", "surrogateescape"))


def _link(host: Host, link: str, target: str | None) -> None:
    if target is None:
        remove_files(host, [link])
        return
    if host.lexists(link):
        return
    try:
        real_path = host.path(link)
        os.makedirs(os.path.dirname(real_path), mode=0o755, exist_ok=True)
        os.symlink(target, real_path)
        atomic_file.sync_directory(os.path.dirname(real_path))
    except OSError as error:
        raise files.file_error(error, link, "make the link") from error


def _undo(host: Host, backups: Sequence[files.Saved], backup_directory: str) -> None:
    for backup in reversed(backups):
        files.restore(host, backup, backup_directory)


def _remove_empty_directories(host: Host, directories: Sequence[str]) -> None:
    """Delete systemd's drop-in and wants directories that are empty."""
    for directory in reversed(directories):
        if directory.endswith((".d", ".wants")):
            with suppress(OSError):
                os.rmdir(host.path(directory))
