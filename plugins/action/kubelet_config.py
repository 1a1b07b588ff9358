# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of kubelet_config: the kubelet part of a profile, written without a restart."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..plugin_utils.arguments import KUBELET_CONFIG
from ..plugin_utils.controller.files import FilesAction
from ..plugin_utils.controller.outcome import owner_variables
from ..plugin_utils.facts.model import KubeletFacts, NodeFacts
from ..plugin_utils.plan.draft import PlanDraft
from ..plugin_utils.plan.first_boot import of_kubelet
from ..plugin_utils.plan.kubeadm_patch import patch_skip
from ..plugin_utils.plan.kubelet_place import Place
from ..plugin_utils.plan.model import Change
from ..plugin_utils.plan.owner import owners
from ..plugin_utils.plan.refusals import kubeadm, kubelet, layout


def _changes(draft: PlanDraft) -> tuple[Change, ...]:
    return draft.kubelet_changes + draft.patch_changes


class ActionModule(FilesAction):
    ARGUMENTS = KUBELET_CONFIG
    CHANGES = staticmethod(_changes)
    RULES = (*layout.RULES, *kubeadm.RULES, *kubelet.RULES)
    BOOT = staticmethod(of_kubelet)

    @staticmethod
    def remarks(draft: PlanDraft) -> dict[str, Any]:
        place = draft.kubelet_place
        result: dict[str, Any] = {"owner_instructions": owner_variables(owners(draft))}
        if isinstance(place, Place):
            result.update(path=place.path, paths=list(place.paths), strategy=place.strategy.value)
        unsupported = patch_skip(draft)
        if unsupported:
            result["unsupported"] = [asdict(each) for each in unsupported]
        return result

    @staticmethod
    def side(facts: NodeFacts) -> KubeletFacts:
        return facts.kubelet
