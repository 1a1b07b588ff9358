# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of containerd_config: the containerd part of a profile, written without a restart."""

from __future__ import annotations

import operator
from dataclasses import asdict
from typing import Any

from ..plugin_utils.arguments import CONTAINERD_CONFIG
from ..plugin_utils.controller.files import FilesAction
from ..plugin_utils.facts.model import NodeFacts, RuntimeFacts
from ..plugin_utils.plan.containerd import cri_table
from ..plugin_utils.plan.containerd_place import place, strategy
from ..plugin_utils.plan.containerd_rendered import rendering
from ..plugin_utils.plan.draft import PlanDraft
from ..plugin_utils.plan.first_boot import of_containerd
from ..plugin_utils.plan.refusals.runtime import rules_for
from ..plugin_utils.plan.runtimes import skips


class ActionModule(FilesAction):
    ARGUMENTS = CONTAINERD_CONFIG
    CHANGES = operator.attrgetter("runtime_changes")
    RULES = rules_for("containerd", "crio_config")
    BOOT = staticmethod(of_containerd)

    @staticmethod
    def side(facts: NodeFacts) -> RuntimeFacts:
        return facts.runtime

    @staticmethod
    def remarks(draft: PlanDraft) -> dict[str, Any]:
        wanted, how = draft.profile.containerd_strategy, rendering(draft.facts)
        return {
            "path": how.place if how else place(draft.runtime, wanted, cri_table).path,
            "strategy": how.strategy if how else strategy(draft.runtime, wanted),
            "unsupported": [asdict(skip) for skip in skips(draft.facts, draft.profile)],
        }
