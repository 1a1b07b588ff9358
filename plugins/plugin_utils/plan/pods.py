# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that still run under another driver than the files now agree on."""

from __future__ import annotations

from ...module_utils.cgroup.kubelet_names import Driver
from ..facts.model import NodeFacts
from ..profile import Profile
from .model import Change, Need


def _misplaced(facts: NodeFacts, driver: Driver) -> int:
    other = facts.pods.cgroupfs_paths if driver is Driver.SYSTEMD else facts.pods.systemd_paths
    return other + len(facts.pods.misplaced_paths)


def pod_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """Containers keep the cgroup they were made in until they are made again."""
    driver = profile.cgroup_driver
    if driver is None or not _misplaced(facts, driver):
        return ()
    reason = f"{_misplaced(facts, driver)} running container(s) are not where the {driver.value} driver puts them"
    needs = frozenset({Need.RESTART_KUBELET, Need.DRAIN})
    return (Change("pods", "cgroup paths", "misplaced", "recreated", reason, needs),)
