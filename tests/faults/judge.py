# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether a node ended as before or as planned; describes all differences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from .fault import End
from .picture import Picture, differences

NEW_FILE = "-rw-r--r-- 0:0"
"""Mode and owner of a file that a plan creates."""

POLICY = {"cpu_manager_state": "static", "memory_manager_state": "None"}
"""Policies of the tests' profile; kubelet decides the remaining content of a checkpoint."""

CHECKPOINTS = tuple(f"/var/lib/kubelet/{name}" for name in POLICY)

PODS_BY_SYSTEMD = re.compile(
    r"/kubepods\.slice/(kubepods-\w+\.slice/)?kubepods-(\w+-)?pod\w+\.slice/cri-containerd-ID\.scope\Z"
)
"""kubelet pkg/kubelet/cm, containerd getCgroupsPath; ids are left out."""


def reached(before: Picture, after: Picture, allowed: Iterable[End]) -> tuple[End | None, tuple[str, ...]]:
    """Return the allowed end that the node reached and (); else None and the differences from the nearest one."""
    problems = {end: tuple(faults(before, after, end)) for end in allowed}
    for end, wrong in problems.items():
        if not wrong:
            return end, ()
    return None, min(problems.values(), key=len)


def faults(before: Picture, after: Picture, end: End) -> Iterator[str]:
    """Yield the differences from this end."""
    yield from (f"left behind: {name}" for name in after.managed)
    yield from (f"unfinished: {name}" for name in after.unfinished)
    yield from differences(before.units, after.units)
    if end is End.BEFORE:
        yield from differences(before.files, after.files)
        yield from _other_pods(before, after)
    else:
        yield from differences(as_planned(before, after).files, after.files)
        yield from differences(POLICY, after.checkpoints)
        yield from _wrong_pods(before, after)


def as_planned(before: Picture, after: Picture) -> Picture:
    """Return the earlier picture with the committed files; checkpoints are compared by policy only."""
    files = dict(before.files)
    for path, sha256 in after.planned.items():
        if sha256 is None:
            files.pop(path, None)
        else:
            attributes = " ".join(files[path].split()[:2]) if path in files else NEW_FILE
            files[path] = f"{attributes} {sha256}"
    files.update({path: after.files[path] for path in CHECKPOINTS if path in after.files})
    return replace(before, files=files)


def not_aligned(before: Picture, after: Picture) -> tuple[str, ...]:
    """Return why a node is not aligned, according to the kernel and kubelet."""
    return (*_wrong_pods(before, after), *differences(POLICY, after.checkpoints))


def _other_pods(before: Picture, after: Picture) -> Iterator[str]:
    if before.pods != after.pods:
        yield f"pods: {', '.join(before.pods)} -> {', '.join(after.pods) or 'none'}"


def _wrong_pods(before: Picture, after: Picture) -> Iterator[str]:
    if not after.planned:
        yield "nothing was committed"
    if len(before.pods) != len(after.pods):
        yield f"pods: {len(before.pods)} containers -> {len(after.pods)}"
    yield from (f"pods: {path} is not in systemd's shape" for path in after.pods if not PODS_BY_SYSTEMD.match(path))


def is_stable(before: Picture, now: Picture) -> bool:
    """Whether no unit or transaction of the collection is active, and as many containers run as before."""
    return not (now.managed or now.unfinished) and now.units == before.units and len(now.pods) == len(before.pods)
