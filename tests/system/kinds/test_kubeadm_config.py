# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster's kubelet-config on a real API server: written once, as it was read, for its own hosts, and put back.

What is decided before the server is asked to write is tried in tests/unit/plugin_utils/kubeadm.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.cluster import Cluster
from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.requests import Objects
from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.rest import Rest
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.model import KEY, ClusterError
from ansible_collections.volcano.colocation.tests.system.kinds.apiserver import (
    JOURNAL,
    NAME,
    SIGNATURE,
    TEXT,
    WRITTEN,
    ApiServer,
    identity,
    observed,
    restored,
    up,
)
from ansible_collections.volcano.colocation.tests.system.node import lab

BOTH = {"a": observed("a"), "b": observed("b")}
BACK = {"a": restored("a"), "b": restored("b")}


@pytest.fixture(scope="module", name="server")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    yield up(tmp_path_factory.mktemp("apiserver"))
    lab("cluster", "down")


@pytest.fixture(autouse=True)
def _reset(server: ApiServer) -> None:
    server.reset("a", "b")


def test_check_mode_then_the_run_then_nothing_then_back_then_nothing(server: ApiServer) -> None:
    """Byte for byte, with kubeadm's signature as it was."""
    before = server.config_map()
    assert before
    checked = server.play("kubeadm", BOTH, "--check", "--diff")
    assert (server.text, server.config_map(JOURNAL)) == (TEXT, None)

    first = server.play("kubeadm", BOTH, "--diff")
    assert first.run.code == 0, first.run.output
    assert server.text == WRITTEN
    assert first.said["changed"]
    assert [(each["setting"], each["before"], each["after"]) for each in first.said["changes"]] == [
        ("cgroupDriver", "cgroupfs", "systemd"),
        ("systemReserved.cpu", None, "500m"),
    ]
    for key in ("changed", "diff", "changes", "reasons", "findings"):
        assert checked.said[key] == first.said[key], key
    assert first.run.recap("a")["changed"] == 1
    after = server.config_map()
    assert after
    assert after["metadata"]["annotations"][SIGNATURE] == before["metadata"]["annotations"][SIGNATURE]

    again = server.play("kubeadm", BOTH)
    assert (again.run.recap("a")["changed"], again.said["changed"]) == (0, False)

    back_checked = server.play("kubeadm_restore", BACK, "--check", "--diff")
    assert server.text == WRITTEN
    back = server.play("kubeadm_restore", BACK, "--diff")
    assert back.run.code == 0, back.run.output
    assert (server.text, server.config_map(JOURNAL)) == (TEXT, None)
    for key in ("changed", "diff", "changes"):
        assert back_checked.said[key] == back.said[key], key
    assert not server.play("kubeadm_restore", BACK).said["changed"]


def test_the_preflight_writes_nothing_and_counts_as_no_change(server: ApiServer) -> None:
    planned = {"a": observed("a"), "b": observed("b")}
    planned["b"]["node_observed"].update(observation="0123456789abcdef", verdict="misaligned")
    found = server.play("kubeadm_preflight", planned)
    assert (found.run.code, found.run.recap("a")["changed"]) == (0, 0)
    assert (server.text, server.config_map(JOURNAL)) == (TEXT, None)


def test_a_node_that_is_no_host_of_the_run_is_named_unless_told_otherwise(server: ApiServer) -> None:
    alone = {"a": observed("a")}
    found = server.play("kubeadm", alone)
    assert (found.said["changed"], server.text) == (False, TEXT)
    assert "not written, b: not a host of this run" in found.run.output
    assert [each["code"] for each in found.said["findings"]] == ["kubeadm-config-differs"]
    assert not server.play("kubeadm", BOTH, colocation_kubeadm_configmap=False).said["changed"]
    assert server.play("kubeadm", alone, colocation_kubeadm_configmap=True).said["changed"]
    assert server.text == WRITTEN


@pytest.mark.parametrize("other", [False, True])
def test_the_preflight_of_restore_writes_nothing_and_knows_the_cluster(server: ApiServer, other: bool) -> None:
    server.play("kubeadm", BOTH)
    planned = {name: {"node_restore_planned": each["node_restored"]} for name, each in BACK.items()}
    if other:
        planned["b"]["node_restore_planned"] = {
            "node": {**identity("b"), "boot_id": "another", "machine_id_sha256": "x"}
        }
    found = server.play("kubeadm_restore_preflight", planned)
    assert (found.run.code != 0) is other
    assert ("b: the Node b has another machine id" in found.run.output) is other
    assert server.text == WRITTEN
    # It is no word for what was not put back.
    kept = server.play("kubeadm_restore", planned)
    assert (kept.run.code, kept.said["reasons"][0]) == (0, "a: not a host of this run")
    assert server.text == WRITTEN


