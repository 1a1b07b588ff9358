# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Described hosts as plans see them: before, with their files edited, and restarted after that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import NodeFacts
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Change
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import Profile, parse_profile
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import LOCATION_REFUSALS, refusals
from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import described, merged, snapshot_of

Options = Mapping[str, Any]


class Node:
    """A host that is built again for each change, and read by the code that runs on nodes."""

    def __init__(self, directory: Path, name: str, **changed: Any) -> None:
        self._directory = directory
        self._host: Mapping[str, Any] = merged(described(name).host, changed)
        self._count = 0

    def changed(self, **changed: Any) -> None:
        """Change files, processes or ``live`` values of the host."""
        self._host = merged(self._host, changed)

    @property
    def snapshot(self) -> dict[str, Any]:
        self._count += 1
        return snapshot_of(self._host, self._directory / str(self._count))

    @property
    def facts(self) -> NodeFacts:
        return interpret(self.snapshot)

    def file(self, path: str) -> str:
        """Return the text of a file of the host."""
        text: str = self._host["files"][path]
        return text

    def changes(self, options: Options) -> tuple[Change, ...]:
        return PlanDraft(self.facts, parse_profile(options)).kubelet_changes

    def writes(self, options: Options) -> list[tuple[str | None, str]]:
        """(file, setting) of the changes that write one."""
        return [(change.path, change.setting) for change in self.changes(options) if change.path]

    def refused(self, options: Options) -> list[tuple[str, str | None]]:
        """(code, file) of the refusals because of kubelet's layout."""
        return [
            (refusal.code, refusal.file)
            for refusal in refusals(PlanDraft(self.facts, parse_profile(options)), LOCATION_REFUSALS)
        ]

    def edited(self, options: Options) -> dict[str, str]:
        """Apply the plan's edits to the host; return the new texts by path."""
        snapshot = self.snapshot
        edits = file_edits(snapshot, PlanDraft(interpret(snapshot), profile(options)).kubelet_changes)
        texts = {edit.path: edit.after for edit in edits}
        self.changed(files=texts)
        return texts


def profile(options: Options) -> Profile:
    return parse_profile(options)
