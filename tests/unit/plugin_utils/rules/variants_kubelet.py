# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems of kubelet, each as a variant of the aligned node with its verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Verdict
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    Snapshot,
    checkpoint,
    kubelet_adds,
    kubelet_edit,
    kubelet_flags,
    put,
)

UNIT = "/usr/lib/systemd/system/kubelet.service"
ENVIRONMENT = "/var/lib/kubelet/kubeadm-flags.env"
MEMORY_CHECKPOINT = "/var/lib/kubelet/memory_manager_state"
DROPIN = "/etc/kubernetes/kubelet.conf.d/10-colocation.conf"
TYPE = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
RESERVED = "systemReserved:\n  cpu: 500m\n"
V1 = [
    "24 22 0:21 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755",
    *(
        f"{32 + index} 24 0:{29 + index} / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}"
        for index, name in enumerate(("memory", "cpu,cpuacct", "cpuset", "pids", "blkio", "hugetlb"))
    ),
]


def text(content: str) -> dict[str, Any]:
    """A captured file."""
    return {"kind": "regular", "text": content, "ctime": 0.0}


def version(node: Snapshot, number: str) -> Snapshot:
    """A copy with another kubelet."""
    return put(node, f"Kubernetes v{number}", "kubelet", "version")


def dropins(node: Snapshot, **texts: str) -> Snapshot:
    """A copy started with --config-dir, whose files are ``texts``."""
    directory = "/etc/kubernetes/kubelet.conf.d"
    paths = [f"{directory}/{name}.conf" for name in texts]
    node = put(node, {"folder": directory, "exists": True, "paths": paths, "left_out": 0}, "kubelet", "config_dir")
    for path, content in zip(paths, texts.values(), strict=True):
        node = put(node, text(content), "kubelet", "files", path)
    return node


def unit(node: Snapshot, environment: str) -> Snapshot:
    """A copy whose unit starts kubelet as it runs, with the variables of an environment file added."""
    argv = " ".join(node["kubelet"]["processes"][0]["argv"])
    content = f"[Service]\nEnvironmentFile=-{ENVIRONMENT}\nExecStart={argv} $KUBELET_KUBEADM_ARGS\n"
    node = put(node, [UNIT], "kubelet", "unit_files")
    node = put(node, text(content), "kubelet", "files", UNIT)
    return put(node, text(environment), "kubelet", "files", ENVIRONMENT)


def on_v1(node: Snapshot) -> Snapshot:
    """A copy with cgroup v1."""
    return put(put(node, V1, "cgroups", "mountinfo"), {}, "cgroups", "filesystem_types")


def without_comment(node: Snapshot) -> Snapshot:
    """A copy whose driver line is plain."""
    return kubelet_edit(node, "systemd  # has to be the driver of the container runtime", "systemd")


def memory_state(node: Snapshot, content: str) -> Snapshot:
    """A copy with a memory manager checkpoint."""
    node = put(node, MEMORY_CHECKPOINT, "kubelet", "memory_checkpoint_path")
    return put(node, text(content), "kubelet", "files", MEMORY_CHECKPOINT)


def configz(node: Snapshot, **fields: Any) -> Snapshot:
    """A copy whose kubelet reports these fields."""
    return put(node, {"status": 200, "config": fields}, "kubelet", "configz")


def cri_driver(node: Snapshot, driver: str) -> Snapshot:
    """A copy whose CRI answers RuntimeConfig."""
    return put(node, {"cgroup_driver": driver}, "runtime", "cri", "runtime_config")


def memory_manager(node: Snapshot, reserved: str) -> Snapshot:
    """A copy of 1.30 with the Static memory manager; 500Mi + 64Mi are reserved."""
    node = kubelet_edit(version(node, "1.30.1"), RESERVED, "systemReserved:\n  cpu: 500m\n  memory: 500Mi\n")
    lines = f"memoryManagerPolicy: Static\nreservedMemory:\n- numaNode: 0\n  limits:\n    memory: {reserved}\n"
    return kubelet_adds(node, lines)


