# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The slice of the tests: set as a user does, and its traces on a node."""

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
    return ansible(playbook, node.directory, "-i", node.inventory, *arguments, slice={"name": NAME, **options})


def changed(node: Node, *arguments: str, **options: Any) -> int:
    run = attempt(node, *arguments, **options)
    assert run.code == 0, run.output
    return run.recap(node.name)["changed"]


def traces(node: Node) -> str:
    """Return files, directories and links that name the slice, and systemd's units of it."""
    paths = node.shell(f"find {' '.join(PLACES)} -name '*colocation-agents*' 2>/dev/null || true")
    return paths + node.shell(f"systemctl list-units --all --plain --no-legend '{NAME}' '*colocation-agents*'")
