# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the options of cgroup_qos to a request, and render a plan as the module's result."""

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
"""Exists exactly if systemd is the init system, sd_booted(3)."""


def parse_request(host: Host, options: Mapping[str, Any]) -> Request:
    """The request of the module's options; ColocationError for options that contradict each other."""
    if options["state"] == "absent" and options["settings"]:
        raise ColocationError(
            "settings are set with state: absent, which restores all settings",
            "Remove settings, or set single ones to null with state: present",
        )
    if options["level"] == "pods" and options["qos_class"] is None:
        raise ColocationError("level: pods is set without qos_class", "Set qos_class to the class of the pods")
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
    """The node's cgroups, with its systemd if they are the real ones of a live node."""
    known = hierarchies(host, cgroup_root)
    if not host.live or cgroup_root != ROOT or not os.path.isdir(SYSTEMD):
        return Node(host, known)
    bus = Bus(host)
    return Node(host, known, bus, bus.version())


def kubelet_cgroups(host: Host, known: Hierarchies, options: Mapping[str, Any]) -> Cgroups:
    """The node's cgroups, with the root and driver of kubelet's tree from the options."""
    driver = options["cgroup_driver"]
    return Cgroups(host, known, options["kubelet_cgroup_root"], None if driver == "auto" else Driver(driver))


def _target_spec(options: Mapping[str, Any]) -> TargetSpec:
    pod = options["pod"] or {}
    qos = QosClass(options["qos_class"]) if options["qos_class"] else None
    each_pod = options["level"] == "pods"
    return TargetSpec(
        None if each_pod else qos,
        options["slice"],
        options["path"],
        pod.get("uid"),
        f"{pod['namespace']}/{pod['name']}" if pod.get("name") else None,
        qos if each_pod else None,
    )


def _cpus(cpus: float | None) -> float | None:
    if cpus is not None and not 0 < cpus < math.inf:
        raise ColocationError(f"cpus: {cpus} is not a number of CPUs", "Write it like 64 or 2.5")
    return cpus


def _memory(memory: str | None) -> int | None:
    if memory is None:
        return None
    try:
        amount = int(parse_quantity(memory))
    except ValueError:
        amount = 0
    if amount <= 0:
        raise ColocationError(f"memory: {memory!r} is not an amount of memory", "Write it like 64Gi")
    return amount


def to_result(plan: Plan) -> dict[str, Any]:
    """``changed``, ``diff``, ``settings``, ``unsupported`` and ``control_group``.

    Not ``skipped``: with that key Ansible treats the task as not run.
    """
    return {
        "changed": plan.changed,
        "control_group": _control_group(plan),
        "settings": [_setting(step) for step in plan.steps],
        "unsupported": [{"knob": unsupported.knob, "reason": unsupported.reason} for unsupported in plan.unsupported],
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
    """Warnings about settings that systemd will overwrite."""
    overwritten = [step for step in plan.steps if plan.states[step.target.cgroup].overwritten(step.knob)]
    return [f"{step.knob.name} of {step.target.cgroup} will not last: {step.knob.note}" for step in overwritten]


def _control_group(plan: Plan) -> str:
    """The target's cgroup, or the common parent of several."""
    cgroups = [target.cgroup for target in plan.targets]
    return "/" + os.path.commonpath(cgroups) if cgroups else ""


def _lines(plan: Plan, moment: str) -> str:
    steps = [step for step in plan.steps if step.changed]
    return "".join(
        f"{step.target.cgroup} {step.knob.name}: {render_value(step.knob, getattr(step, moment))}\n" for step in steps
    )
