# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet reads the files that plans write, and refuses the settings that plans refuse."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import EditError, UneditableFile
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_allocatable import NotComputable
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.desired_state import resolve_profile
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import refusals
from ansible_collections.volcano.colocation.tests.judges.kubelet_judge import Case, KubeletJudge, Machine
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DESIRED,
    KUBELET_FILE,
    NAMES,
    Snapshot,
    captured,
    facts_of,
    profile_of,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.plan.field_cases import CASES, Options
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import version

MACHINE = Machine(cpus=2, memory=4 << 30, numa_nodes=2)
COLLECTION_ONLY = frozenset(
    (
        "kubelet-too-old-for-field",
        "kubelet-version-unknown",
        "reserved-memory-not-computable",
        "cgroup-root-refused",
        "reserved-cgroup-missing",
        "memory-qos-on-v1",
        "memory-qos-on-old-kernel",
        "memory-manager-off",
        "reservation-too-large",
        "too-many-numa-nodes",
    )
)
"""Refusals of values that kubelet ignores or accepts, or that depend on the node."""


def node(judge: KubeletJudge, name: str) -> Snapshot:
    number = f"{judge.version[0]}.{judge.version[1]}.0"
    return version(put(captured(name), {"0": "0", "1": "1"}, "cpus", "numa"), number)


def edited(snapshot: Snapshot, options: Options) -> dict[str, str]:
    """kubelet's files that the plan changes, by path, even if it is refused; empty where they cannot be edited."""
    facts = facts_of(snapshot)
    try:
        changes = PlanDraft(facts, resolve_profile(facts, profile_of(**options))).kubelet_changes
        edits = file_edits(snapshot, [change for change in changes if change.target == "kubelet"])
    except (UneditableFile, EditError, NotComputable):
        return {}
    return {edit.path: edit.after for edit in edits}


def test_the_fields_of_a_profile(kubelet: KubeletJudge) -> None:
    """The plan and kubelet of this release both refuse, or both accept, each combination of the unit tests."""
    snapshot = node(kubelet, ALIGNED)
    texts = {
        name: edited(snapshot, options).get(KUBELET_FILE) for name, (_number, options, _code, _words) in CASES.items()
    }
    cases = [Case(name, text) for name, text in texts.items() if text is not None]
    assert len(cases) > len(CASES) / 2
    verdicts = kubelet.load(cases, MACHINE)
    disagreements = []
    for case, verdict in zip(cases, verdicts, strict=True):
        codes = {refusal.code for refusal in refusals(PlanDraft(facts_of(snapshot), profile_of(**CASES[case.name][1])))}
        if (verdict.error is not None) is not bool(codes - COLLECTION_ONLY):
            disagreements.append(f"{case.name}: {sorted(codes)}, and kubelet: {verdict.error}")
    assert not disagreements, "\n".join(disagreements)


@pytest.mark.parametrize("name", NAMES)
def test_the_profile_of_the_fixtures(kubelet: KubeletJudge, name: str) -> None:
    snapshot = node(kubelet, name)
    text = edited(snapshot, {**DESIRED, "fail_cgroup_v1": False}).get(KUBELET_FILE)
    assert text is not None
    (verdict,) = kubelet.load([Case(name, text)], MACHINE)
    assert verdict.error is None
    assert verdict.config is not None
    assert (verdict.config["cgroupDriver"], verdict.config["cpuManagerPolicy"]) == ("systemd", "static")
    assert verdict.config["systemReserved"]["cpu"] == "500m"
