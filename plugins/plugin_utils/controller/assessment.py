# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a snapshot to the document people see, the same for a live node and for a recorded one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..facts.node import interpret
from ..facts.published import published
from ..findings.rules.upgrade import upgrade_findings
from ..findings.verdict import all_findings, judge, own_findings
from ..judged_profile import judged_profile
from ..plan.node import make_plan
from ..targets import parse_targets


def assess(snapshot: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The facts document, judged against the profile and the targets in ``arguments``; SnapshotError, ProfileError.

    Without a profile the node is judged by itself, now and after a restart.
    """
    (profile, judged), targets = judged_profile(arguments), parse_targets(arguments)
    facts = interpret(snapshot)
    plan = make_plan(facts, profile, allow_disruption=True)
    found = all_findings(facts, plan) if judged.judged else own_findings(facts, plan)
    found += upgrade_findings(facts, targets)
    return published(facts, found, judge(found), judged.published())
