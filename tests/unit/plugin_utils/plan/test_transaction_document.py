# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The transaction document, and that the node's own parser accepts it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state import plan_document as node_side
from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.kubelet_impact import moved_checkpoints
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.transaction_document import (
    files_document,
    new_id,
    transaction_document,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import parse_profile
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    CHECKPOINT,
    DESIRED,
    DIFFERING,
    KUBELET_FILE,
    RUNTIME_FILE,
    Snapshot,
    captured,
    checkpoint,
    golden,
    kubelet_edit,
    missing,
    old_containerd,
    put,
    running_handlers,
    runtime_edit,
    without_pods,
)

TIMEOUT = 300


def planned(snapshot: Snapshot, allow: bool | None, options: dict[str, Any]) -> dict[str, Any]:
    facts, profile = interpret(snapshot), parse_profile(options)
    plan = make_plan(facts, profile, allow_disruption=allow)
    assert plan.refusals == ()
    result = transaction_document(facts, plan, profile, file_edits(snapshot, plan.changes), TIMEOUT)
    node_side.parse_plan(json.dumps(result))
    return result


def document(snapshot: Snapshot, **options: Any) -> dict[str, Any]:
    return planned(snapshot, True, options)


def actions(result: dict[str, Any]) -> dict[str, str]:
    return {side: service["action"] for side, service in result["services"].items()}


def test_the_document_for_the_captured_mismatch_is_the_expected_one() -> None:
    result = document(captured(DIFFERING), **DESIRED)
    assert result["controller"]
    assert {**result, "id": "ID", "controller": "CONTROLLER"} == golden("documents", DIFFERING)


@pytest.mark.parametrize(("port", "url"), [("10348", "http://127.0.0.1:10348/healthz"), ("0", None)])
def test_the_health_of_kubelet_is_read_at_its_port(port: str, url: str | None) -> None:
    result = document(kubelet_edit(captured(DIFFERING), "healthzPort: 10248", f"healthzPort: {port}"), **DESIRED)
    assert result["gate"]["kubelet_healthz"] == url


def test_ids_are_unique_in_the_order_of_time_and_name_a_unit() -> None:
    names = [new_id() for _number in range(50)]
    assert len(set(names)) == 50
    assert [name.split("-")[0] for name in names] == sorted(name.split("-")[0] for name in names)
    assert all(name.replace("-", "").isalnum() for name in names)


def test_a_switch_from_cgroupfs_replaces_the_tree_and_asks_the_gate_for_systemd() -> None:
    node = kubelet_edit(captured(DIFFERING), "cgroupDriver: systemd", "cgroupDriver: cgroupfs")
    result = document(node, **DESIRED)
    assert (result["stale_cgroups"], result["fresh_cgroups"]) == (["kubepods"], ["kubepods.slice"])
    assert result["gate"]["cgroup_driver"] == "systemd"
    assert result["gate"]["runtime_handlers"] == {"runc": True}


def test_a_switch_to_cgroupfs_replaces_the_tree_and_stops_the_sandboxes() -> None:
    result = document(captured(ALIGNED), **{**DESIRED, "cgroup_driver": "cgroupfs"})
    assert (result["stale_cgroups"], result["fresh_cgroups"]) == (["kubepods.slice"], ["kubepods"])
    assert result["gate"]["runtime_handlers"] == {"runc": False}
    assert result["sandboxes"]["action"] == "stop"


def test_no_tree_is_stale_when_kubelet_keeps_its_driver() -> None:
    result = document(captured(DIFFERING), **DESIRED)
    assert (result["stale_cgroups"], result["fresh_cgroups"]) == ([], [])


def test_no_tree_is_stale_when_the_driver_was_only_made_explicit() -> None:
    node = kubelet_edit(
        captured(DIFFERING), "cgroupDriver: systemd  # has to be the driver of the container runtime\n", ""
    )
    result = document(node, cgroup_driver="cgroupfs")
    assert result["files"][0]["path"] == KUBELET_FILE
    assert (result["stale_cgroups"], result["fresh_cgroups"]) == ([], [])


def test_pods_stay_if_nothing_disrupts_them() -> None:
    result = document(captured(ALIGNED), **{**DESIRED, "read_only_port": 10255})
    assert actions(result) == {"kubelet": "restart", "runtime": "leave"}
    assert result["sandboxes"]["action"] == "leave"
    assert result["checkpoints"] == []
    assert result["validate"] == []


def test_a_drained_node_has_no_sandbox_to_stop() -> None:
    assert document(without_pods(captured(DIFFERING)), **DESIRED)["sandboxes"]["action"] == "leave"


def test_the_values_that_containerd_must_read_from_its_new_text() -> None:
    (validation,) = document(captured(DIFFERING), **DESIRED)["validate"]
    assert validation["file"] == RUNTIME_FILE
    assert "{file}" in validation["argv"]
    assert {(expectation["key"], expectation["value"]) for expectation in validation["expect"]} == {
        ("runtime_type", "io.containerd.runc.v2"),
        ("SystemdCgroup", "true"),
        ("disable", "false"),
    }


