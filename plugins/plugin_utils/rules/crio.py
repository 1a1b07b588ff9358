# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""CRI-O: what it does not start with or does not read, and what would override our drop-in."""

from __future__ import annotations

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
        "conmon's cgroup does not suit CRI-O's cgroup manager, and CRI-O will not start.",
        'With cgroupfs conmon_cgroup is "pod"; with systemd it is "pod" or a slice.',
    ),
}


def _refuse_missing_crio(draft: PlanDraft) -> Iterator[Refusal]:
    if not draft.runtime.installed:
        yield Refusal("crio-missing", "no crio program was found", "Install CRI-O first; this collection does not.")


def _refuse_files(draft: PlanDraft) -> Iterator[Refusal]:
    # Other people's links are read like files; our own drop-in must be one.
    for each in draft.runtime.layers:
        if each.path == drop_in(draft.runtime):
            yield from unsafe_file(each)
        elif each.kind == "directory":
            yield Refusal(
                "crio-nested-directory",
                "is a folder, whose files CRI-O reads too (filepath.Walk in cri-o pkg/config/config.go)",
                "Move its files up; this release reads one folder only.",
                file=each.path,
            )
        else:
            yield from unreadable_file(each)
    if draft.runtime.crio and not draft.runtime.crio.complete:
        yield Refusal(
            "crio-too-many-files",
            f"has {MAX_CRIO_DROP_INS} files or more, which is more than this release reads",
            "Merge them.",
            file=draft.runtime.crio.directory,
        )


def _refuse_overriding_flags(draft: PlanDraft) -> Iterator[Refusal]:
    """cri-o internal/criocli/criocli.go, mergeConfig: options of the command line go over every file."""
    for setting in desired_settings(draft.facts, draft.profile):
        said = command_line_value(draft.runtime, setting)
        if said not in (None, setting.desired):
            yield Refusal(
                "flag-overrides-config",
                f"CRI-O is started with {setting.flag}={to_printed(said)}, which beats {setting.keys[-1]} in any file",
                "Take the flag out of crio.service or /etc/sysconfig/crio and restart CRI-O.",
                file=drop_in(draft.runtime),
            )


def _refuse_overriding_drop_ins(draft: PlanDraft) -> Iterator[Refusal]:
    folder = draft.runtime.crio.directory if draft.runtime.crio else ""
    for setting in desired_settings(draft.facts, draft.profile):
        found = effective_value(draft.runtime, setting)
        parent, _slash, name = (found.path or "").rpartition("/")
        outranked = parent == folder and name > DROP_IN and not is_same(found.value, setting.desired)
        if outranked and command_line_value(draft.runtime, setting) is None:
            yield Refusal(
                "crio-drop-in-overridden",
                f"sets {setting.keys[-1]} = {found.value!r} and sorts behind {DROP_IN}, so that it would win",
                f"Take {setting.keys[-1]} out of it, or rename it to sort before.",
                file=found.path,
            )


CRIO_REFUSALS: tuple[RefusalRule, ...] = (
    _refuse_missing_crio,
    _refuse_files,
    _refuse_overriding_flags,
    _refuse_overriding_drop_ins,
    refuse_crio_nri,
)
