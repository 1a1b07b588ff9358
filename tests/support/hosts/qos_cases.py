# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts documents of captured and described nodes with some of their values changed, and profiles."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.settings.node_support import (
    QosNode,
    QosPlan,
    parse_node,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.settings.qos_profile import (
    QosProfile,
    parse_qos_profile,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.settings.task_plan import plan_tasks
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import FIXTURES, put
from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import HOSTS

V2, V1 = "trixie-v2-static", "bookworm-v1-aligned"
"""Captured nodes: two CPUs, 500m reserved, static policy, kubelet 1.20, Linux 6.12 and 6.1."""
OPENEULER, RESERVED = "v1-openeuler-rubik", "v2-reserved-cgroup-gone"
"""Described nodes, four CPUs, kubelet 1.31: openEuler 22.03; 200m reserved for Kubernetes and enforced on a slice."""

Document = dict[str, Any]
Change = tuple[Any, ...]
"""A path of keys in the document; the last element is the new value."""


def document(name: str, *changes: Change) -> Document:
    """Return the published facts of a node with changes."""
    captured = FIXTURES / "facts" / f"{name}.json"
    path = captured if captured.exists() else HOSTS / f"{name}.facts.json"
    facts: Document = json.loads(path.read_text(encoding="utf-8"))
    for *keys, value in changes:
        facts = put(facts, value, *keys)
    return facts


def setting(key: str, value: Any) -> Change:
    """Change a value that is in effect in kubelet."""
    return ("kubelet", "settings", key, {"value": value, "source": "/var/lib/kubelet/config.yaml"})


def feature(name: str, value: bool | None) -> Change:
    return ("kernel", "features", name, value)


def sysctl(path: str, value: str) -> Change:
    return ("kernel", "sysctls", path, value)


def version(text: str | None) -> Change:
    return ("kubelet", "version", text)


def driver(name: str | None) -> Change:
    return ("kubelet", "cgroup_driver", name)


def node(name: str, *changes: Change) -> QosNode:
    return parse_node(document(name, *changes))


def options(**changed: Any) -> dict[str, Any]:
    """Return the option profile of qos_plan with its defaults; ``be``, ``ls`` and ``system`` are merged."""
    plain: dict[str, Any] = {
        "levels": ["HLS", "LS", "BE"],
        "be": {"cpu_quota": "60%", "memory_high": "80%", "memory_max": "", "pids_max": "32768", "cpu_idle": False},
        "ls": {"memory_low": "50%", "memory_min": "", "cpu_burst": ""},
        "system": {"cpu_weight": "reserved", "memory": "low"},
        "pods": [],
        "kernel_levels": "auto",
    }
    return {
        **plain,
        **{key: {**plain[key], **value} if isinstance(value, dict) else value for key, value in changed.items()},
    }


def profile(**changed: Any) -> QosProfile:
    return parse_qos_profile(options(**changed))


def plan(name: str, *changes: Change, **changed: Any) -> QosPlan:
    """Return the plan of the default profile with some values changed, on a node with some values changed."""
    return plan_tasks(node(name, *changes), profile(**changed), {})


def settings(qos_plan: QosPlan, qos_class: str) -> Any:
    """Return the settings of a class; None if the plan has none."""
    tasks = [task.settings for task in qos_plan.cgroups if task.target == {"qos_class": qos_class}]
    return tasks[0] if tasks else None


def properties(qos_plan: QosPlan, name: str) -> Any:
    """Return the properties of a slice; None if the plan has no task for it."""
    tasks = [task.properties for task in qos_plan.slices if task.name == name]
    return tasks[0] if tasks else None


def reason(qos_plan: QosPlan, level: str, thing: str) -> str:
    """Return why a level does not get a setting; empty if no reason is reported."""
    reasons = [
        unsupported.reason
        for unsupported in qos_plan.unsupported
        if (unsupported.level, unsupported.setting) == (level, thing)
    ]
    return "; ".join(reasons)
