# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import dataclasses

import pytest
import tomlkit
import yaml

from ansible_collections.volcano.colocation.tests.lab.node_files import (
    QOS_CLASSES,
    containerd_config,
    files,
    kubelet_config,
    kubelet_unit,
    pod,
)
from ansible_collections.volcano.colocation.tests.lab.spec import CgroupMode, CpuManager, Driver, Nri
from ansible_collections.volcano.colocation.tests.unit.lab.paper_nodes import SPEC

PACKAGED = """version = 2

[plugins]
  [plugins."io.containerd.grpc.v1.cri"]
    [plugins."io.containerd.grpc.v1.cri".cni]
      bin_dir = "/usr/lib/cni"
"""
DEBIAN = (1, 20)


@pytest.mark.parametrize("driver", Driver)
@pytest.mark.parametrize("policy", CpuManager)
def test_kubelet_is_configured_as_asked(driver: Driver, policy: CpuManager) -> None:
    spec = dataclasses.replace(SPEC, kubelet_driver=driver, cpu_manager=policy)
    config = yaml.safe_load(kubelet_config(spec, DEBIAN))
    assert config["cgroupDriver"] == driver.value
    assert config["cpuManagerPolicy"] == policy.value
    assert config["staticPodPath"] == "/etc/kubernetes/manifests"
    # kubelet refuses the static policy without a reservation (cm/cpumanager/policy_static.go).
    assert ("systemReserved" in config) is (policy is CpuManager.STATIC)


@pytest.mark.parametrize(
    ("cgroup", "version", "expected"),
    [
        (CgroupMode.V1, (1, 20), None),
        (CgroupMode.V1, (1, 35), False),
        (CgroupMode.V2, (1, 35), None),
    ],
)
def test_v1_is_allowed_where_kubelet_knows_the_word(
    cgroup: CgroupMode, version: tuple[int, int], expected: bool | None
) -> None:
    config = yaml.safe_load(kubelet_config(dataclasses.replace(SPEC, cgroup=cgroup), version))
    assert config.get("failCgroupV1") is expected


@pytest.mark.parametrize(("version", "given"), [((1, 20), True), ((1, 24), False), ((1, 35), False)])
def test_flags_that_a_kubelet_has_forgotten_are_not_given(version: tuple[int, int], given: bool) -> None:
    assert ("--container-runtime=remote" in kubelet_unit(version)) is given
    assert "--container-runtime-endpoint=unix:///run/containerd/containerd.sock" in kubelet_unit(version)


def test_without_a_wish_containerds_file_is_debians() -> None:
    assert containerd_config(SPEC, PACKAGED) == PACKAGED


def test_containerds_file_says_what_was_asked_for() -> None:
    spec = dataclasses.replace(SPEC, runtime_driver=Driver.SYSTEMD, nri=Nri.ON)
    text = containerd_config(spec, PACKAGED)
    plugins = tomlkit.parse(text).unwrap()["plugins"]
    cri = plugins["io.containerd.grpc.v1.cri"]
    assert cri["cni"]["bin_dir"] == "/usr/lib/cni"
    runc = cri["containerd"]["runtimes"]["runc"]
    assert runc == {"runtime_type": "io.containerd.runc.v2", "options": {"SystemdCgroup": True}}
    assert plugins["io.containerd.nri.v1.nri"] == {"disable": False}


def qos_class(manifest: dict[str, object]) -> str:
    """The class kubelet gives a pod of one container (Kubernetes, core/v1 helper/qos)."""
    (container,) = manifest["spec"]["containers"]  # type: ignore[index]
    resources = container.get("resources")
    if not resources:
        return "besteffort"
    return "guaranteed" if resources["requests"] == resources["limits"] else "burstable"


@pytest.mark.parametrize("name", QOS_CLASSES)
def test_there_is_a_pod_of_each_class(name: str) -> None:
    manifest = yaml.safe_load(pod(name))
    assert qos_class(manifest) == name == manifest["metadata"]["name"]
    assert manifest["spec"]["hostNetwork"] is True
    assert manifest["spec"]["containers"][0]["imagePullPolicy"] == "Never"


def test_the_guaranteed_pod_asks_for_whole_cpus() -> None:
    cpu = yaml.safe_load(pod("guaranteed"))["spec"]["containers"][0]["resources"]["limits"]["cpu"]
    assert int(cpu) >= 1


def test_every_file_of_a_node_is_its_own() -> None:
    def of(name: str, address: str) -> dict[str, bytes]:
        return files(dataclasses.replace(SPEC, name=name), address, "10.0.9.3", "0" * 32, "key", PACKAGED, DEBIAN)

    one, two = of("one", "10.0.9.15"), of("two", "10.0.10.15")
    assert {path for path in one if one[path] != two[path]} == {"/etc/default/kubelet", "/etc/hostname", "/etc/hosts"}
    assert b"--hostname-override=two --node-ip=10.0.10.15" in two["/etc/default/kubelet"]
