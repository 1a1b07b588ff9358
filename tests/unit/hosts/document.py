# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a snapshot to the published document, as node_facts does it for a node without a profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.published import published
from ansible_collections.volcano.colocation.plugins.plugin_utils.findings.catalogue import findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.findings.verdict import judge


def facts_document(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """The published facts of a snapshot."""
    facts = interpret(snapshot)
    found = findings(facts)
    return published(facts, found, judge(found))
