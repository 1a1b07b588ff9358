# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volcano's agent on the nodes of the lab's cluster: its image, and its process as the node's kernel shows it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..lab import agent_image
from ..lab.cache import Cache
from ..lab.paths import cache_root
from .cluster import Cluster
from .node import ROOT, Node, Run
from .workload import kubectl

FAMILY = "volcano-1.15"
PROGRAM = "vc-agent"
LABELLED = "app.kubernetes.io/name=volcano-agent"
FEATURES = ("OverSubscription", "Eviction", "Resources", "CPUQoS", "CPUBurst", "CPUThrottle", "MemoryQoSV2")


def archive(node: Node, path: Path, capabilities: bytes = agent_image.DAC_OVERRIDE) -> str:
    """Write an archive with the agent's image, which has the busybox of the lab's nodes; the image's name."""
    program = agent_image.program(Cache(cache_root()), FAMILY)
    path.write_bytes(agent_image.archive(program, _fetched(node, "/usr/bin/busybox"), capabilities))
    return agent_image.name(program.release)


def settings(node: Node, path: Path, **options: bytes) -> dict[str, Any]:
    """Variables of the role agent, for an image from an archive that this writes with the options of ``archive``."""
    return {
        "colocation_agent_image": archive(node, path, **options),
        "colocation_agent_image_archive": str(path),
        "colocation_agent_features": list(FEATURES),
        "colocation_agent_label_nodes": True,
        # On a busy machine the node's own programs take a fifth of its CPUs, which the agent does not count.
        "colocation_agent_watermarks": {"cpu_high": 60, "cpu_low": 30},
        "colocation_agent_throttling": {"threshold": 50},
    }


def deploy(cluster: Cluster, variables: dict[str, Any], *arguments: str, **more: Any) -> Run:
    return cluster.ansible("cluster", *arguments, **{**variables, **more})


def images(node: Node) -> list[str]:
    """Names of the agent's images in the node's runtime."""
    return [name for name in node.shell("ctr -n k8s.io images list -q").splitlines() if PROGRAM in name]


def node_object(name: str) -> dict[str, Any]:
    """The Node in the API server."""
    item: dict[str, Any] = json.loads(kubectl("get", "node", name, "-o", "json"))
    return item


def labels(node: str) -> dict[str, str]:
    return {key: value for key, value in node_object(node)["metadata"]["labels"].items() if "volcano" in key}


def batch_cpu(node: str) -> int:
    """Thousandths of a CPU that the agent offers; 0 if it offers none."""
    return int(node_object(node)["status"]["allocatable"].get("kubernetes.io/batch-cpu", "0"))


def _fetched(node: Node, path: str) -> bytes:
    argv = [sys.executable, str(ROOT / "tests" / "lab"), "ssh", node.name, "--", f"cat {path}"]
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout


@dataclass(frozen=True)
class Process:
    """``mounts``: the first option (ro or rw) by mount point."""

    arguments: tuple[str, ...]
    environment: tuple[str, ...]
    mounts: dict[str, str]
    cgroup: str
    user: str


def process(node: Node) -> Process:
    """The agent's process on a node."""
    proc = f"/proc/$(pidof {PROGRAM})"
    arguments = node.shell(f"tr '\\0' '\\n' < {proc}/cmdline").splitlines()
    environment = node.shell(f"tr '\\0' '\\n' < {proc}/environ").splitlines()
    fields = [line.split() for line in node.shell(f"cat {proc}/mountinfo").splitlines()]
    mounts = {field[4]: field[5].split(",")[0] for field in fields}
    user = node.shell(f"awk '/^Uid:/ {{print $3}}' {proc}/status").strip()
    return Process(tuple(arguments), tuple(environment), mounts, node.shell(f"cat {proc}/cgroup"), user)
