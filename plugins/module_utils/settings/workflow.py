# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workflow of cgroup_qos: observe, plan, write, verify and record."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any, Mapping

from ..cgroup.hierarchy import ROOT
from ..errors import ColocationError
from ..host import Clock
from . import reapply_unit, record
from .apply import ApplyFailed, apply_steps
from .cgroup_state import Node, State, observe
from .change_plan import (
    AppliedSettings,
    Kubelet,
    Step,
    Unsupported,
    plan_steps,
    possible_steps,
    require_allowed,
    unsupported_knobs,
)
from .explicit_settings import Limits, parse_settings
from .knob import Knob
from .record import Key, Record, RecordedSetting
from .registry import knob as knob_of
from .target_cgroups import Cgroups, Target, TargetSpec, UidOf, matches_record, resolve_targets


@dataclass(frozen=True)
class Request:
    """The options of the module. ``settings`` has the values as the user wrote them; None restores a knob."""

    target_spec: TargetSpec
    settings: Mapping[str, Any] = field(default_factory=dict)
    state: str = "present"
    unsupported: str = "fail"
    persistent: bool = True
    limits: Limits = field(default_factory=Limits)
    kubelet: Kubelet = field(default_factory=Kubelet)
    cgroup_root: str = ROOT


@dataclass(frozen=True)
class Plan:
    """All changes of a run. ``unit_action`` is the change to the unit that applies the record again."""

    targets: tuple[Target, ...]
    states: Mapping[str, State]
    steps: tuple[Step, ...]
    unsupported: tuple[Unsupported, ...]
    before: Record
    after: Record
    unit_action: reapply_unit.UnitAction

    @property
    def changed(self) -> bool:
        """Whether the run writes to a cgroup, the record or the unit."""
        writes = any(step.changed for step in self.steps)
        return writes or self.before != self.after or self.unit_action is not reapply_unit.UnitAction.NONE


def plan(node: Node, cgroups: Cgroups, request: Request, uid_of: UidOf) -> Plan:
    """Plan the changes from the node's state; nothing is written. ColocationError if the request cannot be met."""
    before = record.load(node.host)
    recorded = record.settings_of_root(before, request.cgroup_root)
    boot = record.boot_id(node.host)
    targets = _existing_targets(cgroups, request, before, uid_of)
    after = dict(before)
    states: dict[str, State] = {}
    all_steps: list[Step] = []
    unsupported: list[Unsupported] = []
    for target in targets:
        previous = AppliedSettings(recorded.get(target.cgroup, {}), boot)
        state, values, to_restore = _observe_target(node, target, request, previous)
        steps = possible_steps(plan_steps(values, to_restore, state, previous, os.sysconf("SC_PAGE_SIZE")), values)
        unsupported += [
            knob for knob in unsupported_knobs([knob_of(name) for name in values], state) if knob not in unsupported
        ]
        after.update(_settings_to_record(request, state, steps, values, previous))
        for name in to_restore:
            after.pop((request.cgroup_root, target.cgroup, name), None)
        states[target.cgroup] = state
        all_steps += steps
    for key in _vanished_settings(cgroups, request, before, targets):
        after.pop(key, None)
    _require_supported(unsupported, request)
    unit_action = reapply_unit.plan_unit_action(node, after)
    reapply_unit.require_writable(node.host, unit_action)
    return Plan(targets, states, tuple(all_steps), tuple(unsupported), before, after, unit_action)


def execute(node: Node, plan: Plan, clock: Clock) -> None:
    """Apply a plan. The record has the original values before anything is set and until everything is restored."""
    combined = {**plan.before, **plan.after}
    if plan.before != combined:
        record.save(node.host, combined)
    try:
        apply_steps(node, plan.steps, {cgroup: state.texts for cgroup, state in plan.states.items()}, clock)
    except ApplyFailed:
        record.save(node.host, plan.before)
        raise
    if plan.after != combined:
        record.save(node.host, plan.after)
    reapply_unit.reconcile_unit(node.host, plan.unit_action)


def _existing_targets(cgroups: Cgroups, request: Request, before: Record, uid_of: UidOf) -> tuple[Target, ...]:
    """The targets that exist on the node; ColocationError for a missing one unless the state is absent."""
    targets = resolve_targets(request.target_spec, cgroups, uid_of)
    existing = tuple(target for target in targets if cgroups.directories(target.cgroup))
    if request.state == "absent":
        return existing
    if len(existing) < len(targets) or (not targets and request.target_spec.each_pod is None):
        name = targets[0].cgroup if targets else f"of the pod {request.target_spec.uid or request.target_spec.pod}"
        raise ColocationError(
            f"there is no cgroup {name} on this node",
            "Start the unit or pod that makes it, or name another one: systemd-cgls lists the cgroups",
        )
    return existing


def _observe_target(
    node: Node, target: Target, request: Request, previous: AppliedSettings
) -> tuple[State, Mapping[str, Any], tuple[str, ...]]:
    """The state of a target, its desired values, and the knobs to restore."""
    if request.state == "absent":
        return observe(node, target, [knob_of(name) for name in previous.entries]), {}, tuple(previous.entries)
    knobs = {name: knob_of(name) for name in request.settings}
    explicit = {name: value for name, value in request.settings.items() if value is not None}
    require_allowed([knobs[name] for name in explicit], target, request.kubelet)
    state = observe(node, target, list(knobs.values()))
    return (
        state,
        parse_settings(node.host, explicit, state, request.limits),
        tuple(name for name in knobs if name not in explicit),
    )


def _settings_to_record(
    request: Request, state: State, steps: tuple[Step, ...], values: Mapping[str, Any], previous: AppliedSettings
) -> dict[Key, RecordedSetting]:
    """The record's entries of the desired values. An existing entry keeps its original values."""
    entries = {}
    for step in steps:
        name = step.knob.name
        if name not in values:
            continue
        entry = RecordedSetting(
            request.cgroup_root,
            step.target.cgroup,
            name,
            values[name],
            step.before,
            _files(step.knob, state),
            step.stored,
            step.backend,
            request.persistent,
            previous.boot,
            step.target.pod,
        )
        entries[entry.key] = _merge_setting(previous.entries.get(name), entry, step)
    return entries


def _merge_setting(old: RecordedSetting | None, new: RecordedSetting, step: Step) -> RecordedSetting:
    if old is None:
        return new
    stored = old.stored or new.stored if old.backend is new.backend else old.stored
    merged = replace(new, before=old.before, texts=old.texts, stored=stored, pod=new.pod or old.pod)
    return old if replace(merged, boot=old.boot) == old and not step.changed else merged


def _files(knob: Knob, state: State) -> dict[str, str]:
    return {name: state.texts[name] for name in knob.files(state.mode) if name in state.texts}


def _vanished_settings(cgroups: Cgroups, request: Request, before: Record, targets: tuple[Target, ...]) -> list[Key]:
    """With state absent: recorded settings of the target whose cgroups no longer exist."""
    if request.state != "absent":
        return []
    present = {target.cgroup for target in targets}
    vanished = [entry for key, entry in before.items() if key[0] == request.cgroup_root and key[1] not in present]
    return [entry.key for entry in vanished if matches_record(request.target_spec, entry.cgroup, entry.pod, cgroups)]


def _require_supported(unsupported: list[Unsupported], request: Request) -> None:
    if unsupported and request.unsupported == "fail":
        reasons = "; ".join(f"{entry.knob}: {entry.reason}" for entry in unsupported)
        raise ColocationError(f"not supported on this node: {reasons}", "Skip them with unsupported: skip")
