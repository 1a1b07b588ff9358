# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/walkthroughs.md, "Add a finding": `assess` reports it, and the page of findings explains it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.volcano.colocation.tests.support.checkout_copy import CheckoutCopy, followed

PROOF = """
import json
from PACKAGE.plugins.plugin_utils.report.node_block import render_node
from PACKAGE.tests.support.hosts.facts_documents import facts_document
from PACKAGE.tests.support.hosts.captured_nodes import ALIGNED, captured, put

def assessed(snapshot):
    document = facts_document(snapshot)
    return {"findings": document["findings"], "verdict": document["verdict"], "text": render_node("node", document)}

print(json.dumps([assessed(captured(ALIGNED)), assessed(put(captured(ALIGNED), "2-3", "cpus", "offline"))]))
"""


@pytest.fixture(name="copy", scope="module")
def _copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckoutCopy]:
    with followed("Add a finding", tmp_path_factory.mktemp("finding")) as copy:
        yield copy


def test_nothing_else_has_to_be_written(copy: CheckoutCopy) -> None:
    assert copy.changed == copy.by_hand
    assert [name for name in copy.by_hand if not name.startswith(("plugins/plugin_utils/", "tests/"))] == [
        "docs/findings.md"
    ]


def test_a_node_is_assessed_with_it(copy: CheckoutCopy) -> None:
    aligned, offline = copy.proof(PROOF)
    assert [finding for finding in offline["findings"] if finding not in aligned["findings"]] == [
        {
            "code": "cpus-offline",
            "severity": "info",
            "effect": "none",
            "summary": "CPUs 2-3 of this node are offline.",
            "evidence": ["/sys/devices/system/cpu/offline: 2-3"],
            "remedy": "Bring them online with chcpu --enable, or leave them out of every list of CPUs.",
            "link": "docs/findings.md#cpus-offline",
        }
    ]
    assert offline["verdict"] == aligned["verdict"] == "aligned"
    assert "info    CPUs 2-3 of this node are offline. [cpus-offline]" in offline["text"]


def test_the_page_and_the_variants_have_it(copy: CheckoutCopy) -> None:
    page = "tests/unit/docs/test_findings_page.py"
    copy.tests(page, "tests/unit/plugin_utils/rules/test_variants.py::test_every_rule_has_a_variant")
    assert f"{page}::test_severity_and_effect_are_the_known_words[cpus-offline]" in copy.python(
        "-m", "pytest", "-q", "--collect-only", page
    )
