# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings on cgroups of a node: what is sent there, what it makes, and how it counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.tests.bench import qos_node
from ansible_collections.volcano.colocation.tests.bench.qos_node import Apart
from ansible_collections.volcano.colocation.tests.bench.qos_node_cost import (
    REMOTE,
    node_qos_reaches,
    of_report,
    program,
)
from ansible_collections.volcano.colocation.tests.bench.qos_settings import counted_in
from ansible_collections.volcano.colocation.tests.bench.qos_work import SIDES, bare, one_round

from .runs import qos_round

BY_BOTH = """
import json, sys
from pathlib import Path
from ansible_collections.volcano.colocation.tests.bench.qos_node import Audit
from ansible_collections.volcano.colocation.tests.bench.qos_settings import counted_in, made
from ansible_collections.volcano.colocation.tests.bench.qos_work import one_round
folder, audit = Path(sys.argv[1]), Audit()
pods = made(folder, 3)
found = [one_round(pods, 0, audit.count), one_round(pods, 1, counted_in(folder))]
audit.count(lambda: (folder / "a").write_text("") and (folder / "a").read_text())
found.append({"text": {"written": audit.written}})
audit.count(lambda: __import__("subprocess").run(["true", "word"], stdin=-3))
found.append({"commands": {"written": [audit.written, audit.commands]}})
print(json.dumps([{name: each["written"] for name, each in one.items()} for one in found]))
"""
MOUNTINFO = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"


def test_audit_events_count_the_same_writes_as_times(tmp_path: Path) -> None:
    """In a process of its own: an audit hook cannot be taken off."""
    argv = [sys.executable, "-c", BY_BOTH, str(tmp_path)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True)
    by_audit, by_times, text, commands = json.loads(done.stdout)
    assert by_audit == by_times == {"bare": 18, "read": 0, "raw": 18, "whole": 19, "again": 0}
    assert text == {"text": 1}
    assert commands == {"commands": [0, [["true", "word"]]]}


def test_pods_are_below_the_cgroup_that_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mount = tmp_path / "sys/fs/cgroup"
    top = mount / "bench.slice" / "bench.service"
    top.mkdir(parents=True)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(MOUNTINFO)
    (mount / "cgroup.controllers").write_text("cpu memory pids\n")
    monkeypatch.setattr(qos_node, "MOUNT", str(mount))
    pods = qos_node.made(Host(str(tmp_path)), top, 3)
    for folder in (top, top / "kubepods", top / "kubepods/besteffort"):
        assert (folder / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    bare(pods.files, SIDES[1])
    found = {name: each["written"] for name, each in one_round(pods, 0, counted_in(tmp_path)).items()}
    assert found == {"bare": 18, "read": 0, "raw": 18, "whole": 19, "again": 0}


def test_what_the_collection_keeps_is_kept_apart() -> None:
    host = Apart("/tmp/apart")
    assert host.path("/var/lib/volcano-colocation/qos.json") == "/tmp/apart/var/lib/volcano-colocation/qos.json"
    assert host.path("/etc/systemd/system/volcano-colocation-qos.service").startswith("/tmp/apart/etc/")
    assert host.path("/sys/fs/cgroup/cpu.max") == "/sys/fs/cgroup/cpu.max"
    assert host.live


def test_the_program_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(program())
    module = "ansible_collections.volcano.colocation.tests.bench.qos_node"
    code = f"import sys; sys.path.insert(0, sys.argv[1])\nfrom {module} import main"
    subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code, str(path)], check=True, cwd="/")
    subprocess.run(["sh", "-n", "-c", REMOTE], check=True)


def report(*units: tuple[int, int]) -> dict[str, Any]:
    told = [{"calls": calls, "again": again} for calls, again in units]
    return {"pods": 500, "settings": 6, "rounds": [qos_round(20.0, 10.0, 30.0)], "units": told}


def test_one_call_for_each_unit_and_none_in_the_second_run() -> None:
    found = node_qos_reaches(of_report(report((1, 0), (1, 0))))
    assert [each.reached for each in found] == [True, True, True, True]
    assert found[0].what == "raw writes of 500 pods × 6 settings on the node in bare loops"


def test_one_unit_with_too_many_is_enough() -> None:
    calls, again = node_qos_reaches(of_report(report((1, 0), (6, 1))))[-2:]
    assert (calls.value, calls.reached, calls.counted) == ("1, 6", False, True)
    assert (again.value, again.reached, again.counted) == ("0, 1", False, True)
