# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of cgroup_qos as the request of a run, and a plan as its result, in check mode and after the run."""

from __future__ import annotations

import math
import os
from typing import Any, Mapping

from ..cgroup.hierarchy import ROOT, Hierarchies, hierarchies
from ..cgroup.kubelet_names import Driver, QosClass
from ..errors import ColocationError
from ..host import Host
from ..quantity import parse_quantity
from ..settings.cgroup_state import Node
from ..settings.change_plan import Kubelet, Step
from ..settings.explicit_settings import Limits
from ..settings.option_values import render_value
from ..settings.ownership import has_static_cpu_policy, parse_version
from ..settings.target_cgroups import Cgroups, TargetSpec
from ..settings.workflow import Plan, Request
from ..systemd.bus import Bus

SYSTEMD = "/run/systemd/system"
"""There just while systemd runs the node, sd_booted(3)."""


def parse_request(host: Host, options: Mapping[str, Any]) -> Request:
    """The module's options, checked as far as they contradict each other."""
    if options["state"] == "absent" and options["settings"]:
        raise ColocationError(
            "settings are given with state: absent, which puts everything back",
            "Leave them out, or set those that are to go to null with state: present",
        )
    if options["level"] == "pods" and options["qos_class"] is None:
        raise ColocationError("level: pods is given without qos_class", "Say of which class the pods are")
    return Request(
        _target_spec(options),
        options["settings"] or {},
        options["state"],
        options["unsupported"],
        options["persistent"],
        Limits(_cpus(options["cpus"]), _memory(options["memory"])),
        Kubelet(
            parse_version(options["kubelet_version"]),
            has_static_cpu_policy(host, options["kubelet_root_dir"]),
            options["memory_qos"],
        ),
        options["cgroup_root"].rstrip("/"),
    )


def observe_node(host: Host, cgroup_root: str) -> Node:
    """The node's cgroups, and its systemd where these are the real ones."""
    found = hierarchies(host, cgroup_root)
    if not host.live or cgroup_root != ROOT or not os.path.isdir(SYSTEMD):
        return Node(host, found)
    bus = Bus(host)
    return Node(host, found, bus, bus.version())


def kubelet_cgroups(host: Host, found: Hierarchies, options: Mapping[str, Any]) -> Cgroups:
    """Where kubelet's cgroups are, as far as the options say it."""
    told = options["cgroup_driver"]
    return Cgroups(host, found, options["kubelet_cgroup_root"], None if told == "auto" else Driver(told))


def _target_spec(options: Mapping[str, Any]) -> TargetSpec:
    pod = options["pod"] or {}
    qos = QosClass(options["qos_class"]) if options["qos_class"] else None
    each = options["level"] == "pods"
    return TargetSpec(
        None if each else qos,
        options["slice"],
        options["path"],
        pod.get("uid"),
        f"{pod['namespace']}/{pod['name']}" if pod.get("name") else None,
        qos if each else None,
    )


def _cpus(given: float | None) -> float | None:
    if given is not None and not 0 < given < math.inf:
        raise ColocationError(f"cpus: {given} is no number of CPUs", "Write it like 64 or 2.5")
    return given


def _memory(given: str | None) -> int | None:
    if given is None:
        return None
    try:
        found = int(parse_quantity(given))
    except ValueError:
        found = 0
    if found <= 0:
        raise ColocationError(f"memory: {given!r} is no amount of memory", "Write it like 64Gi")
    return found


def to_result(plan: Plan) -> dict[str, Any]:
    """``changed``, ``diff``, ``settings``, ``unsupported`` and ``control_group``.

    Not ``skipped``: Ansible takes a result with that key for that of a task that was not run.
    """
    return {
        "changed": plan.changed,
        "control_group": _control_group(plan),
        "settings": [_setting(step) for step in plan.steps],
        "unsupported": [{"knob": each.knob, "reason": each.reason} for each in plan.left_out],
        "diff": {"before": _lines(plan, "before"), "after": _lines(plan, "expected")},
    }


def _setting(step: Step) -> dict[str, Any]:
    return {
        "cgroup": step.target.cgroup,
        "knob": step.knob.name,
        "before": render_value(step.knob, step.before),
        "after": render_value(step.knob, step.expected),
        "backend": step.backend.value,
        "changed": step.changed,
        "cause": step.cause,
    }


def warnings(plan: Plan) -> list[str]:
    """What will not last, and why."""
    undone = [step for step in plan.steps if plan.states[step.target.cgroup].undone(step.knob)]
    return [f"{step.knob.name} of {step.target.cgroup} will not last: {step.knob.note}" for step in undone]


def _control_group(plan: Plan) -> str:
    """The cgroup, or the one that all of them are in."""
    cgroups = [target.cgroup for target in plan.targets]
    return "/" + os.path.commonpath(cgroups) if cgroups else ""


def _lines(plan: Plan, moment: str) -> str:
    steps = [step for step in plan.steps if step.changed]
    return "".join(
        f"{step.target.cgroup} {step.knob.name}: {render_value(step.knob, getattr(step, moment))}\n" for step in steps
    )
