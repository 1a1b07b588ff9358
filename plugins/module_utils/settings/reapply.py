# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply the recorded settings again at boot and whenever kubelet starts, with a log line for each drifted setting."""

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
"""Seconds to wait until kubelet has created its cgroups and pods."""
PAUSE = 1.0

Report = Callable[[str], None]


def main(_argv: Sequence[str]) -> int:
    """Entry point of the unit in reapply_unit.py; its output is the unit's log."""
    os.umask(0o077)
    return run(Host("/"), Clock(), _report)


def run(host: Host, clock: Clock, report: Report) -> int:
    """Exit status: 0 if every setting of an existing cgroup is in effect."""
    try:
        bus = Bus(host)
        return reapply(Node(host, hierarchies(host), bus, bus.version()), clock, report)
    except ColocationError as error:
        report(str(error))
        return 1


def _report(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def reapply(node: Node, clock: Clock, report: Report, timeout: float = CGROUP_TIMEOUT) -> int:
    """Wait for the recorded cgroups, and apply the settings of each one as soon as it exists."""
    deadline = clock.monotonic() + timeout
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
    """The state of a cgroup; None while it does not exist, an error message if it cannot be read."""
    if not Cgroups(node.host, node.hierarchies).directories(cgroup):
        return None
    target = Target(cgroup, CgroupLevel.OTHER, None, None, unit_of(cgroup))
    try:
        return observe(node, target, [knob_of(entry.knob) for entry in entries])
    except ColocationError as error:
        return str(error)


def _apply_again(node: Node, state: State, entries: Sequence[RecordedSetting], clock: Clock, report: Report) -> int:
    """Apply one cgroup's settings and return the number of failed ones."""
    boot = record.boot_id(node.host)
    previous = AppliedSettings({entry.knob: entry for entry in entries}, boot)
    for name, reason in state.missing.items():
        report(f"{state.target.cgroup} {name}: {reason}")
    desired = {entry.knob: entry.desired for entry in entries}
    planned = plan_steps(desired, (), state, previous, os.sysconf("SC_PAGE_SIZE"))
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
    current, expected = render_value(step.knob, step.before), render_value(step.knob, step.expected)
    return f"{step.target.cgroup} {step.knob.name}: drifted from {expected} to {current}, set again{cause}"


def _renew(host: Host, planned: Sequence[Step], boot: str) -> None:
    """Record the current boot as the one in which the settings were applied last."""
    entries = record.load(host)
    keys = {(ROOT, step.target.cgroup, step.knob.name) for step in planned} & entries.keys()
    renewed = {key: replace(entries[key], boot=boot) for key in keys}
    if any(renewed[key] != entries[key] for key in keys):
        record.save(host, {**entries, **renewed})


def _drop(node: Node, clock: Clock, missing: Mapping[str, Sequence[RecordedSetting]], report: Report) -> None:
    """Delete the settings of missing pods once other pods show that kubelet works; report other missing cgroups."""
    pods = [cgroup for cgroup in missing if _siblings(node, cgroup)]
    for cgroup in missing:
        report(
            f"{cgroup}: the pod no longer exists, its settings are deleted from the record"
            if cgroup in pods
            else f"{cgroup}: the cgroup does not exist"
        )
    if not pods:
        return
    with record.hold_record(node.host, clock):
        entries = record.load(node.host)
        record.save(node.host, {key: entry for key, entry in entries.items() if entry.cgroup not in pods})


def _siblings(node: Node, cgroup: str) -> bool:
    """Whether the cgroup belongs to a pod and the node has another pod of any class."""
    place = classify(cgroup)
    if place is None or not place.pod_uid:
        return False
    cgroups = Cgroups(node.host, node.hierarchies)
    parents = (place.pods, *qos_classes(place.pods))
    return any(pod_uid(parent, name) for parent in parents for name in cgroups.list(parent))
