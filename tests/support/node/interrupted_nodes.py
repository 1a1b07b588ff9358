# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many simulated nodes, one for each moment in which a process was killed or the power cut."""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from collections import deque
from pathlib import Path
from typing import Any, Callable, Generic, Iterable, TypeVar

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state import atomic_file, store
from ansible_collections.volcano.colocation.plugins.module_utils.state.journal import unfinished_journals
from ansible_collections.volcano.colocation.plugins.module_utils.state.store import STATE_DIRECTORY
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import boot_unit, runner
from ansible_collections.volcano.colocation.tests.support.node.directory_tree import IN_MEMORY, Tree, tree_of
from ansible_collections.volcano.colocation.tests.support.node.kills import Killed, Moment, Recorder, Watched, node_of
from ansible_collections.volcano.colocation.tests.support.node.power_cut_disk import Disk
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CONTAINERD,
    KUBELET,
    document,
    misaligned,
)
from ansible_collections.volcano.colocation.tests.support.node.simulation_in_process import InProcess

RUNNING = {CONTAINERD: "active", KUBELET: "active"}
# The last one is the unit's temporary file where nameless files are not supported; systemd does not read it as a unit.
BOOT = (boot_unit.UNIT_FILE, boot_unit.LINK, atomic_file.temporary_path(boot_unit.UNIT_DIRECTORY, boot_unit.UNIT_FILE))
Work = Callable[[InProcess], Any]


def silent(_line: str) -> None:
    return


def foreign_entries(tree: Tree) -> Tree:
    """Return the entries that do not belong to the collection; a roll-back must restore them."""
    return {path: entry for path, entry in tree.items() if not path.startswith((STATE_DIRECTORY, *BOOT, *IN_MEMORY))}


def transaction(simulation: InProcess, plan: dict[str, Any]) -> dict[str, Any]:
    """Execute the plan."""
    simulation.store.open(plan["id"], json.dumps(plan))
    return runner.execute(simulation.node, simulation.store, plan["id"], silent)


def whole_plan(simulation: InProcess) -> dict[str, Any]:
    """Return a plan with every step, without a request to the health endpoint, which needs a thread."""
    plan = document(simulation)
    plan["gate"]["kubelet_healthz"] = None
    return plan


def commits(simulation: InProcess) -> None:
    assert transaction(simulation, whole_plan(simulation))["state"] == "committed"


def fails(simulation: InProcess) -> None:
    """Execute every step, and then roll back."""
    plan = whole_plan(simulation)
    plan["gate"]["cpu_manager"]["policy"] = "another"
    assert transaction(simulation, plan)["state"] == "rolled-back"


def distinct(moments: Iterable[Moment]) -> list[Moment]:
    """The first moment of each state."""
    moments_by_key: dict[tuple[Any, ...], Moment] = {}
    for moment in moments:
        moments_by_key.setdefault(moment.exact_key, moment)
    return list(moments_by_key.values())


def unknown(moments: Iterable[Moment], known: set[tuple[Any, ...]]) -> list[Moment]:
    """The moments whose states are not in ``known``, which are added to it; drafts make no other state.

    Every draft is found after one of the first kills; a recovery that is killed in turn leaves the same ones.
    """
    new = []
    for moment in moments:
        if moment.key not in known:
            known.add(moment.key)
            new.append(moment)
    return new


N = TypeVar("N", bound=Watched)


class InterruptedNodes(ABC, Generic[N]):
    """Nodes in separate directories, each deleted after its check."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._root = root
        self._monkeypatch = monkeypatch
        self._count = 0
        # Faster: documents without line breaks take a fifth of the time, and a small reserve is read quickly.
        monkeypatch.setattr(store, "INDENT", None)
        monkeypatch.setattr(store, "RESERVE_SIZE", 16)

    @abstractmethod
    def node(self, moment: Moment) -> N:
        """Re-create the moment as a separate node."""

    def moments(self, simulation: N, work: Callable[[N], Any], disk: Callable[[Path], Disk | None]) -> list[Moment]:
        """Return the moments of ``work`` on a node, the first of each state."""
        return distinct(self.record(simulation, work, disk))

    def record(self, simulation: N, work: Callable[[N], Any], disk: Callable[[Path], Disk | None]) -> list[Moment]:
        """Return all moments of ``work`` on a node."""
        recorder = Recorder(simulation, disk(simulation.root))
        recorder.record(self._monkeypatch, lambda: work(simulation))
        return recorder.moments

    def recover_all(self, moments: list[Moment], work: Callable[[N], Any], check: Callable[[Moment, N], None]) -> int:
        """Run ``work`` at each moment, and at each new moment of these runs; return the number of moments."""
        # The oldest first: the log in a journal grows with each recovery.
        waiting = deque(distinct(moments))
        known = {moment.key for moment in waiting}
        count = 0
        while waiting:
            moment = waiting.popleft()
            node = self.node(moment)
            waiting += unknown(self.record(node, work, no_disk), known)
            check(moment, node)
            shutil.rmtree(str(node.root))
            count += 1
        return count

    def new_directory(self) -> Path:
        self._count += 1
        path = self._root / str(self._count)
        path.mkdir()
        return path


class Bench(InterruptedNodes[Killed]):
    """Nodes on which transactions run."""

    def misaligned(self) -> Killed:
        """A node before its transaction; systemd has another unit to start."""
        simulation = Killed(self.new_directory())
        misaligned(simulation)
        simulation.write(f"{boot_unit.WANTS}/other.service", "")
        return simulation

    def node(self, moment: Moment) -> Killed:
        return node_of(moment, self.new_directory())


def no_disk(_root: Path) -> Disk | None:
    return None


class Ends:
    """The two states in which a node may be."""

    def __init__(self, before: InProcess, after: InProcess) -> None:
        self.before = foreign_entries(tree_of(before.root))
        self.after = foreign_entries(tree_of(after.root))
        assert self.before != self.after

    def check(self, moment: Moment, node: InProcess) -> None:
        """Check that the node is in one of the two states, everything runs and no transaction is unfinished."""
        tree = self.check_node(moment, node)
        assert not set(BOOT) & tree.keys(), moment.call
        assert not unfinished_journals(node.store), moment.call

    def check_node(self, moment: Moment, node: InProcess) -> Tree:
        """Check all but the collection's own files; return the node's whole tree."""
        tree = tree_of(node.root)
        foreign = foreign_entries(tree)
        desired = self.after if foreign == self.after else self.before
        different = {path for path in {*foreign, *desired} if foreign.get(path) != desired.get(path)}
        assert not different, f"{moment.call}: {sorted(different)}"
        assert node.state() == RUNNING, moment.call
        assert node.pods() == ["etcd", "proxy"], moment.call
        return tree
