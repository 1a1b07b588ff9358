# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The slice of the tests: set as a user does, and what there is of it on a node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.system.node import Node, Run, ansible

NAME = "colocation-agents.slice"
PLACES = (
    *("/etc/systemd/system", "/etc/systemd/system.control", "/run/systemd/system.control"),
    *("/run/systemd/transient", "/sys/fs/cgroup"),
)


def attempt(node: Node, *arguments: str, **options: Any) -> Run:
    playbook = str(Path(__file__).with_name("slice.yml"))
    return ansible(playbook, node.folder, "-i", node.inventory, *arguments, slice={"name": NAME, **options})


def changed(node: Node, *arguments: str, **options: Any) -> int:
    run = attempt(node, *arguments, **options)
    assert run.code == 0, run.output
    return run.recap(node.name)["changed"]


def traces(node: Node) -> str:
    """Files, folders and links that name the slice, and what systemd remembers of it."""
    found = node.shell(f"find {' '.join(PLACES)} -name '*colocation-agents*' 2>/dev/null || true")
    return found + node.shell(f"systemctl list-units --all --plain --no-legend '{NAME}' '*colocation-agents*'")
