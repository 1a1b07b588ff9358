# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a burst is worth: the same load in a pod with a quota, with and without cpu_burst."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.system.knobs import attempt
from ansible_collections.volcano.colocation.tests.system.node import Node, lab

LOAD = Path(__file__).with_name("load.py")
SECONDS, ROUNDS = 4, 2
ONLINE: dict[str, Any] = {"qos_class": "burstable", "level": "pods"}
QUOTA = {"cpu_quota": "0.4"}
"""Of 60 ms that a burst takes, 40 are allowed in a period of 100 ms."""
BURSTS = ("0", "40ms")


def throttled(node: Node, mode: str, burst: str) -> int:
    """Periods in which the kernel stopped the online pod."""
    assert attempt(node, [{**ONLINE, "settings": {**QUOTA, "cpu_burst": burst}}]).left_out == []
    (cgroup, *_others) = [path for path in node.containers() if "burstable" in path]
    folder = f"/sys/fs/cgroup/{'cpu' if mode == 'v1' else ''}{cgroup}"
    return int(lab("ssh", node.name, "--", f"python3 - {SECONDS} {folder}", text=LOAD.read_text()))


def compare(node: Node, mode: str) -> dict[str, int]:
    """{burst: periods}; in turns, so that a machine that is busy itself is so for both."""
    found = dict.fromkeys(BURSTS, 0)
    try:
        for _round in range(ROUNDS):
            for burst in BURSTS:
                found[burst] += throttled(node, mode, burst)
    finally:
        attempt(node, [{**ONLINE, "state": "absent"}])
    return found


def judge(found: dict[str, int]) -> None:
    """The pod was stopped without a burst, and at most half as often with one."""
    without, with_burst = (found[burst] for burst in BURSTS)
    assert without >= SECONDS * ROUNDS
    assert with_burst * 2 <= without
