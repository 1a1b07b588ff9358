# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plan of a node would come to, before anybody has judged whether it may be carried out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..facts.containerd_layers import Layers
from ..facts.model import NodeFacts
from . import kubeadm_patch, kubelet, pods, runtimes
from .containerd_after import layers_after
from .inputs import PlanInputs
from .kubelet_after import node_after
from .model import Change


@dataclass(frozen=True)
class PlanDraft(PlanInputs):
    """The rules of refusal judge this, and never plan themselves. Each value is computed once, when first asked for."""

    @cached_property
    def kubelet_changes(self) -> tuple[Change, ...]:
        return kubelet.kubelet_changes(self)

    @cached_property
    def patch_changes(self) -> tuple[Change, ...]:
        return kubeadm_patch.patch_changes(self)

    @cached_property
    def runtime_changes(self) -> tuple[Change, ...]:
        return runtimes.runtime_changes(self.facts, self.profile)

    @property
    def changes(self) -> tuple[Change, ...]:
        """All that differs, in the order in which it is shown."""
        moved = pods.pod_changes(self.facts, self.profile)
        return self.kubelet_changes + self.patch_changes + self.runtime_changes + moved

    @cached_property
    def containerd_after(self) -> Layers:
        """What containerd would read once the plan is carried out."""
        return layers_after(self.runtime, self.runtime_changes)

    @cached_property
    def node_after(self) -> NodeFacts:
        """The facts of the node once kubelet has the profile's values."""
        return node_after(self.facts, self.profile)
