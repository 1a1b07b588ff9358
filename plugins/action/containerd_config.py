# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of containerd_config: the containerd part of a profile, written without a restart."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..plugin_utils.arguments import CONTAINERD_CONFIG
from ..plugin_utils.controller.files import FilesAction
from ..plugin_utils.facts.model import NodeFacts, RuntimeFacts
from ..plugin_utils.plan.containerd import cri_table
from ..plugin_utils.plan.containerd_place import place, strategy
from ..plugin_utils.plan.containerd_rendered import rendering
from ..plugin_utils.plan.first_boot import of_containerd
from ..plugin_utils.plan.refusals.runtime import rules_for
from ..plugin_utils.plan.runtimes import runtime_changes, skips
from ..plugin_utils.profile import Profile


class ActionModule(FilesAction):
    ARGUMENTS = CONTAINERD_CONFIG
    CHANGES = staticmethod(runtime_changes)
    RULES = rules_for("containerd", "crio_config")
    BOOT = staticmethod(of_containerd)

    @staticmethod
    def side(facts: NodeFacts) -> RuntimeFacts:
        return facts.runtime

    @staticmethod
    def remarks(facts: NodeFacts, profile: Profile) -> dict[str, Any]:
        wanted, how = profile.containerd_strategy, rendering(facts)
        return {
            "path": how.place if how else place(facts.runtime, wanted, cri_table).path,
            "strategy": how.strategy if how else strategy(facts.runtime, wanted),
            "left_out": [asdict(skip) for skip in skips(facts, profile)],
        }
