# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd_slice as its module carries it out, on a simulated node."""

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
    """Whether it changed something, what it answered, and what its programs were asked to do."""
    systemd.host.commands.clear()
    work = unit_result.prepare(systemd.host, parameters(**options))
    unit = unit_result.apply_prepared(systemd.host, work)
    return work.plan.changed, unit_result.to_result(systemd.host, work, unit), systemd.verbs


def tree(systemd: Systemd) -> list[str]:
    return sorted(str(each.relative_to(systemd.root)) for each in systemd.root.rglob("*"))
