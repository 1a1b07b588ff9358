# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields read from kubelet's /configz, written by `make docs` from profile/kubelet_fields."""

from __future__ import annotations

FIELDS = (
    "cgroupDriver",
    "cgroupRoot",
    "cpuManagerPolicy",
    "cpuManagerPolicyOptions",
    "topologyManagerPolicy",
    "topologyManagerScope",
    "topologyManagerPolicyOptions",
    "memoryManagerPolicy",
    "reservedMemory",
    "reservedSystemCPUs",
    "systemReservedCgroup",
    "kubeReservedCgroup",
    "enforceNodeAllocatable",
    "memoryThrottlingFactor",
    "failCgroupV1",
    "singleProcessOOMKill",
    "podPidsLimit",
    "readOnlyPort",
    "featureGates",
    "systemReserved",
    "kubeReserved",
    "evictionHard",
    "cgroupsPerQOS",
    "failSwapOn",
    "containerRuntimeEndpoint",
    "memoryReservationPolicy",
    "staticPodPath",
)
"""Other fields may contain secrets, such as staticPodURLHeader."""
