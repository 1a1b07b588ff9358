# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of node_facts: evidence from the node or from a file, interpreted here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..plugin_utils.arguments import NODE_FACTS
from ..plugin_utils.controller.action import ColocationAction
from ..plugin_utils.controller.node import Node
from ..plugin_utils.facts.node import SnapshotError, interpret
from ..plugin_utils.facts.published import published
from ..plugin_utils.findings.rules.upgrade import upgrade_findings
from ..plugin_utils.findings.verdict import all_findings, judge
from ..plugin_utils.plan.node import make_plan
from ..plugin_utils.profile import parse_profile
from ..plugin_utils.redact import redact_snapshot
from ..plugin_utils.targets import parse_targets


def replay(path: str) -> dict[str, Any]:
    """A snapshot kept in a file on the controller."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            found = json.load(stream)
    except OSError as error:
        raise SnapshotError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise SnapshotError(f"{path}: not a JSON document: {error}") from error
    if not isinstance(found, dict):
        raise SnapshotError(f"{path}: not a snapshot document")
    return found


class ActionModule(ColocationAction):
    ARGUMENTS = NODE_FACTS

    def work(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        profile, targets = parse_profile(arguments), parse_targets(arguments)
        snapshot = replay(arguments["snapshot"]) if arguments["snapshot"] else node.snapshot()
        facts = interpret(snapshot)
        found = all_findings(facts, make_plan(facts, profile, allow_disruption=True))
        found += upgrade_findings(facts, targets)
        result: dict[str, Any] = {
            "changed": False,
            "ansible_facts": {"colocation": published(facts, found, judge(found))},
        }
        if arguments["return_snapshot"]:
            result["snapshot"] = redact_snapshot(snapshot)
        return result
