# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""qos_audit_info from its arguments to its result, on a cluster in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.level_rules import (
    BATCH_RESOURCES,
    level_rules,
)
from ansible_collections.volcano.colocation.tests.support.clusters.connected_actions import connect_actions
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import action

POLICIES = "admissionregistration.k8s.io/v1"

Run = Callable[..., dict[str, Any]]


def pod(name: str, level: str, requests: dict[str, str], space: str = "default", phase: str = "Running") -> Any:
    metadata = {"name": name, "namespace": space, **({"annotations": {"volcano.sh/qos-level": level}} if level else {})}
    spec = {"containers": [{"name": "c", "resources": {"requests": requests}}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}


@pytest.fixture(name="server")
def _server() -> Server:
    server = Server(apis=(POLICIES,))
    server.add(
        pod("wrong", "BE", {"cpu": "1"}),
        pod("wrong", "BE", {"cpu": "1"}, "apps", "Pending"),
        pod("right", "BE", {"kubernetes.io/batch-cpu": "500"}),
        pod("other", "LS", {}),
        pod("without", "", {}),
        pod("done", "BE", {"cpu": "1"}, phase="Succeeded"),
        pod("system", "BE", {"cpu": "1"}, "kube-system"),
        pod("smoke", "BE", {"cpu": "1"}, "volcano-system"),
    )
    return server


@pytest.fixture(name="run")
def _run(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    kubeconfig = connect_actions(server, tmp_path, monkeypatch)

    def run(**options: Any) -> dict[str, Any]:
        result = action("qos_audit_info", {"kubeconfig": kubeconfig, **options})
        assert server.writes == []
        return result

    return run


def broken(result: dict[str, Any]) -> dict[str, list[str]]:
    """The pods that break a rule, by the level of its message."""
    return {rule["message"].partition(":")[0]: rule["pods"] for rule in result["rules"] if rule["pods"]}


def test_pods_that_break_a_rule_are_named_by_rule(run: Run) -> None:
    result = run()
    assert (result["changed"], result["checked"], result["unsupported"]) == (False, 4, [])
    assert [rule["message"] for rule in result["rules"]] == [rule.message for rule in level_rules(BATCH_RESOURCES)]
    assert broken(result) == {"LS": ["default/other"], "BE": ["apps/wrong", "default/wrong"]}


def test_namespaces_and_resources_are_those_of_the_policy(run: Run) -> None:
    result = run(namespace="default", excluded_namespaces=[], oversubscribed_resources=["cpu"])
    assert (result["checked"], broken(result)) == (3, {})
    assert run(excluded_namespaces=["default", "apps"])["checked"] == 1


def test_a_server_without_the_policy_is_audited_too_and_named(server: Server, run: Run) -> None:
    supported = run()
    server.apis = ()
    result = run()
    (reason,) = result.pop("unsupported")
    assert reason.startswith("ValidatingAdmissionPolicy: the API server does not serve")
    assert "Kubernetes 1.30" in reason
    assert {**result, "unsupported": []} == supported


def test_a_missing_permission_is_named(server: Server, run: Run) -> None:
    server.refuses["list pods"] = 403
    result = run()
    assert result["failed"]
    assert "list pods" in result["msg"]
