# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A restore is killed, or the power is cut, at every call that changes something, and in every recovery from that.

Whatever was left, the node ends aligned as it was, or exactly as before the collection; the ledger says which, and from
there the next restore leads back.
"""

from __future__ import annotations

import shutil
from functools import partial
from typing import Any, Callable

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state import ledger
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import recovery, runner
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.recovery import RecoveryMode
from ansible_collections.volcano.colocation.tests.support.node.directory_tree import tree_of
from ansible_collections.volcano.colocation.tests.support.node.interrupted_nodes import (
    Bench,
    Ends,
    Work,
    commits,
    no_disk,
    ours_apart,
    silent,
    transaction,
)
from ansible_collections.volcano.colocation.tests.support.node.kills import Killed, Moment
from ansible_collections.volcano.colocation.tests.support.node.power_cut_disk import Disk
from ansible_collections.volcano.colocation.tests.support.node.restore_plan import FRESH, way_back
from ansible_collections.volcano.colocation.tests.support.node.simulation import CHECKPOINT
from ansible_collections.volcano.colocation.tests.support.node.simulation_in_process import InProcess
from ansible_collections.volcano.colocation.tests.unit.module_utils.transaction import test_power_cuts

pytestmark = pytest.mark.exhaustive


def restore(simulation: InProcess, name: str = "t-2") -> dict[str, Any]:
    plan = way_back(simulation, name)
    plan["gate"]["kubelet_healthz"] = None
    return plan


def restores(simulation: InProcess) -> None:
    assert transaction(simulation, restore(simulation))["state"] == "committed"


def fails_to_restore(simulation: InProcess) -> None:
    """Every step is done, and then undone."""
    plan = restore(simulation)
    plan["gate"]["cpu_manager"]["policy"] = "another"
    assert transaction(simulation, plan)["state"] == "rolled-back"


def undo(node: InProcess) -> Any:
    return runner.recover(node.node, node.store, silent)


def finish(node: InProcess) -> Any:
    return recovery.recover(node.node, node.store, silent, RecoveryMode.FINISH)


def as_it_is(node: Killed) -> Killed:
    return node


class Aligned:
    """Nodes that the collection has aligned, and the two ends of their restore."""

    def __init__(self, bench: Bench, seen: Callable[[Killed], Killed] = as_it_is) -> None:
        self._bench = bench
        restored = self.node()
        restores(restored)
        restored, aligned = seen(restored), seen(self.node())
        self.entered = ledger.load(aligned.store).targets
        self.ends = Ends(aligned, restored)
        assert self.ends.after == ours_apart(tree_of(self.untouched().root))

    def untouched(self) -> Killed:
        """Its kubelet writes the same checkpoint whenever it finds none."""
        node = self._bench.misaligned()
        node.write(CHECKPOINT, FRESH, 0o600)
        return node

    def node(self) -> Killed:
        node = self.untouched()
        commits(node)
        return node

    def check(self, moment: Moment, node: InProcess) -> None:
        """At one of the ends, with the ledger of that end."""
        self.ends.check(moment, node)
        found = ledger.load(node.store).targets
        restored = ours_apart(tree_of(node.root)) == self.ends.after
        assert found == ({} if restored else self.entered), moment.call

    def check_further(self, moment: Moment, node: InProcess) -> None:
        """And the next restore leads back from there."""
        self.check(moment, node)
        if ledger.load(node.store).targets:
            assert transaction(node, restore(node, "t-4"))["state"] == "committed", moment.call
        assert ours_apart(tree_of(node.root)) == self.ends.after, moment.call
        assert ledger.load(node.store).targets == {}, moment.call


@pytest.fixture(name="aligned")
def _aligned(bench: Bench) -> Aligned:
    return Aligned(bench)


@pytest.mark.parametrize("work", [restores, fails_to_restore])
def test_undone_after_any_kill(bench: Bench, aligned: Aligned, context: Work) -> None:
    moments = bench.moments(aligned.node(), context, no_disk)
    assert len(moments) > 50
    assert bench.settle(moments, undo, aligned.check) > 500


def test_finished_after_any_kill(bench: Bench, aligned: Aligned) -> None:
    moments = bench.moments(aligned.node(), restores, no_disk)
    assert bench.settle(moments, finish, aligned.check) > 100


def test_the_next_restore_leads_back_after_any_kill(bench: Bench, aligned: Aligned) -> None:
    moments = bench.moments(aligned.node(), restores, no_disk)
    for moment in moments:
        node = bench.node(moment)
        undo(node)
        aligned.check_further(moment, node)
        shutil.rmtree(str(node.root))


def test_so_it_does_when_nobody_recovers_first(bench: Bench, aligned: Aligned) -> None:
    """A transaction undoes what was cut off itself; a plan that was made before that is refused, or holds."""
    for moment in bench.moments(aligned.node(), restores, no_disk):
        node = bench.node(moment)
        if ledger.load(node.store).targets:
            state = transaction(node, restore(node, "t-3"))["state"]
            assert state in ("committed", "refused"), moment.call
        undo(node)
        aligned.check_further(moment, node)
        shutil.rmtree(str(node.root))


def files_of_a_restore(simulation: InProcess, name: str = "t-2") -> dict[str, Any]:
    plan = way_back(simulation, name)
    plan.update(services={}, checkpoints=[], sandboxes=None, stale_cgroups=[], fresh_cgroups=[], gate=None, forget=[])
    return plan


def test_a_restore_ends_as_before_or_as_planned_after_every_power_cut(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies on a disk are files; a boot starts the services anew whatever they were."""
    monkeypatch.setattr(f"{__name__}.restore", files_of_a_restore)
    monkeypatch.setattr(f"{__name__}.commits", test_power_cuts.files_alone)
    aligned = Aligned(bench, partial(test_power_cuts.booted, bench))
    moments = bench.moments(aligned.node(), restores, Disk)
    assert test_power_cuts.settle(bench, moments, aligned.ends, aligned.check) > 50
