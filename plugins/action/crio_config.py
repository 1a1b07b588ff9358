# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of crio_config: the CRI-O part of a profile, written into a drop-in without a restart."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..plugin_utils.arguments import CRIO_CONFIG
from ..plugin_utils.controller.files import FilesAction
from ..plugin_utils.facts.model import NodeFacts, RuntimeFacts
from ..plugin_utils.plan.crio import drop_in
from ..plugin_utils.plan.first_boot import of_crio
from ..plugin_utils.plan.refusals.runtime import rules_for
from ..plugin_utils.plan.runtimes import runtime_changes, skips
from ..plugin_utils.profile import Profile


class ActionModule(FilesAction):
    ARGUMENTS = CRIO_CONFIG
    CHANGES = staticmethod(runtime_changes)
    RULES = rules_for("cri-o", "containerd_config")
    BOOT = staticmethod(of_crio)

    @staticmethod
    def side(facts: NodeFacts) -> RuntimeFacts:
        return facts.runtime

    @staticmethod
    def remarks(facts: NodeFacts, profile: Profile) -> dict[str, Any]:
        left_out = [asdict(skip) for skip in skips(facts, profile)]
        return {"path": drop_in(facts.runtime), "strategy": "drop-in", "left_out": left_out}
