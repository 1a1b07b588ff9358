# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the health gate that look at the container runtime and NRI."""

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
"""The St column there (linux/net.h socket_state)."""
CLOCK_STEP = 2.0
"""Seconds a file time may lie before the restart it belongs to: the kernel stamps files with a coarse clock."""


def ready(node: Node, endpoint: str) -> Finding:
    """Version answers, and the condition RuntimeReady is true."""
    name = "container runtime ready"
    try:
        with node.cri(endpoint) as client:
            version = client.version()
            status = client.status()
    except CriFailure as error:
        return Finding(name, Verdict.WAITING, error.message)
    if not status.ready:
        return Finding(name, Verdict.WAITING, f"{version.runtime_name} says that it is not ready")
    return Finding(name, Verdict.PASSED, f"{version.runtime_name} {version.runtime_version}")


def handlers(node: Node, endpoint: str, wanted: dict[str, bool]) -> Finding:
    """The running value of SystemdCgroup of each runc handler, as the CRI plugin tells it."""
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
        return Finding(name, Verdict.NOT_PROVEN, "the runtime does not tell its configuration")
    wrong = sorted(handler for handler, value in wanted.items() if running.get(handler, False) != value)
    if wrong:
        shown = ", ".join(f"{handler}={running.get(handler, 'no such handler')}" for handler in wrong)
        return Finding(name, Verdict.FAILED, f"running value: {shown}")
    return Finding(name, Verdict.PASSED, ", ".join(f"{handler}={value}" for handler, value in sorted(wanted.items())))


def cgroup_driver(node: Node, endpoint: str, wanted: str) -> Finding:
    """The driver in force of a runtime that has one for all handlers: CRI-O's, told since 1.28 (KEP-4033)."""
    name = "cgroup driver of the runtime"
    try:
        with node.cri(endpoint) as client:
            found = client.cgroup_driver()
    except CriError as error:
        if error.code == UNIMPLEMENTED:
            return Finding(name, Verdict.NOT_PROVEN, "the runtime does not tell its driver")
        return Finding(name, Verdict.WAITING, error.message)
    except CriFailure as error:
        return Finding(name, Verdict.WAITING, error.message)
    if found != wanted:
        return Finding(name, Verdict.FAILED, f"running value: {found or 'not told'}")
    return Finding(name, Verdict.PASSED, wanted)


def systemd_cgroup(config: dict[str, Any], version: str | None = None) -> dict[str, bool]:
    """{handler: SystemdCgroup} from the CRI plugin's configuration; a handler without options has the default false."""
    runtimes = (config.get("containerd") or {}).get("runtimes") or {}
    return {
        name: bool(handler_option(handler.get("options") or {}, SYSTEMD_CGROUP, version))
        for name, handler in runtimes.items()
    }


def nri_socket(node: Node, path: str, newer_than: float | None) -> Finding:
    """The socket exists, somebody listens, and it was made after the runtime's restart."""
    name = "NRI socket"
    try:
        found = node.host.lstat(path)
        table = node.host.read_table(PROC_NET_UNIX)
    except FileNotFoundError:
        return Finding(name, Verdict.WAITING, f"{path} is not there")
    except OSError as error:
        return Finding(name, Verdict.WAITING, f"{path}: {error.strerror}")
    if newer_than is not None and found.st_ctime < newer_than - CLOCK_STEP:
        return Finding(name, Verdict.WAITING, f"{path} is older than the restart of the runtime")
    if os.path.realpath(path) not in [os.path.realpath(name) for name in listening_sockets(table)]:
        return Finding(name, Verdict.WAITING, f"nobody listens at {path}")
    return Finding(name, Verdict.PASSED, f"{path}, made after the restart" if newer_than else path)


def nri_plugins(node: Node, path: str, before: int) -> Finding:
    """As many plugins are connected to the socket as were before; the kernel tells how many, not which."""
    name = "NRI plugins"
    try:
        now = count_connections(node.host.read_table(PROC_NET_UNIX), path)
    except OSError as error:
        return Finding(name, Verdict.WAITING, f"{PROC_NET_UNIX}: {error.strerror}")
    verdict = Verdict.PASSED if now >= before else Verdict.WAITING
    return Finding(name, verdict, f"{now} of {before} connected")


def count_connections(table: str, path: str) -> int:
    """Connections that a listening socket has accepted: they bear its path in /proc/net/unix (net/unix/af_unix.c)."""
    wanted = os.path.realpath(path)
    rows = [line.split(None, 7) for line in table.splitlines()[1:]]
    found = [row for row in rows if len(row) == 8 and int(row[5], 16) == SS_CONNECTED]
    return sum(1 for row in found if os.path.realpath(row[7]) == wanted)


def listening_sockets(table: str) -> list[str]:
    """Paths of the listening sockets in /proc/net/unix."""
    rows = [line.split(None, 7) for line in table.splitlines()[1:]]
    return [row[7] for row in rows if len(row) == 8 and int(row[3], 16) & LISTENING]
