# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the slices that systemd_slice manages on this node, by the first line of their files, and removes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Mapping

from ..cgroup.slice_names import SUFFIX
from ..errors import ColocationError
from ..host import Host
from ..slices import unit_files, unit_plan, unit_result
from ..slices.managed_files import CONTROLLER_UNIT_PREFIX, DROP_IN, remove_files
from ..slices.unit_files import CONFIG
from ..state import files
from ..systemd.bus import Bus

ABSENT: Mapping[str, Any] = {
    "state": "absent",
    "properties": {},
    "description": None,
    "persistent": True,
    "before": [],
    "controllers": [],
}


@dataclass(frozen=True)
class SliceRestore:
    """One slice with managed files. ``prepared`` is None if it cannot be removed; ``error`` is the reason."""

    name: str
    prepared: unit_result.PreparedSlice | None
    error: str | None = None


@dataclass(frozen=True)
class ManagedSlices:
    """``strays``: managed files that no longer belong to a slice."""

    slices: tuple[SliceRestore, ...]
    strays: tuple[str, ...]


def find_slices(host: Host) -> ManagedSlices:
    """Find managed slices without changing them; a nested slice comes before its parent."""
    managed = managed_files(host)
    names = sorted({name for name in map(_slice_of, managed) if name}, key=lambda name: (-name.count("-"), name))
    slices = tuple(_plan_slice(host, name, frozenset(names)) for name in names)
    covered = {change.path for slice_ in slices if slice_.prepared for change in slice_.prepared.plan.files}
    failed = {slice_.name for slice_ in slices if slice_.prepared is None}
    strays = tuple(path for path in managed if path not in covered and _slice_of(path) not in failed)
    return ManagedSlices(slices, strays)


def restore_slices(host: Host, managed: ManagedSlices) -> None:
    """Remove every slice; ColocationError for the first failure, after which the earlier ones stay removed."""
    with unit_result.slice_lock(host, "restore of slices"):
        _restore_slices(host, managed)


def _restore_slices(host: Host, managed: ManagedSlices) -> None:
    for slice_ in managed.slices:
        unit_result.apply_prepared(host, unit_result.prepare(host, {**ABSENT, "name": slice_.name}))
    if managed.strays:
        remove_files(host, managed.strays)
        if host.live:
            Bus(host).reload()


def restore_result(host: Host, managed: ManagedSlices) -> dict[str, Any]:
    """The slices and stray files for the module result."""
    return {
        "slices": [_slice_result(slice_) for slice_ in managed.slices],
        "strays": [_stray_result(host, path) for path in managed.strays],
    }


def managed_files(host: Host) -> list[str]:
    """Paths of unit files and drop-ins whose first line marks them as managed."""
    candidates = []
    for name in host.list(CONFIG):
        if name.endswith(SUFFIX) or (name.startswith(CONTROLLER_UNIT_PREFIX) and name.endswith(".service")):
            candidates.append(f"{CONFIG}/{name}")
        elif name.endswith(f"{SUFFIX}.d") and DROP_IN in host.list(f"{CONFIG}/{name}"):
            candidates.append(f"{CONFIG}/{name}/{DROP_IN}")
    return [path for path in candidates if unit_files.is_managed(_text(host, path))]


def _slice_of(path: str) -> str:
    """The slice of a unit file, drop-in or controller unit."""
    name = path[len(CONFIG) + 1 :].partition("/")[0]
    if name.startswith(CONTROLLER_UNIT_PREFIX):
        return name[len(CONTROLLER_UNIT_PREFIX) : -len(".service")] + SUFFIX
    return name[: -len(".d")] if name.endswith(".d") else name


def _text(host: Host, path: str) -> str:
    try:
        content = files.read_content(host, path)
    except ColocationError:
        # A link, for example of systemctl enable, is not a managed file.
        return ""
    return (content or b"").decode("utf-8", "surrogateescape")


def _plan_slice(host: Host, name: str, managed: frozenset[str]) -> SliceRestore:
    try:
        request, state = unit_result.observe_request(host, {**ABSENT, "name": name})
        # Managed slices nested in this one are removed before it.
        state = replace(state, nested=tuple(nested for nested in state.nested if nested not in managed))
        return SliceRestore(name, unit_result.PreparedSlice(request, state, unit_plan.plan_slice(request, state)))
    except ColocationError as error:
        return SliceRestore(name, None, str(error))


def _slice_result(slice_: SliceRestore) -> dict[str, Any]:
    prepared = slice_.prepared
    return {
        "name": slice_.name,
        "error": slice_.error,
        "diff": unit_plan.render_diff(prepared.request, prepared.state, prepared.plan) if prepared else [],
        "warnings": unit_result.warnings(prepared) if prepared else [],
    }


def _stray_result(host: Host, path: str) -> dict[str, Any]:
    return {"path": path, "text": _text(host, path)}
