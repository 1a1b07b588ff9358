# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's switches for QoS levels: kept in a file on nodes that are given a feature with them, gone on others.

No kernel that the tests run on has them: the probe's answer is made up, and a program in the place of sysctl notes what
it is called with.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.unit.action.agent_role import PROGRAMS, Played, play

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the file belongs to root")

KEEP, DROP = (
    "Keep the kernel's switches for QoS levels on",
    "Let the kernel's switches be what they are by default from the next boot on",
)
SWITCHES = ["vm.memcg_qos_enable", "kernel.sched_prio_load_balance_enabled"]
TEXT = """# Written by the role agent of volcano.colocation.
vm.memcg_qos_enable = 1
kernel.sched_prio_load_balance_enabled = 1
"""


class Machine:
    """A folder with the file and the program."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file, self.log = folder, folder / "90-agent.conf", folder / "sysctl.log"
        program = folder / PROGRAMS / "sysctl"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\necho "$@" >> {self.log}\n', encoding="utf-8")
        program.chmod(0o755)

    @property
    def loads(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def run(self, given: list[str], *, check: bool = False, state: str = "present", **probe: Any) -> Played:
        """With these features for the host's pool; all that are wanted are given to the other one."""
        pools = [{"hosts": ["n2"], "features": ["CPUQoS", "MemoryQoS"]}, {"hosts": ["n1"], "features": given}]
        done = play(
            self.folder,
            "switches",
            check=check,
            probe={"switches": SWITCHES, **probe},
            colocation_agent_state=state,
            colocation_agent_features=["CPUQoS", "MemoryQoS"],
            agent_planned={"pools": pools},
            agent_switches_file=str(self.file),
        )
        assert done.code == 0, done.output
        return done


@pytest.fixture(name="machine")
def _machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_they_come_once_and_go_with_the_feature(machine: Machine) -> None:
    assert (machine.run(["CPUQoS"], check=True).changed, machine.file.exists(), machine.loads) == ([KEEP], False, 0)
    assert machine.run(["CPUQoS"]).changed == [KEEP]
    assert machine.file.read_text(encoding="utf-8") == TEXT
    assert (machine.file.stat().st_mode & 0o777, machine.loads) == (0o644, 1)
    assert machine.log.read_text() == f"--load {machine.file}\n"
    assert (machine.run(["MemoryQoS"]).changed, machine.loads) == ([], 1)

    assert (machine.run(["Eviction"], check=True).changed, machine.file.exists()) == ([DROP], True)
    assert (machine.run(["Eviction"]).changed, machine.file.exists()) == ([DROP], False)
    assert (machine.run(["Eviction"]).changed, machine.loads) == ([], 1)


def test_the_way_back_takes_them_away(machine: Machine) -> None:
    machine.file.write_text(TEXT, encoding="utf-8")
    assert (machine.run(["CPUQoS"], state="absent", check=True).changed, machine.file.exists()) == ([DROP], True)
    assert (machine.run(["CPUQoS"], state="absent").changed, machine.file.exists()) == ([DROP], False)
    assert machine.run(["CPUQoS"], state="absent").changed == []


def test_a_kernel_without_them_gets_none(machine: Machine) -> None:
    assert (machine.run(["CPUQoS"], switches=[]).changed, machine.file.exists(), machine.loads) == ([], False, 0)
