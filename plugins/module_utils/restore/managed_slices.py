# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The slices that systemd_slice keeps on this node, found by the first line of their files, and taken back."""

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
    """One slice with files of ours. ``work`` is None where it cannot be taken back, for the reason in ``error``."""

    name: str
    work: unit_result.PreparedSlice | None
    error: str | None = None


@dataclass(frozen=True)
class ManagedSlices:
    """``strays``: files of ours that belong to no slice any more."""

    slices: tuple[SliceRestore, ...]
    strays: tuple[str, ...]


def find_slices(host: Host) -> ManagedSlices:
    """Nothing is changed. Slices come before those that they lie in."""
    ours = managed_files(host)
    names = sorted({name for name in map(_slice_of, ours) if name}, key=lambda name: (-name.count("-"), name))
    kept = tuple(_plan_slice(host, name, frozenset(names)) for name in names)
    covered = {change.path for each in kept if each.work for change in each.work.plan.files}
    failed = {each.name for each in kept if each.work is None}
    return ManagedSlices(kept, tuple(path for path in ours if path not in covered and _slice_of(path) not in failed))


def restore_slices(host: Host, wanted: ManagedSlices) -> None:
    """Take every slice back; ColocationError for the first that cannot be, those before it are gone by then."""
    with unit_result.slice_lock(host, "restore of slices"):
        _restore_slices(host, wanted)


def _restore_slices(host: Host, wanted: ManagedSlices) -> None:
    for each in wanted.slices:
        unit_result.apply_prepared(host, unit_result.prepare(host, {**ABSENT, "name": each.name}))
    if wanted.strays:
        remove_files(host, wanted.strays)
        if host.live:
            Bus(host).reload()


def restore_result(host: Host, wanted: ManagedSlices) -> dict[str, Any]:
    """As the result shows it."""
    return {
        "slices": [_slice_result(each) for each in wanted.slices],
        "strays": [_stray_result(host, p) for p in wanted.strays],
    }


def managed_files(host: Host) -> list[str]:
    """Paths of the unit files and drop-ins whose first line says that they are ours."""
    candidates = []
    for name in host.list(CONFIG):
        if name.endswith(SUFFIX) or (name.startswith(CONTROLLER_UNIT_PREFIX) and name.endswith(".service")):
            candidates.append(f"{CONFIG}/{name}")
        elif name.endswith(f"{SUFFIX}.d") and DROP_IN in host.list(f"{CONFIG}/{name}"):
            candidates.append(f"{CONFIG}/{name}/{DROP_IN}")
    return [path for path in candidates if unit_files.is_managed(_text(host, path))]


def _slice_of(path: str) -> str:
    """The slice that a file belongs to; of the unit beside it, the slice it is named after."""
    name = path[len(CONFIG) + 1 :].partition("/")[0]
    if name.startswith(CONTROLLER_UNIT_PREFIX):
        return name[len(CONTROLLER_UNIT_PREFIX) : -len(".service")] + SUFFIX
    return name[: -len(".d")] if name.endswith(".d") else name


def _text(host: Host, path: str) -> str:
    try:
        found = files.read_content(host, path)
    except ColocationError:
        # A link, as systemctl enable makes them, is not ours.
        return ""
    return (found or b"").decode("utf-8", "surrogateescape")


def _plan_slice(host: Host, name: str, ours: frozenset[str]) -> SliceRestore:
    try:
        request, state = unit_result.observe_request(host, {**ABSENT, "name": name})
        # Slices of ours that lie in this one go before it.
        state = replace(state, nested=tuple(each for each in state.nested if each not in ours))
        return SliceRestore(name, unit_result.PreparedSlice(request, state, unit_plan.plan_slice(request, state)))
    except ColocationError as error:
        return SliceRestore(name, None, str(error))


def _slice_result(kept: SliceRestore) -> dict[str, Any]:
    work = kept.work
    return {
        "name": kept.name,
        "error": kept.error,
        "diff": unit_plan.render_diff(work.request, work.state, work.plan) if work else [],
        "warnings": unit_result.warnings(work) if work else [],
    }


def _stray_result(host: Host, path: str) -> dict[str, Any]:
    return {"path": path, "text": _text(host, path)}
