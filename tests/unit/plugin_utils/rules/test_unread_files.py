# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that the collection was not allowed to read is not reported as damaged: its content is unknown."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Effect, Finding, Verdict
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.verdict import judge
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    CHECKPOINT,
    KUBELET_FILE,
    Snapshot,
    captured,
    facts_of,
    profile_of,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import (
    MEMORY_CHECKPOINT,
    TYPE,
    dropins,
    memory_state,
    version,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import imports

REMEDY = "Use become: true with a user that may do this; SELinux and AppArmor log what they deny"
DENIED = {"kind": "regular", "error": "Permission denied", "remedy": REMEDY}
RECORDED_BEFORE = {"kind": "unknown", "error": "Permission denied"}
"""The evidence of a version that recorded no remedy."""
DROPIN = "/etc/kubernetes/kubelet.conf.d/a.conf"
IMPORTED = "/etc/containerd/conf.d/a.toml"

UNREAD: dict[str, tuple[str, str, Snapshot]] = {
    "kubelet's file": (
        "config-unreadable",
        KUBELET_FILE,
        put(captured(ALIGNED), DENIED, "kubelet", "files", KUBELET_FILE),
    ),
    "a drop-in": (
        "config-unreadable",
        DROPIN,
        put(dropins(version(captured(ALIGNED), "1.30.1"), a=TYPE), DENIED, "kubelet", "files", DROPIN),
    ),
    "the CPU manager's checkpoint": (
        "checkpoint-unreadable",
        CHECKPOINT,
        put(captured(ALIGNED), DENIED, "kubelet", "files", CHECKPOINT),
    ),
    "the memory manager's checkpoint": (
        "memory-checkpoint-unreadable",
        MEMORY_CHECKPOINT,
        put(memory_state(captured(ALIGNED), "{}"), DENIED, "kubelet", "files", MEMORY_CHECKPOINT),
    ),
}


def of(snapshot: Snapshot, code: str) -> Finding:
    (finding,) = [finding for finding in findings(facts_of(snapshot)) if finding.code == code]
    return finding


@pytest.mark.parametrize("name", UNREAD)
def test_it_is_unknown_and_the_remedy_is_to_read_it(name: str) -> None:
    code, path, snapshot = UNREAD[name]
    finding = of(snapshot, code)
    assert finding.effect is Effect.UNKNOWN
    assert "was not read." in finding.summary
    assert finding.evidence == (f"{path}: was not read: Permission denied",)
    assert finding.remedy.startswith(f"{REMEDY}. Until it is read, ")
    assert "Correct" not in finding.remedy
    assert "Drain" not in finding.remedy
    assert judge(findings(facts_of(snapshot))) is Verdict.UNKNOWN


def test_a_drop_in_that_was_not_read_is_not_one_that_kubelet_refuses() -> None:
    codes = [finding.code for finding in findings(facts_of(UNREAD["a drop-in"][2]))]
    assert "dropin-refused" not in codes


@pytest.mark.parametrize("evidence", [DENIED, RECORDED_BEFORE])
def test_the_plan_is_refused_with_the_same_reason(evidence: dict[str, Any]) -> None:
    facts = facts_of(put(captured(ALIGNED), evidence, "kubelet", "files", KUBELET_FILE))
    plan = make_plan(facts, profile_of(cgroup_driver="cgroupfs"), allow_disruption=True)
    (refusal,) = [refusal for refusal in plan.refusals if refusal.code == "config-unreadable"]
    assert str(refusal).startswith(f"{KUBELET_FILE}: was not read: Permission denied. Use become: true")


def test_a_file_that_containerd_imports_keeps_its_own_remedy() -> None:
    """The remedy of the line, not one for all imported files."""
    finding = of(imports(captured(ALIGNED), "version = 2\nversion = 2\n"), "config-unreadable")
    assert finding.remedy.startswith("Keep the one that is meant and delete the other.")
    assert finding.evidence[0].endswith(":2: key 'version' is set twice, first in line 1")


def test_a_directory_of_drop_ins_that_cannot_be_listed_has_another_remedy_than_one_with_too_many() -> None:
    node = dropins(version(captured(ALIGNED), "1.30.1"), a=TYPE)
    denied = put(
        put(node, "Permission denied", "kubelet", "config_dir", "error"), REMEDY, "kubelet", "config_dir", "remedy"
    )
    crowded = put(node, 3, "kubelet", "config_dir", "left_out")
    reasons = []
    for snapshot in (denied, crowded):
        plan = make_plan(facts_of(snapshot), profile_of(cgroup_driver="cgroupfs"), allow_disruption=True)
        reasons += [str(refusal) for refusal in plan.refusals if refusal.code == "dropins-not-read"]
    denied_reason, crowded_reason = reasons
    assert f"was not read: Permission denied. {REMEDY}. An unknown drop-in" in denied_reason
    assert "3 of its files were not read. Keep at most 64 drop-ins in it. An unknown drop-in" in crowded_reason
