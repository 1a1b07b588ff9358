# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a plan for containerd is not carried out: the files it would write, and what containerd would make of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....module_utils.cgroup.kubelet_names import Driver
from ...facts import containerd_defects as containerd
from ...facts.containerd_layers import Layers, declared_handlers, imported_paths, source_of, systemd_cgroup_option
from ...facts.runtime_state import RuntimeFacts
from ..change_set import Change, Refusal
from ..containerd_changes import files_after, nri_values
from ..containerd_location import own_paths
from ..draft import PlanDraft
from .model import Rule, unsafe_file

FOLDER = "/etc/containerd/"
WOULD_NOT_START = {
    containerd.TOO_NEW: "containerd would not start with it",
    containerd.TYPE: "containerd would not start with it",
    containerd.MISSING: "containerd would not start with it",
    containerd.PATTERN: "containerd would not start with it",
    containerd.INVALID: "containerd would not start with it",
    containerd.MIXED: "containerd loses settings, or does not start, where versions are mixed",
    containerd.LEGACY: "the CRI plugin would not start with it",
    containerd.UNDECLARED: "the CRI plugin would not start with it",
}
"""Defects that a restart would bring into force."""


def _read(draft: PlanDraft) -> Iterator[Refusal]:
    """Files that count and cannot be read, so that nobody can tell what is in force."""
    runtime = draft.runtime
    for config in runtime.layers[1:]:
        yield from unsafe_file(config)
    for path in runtime.merged.unseen:
        yield Refusal(
            "containerd-imports",
            f"imports {path}, which was not looked at",
            "Import fewer files, or files that can be read.",
            file=runtime.config.path,
        )


def _written(draft: PlanDraft) -> Iterator[Refusal]:
    runtime = draft.runtime
    changes = draft.runtime_changes
    paths = {each.path for each in changes if each.path}
    for path in sorted(paths - {runtime.config.path}):
        config = files_after(runtime, ()).get(path)
        if not path.startswith(FOLDER) and path not in own_paths(draft.facts):
            yield Refusal(
                "containerd-imports",
                f"it is imported, counts instead of {runtime.config.path}, and is no file of {FOLDER}",
                "Change it where it is made, or take it out of imports.",
                file=path,
            )
        elif config is not None:
            yield from unsafe_file(config)
    yield from _imported_again(runtime, changes, paths)


def _imported_again(runtime: RuntimeFacts, changes: Sequence[Change], paths: set[str]) -> Iterator[Refusal]:
    """A file left as it is that imports a changed one cannot be shown to containerd before the change is made."""
    after = files_after(runtime, changes)
    for config in runtime.merged.files[1:]:
        again = paths & set(imported_paths(config, after, runtime.version))
        if again and config.path not in paths:
            yield Refusal(
                "containerd-imports",
                f"it imports {', '.join(sorted(again))}, which would be changed",
                f"Name imports in {runtime.config.path} only.",
                file=config.path,
            )


def _start(draft: PlanDraft) -> Iterator[Refusal]:
    after = draft.containerd_after
    for defect in containerd.find_defects(after, draft.runtime.version):
        if defect.code in WOULD_NOT_START:
            yield Refusal(
                "containerd-would-not-start",
                f"{defect.message}; {WOULD_NOT_START[defect.code]}",
                f"Correct the file first; the finding {defect.code} of assess tells how.",
                file=defect.file,
            )


def _in_force(draft: PlanDraft) -> Iterator[Refusal]:
    """Values that would be written and not count, because another file says otherwise after ours."""
    runtime, driver = draft.runtime, draft.profile.cgroup_driver
    after = draft.containerd_after
    yield from _handlers(runtime, after, driver) if driver else ()
    if draft.profile.nri.enabled is None or runtime.nri.supported is False:
        return
    wanted = dict(draft.profile.nri.settings)
    found = nri_values(after)
    outranked = [key for key, value in wanted.items() if found.get(key) != value]
    if found.get("disable", not runtime.nri.configured) is draft.profile.nri.enabled:
        outranked.append("disable")
    if outranked:
        yield _outranked(f"NRI's {', '.join(outranked)}", after.files[-1].path)


def _handlers(runtime: RuntimeFacts, after: Layers, driver: Driver) -> Iterator[Refusal]:
    for handler in runtime.handlers:
        word = systemd_cgroup_option(declared_handlers(after.cri).get(handler.name))
        counts = Driver.SYSTEMD if word is True else Driver.CGROUPFS
        if counts is not driver:
            yield _outranked(f"SystemdCgroup of {handler.name}", source_of(after, handler.name) or runtime.config.path)


def _outranked(setting: str, file: str) -> Refusal:
    return Refusal(
        "containerd-overridden",
        f"{setting} would not count: this file is read later and says otherwise",
        "Take the setting out of it, or set it there.",
        file=file,
    )


RULES: tuple[Rule, ...] = (_read, _written, _start, _in_force)
