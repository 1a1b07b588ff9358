# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cgroup_qos and its restore are killed at every call that changes something, and in every restore from that again.

Whatever was left, the record still says what was there before: a restore puts every file and property back.
"""

from __future__ import annotations

import copy
import shutil
from functools import partial
from pathlib import Path
from typing import Any, Callable, Sequence

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.restore import recorded_settings
from ansible_collections.volcano.colocation.plugins.module_utils.settings import reapply_unit, record, workflow
from ansible_collections.volcano.colocation.plugins.module_utils.state import installed_engine
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.dbus_values import Property
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import CGROUPS, ROOT, Tree
from ansible_collections.volcano.colocation.tests.support.node.directory_tree import unpack
from ansible_collections.volcano.colocation.tests.support.node.interrupted_nodes import Settling, no_disk
from ansible_collections.volcano.colocation.tests.support.node.kills import Moment, Services, Watched
from ansible_collections.volcano.colocation.tests.support.node.simulation import FakeClock
from ansible_collections.volcano.colocation.tests.support.node.unit_manager import UNSET, SystemdTree, UnitManager

pytestmark = pytest.mark.exhaustive

UNIT_FOLDER = "/etc/systemd/system/"
CLASS, SLICE = CGROUPS["systemd"]["besteffort"], "system.slice"
SET = {"cpu_quota": "1.5", "cpu_burst": 20000, "pids_max": 500}
CHANGED = {"cpu_quota": 2, "cpu_burst": None, "pids_max": 400}


class KilledTree(Tree, Watched):
    """A node without systemd, as on any kind of tree."""

    whole = (ROOT,)

    def __init__(self, folder: Path, mode: str, driver: str) -> None:
        super().__init__(folder, mode, driver)
        self.root = folder

    def take(self, services: Services) -> None:
        assert not services


class Manager(UnitManager):
    """What it does is a program's doing, told when it is done."""

    def set(self, unit: str, properties: Sequence[Property]) -> None:
        super().set(unit, properties)
        self._tree.changed()  # type: ignore[attr-defined]


class KilledSystemdTree(KilledTree, SystemdTree):
    own = (f"{ROOT}/", UNIT_FOLDER)

    def __init__(self, folder: Path) -> None:
        SystemdTree.__init__(self, folder)
        self.root = folder
        self.systemd = Manager(self)

    def services(self) -> Services:
        return Services(held=copy.deepcopy(self.systemd._held))

    def take(self, services: Services) -> None:
        self.systemd._held = copy.deepcopy(services["held"])

    def node(self) -> Any:
        return SystemdTree.node(self)

    def _answer(self, argv: tuple[str, ...]) -> tuple[int, str, str]:
        answer = super()._answer(argv)
        self.changed()
        return answer


KINDS: dict[str, Callable[[Path], KilledTree]] = {
    "systemd": KilledSystemdTree,
    "v1": partial(KilledTree, mode="v1", driver="systemd"),
    "v2": partial(KilledTree, mode="v2", driver="systemd"),
}


