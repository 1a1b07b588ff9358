# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""rubik's configuration, which sets the driver. rubik does not detect it, and does not support cgroup v2.

Source: openeuler rubik docs/config.md, docs/modules.md, pkg/config.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..facts.node_state import CgroupMode
from ..kube.api_errors import ClusterError
from .features import no_rubik
from .pools import UNCHANGED
from .probed_host import AgentHost

RUBIK_FEATURES = ["preemption", "dynCache", "ioLimit", "ioCost", "quotaBurst", "quotaTurbo", "psi"]
V2_REMEDY = (
    "rubik supports only cgroup v1. Use Volcano's agent on these hosts, exclude them, or boot them with v1, which needs"
    " systemd 255 or older and a kubelet before 1.35 or with failCgroupV1: false."
)


def render_rubik_config(hosts: Sequence[AgentHost], features: Sequence[str]) -> str:
    """config.json for all hosts; ClusterError if they need different files, or rubik does not run on one of them."""
    v2 = [host.name for host in hosts if host.mode is CgroupMode.V2]
    if v2:
        raise ClusterError(f"{', '.join(v2)}: cgroup v2", f"{UNCHANGED} {V2_REMEDY}")
    elsewhere = [f"{host.name}: rubik runs only on {reason}" for host in hosts if (reason := no_rubik(host))]
    if elsewhere:
        raise ClusterError("; ".join(elsewhere), f"{UNCHANGED} Use Volcano's agent on these hosts, or exclude them.")
    unknown = [host.name for host in hosts if host.mode is CgroupMode.UNKNOWN or host.driver is None]
    if unknown:
        raise ClusterError(
            f"{', '.join(unknown)}: the cgroup version or kubelet's driver is unknown",
            f"{UNCHANGED} Run the playbook assess to find out why.",
        )
    drivers = {host.driver.value: host.name for host in hosts if host.driver}
    if len(drivers) != 1:
        listing = ", ".join(f"{driver} (as {name})" for driver, name in sorted(drivers.items())) or "none"
        raise ClusterError(
            f"rubik has one configuration for all nodes of its DaemonSet, and the hosts use the drivers {listing}",
            f"{UNCHANGED} Run the playbook provision to align them, or deploy a separate rubik per driver, in separate"
            " runs.",
        )
    agent = {
        "logDriver": "stdio",
        "logDir": "/var/log/rubik",
        "logSize": 1024,
        "logLevel": "info",
        "cgroupRoot": "/sys/fs/cgroup",
        "cgroupDriver": next(iter(drivers)),
        "enabledFeatures": list(features),
    }
    document: dict[str, object] = {"agent": agent}
    if "preemption" in features:
        document["preemption"] = {"resource": ["cpu", "memory"]}
    return json.dumps(document, indent=4) + "\n"
