# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The minimum versions of all programs, with the check that names each of them. `make docs` writes docs/versions.md."""

from __future__ import annotations

from dataclasses import dataclass

from .versions import Version


@dataclass(frozen=True)
class Minimum:
    """``needed_by``: what does not work below it. ``check``: who checks it, and the code or variable in its message."""

    program: str
    version: tuple[int, ...]
    needed_by: str
    check: str
    source: str
    label: str = ""
    """The name of the version, where it is more than its numbers."""

    @property
    def text(self) -> str:
        """The version as its project writes it."""
        return self.label or ".".join(map(str, self.version))

    @property
    def minor(self) -> Version:
        """Major and minor."""
        return self.version[0], self.version[1]


_NODE = "`assess` and `provision`: `version-too-old`"
_V2 = "`assess`: `below-v2-minimum`"
_ABOUT_V2 = 'Kubernetes "About cgroup v2"'
_MANIFEST = "the role `scheduler`, in the manifest that it installs"

MINIMUMS = (
    KUBELET := Minimum(
        "kubelet", (1, 20), "every change of a node", _NODE, "the oldest kubelet that ran in tests of this collection"
    ),
    CONTAINERD := Minimum(
        "containerd", (1, 6), "every change of a node", _NODE, "the oldest containerd that `make test` runs"
    ),
    CONTAINERD_NRI := Minimum(
        "containerd",
        (1, 7),
        "`colocation_nri_enabled`",
        "`provision`: `nri-unsupported`, or skipped with `colocation_nri_unsupported: skip`",
        "containerd docs/NRI.md",
    ),
    SYSTEMD := Minimum(
        "systemd", (239,), "every change of a node", _NODE, "the oldest systemd of a described node (RHEL 8)"
    ),
    SYSTEMD_V2 := Minimum("systemd", (244,), "cgroup v2: AllowedCPUs=", _V2, "systemd NEWS"),
    KERNEL_V2 := Minimum("kernel", (5, 8), "cgroup v2: cpu.stat of the root cgroup", _V2, _ABOUT_V2),
    CONTAINERD_V2 := Minimum("containerd", (1, 4), "cgroup v2", _V2, _ABOUT_V2),
    CRIO_V2 := Minimum("CRI-O", (1, 20), "cgroup v2", _V2, _ABOUT_V2),
    VOLCANO := Minimum(
        "Volcano",
        (1, 11),
        "the agent and the resources of BE pods; a hierarchy of queues",
        f"`cluster`, by the tag of the agent's image; {_MANIFEST}; `scheduler-queue-field-ignored`",
        "volcano cmd/agent and pkg/scheduler/plugins/capacity, new in 1.11",
    ),
    VOLCANO_SCHEDULER := Minimum(
        "Volcano",
        (1, 9),
        "a change of the scheduler's configuration: thresholds of `usage`, the plugin `capacity`",
        f"`cluster`, by the tag of the scheduler's image; {_MANIFEST}",
        "volcano pkg/scheduler/plugins of 1.9.0, read: no such scheduler was run",
    ),
    VOLCANO_BOTH_DRIVERS := Minimum(
        "Volcano",
        (1, 14),
        "an agent on cgroup v2 or with the systemd driver",
        "`cluster`, for each host, by the image's tag",
        "volcano cmd/agent/app/agent.go: the cgroupfs driver and v1 before",
    ),
    PROMETHEUS := Minimum(
        "Prometheus",
        (2, 7),
        "`colocation_scheduler_usage`: subqueries",
        f"{_MANIFEST}; the preflight of the role asks an installed one",
        "Prometheus CHANGELOG, 2.7.0; volcano pkg/scheduler/metrics/source/metrics_client_prometheus.go",
    ),
    NODE_EXPORTER := Minimum(
        "node_exporter",
        (0, 16),
        "`colocation_scheduler_usage`: node_cpu_seconds_total",
        f"{_MANIFEST}; the preflight of the role asks an installed one",
        "node_exporter CHANGELOG, 0.16.0",
    ),
    OPEN_EULER_RUBIK := Minimum(
        "openEuler",
        (22, 3),
        "rubik",
        "`rubik_config`, for each host",
        "the guide of openFuyao 25.06",
        label="22.03 LTS",
    ),
    OPEN_EULER_NETWORK := Minimum(
        "openEuler",
        (22, 3, 2),
        "the agent's feature NetworkQoS",
        "`cluster`, for each host: the feature is disabled there",
        "volcano pkg/networkqos/utils",
        label="22.03 LTS-SP2",
    ),
)
"""In the order of the page."""
