# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts are grouped into pools of nodes of one kind; hosts that the agent does not support are refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.features import Feature, split_supported
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.module_options import FEATURE_NAMES
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.pools import unsupported_reason
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.probed_host import (
    AgentHost,
    parse_host,
    parse_host_identity,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import CgroupMode
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.tests.support.clusters.agent_clusters import (
    CNI,
    OPEN_EULER,
    V1,
    V2,
    V2_CGROUPFS,
    facts,
    host,
    options,
    pools,
    probe,
)

NOW, OLD = (1, 14), (1, 13)
EULER = {"os_name": "openEuler", "os_version": "22.03 (LTS-SP2)", "agents": ()}


def test_each_kind_of_node_is_a_separate_pool() -> None:
    made = pools([host("n1"), host("n2", V1), host("n3")], options())
    assert [(pool.name[:10], pool.hosts) for pool in made] == [("v1-systemd", ("n2",)), ("v2-systemd", ("n1", "n3"))]
    kind = made[1].kind
    assert (kind.driver, kind.cgroup_root, kind.sys_fs, kind.kubelet_root_dir) == (
        Driver.SYSTEMD,
        "",
        "/sys/fs",
        "/var/lib/kubelet",
    )


def test_a_pools_name_does_not_depend_on_the_other_hosts() -> None:
    alone = pools([host("n1")], options())
    among = pools([host("n2", V1), host("n1"), host("n3", V2_CGROUPFS)], options())
    assert alone[0].name in {pool.name for pool in among}


def test_nodes_that_differ_in_a_supported_feature_are_different_pools() -> None:
    without = host("n2", features={})
    made = pools([host("n1"), without], options(features=["Eviction", "CPUBurst"]))
    assert [pool.kind.features for pool in made if pool.hosts == ("n2",)] == [(Feature.EVICTION,)]
    assert len({pool.name for pool in made}) == 2


def test_a_named_pool_is_split_by_kind_and_keeps_its_settings() -> None:
    chosen = options(pools=[{"name": "batch", "nodes": ["batch"], "watermarks": {"cpu_high": 50}}])
    made = pools([host("n1"), host("n2"), host("n3", V1)], chosen)
    assert sorted((pool.name.rpartition("-")[0], len(pool.leaves)) for pool in made) == [
        ("batch-v1-systemd", 1),
        ("batch-v2-systemd", 1),
        ("v2-systemd", 0),
    ]


@pytest.mark.parametrize(
    ("different", "release", "why"),
    [
        ({"mode": CgroupMode.UNKNOWN, "mode_reason": "no mounts"}, NOW, "its cgroup version is unknown (no mounts)"),
        ({"driver": None}, NOW, "kubelet's cgroup driver is unknown; run the playbook assess to find out why"),
        ({"runtime_driver": "cgroupfs"}, NOW, "kubelet uses the systemd driver and containerd cgroupfs, so pods"),
        ({}, OLD, "it has cgroup v2, which the agent supports from 1.14; 1.13 assumes v1 with cgroupfs on"),
        ({"mode": CgroupMode.V1}, OLD, "it has the systemd driver, which the agent supports from 1.14;"),
        (
            {"agents": ("koordlet (1 process(es) koordlet)",)},
            NOW,
            "koordlet (1 process(es) koordlet) sets CPU and memory",
        ),
        ({"cgroup_root": "/a/b"}, NOW, "kubelet's cgroupRoot is /a/b, and with the systemd driver, the agent's"),
        ({"mountpoints": {"cpu": "/cg"}}, NOW, "its cgroup hierarchies are not mounted in one directory named cgroup"),
        ({"mountpoints": {}}, NOW, "its cgroup hierarchies are not mounted in one directory named cgroup"),
        (
            {"cgroup_root": "/pods"},
            NOW,
            "the agent expects pods in pods.slice/pods-kubepods.slice, and the node has /sys",
        ),
        ({"trees": ()}, NOW, "the agent expects pods in kubepods.slice, and the node has no cgroup of pods"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_reasons_why_the_agent_does_not_support_a_host(
    different: dict[str, Any], release: tuple[int, int], why: str
) -> None:
    assert unsupported_reason(host("n1", **different), release).startswith(why)


def test_an_old_agent_supports_v1_with_cgroupfs() -> None:
    right = host("n1", "facts/bookworm-v1-drivers-differ.json", runtime_driver="cgroupfs")
    assert right.driver is Driver.CGROUPFS
    assert unsupported_reason(right, OLD) == ""


def test_pods_of_a_kind_node_are_below_a_separate_root() -> None:
    made = pools([host("n1", "hosts/v2-kind-node.facts.json")], options())
    assert (made[0].kind.cgroup_root, made[0].kind.pods) == ("kubelet", "kubelet.slice/kubelet-kubepods.slice")


def test_hybrid_counts_as_v1() -> None:
    assert pools([host("n1", "hosts/hybrid-debian-12.facts.json")], options())[0].name.startswith("v1-systemd-")


def test_kubelet_directories_of_rke2_and_k3s_are_used() -> None:
    for name in ("rke2", "k3s-1.32-drop-ins"):
        recorded = facts(f"hosts/{name}.facts.json")
        directory = recorded["kubelet"]["checkpoints"][0]["path"].rpartition("/")[0]
        assert host("n1", f"hosts/{name}.facts.json").kubelet_root_dir == directory


def test_all_unsupported_hosts_are_named_in_one_error() -> None:
    with pytest.raises(ClusterError) as refused:
        pools([host("n1", driver=None), host("n2"), host("n3", trees=())], options())
    assert str(refused.value).startswith("The Volcano agent cannot work on 2 of the hosts: n1: kubelet's cgroup driver")
    assert "; n3: the agent expects pods" in str(refused.value)
    assert str(refused.value).endswith("Nothing was changed. Fix the causes, or exclude these hosts from the run.")


def features_of(one: AgentHost, release: tuple[int, int] = NOW) -> tuple[set[str], dict[str, str]]:
    on, off = split_supported(one, [Feature(name) for name in FEATURE_NAMES], release)
    return {feature.value for feature in on}, {feature.feature.value: feature.reason for feature in off}


def test_a_mainline_v2_node_gets_the_features_of_v2() -> None:
    on, off = features_of(host("n1"))
    assert on == {"OverSubscription", "Eviction", "Resources", "CPUBurst", "CPUThrottle", "MemoryQoSV2"}
    assert off == {
        "CPUQoS": "cpu.qos_level exists on cgroup v1 only, and this node has v2",
        "MemoryQoS": "memory.qos_level exists on cgroup v1 only, and this node has v2; MemoryQoSV2 is for v2",
        "NetworkQoS": "it classifies packets by net_cls.classid of cgroup v1, and this node has v2",
    }


def test_a_mainline_v1_node_has_no_qos_levels() -> None:
    on, off = features_of(host("n1", V1))
    assert on == {"OverSubscription", "Eviction", "Resources", "CPUBurst", "CPUThrottle"}
    assert off["CPUQoS"].endswith("cpu.qos_level does not exist")
    assert off["MemoryQoSV2"] == "it writes memory.high, memory.low and memory.min of cgroup v2, and this node has v1"
    assert off["NetworkQoS"] == (
        "the agent supports it only on openEuler 22.03 LTS-SP2 and newer, and this node has Debian GNU/Linux 13"
        " (trixie)"
    )


def test_openeuler_gets_all_features_of_v1() -> None:
    euler = host("n1", OPEN_EULER, **EULER, paths={CNI: "regular"})
    assert features_of(euler)[0] == set(FEATURE_NAMES) - {"MemoryQoSV2"}


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("22.03 (LTS-SP1)", "the agent supports it only on openEuler 22.03 LTS-SP2"),
        ("20.03 (LTS-SP4)", "the agent supports it only on openEuler 22.03 LTS-SP2"),
        ("24.03 (LTS)", "/etc/cni/net.d/cni.conflist does not exist, and the agent adds its plugin to that file"),
    ],
)
def test_network_qos_needs_the_release_and_the_file(version: str, reason: str) -> None:
    euler = host("n1", OPEN_EULER, **{**EULER, "os_version": version})
    assert features_of(euler)[1]["NetworkQoS"].startswith(reason)


def test_a_feature_with_unknown_support_is_disabled() -> None:
    off = features_of(host("n1", V2_CGROUPFS))[1]
    assert off["CPUBurst"] == "it is unknown whether the kernel has it (cpu.max.burst, no cgroup to read it in)"


def test_kubelets_own_memory_qos_excludes_the_agents() -> None:
    off = features_of(host("n1", kubelet_memory_qos=True))[1]
    assert off["MemoryQoSV2"].startswith("kubelet's own MemoryQoS writes the same files (KEP-2570)")


def test_an_older_agent_lacks_newer_features() -> None:
    off = features_of(host("n1"), OLD)[1]
    assert off["CPUThrottle"] == "CPUThrottle is available from 1.14, and the image's release is 1.13"
    assert off["MemoryQoSV2"] == "MemoryQoSV2 is available from 1.14, and the image's release is 1.13"


def test_containers_of_crio_under_cgroupfs_are_not_found() -> None:
    off = features_of(host("n1", runtime="cri-o", driver=Driver.CGROUPFS))[1]
    for name in ("Resources", "CPUBurst", "MemoryQoSV2"):
        assert off[name] == "the agent does not find the containers of CRI-O under the cgroupfs driver"


def test_a_host_without_results_is_named() -> None:
    with pytest.raises(ProfileError, match=r"^n1: node_facts has no result"):
        parse_host("n1", None, probe("n1"), CNI)
    with pytest.raises(ProfileError, match=r"^n1: agent_host_info has no result"):
        parse_host("n1", facts(V2), None, CNI)
    with pytest.raises(ProfileError, match=r"^n1: agent_host_info has no result"):
        parse_host_identity("n1", facts(V2), None)


def test_a_node_is_known_by_its_override_its_hostname_and_the_inventorys_name() -> None:
    identity = host("worker-1").identity
    assert identity.node_names == ("t3", "worker-1")
    assert identity.boot_id == "boot-worker-1"
    assert parse_host_identity("worker-1", None, probe("worker-1")).node_names == ("worker-1",)


def test_other_agents_are_those_of_the_facts() -> None:
    assert [agent.partition(" ")[0] for agent in host("n1", OPEN_EULER).agents] == ["rubik"]
