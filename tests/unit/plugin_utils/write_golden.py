# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the expected documents of all captured snapshots anew. Read the difference before you keep it.

Run: python -m ansible_collections.volcano.colocation.tests.unit.plugin_utils.write_golden
"""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.published import published
from ansible_collections.volcano.colocation.plugins.plugin_utils.findings.catalogue import findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.findings.verdict import judge
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.document import transaction_document
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.node import make_plan
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.nodes import (
    DIFFERING,
    FIXTURES,
    NAMES,
    captured,
    facts_of,
    wanted,
)


def facts_document(name: str) -> dict[str, Any]:
    """The published facts of a captured node."""
    facts = facts_of(captured(name))
    found = findings(facts)
    return published(facts, found, judge(found))


def alignment_document(name: str) -> dict[str, Any]:
    """The transaction that aligns a captured node, without its id, which is never the same."""
    snapshot, profile = captured(name), wanted()
    facts = facts_of(snapshot)
    plan = make_plan(facts, profile, allow_disruption=True)
    document = transaction_document(facts, plan, profile, file_edits(snapshot, facts, plan.changes), 300)
    return {**document, "id": "ID"}


def _write(folder: str, name: str, document: dict[str, Any]) -> None:
    path = FIXTURES / folder / f"{name}.json"
    path.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in NAMES:
        _write("facts", each, facts_document(each))
    _write("documents", DIFFERING, alignment_document(DIFFERING))
