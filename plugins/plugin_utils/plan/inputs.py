# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan is made from: a node, a profile, and what follows from both before anything is planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..facts.model import KubeletFacts, NodeFacts, RuntimeFacts
from ..profile import Profile
from ..versions import minor
from .kubelet_after import Desired, desired_fields
from .kubelet_place import Layer, Place, Strategy, choose, layers, merged
from .model import Refusal


@dataclass(frozen=True)
class PlanInputs:
    """Each value is computed once, when first asked for. ``profile`` is the node's own: kubelet_after.resolved."""

    facts: NodeFacts
    profile: Profile

    @property
    def kubelet(self) -> KubeletFacts:
        return self.facts.kubelet

    @property
    def runtime(self) -> RuntimeFacts:
        return self.facts.runtime

    @cached_property
    def desired(self) -> tuple[Desired, ...]:
        """What the profile sets of kubelet; nothing where kubelet is none of its business."""
        return tuple(desired_fields(self.profile))

    @cached_property
    def kubelet_place(self) -> Place | Refusal:
        """Where kubelet's settings are written, or why nowhere."""
        return choose(self.facts, Strategy(self.profile.kubelet_strategy))

    @cached_property
    def kubelet_layers(self) -> tuple[Layer, ...]:
        """kubelet's files, the weakest first."""
        return layers(self.kubelet)

    @cached_property
    def kubelet_document(self) -> Mapping[str, Any]:
        """What kubelet makes of its files; flags are another matter."""
        return merged(self.kubelet_layers, minor(self.kubelet.version))
