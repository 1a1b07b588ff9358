# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What it costs to assess many recorded nodes: a quarter of them, half of them, all of them."""

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
from .reaches import Reach

NODES = 1000
PODS, CONTAINERS = 110, 250
"""kubelet's default limit, and what a busy node runs in them."""
SHARES = (4, 2, 1)
SECONDS, MIB, LINEAR = 60.0, 500.0, 1.1


class ManyError(Exception):
    """The recorded nodes could not be assessed; the message says why."""


@dataclass(frozen=True)
class ManyCost:
    """What one run of the playbook over ``nodes`` snapshots took."""

    nodes: int
    mib: float
    cost: Cost


def assess_many(nodes: int, environment: Mapping[str, str]) -> tuple[ManyCost, ...]:
    """Costs of ever larger parts of ``nodes`` snapshots, made of the recorded ones."""
    if nodes < SHARES[0]:
        raise ManyError(f"{nodes} nodes are too few to see how the cost grows")
    try:
        return tuple(_once(nodes // share, environment) for share in SHARES)
    finally:
        shutil.rmtree(MANY, ignore_errors=True)


def growth(costs: Sequence[ManyCost]) -> float:
    """How much more CPU time twice as many nodes take, at worst and per node; 1 is linear, above it is more than that.

    Not wall time, in which everything else that the machine does would count.
    """
    return max((after.cost.cpu / before.cost.cpu) / (after.nodes / before.nodes) for before, after in pairwise(costs))


def many_reaches(costs: Sequence[ManyCost]) -> tuple[Reach, ...]:
    """What is to be reached with the largest run, and by the growth of all."""
    last = costs[-1]
    what = f"assessing {last.nodes} recorded nodes"
    return (
        Reach(f"{what}, wall", f"{last.cost.wall:.1f} s", f"< {SECONDS:.0f} s", last.cost.wall < SECONDS),
        Reach(f"{what}, memory", f"{last.cost.peak_mib:.0f} MiB", f"< {MIB:.0f} MiB", last.cost.peak_mib < MIB),
        Reach(
            "CPU time of a recorded node, twice as many to half as many",
            f"{growth(costs):.2f}",
            f"≤ {LINEAR}",
            growth(costs) <= LINEAR,
        ),
    )


def busy(snapshot: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The snapshot with another name and as many pods and containers as a full node has."""
    ids = [hashlib.sha256(f"{number}/{each}".encode()).hexdigest() for each in range(CONTAINERS + PODS)]
    sandboxes, containers = ids[:PODS], ids[PODS:]
    pods = [f"pod{sandbox[:8]}_{sandbox[8:12]}" for sandbox in sandboxes]
    folders = [f"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-{pod}.slice" for pod in pods]
    cri = {
        **snapshot["runtime"]["cri"],
        "sandboxes": [{"id": each, "ready": True, "namespace": "default", "name": each[:8]} for each in sandboxes],
        "containers": [
            {"id": each, "sandbox": sandboxes[at % PODS], "running": True, "name": "main"}
            for at, each in enumerate(containers)
        ],
    }
    return {
        **snapshot,
        "system": {**snapshot["system"], "hostname": f"node{number}"},
        "containers": {f"{folders[at % PODS]}/cri-containerd-{each}.scope": 1 for at, each in enumerate(ids)},
        "runtime": {**snapshot["runtime"], "cri": cri},
    }


def write_snapshots(folder: Path, nodes: int) -> float:
    """Fill a folder; the MiB of one snapshot on average."""
    folder.mkdir(parents=True)
    recorded = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(SNAPSHOTS.glob("*.json"))]
    size = 0
    for number in range(nodes):
        text = json.dumps(busy(recorded[number % len(recorded)], number), indent=1)
        size += len(text)
        (folder / f"node{number:04}.snapshot.json").write_text(text, encoding="utf-8")
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
