# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A moment of a node, kept in its own disk: memory, devices and disk, which it can be put back to."""

from __future__ import annotations

from . import monitor, vm
from .errors import LabError
from .nodes import running
from .progress import Progress
from .readiness import await_ssh
from .store import Node

TAG = "kept"
PATIENCE = 300.0
"""Seconds; memory is written to the disk."""


def save(name: str) -> Node:
    """Keep this moment of a running node, in place of the one that was kept before."""
    node = running(name)
    node.connection.run("sync")
    _tell(node, "savevm")
    return node


def load(name: str) -> Node:
    """Put a node back to the moment that was kept; whatever has happened on it since is gone."""
    node = running(name)
    node.connection.close()
    _tell(node, "loadvm")
    await_ssh(node, Progress(name))
    return node


def _tell(node: Node, command: str) -> None:
    """QEMU has these for people only: what goes wrong is what it says."""
    line = {"command-line": f"{command} {TAG}"}
    said = monitor.execute(node.folder / vm.MONITOR, "human-monitor-command", line, PATIENCE)
    if said.strip():
        raise LabError(f"the VM refuses {command}: {said.strip()}")
