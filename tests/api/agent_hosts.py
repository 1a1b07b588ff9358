# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of agent_deploy for hosts that are recorded nodes, and whose Nodes have no kubelet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.api.apiserver import ApiServer, identity
from ansible_collections.volcano.colocation.tests.system.node import Run, Runner, ansible

SNAPSHOTS = Path(__file__).parents[1] / "unit" / "fixtures" / "snapshots"
KINDS = {"a": "bookworm-v1-aligned", "b": "trixie-v2-cgroupfs-aligned"}
CNI = "/etc/cni/net.d/cni.conflist"
OPTIONS: dict[str, Any] = {"image": "localhost/lab/agent:v1.14.0", "label_nodes": True}


def host(name: str) -> dict[str, Any]:
    """Variables of a host that is a recorded node, with a separate identity."""
    probe = {
        "hostname": name,
        **identity(name),
        "selinux": "off",
        "os": {"name": "Debian GNU/Linux", "version": "13 (trixie)"},
        "sysctls": [],
        "paths": {CNI: "missing"},
    }
    return {"agent_host_info": {"host": probe}, "snapshot": str(SNAPSHOTS / f"{KINDS[name]}.json")}


def deploy(server: ApiServer, *arguments: str, step: str = "objects", runner: Runner = ansible, **options: Any) -> Run:
    settings = {**OPTIONS, "kubeconfig": server.kubeconfig, "nodes": list(KINDS), "step": step, **options}
    task = {"name": "Deploy", "volcano.colocation.agent_deploy": settings, "delegate_to": "localhost", "run_once": True}
    look = {"name": "Look", "volcano.colocation.node_facts": {"snapshot": "{{ snapshot }}"}}
    hosts = {name: host(name) for name in KINDS}
    return server.run({"name": "Agent", "tasks": [look, task]}, hosts, *arguments, runner=runner)
