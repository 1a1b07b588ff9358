# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import dataclasses

import pytest
import yaml

from ansible_collections.volcano.colocation.plugins.module_utils.systemd.unit_syntax import (
    parse_environment,
    section_settings,
    split_words,
)
from ansible_collections.volcano.colocation.tests.lab.kubelet_config import kubelet_config
from ansible_collections.volcano.colocation.tests.lab.kubelet_files import fixed_files, links, own_files, runtime_flags
from ansible_collections.volcano.colocation.tests.lab.spec import CgroupMode, CpuManager, Driver, Layout, NodeSpec
from ansible_collections.volcano.colocation.tests.support.lab.paper_nodes import SPEC

DEBIAN = (1, 20)


@pytest.mark.parametrize("driver", Driver)
@pytest.mark.parametrize("policy", CpuManager)
def test_kubelet_is_configured_by_the_specification(driver: Driver, policy: CpuManager) -> None:
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
        (CgroupMode.HYBRID, (1, 35), False),
        (CgroupMode.V2, (1, 35), None),
    ],
)
def test_cgroup_v1_is_allowed_where_kubelet_has_the_field(
    cgroup: CgroupMode, version: tuple[int, int], expected: bool | None
) -> None:
    config = yaml.safe_load(kubelet_config(dataclasses.replace(SPEC, cgroup=cgroup), version))
    assert config.get("failCgroupV1") is expected


@pytest.mark.parametrize(("version", "expected_flag"), [((1, 20), True), ((1, 24), False), ((1, 35), False)])
def test_flags_that_a_kubelet_removed_are_not_set(version: tuple[int, int], expected_flag: bool) -> None:
    assert ("--container-runtime=remote" in runtime_flags(version)) is expected_flag
    assert "--container-runtime-endpoint=unix:///run/containerd/containerd.sock" in runtime_flags(version)


def command_line(spec: NodeSpec) -> list[str]:
    """kubelet's words as systemd puts them together, systemd.service(5): a later Environment= or file overrides."""
    files = {**fixed_files(spec, DEBIAN), **own_files(spec, DEBIAN, "10.0.9.15")}
    unit = [path for path in files if path.endswith("/kubelet.service")]
    dropins = sorted(path for path in files if "/kubelet.service.d/" in path)
    read = [pair for path in unit + dropins for pair in section_settings(files[path])]
    variables: dict[str, str] = {}
    for _key, value in [pair for pair in read if pair[0] == "Environment"]:
        name, _equals, content = value.strip('"').partition("=")
        variables[name] = content
    for _key, path in [pair for pair in read if pair[0] == "EnvironmentFile"]:
        variables.update(parse_environment(files[path.lstrip("-")]))
    start = [value for key, value in read if key == "ExecStart"][-1]
    groups = [variables.get(word[1:], "").split() if word.startswith("$") else [word] for word in split_words(start)]
    return [word for group in groups for word in group if word != "\\"]


@pytest.mark.parametrize("layout", Layout)
def test_kubelet_is_started_with_this_nodes_flags_and_the_users_last(layout: Layout) -> None:
    spec = dataclasses.replace(SPEC, layout=layout, kubelet_flags=("--cgroup-driver=cgroupfs", "--max-pods=20"))
    program, *flags = command_line(spec)
    assert program == ("/usr/local/bin/kubelet" if layout is Layout.KUBESPRAY else "/usr/bin/kubelet")
    config = "/etc/kubernetes/kubelet-config.yaml" if layout is Layout.KUBESPRAY else "/var/lib/kubelet/config.yaml"
    assert f"--config={config}" in flags
    assert "--container-runtime=remote" in flags
    own = {"--hostname-override=one", "--node-ip=10.0.9.15"}
    assert own & set(flags) == (set() if layout is Layout.KUBESPRAY else own)
    assert not [flag for flag in flags if "kubeconfig" in flag]
    extra = [flag for flag in flags if flag in spec.kubelet_flags]
    assert extra == ["--cgroup-driver=cgroupfs", "--max-pods=20"]


def test_kubeadms_drop_in_names_its_files_in_the_order_in_which_they_override() -> None:
    files = fixed_files(dataclasses.replace(SPEC, layout=Layout.KUBEADM, kubelet_flags=("--v=3",)), DEBIAN)
    dropin = section_settings(files["/etc/systemd/system/kubelet.service.d/10-kubeadm.conf"])
    assert [value for key, value in dropin if key == "EnvironmentFile"] == [
        "-/var/lib/kubelet/kubeadm-flags.env",
        "-/etc/default/kubelet",
    ]
    assert files["/etc/default/kubelet"] == "KUBELET_EXTRA_ARGS=--v=3\n"


@pytest.mark.parametrize(
    ("layout", "unit"),
    [
        (Layout.STANDALONE, "/usr/lib/systemd/system/kubelet.service"),
        (Layout.KUBEADM, "/usr/lib/systemd/system/kubelet.service"),
        (Layout.KUBESPRAY, "/etc/systemd/system/kubelet.service"),
    ],
)
def test_the_unit_is_where_the_link_of_its_target_says(layout: Layout, unit: str) -> None:
    assert unit in fixed_files(dataclasses.replace(SPEC, layout=layout), DEBIAN)
    assert links(layout)["/etc/systemd/system/multi-user.target.wants/kubelet.service"] == unit
