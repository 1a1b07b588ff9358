# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All rules, in the order in which their findings are shown: what makes a node unreadable comes first."""

from __future__ import annotations

from ..facts.node_state import NodeFacts
from .model import Finding, Rule
from .rules import (
    agent_places,
    backups,
    boot,
    cgroup,
    cgroup_version,
    checkpoint,
    config,
    cpus,
    driver,
    feature_gates,
    image,
    immutable,
    kernel,
    kubelet,
    kubelet_file,
    kubelet_flags,
    kubelet_limits,
    kubelet_ranges,
    layout,
    memory_manager,
    memory_qos,
    node,
    nri,
    ports,
    records,
    reservations,
    resource_managers,
    rubik,
    runtime,
    services,
    writers,
)

RULES: tuple[Rule, ...] = (
    *immutable.RULES,
    *node.RULES,
    *records.RULES,
    *image.RULES,
    *config.RULES,
    *services.RULES,
    *runtime.RULES,
    *driver.RULES,
    *kubelet_file.RULES,
    *kubelet.RULES,
    *kubelet_flags.RULES,
    *kubelet_ranges.RULES,
    *kubelet_limits.RULES,
    *resource_managers.RULES,
    *memory_manager.RULES,
    *feature_gates.RULES,
    *checkpoint.RULES,
    *cgroup.RULES,
    *nri.RULES,
    *layout.RULES,
    *cgroup_version.RULES,
    *kernel.RULES,
    *boot.RULES,
    *cpus.RULES,
    *reservations.RULES,
    *memory_qos.RULES,
    *writers.RULES,
    *rubik.RULES,
    *backups.RULES,
    *agent_places.RULES,
    *ports.RULES,
)


def findings(facts: NodeFacts) -> tuple[Finding, ...]:
    """All findings of a node, in the order of the rules."""
    return tuple(found for rule in RULES for found in rule(facts))
