# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of kubelet_config: the kubelet part of a profile, written without a restart."""

from __future__ import annotations

from ..plugin_utils.arguments import KUBELET_CONFIG
from ..plugin_utils.controller.files import FilesAction
from ..plugin_utils.facts.model import KubeletFacts, NodeFacts
from ..plugin_utils.plan.kubelet import kubelet_changes
from ..plugin_utils.plan.refusals import kubelet, layout


class ActionModule(FilesAction):
    ARGUMENTS = KUBELET_CONFIG
    CHANGES = staticmethod(kubelet_changes)
    RULES = (*layout.RULES, *kubelet.RULES)

    @staticmethod
    def side(facts: NodeFacts) -> KubeletFacts:
        return facts.kubelet
