# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The snapshot: all evidence about one node as one JSON document. Collecting it changes nothing."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from ..host import Host
from .boot_evidence import boot
from .cgroup_evidence import available_controllers, cgroups, reserved_cgroups
from .installer_evidence import installer
from .kubelet_evidence import kubeadm_patches, kubelet
from .machine_evidence import cpus, kernel, machine
from .process_evidence import scan_processes, writers
from .record_evidence import ledger_problem, record_problems, unfinished_transactions
from .runtime_evidence import kubelets_endpoint, runtime
from .systemd_evidence import services

SCHEMA = 1
OTHER_RUNTIMES = ("cri-dockerd", "crio", "dockerd", "isulad")


def collect(host: Host, named_cgroups: Iterable[str] = (), patches: str | None = None) -> dict[str, Any]:
    """Raw evidence with unredacted file texts; the controller interprets it.

    ``named_cgroups`` are looked up in addition to those that kubelet's files name; ``patches`` is kubeadm's patches
    directory.
    """
    system = machine(host)
    scan = scan_processes(host, system["booted_at"])
    agents = scan["agents"]
    kubelets = agents.get("kubelet", [])
    managed = services(host)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "root": host.root,
        "taken_at": time.time(),
        "system": system,
        "boot": boot(host),
        "cpus": cpus(host),
        "cgroups": cgroups(host, scan["containers"]),
        "kernel": kernel(host),
        "writers": writers(host, scan["writers"]),
        "services": managed,
        "containers": scan["containers"],
        "kubelet": kubelet(host, kubelets, managed["units"]),
        "runtime": runtime(host, agents, kubelets_endpoint(host, agents)),
        "distribution": installer(host, agents),
        "unfinished_transactions": unfinished_transactions(host),
        "ledger_problem": ledger_problem(host),
        "record_problems": record_problems(host),
        "other_runtimes": [name for name in OTHER_RUNTIMES if name in agents],
    }
    reserved = reserved_cgroups(host, document["cgroups"]["tops"], document["kubelet"], named_cgroups)
    document["cgroups"].update(reserved=reserved, reserved_controllers=available_controllers(host, reserved))
    if patches:
        document["kubelet"]["kubeadm_patches"] = kubeadm_patches(host, patches)
    return document
