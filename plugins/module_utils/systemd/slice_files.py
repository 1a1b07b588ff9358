# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a slice: its unit file or our drop-in, the link that starts it at boot, the companion's unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from ..cgroup.slices import ROOT
from ..errors import ColocationError
from ..host import Host
from ..transaction import files
from . import unit_text
from .drop_ins import CONFIG, RUNTIME_CONFIG, VENDOR
from .kubelet_slices import is_kubelets
from .slice_request import Request

DROP_IN = "50-volcano-colocation.conf"
HELPER = "volcano-colocation-cgroups-"
"""How the names of companions begin."""
WANTS = CONFIG + "/slices.target.wants"
_SHIPPED = frozenset((ROOT, "system.slice", "user.slice", "machine.slice"))
"""systemd's own, with or without a unit file: src/core/slice.c slice_make_perpetual(), units/."""


@dataclass(frozen=True)
class Places:
    """Where a slice's settings are kept. ``link`` is None for slices that somebody else starts."""

    settings: str
    link: str | None


@dataclass(frozen=True)
class FileChange:
    """A text that comes, changes (both texts) or goes (``after`` None)."""

    path: str
    before: str | None
    after: str | None


def places(host: Host, name: str, unit: Mapping[str, object]) -> Places:
    """Slices that somebody else makes get a drop-in, all others a unit file; ``unit``: its D-Bus properties."""
    elsewhere = [f"{place}/{name}" for place in (RUNTIME_CONFIG, *VENDOR)]
    if name in _SHIPPED or is_kubelets(name) or unit.get("Transient") or any(host.lexists(path) for path in elsewhere):
        return Places(f"{CONFIG}/{name}.d/{DROP_IN}", None)
    return Places(f"{CONFIG}/{name}", f"{WANTS}/{name}")


def own_text(host: Host, request: Request, path: str) -> str | None:
    """The text of a file of ours, None when there is none.

    ColocationError for anybody else's, unless the request needs no file.
    """
    found = files.content(host, path)
    if found is None:
        return None
    text = found.decode("utf-8", "surrogateescape")
    if not unit_text.is_ours(text):
        if request.present and not request.persistent:
            return None
        raise ColocationError(
            "this file is not ours: its first line does not name volcano.colocation",
            "Remove the file, choose another slice, or set properties of this one with persistent: false",
            file=path,
        )
    return text


def link_is_there(host: Host, request: Request, where: Places) -> bool:
    """Whether our link is; ColocationError for anything else in its place."""
    link, target = where.link, where.settings
    somebody_elses = own_text(host, request, target) is None and host.lexists(target)
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


def wanted(request: Request, where: Places) -> dict[str, str]:
    """Path: text, of every file the request needs."""
    if not request.present or not request.persistent:
        return {}
    helper = request.companion
    found = {helper.path: helper.text()} if helper and where.link else {}
    if where.link is None:
        # A drop-in of nothing would be read at every boot for nothing.
        return {where.settings: unit_text.drop_in(request.settings)} if request.settings else {}
    wants = [helper.unit] if helper else []
    text = unit_text.unit_file(request.description, request.before, wants, request.settings)
    return {where.settings: text, **found}


def changes(host: Host, request: Request, where: Places) -> tuple[FileChange, ...]:
    """What is to be written and removed; the companion of an earlier request is known by its name."""
    texts = wanted(request, where)
    helper = f"{CONFIG}/{HELPER}{request.name[: -len('.slice')]}.service"
    found = []
    for path in (helper, where.settings):
        before, after = own_text(host, request, path), texts.get(path)
        if before != after:
            found.append(FileChange(path, before, after))
    return tuple(found)
