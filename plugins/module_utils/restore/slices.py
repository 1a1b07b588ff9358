# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The slices that systemd_slice keeps on this node, found by the first line of their files, and taken back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Mapping

from ..cgroup.slices import SUFFIX
from ..errors import ColocationError
from ..host import Host
from ..systemd import slice_plan, slice_work, unit_text
from ..systemd.bus import Bus
from ..systemd.drop_ins import CONFIG
from ..systemd.slice_files import DROP_IN, HELPER
from ..systemd.slice_writing import discard
from ..transaction import files

ABSENT: Mapping[str, Any] = {
    "state": "absent",
    "properties": {},
    "description": None,
    "persistent": True,
    "before": [],
    "controllers": [],
}


@dataclass(frozen=True)
class Kept:
    """One slice with files of ours. ``work`` is None where it cannot be taken back, for the reason in ``error``."""

    name: str
    work: slice_work.Work | None
    error: str | None = None


@dataclass(frozen=True)
class Found:
    """``strays``: files of ours that belong to no slice any more."""

    slices: tuple[Kept, ...]
    strays: tuple[str, ...]


def found(host: Host) -> Found:
    """Nothing is changed. Slices come before those that they lie in."""
    ours = our_files(host)
    names = sorted({name for name in map(_slice_of, ours) if name}, key=lambda name: (-name.count("-"), name))
    kept = tuple(_kept(host, name, frozenset(names)) for name in names)
    covered = {change.path for each in kept if each.work for change in each.work.plan.files}
    failed = {each.name for each in kept if each.work is None}
    return Found(kept, tuple(path for path in ours if path not in covered and _slice_of(path) not in failed))


def carry_out(host: Host, wanted: Found) -> None:
    """Take every slice back; ColocationError for the first that cannot be, those before it are gone by then."""
    with slice_work.turn_of(host, "restore of slices"):
        _carry_out(host, wanted)


def _carry_out(host: Host, wanted: Found) -> None:
    for each in wanted.slices:
        slice_work.carried_out(host, slice_work.prepared(host, {**ABSENT, "name": each.name}))
    if wanted.strays:
        discard(host, wanted.strays)
        if host.live:
            Bus(host).reload()


def described(host: Host, wanted: Found) -> dict[str, Any]:
    """As the result shows it."""
    return {"slices": [_described(each) for each in wanted.slices], "strays": [_stray(host, p) for p in wanted.strays]}


def our_files(host: Host) -> list[str]:
    """Paths of the unit files and drop-ins whose first line says that they are ours."""
    candidates = []
    for name in host.list(CONFIG):
        if name.endswith(SUFFIX) or (name.startswith(HELPER) and name.endswith(".service")):
            candidates.append(f"{CONFIG}/{name}")
        elif name.endswith(f"{SUFFIX}.d") and DROP_IN in host.list(f"{CONFIG}/{name}"):
            candidates.append(f"{CONFIG}/{name}/{DROP_IN}")
    return [path for path in candidates if unit_text.is_ours(_text(host, path))]


def _slice_of(path: str) -> str:
    """The slice that a file belongs to; of the unit beside it, the slice it is named after."""
    name = path[len(CONFIG) + 1 :].partition("/")[0]
    if name.startswith(HELPER):
        return name[len(HELPER) : -len(".service")] + SUFFIX
    return name[: -len(".d")] if name.endswith(".d") else name


def _text(host: Host, path: str) -> str:
    try:
        found = files.content(host, path)
    except ColocationError:
        # A link, as systemctl enable makes them, is not ours.
        return ""
    return (found or b"").decode("utf-8", "surrogateescape")


def _kept(host: Host, name: str, ours: frozenset[str]) -> Kept:
    try:
        request, state = slice_work.looked_at(host, {**ABSENT, "name": name})
        # Slices of ours that lie in this one go before it.
        state = replace(state, nested=tuple(each for each in state.nested if each not in ours))
        return Kept(name, slice_work.Work(request, state, slice_plan.plan(request, state)))
    except ColocationError as error:
        return Kept(name, None, str(error))


def _described(kept: Kept) -> dict[str, Any]:
    work = kept.work
    return {
        "name": kept.name,
        "error": kept.error,
        "diff": slice_plan.diff(work.request, work.state, work.plan) if work else [],
        "warnings": slice_work.warnings(work) if work else [],
    }


def _stray(host: Host, path: str) -> dict[str, Any]:
    return {"path": path, "text": _text(host, path)}
