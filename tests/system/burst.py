# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a burst is worth: the same load in a pod with a quota, with and without cpu_burst."""

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
    (cgroup, *_others) = [path for path in node.containers() if "burstable" in path]
    folder = f"/sys/fs/cgroup/{'cpu' if mode == 'v1' else ''}{cgroup}"
    return int(lab("ssh", node.name, "--", f"python3 - {SECONDS} {folder}", text=LOAD.read_text()))


def compare(node: Node, mode: str) -> list[dict[str, int]]:
    """{burst: periods} of each try, until all of them together are proof.

    A machine that is busy itself takes CPUs away from its nodes for a while: the load then makes fewer bursts, and the
    nodes' kernels count time as used that was not.
    """
    found: list[dict[str, int]] = []
    try:
        while len(found) < TRIES and not is_proof(found):
            found.append({burst: throttled(node, mode, burst) for burst in BURSTS})
    finally:
        attempt(node, [{**ONLINE, "state": "absent"}])
    return found


def is_proof(found: Sequence[dict[str, int]]) -> bool:
    """The pod was stopped again and again without cpu_burst, and at most a third as often with it."""
    without, with_burst = (sum(each[burst] for each in found) for burst in BURSTS)
    return without >= SECONDS and with_burst * 3 <= without
