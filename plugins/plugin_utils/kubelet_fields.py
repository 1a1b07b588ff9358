# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The KubeletConfiguration fields this collection manages, and the deprecated flags that override them.

Source: kubernetes/kubernetes pkg/kubelet/apis/config/v1beta1/defaults.go and cmd/kubelet/app/options/options.go.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KubeletField:
    key: str
    flag: str
    default: str | None


CGROUP_DRIVER = KubeletField("cgroupDriver", "--cgroup-driver", "cgroupfs")
CPU_MANAGER_POLICY = KubeletField("cpuManagerPolicy", "--cpu-manager-policy", "none")
TOPOLOGY_MANAGER_POLICY = KubeletField("topologyManagerPolicy", "--topology-manager-policy", "none")
RESERVED_SYSTEM_CPUS = KubeletField("reservedSystemCPUs", "--reserved-cpus", None)
SYSTEM_RESERVED = KubeletField("systemReserved", "--system-reserved", None)
KUBE_RESERVED = KubeletField("kubeReserved", "--kube-reserved", None)
READ_ONLY_PORT = KubeletField("readOnlyPort", "--read-only-port", "0")

FIELDS = (
    CGROUP_DRIVER,
    CPU_MANAGER_POLICY,
    TOPOLOGY_MANAGER_POLICY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
    KUBE_RESERVED,
    READ_ONLY_PORT,
)
