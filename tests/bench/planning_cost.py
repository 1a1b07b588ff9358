# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of planning on the controller, measured on snapshots of real nodes in new processes."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .places import BENCH, SNAPSHOTS

PROCESSES = 5
ARGUMENTS: dict[str, Any] = {
    "cgroup_driver": "systemd",
    "cpu_manager_policy": "static",
    "system_reserved": {"cpu": "500m"},
    "nri": {"enabled": True},
    "allow_disruption": True,
    "preflight": False,
}
"""``preflight`` is false, because it runs on the node, which a snapshot does not have."""
CASES = {
    "aligned": ("trixie-v2-aligned.json", ARGUMENTS),
    "text edited": ("trixie-v2-drivers-differ.json", {**ARGUMENTS, "topology_manager_policy": "best-effort"}),
}


class PlanningError(Exception):
    """A recorded node could not be planned; the message says why."""


@dataclass(frozen=True)
class PlanningCost:
    """CPU milliseconds, medians over processes.

    ``load_ms``: loading the action plugin and its editors, which Ansible does and compiles once in a run.
    ``first_ms``: the first plan of a process. ``again_ms``: each further plan.
    """

    case: str
    changes: int
    load_ms: float
    first_ms: float
    again_ms: float
    imported: int


def planning_costs(environment: Mapping[str, str], processes: int = PROCESSES) -> tuple[PlanningCost, ...]:
    """The PlanningCost of every case."""
    return tuple(
        combined(case, [_once(SNAPSHOTS / name, arguments, environment) for _process in range(processes)])
        for case, (name, arguments) in CASES.items()
    )


def combined(case: str, reports: list[dict[str, Any]]) -> PlanningCost:
    """The PlanningCost of the reports of several processes."""
    medians = {
        name: round(statistics.median(report[name] for report in reports), 1)
        for name in ("load_ms", "first_ms", "again_ms")
    }
    return PlanningCost(case, reports[0]["changes"], imported=reports[0]["imported"], **medians)


def _once(snapshot: Any, arguments: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-P", str(BENCH / "planning.py"), str(snapshot), json.dumps(arguments)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise PlanningError(f"planning {snapshot} failed: {done.stderr.strip().splitlines()[-1:]}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report
