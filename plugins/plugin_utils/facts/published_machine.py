# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections ``cgroup``, ``cpu``, ``kernel``, ``swap``, ``systemd`` and ``writers`` of the facts document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...module_utils.cgroup.hierarchy import Hierarchy
from ...module_utils.quantity import format_cpu_list
from .model import CgroupFacts, NodeFacts, SystemdFacts, WriterFacts

UNIT_PROPERTIES = ("ActiveState", "UnitFileState", "KillMode", "Delegate", "NeedDaemonReload", "ControlGroup")


def _hierarchy(each: Hierarchy) -> dict[str, Any]:
    return {name: value for name, value in asdict(each).items() if name != "name"}


def _cgroup(cgroup: CgroupFacts) -> dict[str, Any]:
    return {
        "mode": cgroup.mode,
        "reason": cgroup.reason,
        "controllers": cgroup.controllers,
        "mountpoints": cgroup.mountpoints,
        "missing": cgroup.missing,
        "split": cgroup.split,
        "hierarchies": [_hierarchy(each) for each in cgroup.hierarchies],
        "links": cgroup.links,
        "levels": {each.path: {"enabled": each.enabled, "missing": each.missing} for each in cgroup.levels},
        "nested": cgroup.nested,
        "trees": cgroup.trees,
        "pods": cgroup.pods,
        "idle": cgroup.idle,
        "realtime": [asdict(each) for each in cgroup.realtime],
    }


def _systemd(systemd: SystemdFacts, pid1: str | None) -> dict[str, Any]:
    return {
        "pid1": pid1,
        "version": systemd.running,
        "installed": systemd.installed,
        "next_mode": systemd.next_mode,
        "next_mode_reason": systemd.next_mode_reason,
        "units": {
            name: {each: unit[each] for each in UNIT_PROPERTIES if each in unit}
            for name, unit in sorted(systemd.units.items())
        },
    }


def _writers(writers: WriterFacts) -> dict[str, Any]:
    found = asdict(writers)
    return {"evidence": found.pop("seen"), **found}


def machine_sections(facts: NodeFacts) -> dict[str, Any]:
    """The sections by name; not plain yet."""
    kernel = facts.kernel_facts
    return {
        "cgroup": _cgroup(facts.cgroup),
        "cpu": {"online": format_cpu_list(facts.online_cpus), **asdict(facts.cpus)},
        "kernel": {
            "release": facts.kernel,
            "parameters": kernel.parameters,
            "features": kernel.features,
            "probed": kernel.probed,
            "sysctls": kernel.sysctls,
            "boot": kernel.boot,
        },
        "swap": {"on": None if kernel.swaps is None else bool(kernel.swaps), "areas": kernel.swaps},
        "systemd": _systemd(facts.systemd, facts.pid1),
        "writers": _writers(facts.writers),
    }
