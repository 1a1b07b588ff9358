# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of systemd_slice on a simulated node, as its module runs it."""

from __future__ import annotations

from typing import Any

from ansible_collections.volcano.colocation.plugins.module_utils.slices import unit_result
from ansible_collections.volcano.colocation.tests.support.node.slice_manager import Systemd

NAME = "node-agents.slice"


def parameters(**options: Any) -> dict[str, Any]:
    return {
        "name": NAME,
        "state": "present",
        "properties": {},
        "description": None,
        "persistent": True,
        "before": ["kubelet.service"],
        "controllers": [],
        **options,
    }


def run(systemd: Systemd, **options: Any) -> tuple[bool, dict[str, Any], list[str]]:
    """Whether the run changed something, its result, and the verbs of its programs."""
    systemd.host.commands.clear()
    prepared = unit_result.prepare(systemd.host, parameters(**options))
    unit = unit_result.apply_prepared(systemd.host, prepared)
    return prepared.plan.changed, unit_result.to_result(systemd.host, prepared, unit), systemd.verbs


def tree(systemd: Systemd) -> list[str]:
    return sorted(str(path.relative_to(systemd.root)) for path in systemd.root.rglob("*"))
