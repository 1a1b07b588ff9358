# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of crio_config: write CRI-O's part of a profile to a drop-in without a restart."""

from __future__ import annotations

import operator
from dataclasses import asdict
from typing import Any

from ..plugin_utils.facts.node_state import NodeFacts
from ..plugin_utils.facts.runtime_state import RuntimeFacts
from ..plugin_utils.node.config_file_action import FilesAction
from ..plugin_utils.plan.crio_changes import drop_in
from ..plugin_utils.plan.draft import PlanDraft, unsupported_settings
from ..plugin_utils.plan.image_boot import crio_first_boot
from ..plugin_utils.profile.argspec import CRIO_CONFIG
from ..plugin_utils.rules.supported_runtimes import refusals_for


class ActionModule(FilesAction):
    ARGUMENTS = CRIO_CONFIG
    CHANGES = operator.attrgetter("runtime_changes")
    RULES = refusals_for("cri-o", "containerd_config")
    BOOT = staticmethod(crio_first_boot)

    @staticmethod
    def side(facts: NodeFacts) -> RuntimeFacts:
        return facts.runtime

    @staticmethod
    def remarks(draft: PlanDraft) -> dict[str, Any]:
        unsupported = [asdict(skip) for skip in unsupported_settings(draft.facts, draft.profile)]
        return {"path": drop_in(draft.runtime), "strategy": "drop-in", "unsupported": unsupported}
