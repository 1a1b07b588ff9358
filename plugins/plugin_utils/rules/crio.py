# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""CRI-O: settings that it does not start with, files that are not read, and settings that override the drop-in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ...module_utils.snapshot.runtime_files import MAX_CRIO_DROP_INS
from ..plan.change_set import Refusal
from ..plan.crio_changes import (
    DROP_IN,
    command_line_value,
    desired_settings,
    drop_in,
    effective_value,
    is_same,
    to_printed,
)
from ..plan.draft import PlanDraft
from .config_files import unreadable_file, unsafe_file
from .nri import refuse_crio_nri
from .rule_types import DefectFinding, Effect, RefusalRule, Severity

CRIO_DEFECTS: Mapping[str, DefectFinding] = {
    "crio-conmon-cgroup": (
        Severity.ERROR,
        Effect.LATENT,
        "conmon_cgroup does not match CRI-O's cgroup manager, and CRI-O will not start.",
        'With cgroupfs set conmon_cgroup to "pod"; with systemd to "pod" or a slice.',
    ),
}


def _refuse_missing_crio(draft: PlanDraft) -> Iterator[Refusal]:
    if not draft.runtime.installed:
        yield Refusal(
            "crio-missing", "no crio program was found", "Install CRI-O first; this collection does not install it."
        )


def _refuse_files(draft: PlanDraft) -> Iterator[Refusal]:
    # Links of other owners are read like files; the drop-in of this collection must be a regular file.
    for config in draft.runtime.layers:
        if config.path == drop_in(draft.runtime):
            yield from unsafe_file(config)
        elif config.kind == "directory":
            yield Refusal(
                "crio-nested-directory",
                "is a directory, whose files CRI-O reads too (filepath.Walk in cri-o pkg/config/config.go)",
                "Move its files to the directory above; this release does not read nested directories.",
                file=config.path,
            )
        else:
            yield from unreadable_file(config)
    if draft.runtime.crio and not draft.runtime.crio.complete:
        yield Refusal(
            "crio-too-many-files",
            f"has {MAX_CRIO_DROP_INS} files or more, which is more than this release reads",
            "Merge some of the files.",
            file=draft.runtime.crio.directory,
        )


def _refuse_overriding_flags(draft: PlanDraft) -> Iterator[Refusal]:
    """cri-o internal/criocli/criocli.go, mergeConfig: command-line options override every file."""
    for setting in desired_settings(draft.facts, draft.profile):
        flag_value = command_line_value(draft.runtime, setting)
        if flag_value not in (None, setting.desired):
            yield Refusal(
                "flag-overrides-config",
                f"CRI-O is started with {setting.flag}={to_printed(flag_value)}, which overrides {setting.keys[-1]} in"
                " any file",
                "Remove the flag from crio.service or /etc/sysconfig/crio and restart CRI-O.",
                file=drop_in(draft.runtime),
            )


def _refuse_overriding_drop_ins(draft: PlanDraft) -> Iterator[Refusal]:
    directory = draft.runtime.crio.directory if draft.runtime.crio else ""
    for setting in desired_settings(draft.facts, draft.profile):
        effective = effective_value(draft.runtime, setting)
        parent, _slash, name = (effective.path or "").rpartition("/")
        outranked = parent == directory and name > DROP_IN and not is_same(effective.value, setting.desired)
        if outranked and command_line_value(draft.runtime, setting) is None:
            yield Refusal(
                "crio-drop-in-overridden",
                f"sets {setting.keys[-1]} = {json.dumps(effective.value)} and overrides {DROP_IN}: it sorts after it",
                f"Remove {setting.keys[-1]} from this file, or rename the file so that it sorts before {DROP_IN}.",
                file=effective.path,
            )


CRIO_REFUSALS: tuple[RefusalRule, ...] = (
    _refuse_missing_crio,
    _refuse_files,
    _refuse_overriding_flags,
    _refuse_overriding_drop_ins,
    refuse_crio_nri,
)
