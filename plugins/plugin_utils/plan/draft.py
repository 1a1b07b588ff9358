# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The draft of a node's plan: all differences, before rules decide whether they may be applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...module_utils.cgroup.kubelet_names import Driver
from ..facts.containerd_layers import Layers
from ..facts.node_state import NodeFacts
from ..facts.runtime_state import RuntimeFacts
from ..profile.node_profile import Profile
from . import containerd_changes, kubeadm_patch, kubelet_changes
from .change_set import Change, Impact, Unsupported
from .containerd_changes import layers_after
from .crio_changes import crio_changes, crio_nri_unsupported
from .desired_state import PlanInputs, node_after


def _misplaced_pods(facts: NodeFacts, driver: Driver) -> int:
    count = facts.pods.cgroupfs_paths if driver is Driver.SYSTEMD else facts.pods.systemd_paths
    return count + len(facts.pods.misplaced_paths)


def pod_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """Containers stay in the cgroup they were created in until they are re-created."""
    driver = profile.cgroup_driver
    if driver is None or not _misplaced_pods(facts, driver):
        return ()
    reason = f"{_misplaced_pods(facts, driver)} running container(s) are not where the {driver.value} driver puts them"
    needs = frozenset({Impact.RESTART_KUBELET, Impact.DRAIN})
    return (Change("pods", "cgroup paths", "misplaced", "recreated", reason, needs),)


@dataclass(frozen=True)
class Planner:
    """Plans the changes of a runtime, and reports NRI if the runtime does not support it."""

    changes: Callable[[NodeFacts, Profile], tuple[Change, ...]]
    nri_unsupported: Callable[[RuntimeFacts, Profile], Unsupported | None]


PLANNERS: Mapping[str, Planner] = {
    "containerd": Planner(containerd_changes.containerd_changes, containerd_changes.containerd_nri_unsupported),
    "cri-o": Planner(crio_changes, crio_nri_unsupported),
}
"""By the runtime name that the CRI reports. Nodes with another runtime are refused before planning."""


def planner(facts: RuntimeFacts) -> Planner | None:
    return PLANNERS.get(facts.name or "containerd")


def runtime_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """What differs between the node's runtime and the profile."""
    runtime_planner = planner(facts.runtime)
    return runtime_planner.changes(facts, profile) if runtime_planner else ()


def nri_unsupported(facts: NodeFacts, profile: Profile) -> Unsupported | None:
    """The requested NRI if the runtime does not support it."""
    runtime_planner = planner(facts.runtime)
    return runtime_planner.nri_unsupported(facts.runtime, profile) if runtime_planner else None


def unsupported_settings(facts: NodeFacts, profile: Profile) -> tuple[Unsupported, ...]:
    """Unsupported settings that the profile allows to skip."""
    unsupported = nri_unsupported(facts, profile)
    return (unsupported,) if unsupported and profile.nri.unsupported == "skip" else ()


@dataclass(frozen=True)
class PlanDraft(PlanInputs):
    """The input of the refusal rules, which never plan themselves. Each value is computed once, on first use."""

    @cached_property
    def kubelet_changes(self) -> tuple[Change, ...]:
        return kubelet_changes.kubelet_changes(self)

    @cached_property
    def patch_changes(self) -> tuple[Change, ...]:
        return kubeadm_patch.patch_changes(self)

    @cached_property
    def runtime_changes(self) -> tuple[Change, ...]:
        return runtime_changes(self.facts, self.profile)

    @property
    def changes(self) -> tuple[Change, ...]:
        """All differences, in the order of the report."""
        moved = pod_changes(self.facts, self.profile)
        return self.kubelet_changes + self.patch_changes + self.runtime_changes + moved

    @cached_property
    def containerd_after(self) -> Layers:
        """What containerd would read after the plan is applied."""
        return layers_after(self.runtime, self.runtime_changes)

    @cached_property
    def node_after(self) -> NodeFacts:
        """The facts of the node with the profile's values for kubelet."""
        return node_after(self.facts, self.profile)
