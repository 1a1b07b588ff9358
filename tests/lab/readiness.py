# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for a node: its ssh, a new boot, its services and pods."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from enum import Enum
from typing import Any

from . import ssh
from .errors import LabError
from .machine import SERIAL_LOG
from .paths import GUEST
from .pods import QOS_CLASSES
from .progress import Progress
from .spec import NO_KUBELET
from .store import Node

SSH_TIMEOUT = 300.0
POD_TIMEOUT = 400.0
"""Seconds; several emulated nodes on two CPUs take a multiple of the time of one."""

WATCH = (GUEST / "watch.py").read_text()


class Wait(Enum):
    """The state that a node must reach before its start is complete."""

    NOTHING = "none"
    SSH = "ssh"
    PODS = "pods"


@dataclass(frozen=True)
class NodeStatus:
    """The state that a node reports; ``refused`` when runc rejects kubelet's cgroup paths, so that no pod starts."""

    boot_id: str
    containers: tuple[tuple[str, str, str], ...]
    missing: tuple[str, ...]
    refused: bool

    @property
    def summary(self) -> str:
        if self.refused:
            return "ready; the drivers clash: runc refuses kubelet's cgroup paths and no pod starts"
        if any(":" in cgroup for _pod, _kind, cgroup in self.containers):
            return "ready; the drivers clash: pods run in cgroups whose names contain a colon"
        return "ready"


def await_ssh(node: Node, progress: Progress) -> None:
    """Wait until the node's ssh server answers; LabError when its VM ends or at the timeout."""
    deadline = time.monotonic() + SSH_TIMEOUT
    with progress.repeated("waiting for ssh"):
        while not ssh.answers(node.port):
            _check(node, deadline, "did not answer by ssh")
            time.sleep(0.3)
    progress.say("ssh answers")


def await_boot(node: Node, progress: Progress) -> None:
    """Wait until the node has a new boot id."""
    progress.say("restarting; waiting for a new boot")
    deadline = time.monotonic() + SSH_TIMEOUT
    while _boot_id(node) in ("", node.boot_id):
        _check(node, deadline, "did not come back")
        node.connection.close()
        time.sleep(1)


def await_status(node: Node, wait: Wait, progress: Progress) -> NodeStatus:
    """The node's status when it has reached ``wait``; LabError names missing services and pods."""
    timeout = POD_TIMEOUT if wait is Wait.PODS else 0
    last = ""
    kubelet = "none" if node.spec.kubelet == NO_KUBELET else "kubelet"
    try:
        for line in node.connection.lines(f"python3 - {timeout} {','.join(QOS_CLASSES)} {kubelet}", WATCH):
            if last:
                progress.say(last)
            last = line
    except LabError:
        _check_runs(node)
        raise
    status = _parse(node, last)
    if wait is Wait.PODS:
        if status.missing and not status.refused:
            raise LabError(f"node {node.name} is up without {', '.join(status.missing)} (see: journal {node.name})")
        progress.say(status.summary)
    return status


def _parse(node: Node, line: str) -> NodeStatus:
    try:
        values: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise LabError(f"node {node.name} did not report its state as JSON: {line!r}") from error
    containers = tuple((item["pod"], item["kind"], item["cgroup"]) for item in values["containers"])
    return NodeStatus(values["boot_id"], containers, tuple(values["missing"]), values["refused"])


def _check_runs(node: Node) -> None:
    if node.pid is None:
        raise LabError(f"the machine of node {node.name} has ended; its console is in {node.directory / SERIAL_LOG}")


def _check(node: Node, deadline: float, failure: str) -> None:
    _check_runs(node)
    if time.monotonic() > deadline:
        raise LabError(f"node {node.name} {failure} within {SSH_TIMEOUT:.0f} s (see: journal {node.name})")


def _boot_id(node: Node) -> str:
    """The node's current boot id, '' when it does not answer."""
    if not ssh.answers(node.port):
        return ""
    try:
        return node.connection.run("cat /proc/sys/kernel/random/boot_id", timeout=20).strip()
    except LabError:
        return ""
