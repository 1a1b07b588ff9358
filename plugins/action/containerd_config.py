# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of containerd_config: write containerd's part of a profile without a restart."""

from __future__ import annotations

import operator
from dataclasses import asdict
from typing import Any

from ..plugin_utils.facts.node_state import NodeFacts
from ..plugin_utils.facts.runtime_state import RuntimeFacts
from ..plugin_utils.node.config_file_action import FilesAction
from ..plugin_utils.plan.containerd_changes import cri_table
from ..plugin_utils.plan.containerd_location import containerd_location, find_rendering, strategy
from ..plugin_utils.plan.draft import PlanDraft, unsupported_settings
from ..plugin_utils.plan.image_boot import containerd_first_boot
from ..plugin_utils.profile.argspec import CONTAINERD_CONFIG
from ..plugin_utils.rules.supported_runtimes import refusals_for


class ActionModule(FilesAction):
    ARGUMENTS = CONTAINERD_CONFIG
    CHANGES = operator.attrgetter("runtime_changes")
    RULES = refusals_for("containerd", "crio_config")
    BOOT = staticmethod(containerd_first_boot)

    @staticmethod
    def side(facts: NodeFacts) -> RuntimeFacts:
        return facts.runtime

    @staticmethod
    def remarks(draft: PlanDraft) -> dict[str, Any]:
        desired, rendering = draft.profile.containerd_strategy, find_rendering(draft.facts)
        return {
            "path": rendering.place if rendering else containerd_location(draft.runtime, desired, cri_table).path,
            "strategy": rendering.strategy if rendering else strategy(draft.runtime, desired),
            "unsupported": [asdict(skip) for skip in unsupported_settings(draft.facts, draft.profile)],
        }
