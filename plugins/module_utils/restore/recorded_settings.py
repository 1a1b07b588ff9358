# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every recorded QoS setting put back as it was before it was set, and the record and its unit taken away."""

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
    """What goes back below one cgroup root. ``gone``: recorded cgroups that are not there any more."""

    node: Node
    plan: workflow.Plan
    gone: tuple[str, ...]


def plan_restores(host: Host) -> tuple[SettingRestore, ...]:
    """Nothing is changed; ColocationError when the record or a cgroup cannot be read."""
    before: record.Record = record.load(host)
    roots = {key[0] for key in before} | ({ROOT} if reapply_unit.is_present(host) else set())
    found: list[SettingRestore] = []
    # The real one last: with it the record is empty, and the unit goes.
    for root in sorted(roots, key=lambda root: (root == ROOT, root)):
        found.append(_plan_restore(host, root, before))
        before = found[-1].plan.after
    return tuple(found)


def restore_settings(host: Host, clock: Clock) -> tuple[SettingRestore, ...]:
    """What was done; nothing at all where nothing is recorded."""
    if not plan_restores(host):
        return ()
    with node_lock(host, "restore of QoS settings", clock), record.hold_record(host, clock):
        wanted = plan_restores(host)
        for each in wanted:
            workflow.execute(each.node, each.plan, clock)
    return wanted


def restore_result(wanted: tuple[SettingRestore, ...]) -> dict[str, Any]:
    """As the result shows it: every setting that is recorded, and the cgroups that went with theirs."""
    answers = [to_result(each.plan) for each in wanted]
    return {
        "changed": any(each.plan.changed for each in wanted),
        "settings": [setting for each in answers for setting in each["settings"]],
        "gone": [cgroup for each in wanted for cgroup in each.gone],
        "unit": reapply_unit.UNIT
        if any(each.plan.unit_action is reapply_unit.UnitAction.REMOVE for each in wanted)
        else None,
        "before": "".join(each["diff"]["before"] for each in answers),
        "after": "".join(each["diff"]["after"] for each in answers),
    }


def _plan_restore(host: Host, root: str, before: record.Record) -> SettingRestore:
    node = node_of(host, root)
    cgroups, boot = Cgroups(host, node.hierarchies), record.boot_id(host)
    states: dict[str, State] = {}
    found: list[Step] = []
    gone: list[str] = []
    for cgroup, entries in sorted(record.settings_of_root(before, root).items()):
        if not cgroups.directories(cgroup):
            gone.append(cgroup)
            continue
        # As it is found, whoever made it: what was set there was allowed, and so is taking it back.
        target = Target(cgroup, CgroupLevel.OTHER, None, None, unit_of(cgroup))
        states[cgroup] = observe(node, target, [knob_of(name) for name in entries])
        found += _steps(states[cgroup], AppliedSettings(entries, boot))
    after: dict[record.Key, RecordedSetting] = {key: entry for key, entry in before.items() if key[0] != root}
    targets = tuple(state.target for state in states.values())
    plan = workflow.Plan(targets, states, tuple(found), (), before, after, reapply_unit.plan_unit_action(node, after))
    return SettingRestore(node, plan, tuple(gone))


def _steps(state: State, past: AppliedSettings) -> tuple[Step, ...]:
    return possible_steps(plan_steps({}, tuple(past.entries), state, past, os.sysconf("SC_PAGE_SIZE")), ())
