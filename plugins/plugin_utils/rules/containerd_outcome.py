# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a planned change of containerd's files: files that may be written, and values that take effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...module_utils.cgroup.kubelet_names import Driver
from ..edit.containerd_text import other_spelling
from ..facts import containerd_defects as containerd
from ..facts import containerd_tables
from ..facts.config_file import ConfigFile, value_at
from ..facts.containerd_layers import (
    Layers,
    Merge,
    declared_handlers,
    imported_paths,
    own_table,
    source_of,
    systemd_cgroup_option,
)
from ..facts.runtime_state import RuntimeFacts
from ..plan.change_set import Change, Refusal
from ..plan.containerd_changes import files_after, nri_values
from ..plan.containerd_location import own_paths
from ..plan.draft import PlanDraft
from ..releases.containerd_schema import CRI_V1, CRI_V2, CRI_V3
from .config_files import unsafe_file
from .rule_types import RefusalRule

DIRECTORY = "/etc/containerd/"


WOULD_NOT_START = {
    containerd.TOO_NEW: "containerd would not start with it",
    containerd.TYPE: "containerd would not start with it",
    containerd.MISSING: "containerd would not start with it",
    containerd.PATTERN: "containerd would not start with it",
    containerd.INVALID: "containerd would not start with it",
    containerd.MIXED: "containerd loses settings, or does not start, if schema versions are mixed",
    containerd.LEGACY: "the CRI plugin would not start with it",
    containerd.UNDECLARED: "the CRI plugin would not start with it",
}
"""Defects that take effect at a restart."""


def _refuse_unread_imports(draft: PlanDraft) -> Iterator[Refusal]:
    """Imported files that cannot be read, so that the effective values are unknown."""
    runtime = draft.runtime
    for config in runtime.layers[1:]:
        yield from unsafe_file(config)
    for path in runtime.merged.unrecorded:
        yield Refusal(
            "containerd-imports",
            f"imports {path}, which was not read",
            "Import fewer files, or files that can be read.",
            file=runtime.config.path,
        )


def _refuse_written_files(draft: PlanDraft) -> Iterator[Refusal]:
    runtime = draft.runtime
    changes = draft.runtime_changes
    paths = {change.path for change in changes if change.path}
    for path in sorted(paths - {runtime.config.path}):
        config = files_after(runtime, ()).get(path)
        if not path.startswith(DIRECTORY) and path not in own_paths(draft.facts):
            yield Refusal(
                "containerd-imports",
                f"is imported, overrides {runtime.config.path}, and is not in {DIRECTORY}",
                "Change the setting in the program that writes this file, or remove the file from imports.",
                file=path,
            )
        elif config is not None:
            yield from unsafe_file(config)
    yield from _imported_again(runtime, changes, paths)


def _imported_again(runtime: RuntimeFacts, changes: Sequence[Change], paths: set[str]) -> Iterator[Refusal]:
    """Unchanged files that import a changed one: containerd cannot check the new text before it is written."""
    after = files_after(runtime, changes)
    for config in runtime.merged.files[1:]:
        again = paths & set(imported_paths(config, after, runtime.version))
        if again and config.path not in paths:
            yield Refusal(
                "containerd-imports",
                f"imports {', '.join(sorted(again))}, which would be changed",
                f"Use imports only in {runtime.config.path}.",
                file=config.path,
            )


def _refuse_failing_start(draft: PlanDraft) -> Iterator[Refusal]:
    after = draft.containerd_after
    for defect in containerd.find_defects(after, draft.runtime.version):
        if defect.code in WOULD_NOT_START:
            yield Refusal(
                "containerd-would-not-start",
                f"{defect.message}; {WOULD_NOT_START[defect.code]}",
                f"Correct the file first; the finding {defect.code} of assess explains how.",
                file=defect.file,
            )


def _refuse_overridden_values(draft: PlanDraft) -> Iterator[Refusal]:
    """Values that would be written without effect, because a file that is read later sets other values."""
    runtime, driver = draft.runtime, draft.profile.cgroup_driver
    after = draft.containerd_after
    yield from _overridden_handlers(runtime, after, driver) if driver else ()
    if draft.profile.nri.enabled is None or runtime.nri.supported is False:
        return
    desired = dict(draft.profile.nri.settings)
    values = nri_values(after)
    outranked = [key for key, value in desired.items() if values.get(key) != value]
    if values.get("disable", not runtime.nri.configured) is draft.profile.nri.enabled:
        outranked.append("disable")
    if outranked:
        yield _overridden(f"NRI's {', '.join(outranked)}", after.files[-1].path)


def _overridden_handlers(runtime: RuntimeFacts, after: Layers, driver: Driver) -> Iterator[Refusal]:
    for handler in runtime.handlers:
        word = systemd_cgroup_option(declared_handlers(after.cri).get(handler.name))
        counts = Driver.SYSTEMD if word is True else Driver.CGROUPFS
        if counts is not driver:
            yield _overridden(f"SystemdCgroup of {handler.name}", source_of(after, handler.name) or runtime.config.path)


def _overridden(setting: str, file: str) -> Refusal:
    return Refusal(
        "containerd-overridden",
        f"{setting} would have no effect: this file is read later and sets another value",
        "Remove the setting from this file, or change it there.",
        file=file,
    )


CRI_NAMES = (CRI_V1, CRI_V2, CRI_V3)


def refuse_key_case(draft: PlanDraft) -> Iterator[Refusal]:
    """In the file to be written an existing key is changed if it takes effect; a second spelling is never added."""
    changes = [change for change in draft.runtime_changes if change.path and change.keys]
    layers, after = draft.runtime.merged, draft.containerd_after
    for config in layers.files:
        conflicts = [key for change in changes if (key := _conflicting_key(config, change, layers, after))]
        for key in dict.fromkeys(conflicts):
            yield Refusal(
                "containerd-key-case",
                f"has the key {key} in another letter case than the one to be written; containerd ignores one of them",
                "Spell the key as containerd's documentation does, and keep only one of several.",
                file=config.path,
            )


def _conflicting_key(config: ConfigFile, change: Change, layers: Layers, after: Layers) -> str | None:
    if config.path != change.path and (layers.merge is Merge.REPLACING or change.keys[0] != "plugins"):
        return None
    key = next((spelling for path in _paths(change) if (spelling := other_spelling(config.values, path))), None)
    return None if key is None or (config.path == change.path and _counts(change, after)) else key


def _paths(change: Change) -> Iterator[tuple[str, ...]]:
    """Paths that the setting may have in files of any schema."""
    names = CRI_NAMES if change.keys[1:2] and change.keys[1] in CRI_NAMES else change.keys[1:2]
    yield from [(change.keys[0], name, *change.keys[2:]) for name in names] or [change.keys]


def _counts(change: Change, after: Layers) -> bool:
    """Whether containerd reads the written value from the changed file."""
    config = next((file for file in after.files if file.path == change.path), None)
    if config is None:
        return False
    if change.keys[0] != "plugins":
        return bool(config.values.get(change.keys[0]) == change.after)
    if change.keys[1] in CRI_NAMES:
        return bool(value_at(own_table(after, config), change.keys[2:]) == change.after)
    table = value_at(config.values, change.keys[:2])
    values = containerd_tables.nri_values(table, after.library) if isinstance(table, Mapping) else {}
    return bool(value_at(values, change.keys[2:]) == change.after)


OUTCOME_REFUSALS: tuple[RefusalRule, ...] = (
    _refuse_unread_imports,
    _refuse_written_files,
    _refuse_failing_start,
    _refuse_overridden_values,
)