class QosBench(Settling[KilledTree]):
    def __init__(self, kind: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(root, monkeypatch)
        self._kind = KINDS[kind]

    def untouched(self) -> KilledTree:
        return self._kind(self.folder())

    def node(self, moment: Moment) -> KilledTree:
        found = self.untouched()
        shutil.rmtree(str(found.folder))
        found.folder.mkdir()
        unpack(moment.tree, found.folder)
        found.take(moment.services)
        return found

    def after(self, *works: Callable[[KilledTree], None]) -> KilledTree:
        found = self.untouched()
        for work in works:
            work(found)
        return found


@pytest.fixture(params=list(KINDS))
def bench(request: pytest.FixtureRequest, memory: Path, monkeypatch: pytest.MonkeyPatch) -> QosBench:
    # The whole engine has a hundred files, and its installation tests of its own.
    code = {"__main__.py": b"import sys\n", "volcano_colocation/__init__.py": b""}
    monkeypatch.setattr(installed_engine, "sources", lambda: code)
    monkeypatch.setattr(recorded_settings, "ROOT", ROOT)
    return QosBench(request.param, memory, monkeypatch)


def carry_out(tree: KilledTree, **options: Any) -> None:
    workflow.execute(tree.node(), tree.plan(**options), FakeClock())


def sets(tree: KilledTree) -> None:
    carry_out(tree, qos_class="besteffort", settings=SET)


def changes(tree: KilledTree) -> None:
    """One value gets another, one goes back, one stays; another cgroup gets some."""
    carry_out(tree, qos_class="besteffort", settings=CHANGED)
    carry_out(tree, slice=SLICE, settings={"cpu_weight": 300})


def takes_back(tree: KilledTree) -> None:
    carry_out(tree, qos_class="besteffort", state="absent")


def restores(tree: KilledTree) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recorded_settings, "node_of", lambda _host, _root: tree.node())
        recorded_settings.restore_settings(tree.host, FakeClock())


WORKS = {
    "set": ((), sets),
    "change": ((sets,), changes),
    "take back": ((sets, changes), takes_back),
    "restore": ((sets, changes), restores),
}


def values(tree: KilledTree) -> dict[str, str]:
    """What the kernel's files say."""
    return {path: text for path, text in tree.texts().items() if path.startswith(ROOT.lstrip("/"))}


def holds(tree: KilledTree) -> list[tuple[str, str]]:
    """Properties that systemd holds and did not hold before us."""
    held = tree.services().get("held", {})
    return [(unit, name) for unit, each in held.items() for name, value in each.items() if value != UNSET[name]]


@pytest.mark.parametrize("name", WORKS)
def test_what_was_there_before_can_be_put_back_after_any_kill(bench: QosBench, name: str) -> None:
    before = values(bench.untouched())

    def check(moment: Moment, node: KilledTree) -> None:
        assert values(node) == before, moment.call
        assert holds(node) == [], moment.call
        assert record.load(node.host) == {}, moment.call
        assert not reapply_unit.is_present(node.host), moment.call

    former, work = WORKS[name]
    moments = bench.moments(bench.after(*former), work, no_disk)
    assert bench.settle(moments, restores, check) > 4


@pytest.mark.parametrize("name", ["set", "change", "take back"])
def test_the_same_once_more_leads_to_the_same_after_any_kill(bench: QosBench, name: str) -> None:
    former, work = WORKS[name]
    wanted = bench.after(*former, work)

    def check(moment: Moment, node: KilledTree) -> None:
        assert values(node) == values(wanted), moment.call
        assert holds(node) == holds(wanted), moment.call
        assert record.load(node.host) == record.load(wanted.host), moment.call
        assert reapply_unit.is_present(node.host) == reapply_unit.is_present(wanted.host), moment.call

    for moment in bench.moments(bench.after(*former), work, no_disk):
        node = bench.node(moment)
        work(node)
        check(moment, node)
        shutil.rmtree(str(node.folder))


def test_nothing_of_the_unit_stays_after_any_kill(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its engine nor the folder of engines."""
    code = {"__main__.py": b"import sys\n"}
    monkeypatch.setattr(installed_engine, "sources", lambda: code)
    bench = QosBench("systemd", memory, monkeypatch)

    def goes(tree: KilledTree) -> None:
        if reapply_unit.is_present(tree.host):
            reapply_unit.remove_unit(tree.host)

    def check(moment: Moment, node: KilledTree) -> None:
        host: Host = node.host
        assert not reapply_unit.is_present(host), moment.call
        assert [name for name in host.list(installed_engine.ENGINE_DIRECTORY) if not name.startswith("qos")] == [], (
            moment.call
        )

    moments = bench.moments(bench.after(lambda tree: reapply_unit.install_unit(tree.host)), goes, no_disk)
    assert bench.settle(moments, goes, check) > 5
