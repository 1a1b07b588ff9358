# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record applied again: at boot, and whenever kubelet starts. Each setting that had drifted gets a log line."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Callable, Mapping, Sequence

from ..cgroup.container_paths import classify, pod_uid
from ..cgroup.hierarchy import ROOT, hierarchies
from ..cgroup.kubelet_names import qos_classes, unit_of
from ..errors import ColocationError
from ..host import Clock, Host
from ..systemd.bus import Bus
from . import record
from .apply import apply_steps
from .cgroup_state import Node, State, observe
from .change_plan import AppliedSettings, Step, plan_steps
from .option_values import render_value
from .ownership import CgroupLevel
from .record import RecordedSetting
from .registry import knob as knob_of
from .target_cgroups import Cgroups, Target

CGROUP_TIMEOUT = 120.0
"""Seconds for kubelet to make its cgroups and pods."""
PAUSE = 1.0

Report = Callable[[str], None]


def main(_argv: Sequence[str]) -> int:
    """What the unit of reapply_unit.py starts; what it prints is its log."""
    os.umask(0o077)
    return run(Host("/"), Clock(), _report)


def run(host: Host, clock: Clock, report: Report) -> int:
    """Exit status: 0 when every setting whose cgroup is there is in force."""
    try:
        bus = Bus(host)
        return reapply(Node(host, hierarchies(host), bus, bus.version()), clock, report)
    except ColocationError as error:
        report(str(error))
        return 1


def _report(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def reapply(node: Node, clock: Clock, report: Report, patience: float = CGROUP_TIMEOUT) -> int:
    """Wait for the recorded cgroups, apply what is recorded of each as soon as it is there."""
    deadline = clock.monotonic() + patience
    recorded = record.settings_of_root(record.load(node.host), ROOT)
    waiting = {cgroup: list(entries.values()) for cgroup, entries in recorded.items()}
    failed = 0
    while waiting:
        last = clock.monotonic() >= deadline
        for cgroup in list(waiting):
            state = _state_when_ready(node, cgroup, waiting[cgroup])
            if isinstance(state, State) and (last or not state.missing):
                failed += _apply_again(node, state, waiting.pop(cgroup), clock, report)
            elif isinstance(state, str) and last:
                report(state)
                failed += len(waiting.pop(cgroup))
        if last:
            break
        if waiting:
            clock.sleep(PAUSE)
    _drop(node, clock, waiting, report)
    return 1 if failed else 0


def _state_when_ready(node: Node, cgroup: str, entries: Sequence[RecordedSetting]) -> State | str | None:
    """The state of a cgroup; None while it is not there, and in words why it cannot be read."""
    if not Cgroups(node.host, node.hierarchies).folders(cgroup):
        return None
    target = Target(cgroup, CgroupLevel.OTHER, None, None, unit_of(cgroup))
    try:
        return observe(node, target, [knob_of(entry.knob) for entry in entries])
    except ColocationError as error:
        return str(error)


def _apply_again(node: Node, state: State, entries: Sequence[RecordedSetting], clock: Clock, report: Report) -> int:
    """Apply one cgroup's settings; the number of those that failed."""
    boot = record.boot_id(node.host)
    past = AppliedSettings({entry.knob: entry for entry in entries}, boot)
    for name, reason in state.missing.items():
        report(f"{state.target.cgroup} {name}: {reason}")
    planned = plan_steps({entry.knob: entry.wanted for entry in entries}, (), state, past, os.sysconf("SC_PAGE_SIZE"))
    try:
        with record.hold_record(node.host, clock):
            apply_steps(node, planned, {state.target.cgroup: state.texts}, clock)
            _renew(node.host, planned, boot)
    except ColocationError as error:
        report(f"{state.target.cgroup}: {error}")
        return 1
    for step in planned:
        if step.changed:
            report(_line(step))
    return len(state.missing)


def _line(step: Step) -> str:
    cause = f" ({step.cause})" if step.cause else ""
    now, wanted = render_value(step.knob, step.before), render_value(step.knob, step.expected)
    return f"{step.target.cgroup} {step.knob.name}: drifted from {wanted} to {now}, set again{cause}"


def _renew(host: Host, planned: Sequence[Step], boot: str) -> None:
    """Note the boot in which settings were applied last."""
    entries = record.load(host)
    keys = {(ROOT, step.target.cgroup, step.knob.name) for step in planned} & entries.keys()
    renewed = {key: replace(entries[key], boot=boot) for key in keys}
    if any(renewed[key] != entries[key] for key in keys):
        record.save(host, {**entries, **renewed})


def _drop(node: Node, clock: Clock, gone: Mapping[str, Sequence[RecordedSetting]], report: Report) -> None:
    """Forget pods that are gone, as soon as other pods show that kubelet is at work; say what else is missing."""
    pods = [cgroup for cgroup in gone if _siblings(node, cgroup)]
    for cgroup in gone:
        report(f"{cgroup}: the pod is gone, forgotten" if cgroup in pods else f"{cgroup}: there is no such cgroup")
    if not pods:
        return
    with record.hold_record(node.host, clock):
        entries = record.load(node.host)
        record.save(node.host, {key: entry for key, entry in entries.items() if entry.cgroup not in pods})


def _siblings(node: Node, cgroup: str) -> bool:
    """Whether it is a pod's, or in one, and another pod of any class is on the node."""
    found = classify(cgroup)
    if found is None or not found.pod_uid:
        return False
    cgroups = Cgroups(node.host, node.hierarchies)
    parents = (found.pods, *qos_classes(found.pods))
    return any(pod_uid(parent, name) for parent in parents for name in cgroups.list(parent))
