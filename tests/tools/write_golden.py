# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the expected documents of all captured and described nodes again. Read the diff before you commit it.

Run: python -m ansible_collections.volcano.colocation.tests.tools.write_golden
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.transaction_document import transaction_document
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.node_block import render_node
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.node_table import node_row, render_table
from ansible_collections.volcano.colocation.tests.support.hosts import described_hosts as hosts
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    DIFFERING,
    FIXTURES,
    NAMES,
    captured,
    desired,
    facts_of,
)
from ansible_collections.volcano.colocation.tests.support.hosts.facts_documents import facts_document


def alignment_document(name: str) -> dict[str, Any]:
    """The transaction that aligns a captured node, without its id and its controller, which differ in each run."""
    snapshot, profile = captured(name), desired()
    facts = facts_of(snapshot)
    plan = make_plan(facts, profile, allow_disruption=True)
    document = transaction_document(facts, plan, profile, file_edits(snapshot, plan.changes), 300)
    return {**document, "id": "ID", "controller": "CONTROLLER"}


def host_document(name: str) -> dict[str, Any]:
    """The facts document of a described host."""
    with tempfile.TemporaryDirectory() as directory:
        return facts_document(hosts.snapshot_of(hosts.described(name).host, Path(directory)))


def render_report(documents: dict[str, dict[str, Any]]) -> str:
    """The text report of some nodes: a block for each, and the table."""
    blocks = [render_node(name, document) for name, document in documents.items()]
    return "\n\n".join((*blocks, render_table(node_row(name, document) for name, document in documents.items()))) + "\n"


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for captured_name in NAMES:
        _write(FIXTURES / "facts" / f"{captured_name}.json", facts_document(captured(captured_name)))
    for captured_name in hosts.NAMES:
        _write(hosts.described(captured_name).golden, host_document(captured_name))
    texts = render_report({name: facts_document(captured(name)) for name in NAMES})
    (FIXTURES / "reports" / "captured.txt").write_text(texts, encoding="utf-8")
    _write(FIXTURES / "documents" / f"{DIFFERING}.json", alignment_document(DIFFERING))
