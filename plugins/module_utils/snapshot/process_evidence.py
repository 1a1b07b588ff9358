# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about processes: node agents' command lines, the cgroup of each container, other writers of cgroups.

For other writers also their directories, and the configuration of rubik and TuneD where they run on the node itself.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import Any

from ..host import Host
from .file_evidence import capture, kernel_text, list_names
from .tuned_evidence import tuned

AGENTS = (
    "kubelet",
    "containerd",
    "crio",
    "dockerd",
    "cri-dockerd",
    "isulad",
    "k3s",
    "k3s-server",
    "k3s-agent",
    "rke2",
)
WRITERS = (
    "koordlet",
    "rubik",
    "vc-agent",
    "volcano-config-",
    "katalyst-agent",
    "crane-agent",
    "systemd-oomd",
    "tuned",
    "cluster-node-tu",
)
"""Names (15 bytes, as in the kernel) of other programs that write to cgroups or place processes on CPUs.

Most of them run in pods.
"""
_CONTAINER = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


def started_at(stat_line: str, booted: float | None, ticks_per_second: int) -> float | None:
    """Start of a process in seconds since the epoch, from field 22 of /proc/PID/stat, proc(5)."""
    fields = stat_line.rpartition(")")[2].split()
    if booted is None or len(fields) < 20:
        return None
    return booted + int(fields[19]) / ticks_per_second


def _agent(host: Host, pid: str, booted: float | None) -> dict[str, Any]:
    argv = (kernel_text(host, "/proc/%s/cmdline" % pid) or "").rstrip("\0").split("\0")
    line = kernel_text(host, "/proc/%s/stat" % pid) or ""
    return {"pid": int(pid), "argv": argv, "started_at": started_at(line, booted, os.sysconf("SC_CLK_TCK"))}


def scan_processes(host: Host, booted: float | None) -> dict[str, Any]:
    """One walk over /proc: ``agents`` by name; ``containers`` by cgroup text and ``writers`` by name, counted."""
    agents: dict[str, list[dict[str, Any]]] = {}
    containers: dict[str, int] = {}
    writers: dict[str, int] = {}
    for pid in host.list("/proc"):
        if not pid.isdigit():
            continue
        # A process may end between two reads.
        cgroup = kernel_text(host, "/proc/%s/cgroup" % pid)
        if cgroup is None:
            continue
        comm = kernel_text(host, "/proc/%s/comm" % pid) or ""
        if comm in WRITERS:
            writers[comm] = writers.get(comm, 0) + 1
        if _CONTAINER.search(cgroup):
            containers[cgroup] = containers.get(cgroup, 0) + 1
        elif comm in AGENTS:
            agents.setdefault(comm, []).append(_agent(host, pid, booted))
    return {"agents": agents, "containers": containers, "writers": writers}


def command_line_option(argv: Sequence[str], *names: str) -> str | None:
    """The value of an option, ``--name=value`` or ``--name value``; the last one wins, quotes stay."""
    value = None
    for position, word in enumerate(argv):
        name, equals, attached = word.partition("=")
        if name not in names:
            continue
        if equals:
            value = attached
        elif position + 1 < len(argv):
            value = argv[position + 1]
    return value


RUBIK_CONFIG = "/var/lib/rubik/config.json"
"""The only path that rubik reads, rubik docs/config.md; in a pod it is a mounted ConfigMap."""
FEATURE_LIMIT = 32


def rubik(host: Host) -> dict[str, Any] | None:
    """``{cgroup_driver, features}`` of the file on the node; None if it cannot be read."""
    text = capture(host, RUBIK_CONFIG).get("text")
    try:
        document = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None
    agent = document.get("agent", {}) if isinstance(document, dict) else None
    if not isinstance(agent, dict):
        return None
    driver, features = agent.get("cgroupDriver"), agent.get("enabledFeatures")
    listed = features if isinstance(features, list) else []
    return {
        "cgroup_driver": driver if isinstance(driver, str) else None,
        "features": [feature for feature in listed[:FEATURE_LIMIT] if isinstance(feature, str)],
    }


WRITER_DIRECTORIES = (
    "/opt/nri/plugins",
    "/etc/nri/conf.d",
    "/var/lib/rubik",
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
)
NAME_LIMIT = 100


def writers(host: Host, commands: dict[str, int]) -> dict[str, Any]:
    """``commands`` counts processes by name; ``folders`` are the names in the writers' directories."""
    listed = {directory: list_names(host, directory)[:NAME_LIMIT] for directory in WRITER_DIRECTORIES}
    return {
        "commands": commands,
        "folders": {directory: names for directory, names in listed.items() if names},
        "rubik": rubik(host),
        "tuned": tuned(host),
    }
