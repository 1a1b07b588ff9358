# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why CRI-O is not touched: what it would not read, and what would win over our drop-in."""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils.snapshot.runtime_files import MAX_CRIO_DROP_INS
from ..change_set import Refusal
from ..crio_changes import (
    DROP_IN,
    command_line_value,
    connections_refused_by,
    crio_nri_unsupported,
    desired_settings,
    drop_in,
    effective_value,
    is_same,
    to_printed,
)
from ..draft import PlanDraft
from .model import Rule, unreadable_file, unsafe_file


def _installed(draft: PlanDraft) -> Iterator[Refusal]:
    if not draft.runtime.installed:
        yield Refusal("crio-missing", "no crio program was found", "Install CRI-O first; this collection does not.")


def _files(draft: PlanDraft) -> Iterator[Refusal]:
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
            file=draft.runtime.crio.folder,
        )


def _flags(draft: PlanDraft) -> Iterator[Refusal]:
    """cri-o internal/criocli/criocli.go, mergeConfig: options of the command line go over every file."""
    for setting in desired_settings(draft.runtime, draft.profile):
        said = command_line_value(draft.runtime, setting)
        if said not in (None, setting.wanted):
            yield Refusal(
                "flag-overrides-config",
                f"CRI-O is started with {setting.flag}={to_printed(said)}, which beats {setting.keys[-1]} in any file",
                "Take the flag out of crio.service or /etc/sysconfig/crio and restart CRI-O.",
                file=drop_in(draft.runtime),
            )


def _outranked(draft: PlanDraft) -> Iterator[Refusal]:
    folder = draft.runtime.crio.folder if draft.runtime.crio else ""
    for setting in desired_settings(draft.runtime, draft.profile):
        found = effective_value(draft.runtime, setting)
        parent, _slash, name = (found.path or "").rpartition("/")
        outranked = parent == folder and name > DROP_IN and not is_same(found.value, setting.wanted)
        if outranked and command_line_value(draft.runtime, setting) is None:
            yield Refusal(
                "crio-drop-in-overridden",
                f"sets {setting.keys[-1]} = {found.value!r} and sorts behind {DROP_IN}, so that it would win",
                f"Take {setting.keys[-1]} out of it, or rename it to sort before.",
                file=found.path,
            )


def _nri(draft: PlanDraft) -> Iterator[Refusal]:
    skip = crio_nri_unsupported(draft.runtime, draft.profile)
    if skip and draft.profile.nri.unsupported == "refuse":
        yield Refusal(
            "nri-unsupported",
            skip.reason,
            "Upgrade CRI-O, or set nri.unsupported (colocation_nri_unsupported) to skip.",
            variable="nri.enabled",
        )
    closed = connections_refused_by(draft.runtime)
    if draft.profile.nri.enabled and closed and not skip:
        yield Refusal(
            "crio-nri-connections-disabled",
            "has nri_disable_connections = true: CRI-O opens no socket, and no plugin can connect",
            "Take it out, or leave nri.enabled (colocation_nri_enabled) unset.",
            file=closed,
            variable="nri.enabled",
        )


RULES: tuple[Rule, ...] = (_installed, _files, _flags, _outranked, _nri)
