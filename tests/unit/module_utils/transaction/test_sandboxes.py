# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod that the runtime was making when kubelet ended is in no list, and its processes are there."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Callable

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.transaction.node import Node
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.plan import Sandboxes
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.sandboxes import (
    QUIET,
    SETTLE_TIMEOUT,
    remove_all,
)
from ansible_collections.volcano.colocation.tests.unit.module_utils.cri.server import Sandbox
from ansible_collections.volcano.colocation.tests.unit.module_utils.transaction.simulation import (
    ENDPOINT,
    FakeClock,
    Simulation,
)

TREES = ("kubepods", "kubepods.slice")


class Timetable(FakeClock):
    """Things happen when their time has come."""

    def __init__(self) -> None:
        super().__init__()
        self.due: dict[float, Callable[[], object]] = {}

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        for moment in [each for each in self.due if self.gone >= each]:
            self.due.pop(moment)()

    @property
    def gone(self) -> float:
        return self.now - 1000.0


@pytest.fixture(name="clock")
def _clock() -> Timetable:
    return Timetable()


@pytest.fixture(name="processes")
def _processes(simulation: Simulation) -> Path:
    """The processes of a pod that is being made, and no other pod."""
    simulation.runtime.sandboxes.clear()
    simulation.runtime.containers.clear()
    simulation.write("/sys/fs/cgroup/kubepods.slice/kubepods-podx.slice/cgroup.procs", "4711\n")
    return Path(simulation.host.path("/sys/fs/cgroup/kubepods.slice/kubepods-podx.slice/cgroup.procs"))


def removed(simulation: Simulation, clock: Timetable) -> int:
    return remove_all(Node(simulation.host, clock), Sandboxes("unix://" + ENDPOINT, stop=True, cgroups=TREES))


def test_it_is_waited_for_until_the_runtime_has_taken_it_back(
    simulation: Simulation, clock: Timetable, processes: Path
) -> None:
    clock.due[3.0] = processes.unlink
    assert removed(simulation, clock) == 0
    assert clock.gone == 3.0


def test_so_is_one_that_has_no_process_in_its_cgroup_yet(
    simulation: Simulation, clock: Timetable, processes: Path
) -> None:
    processes.unlink()
    simulation.write("/proc/4711/cmdline", "/usr/bin/containerd-shim-runc-v2\0-namespace\0k8s.io\0-id\0abc\0")
    clock.due[3.0] = Path(simulation.host.path("/proc/4711/cmdline")).unlink
    assert removed(simulation, clock) == 0
    assert clock.gone == 3.0


@pytest.mark.parametrize("words", ["containerd-shim-runc-v2\0-namespace\0moby\0", "vi\0k8s.io\0", ""])
def test_another_process_is_not_waited_for(
    simulation: Simulation, clock: Timetable, processes: Path, words: str
) -> None:
    processes.unlink()
    simulation.write("/proc/4711/cmdline", words and f"/usr/bin/{words}")
    assert removed(simulation, clock) == 0
    assert clock.gone == 0.0


def test_one_that_comes_to_be_after_all_is_removed(simulation: Simulation, clock: Timetable, processes: Path) -> None:
    clock.due[2.0] = lambda: simulation.runtime.sandboxes.append(Sandbox("s1", "web"))
    clock.due[4.0] = processes.unlink
    assert removed(simulation, clock) == 1
    assert simulation.pods() == []


def test_a_process_that_stays_is_not_waited_for_for_long(
    simulation: Simulation, clock: Timetable, processes: Path
) -> None:
    assert removed(simulation, clock) == 0
    assert clock.gone == QUIET
    assert processes.exists()


def test_nor_is_anything_without_end(simulation: Simulation, clock: Timetable, processes: Path) -> None:
    for second in range(100):
        clock.due[float(second)] = partial(processes.write_text, f"{4711 + second}\n")
    assert removed(simulation, clock) == 0
    assert clock.gone == SETTLE_TIMEOUT
