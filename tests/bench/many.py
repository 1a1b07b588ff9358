# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of assessing many recorded nodes: a quarter, a half and all of them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from .cost import Cost, run_measured
from .places import LOGS, MANY, SNAPSHOTS
from .reaches import Target

NODES = 1000
PODS, CONTAINERS = 110, 250
"""kubelet's default limit of pods, and the containers that a busy node runs in them."""
SHARES = (4, 2, 1)
SECONDS, MIB, LINEAR = 60.0, 500.0, 1.1


class ManyError(Exception):
    """The recorded nodes could not be assessed; the message says why."""


@dataclass(frozen=True)
class ManyCost:
    """The cost of one run of the playbook over ``nodes`` snapshots."""

    nodes: int
    mib: float
    cost: Cost


def assess_many(nodes: int, environment: Mapping[str, str]) -> tuple[ManyCost, ...]:
    """Costs of increasing parts of ``nodes`` snapshots, which are derived from the recorded ones."""
    if nodes < SHARES[0]:
        raise ManyError(f"{nodes} nodes are too few to see how the cost grows")
    try:
        return tuple(_once(nodes // share, environment) for share in SHARES)
    finally:
        shutil.rmtree(MANY, ignore_errors=True)


def growth(costs: Sequence[ManyCost]) -> float:
    """The worst ratio of CPU time per node when the number of nodes doubles; 1 is linear growth, more is worse.

    Wall time is not used, because it includes the other load of the machine.
    """
    return max((after.cost.cpu / before.cost.cpu) / (after.nodes / before.nodes) for before, after in pairwise(costs))


def many_targets(costs: Sequence[ManyCost]) -> tuple[Target, ...]:
    """Targets for the largest run, and for the growth of all runs."""
    last = costs[-1]
    what = f"assessing {last.nodes} recorded nodes"
    return (
        Target(f"{what}, wall", f"{last.cost.wall:.1f} s", f"< {SECONDS:.0f} s", last.cost.wall < SECONDS),
        Target(f"{what}, memory", f"{last.cost.peak_mib:.0f} MiB", f"< {MIB:.0f} MiB", last.cost.peak_mib < MIB),
        Target(
            "CPU time of a recorded node, twice as many to half as many",
            f"{growth(costs):.2f}",
            f"≤ {LINEAR}",
            growth(costs) <= LINEAR,
        ),
    )


def busy(snapshot: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The snapshot with another host name and as many pods and containers as a full node has."""
    ids = [hashlib.sha256(f"{number}/{index}".encode()).hexdigest() for index in range(CONTAINERS + PODS)]
    sandboxes, containers = ids[:PODS], ids[PODS:]
    pods = [f"pod{sandbox[:8]}_{sandbox[8:12]}" for sandbox in sandboxes]
    cgroups = [f"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-{pod}.slice" for pod in pods]
    cri = {
        **snapshot["runtime"]["cri"],
        "sandboxes": [
            {"id": sandbox, "ready": True, "namespace": "default", "name": sandbox[:8]} for sandbox in sandboxes
        ],
        "containers": [
            {"id": container, "sandbox": sandboxes[at % PODS], "running": True, "name": "main"}
            for at, container in enumerate(containers)
        ],
    }
    return {
        **snapshot,
        "system": {**snapshot["system"], "hostname": f"node{number}"},
        "containers": {
            f"{cgroups[at % PODS]}/cri-containerd-{identifier}.scope": 1 for at, identifier in enumerate(ids)
        },
        "runtime": {**snapshot["runtime"], "cri": cri},
    }


def write_snapshots(directory: Path, nodes: int) -> float:
    """Write snapshots into a directory; returns the average MiB of one snapshot."""
    directory.mkdir(parents=True)
    recorded = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(SNAPSHOTS.glob("*.json"))]
    size = 0
    for number in range(nodes):
        text = json.dumps(busy(recorded[number % len(recorded)], number), indent=1)
        size += len(text)
        (directory / f"node{number:04}.snapshot.json").write_text(text, encoding="utf-8")
    return size / nodes / (1 << 20)


def _once(nodes: int, environment: Mapping[str, str]) -> ManyCost:
    shutil.rmtree(MANY, ignore_errors=True)
    mib = write_snapshots(MANY / "snapshots", nodes)
    log = LOGS / f"assess-{nodes}.log"
    argv = ["ansible-playbook", "volcano.colocation.assess", "-e", f"colocation_snapshots={MANY / 'snapshots'}"]
    status, cost = run_measured(argv, log, environment, MANY)
    reports = len(list((MANY / "colocation-reports").glob("*.json")))
    if status != 0 or reports != nodes:
        raise ManyError(f"assessing {nodes} recorded nodes ended with {status} and {reports} reports, see {log}")
    return ManyCost(nodes, round(mib, 3), cost)
