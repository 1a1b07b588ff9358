# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about how cgroups are mounted, and about the trees in them."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import CgroupMode, Driver, NodeFacts
from ..model import Effect, Finding, Rule, Severity


def cgroup_mode_unknown(facts: NodeFacts) -> Iterator[Finding]:
    if facts.cgroup.mode is CgroupMode.UNKNOWN:
        yield Finding(
            "cgroup-mode-unknown",
            Severity.ERROR,
            Effect.UNKNOWN,
            "The cgroup mode cannot be told.",
            (facts.cgroup.reason,),
            "Mount cgroups as the distribution does and reboot.",
        )


def second_tree(facts: NodeFacts) -> Iterator[Finding]:
    driver = facts.kubelet.cgroup_driver
    if driver is None:
        return
    other = Driver.CGROUPFS if driver is Driver.SYSTEMD else Driver.SYSTEMD
    stale = tuple(tree for tree in facts.cgroup.trees if tree.endswith("/" + other.tree))
    if stale:
        yield Finding(
            "second-tree",
            Severity.INFO,
            Effect.NONE,
            f"A cgroup tree of the {other.value} driver lies beside kubelet's own.",
            stale,
            "Agents and monitoring may read the wrong one. kubelet 1.20 makes one itself with the systemd driver on"
            " v2; otherwise a reboot of the drained node removes it.",
        )


RULES: tuple[Rule, ...] = (
    cgroup_mode_unknown,
    second_tree,
)
