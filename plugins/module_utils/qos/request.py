# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of cgroup_qos as what the engine works with."""

from __future__ import annotations

import math
import os
from typing import Any, Mapping

from ..cgroup.hierarchy import Hierarchies, hierarchies
from ..cgroup.mounts import ROOT
from ..cgroup.names import Driver, QosClass
from ..errors import ColocationError
from ..host import Host
from ..quantity import parse_quantity
from ..systemd.bus import Bus
from .engine import Request
from .given import Limits
from .kubelet import static_cpu, version
from .observe import Node
from .plan import Kubelet
from .target import Cgroups, Wish

SYSTEMD = "/run/systemd/system"
"""There just while systemd runs the node, sd_booted(3)."""


def request(host: Host, options: Mapping[str, Any]) -> Request:
    """The module's options, checked as far as they contradict each other."""
    if options["state"] == "absent" and options["settings"]:
        raise ColocationError(
            "settings are given with state: absent, which puts everything back",
            "Leave them out, or set those that are to go to null with state: present",
        )
    if options["level"] == "pods" and options["qos_class"] is None:
        raise ColocationError("level: pods is given without qos_class", "Say of which class the pods are")
    return Request(
        _wish(options),
        options["settings"] or {},
        options["state"],
        options["unsupported"],
        options["persistent"],
        Limits(_cpus(options["cpus"]), _memory(options["memory"])),
        Kubelet(
            version(options["kubelet_version"]), static_cpu(host, options["kubelet_root_dir"]), options["memory_qos"]
        ),
        options["cgroup_root"].rstrip("/"),
    )


def node(host: Host, cgroup_root: str) -> Node:
    """The node's cgroups, and its systemd where these are the real ones."""
    found = hierarchies(host, cgroup_root)
    if not host.live or cgroup_root != ROOT or not os.path.isdir(SYSTEMD):
        return Node(host, found)
    bus = Bus(host)
    return Node(host, found, bus, bus.version())


def cgroups(host: Host, found: Hierarchies, options: Mapping[str, Any]) -> Cgroups:
    """Where kubelet's cgroups are, as far as the options say it."""
    told = options["cgroup_driver"]
    return Cgroups(host, found, options["kubelet_cgroup_root"], None if told == "auto" else Driver(told))


def _wish(options: Mapping[str, Any]) -> Wish:
    pod = options["pod"] or {}
    qos = QosClass(options["qos_class"]) if options["qos_class"] else None
    each = options["level"] == "pods"
    return Wish(
        None if each else qos,
        options["slice"],
        options["path"],
        pod.get("uid"),
        f"{pod['namespace']}/{pod['name']}" if pod.get("name") else None,
        qos if each else None,
    )


def _cpus(given: float | None) -> float | None:
    if given is not None and not 0 < given < math.inf:
        raise ColocationError(f"cpus: {given} is no number of CPUs", "Write it like 64 or 2.5")
    return given


def _memory(given: str | None) -> int | None:
    if given is None:
        return None
    try:
        found = int(parse_quantity(given))
    except ValueError:
        found = 0
    if found <= 0:
        raise ColocationError(f"memory: {given!r} is no amount of memory", "Write it like 64Gi")
    return found
