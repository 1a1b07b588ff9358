# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many simulated nodes, one for each moment in which a process was killed or the power cut."""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from collections import deque
from pathlib import Path
from typing import Any, Callable, Generic, TypeVar

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
# The last one stands in for the unit where there are no nameless files, and systemd takes it for none.
BOOT = (boot_unit.UNIT_FILE, boot_unit.LINK, atomic_file.temporary_path(boot_unit.UNIT_DIRECTORY, boot_unit.UNIT_FILE))
Work = Callable[[InProcess], Any]


def silent(_line: str) -> None:
    return


def ours_apart(tree: Tree) -> Tree:
    """What has to be the same."""
    return {path: each for path, each in tree.items() if not path.startswith((STATE_DIRECTORY, *BOOT, *IN_MEMORY))}


def transaction(simulation: InProcess, plan: dict[str, Any]) -> dict[str, Any]:
    """Carry the plan out."""
    simulation.store.open(plan["id"], json.dumps(plan))
    return runner.execute(simulation.node, simulation.store, plan["id"], silent)


def whole_plan(simulation: InProcess) -> dict[str, Any]:
    """Every step there is. The health endpoint, which needs a thread, is not asked."""
    plan = document(simulation)
    plan["gate"]["kubelet_healthz"] = None
    return plan


def commits(simulation: InProcess) -> None:
    assert transaction(simulation, whole_plan(simulation))["state"] == "committed"


def fails(simulation: InProcess) -> None:
    """Every step is done, and then undone."""
    plan = whole_plan(simulation)
    plan["gate"]["cpu_manager"]["policy"] = "another"
    assert transaction(simulation, plan)["state"] == "rolled-back"


N = TypeVar("N", bound=Watched)


class Settling(ABC, Generic[N]):
    """Nodes in folders of their own, each gone when it has been looked at."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._root = root
        self._monkeypatch = monkeypatch
        self._count = 0
        # Documents without line breaks are made five times as fast, and a small reserve is read in no time.
        monkeypatch.setattr(store, "INDENT", None)
        monkeypatch.setattr(store, "RESERVE_SIZE", 16)

    @abstractmethod
    def node(self, moment: Moment) -> N:
        """The moment as a node of its own."""

    def moments(self, simulation: N, work: Callable[[N], Any], disk: Callable[[Path], Disk | None]) -> list[Moment]:
        """Every moment of a work on a node, the first of each state."""
        recorder = Recorder(simulation, disk(simulation.root))
        recorder.record(self._monkeypatch, lambda: work(simulation))
        found: dict[tuple[Any, ...], Moment] = {}
        for moment in recorder.moments:
            found.setdefault(moment.key, moment)
        return list(found.values())

    def settle(self, moments: list[Moment], work: Callable[[N], Any], check: Callable[[Moment, N], None]) -> int:
        """Do a work in each moment, and again in each new moment of that, until there is none; how many there were."""
        seen: set[tuple[Any, ...]] = {moment.key for moment in moments}
        # The oldest first: the log in a journal grows with each recovery behind the other.
        left = deque(moments)
        count = 0
        while left:
            moment = left.popleft()
            node = self.node(moment)
            found = self.moments(node, work, no_disk)
            check(moment, node)
            left += [each for each in found if each.key not in seen]
            seen.update(each.key for each in found)
            shutil.rmtree(str(node.root))
            count += 1
        return count

    def folder(self) -> Path:
        self._count += 1
        path = self._root / str(self._count)
        path.mkdir()
        return path


class Bench(Settling[Killed]):
    """Nodes on which transactions are carried out."""

    def misaligned(self) -> Killed:
        """A node before its transaction; systemd has another unit to start."""
        simulation = Killed(self.folder())
        misaligned(simulation)
        simulation.write(f"{boot_unit.WANTS}/other.service", "")
        return simulation

    def node(self, moment: Moment) -> Killed:
        return node_of(moment, self.folder())


def no_disk(_root: Path) -> Disk | None:
    return None


class Ends:
    """The two states in which a node may be."""

    def __init__(self, before: InProcess, after: InProcess) -> None:
        self.before = ours_apart(tree_of(before.root))
        self.after = ours_apart(tree_of(after.root))
        assert self.before != self.after

    def check(self, moment: Moment, node: InProcess) -> None:
        """One of the two, everything runs, nothing of ours is left to be done."""
        found = self.check_node(moment, node)
        assert not set(BOOT) & found.keys(), moment.call
        assert not unfinished_journals(node.store), moment.call

    def check_node(self, moment: Moment, node: InProcess) -> Tree:
        """The same without what is ours; the node's whole tree."""
        tree = tree_of(node.root)
        found = ours_apart(tree)
        wanted = self.after if found == self.after else self.before
        different = {path for path in {*found, *wanted} if found.get(path) != wanted.get(path)}
        assert not different, f"{moment.call}: {sorted(different)}"
        assert node.state() == RUNNING, moment.call
        assert node.pods() == ["etcd", "proxy"], moment.call
        return tree