def test_pending_changes_are_not_in_the_gate() -> None:
    result = planned(captured(DIFFERING), False, DESIRED)
    assert result["gate"]["cgroup_driver"] is None
    assert result["gate"]["runtime_handlers"] == {}
    assert result["gate"]["cpu_manager"]["policy"] == "none"
    assert result["checkpoints"] == []
    assert result["sandboxes"]["action"] == "leave"


def test_the_gate_checks_a_common_driver_without_a_profile() -> None:
    result = document(captured(ALIGNED), topology_manager_policy="restricted")
    assert result["gate"]["cgroup_driver"] == "systemd"
    assert result["gate"]["cpu_manager"] is None
    assert result["gate"]["nri_socket"] is None


def test_a_handler_that_only_needs_a_restart_edits_no_file() -> None:
    result = document(running_handlers(captured(ALIGNED), runc=False), **DESIRED)
    assert result["files"] == []
    assert actions(result) == {"kubelet": "restart", "runtime": "restart"}


def test_kubelet_stays_when_only_containerd_restarts_and_no_pod_is_stopped() -> None:
    result = document(without_pods(running_handlers(captured(ALIGNED), runc=False)), **DESIRED)
    assert actions(result) == {"kubelet": "leave", "runtime": "restart"}


@pytest.mark.parametrize(
    ("nri", "socket"),
    [
        ({"enabled": True}, "/var/run/nri/nri.sock"),
        ({"enabled": True, "socket_path": "/run/x.sock"}, "/run/x.sock"),
        ({"enabled": False}, None),
        ({}, None),
    ],
)
def test_the_gate_asks_for_the_nri_socket_of_the_profile(nri: dict[str, Any], socket: str | None) -> None:
    result = document(captured(DIFFERING), **{**DESIRED, "nri": nri})
    assert result["gate"]["nri_socket"] == socket


def test_the_gate_does_not_check_nri_of_a_containerd_without_it() -> None:
    node = old_containerd(captured(DIFFERING))
    result = document(node, **{**DESIRED, "nri": {"enabled": True, "unsupported": "skip"}})
    assert result["gate"]["nri_socket"] is None


MOVED: dict[str, tuple[str, dict[str, Any]]] = {
    "another policy": ('{"policyName":"none"}', {"cpu_manager_policy": "static"}),
    "back to none": ('{"policyName":"static","defaultCpuSet":"0-1"}', {"cpu_manager_policy": "none"}),
    "unreadable": ("{", {"cpu_manager_policy": "none"}),
    "another reserved set": ('{"policyName":"static","defaultCpuSet":"0-1"}', {"system_reserved": {"cpu": "600m"}}),
    "other CPUs online": ('{"policyName":"static","defaultCpuSet":"0-3"}', {"read_only_port": 1}),
}
UNCHANGED: dict[str, tuple[str, dict[str, Any]]] = {
    "same policy": ('{"policyName":"static","defaultCpuSet":"0-1"}', {**DESIRED, "read_only_port": 1}),
    "memory policy none": ('{"policyName":"none"}', {"system_reserved": {"memory": "1Gi"}}),
    "nothing to restart": ('{"policyName":"none"}', {"cgroup_driver": "systemd"}),
    "unreadable, no policy wanted": ("{", {"read_only_port": 1}),
}


def moves(state: str, options: dict[str, Any]) -> bool:
    facts, profile = interpret(checkpoint(captured(ALIGNED), state)), parse_profile(options)
    return bool(moved_checkpoints(facts, make_plan(facts, profile, allow_disruption=True), profile))


@pytest.mark.parametrize("case", MOVED)
def test_the_checkpoint_is_moved_aside(case: str) -> None:
    assert moves(*MOVED[case])


@pytest.mark.parametrize("case", UNCHANGED)
def test_the_checkpoint_is_not_moved(case: str) -> None:
    assert not moves(*UNCHANGED[case])


def test_a_missing_checkpoint_is_not_moved() -> None:
    node = missing(captured(DIFFERING), "kubelet", CHECKPOINT)
    assert document(node, **DESIRED)["checkpoints"] == []


def test_a_document_that_only_writes_files() -> None:
    snapshot = put(captured(DIFFERING), [], "runtime", "processes")
    facts, profile = interpret(snapshot), parse_profile(DESIRED)
    plan = make_plan(interpret(captured(DIFFERING)), profile, allow_disruption=True)
    result = files_document(file_edits(snapshot, plan.changes), plan, facts)
    parsed = node_side.parse_plan(json.dumps(result))
    assert parsed.files_only
    assert [file["path"] for file in result["files"]] == [KUBELET_FILE, RUNTIME_FILE]
    assert actions(result) == {"kubelet": "leave", "runtime": "leave"}
    assert (result["checkpoints"], result["gate"], result["sandboxes"]["action"]) == ([], None, "leave")
    assert [validation["file"] for validation in result["validate"]] == [RUNTIME_FILE]


def test_a_changed_switch_is_expected_as_the_dump_writes_it() -> None:
    node = runtime_edit(captured(ALIGNED), "disable = false", "disable = true")
    (validation,) = document(node, **DESIRED)["validate"]
    assert [expectation["value"] for expectation in validation["expect"]] == ["false"]
