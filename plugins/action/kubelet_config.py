# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of kubelet_config: the kubelet part of a profile, written without a restart."""

from __future__ import annotations

from typing import Any

from ..plugin_utils.arguments import KUBELET_CONFIG
from ..plugin_utils.controller.files import FilesAction
from ..plugin_utils.controller.outcome import owner_variables
from ..plugin_utils.facts.model import KubeletFacts, NodeFacts
from ..plugin_utils.plan.kubelet import kubelet_changes
from ..plugin_utils.plan.kubelet_place import Place, Strategy, choose
from ..plugin_utils.plan.owner import owners
from ..plugin_utils.plan.refusals import kubelet, layout
from ..plugin_utils.profile import Profile


class ActionModule(FilesAction):
    ARGUMENTS = KUBELET_CONFIG
    CHANGES = staticmethod(kubelet_changes)
    RULES = (*layout.RULES, *kubelet.RULES)

    @staticmethod
    def remarks(facts: NodeFacts, profile: Profile) -> dict[str, Any]:
        place = choose(facts, Strategy(profile.kubelet_strategy))
        told: dict[str, Any] = {"owner_variables": owner_variables(owners(facts, profile))}
        if isinstance(place, Place):
            told.update(path=place.path, paths=list(place.paths), strategy=place.strategy.value)
        return told

    @staticmethod
    def side(facts: NodeFacts) -> KubeletFacts:
        return facts.kubelet
