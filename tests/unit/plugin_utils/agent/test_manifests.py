# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of a pool: they have the settings that upstream's chart lacks, and are valid for Kubernetes since 1.25."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.colocation_config import (
    AgentJournal,
    render_journal,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.manifests import (
    render_access,
    render_colocation_configuration,
    render_daemon_set,
    render_namespace,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import LAST_APPLIED, POOL_LABEL
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.last_applied import with_last_applied
from ansible_collections.volcano.colocation.tests.support.clusters.agent_clusters import (
    CNI,
    OPEN_EULER,
    V1,
    V2_CGROUPFS,
    host,
    options,
    pools,
)

VERSIONS = [f"1.{minor}" for minor in range(25, 38)]
EVERYTHING = ["OverSubscription", "Eviction", "Resources", "CPUQoS", "CPUBurst", "CPUThrottle", "NetworkQoS"]


def made(recorded: str | None = None, chosen: dict[str, Any] | None = None, **different: Any) -> dict[str, Any]:
    """The DaemonSet of one host's pool."""
    one = host("n1", recorded, **different) if recorded else host("n1", **different)
    with_options = options(**(chosen or {}))
    return render_daemon_set(pools([one], with_options)[0], with_options)


def pod(daemon_set: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = daemon_set["spec"]["template"]["spec"]
    return spec


def environment(daemon_set: dict[str, Any]) -> dict[str, Any]:
    return {variable["name"]: variable.get("value") for variable in pod(daemon_set)["containers"][0]["env"]}


OPEN_EULER_NODE = {
    "os_name": "openEuler",
    "os_version": "22.03 (LTS-SP3)",
    "agents": (),
    "paths": {CNI: "regular"},
    "selinux": "enforcing",
}
DAEMON_SETS = {
    "v2": made(),
    "v2-cgroupfs": made(V2_CGROUPFS, {"resources": {}}),
    "v1": made(V1, {"tolerations": []}),
    "kind": made("hosts/v2-kind-node.facts.json", {"include_system_usage": True}),
    "openeuler": made(OPEN_EULER, {"features": EVERYTHING}, **OPEN_EULER_NODE),
}
OBJECTS = [
    *DAEMON_SETS.values(),
    *render_access("volcano-system"),
    render_namespace("volcano-system"),
    render_journal(AgentJournal(), "volcano-system"),
]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_is_valid_for_every_version(version: str) -> None:
    for manifest in OBJECTS:
        assert kubernetes_validate.validate(with_last_applied(manifest, LAST_APPLIED), version, strict=True).startswith(
            version
        )


def test_the_validator_detects_a_wrong_field() -> None:
    wrong = made()
    pod(wrong)["hostNetworks"] = True
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, "1.30", strict=True)


@pytest.mark.parametrize(
    ("name", "driver", "root"),
    [
        ("v2", "systemd", None),
        ("v2-cgroupfs", "cgroupfs", None),
        ("v1", "systemd", None),
        ("kind", "systemd", "kubelet"),
    ],
)
def test_driver_and_cgroup_root_are_set(name: str, driver: str, root: str | None) -> None:
    daemon_set = DAEMON_SETS[name]
    assert environment(daemon_set)["CGROUP_DRIVER"] == driver
    flags = [flag for flag in pod(daemon_set)["containers"][0]["args"] if flag.startswith("--kube-cgroup-root")]
    assert flags == ([f"--kube-cgroup-root={root}"] if root else [])


def test_it_runs_on_its_pool_regardless_of_taints() -> None:
    daemon_set = DAEMON_SETS["v2"]
    chosen = pod(daemon_set)["nodeSelector"][POOL_LABEL]
    assert daemon_set["metadata"]["name"] == f"volcano-agent-{chosen}"
    assert daemon_set["spec"]["selector"]["matchLabels"][POOL_LABEL] == chosen
    assert pod(daemon_set)["tolerations"] == [{"operator": "Exists"}]
    assert "tolerations" not in pod(DAEMON_SETS["v1"])


def test_upstreams_selector_does_not_match_managed_pods() -> None:
    assert "name" not in DAEMON_SETS["v2"]["spec"]["template"]["metadata"]["labels"]


def test_flags_are_one_word_each() -> None:
    assert pod(DAEMON_SETS["kind"])["containers"][0]["args"] == [
        "--v=2",
        "--supported-features=OverSubscription,Eviction,Resources",
        "--kube-cgroup-root=kubelet",
        "--healthz-port=3300",
        "--oversubscription-ratio=60",
        "--include-system-usage=true",
    ]


def mounts(daemon_set: dict[str, Any]) -> set[str]:
    return {volume["hostPath"]["path"] for volume in pod(daemon_set)["volumes"]}


def test_paths_of_the_network_are_mounted_for_it_only() -> None:
    network = {"/usr/share/bwmcli", "/opt/cni/bin"}
    assert not mounts(DAEMON_SETS["v2"]) & network
    assert network <= mounts(DAEMON_SETS["openeuler"])
    assert environment(DAEMON_SETS["openeuler"])["CNI_CONF_FILE_PATH"] == f"/host{CNI}"
    assert "CNI_CONF_FILE_PATH" not in environment(DAEMON_SETS["v2"])


@pytest.mark.parametrize("name", DAEMON_SETS)
def test_every_mount_has_its_volume_and_every_volume_a_mount(name: str) -> None:
    spec = pod(DAEMON_SETS[name])
    mounted = {mount["name"] for part in spec["containers"] + spec["initContainers"] for mount in part["volumeMounts"]}
    assert mounted == {volume["name"] for volume in spec["volumes"]}


def test_kubelets_directory_is_that_of_the_node() -> None:
    daemon_set = made("hosts/v2-kind-node.facts.json", kubelet_root_dir="/var/lib/k0s/kubelet")
    assert "/var/lib/k0s/kubelet" in mounts(daemon_set)
    assert environment(daemon_set)["KUBELET_ROOT_DIR"] == "/var/lib/k0s/kubelet"


def test_the_selinux_type_is_set_only_if_selinux_is_enforcing() -> None:
    assert pod(DAEMON_SETS["openeuler"])["securityContext"]["seLinuxOptions"] == {"type": "spc_t"}
    assert "seLinuxOptions" not in pod(DAEMON_SETS["v2"])["securityContext"]
    assert "seLinuxOptions" not in pod(made(selinux="permissive"))["securityContext"]


def test_the_agent_may_not_read_secrets() -> None:
    rules = [rule for manifest in render_access("x") for rule in manifest.get("rules", ())]
    assert rules
    assert "secrets" not in {name for rule in rules for name in rule["resources"]}


def test_ratios_become_a_colocation_configuration() -> None:
    memory = {"name": "offline", "namespace": "batch", "selector": {"matchLabels": {"app": "x"}}, "low_ratio": 50}
    manifest = render_colocation_configuration(options(memory_qos=[memory]).memory_qos[0])
    assert (manifest["apiVersion"], manifest["kind"]) == ("config.volcano.sh/v1alpha1", "ColocationConfiguration")
    assert manifest["spec"] == {
        "selector": {"matchLabels": {"app": "x"}},
        "memoryQos": {"highRatio": 100, "lowRatio": 50, "minRatio": 0},
    }


def test_memory_of_the_system_is_mounted_only_for_agents_that_include_it() -> None:
    for included in (False, True):
        chosen = options(include_system_usage=included)
        spec = render_daemon_set(pools([host("n1")], chosen)[0], chosen)["spec"]["template"]["spec"]
        mounts = [mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]]
        assert ("/host/proc/meminfo" in mounts) is included
        assert ("/proc/meminfo" in [volume["hostPath"]["path"] for volume in spec["volumes"]]) is included


def test_another_image_of_the_same_name_replaces_the_pods() -> None:
    """A DaemonSet replaces its pods only if its template changes."""
    chosen = options(image_ids=["sha256:b", "sha256:a"])
    (pool,) = pools([host("n1")], chosen)
    template = render_daemon_set(pool, chosen)["spec"]["template"]
    assert template["metadata"]["annotations"]["colocation.volcano.sh/image-ids"] == "sha256:a,sha256:b"
    without = render_daemon_set(pool, options())["spec"]["template"]
    assert "colocation.volcano.sh/image-ids" not in without["metadata"]["annotations"]
    assert template["spec"] == without["spec"]
