# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each rule fires on a variant of a real node, with evidence and a remedy."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import FINDING_RULES, findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.verdict import judge
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, NAMES, captured, facts_of
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules import (
    variants_around,
    variants_basic,
    variants_kubelet,
    variants_machine,
    variants_runtime,
)

TABLES = (
    variants_basic.VARIANTS,
    variants_around.VARIANTS,
    variants_kubelet.VARIANTS,
    variants_machine.VARIANTS,
    variants_runtime.VARIANTS,
)
VARIANTS = [(code, *variant) for table in TABLES for code, variant in table.items()]
NEWER = {*variants_around.VARIANTS, *variants_machine.VARIANTS, *variants_runtime.VARIANTS}
"""The captured nodes are older than the evidence of these rules."""
WITHOUT_EVIDENCE = {"not-installed"}
"""A missing program has no file to name."""


@pytest.mark.parametrize(("code", "verdict", "variant"), VARIANTS, ids=[code for code, _verdict, _variant in VARIANTS])
def test_a_rule_fires_on_its_variant_with_evidence_and_remedy(code: str, verdict: Any, variant: Any) -> None:
    results = findings(facts_of(variant(captured(ALIGNED))))
    finding = next(finding for finding in results if finding.code == code)
    assert judge(results) is verdict
    assert finding.summary.endswith(".")
    assert finding.remedy.endswith(".")
    assert finding.evidence or code in WITHOUT_EVIDENCE
    assert "{" not in finding.summary


@pytest.mark.parametrize("name", NAMES)
def test_a_snapshot_without_newer_evidence_has_no_finding_of_it(name: str) -> None:
    assert {finding.code for finding in findings(facts_of(captured(name)))} & NEWER == set()


def test_every_rule_has_a_variant() -> None:
    nodes = [facts_of(variant(captured(ALIGNED))) for _code, _verdict, variant in VARIANTS]
    fired = {rule for rule in FINDING_RULES if any(any(rule(node)) for node in nodes)}
    assert {rule.__name__ for rule in FINDING_RULES if rule not in fired} == set()
