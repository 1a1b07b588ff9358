# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster's kubelet-config on a real API server: written once, unless it changed, for its hosts, and restored.

Decisions that need no API server are tested in tests/unit/plugin_utils/kubeadm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError, ErrorContext
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.dynamic_client import Client
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.object_changes import apply_change, text_change
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.cluster_plan import KubeadmCluster
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.play_hosts import CONFIG_KEY
from ansible_collections.volcano.colocation.tests.api.apiserver import ApiServer, identity, node
from ansible_collections.volcano.colocation.tests.api.kubelet_config import (
    COMMENT,
    JOURNAL,
    NAME,
    SIGNATURE,
    KubeletConfig,
    observed,
    restored,
)
from ansible_collections.volcano.colocation.tests.system.node import ansible_process

BOTH = {"a": observed("a"), "b": observed("b")}
RESTORED = {"a": restored("a"), "b": restored("b")}


@pytest.fixture(scope="module", name="module")
def _module(api_server: Callable[[str], ApiServer]) -> Iterator[KubeletConfig]:
    server = api_server("kubelet-config")
    config_map = server.get("configmap", NAME, "-n", "kube-system")
    assert config_map
    server.create([node("a"), node("b")])
    config = KubeletConfig(server, config_map["data"][CONFIG_KEY])
    assert config.original != config.uploaded
    yield config
    config.reset()
    config.set_text(config.uploaded)
    server.kubectl("delete", "nodes", "a", "b")
    server.delete_users()


@pytest.fixture(name="config")
def _config(module: KubeletConfig) -> KubeletConfig:
    module.reset()
    return module


def test_check_mode_the_run_a_second_run_the_restore_and_a_second_restore(config: KubeletConfig) -> None:
    """Byte for byte, with kubeadm's signature unchanged; each run is a process of ansible-playbook."""
    play = partial(config.play, runner=ansible_process)
    before = config.map()
    assert before
    checked = play("kubeadm", BOTH, "--check", "--diff")
    assert config.state() == (config.original, None)

    first = play("kubeadm", BOTH, "--diff")
    assert first.run.code == 0, first.run.output
    assert config.text == config.written
    assert first.module["changed"]
    assert [(change["setting"], change["before"], change["after"]) for change in first.module["changes"]] == [
        ("cgroupDriver", "cgroupfs", "systemd"),
        ("systemReserved.cpu", None, "500m"),
    ]
    for key in ("changed", "diff", "changes", "reasons", "findings"):
        assert checked.module[key] == first.module[key], key
    assert first.run.recap("a")["changed"] == 1
    after = config.map()
    assert after
    assert after["metadata"]["annotations"][SIGNATURE] == before["metadata"]["annotations"][SIGNATURE]

    again = play("kubeadm", BOTH)
    assert (again.run.recap("a")["changed"], again.module["changed"]) == (0, False)

    back_checked = play("kubeadm_restore", RESTORED, "--check", "--diff")
    assert config.text == config.written
    back = play("kubeadm_restore", RESTORED, "--diff")
    assert back.run.code == 0, back.run.output
    assert config.state() == (config.original, None)
    for key in ("changed", "diff", "changes"):
        assert back_checked.module[key] == back.module[key], key
    assert not play("kubeadm_restore", RESTORED).module["changed"]


@pytest.fixture(name="old")
def _old(config: KubeletConfig) -> Iterator[str]:
    """The name of the ConfigMap in a cluster of 1.23, whose Node is c."""
    config_map, old = config.map(), f"{NAME}-1.23"
    assert config_map
    data = {"apiVersion": "v1", "kind": "ConfigMap", "data": config_map["data"]}
    config.server.create([node("c", "v1.23.17"), {**data, "metadata": {"name": old, "namespace": "kube-system"}}])
    config.server.kubectl("delete", "configmap", NAME, "-n", "kube-system")
    yield old
    metadata = {key: config_map["metadata"][key] for key in ("name", "namespace", "annotations")}
    config.server.create([{**data, "metadata": metadata}])
    config.server.kubectl("delete", "-n", "kube-system", "node/c", f"configmap/{old}")


def test_before_1_24_the_name_of_the_config_map_has_the_version_of_kubelet(config: KubeletConfig, old: str) -> None:
    done = config.play("kubeadm", {"c": observed("c")}, colocation_kubeadm_edit_configmap=True)
    assert done.module["changed"]
    written = config.map(old)
    assert written
    assert written["data"] == {CONFIG_KEY: config.written}
    assert config.map() is None
    config.play("kubeadm_restore", {"c": restored("c")}, colocation_kubeadm_edit_configmap=True)
    back = config.map(old)
    assert back
    assert back["data"] == {CONFIG_KEY: config.original}


def test_the_preflight_writes_nothing_and_counts_as_no_change(config: KubeletConfig) -> None:
    planned = {"a": observed("a"), "b": observed("b")}
    planned["b"]["node_observed"].update(observation="0123456789abcdef", verdict="misaligned")
    result = config.play("kubeadm_preflight", planned)
    assert (result.run.code, result.run.recap("a")["changed"]) == (0, 0)
    assert config.state() == (config.original, None)


def test_a_node_that_is_not_a_host_of_the_run_is_named_unless_the_option_is_set(config: KubeletConfig) -> None:
    alone = {"a": observed("a")}
    result = config.play("kubeadm", alone)
    assert (result.module["changed"], config.text) == (False, config.original)
    assert "not written: b: not a host of this run" in result.run.output
    assert [finding["code"] for finding in result.module["findings"]] == ["kubeadm-config-differs"]
    assert not config.play("kubeadm", BOTH, colocation_kubeadm_edit_configmap=False).module["changed"]
    assert config.play("kubeadm", alone, colocation_kubeadm_edit_configmap=True).module["changed"]
    assert config.text == config.written


