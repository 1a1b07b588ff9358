# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the health gate for the container runtime and NRI."""

from __future__ import annotations

import json
import os
from typing import Any

from ..containerd_fields import SYSTEMD_CGROUP, handler_option
from ..cri.grpc import UNIMPLEMENTED, CriError, CriFailure
from ..cri.node_access import Node
from .finding import Finding, Verdict

PROC_NET_UNIX = "/proc/net/unix"
LISTENING = 1 << 16
"""__SO_ACCEPTCON in the flags column of /proc/net/unix (linux/net.h)."""
SS_CONNECTED = 3
"""Value of the St column in /proc/net/unix (linux/net.h socket_state)."""
CLOCK_STEP = 2.0
"""Seconds that a file time may be older than the restart: the kernel uses a coarse clock for file times."""


def ready(node: Node, endpoint: str) -> Finding:
    """Whether the runtime responds and its condition RuntimeReady is true."""
    name = "container runtime ready"
    try:
        with node.cri(endpoint) as client:
            version = client.version()
            status = client.status()
    except CriFailure as error:
        return Finding(name, Verdict.WAITING, error.message)
    if not status.ready:
        return Finding(name, Verdict.WAITING, f"{version.runtime_name} reports that it is not ready")
    return Finding(name, Verdict.PASSED, f"{version.runtime_name} {version.runtime_version}")


def handlers(node: Node, endpoint: str, expected: dict[str, bool]) -> Finding:
    """Whether the running value of SystemdCgroup of each runc handler is as expected, from the CRI plugin's status."""
    name = "SystemdCgroup of the runtime"
    try:
        with node.cri(endpoint) as client:
            version = client.version().runtime_version
            info = client.status().info
    except CriFailure as error:
        return Finding(name, Verdict.WAITING, error.message)
    try:
        running = systemd_cgroup(json.loads(info.get("config", "")), version)
    except (ValueError, AttributeError):
        return Finding(name, Verdict.NOT_PROVEN, "the runtime does not report its configuration")
    wrong = sorted(handler for handler, value in expected.items() if running.get(handler, False) != value)
    if wrong:
        values = ", ".join(f"{handler}={running.get(handler, 'no such handler')}" for handler in wrong)
        return Finding(name, Verdict.FAILED, f"running value: {values}")
    return Finding(name, Verdict.PASSED, ", ".join(f"{handler}={value}" for handler, value in sorted(expected.items())))


def cgroup_driver(node: Node, endpoint: str, expected: str) -> Finding:
    """Whether a runtime with one driver for all handlers uses it: CRI-O, which reports it since 1.28 (KEP-4033)."""
    name = "cgroup driver of the runtime"
    try:
        with node.cri(endpoint) as client:
            driver = client.cgroup_driver()
    except CriError as error:
        if error.code == UNIMPLEMENTED:
            return Finding(name, Verdict.NOT_PROVEN, "the runtime does not report its driver")
        return Finding(name, Verdict.WAITING, error.message)
    except CriFailure as error:
        return Finding(name, Verdict.WAITING, error.message)
    if driver != expected:
        return Finding(name, Verdict.FAILED, f"running value: {driver or 'not reported'}")
    return Finding(name, Verdict.PASSED, expected)


def systemd_cgroup(config: dict[str, Any], version: str | None = None) -> dict[str, bool]:
    """{handler: SystemdCgroup} from the CRI plugin's configuration; a handler without options has the default false."""
    runtimes = (config.get("containerd") or {}).get("runtimes") or {}
    return {
        name: bool(handler_option(handler.get("options") or {}, SYSTEMD_CGROUP, version))
        for name, handler in runtimes.items()
    }


def nri_socket(node: Node, path: str, newer_than: float | None) -> Finding:
    """Whether the socket exists, a process listens on it, and it was created after the runtime's restart."""
    name = "NRI socket"
    try:
        status = node.host.lstat(path)
        table = node.host.read_table(PROC_NET_UNIX)
    except FileNotFoundError:
        return Finding(name, Verdict.WAITING, f"{path} does not exist")
    except OSError as error:
        return Finding(name, Verdict.WAITING, f"{path}: {error.strerror}")
    if newer_than is not None and status.st_ctime < newer_than - CLOCK_STEP:
        return Finding(name, Verdict.WAITING, f"{path} is older than the restart of the runtime")
    if os.path.realpath(path) not in [os.path.realpath(name) for name in listening_sockets(table)]:
        return Finding(name, Verdict.WAITING, f"no process listens on {path}")
    return Finding(name, Verdict.PASSED, f"{path}, created after the restart" if newer_than else path)


def nri_plugins(node: Node, path: str, before: int) -> Finding:
    """Whether as many plugins are connected as before; the kernel reports their number, but not their names."""
    name = "NRI plugins"
    try:
        now = count_connections(node.host.read_table(PROC_NET_UNIX), path)
    except OSError as error:
        return Finding(name, Verdict.WAITING, f"{PROC_NET_UNIX}: {error.strerror}")
    verdict = Verdict.PASSED if now >= before else Verdict.WAITING
    return Finding(name, verdict, f"{now} of {before} connected")


def count_connections(table: str, path: str) -> int:
    """Connections accepted by a listening socket: they have its path in /proc/net/unix (net/unix/af_unix.c)."""
    socket_path = os.path.realpath(path)
    rows = [line.split(None, 7) for line in table.splitlines()[1:]]
    connections = [row for row in rows if len(row) == 8 and int(row[5], 16) == SS_CONNECTED]
    return sum(1 for row in connections if os.path.realpath(row[7]) == socket_path)


def listening_sockets(table: str) -> list[str]:
    """Paths of the listening sockets in /proc/net/unix."""
    rows = [line.split(None, 7) for line in table.splitlines()[1:]]
    return [row[7] for row in rows if len(row) == 8 and int(row[3], 16) & LISTENING]
