# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Power is cut at every call that changes something, and again at every such call during the boot.

After each cut, two disks are booted: one that kept everything, and one that kept only synced data.
"""

from __future__ import annotations

import shutil
from collections import deque
from typing import Any, Callable, Iterable, Iterator

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.transaction import boot_unit, runner
from ansible_collections.volcano.colocation.tests.support.node.directory_tree import tree_of
from ansible_collections.volcano.colocation.tests.support.node.interrupted_nodes import (
    Bench,
    Ends,
    commits,
    distinct,
    fails,
    silent,
    transaction,
    unknown,
    whole_plan,
)
from ansible_collections.volcano.colocation.tests.support.node.kills import Killed, Moment, booting, node_of
from ansible_collections.volcano.colocation.tests.support.node.power_cut_disk import Disk
from ansible_collections.volcano.colocation.tests.support.node.simulation import CONTAINERD, KUBELET
from ansible_collections.volcano.colocation.tests.support.node.simulation_in_process import InProcess

pytestmark = pytest.mark.exhaustive


def files_alone(simulation: InProcess) -> None:
    plan = whole_plan(simulation)
    plan["files"][0]["after"] = plan["files"][0]["after"].replace("static", "none")
    plan.update(services={}, checkpoints=[], sandboxes=None, stale_cgroups=[], fresh_cgroups=[], gate=None, validate=[])
    assert transaction(simulation, plan)["state"] == "committed"


def at_boot(node: InProcess) -> Any:
    """Run the unit, if it exists."""
    if boot_unit.is_enabled(node.host):
        runner.recover_at_boot(node.node, node.store, silent)


def services_start(node: InProcess) -> None:
    for unit in (CONTAINERD, KUBELET):
        node._job("start", unit)


def boots(moments: Iterable[Moment]) -> Iterator[Moment]:
    """The nodes that boot after a power cut in one of the moments."""
    return (booting(moment, disk) for moment in moments for disk in moment.disks)


def booted(bench: Bench, node: Killed) -> Killed:
    """The node after a regular boot, with all its services."""
    tree = tree_of(node.root)
    node_after_boot = node_of(booting(Moment("the end", tree, (), node.services(), 0), tree), bench.new_directory())
    services_start(node_after_boot)
    return node_after_boot


def boot_all(bench: Bench, moments: list[Moment], ends: Ends, check: Callable[[Moment, InProcess], None]) -> int:
    """Boot after a power cut in each moment, and cut power during that boot, until no new state appears."""
    remaining = deque(distinct(boots(moments)))
    known = {moment.key for moment in remaining}
    count = 0
    while remaining:
        moment = remaining.popleft()
        node = bench.node(moment)
        remaining += unknown(boots(unknown(bench.record(node, at_boot, Disk), set())), known)
        assert {argv[1] for argv in node.commands} <= {"show"}, moment.call
        services_start(node)
        assert not boot_unit.is_enabled(node.host), moment.call
        ends.check_node(moment, node)
        # It finds transactions without a change, and a unit that is disabled but not deleted.
        runner.recover(node.node, node.store, silent)
        check(moment, node)
        shutil.rmtree(str(node.root))
        count += 1
    return count


def test_a_node_ends_as_before_or_as_planned_after_every_power_cut(bench: Bench) -> None:
    node, failing = bench.misaligned(), bench.misaligned()
    moments = bench.moments(node, commits, Disk) + bench.moments(failing, fails, Disk)
    ends = Ends(bench.misaligned(), node)
    assert boot_all(bench, moments, ends, ends.check) > 100


def test_every_power_cut_while_files_are_written(bench: Bench) -> None:
    node = bench.misaligned()
    moments = bench.moments(node, files_alone, Disk)
    ends = Ends(bench.misaligned(), booted(bench, node))
    assert boot_all(bench, moments, ends, ends.check) > 20
