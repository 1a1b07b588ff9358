# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The snapshot: all evidence of one node as one JSON document, taken without changing anything."""

from __future__ import annotations

import time
from typing import Any

from ..host import Host
from .kubelet import kubelet
from .processes import option, scan
from .runtime import runtime
from .services import services
from .system import cgroups, cpus, machine
from .transactions import unfinished_transactions

SCHEMA = 1


def collect(host: Host) -> dict[str, Any]:
    """Raw evidence; what it means is the controller's to say. File texts are unredacted."""
    system = machine(host)
    found = scan(host, system["booted_at"])
    agents = found["agents"]
    kubelets = agents.get("kubelet", [])
    argv = kubelets[0]["argv"] if kubelets else []
    managed = services(host)
    return {
        "schema": SCHEMA,
        "root": host.root,
        "taken_at": time.time(),
        "system": system,
        "cpus": cpus(host),
        "cgroups": cgroups(host),
        "services": managed,
        "containers": found["containers"],
        "kubelet": kubelet(host, kubelets, managed["units"]),
        "runtime": runtime(host, agents.get("containerd", []), option(argv, "--container-runtime-endpoint")),
        "unfinished_transactions": unfinished_transactions(host),
        "other_runtimes": sorted(set(agents) - {"kubelet", "containerd"}),
    }
