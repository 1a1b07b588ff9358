# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a snapshot to the document people see, the same for a live node and for a recorded one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..facts.node import interpret
from ..facts.published import published
from ..findings.verdict import all_findings, judge
from ..plan.node import make_plan
from ..profile import parse_profile


def assess(snapshot: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The facts document, judged against the profile in ``arguments``; SnapshotError, ProfileError."""
    profile = parse_profile(arguments)
    facts = interpret(snapshot)
    found = all_findings(facts, make_plan(facts, profile, allow_disruption=True))
    return published(facts, found, judge(found))