VARIANTS: dict[str, tuple[Verdict, Callable[[Snapshot], Snapshot]]] = {
    "dropin-refused": (Verdict.LATENT, lambda node: dropins(version(node, "1.30.1"), a="cgroupDriver: systemd\n")),
    "config-dir-refused": (Verdict.LATENT, lambda node: dropins(version(node, "1.27.1"), a=TYPE)),
    "kubelet-flags-change": (
        Verdict.LATENT,
        lambda node: unit(node, 'KUBELET_KUBEADM_ARGS="--cgroup-driver=cgroupfs"\n'),
    ),
    "flag-removed": (Verdict.LATENT, lambda node: version(node, "1.27.0")),
    "flag-quoted": (Verdict.LATENT, lambda node: kubelet_flags(node, "--topology-manager-scope='pod'")),
    "kubelet-configz-differs": (Verdict.LATENT, lambda node: configz(node, cpuManagerPolicy="none")),
    "driver-setting-ignored": (
        Verdict.LATENT,
        lambda node: cri_driver(
            version(kubelet_edit(node, "cgroupDriver: systemd", "cgroupDriver: cgroupfs"), "1.34.1"), "systemd"
        ),
    ),
    "cgroup-v1-refused": (
        Verdict.LATENT,
        lambda node: on_v1(version(node, "1.35.0")),
    ),
    "kubelet-config-refused": (Verdict.LATENT, lambda node: kubelet_adds(node, 'maxPods: "110"\n')),
    "kubelet-config-part-ignored": (Verdict.LATENT, lambda node: kubelet_adds(node, "---\nkind: Other\n")),
    "flag-refused": (Verdict.LATENT, lambda node: kubelet_flags(version(node, "1.35.0"), "--no-such-flag")),
    "kubelet-value-refused": (Verdict.LATENT, lambda node: kubelet_adds(node, "maxPods: -1\n")),
    "value-out-of-range": (Verdict.LATENT, lambda node: kubelet_adds(node, "readOnlyPort: -1\n")),
    "memory-throttling-refused": (
        Verdict.LATENT,
        lambda node: kubelet_adds(
            version(node, "1.37.0"), "memoryThrottlingFactor: 0.5\nfeatureGates: {MemoryQoS: false}\n"
        ),
    ),
    "policy-unknown": (
        Verdict.LATENT,
        lambda node: kubelet_adds(version(node, "1.26.0"), "memoryManagerPolicy: static\n"),
    ),
    "reservation-unreadable": (Verdict.LATENT, lambda node: kubelet_edit(node, "cpu: 500m", "cpu: 1")),
    "reserved-cpus-offline": (Verdict.LATENT, lambda node: kubelet_adds(node, 'reservedSystemCPUs: "0,7"\n')),
    "static-without-reservation": (Verdict.LATENT, lambda node: kubelet_edit(node, RESERVED, "")),
    "reservation-too-large": (Verdict.MISALIGNED, lambda node: kubelet_edit(node, "cpu: 500m", 'cpu: "2"')),
    "reserved-cpus-with-cgroups": (
        Verdict.LATENT,
        lambda node: kubelet_adds(node, 'reservedSystemCPUs: "0"\nsystemReservedCgroup: /system\n'),
    ),
    "enforcement-refused": (
        Verdict.LATENT,
        lambda node: kubelet_adds(node, "enforceNodeAllocatable: [pods, system-reserved]\n"),
    ),
    "manager-options-refused": (
        Verdict.LATENT,
        lambda node: kubelet_adds(version(node, "1.26.0"), 'cpuManagerPolicyOptions: {align-by-socket: "true"}\n'),
    ),
    "reserved-memory-unequal": (Verdict.LATENT, lambda node: memory_manager(node, "500Mi")),
    "reserved-memory-refused": (Verdict.LATENT, lambda node: memory_manager(node, "0")),
    "reserved-hugepages": (
        Verdict.LATENT,
        lambda node: kubelet_adds(memory_manager(node, "564Mi"), "    hugepages-2Mi: 2Mi\n"),
    ),
    "memory-manager-off": (
        Verdict.LATENT,
        lambda node: kubelet_adds(memory_manager(node, "564Mi"), "featureGates: {MemoryManager: false}\n"),
    ),
    "feature-gates-refused": (
        Verdict.LATENT,
        lambda node: kubelet_adds(version(node, "1.21.0"), "featureGates: {MemoryQoS: true}\n"),
    ),
    "reserved-memory-unreadable": (Verdict.LATENT, lambda node: memory_manager(node, "much")),
    "checkpoint-corrupt": (
        Verdict.LATENT,
        lambda node: checkpoint(node, '{"policyName":"static","defaultCpuSet":"0-1","checksum":7}'),
    ),
    "checkpoint-reserved-differ": (Verdict.LATENT, lambda node: kubelet_adds(node, 'reservedSystemCPUs: "1"\n')),
    "memory-checkpoint-unreadable": (Verdict.LATENT, lambda node: memory_state(node, "{")),
    "memory-checkpoint-policy-differs": (
        Verdict.LATENT,
        lambda node: memory_state(version(node, "1.26.0"), '{"policyName":"Static","machineState":{},"checksum":1}'),
    ),
    "driver-hidden-from-agents": (
        Verdict.ALIGNED,
        lambda node: kubelet_edit(node, "systemd  # has to be the driver of the container runtime", '"systemd"'),
    ),
}
"""Code to the verdict and the variant."""
