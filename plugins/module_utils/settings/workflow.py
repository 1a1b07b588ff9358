# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cgroup_qos: look, plan, write, prove, remember."""

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
    """What the module was asked for. ``settings`` are as they were given, None puts a knob back."""

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
    """All that a run would do. ``unit_action``: what is done to the unit that applies the record again."""

    targets: tuple[Target, ...]
    states: Mapping[str, State]
    steps: tuple[Step, ...]
    left_out: tuple[Unsupported, ...]
    before: Record
    after: Record
    unit_action: reapply_unit.UnitAction

    @property
    def changed(self) -> bool:
        """Whether anything would be written: to a cgroup, the record, or the unit."""
        writes = any(step.changed for step in self.steps)
        return writes or self.before != self.after or self.unit_action is not reapply_unit.UnitAction.NONE


def plan(node: Node, cgroups: Cgroups, request: Request, uid_of: UidOf) -> Plan:
    """Look at the node and say what there is to do; nothing is written. ColocationError when it cannot be done."""
    before = record.load(node.host)
    ours = record.settings_of_root(before, request.cgroup_root)
    boot = record.boot_id(node.host)
    wanted = _existing_targets(cgroups, request, before, uid_of)
    after = dict(before)
    states: dict[str, State] = {}
    all_steps: list[Step] = []
    left_out: list[Unsupported] = []
    for target in wanted:
        past = AppliedSettings(ours.get(target.cgroup, {}), boot)
        state, values, back = _observe_target(node, target, request, past)
        own = possible_steps(plan_steps(values, back, state, past, os.sysconf("SC_PAGE_SIZE")), values)
        left_out += [
            each for each in unsupported_knobs([knob_of(name) for name in values], state) if each not in left_out
        ]
        after.update(_settings_to_record(request, state, own, values, past))
        for name in back:
            after.pop((request.cgroup_root, target.cgroup, name), None)
        states[target.cgroup] = state
        all_steps += own
    for key in _vanished_settings(cgroups, request, before, wanted):
        after.pop(key, None)
    _require_supported(left_out, request)
    upkeep = reapply_unit.plan_unit_action(node, after)
    reapply_unit.require_writable(node.host, upkeep)
    return Plan(wanted, states, tuple(all_steps), tuple(left_out), before, after, upkeep)


def execute(node: Node, work: Plan, clock: Clock) -> None:
    """Carry a plan out. What was there before is in the record before anything is set, and until it is put back."""
    meanwhile = {**work.before, **work.after}
    if work.before != meanwhile:
        record.save(node.host, meanwhile)
    try:
        apply_steps(node, work.steps, {cgroup: state.texts for cgroup, state in work.states.items()}, clock)
    except ApplyFailed:
        record.save(node.host, work.before)
        raise
    if work.after != meanwhile:
        record.save(node.host, work.after)
    reapply_unit.reconcile_unit(node.host, work.unit_action)


def _existing_targets(cgroups: Cgroups, request: Request, before: Record, uid_of: UidOf) -> tuple[Target, ...]:
    """The targets that are on the node; with state absent none is missed."""
    found = resolve_targets(request.target_spec, cgroups, uid_of)
    there = tuple(target for target in found if cgroups.folders(target.cgroup))
    if request.state == "absent":
        return there
    if len(there) < len(found) or (not found and request.target_spec.each_pod is None):
        name = found[0].cgroup if found else f"of the pod {request.target_spec.uid or request.target_spec.pod}"
        raise ColocationError(
            f"there is no cgroup {name} on this node",
            "Start what makes it, or name another one: systemd-cgls shows those that there are",
        )
    return there


def _observe_target(
    node: Node, target: Target, request: Request, past: AppliedSettings
) -> tuple[State, Mapping[str, Any], tuple[str, ...]]:
    """The state of a target, the values it is to get, and the knobs that go back."""
    if request.state == "absent":
        return observe(node, target, [knob_of(name) for name in past.entries]), {}, tuple(past.entries)
    knobs = {name: knob_of(name) for name in request.settings}
    given = {name: value for name, value in request.settings.items() if value is not None}
    require_allowed([knobs[name] for name in given], target, request.kubelet)
    state = observe(node, target, list(knobs.values()))
    return (
        state,
        parse_settings(node.host, given, state, request.limits),
        tuple(name for name in knobs if name not in given),
    )


def _settings_to_record(
    request: Request, state: State, own: tuple[Step, ...], values: Mapping[str, Any], past: AppliedSettings
) -> dict[Key, RecordedSetting]:
    """The entries of what is set. What was there before us stays what it was when we first came."""
    found = {}
    for step in own:
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
            past.boot,
            step.target.pod,
        )
        found[entry.key] = _merge_setting(past.entries.get(name), entry, step)
    return found


def _merge_setting(old: RecordedSetting | None, new: RecordedSetting, step: Step) -> RecordedSetting:
    if old is None:
        return new
    stored = old.stored or new.stored if old.backend is new.backend else old.stored
    kept = replace(new, before=old.before, texts=old.texts, stored=stored, pod=new.pod or old.pod)
    return old if replace(kept, boot=old.boot) == old and not step.changed else kept


def _files(knob: Knob, state: State) -> dict[str, str]:
    return {name: state.texts[name] for name in knob.files(state.mode) if name in state.texts}


def _vanished_settings(cgroups: Cgroups, request: Request, before: Record, there: tuple[Target, ...]) -> list[Key]:
    """With state absent: recorded settings of the target whose cgroups went with all that was in them."""
    if request.state != "absent":
        return []
    present = {target.cgroup for target in there}
    ours = [entry for key, entry in before.items() if key[0] == request.cgroup_root and key[1] not in present]
    return [entry.key for entry in ours if matches_record(request.target_spec, entry.cgroup, entry.pod, cgroups)]


def _require_supported(left_out: list[Unsupported], request: Request) -> None:
    if left_out and request.unsupported == "fail":
        reasons = "; ".join(f"{each.knob}: {each.reason}" for each in left_out)
        raise ColocationError(f"not to be had on this node: {reasons}", "Leave them out with unsupported: skip")
