# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing a slice's files: all of them, or none when a later step fails."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager, suppress
from typing import Iterable, Iterator, Sequence

from ..host import Host
from ..transaction import durable, files
from .slice_files import FileChange

MODE = 0o644
RUN = "/run"


@contextmanager
def written(host: Host, changes: Sequence[FileChange], link: str | None, target: str | None) -> Iterator[None]:
    """The files are as planned inside; after an error inside, they are as they were.

    ``link`` is made to point at ``target``, or removed when that is None; None leaves links alone.
    """
    with tempfile.TemporaryDirectory(prefix="volcano-colocation-", dir=_private()) as backups:
        saved = [files.save(host, each.path, MODE, backups, str(place)) for place, each in enumerate(changes)]
        linked_to = host.readlink(link) if link is not None and host.is_link(link) else None
        folders = [] if link is None else files.missing_folders(host, link)
        try:
            # A link goes before its file, which says that both are ours, and comes after it.
            if link is not None and target is None:
                discard(host, [link])
            for each, old in zip(changes, saved):
                _put(host, each, old)
            if link is not None and target is not None:
                _link(host, link, target)
            yield
        except BaseException:
            _undo(host, saved, backups)
            if link is not None:
                _link(host, link, linked_to)
                _empty(host, folders)
            raise


def require_writable(host: Host, changes: Iterable[FileChange], link: str | None) -> None:
    """FileRefused where a file, or the link, could not be written; nothing is changed."""
    for each in changes:
        files.probe(host, each.path, (each.after or "").encode("utf-8", "surrogateescape"))
    if link is not None:
        files.require_place(host, link)
        files.probe(host, link, b"")


def _private() -> str | None:
    """Where only root writes; None, for the user's own, where an image is built without being root."""
    return RUN if os.access(RUN, os.W_OK) else None


def discard(host: Host, paths: Iterable[str]) -> None:
    """Remove files or links, and the folders that hold nothing else."""
    for path in paths:
        try:
            if durable.unlink_if_there(host.path(path)):
                durable.sync_folder(os.path.dirname(host.path(path)))
        except OSError as error:
            raise files.refused(error, path, "remove it") from error
        _empty(host, [os.path.dirname(path)])


def _put(host: Host, change: FileChange, saved: files.Saved) -> None:
    if change.after is None:
        files.require_unchanged(host, saved)
        discard(host, [change.path])
        return
    files.write(host, saved, change.after.encode("utf-8", "surrogateescape"))


def _link(host: Host, link: str, target: str | None) -> None:
    if target is None:
        discard(host, [link])
        return
    if host.lexists(link):
        return
    try:
        place = host.path(link)
        os.makedirs(os.path.dirname(place), mode=0o755, exist_ok=True)
        os.symlink(target, place)
        durable.sync_folder(os.path.dirname(place))
    except OSError as error:
        raise files.refused(error, link, "make the link") from error


def _undo(host: Host, saved: Sequence[files.Saved], backups: str) -> None:
    for each in reversed(saved):
        files.restore(host, each, backups)


def _empty(host: Host, folders: Sequence[str]) -> None:
    """Remove drop-in and wants folders of systemd that hold nothing any more."""
    for folder in reversed(folders):
        if folder.endswith((".d", ".wants")):
            with suppress(OSError):
                os.rmdir(host.path(folder))
