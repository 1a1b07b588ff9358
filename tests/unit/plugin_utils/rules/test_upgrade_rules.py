# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would stop working with the next release, by its version."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import Targets, parse_targets
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Effect, Finding
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.upgrade import upgrade_findings
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    Snapshot,
    captured,
    facts_of,
    kubelet_adds,
    kubelet_edit,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import (
    cri_driver,
    on_v1,
    unit,
    version,
)


@pytest.fixture
def node() -> Snapshot:
    """Kubernetes 1.31 with containerd 1.7 on cgroup v2 and Linux 6.12, started without old flags."""
    snapshot = version(captured(ALIGNED), "1.31.2")
    argv = ["/usr/bin/kubelet", "--config=/var/lib/kubelet/config.yaml"]
    snapshot = put(snapshot, argv, "kubelet", "processes", 0, "argv")
    snapshot = put(snapshot, "6.12.1", "system", "kernel_release")
    return put(snapshot, "1.7.24", "runtime", "cri", "version")


def codes_and_severities(snapshot: Snapshot, **targets: str) -> list[tuple[str, str]]:
    """Code and severity of each finding."""
    results = whole(snapshot, **targets)
    assert all(finding.effect is Effect.NONE for finding in results)
    assert all(text.endswith(".") for finding in results for text in (finding.summary, finding.remedy))
    return [(finding.code.removeprefix("upgrade-"), finding.severity.value) for finding in results]


def whole(snapshot: Snapshot, **targets: str) -> tuple[Finding, ...]:
    options = {f"target_{name}": value for name, value in targets.items()}
    return upgrade_findings(facts_of(snapshot), parse_targets(options))


def test_without_a_target_there_are_no_findings(node: Snapshot) -> None:
    assert codes_and_severities(on_v1(node)) == []


@pytest.mark.parametrize(
    ("lines", "target", "expected"),
    [
        ("", "1.34", []),
        ("", "1.35", [("cgroup-v1", "error")]),
        ("failCgroupV1: false\n", "1.36", [("cgroup-v1", "warning")]),
        ("failCgroupV1: true\n", "1.37", [("cgroup-v1", "error")]),
        ("failCgroupV1: false\n", "1.38", [("cgroup-v1", "error")]),
    ],
)
def test_cgroup_v1(node: Snapshot, lines: str, target: str, expected: list[tuple[str, str]]) -> None:
    assert codes_and_severities(kubelet_adds(on_v1(node), lines), kubernetes=target, containerd="2.1") == expected
    assert "cgroup-v1" not in dict(codes_and_severities(node, kubernetes=target))


@pytest.mark.parametrize(
    ("target", "containerd", "expected"),
    [
        ("1.33", "", []),
        ("1.34", "", [("cri-fallback", "warning")]),
        ("1.36", "1.6", [("cri-fallback", "warning")]),
        ("1.36", "2.0", []),
        ("1.38", "", [("cri-fallback", "error")]),
        ("1.38", "2.2", []),
    ],
)
def test_the_fallback_without_runtime_config(
    node: Snapshot, target: str, containerd: str, expected: list[tuple[str, str]]
) -> None:
    assert codes_and_severities(node, kubernetes=target, containerd=containerd) == expected


def test_another_runtime_is_not_compared_with_versions_of_containerd(node: Snapshot) -> None:
    facts = facts_of(node)
    crio = replace(facts, runtime=replace(facts.runtime, name="cri-o"))
    assert upgrade_findings(crio, Targets(kubernetes=(1, 36))) == ()


@pytest.mark.parametrize(
    ("target", "containerd", "expected"),
    [
        ("1.36", "2.1", [("driver-from-cri", "error")]),
        ("", "2.1", [("driver-from-cri", "error")]),
        ("1.30", "2.1", []),
        ("1.33", "1.7", []),
    ],
)
def test_containerd_decides_the_driver(
    node: Snapshot, target: str, containerd: str, expected: list[tuple[str, str]]
) -> None:
    differs = kubelet_edit(node, "cgroupDriver: systemd", "cgroupDriver: cgroupfs")
    assert codes_and_severities(differs, kubernetes=target, containerd=containerd) == expected
    assert codes_and_severities(cri_driver(differs, "systemd"), kubernetes=target, containerd=containerd) == []


