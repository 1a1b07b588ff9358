# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans that are made before the slices of reservations exist."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import assume_slices
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings, refusals
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.kubelet_startup import refuse_startup
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    Snapshot,
    facts_of,
    kubelet_adds,
    profile_of,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.test_field_refusals import (
    EVERYTHING,
    ROOT,
    node,
    with_slice,
)

ENFORCED: dict[str, Any] = {
    "enforce_node_allocatable": ["pods", "kube-reserved"],
    "kube_reserved_cgroup": "/runtime.slice",
    "kube_reserved": {"cpu": "500m"},
}


def codes(snapshot: Snapshot, options: dict[str, Any]) -> tuple[list[str], list[str], tuple[str, ...]]:
    """(codes of refusals now, codes after the slices exist, the slices to create)."""
    facts, desired_profile = facts_of(snapshot), profile_of(**options)
    assumed = assume_slices(facts, desired_profile)
    return (
        [refusal.code for refusal in refusals(PlanDraft(facts, desired_profile), (refuse_startup,))],
        [refusal.code for refusal in refusals(PlanDraft(assumed.facts, desired_profile), (refuse_startup,))],
        assumed.slices,
    )


def without(path: str) -> Snapshot:
    return with_slice(node("1.30.14"), [], path=path)


def test_a_slice_that_will_be_created_does_not_refuse_the_plan() -> None:
    missing = ["reserved-cgroup-missing"]
    assert codes(without("runtime.slice"), ENFORCED) == (missing, [], ("runtime.slice",))


@pytest.mark.parametrize("controllers", ["cpu memory pids", ""])
def test_a_slice_that_lacks_a_controller_is_completed(controllers: str) -> None:
    snapshot = with_slice(node("1.30.14"), [ROOT], controllers, "runtime.slice")
    assert codes(snapshot, ENFORCED)[1:] == ([], ("runtime.slice",))


def test_an_existing_slice_is_not_assumed() -> None:
    snapshot = with_slice(node("1.30.14"), [ROOT], EVERYTHING, "runtime.slice")
    assert codes(snapshot, ENFORCED) == ([], [], ())


def test_a_name_that_is_not_a_slice_under_the_new_driver_is_still_refused() -> None:
    options = {**ENFORCED, "cgroup_driver": "cgroupfs", "kube_reserved_cgroup": "/kubelet"}
    snapshot = put(with_slice(node("1.30.14"), []), {"kubelet": [], "kubelet.slice": []}, "cgroups", "reserved")
    assert codes(snapshot, options) == (["reserved-cgroup-missing"], ["reserved-cgroup-missing"], ())
    systemd = {**options, "cgroup_driver": "systemd"}
    assert codes(snapshot, systemd)[1:] == ([], ("kubelet.slice",))


def test_another_refusal_stays() -> None:
    options = {**ENFORCED, "enforce_node_allocatable": ["pods", "kube-reserved", "kube-reserved-compressible"]}
    _now, then, slices = codes(without("runtime.slice"), options)
    assert slices == ("runtime.slice",)
    assert then
    assert "reserved-cgroup-missing" not in then


def test_a_missing_slice_that_kubelet_names_already_is_created() -> None:
    snapshot = kubelet_adds(
        without("runtime.slice"), "enforceNodeAllocatable: [pods, kube-reserved]\nkubeReservedCgroup: /runtime.slice\n"
    )
    facts = facts_of(snapshot)
    assumed = assume_slices(facts, profile_of(**ENFORCED))
    assert "reserved-cgroup-missing" in {finding.code for finding in findings(facts)}
    assert "reserved-cgroup-missing" not in {finding.code for finding in findings(assumed.facts)}
