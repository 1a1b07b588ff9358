# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's switches for QoS levels: kept in a file on nodes that are given a feature with them, gone on others.

No kernel that the tests run on has them: the probe's answer is made up, and a program in the place of sysctl notes what
it is called with.
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


def step(name: str, given: list[str], *, check: bool = False, state: str = "present") -> Step:
    """With these features for the host's pool; all that are wanted are given to the other one."""
    pools = [{"hosts": ["n2"], "features": ["CPUQoS", "MemoryQoS"]}, {"hosts": ["n1"], "features": given}]
    return Step(name, "switches", {"agent_planned": {"pools": pools}, "colocation_agent_state": state}, check)


def run(folder: Path, *steps: Step | Look, switches: Sequence[str] = SWITCHES) -> Played:
    program = folder / PROGRAMS / "sysctl"
    program.parent.mkdir()
    (folder / ROOT).mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {folder / NOTES}\n', encoding="utf-8")
    program.chmod(0o755)
    return play(
        folder,
        *steps,
        probe={"sysctls": list(switches)},
        colocation_agent_features=["CPUQoS", "MemoryQoS"],
        agent_switches_root=str(folder / ROOT),
    )


def test_they_come_once_and_go_with_the_feature_or_the_agent(tmp_path: Path) -> None:
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
        step("anew", ["CPUQoS"]),
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
        "anew": [KEEP],
        "absent": [DROP],
        "absent again": [],
    }
    seen = {name: "there" in done.said(name).partition("msg")[2] for name in ("not yet", "there", "still", "gone")}
    assert seen == {"not yet": False, "there": True, "still": True, "gone": False}
    assert not file.exists()
    assert (tmp_path / NOTES).read_text(encoding="utf-8") == f"--load /{FILE.removeprefix(ROOT + '/')}\n" * 2


def test_what_is_kept_is_what_the_kernel_has(tmp_path: Path) -> None:
    file = tmp_path / FILE
    done = run(tmp_path, step("kept", ["CPUQoS"]))
    assert done.changed("kept") == [KEEP]
    assert file.read_text(encoding="utf-8") == TEXT
    assert file.stat().st_mode & 0o777 == 0o644


def test_a_kernel_without_them_gets_none(tmp_path: Path) -> None:
    done = run(tmp_path, step("none", ["CPUQoS"]), switches=())
    assert done.changed("none") == []
    assert not (tmp_path / FILE).exists()
    assert not (tmp_path / NOTES).exists()


def test_they_are_in_the_ledger_and_a_restore_puts_back_what_was_there(tmp_path: Path) -> None:
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
    told = action("node_restore", back, check=True)
    restored = action("node_restore", back)
    assert restored["changed"]
    assert told["changes"] == restored["changes"]
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