def test_removed_flags_anywhere(node: Snapshot) -> None:
    env = 'KUBELET_KUBEADM_ARGS="--network-plugin=cni --pod-infra-container-image=x"\nOTHER="--docker-endpoint=x"\n'
    snapshot = unit(node, env)
    path = "/var/lib/kubelet/kubeadm-flags.env"
    unread = put(put(snapshot, [], "kubelet", "unit_files"), [path], "kubelet", "environment_files")
    for variant in (snapshot, unread):
        finding = whole(variant, kubernetes="1.35", containerd="2.1")[0]
        assert finding.code == "upgrade-flags-removed"
        assert [line.split(",")[0] for line in finding.evidence] == [
            f"--network-plugin (KUBELET_KUBEADM_ARGS in {path})",
            f"--pod-infra-container-image (KUBELET_KUBEADM_ARGS in {path})",
        ]
    assert [line.split(" ")[0] for line in whole(snapshot, kubernetes="1.34", containerd="2.1")[0].evidence] == [
        "--network-plugin"
    ]


FACTOR = "memoryThrottlingFactor: 0.9\n"


@pytest.mark.parametrize(
    ("lines", "kernel", "expected"),
    [
        ("", "5.4.0-x", []),
        (FACTOR, "6.12.1", [("memory-qos", "info")]),
        (FACTOR, "5.4.0-x", [("memory-qos", "warning")]),
        ("memoryReservationPolicy: TieredReservation\n", "5.4.0-x", [("memory-qos", "info")]),
        ("memoryReservationPolicy: None\n", "5.4.0-x", []),
        ("featureGates: {MemoryQoS: false}\n" + FACTOR, "5.4.0-x", []),
    ],
)
def test_memory_qos(node: Snapshot, lines: str, kernel: str, expected: list[tuple[str, str]]) -> None:
    snapshot = put(kubelet_adds(node, lines), kernel, "system", "kernel_release")
    assert codes_and_severities(snapshot, kubernetes="1.37", containerd="2.1") == expected
    assert codes_and_severities(version(snapshot, "1.37.0"), kubernetes="1.38", containerd="2.1") == []


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (FACTOR, "or set the gate MemoryQoS: false."),
        (
            "memoryReservationPolicy: TieredReservation\n",
            "or set the gate MemoryQoS: false and memoryReservationPolicy: None.",
        ),
    ],
)
def test_memory_qos_is_switched_off_so_that_kubelet_starts(node: Snapshot, lines: str, words: str) -> None:
    """kubelet 1.36 and newer exit with the policy and without the gate."""
    (finding,) = whole(kubelet_adds(node, lines), kubernetes="1.37", containerd="2.1")
    assert words in finding.remedy


def test_options_of_the_managers(node: Snapshot) -> None:
    lines = 'cpuManagerPolicyOptions: {align-by-socket: "true"}\ntopologyManagerPolicyOptions: {x: "true"}\n'
    finding = whole(kubelet_adds(node, lines), kubernetes="1.32")[0]
    assert finding.evidence == (
        "align-by-socket needs the gate CPUManagerPolicyAlphaOptions",
        "Kubernetes 1.32 has no option x",
    )


@pytest.mark.parametrize(
    ("target", "kernel", "on_v2", "expected"),
    [
        (
            "255",
            "4.18.0",
            [],
            [],
        ),
        ("256", "6.12.0", [], [("systemd-cgroup-v1", "warning")]),
        ("257.13-1~deb13u1", "6.12.0", [], [("systemd-cgroup-v1", "warning")]),
        ("258", "6.12.0", [], [("systemd-cgroup-v1", "error")]),
        ("258", "5.3.0", [("systemd-kernel", "error")], [("systemd-cgroup-v1", "error"), ("systemd-kernel", "error")]),
        ("260", "5.4.0", [("systemd-kernel", "error")], [("systemd-cgroup-v1", "error"), ("systemd-kernel", "error")]),
    ],
)
def test_systemd(
    node: Snapshot, target: str, kernel: str, on_v2: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    snapshot = put(node, kernel, "system", "kernel_release")
    assert codes_and_severities(snapshot, systemd=target) == on_v2
    assert codes_and_severities(on_v1(snapshot), systemd=target) == expected


@pytest.mark.parametrize(
    ("options", "targets"),
    [
        ({}, Targets()),
        ({"target_kubernetes": "", "target_systemd": None}, Targets()),
        ({"target_kubernetes": "v1.36.1", "target_containerd": "2.1.0-rc.1"}, Targets((1, 36), (2, 1))),
        ({"target_systemd": "v258"}, Targets(systemd=258)),
    ],
)
def test_targets(options: dict[str, Any], targets: Targets) -> None:
    assert parse_targets(options) == targets


@pytest.mark.parametrize("option", ["target_kubernetes", "target_containerd", "target_systemd"])
def test_a_wrong_version_is_reported(option: str) -> None:
    with pytest.raises(ProfileError, match=f"{option}: 'newest' is not a version"):
        parse_targets({option: "newest"})
