# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of a kubelet for a profile, and what each change requires to take effect."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Change, Impact
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    CHECKPOINT,
    DIFFERING,
    KUBELET_FILE,
    Snapshot,
    captured,
    checkpoint,
    desired,
    facts_of,
    kubelet_adds,
    kubelet_edit,
    missing,
    profile_of,
    put,
    stopped_kubelet,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import version

RESTART = frozenset({Impact.RESTART_KUBELET})
DISRUPTIVE = RESTART | {Impact.DRAIN}


def changes(snapshot: Snapshot, **options: Any) -> tuple[Change, ...]:
    return PlanDraft(facts_of(snapshot), profile_of(**options)).kubelet_changes


def newer_file(snapshot: Snapshot) -> Snapshot:
    return put(snapshot, 4e9, "kubelet", "files", KUBELET_FILE, "ctime")


def test_the_aligned_node_needs_nothing() -> None:
    assert PlanDraft(facts_of(captured(ALIGNED)), desired()).kubelet_changes == ()


@pytest.mark.parametrize(
    ("options", "keys", "before", "after", "needs"),
    [
        ({"cgroup_driver": "cgroupfs"}, ("cgroupDriver",), "systemd", "cgroupfs", DISRUPTIVE),
        ({"cpu_manager_policy": "static"}, ("cpuManagerPolicy",), "none", "static", DISRUPTIVE),
        ({"topology_manager_policy": "restricted"}, ("topologyManagerPolicy",), None, "restricted", RESTART),
        ({"reserved_system_cpus": "0"}, ("reservedSystemCPUs",), None, "0", RESTART),
        ({"read_only_port": 10255}, ("readOnlyPort",), None, 10255, RESTART),
        ({"system_reserved": {"cpu": "1"}}, ("systemReserved", "cpu"), None, "1", RESTART),
        ({"kube_reserved": {"memory": "1Gi"}}, ("kubeReserved", "memory"), None, "1Gi", RESTART),
    ],
)
def test_each_field_that_differs_is_a_change_with_its_impact(
    options: dict[str, Any], keys: tuple[str, ...], before: Any, after: Any, needs: frozenset[Impact]
) -> None:
    assert changes(captured(DIFFERING), **options) == (
        Change("kubelet", ".".join(keys), before, after, "differs from the profile", needs, KUBELET_FILE, keys),
    )


@pytest.mark.parametrize(
    "options",
    [{"reserved_system_cpus": "0"}, {"system_reserved": {"cpu": "1"}}, {"kube_reserved": {"cpu": "1"}}],
)
def test_under_static_another_reserved_set_needs_a_drained_node(options: dict[str, Any]) -> None:
    assert [change.needs for change in changes(captured(ALIGNED), **options)] == [DISRUPTIVE]
    becoming = changes(captured(DIFFERING), cpu_manager_policy="static", **options)
    assert {change.needs for change in becoming} == {DISRUPTIVE}


@pytest.mark.parametrize("amount", ["500m", "0.5", ".5", "5e-1", "500000u"])
def test_quantities_are_compared_by_what_they_mean(amount: str) -> None:
    assert changes(captured(ALIGNED), system_reserved={"cpu": amount}) == ()


@pytest.mark.parametrize("amount", ["501m", "500", "1"])
def test_another_quantity_is_a_change(amount: str) -> None:
    assert len(changes(captured(ALIGNED), system_reserved={"cpu": amount})) == 1


@pytest.mark.parametrize(
    ("current", "cpus", "count"), [('"0-1"', "0,1", 0), ('"0-1"', "0", 1), ("0", "0", 1), ("x", "0", 1)]
)
def test_cpu_lists_are_compared_by_what_they_mean(current: str, cpus: str, count: int) -> None:
    snapshot = kubelet_adds(captured(DIFFERING), f"reservedSystemCPUs: {current}\n")
    assert len(changes(snapshot, reserved_system_cpus=cpus)) == count


@pytest.mark.parametrize("current", ["1", "one"])
def test_a_value_that_kubelet_rejects_as_quantity_is_replaced(current: str) -> None:
    snapshot = kubelet_adds(captured(DIFFERING), f"systemReserved:\n  cpu: {current}\n")
    assert [change.after for change in changes(snapshot, system_reserved={"cpu": 1})] == ["1"]


