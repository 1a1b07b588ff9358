# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a slice: its unit file or our drop-in, the link that starts it at boot, the controller unit.

All of them are written, or none when a later step fails.
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
"""How the names of companions begin."""
WANTS = CONFIG + "/slices.target.wants"
_SHIPPED = frozenset((ROOT, "system.slice", "user.slice", "machine.slice"))
"""systemd's own, with or without a unit file: src/core/slice.c slice_make_perpetual(), units/."""


@dataclass(frozen=True)
class FileLocations:
    """Where a slice's settings are kept. ``link`` is None for slices that somebody else starts."""

    settings: str
    link: str | None


@dataclass(frozen=True)
class FileChange:
    """A text that comes, changes (both texts) or goes (``after`` None)."""

    path: str
    before: str | None
    after: str | None


def locate_files(host: Host, name: str, unit: Mapping[str, object]) -> FileLocations:
    """Slices that somebody else makes get a drop-in, all others a unit file; ``unit``: its D-Bus properties."""
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
    """The text of a file of ours, None when there is none.

    ColocationError for anybody else's, unless the request needs no file.
    """
    found = files.read_content(host, path)
    if found is None:
        return None
    text = found.decode("utf-8", "surrogateescape")
    if not unit_files.is_managed(text):
        if request.present and not request.persistent:
            return None
        raise ColocationError(
            "this file is not ours: its first line does not name volcano.colocation",
            "Remove the file, choose another slice, or set properties of this one with persistent: false",
            file=path,
        )
    return text


def has_boot_link(host: Host, request: Request, where: FileLocations) -> bool:
    """Whether our link is; ColocationError for anything else in its place."""
    link, target = where.link, where.settings
    somebody_elses = managed_text(host, request, target) is None and host.lexists(target)
    if link is None or somebody_elses:
        return False
    try:
        found = host.readlink(link)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ColocationError(f"something else than a link is there: {error.strerror}", "Remove it", link) from error
    if found != target:
        raise ColocationError(f"it is a link to {found}, not to {target}", "Remove it (systemctl disable)", link)
    return True


def desired_files(request: Request, where: FileLocations) -> dict[str, str]:
    """Path: text, of every file the request needs."""
    if not request.present or not request.persistent:
        return {}
    helper = request.controller_unit
    found = {helper.path: helper.text()} if helper and where.link else {}
    if where.link is None:
        # A drop-in of nothing would be read at every boot for nothing.
        return {where.settings: unit_files.render_drop_in(request.settings)} if request.settings else {}
    wants = [helper.unit] if helper else []
    text = unit_files.render_unit_file(request.description, request.before, wants, request.settings)
    return {where.settings: text, **found}


def plan_file_changes(host: Host, request: Request, where: FileLocations) -> tuple[FileChange, ...]:
    """What is to be written and removed; the companion of an earlier request is known by its name."""
    texts = desired_files(request, where)
    helper = f"{CONFIG}/{CONTROLLER_UNIT_PREFIX}{request.name[: -len('.slice')]}.service"
    found = []
    for path in (helper, where.settings):
        before, after = managed_text(host, request, path), texts.get(path)
        if before != after:
            found.append(FileChange(path, before, after))
    return tuple(found)


MODE = 0o644
RUN = "/run"


@contextmanager
def apply_file_changes(
    host: Host, changes: Sequence[FileChange], link: str | None, target: str | None
) -> Iterator[None]:
    """The files are as planned inside; after an error inside, they are as they were.

    ``link`` is made to point at ``target``, or removed when that is None; None leaves links alone.
    """
    with tempfile.TemporaryDirectory(prefix="volcano-colocation-", dir=_backup_directory()) as backups:
        saved = [files.save(host, each.path, MODE, backups, str(place)) for place, each in enumerate(changes)]
        linked_to = host.readlink(link) if link is not None and host.is_symlink(link) else None
        folders = [] if link is None else files.missing_directories(host, link)
        try:
            # A link goes before its file, which says that both are ours, and comes after it.
            if link is not None and target is None:
                remove_files(host, [link])
            for each, old in zip(changes, saved):
                _apply_change(host, each, old)
            if link is not None and target is not None:
                _link(host, link, target)
            yield
        except BaseException:
            _undo(host, saved, backups)
            if link is not None:
                _link(host, link, linked_to)
                _remove_empty_directories(host, folders)
            raise


def require_writable(host: Host, changes: Iterable[FileChange], link: str | None) -> None:
    """FileRefused where a file, or the link, could not be written; nothing is changed."""
    for each in changes:
        files.probe_write(host, each.path, (each.after or "").encode("utf-8", "surrogateescape"))
    if link is not None:
        files.require_safe_path(host, link)
        files.probe_write(host, link, b"")


def _backup_directory() -> str | None:
    """Where only root writes; None, for the user's own, where an image is built without being root."""
    return RUN if os.access(RUN, os.W_OK) else None


def remove_files(host: Host, paths: Iterable[str]) -> None:
    """Remove files or links, and the folders that hold nothing else."""
    for path in paths:
        try:
            if atomic_file.remove_if_present(host.path(path)):
                atomic_file.sync_directory(os.path.dirname(host.path(path)))
        except OSError as error:
            raise files.file_error(error, path, "remove it") from error
        _remove_empty_directories(host, [os.path.dirname(path)])


def _apply_change(host: Host, change: FileChange, saved: files.Saved) -> None:
    if change.after is None:
        files.require_unchanged(host, saved)
        remove_files(host, [change.path])
        return
    files.write(host, saved, change.after.encode("utf-8", "surrogateescape"))


def _link(host: Host, link: str, target: str | None) -> None:
    if target is None:
        remove_files(host, [link])
        return
    if host.lexists(link):
        return
    try:
        place = host.path(link)
        os.makedirs(os.path.dirname(place), mode=0o755, exist_ok=True)
        os.symlink(target, place)
        atomic_file.sync_directory(os.path.dirname(place))
    except OSError as error:
        raise files.file_error(error, link, "make the link") from error


def _undo(host: Host, saved: Sequence[files.Saved], backups: str) -> None:
    for each in reversed(saved):
        files.restore(host, each, backups)


def _remove_empty_directories(host: Host, folders: Sequence[str]) -> None:
    """Remove drop-in and wants folders of systemd that hold nothing any more."""
    for folder in reversed(folders):
        if folder.endswith((".d", ".wants")):
            with suppress(OSError):
                os.rmdir(host.path(folder))
