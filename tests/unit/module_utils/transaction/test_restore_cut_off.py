# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A restore is killed, or power is cut, at every call that changes something, and in every following recovery.

The node always ends aligned or exactly as before the collection. The ledger matches its state, and the next restore
succeeds from there.
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
    commits,
    foreign_entries,
    no_disk,
    silent,
    transaction,
)
from ansible_collections.volcano.colocation.tests.support.node.kills import Killed, Moment
from ansible_collections.volcano.colocation.tests.support.node.power_cut_disk import Disk
from ansible_collections.volcano.colocation.tests.support.node.restore_plan import FRESH, make_restore_plan
from ansible_collections.volcano.colocation.tests.support.node.simulation import CHECKPOINT
from ansible_collections.volcano.colocation.tests.support.node.simulation_in_process import InProcess
from ansible_collections.volcano.colocation.tests.unit.module_utils.transaction import test_power_cuts

pytestmark = pytest.mark.exhaustive


def restore(simulation: InProcess, name: str = "t-2") -> dict[str, Any]:
    plan = make_restore_plan(simulation, name)
    plan["gate"]["kubelet_healthz"] = None
    return plan


def restores(simulation: InProcess) -> None:
    assert transaction(simulation, restore(simulation))["state"] == "committed"


def fails_to_restore(simulation: InProcess) -> None:
    """Apply every step, then undo all of them."""
    plan = restore(simulation)
    plan["gate"]["cpu_manager"]["policy"] = "another"
    assert transaction(simulation, plan)["state"] == "rolled-back"


def undo(node: InProcess) -> Any:
    return runner.recover(node.node, node.store, silent)


def finish(node: InProcess) -> Any:
    return recovery.recover(node.node, node.store, silent, RecoveryMode.FINISH)


def unchanged(node: Killed) -> Killed:
    return node


class Aligned:
    """Aligned nodes, and the two final states of their restore."""

    def __init__(self, bench: Bench, observe: Callable[[Killed], Killed] = unchanged) -> None:
        self._bench = bench
        restored = self.node()
        restores(restored)
        restored, aligned = observe(restored), observe(self.node())
        self.entered = ledger.load(aligned.store).targets
        self.ends = Ends(aligned, restored)
        assert self.ends.after == foreign_entries(tree_of(self.untouched().root))

    def untouched(self) -> Killed:
        """A misaligned node whose kubelet always creates the same checkpoint."""
        node = self._bench.misaligned()
        node.write(CHECKPOINT, FRESH, 0o600)
        return node

    def node(self) -> Killed:
        node = self.untouched()
        commits(node)
        return node

    def check(self, moment: Moment, node: InProcess) -> None:
        """The node is in one of the final states, with the matching ledger."""
        self.ends.check(moment, node)
        targets = ledger.load(node.store).targets
        restored = foreign_entries(tree_of(node.root)) == self.ends.after
        assert targets == ({} if restored else self.entered), moment.call

    def check_further(self, moment: Moment, node: InProcess) -> None:
        """In addition, the next restore succeeds."""
        self.check(moment, node)
        if ledger.load(node.store).targets:
            assert transaction(node, restore(node, "t-4"))["state"] == "committed", moment.call
        assert foreign_entries(tree_of(node.root)) == self.ends.after, moment.call
        assert ledger.load(node.store).targets == {}, moment.call


@pytest.fixture(name="aligned")
def _aligned(bench: Bench) -> Aligned:
    return Aligned(bench)


def test_undone_after_any_kill(bench: Bench, aligned: Aligned) -> None:
    moments = bench.moments(aligned.node(), restores, no_disk)
    moments += bench.moments(aligned.node(), fails_to_restore, no_disk)
    assert len(moments) > 100
    assert bench.recover_all(moments, undo, aligned.check) > 500


def test_finished_after_any_kill(bench: Bench, aligned: Aligned) -> None:
    moments = bench.moments(aligned.node(), restores, no_disk)
    assert bench.recover_all(moments, finish, aligned.check) > 100


def test_the_next_restore_succeeds_after_any_kill(bench: Bench, aligned: Aligned) -> None:
    moments = bench.moments(aligned.node(), restores, no_disk)
    for moment in moments:
        node = bench.node(moment)
        undo(node)
        aligned.check_further(moment, node)
        shutil.rmtree(str(node.root))


def test_the_next_restore_succeeds_without_a_recovery(bench: Bench, aligned: Aligned) -> None:
    """A transaction rolls back an interrupted one first; its older plan is then refused, or still valid."""
    for moment in bench.moments(aligned.node(), restores, no_disk):
        node = bench.node(moment)
        if ledger.load(node.store).targets:
            state = transaction(node, restore(node, "t-3"))["state"]
            assert state in ("committed", "refused"), moment.call
        undo(node)
        aligned.check_further(moment, node)
        shutil.rmtree(str(node.root))


def files_of_a_restore(simulation: InProcess, name: str = "t-2") -> dict[str, Any]:
    plan = make_restore_plan(simulation, name)
    plan.update(services={}, checkpoints=[], sandboxes=None, stale_cgroups=[], fresh_cgroups=[], gate=None, forget=[])
    return plan


def test_a_restore_ends_as_before_or_as_planned_after_every_power_cut(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only files are compared: a boot starts the services again in any case."""
    monkeypatch.setattr(f"{__name__}.restore", files_of_a_restore)
    monkeypatch.setattr(f"{__name__}.commits", test_power_cuts.files_alone)
    aligned = Aligned(bench, partial(test_power_cuts.booted, bench))
    moments = bench.moments(aligned.node(), restores, Disk)
    assert test_power_cuts.boot_all(bench, moments, aligned.ends, aligned.check) > 50
