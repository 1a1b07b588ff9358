# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of kubelet_config: write kubelet's part of a profile without a restart."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..plugin_utils.facts.kubelet_state import KubeletFacts
from ..plugin_utils.facts.node_state import NodeFacts
from ..plugin_utils.node.config_file_action import FilesAction
from ..plugin_utils.plan.change_set import Change
from ..plugin_utils.plan.draft import PlanDraft
from ..plugin_utils.plan.image_boot import kubelet_first_boot
from ..plugin_utils.plan.kubeadm_patch import unsupported_patch
from ..plugin_utils.plan.kubelet_location import ConfigLocation
from ..plugin_utils.plan.owner_instructions import owner_instructions
from ..plugin_utils.profile.argspec import KUBELET_CONFIG
from ..plugin_utils.report.plan_result import render_instructions
from ..plugin_utils.rules.catalogue import KUBELET_REFUSALS


def _changes(draft: PlanDraft) -> tuple[Change, ...]:
    return draft.kubelet_changes + draft.patch_changes


class ActionModule(FilesAction):
    ARGUMENTS = KUBELET_CONFIG
    CHANGES = staticmethod(_changes)
    RULES = KUBELET_REFUSALS
    BOOT = staticmethod(kubelet_first_boot)

    @staticmethod
    def remarks(draft: PlanDraft) -> dict[str, Any]:
        place = draft.kubelet_location
        result: dict[str, Any] = {"owner_instructions": render_instructions(owner_instructions(draft))}
        if isinstance(place, ConfigLocation):
            result.update(path=place.path, paths=list(place.paths), strategy=place.strategy.value)
        unsupported = unsupported_patch(draft)
        if unsupported:
            result["unsupported"] = [asdict(setting) for setting in unsupported]
        return result

    @staticmethod
    def side(facts: NodeFacts) -> KubeletFacts:
        return facts.kubelet
