# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""On cgroup v2 the kernel has every requested setting, and the previous one after a restore; bursts have an effect."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.system import burst, knobs
from ansible_collections.volcano.colocation.tests.system.node import Node


def test_every_setting_is_set_read_and_restored(node: Node) -> None:
    knobs.check_all(node, "v2")


def test_with_a_burst_an_online_pod_is_throttled_less_often(node: Node) -> None:
    periods = burst.compare(node, "v2")
    assert burst.is_proof(periods), periods