def test_the_kubeconfig_of_another_cluster_is_refused(server: ApiServer) -> None:
    other = {"a": observed("a"), "b": observed("b", boot_id="another", machine_id_sha256="another")}
    found = server.play("kubeadm_preflight", other, colocation_kubeadm_configmap=True)
    assert found.run.code != 0
    assert "This cluster is not that of the play's hosts: b: the Node b has another machine id" in found.run.output
    assert (server.text, server.config_map(JOURNAL)) == (TEXT, None)


def user(server: ApiServer, name: str, rules: list[dict[str, Any]]) -> str:
    """A kubeconfig of a ServiceAccount with these rules."""
    subject = {"kind": "ServiceAccount", "name": name, "namespace": "kube-system"}
    group = "rbac.authorization.k8s.io"
    objects: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "kube-system"}},
        {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules},
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [subject],
        },
    ]
    server.kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    get = ("get", "serviceaccount", name, "-n", "kube-system", "-o", "jsonpath={.secrets[0].name}")
    for _attempt in range(60):
        if secret := server.kubectl(*get):
            break
    decoded = ("-o", "go-template={{.data.token | base64decode}}")
    token = server.kubectl("get", "secret", secret, "-n", "kube-system", *decoded)
    config = json.loads(server.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
    config["users"][0]["user"] = {"token": token}
    path = server.folder / f"{name}.conf"
    path.write_text(json.dumps(config))
    return str(path)


def rule(verbs: str, resource: str, *names: str) -> dict[str, Any]:
    found: dict[str, Any] = {"apiGroups": [""], "resources": [resource], "verbs": verbs.split()}
    return {**found, "resourceNames": list(names)} if names else found


NODES, READ = rule("list", "nodes"), rule("get", "configmaps")
OURS, MAKE = rule("get patch delete", "configmaps", JOURNAL), rule("create", "configmaps")
PATCH = rule("patch", "configmaps", NAME)


@pytest.mark.parametrize(
    ("name", "rules", "missing"),
    [
        ("none", [], "list nodes"),
        ("keeps", [NODES, READ, OURS, MAKE], "patch configmaps kubelet-config-1.20 in kube-system"),
    ],
)
def test_a_missing_permission_is_named_before_anything_changes(
    server: ApiServer, name: str, rules: list[dict[str, Any]], missing: str
) -> None:
    found = server.play("kubeadm_preflight", BOTH, colocation_kubeconfig=user(server, name, rules))
    assert found.run.code != 0
    assert f"may not {missing}. Nothing was changed. Grant it" in found.run.output
    assert (server.text, server.config_map(JOURNAL)) == (TEXT, None)


def test_a_missing_permission_of_restore_is_named_before_anything_changes(server: ApiServer) -> None:
    server.play("kubeadm", BOTH)
    planned = {name: {"node_restore_planned": each["node_restored"]} for name, each in BACK.items()}
    found = server.play(
        "kubeadm_restore_preflight", planned, colocation_kubeconfig=user(server, "reader", [NODES, READ])
    )
    assert found.run.code != 0
    assert (
        "may not patch configmaps kubelet-config-1.20 in kube-system. Nothing was changed. Grant it" in found.run.output
    )
    assert server.text == WRITTEN


def test_the_verbs_that_the_docs_list_are_enough(server: ApiServer) -> None:
    kubeconfig = user(server, "enough", [NODES, READ, OURS, MAKE, PATCH])
    assert server.play("kubeadm", BOTH, colocation_kubeconfig=kubeconfig).said["changed"]
    assert server.text == WRITTEN
    assert server.play("kubeadm_restore", BACK, colocation_kubeconfig=kubeconfig).said["changed"]
    assert (server.text, server.config_map(JOURNAL)) == (TEXT, None)


def test_a_server_that_does_not_answer_is_named(server: ApiServer) -> None:
    config = json.loads(server.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    path = server.folder / "deaf.conf"
    path.write_text(json.dumps(config))
    found = server.play("kubeadm_preflight", BOTH, colocation_kubeconfig=str(path))
    assert found.run.code != 0
    assert f"Could not list nodes with {path}" in found.run.output
    assert "Nothing was changed there." in found.run.output


def test_what_kubeadm_wrote_anew_goes_back_field_by_field(server: ApiServer) -> None:
    server.play("kubeadm", BOTH)
    server.set_text(WRITTEN.replace("# ask Ada before you change this\n", "") + "shutdownGracePeriod: 0s\n")
    found = server.play("kubeadm_restore", BACK)
    assert found.run.code == 0, found.run.output
    assert server.text == (TEXT.replace("   # ask Ada before you change this", "") + "shutdownGracePeriod: 0s\n")


def test_who_was_faster_is_not_overwritten(server: ApiServer) -> None:
    cluster = Cluster(Objects(Rest(server.kubeconfig), dry_run=False), server.kubeconfig)
    found = cluster.seen().config_map
    assert found
    server.set_text(TEXT + "maxPods: 50\n")
    with pytest.raises(ClusterError, match="somebody else changed it after it was read") as refused:
        cluster.replace(found, KEY, WRITTEN)
    assert "Nothing of it was overwritten. Run again" in str(refused.value)
    assert server.text == TEXT + "maxPods: 50\n"
