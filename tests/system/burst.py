# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the effect of cpu_burst on a load in a pod with a quota."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.system.knobs import attempt
from ansible_collections.volcano.colocation.tests.system.node import Node, lab

LOAD = Path(__file__).with_name("load.py")
SECONDS, TRIES = 8, 5
ONLINE: dict[str, Any] = {"qos_class": "burstable", "level": "pods"}
QUOTA = {"cpu_period": "100ms", "cpu_quota": "0.8"}
"""Of 110 ms that a burst takes, 80 are allowed in a period of 100 ms."""
BURSTS = ("0", "80ms")


def throttled(node: Node, mode: str, burst: str) -> int:
    """Periods in which the kernel stopped the online pod."""
    attempt(node, [{**ONLINE, "settings": {**QUOTA, "cpu_burst": burst}}])
    (cgroup, *_other_cgroups) = [path for path in node.containers() if "burstable" in path]
    directory = f"/sys/fs/cgroup/{'cpu' if mode == 'v1' else ''}{cgroup}"
    return int(lab("ssh", node.name, "--", f"python3 - {SECONDS} {directory}", text=LOAD.read_text()))


def compare(node: Node, mode: str) -> list[dict[str, int]]:
    """Return {burst: throttled periods} of each attempt, until all attempts together are proof.

    On a busy machine nodes lose CPU time for a while: the load then makes fewer bursts, and kernels of nodes count
    lost time as used.
    """
    periods: list[dict[str, int]] = []
    try:
        while len(periods) < TRIES and not is_proof(periods):
            periods.append({burst: throttled(node, mode, burst) for burst in BURSTS})
    finally:
        attempt(node, [{**ONLINE, "state": "absent"}])
    return periods


def is_proof(periods: Sequence[dict[str, int]]) -> bool:
    """Whether the pod was throttled often without cpu_burst, and at most a third as often with it."""
    without, with_burst = (sum(attempt_periods[burst] for attempt_periods in periods) for burst in BURSTS)
    return without >= SECONDS and with_burst * 3 <= without