def test_entries_that_are_not_named_stay() -> None:
    result = changes(captured(ALIGNED), system_reserved={"memory": "1Gi"})
    assert [change.keys for change in result] == [("systemReserved", "memory")]


def test_a_reservation_that_is_not_a_mapping_is_not_replaced() -> None:
    snapshot = kubelet_adds(captured(DIFFERING), "systemReserved: cpu=500m\n")
    assert [change.before for change in changes(snapshot, system_reserved={"cpu": "1"})] == [None]


@pytest.mark.parametrize("options", [{"topology_manager_policy": "none"}, {"read_only_port": 0}])
def test_an_effective_default_is_not_written(options: dict[str, Any]) -> None:
    assert changes(captured(DIFFERING), **options) == ()


@pytest.mark.parametrize("number", ["1.34.9", "1.35.6"])
@pytest.mark.parametrize("options", [{"fail_cgroup_v1": False}, {"memory_throttling_factor": 0.9}])
def test_a_default_that_another_version_changes_is_written(options: dict[str, Any], number: str) -> None:
    """An upgrade to 1.35 would reverse the default of failCgroupV1 (KEP-5573)."""
    snapshot = version(captured(DIFFERING), number)
    assert [(change.before, change.needs) for change in changes(snapshot, **options)] == [(None, RESTART)]


@pytest.mark.parametrize("port", [0, 10256])
def test_a_port_that_is_open_is_changed(port: int) -> None:
    snapshot = kubelet_adds(captured(DIFFERING), "readOnlyPort: 10255\n")
    assert [change.after for change in changes(snapshot, read_only_port=port)] == [port]


@pytest.mark.parametrize(
    ("line", "options", "keys"),
    [
        (
            "cgroupDriver: systemd  # has to be the driver of the container runtime\n",
            {"cgroup_driver": "cgroupfs"},
            "cgroupDriver",
        ),
        ("cpuManagerPolicy: none\n", {"cpu_manager_policy": "none"}, "cpuManagerPolicy"),
    ],
)
def test_fields_that_agents_parse_are_written_even_as_the_default(
    line: str, options: dict[str, Any], keys: str
) -> None:
    result = changes(kubelet_edit(captured(DIFFERING), line, ""), **options)
    assert [(change.keys, change.needs) for change in result] == [((keys,), RESTART)]


def test_an_empty_profile_changes_nothing_for_any_version() -> None:
    assert changes(newer_file(captured(ALIGNED))) == ()


def test_a_file_newer_than_kubelet_lacks_only_a_restart() -> None:
    (change,) = changes(newer_file(captured(ALIGNED)), cgroup_driver="systemd")
    assert (change.path, change.keys, change.needs) == (None, (), RESTART)
    assert str(change) == f"kubelet: {KUBELET_FILE} changed after kubelet started; what runs may differ"


def test_an_edit_brings_the_restart_along() -> None:
    result = changes(newer_file(captured(ALIGNED)), topology_manager_policy="restricted")
    assert [change.path for change in result] == [KUBELET_FILE]


@pytest.mark.parametrize(
    ("state", "words"),
    [('{"policyName":"none"}', "was made under policy none"), ("{", "cannot be read")],
)
def test_a_checkpoint_kubelet_would_not_start_with_needs_a_drained_node(state: str, words: str) -> None:
    (change,) = changes(checkpoint(captured(ALIGNED), state), cpu_manager_policy="static")
    assert (change.path, change.needs) == (None, DISRUPTIVE)
    assert f"{CHECKPOINT} {words}" in str(change)


def test_a_checkpoint_matters_only_if_the_profile_sets_a_policy() -> None:
    assert changes(checkpoint(captured(ALIGNED), "{"), cgroup_driver="systemd") == ()


def test_a_missing_checkpoint_needs_no_change() -> None:
    assert changes(missing(captured(ALIGNED), "kubelet", CHECKPOINT), cpu_manager_policy="static") == ()


def test_an_old_process_and_an_old_checkpoint_are_two_changes() -> None:
    snapshot = newer_file(checkpoint(captured(ALIGNED), '{"policyName":"none"}'))
    result = changes(snapshot, cpu_manager_policy="static")
    assert [(change.setting, change.needs) for change in result] == [("process", RESTART), ("checkpoint", DISRUPTIVE)]


def test_a_stopped_kubelet_reads_its_file_when_it_starts() -> None:
    assert changes(stopped_kubelet(newer_file(captured(ALIGNED))), cgroup_driver="systemd") == ()
