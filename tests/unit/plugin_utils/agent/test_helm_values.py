# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values for upstream's chart, and rubik's configuration, only for hosts that they support."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.helm_values import HelmValues, render_helm_values
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.probed_host import AgentHost
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.rubik_agent import render_rubik_config
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.tests.support.clusters.agent_clusters import (
    OPEN_EULER,
    V1,
    host,
    options,
    pools,
)

DETECTED = {"hidden_driver": ""}
"""The recorded nodes have a comment after their driver, so that the agent does not detect it."""


EULER = {"os_name": "openEuler", "os_version": "22.03 (LTS)"}


def values(*hosts: AgentHost, **variables: Any) -> HelmValues:
    chosen = options(**variables)
    return render_helm_values(pools(hosts, chosen), hosts, chosen)


def test_values_for_one_pool() -> None:
    result = values(host("n1", **DETECTED), host("n2", **DETECTED))
    assert result.reason == ""
    document = yaml.safe_load(result.values)
    assert document["basic"] == {
        "image_registry": "docker.io",
        "agent_image_name": "volcanosh/vc-agent",
        "image_tag_version": "v1.14.0",
        "image_pull_policy": "IfNotPresent",
    }
    custom = document["custom"]
    assert custom["colocation_enable"] is True
    assert custom["agent_supported_features"] == "OverSubscription,Eviction,Resources"
    assert list(custom["agent_ns"]) == ["colocation.volcano.sh/pool"]
    assert "agent_kube_cgroup_root" not in custom
    assert "seLinuxOptions" not in custom["agent_sc"]


def test_values_have_root_selinux_digest_and_the_agents_own_tag() -> None:
    kind = host("n1", "hosts/v2-kind-node.facts.json", selinux="enforcing", hidden_driver="")
    chart = yaml.safe_load(values(kind, image="reg:5000/x/vc-agent:v1.15.0@sha256:ab", resources={}).values)
    assert chart["basic"]["agent_image_tag_version"] == "v1.15.0@sha256:ab"
    assert (chart["basic"]["image_registry"], chart["basic"]["agent_image_name"]) == ("reg:5000", "x/vc-agent")
    assert chart["custom"]["agent_kube_cgroup_root"] == "kubelet"
    assert chart["custom"]["agent_sc"]["seLinuxOptions"] == {"type": "spc_t"}
    assert "agent_resources" not in chart["custom"]


@pytest.mark.parametrize(
    ("different", "reason"),
    [
        ({"hidden_driver": "config.yaml:3: quotes"}, "n1: the chart cannot set the driver, and the agent would"),
        ({"paths": {"/opt/cni/bin": "missing"}}, "n1: the chart's pod does not start without /opt/cni/bin"),
        ({"kubelet_root_dir": "/data"}, "n1: the chart mounts /var/lib/kubelet, and kubelet's directory is /data"),
    ],
)
def test_reasons_why_the_chart_cannot_be_used(different: dict[str, Any], reason: str) -> None:
    result = values(host("n1", **{**DETECTED, **different}))
    assert result.values == ""
    assert result.reason.startswith(reason)


def test_two_kinds_of_nodes_need_two_daemon_sets() -> None:
    assert (
        values(host("n1", **DETECTED), host("n2", V1, **DETECTED)).reason
        == "the chart has one DaemonSet, and these hosts need 2"
    )


def test_an_older_chart_has_no_root() -> None:
    rooted = host("n1", "facts/bookworm-v1-drivers-differ.json")
    trees = tuple(tree.replace("/kubepods", "/pods/kubepods") for tree in rooted.trees)
    chosen = options(image="vc-agent:v1.13.0")
    old = host("n1", "facts/bookworm-v1-drivers-differ.json", runtime_driver=None, cgroup_root="/pods", trees=trees)
    assert render_helm_values(pools([old], chosen), [old], chosen).reason.startswith(
        "the chart has no agent_kube_cgroup_root before"
    )


def test_a_driver_that_agents_do_not_detect_is_read_from_the_findings() -> None:
    evidence = "/var/lib/kubelet/config.yaml:11: cgroupDriver with quotes or a comment"
    assert host("n1").hidden_driver == evidence
    assert host("n1", "hosts/kubeadm.facts.json").hidden_driver == ""
    assert values(host("n1")).reason.endswith(f"would detect a wrong one ({evidence})")


def test_rubik_is_configured_with_kubelets_driver() -> None:
    document = json.loads(render_rubik_config([host("n1", OPEN_EULER, **EULER)], ["preemption", "quotaTurbo"]))
    assert document["agent"]["cgroupDriver"] == "systemd"
    assert document["agent"]["enabledFeatures"] == ["preemption", "quotaTurbo"]
    assert document["preemption"] == {"resource": ["cpu", "memory"]}
    cgroupfs = host("n1", OPEN_EULER, driver=Driver.CGROUPFS, **EULER)
    assert json.loads(render_rubik_config([cgroupfs], ["psi"]))["agent"]["cgroupDriver"] == "cgroupfs"
    assert "preemption" not in json.loads(render_rubik_config([cgroupfs], ["psi"]))


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ([host("n1", V1), host("n2")], "n2: cgroup v2. Nothing was changed. rubik supports only cgroup v1."),
        (
            [host("n1", V1), host("n2", V1, **EULER)],
            "n1: rubik runs only on openEuler 22.03 LTS and newer, and this node has Debian GNU/Linux 13 (trixie)."
            " Nothing was changed. Use Volcano's agent on these hosts, or exclude them.",
        ),
        (
            [host("n1", V1, os_name="openEuler", os_version="20.03 (LTS-SP4)")],
            "n1: rubik runs only on openEuler 22.03 LTS and newer, and this node has openEuler 20.03 (LTS-SP4).",
        ),
        ([host("n1", V1, driver=None, **EULER)], "n1: the cgroup version or kubelet's driver is unknown."),
        (
            [host("n1", V1, **EULER), host("n2", V1, driver=Driver.CGROUPFS, **EULER)],
            "rubik has one configuration for all nodes of its DaemonSet, and the hosts use the drivers"
            " cgroupfs (as n2), systemd (as n1).",
        ),
    ],
    ids=["v2", "another system", "an old openEuler", "unknown", "two drivers"],
)
def test_reasons_why_rubik_cannot_be_used(hosts: list[AgentHost], message: str) -> None:
    with pytest.raises(ClusterError) as refused:
        render_rubik_config(hosts, ["preemption"])
    assert str(refused.value).startswith(message)
