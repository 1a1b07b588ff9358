# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What HLS rests on: kubelet gives a Guaranteed pod with whole CPUs its own. Nothing is written for it, only checked.

Source: pkg/kubelet/cm/cpumanager (policy_static.go, cpu_manager.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.node_allocatable import cpu_reservation
from ..profile.kubelet_fields import CPU_MANAGER_OPTIONS
from ..releases.kubelet_policy_options import parse_bool
from .levels import Level
from .model import Cannot
from .node import Kubelet, QosNode

NO_QUOTA_SINCE = (1, 33)
"""DisableCPUQuotaWithExclusiveCPUs is on by default from then on (pkg/features/kube_features.go)."""


def _said(thing: str, reason: str) -> Cannot:
    return Cannot(Level.HLS.value, thing, reason)


def _full_cores(kubelet: Kubelet) -> bool:
    options = kubelet.value(CPU_MANAGER_OPTIONS.key)
    return isinstance(options, dict) and parse_bool(options.get("full-pcpus-only")) is True


def unmet(node: QosNode) -> Iterator[Cannot]:
    """What stands in the way of pinned CPUs, and what they are without."""
    kubelet = node.kubelet
    if kubelet.cpu_manager_policy != "static":
        policy = kubelet.cpu_manager_policy or "not known"
        yield _said("pinned CPUs", f"kubelet's cpuManagerPolicy is {policy}: set colocation_cpu_manager_policy: static")
        return
    if not cpu_reservation(kubelet.settings).count:
        yield _said("pinned CPUs", "no CPU is reserved, and kubelet does not start with the static policy without one")
    if kubelet.checkpoint_policy not in ("static", None):
        yield _said("pinned CPUs", f"kubelet's checkpoint is still that of the policy {kubelet.checkpoint_policy}")
    if node.smt and not _full_cores(kubelet):
        yield _said(
            "whole cores",
            "SMT is on, and without full-pcpus-only in colocation_cpu_manager_policy_options another pod may get the"
            " sibling thread",
        )
    if kubelet.version is not None and kubelet.version < NO_QUOTA_SINCE:
        version = ".".join(map(str, kubelet.version))
        yield _said("no CPU quota", f"kubelet {version} keeps the quota of pinned containers; 1.33 and newer lift it")