@pytest.mark.parametrize("other", [False, True])
def test_the_preflight_of_restore_writes_nothing_and_knows_the_cluster(config: KubeletConfig, other: bool) -> None:
    config.play("kubeadm", BOTH)
    planned = {name: {"node_restore_planned": variables["node_restored"]} for name, variables in RESTORED.items()}
    if other:
        planned["b"]["node_restore_planned"] = {
            "node": {"names": ["b"], **identity("b"), "boot_id": "another", "machine_id_sha256": "x"}
        }
    result = config.play("kubeadm_restore_preflight", planned)
    assert (result.run.code != 0) is other
    assert ("b: the Node b has another machine id" in result.run.output) is other
    assert config.text == config.written
    # The preflight does not count as the restore of a node.
    restore_result = config.play("kubeadm_restore", planned)
    assert (restore_result.run.code, restore_result.module["reasons"][0]) == (0, "a: not a host of this run")
    assert config.text == config.written


def test_the_kubeconfig_of_another_cluster_is_refused(config: KubeletConfig) -> None:
    other = {"a": observed("a"), "b": observed("b", boot_id="another", machine_id_sha256="another")}
    result = config.play("kubeadm_preflight", other, colocation_kubeadm_edit_configmap=True)
    assert result.run.code != 0
    assert "This cluster is not that of the play's hosts: b: the Node b has another machine id" in result.run.output
    assert config.state() == (config.original, None)


def rule(verbs: str, resource: str, *names: str) -> dict[str, Any]:
    rbac_rule: dict[str, Any] = {"apiGroups": [""], "resources": [resource], "verbs": verbs.split()}
    return {**rbac_rule, "resourceNames": list(names)} if names else rbac_rule


NODES, READ = rule("list", "nodes"), rule("get", "configmaps")
MANAGE_JOURNAL, MAKE = rule("get patch delete", "configmaps", JOURNAL), rule("create", "configmaps")
PATCH = rule("patch", "configmaps", NAME)


@pytest.mark.parametrize(
    ("name", "rules", "missing"),
    [
        ("none", [], "list nodes: nodes is forbidden: "),
        (
            "keeps",
            [NODES, READ, MANAGE_JOURNAL, MAKE],
            "patch configmaps kubelet-config in kube-system. Nothing was changed. ",
        ),
    ],
)
def test_a_missing_permission_is_named_before_anything_changes(
    config: KubeletConfig, name: str, rules: list[dict[str, Any]], missing: str
) -> None:
    result = config.play("kubeadm_preflight", BOTH, colocation_kubeconfig=config.server.user(name, rules))
    assert result.run.code != 0
    assert f"may not {missing}" in result.run.output
    assert " Nothing was changed. Grant " in result.run.output
    assert config.state() == (config.original, None)


def test_a_missing_permission_of_restore_is_named_before_anything_changes(config: KubeletConfig) -> None:
    config.play("kubeadm", BOTH)
    planned = {name: {"node_restore_planned": variables["node_restored"]} for name, variables in RESTORED.items()}
    result = config.play(
        "kubeadm_restore_preflight", planned, colocation_kubeconfig=config.server.user("reader", [NODES, READ])
    )
    assert result.run.code != 0
    missing = "patch configmaps kubelet-config in kube-system; delete configmaps volcano-colocation in kube-system"
    assert f"may not {missing}. Nothing was changed. Grant it" in result.run.output
    assert config.text == config.written


def test_the_verbs_that_the_docs_list_are_enough(config: KubeletConfig) -> None:
    kubeconfig = config.server.user("enough", [NODES, READ, MANAGE_JOURNAL, MAKE, PATCH])
    assert config.play("kubeadm", BOTH, colocation_kubeconfig=kubeconfig).module["changed"]
    assert config.text == config.written
    assert config.play("kubeadm_restore", RESTORED, colocation_kubeconfig=kubeconfig).module["changed"]
    assert config.state() == (config.original, None)


def test_a_server_that_does_not_answer_is_named(config: KubeletConfig) -> None:
    (cluster,) = config.server.config["clusters"]
    unreachable = {**cluster, "cluster": {**cluster["cluster"], "server": "https://127.0.0.1:9"}}
    path = config.server.kubeconfig_file("unreachable", {**config.server.config, "clusters": [unreachable]})
    result = config.play("kubeadm_preflight", BOTH, colocation_kubeconfig=path)
    assert result.run.code != 0
    assert f"Could not list nodes: the API server of {path} does not answer: " in result.run.output
    assert "Nothing was changed. " in result.run.output


def test_a_text_that_kubeadm_rewrote_is_restored_field_by_field(config: KubeletConfig) -> None:
    config.play("kubeadm", BOTH)
    config.set_text(config.written.replace(f"{COMMENT}\n", "") + "podPidsLimit: 100\n")
    result = config.play("kubeadm_restore", RESTORED)
    assert result.run.code == 0, result.run.output
    assert config.text == config.original.replace(f"   {COMMENT}", "") + "podPidsLimit: 100\n"


def test_a_concurrent_change_is_not_overwritten(config: KubeletConfig) -> None:
    kubeconfig = config.server.kubeconfig
    cluster = KubeadmCluster(Client(ErrorContext(kubeconfig, "docs/layouts.md")))
    config_map = cluster.read_state().config_map
    assert config_map
    config.set_text(config.original + "maxPods: 50\n")
    with pytest.raises(ClusterError, match="another client changed it after it was read") as refused:
        apply_change(cluster.client, text_change(config_map, CONFIG_KEY, config.written))
    assert "No change of another client was overwritten. Run again" in str(refused.value)
    assert config.text == config.original + "maxPods: 50\n"
