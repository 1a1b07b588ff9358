# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""On cgroup v2: the kernel has every setting as it was asked for and gets its own back; a burst is worth something."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.system import burst, knobs
from ansible_collections.volcano.colocation.tests.system.node import Node


def test_every_setting_is_set_read_and_put_back(node: Node) -> None:
    knobs.go_through(node, "v2")


def test_with_a_burst_an_online_pod_is_stopped_less_often(node: Node) -> None:
    found = burst.compare(node, "v2")
    assert burst.is_proof(found), found
