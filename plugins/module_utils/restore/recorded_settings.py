# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restores every recorded QoS setting to its previous value, and removes the record and its unit."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ..cgroup.hierarchy import ROOT
from ..cgroup.kubelet_names import unit_of
from ..cgroup_qos.setting_request import observe_node as node_of
from ..cgroup_qos.setting_request import to_result
from ..host import Clock, Host
from ..settings import reapply_unit, record, workflow
from ..settings.cgroup_state import Node, State, observe
from ..settings.change_plan import AppliedSettings, Step, plan_steps, possible_steps
from ..settings.ownership import CgroupLevel
from ..settings.record import RecordedSetting
from ..settings.registry import knob as knob_of
from ..settings.target_cgroups import Cgroups, Target
from ..state.node_lock import node_lock


@dataclass(frozen=True)
class SettingRestore:
    """The restores below one cgroup root. ``missing``: recorded cgroups that no longer exist."""

    node: Node
    plan: workflow.Plan
    missing: tuple[str, ...]


def plan_restores(host: Host) -> tuple[SettingRestore, ...]:
    """Plan the restores without a change; ColocationError if the record or a cgroup cannot be read."""
    before: record.Record = record.load(host)
    roots = {key[0] for key in before} | ({ROOT} if reapply_unit.is_present(host) else set())
    restores: list[SettingRestore] = []
    # The real root last: after it the record is empty, and the unit is removed.
    for root in sorted(roots, key=lambda root: (root == ROOT, root)):
        restores.append(_plan_restore(host, root, before))
        before = restores[-1].plan.after
    return tuple(restores)


def restore_settings(host: Host, clock: Clock) -> tuple[SettingRestore, ...]:
    """Apply the restores and return them; without a recorded setting it does nothing."""
    if not plan_restores(host):
        return ()
    with node_lock(host, "restore of QoS settings", clock), record.hold_record(host, clock):
        restores = plan_restores(host)
        for restore in restores:
            workflow.execute(restore.node, restore.plan, clock)
    return restores


def restore_result(restores: tuple[SettingRestore, ...]) -> dict[str, Any]:
    """For the module result: every recorded setting, and the recorded cgroups that no longer exist."""
    results = [to_result(restore.plan) for restore in restores]
    return {
        "changed": any(restore.plan.changed for restore in restores),
        "settings": [setting for result in results for setting in result["settings"]],
        "gone": [cgroup for restore in restores for cgroup in restore.missing],
        "unit": reapply_unit.UNIT
        if any(restore.plan.unit_action is reapply_unit.UnitAction.REMOVE for restore in restores)
        else None,
        "before": "".join(result["diff"]["before"] for result in results),
        "after": "".join(result["diff"]["after"] for result in results),
    }


def _plan_restore(host: Host, root: str, before: record.Record) -> SettingRestore:
    node = node_of(host, root)
    cgroups, boot = Cgroups(host, node.hierarchies), record.boot_id(host)
    states: dict[str, State] = {}
    steps: list[Step] = []
    missing: list[str] = []
    for cgroup, entries in sorted(record.settings_of_root(before, root).items()):
        if not cgroups.directories(cgroup):
            missing.append(cgroup)
            continue
        # Whatever created the cgroup: the setting was allowed there, so its removal is allowed too.
        target = Target(cgroup, CgroupLevel.OTHER, None, None, unit_of(cgroup))
        states[cgroup] = observe(node, target, [knob_of(name) for name in entries])
        steps += _steps(states[cgroup], AppliedSettings(entries, boot))
    after: dict[record.Key, RecordedSetting] = {key: entry for key, entry in before.items() if key[0] != root}
    targets = tuple(state.target for state in states.values())
    plan = workflow.Plan(targets, states, tuple(steps), (), before, after, reapply_unit.plan_unit_action(node, after))
    return SettingRestore(node, plan, tuple(missing))


def _steps(state: State, past: AppliedSettings) -> tuple[Step, ...]:
    return possible_steps(plan_steps({}, tuple(past.entries), state, past, os.sysconf("SC_PAGE_SIZE")), ())
