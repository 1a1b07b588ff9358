# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cgroup_qos and its restore are killed at every call that changes something, and again in every restore after that.

In every case the record still has the original values: a restore resets every file and property to them.
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
from ansible_collections.volcano.colocation.tests.support.node.interrupted_nodes import InterruptedNodes, no_disk
from ansible_collections.volcano.colocation.tests.support.node.kills import Moment, Services, Watched
from ansible_collections.volcano.colocation.tests.support.node.simulation import FakeClock
from ansible_collections.volcano.colocation.tests.support.node.unit_manager import UNSET, SystemdTree, UnitManager

pytestmark = pytest.mark.exhaustive

UNIT_DIRECTORY = "/etc/systemd/system/"
CLASS, SLICE = CGROUPS["systemd"]["besteffort"], "system.slice"
SET = {"cpu_quota": "1.5", "cpu_burst": 20000, "pids_max": 500}
CHANGED = {"cpu_quota": 2, "cpu_burst": None, "pids_max": 400}


class KilledTree(Tree, Watched):
    """A node without systemd."""

    whole = (ROOT,)

    def __init__(self, directory: Path, mode: str, driver: str) -> None:
        super().__init__(directory, mode, driver)
        self.root = directory

    def take(self, services: Services) -> None:
        assert not services


class Manager(UnitManager):
    """A manager whose calls count as changes of a program, and are reported after they are done."""

    def set(self, unit: str, properties: Sequence[Property]) -> None:
        super().set(unit, properties)
        self._tree.changed()  # type: ignore[attr-defined]


class KilledSystemdTree(KilledTree, SystemdTree):
    own = (f"{ROOT}/", UNIT_DIRECTORY)

    def __init__(self, directory: Path) -> None:
        SystemdTree.__init__(self, directory)
        self.root = directory
        self.systemd = Manager(self)

    def services(self) -> Services:
        return Services(held=copy.deepcopy(self.systemd._held))

    def take(self, services: Services) -> None:
        self.systemd._held = copy.deepcopy(services["held"])

    def node(self) -> Any:
        return SystemdTree.node(self)

    def _respond(self, argv: tuple[str, ...]) -> tuple[int, str, str]:
        result = super()._respond(argv)
        self.changed()
        return result


KINDS: dict[str, Callable[[Path], KilledTree]] = {
    "systemd": KilledSystemdTree,
    "v1": partial(KilledTree, mode="v1", driver="systemd"),
    "v2": partial(KilledTree, mode="v2", driver="systemd"),
}


class QosBench(InterruptedNodes[KilledTree]):
    def __init__(self, kind: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(root, monkeypatch)
        self._kind = KINDS[kind]

    def untouched(self) -> KilledTree:
        return self._kind(self.new_directory())

    def node(self, moment: Moment) -> KilledTree:
        node = self.untouched()
        shutil.rmtree(str(node.directory))
        node.directory.mkdir()
        unpack(moment.tree, node.directory)
        node.take(moment.services)
        return node

    def after(self, *operations: Callable[[KilledTree], None]) -> KilledTree:
        node = self.untouched()
        for operation in operations:
            operation(node)
        return node


@pytest.fixture(params=list(KINDS))
def bench(request: pytest.FixtureRequest, memory: Path, monkeypatch: pytest.MonkeyPatch) -> QosBench:
    # The complete engine has a hundred files, and its installation has separate tests.
    code = {"__main__.py": b"import sys\n", "volcano_colocation/__init__.py": b""}
    monkeypatch.setattr(installed_engine, "sources", lambda: code)
    monkeypatch.setattr(recorded_settings, "ROOT", ROOT)
    return QosBench(request.param, memory, monkeypatch)


def apply_request(tree: KilledTree, **options: Any) -> None:
    workflow.execute(tree.node(), tree.plan(**options), FakeClock())


def set_values(tree: KilledTree) -> None:
    apply_request(tree, qos_class="besteffort", settings=SET)


def change_values(tree: KilledTree) -> None:
    """One value changes, one is restored, one stays; another cgroup gets a value."""
    apply_request(tree, qos_class="besteffort", settings=CHANGED)
    apply_request(tree, slice=SLICE, settings={"cpu_weight": 300})


def remove_values(tree: KilledTree) -> None:
    apply_request(tree, qos_class="besteffort", state="absent")


def restore_values(tree: KilledTree) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recorded_settings, "node_of", lambda _host, _root: tree.node())
        recorded_settings.restore_settings(tree.host, FakeClock())


OPERATIONS = {
    "set": ((), set_values),
    "change": ((set_values,), change_values),
    "remove": ((set_values, change_values), remove_values),
    "restore": ((set_values, change_values), restore_values),
}


def values(tree: KilledTree) -> dict[str, str]:
    """The texts of the kernel's files."""
    return {path: text for path, text in tree.texts().items() if path.startswith(ROOT.lstrip("/"))}


def changed_properties(tree: KilledTree) -> list[tuple[str, str]]:
    """Properties that systemd has now and did not have originally."""
    units = tree.services().get("held", {})
    return [
        (unit, name) for unit, properties in units.items() for name, value in properties.items() if value != UNSET[name]
    ]


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_original_state_can_be_restored_after_any_kill(bench: QosBench, name: str) -> None:
    before = values(bench.untouched())

    def check(moment: Moment, node: KilledTree) -> None:
        assert values(node) == before, moment.call
        assert changed_properties(node) == [], moment.call
        assert record.load(node.host) == {}, moment.call
        assert not reapply_unit.is_present(node.host), moment.call

    previous, operation = OPERATIONS[name]
    moments = bench.moments(bench.after(*previous), operation, no_disk)
    assert bench.recover_all(moments, restore_values, check) > 4


@pytest.mark.parametrize("name", ["set", "change", "remove"])
def test_a_repeated_run_has_the_same_result_after_any_kill(bench: QosBench, name: str) -> None:
    previous, operation = OPERATIONS[name]
    expected = bench.after(*previous, operation)

    def check(moment: Moment, node: KilledTree) -> None:
        assert values(node) == values(expected), moment.call
        assert changed_properties(node) == changed_properties(expected), moment.call
        assert record.load(node.host) == record.load(expected.host), moment.call
        assert reapply_unit.is_present(node.host) == reapply_unit.is_present(expected.host), moment.call

    for moment in bench.moments(bench.after(*previous), operation, no_disk):
        node = bench.node(moment)
        operation(node)
        check(moment, node)
        shutil.rmtree(str(node.directory))


def test_the_unit_is_removed_completely_after_any_kill(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Including its engine and the directory of engines."""
    code = {"__main__.py": b"import sys\n"}
    monkeypatch.setattr(installed_engine, "sources", lambda: code)
    bench = QosBench("systemd", memory, monkeypatch)

    def remove(tree: KilledTree) -> None:
        if reapply_unit.is_present(tree.host):
            reapply_unit.remove_unit(tree.host)

    def check(moment: Moment, node: KilledTree) -> None:
        host: Host = node.host
        assert not reapply_unit.is_present(host), moment.call
        assert [name for name in host.list(installed_engine.ENGINE_DIRECTORY) if not name.startswith("qos")] == [], (
            moment.call
        )

    moments = bench.moments(bench.after(lambda tree: reapply_unit.install_unit(tree.host)), remove, no_disk)
    assert bench.recover_all(moments, remove, check) > 5
