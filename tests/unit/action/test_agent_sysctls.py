# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's sysctls for QoS levels: kept in a file on nodes with a feature that needs them, removed from others.

Kernels of the tests do not have them: the probe's result is fictitious, and a substitute for sysctl records its
arguments.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.in_process import action
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import contents, grow, without_state
from ansible_collections.volcano.colocation.tests.unit.action.agent_role import PROGRAMS, Look, Played, Step, play

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the file belongs to root")

KEEP = DROP = "Keep the kernel's sysctls for QoS levels as the features need them"
SWITCHES = ("vm.memcg_qos_enable", "kernel.sched_prio_load_balance_enabled")
ROOT = "image"
FILE = f"{ROOT}/etc/sysctl.d/90-volcano-colocation-agent.conf"
TEXT = """# Written by the role agent of volcano.colocation.
vm.memcg_qos_enable = 1
kernel.sched_prio_load_balance_enabled = 1
"""


NOTES = "sysctl.log"


def step(name: str, features: list[str], *, check: bool = False, state: str = "present") -> Step:
    """A step with these features for the host's pool; another pool has all features."""
    pools = [{"hosts": ["n2"], "features": ["CPUQoS", "MemoryQoS"]}, {"hosts": ["n1"], "features": features}]
    return Step(name, "switches", {"agent_planned": {"pools": pools}, "colocation_agent_state": state}, check)


def run(directory: Path, *steps: Step | Look, switches: Sequence[str] = SWITCHES) -> Played:
    program = directory / PROGRAMS / "sysctl"
    program.parent.mkdir()
    (directory / ROOT).mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {directory / NOTES}\n', encoding="utf-8")
    program.chmod(0o755)
    return play(
        directory,
        *steps,
        probe={"sysctls": list(switches)},
        colocation_agent_features=["CPUQoS", "MemoryQoS"],
        agent_switches_root=str(directory / ROOT),
    )


def test_sysctls_are_set_once_and_removed_with_the_feature_or_the_agent(tmp_path: Path) -> None:
    file = tmp_path / FILE
    done = run(
        tmp_path,
        step("left off", ["Eviction"]),
        step("shown", ["CPUQoS"], check=True),
        Look("not yet", file),
        step("kept", ["CPUQoS"]),
        Look("there", file),
        step("again", ["MemoryQoS"]),
        step("drop shown", ["Eviction"], check=True),
        Look("still", file),
        step("dropped", ["Eviction"]),
        Look("gone", file),
        step("dropped again", ["Eviction"]),
        step("added again", ["CPUQoS"]),
        step("absent", ["CPUQoS"], state="absent"),
        step("absent again", ["CPUQoS"], state="absent"),
    )
    assert {name: done.changed(name) for name in done.steps if name} == {
        "left off": [],
        "shown": [KEEP],
        "not yet": [],
        "kept": [KEEP],
        "there": [],
        "again": [],
        "drop shown": [DROP],
        "still": [],
        "dropped": [DROP],
        "gone": [],
        "dropped again": [],
        "added again": [KEEP],
        "absent": [DROP],
        "absent again": [],
    }
    present = {
        name: "there" in done.output_of(name).partition("msg")[2] for name in ("not yet", "there", "still", "gone")
    }
    assert present == {"not yet": False, "there": True, "still": True, "gone": False}
    assert not file.exists()
    assert (tmp_path / NOTES).read_text(encoding="utf-8") == f"--load /{FILE.removeprefix(ROOT + '/')}\n" * 2


def test_the_file_has_the_sysctls_of_the_kernel(tmp_path: Path) -> None:
    file = tmp_path / FILE
    done = run(tmp_path, step("kept", ["CPUQoS"]))
    assert done.changed("kept") == [KEEP]
    assert file.read_text(encoding="utf-8") == TEXT
    assert file.stat().st_mode & 0o777 == 0o644


def test_a_kernel_without_the_sysctls_gets_no_file(tmp_path: Path) -> None:
    done = run(tmp_path, step("none", ["CPUQoS"]), switches=())
    assert done.changed("none") == []
    assert not (tmp_path / FILE).exists()
    assert not (tmp_path / NOTES).exists()


def test_the_ledger_records_them_and_a_restore_restores_the_previous_file(tmp_path: Path) -> None:
    """The modules themselves, below a root."""
    file = grow(tmp_path / ROOT, {}) / "etc/sysctl.d/90-volcano-colocation-agent.conf"
    file.parent.mkdir()
    file.write_text("# of the site\n", encoding="utf-8")
    before = contents(tmp_path / ROOT)
    arguments = {"root": str(tmp_path / ROOT), "sysctls": list(SWITCHES)}
    checked = action("agent_sysctls", arguments, check=True)
    assert contents(tmp_path / ROOT) == before
    real = action("agent_sysctls", arguments)
    assert (real["changed"], real["diff"]) == (True, checked["diff"])
    assert file.read_text(encoding="utf-8") == TEXT
    assert action("agent_sysctls", arguments)["changed"] is False
    back = {"root": str(tmp_path / ROOT)}
    predicted = action("node_restore", back, check=True)
    restored = action("node_restore", back)
    assert restored["changed"]
    assert predicted["changes"] == restored["changes"]
    assert restored["changes"][0]["section"] == "sysctl"
    assert without_state(contents(tmp_path / ROOT)) == without_state(before)
    assert action("node_restore", back)["changed"] is False


def test_a_link_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    root = grow(tmp_path / ROOT, {})
    file = root / "etc/sysctl.d/90-volcano-colocation-agent.conf"
    file.parent.mkdir()
    file.symlink_to("/etc/site.conf")
    before = contents(root)
    for check in (True, False):
        refused = action("agent_sysctls", {"root": str(root), "sysctls": list(SWITCHES)}, check=check)
        assert refused["failed"]
        assert "90-volcano-colocation-agent.conf: " in refused["msg"]
    assert contents(root) == before


def test_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    root = grow(tmp_path / ROOT, {})
    refused = action("agent_sysctls", {"root": str(root), "sysctls": ["vm.x = 1\nkernel.panic"]})
    assert refused["failed"]
    assert "is not the name of a sysctl" in refused["msg"]
