# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node with programs below the minimum versions is reported, and refused before its first change."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings, refusals
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    Snapshot,
    captured,
    desired,
    facts_of,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import version
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_machine import systemd
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import containerd

CODE = "version-too-old"

TOO_OLD: dict[str, Callable[[Snapshot], Snapshot]] = {
    "kubelet 1.19.16, required is 1.20": lambda node: version(node, "1.19.16"),
    "containerd 1.5.18, required is 1.6": lambda node: containerd(node, "1.5.18"),
    "systemd 219, required is 239": lambda node: systemd(node, "219"),
}
NEW_ENOUGH: dict[str, Callable[[Snapshot], Snapshot]] = {
    "kubelet": lambda node: version(node, "1.20.0"),
    "containerd": lambda node: containerd(node, "1.6.0"),
    "systemd": lambda node: systemd(node, "239 (239-82.el8_10.5)"),
    "unknown systemd": lambda node: systemd(node, ""),
}


@pytest.mark.parametrize("problem", TOO_OLD)
def test_a_program_below_the_minimum_is_named_and_refused(problem: str) -> None:
    facts = facts_of(TOO_OLD[problem](captured(ALIGNED)))
    (finding,) = (finding for finding in findings(facts) if finding.code == CODE)
    assert finding.evidence == (problem,)
    (refusal,) = (refusal for refusal in refusals(PlanDraft(facts, desired())) if refusal.code == CODE)
    assert problem in str(refusal)
    assert "docs/versions.md" in str(refusal)


@pytest.mark.parametrize("program", NEW_ENOUGH)
def test_the_minimum_itself_is_supported(program: str) -> None:
    facts = facts_of(NEW_ENOUGH[program](captured(ALIGNED)))
    assert CODE not in {finding.code for finding in findings(facts)}
    assert CODE not in {refusal.code for refusal in refusals(PlanDraft(facts, desired()))}


def test_all_programs_of_a_node_are_reported_together() -> None:
    facts = facts_of(systemd(containerd(version(captured(ALIGNED), "1.19.16"), "1.5.18"), "219"))
    assert [refusal.code for refusal in refusals(PlanDraft(facts, desired()))].count(CODE) == 3
