# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cgroup_qos: look, plan, write, prove, remember."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any, Mapping

from ..cgroup.mounts import ROOT
from ..errors import ColocationError
from ..transaction.clock import Clock
from . import record, service
from .apply import Failed, carry_out
from .given import Limits, parsed
from .knob import Knob
from .knobs import knob as knob_of
from .observe import Node, State, observe
from .plan import Kubelet, Past, Skipped, Step, possible, refuse, skipped, steps
from .record import Entry, Key, Record
from .target import Cgroups, Target, UidOf, Wish, recorded, targets


@dataclass(frozen=True)
class Request:
    """What the module was asked for. ``settings`` are as they were given, None puts a knob back."""

    wish: Wish
    settings: Mapping[str, Any] = field(default_factory=dict)
    state: str = "present"
    unsupported: str = "fail"
    persistent: bool = True
    limits: Limits = field(default_factory=Limits)
    kubelet: Kubelet = field(default_factory=Kubelet)
    cgroup_root: str = ROOT


@dataclass(frozen=True)
class Plan:
    """All that a run would do. ``upkeep`` is what the unit that applies the record again needs: one of service's."""

    targets: tuple[Target, ...]
    states: Mapping[str, State]
    steps: tuple[Step, ...]
    left_out: tuple[Skipped, ...]
    before: Record
    after: Record
    upkeep: service.Upkeep

    @property
    def changed(self) -> bool:
        """Whether anything would be written: to a cgroup, the record, or the unit."""
        writes = any(step.changed for step in self.steps)
        return writes or self.before != self.after or self.upkeep is not service.Upkeep.NONE


def plan(node: Node, cgroups: Cgroups, request: Request, uid_of: UidOf) -> Plan:
    """Look at the node and say what there is to do; nothing is written. ColocationError when it cannot be done."""
    before = record.load(node.host)
    ours = record.of_root(before, request.cgroup_root)
    boot = record.boot_id(node.host)
    wanted = _existing(cgroups, request, before, uid_of)
    after = dict(before)
    states: dict[str, State] = {}
    all_steps: list[Step] = []
    left_out: list[Skipped] = []
    for target in wanted:
        past = Past(ours.get(target.cgroup, {}), boot)
        state, values, back = _looked_at(node, target, request, past)
        own = possible(steps(values, back, state, past, os.sysconf("SC_PAGE_SIZE")), values)
        left_out += [each for each in skipped([knob_of(name) for name in values], state) if each not in left_out]
        after.update(_remembered(request, state, own, values, past))
        for name in back:
            after.pop((request.cgroup_root, target.cgroup, name), None)
        states[target.cgroup] = state
        all_steps += own
    for key in _gone(cgroups, request, before, wanted):
        after.pop(key, None)
    _require(left_out, request)
    upkeep = service.upkeep(node, after)
    service.require_place(node.host, upkeep)
    return Plan(wanted, states, tuple(all_steps), tuple(left_out), before, after, upkeep)


def execute(node: Node, work: Plan, clock: Clock) -> None:
    """Carry a plan out. What was there before is in the record before anything is set, and until it is put back."""
    meanwhile = {**work.before, **work.after}
    if work.before != meanwhile:
        record.save(node.host, meanwhile)
    try:
        carry_out(node, work.steps, {cgroup: state.texts for cgroup, state in work.states.items()}, clock)
    except Failed:
        record.save(node.host, work.before)
        raise
    if work.after != meanwhile:
        record.save(node.host, work.after)
    service.see_to(node.host, work.upkeep)


def _existing(cgroups: Cgroups, request: Request, before: Record, uid_of: UidOf) -> tuple[Target, ...]:
    """The targets that are on the node; with state absent none is missed."""
    found = targets(request.wish, cgroups, uid_of)
    there = tuple(target for target in found if cgroups.folders(target.cgroup))
    if request.state == "absent":
        return there
    if len(there) < len(found) or (not found and request.wish.each_pod is None):
        name = found[0].cgroup if found else f"of the pod {request.wish.uid or request.wish.pod}"
        raise ColocationError(
            f"there is no cgroup {name} on this node",
            "Start what makes it, or name another one: systemd-cgls shows those that there are",
        )
    return there


def _looked_at(
    node: Node, target: Target, request: Request, past: Past
) -> tuple[State, Mapping[str, Any], tuple[str, ...]]:
    """The state of a target, the values it is to get, and the knobs that go back."""
    if request.state == "absent":
        return observe(node, target, [knob_of(name) for name in past.entries]), {}, tuple(past.entries)
    knobs = {name: knob_of(name) for name in request.settings}
    given = {name: value for name, value in request.settings.items() if value is not None}
    refuse([knobs[name] for name in given], target, request.kubelet)
    state = observe(node, target, list(knobs.values()))
    return state, parsed(node.host, given, state, request.limits), tuple(name for name in knobs if name not in given)


def _remembered(
    request: Request, state: State, own: tuple[Step, ...], values: Mapping[str, Any], past: Past
) -> dict[Key, Entry]:
    """The entries of what is set. What was there before us stays what it was when we first came."""
    found = {}
    for step in own:
        name = step.knob.name
        if name not in values:
            continue
        entry = Entry(
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
        found[entry.key] = _continued(past.entries.get(name), entry, step)
    return found


def _continued(old: Entry | None, new: Entry, step: Step) -> Entry:
    if old is None:
        return new
    stored = old.stored or new.stored if old.backend is new.backend else old.stored
    kept = replace(new, before=old.before, texts=old.texts, stored=stored, pod=new.pod or old.pod)
    return old if replace(kept, boot=old.boot) == old and not step.changed else kept


def _files(knob: Knob, state: State) -> dict[str, str]:
    return {name: state.texts[name] for name in knob.files(state.mode) if name in state.texts}


def _gone(cgroups: Cgroups, request: Request, before: Record, there: tuple[Target, ...]) -> list[Key]:
    """With state absent: recorded settings of the target whose cgroups went with all that was in them."""
    if request.state != "absent":
        return []
    present = {target.cgroup for target in there}
    ours = [entry for key, entry in before.items() if key[0] == request.cgroup_root and key[1] not in present]
    return [entry.key for entry in ours if recorded(request.wish, entry.cgroup, entry.pod, cgroups)]


def _require(left_out: list[Skipped], request: Request) -> None:
    if left_out and request.unsupported == "fail":
        reasons = "; ".join(f"{each.knob}: {each.reason}" for each in left_out)
        raise ColocationError(f"not to be had on this node: {reasons}", "Leave them out with unsupported: skip")
