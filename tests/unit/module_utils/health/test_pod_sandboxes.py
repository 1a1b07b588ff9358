# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod that was starting when kubelet stopped is in no list, but its processes exist."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Callable

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cri.node_access import Node
from ansible_collections.volcano.colocation.plugins.module_utils.health.pod_sandboxes import (
    CALL_TIMEOUT,
    PAUSE,
    QUIET,
    REMOVE_TIMEOUT,
    STARTING_TIMEOUT,
    SandboxesRemain,
    remove_all_sandboxes,
)
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import Sandboxes
from ansible_collections.volcano.colocation.tests.support.node.cri_server import Runtime, Sandbox, failed, ok
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CONTAINERD,
    ENDPOINT,
    FakeClock,
    Simulation,
)

TREES = ("kubepods", "kubepods.slice")


class Timetable(FakeClock):
    """A clock that runs scheduled functions when their time is reached."""

    def __init__(self) -> None:
        super().__init__()
        self.due: dict[float, Callable[[], object]] = {}

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        for moment in [due for due in self.due if self.elapsed >= due]:
            self.due.pop(moment)()

    @property
    def elapsed(self) -> float:
        return self.now - 1000.0


@pytest.fixture(name="clock")
def _clock() -> Timetable:
    return Timetable()


@pytest.fixture(name="processes")
def _processes(simulation: Simulation) -> Path:
    """The processes of a starting pod, and no other pod."""
    simulation.runtime.sandboxes.clear()
    simulation.runtime.containers.clear()
    simulation.write("/sys/fs/cgroup/kubepods.slice/kubepods-podx.slice/cgroup.procs", "4711\n")
    return Path(simulation.host.path("/sys/fs/cgroup/kubepods.slice/kubepods-podx.slice/cgroup.procs"))


def removed(simulation: Simulation, clock: Timetable) -> int:
    return remove_all_sandboxes(Node(simulation.host, clock), Sandboxes("unix://" + ENDPOINT, stop=True, cgroups=TREES))


def test_a_starting_pod_is_waited_for_until_the_runtime_removed_it(
    simulation: Simulation, clock: Timetable, processes: Path
) -> None:
    clock.due[3.0] = processes.unlink
    assert removed(simulation, clock) == 0
    assert clock.elapsed == 3.0


def test_a_starting_pod_without_a_process_in_its_cgroup_is_waited_for(
    simulation: Simulation, clock: Timetable, processes: Path
) -> None:
    processes.unlink()
    simulation.write("/proc/4711/cmdline", "/usr/bin/containerd-shim-runc-v2\0-namespace\0k8s.io\0-id\0abc\0")
    clock.due[3.0] = Path(simulation.host.path("/proc/4711/cmdline")).unlink
    assert removed(simulation, clock) == 0
    assert clock.elapsed == 3.0


@pytest.mark.parametrize("words", ["containerd-shim-runc-v2\0-namespace\0moby\0", "vi\0k8s.io\0", ""])
def test_another_process_is_not_waited_for(
    simulation: Simulation, clock: Timetable, processes: Path, words: str
) -> None:
    processes.unlink()
    simulation.write("/proc/4711/cmdline", words and f"/usr/bin/{words}")
    assert removed(simulation, clock) == 0
    assert clock.elapsed == 0.0


def test_a_starting_pod_that_becomes_ready_is_removed(
    simulation: Simulation, clock: Timetable, processes: Path
) -> None:
    clock.due[2.0] = lambda: simulation.runtime.sandboxes.append(Sandbox("s1", "web"))
    clock.due[4.0] = processes.unlink
    assert removed(simulation, clock) == 1
    assert simulation.pods() == []


def test_an_orphaned_process_is_not_waited_for_long(simulation: Simulation, clock: Timetable, processes: Path) -> None:
    assert removed(simulation, clock) == 0
    assert clock.elapsed == QUIET
    assert processes.exists()


def test_changing_processes_are_not_waited_for_forever(
    simulation: Simulation, clock: Timetable, processes: Path
) -> None:
    for second in range(100):
        clock.due[float(second)] = partial(processes.write_text, f"{4711 + second}\n")
    assert removed(simulation, clock) == 0
    assert clock.elapsed == STARTING_TIMEOUT


class Renewed(Runtime):
    """Creates another sandbox of the same name after each removal; stops at 5000 calls so that the test ends."""

    def _remove(self, stream: int, message: bytes) -> list[bytes]:
        super()._remove(stream, message)
        if len(self.calls) < 5000:
            self.sandboxes.append(Sandbox(f"s{len(self.calls)}", "web"))
        return ok(stream, b"")


class Slow(Runtime):
    """Needs the whole timeout for each StopPodSandbox, and succeeds for ``ends`` of them."""

    clock = Timetable()
    ends = 0

    def _stop(self, stream: int, message: bytes) -> list[bytes]:
        self.clock.sleep(CALL_TIMEOUT)
        if self.calls.count("StopPodSandbox") > self.ends:
            return failed(stream, 2, "device busy")
        return ok(stream, b"")


def serve(simulation: Simulation, runtime: Runtime) -> None:
    assert simulation.server is not None
    simulation._stop_processes(CONTAINERD)
    simulation.runtime = runtime
    simulation.listen()


def test_recreated_sandboxes_are_given_up(simulation: Simulation, clock: Timetable) -> None:
    serve(simulation, Renewed(sandboxes=[Sandbox("s0", "web")]))
    with pytest.raises(
        SandboxesRemain, match=r"1 pod sandboxes could not be removed within 300 s\. They are created again: "
    ):
        removed(simulation, clock)
    assert clock.elapsed == REMOVE_TIMEOUT
    assert simulation.runtime.calls.count("ListPodSandbox") == REMOVE_TIMEOUT / PAUSE + 1


@pytest.mark.parametrize(
    ("ends", "remaining", "reason"), [(0, 20, "default/p3: .*device busy"), (9, 16, "is too slow")]
)
def test_a_runtime_that_hangs_is_not_waited_for_at_each_sandbox(
    simulation: Simulation, clock: Timetable, ends: int, remaining: int, reason: str
) -> None:
    runtime = Slow(sandboxes=[Sandbox(f"s{number}", f"p{number}") for number in range(20)])
    runtime.clock, runtime.ends = clock, ends
    serve(simulation, runtime)
    with pytest.raises(SandboxesRemain, match=f"{remaining} pod sandboxes could not be removed within 300 s.*{reason}"):
        removed(simulation, clock)
    assert clock.elapsed == 4 * CALL_TIMEOUT
