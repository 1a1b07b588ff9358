# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of crio_config: the CRI-O part of a profile, written into a drop-in without a restart."""

from __future__ import annotations

import operator
from dataclasses import asdict
from typing import Any

from ..plugin_utils.arguments import CRIO_CONFIG
from ..plugin_utils.controller.files import FilesAction
from ..plugin_utils.facts.model import NodeFacts, RuntimeFacts
from ..plugin_utils.plan.crio import drop_in
from ..plugin_utils.plan.draft import PlanDraft
from ..plugin_utils.plan.first_boot import of_crio
from ..plugin_utils.plan.refusals.runtime import rules_for
from ..plugin_utils.plan.runtimes import skips


class ActionModule(FilesAction):
    ARGUMENTS = CRIO_CONFIG
    CHANGES = operator.attrgetter("runtime_changes")
    RULES = rules_for("cri-o", "containerd_config")
    BOOT = staticmethod(of_crio)

    @staticmethod
    def side(facts: NodeFacts) -> RuntimeFacts:
        return facts.runtime

    @staticmethod
    def remarks(draft: PlanDraft) -> dict[str, Any]:
        unsupported = [asdict(skip) for skip in skips(draft.facts, draft.profile)]
        return {"path": drop_in(draft.runtime), "strategy": "drop-in", "unsupported": unsupported}
