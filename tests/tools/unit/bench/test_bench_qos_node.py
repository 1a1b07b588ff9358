# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings on cgroups of a node: the program for the node, its cgroups and its counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.tests.bench import qos_node
from ansible_collections.volcano.colocation.tests.bench.qos_node import SeparateState
from ansible_collections.volcano.colocation.tests.bench.qos_node_cost import (
    REMOTE,
    node_qos_targets,
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
from ansible_collections.volcano.colocation.tests.bench.qos_settings import counted_in, make_pods
from ansible_collections.volcano.colocation.tests.bench.qos_work import one_round
directory, audit = Path(sys.argv[1]), Audit()
pods = make_pods(directory, 3)
results = [one_round(pods, 0, audit.count), one_round(pods, 1, counted_in(directory))]
audit.count(lambda: (directory / "a").write_text("") and (directory / "a").read_text())
results.append({"text": {"written": audit.written}})
audit.count(lambda: __import__("subprocess").run(["true", "word"], stdin=-3))
results.append({"commands": {"written": [audit.written, audit.commands]}})
print(json.dumps([{name: stage["written"] for name, stage in result.items()} for result in results]))
"""
MOUNTINFO = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"


def test_audit_events_count_the_same_writes_as_times(tmp_path: Path) -> None:
    """Runs in a separate process, because an audit hook cannot be removed."""
    argv = [sys.executable, "-c", BY_BOTH, str(tmp_path)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True)
    by_audit, by_times, text, commands = json.loads(done.stdout)
    assert by_audit == by_times == {"bare": 18, "read": 0, "raw": 18, "whole": 19, "again": 0}
    assert text == {"text": 1}
    assert commands == {"commands": [0, [["true", "word"]]]}


def test_pods_are_below_the_own_cgroup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mount = tmp_path / "sys/fs/cgroup"
    top = mount / "bench.slice" / "bench.service"
    top.mkdir(parents=True)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(MOUNTINFO)
    (mount / "cgroup.controllers").write_text("cpu memory pids\n")
    monkeypatch.setattr(qos_node, "MOUNT", str(mount))
    pods = qos_node.make_pods(Host(str(tmp_path)), top, 3)
    for cgroup in (top, top / "kubepods", top / "kubepods/besteffort"):
        assert (cgroup / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    bare(pods.files, SIDES[1])
    written_files = {name: stage["written"] for name, stage in one_round(pods, 0, counted_in(tmp_path)).items()}
    assert written_files == {"bare": 18, "read": 0, "raw": 18, "whole": 19, "again": 0}


def test_files_of_the_collection_go_to_a_separate_directory() -> None:
    host = SeparateState("/tmp/apart")
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
    unit_counts = [{"calls": calls, "again": again} for calls, again in units]
    return {"pods": 500, "settings": 6, "rounds": [qos_round(20.0, 10.0, 30.0)], "units": unit_counts}


def test_one_call_for_each_unit_and_none_in_the_second_run() -> None:
    targets = node_qos_targets(of_report(report((1, 0), (1, 0))))
    assert [target.reached for target in targets] == [True, True, True, True]
    assert targets[0].what == "raw writes of 500 pods × 6 settings on the node in bare loops"


def test_one_unit_with_too_many_is_enough() -> None:
    calls, again = node_qos_targets(of_report(report((1, 0), (6, 1))))[-2:]
    assert (calls.value, calls.reached, calls.counted) == ("1, 6", False, True)
    assert (again.value, again.reached, again.counted) == ("0, 1", False, True)
