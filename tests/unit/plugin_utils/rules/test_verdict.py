# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict on a node: the worst effect decides, and an unsupported node is not compared with the profile."""

from __future__ import annotations

from itertools import permutations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import (
    Effect,
    Finding,
    Severity,
    Verdict,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.verdict import all_findings, judge
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DIFFERING,
    captured,
    desired,
    facts_of,
    profile_of,
    put,
)

ORDER = (Effect.UNSUPPORTED, Effect.UNKNOWN, Effect.MISALIGNED, Effect.LATENT, Effect.NONE)


def finding(effect: Effect) -> Finding:
    return Finding("x", Severity.ERROR, effect, "", (), "")


@pytest.mark.parametrize("position", range(len(ORDER)))
def test_the_worst_effect_decides_in_any_order(position: int) -> None:
    expected = {effect: Verdict(effect.value) for effect in ORDER[:-1]}.get(ORDER[position], Verdict.ALIGNED)
    for order in permutations(ORDER[position:]):
        assert judge(map(finding, order)) is expected


def test_nothing_found_is_aligned() -> None:
    assert judge(()) is Verdict.ALIGNED


def test_an_aligned_node_has_no_finding_of_the_profile() -> None:
    facts = facts_of(captured(ALIGNED))
    assert [finding.code for finding in all_findings(facts, make_plan(facts, desired(), allow_disruption=True))] == [
        "driver-hidden-from-agents",
        "second-kubepods-tree",
    ]


def test_drift_from_the_profile_is_misaligned() -> None:
    facts = facts_of(captured(ALIGNED))
    results = all_findings(facts, make_plan(facts, profile_of(cpu_manager_policy="none"), allow_disruption=True))
    assert results[-1].code == "differs-from-profile"
    assert results[-1].evidence == ("kubelet cpuManagerPolicy: static -> none",)
    assert judge(results) is Verdict.MISALIGNED


def test_pending_changes_still_differ() -> None:
    facts = facts_of(captured(DIFFERING))
    plan = make_plan(facts, desired(), allow_disruption=False)
    assert plan.pending
    assert all_findings(facts, plan)[-1].code == "differs-from-profile"


def test_a_refusal_is_a_finding_with_its_remedy() -> None:
    facts = facts_of(captured(DIFFERING))
    results = all_findings(facts, make_plan(facts, profile_of(cpu_manager_policy="static"), allow_disruption=True))
    assert results[-1].code == "cannot-be-aligned"
    assert results[-1].evidence == ("code of the refusal: static-without-reservation",)
    assert "colocation_system_reserved" in results[-1].remedy


@pytest.mark.parametrize(
    "node",
    [
        put(captured(DIFFERING), None, "kubelet", "program"),
        put(captured(DIFFERING), "tini", "system", "pid1"),
        put(captured(DIFFERING), [], "cgroups", "mountinfo"),
    ],
    ids=["no kubelet", "no systemd", "no cgroups"],
)
def test_an_unsupported_node_is_not_compared_with_the_profile(node: dict[str, object]) -> None:
    facts = facts_of(node)
    codes = {finding.code for finding in all_findings(facts, make_plan(facts, desired(), allow_disruption=True))}
    assert codes.isdisjoint({"differs-from-profile", "cannot-be-aligned"})
