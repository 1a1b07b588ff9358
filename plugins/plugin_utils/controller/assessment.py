# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a snapshot to the document people see, the same for a live node and for a recorded one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..facts.node import interpret
from ..facts.published import published
from ..findings.rules.upgrade import upgrade_findings
from ..findings.verdict import all_findings, judge
from ..plan.node import make_plan
from ..profile import parse_profile
from ..targets import parse_targets


def assess(snapshot: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The facts document, judged against the profile and the targets in ``arguments``; SnapshotError, ProfileError."""
    profile, targets = parse_profile(arguments), parse_targets(arguments)
    facts = interpret(snapshot)
    found = all_findings(facts, make_plan(facts, profile, allow_disruption=True))
    found += upgrade_findings(facts, targets)
    return published(facts, found, judge(found))
