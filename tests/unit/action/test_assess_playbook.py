# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook assess, by its name: over recorded nodes without an inventory, and over hosts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import DIFFERING, NAMES, captured, golden
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import Done, playbook, started_playbook


@dataclass(frozen=True)
class Answer:
    status: int
    output: str
    folder: Path

    def report(self, name: str) -> Any:
        return json.loads((self.folder / "colocation-reports" / f"{name}.json").read_text(encoding="utf-8"))


def assess(directory: Path, *arguments: str, playbook: Callable[..., Done] = playbook, **variables: Any) -> Answer:
    """Run the playbook in a directory, where its reports are written."""
    directory.mkdir(exist_ok=True)
    given = {"ansible_python_interpreter": sys.executable, **variables}
    done = playbook(directory, "volcano.colocation.assess", *arguments, "-e", json.dumps(given))
    assert "Traceback" not in done.output
    return Answer(done.status, done.output, directory)


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("snapshots")
    for name in NAMES:
        (directory / f"{name}.snapshot.json").write_text(json.dumps(captured(name)), encoding="utf-8")
    return directory


@pytest.fixture(scope="module")
def replayed(snapshots: Path, tmp_path_factory: pytest.TempPathFactory) -> Answer:
    return assess(
        tmp_path_factory.mktemp("replay"),
        colocation_snapshots=str(snapshots),
        colocation_fail_severities=["error"],
        colocation_finding_severities=["warning", "error"],
    )


def test_a_directory_is_reported_without_an_inventory(replayed: Answer) -> None:
    for name in NAMES:
        assert f"{name}: " in replayed.output
    assert replayed.output.count("FIRST FINDING") == 1
    assert f"{len(NAMES)} nodes: " in replayed.output


def test_filters_are_for_the_eye_and_reports_are_whole(replayed: Answer) -> None:
    assert "[second-kubepods-tree]" not in replayed.output
    assert "second-kubepods-tree" in {each["code"] for each in replayed.report(DIFFERING)["findings"]}
    assert replayed.report(DIFFERING)["kubelet"] == golden("facts", DIFFERING)["kubelet"]


def test_it_fails_in_the_end_and_names_nodes_and_codes(replayed: Answer) -> None:
    assert replayed.status == 2
    assert "2 node(s) have findings of error." in replayed.output
    assert f"{DIFFERING}: driver-mismatch" in replayed.output


def test_without_severities_it_does_not_fail(snapshots: Path, tmp_path: Path) -> None:
    answer = assess(tmp_path, "--check", colocation_snapshots=str(snapshots / f"{DIFFERING}.snapshot.json"))
    assert answer.status == 0, answer.output
    assert "MISALIGNED" in answer.output
    assert "FIRST FINDING" not in answer.output


CGROUPFS = "trixie-v2-cgroupfs-aligned"


def test_a_healthy_cgroupfs_node_is_aligned_without_a_profile(snapshots: Path, tmp_path: Path) -> None:
    answer = assess(tmp_path, colocation_snapshots=str(snapshots / f"{CGROUPFS}.snapshot.json"))
    assert answer.status == 0, answer.output
    assert f"{CGROUPFS}: aligned" in answer.output
    assert "  profile    none given" in answer.output
    assert answer.report(CGROUPFS) == golden("facts", CGROUPFS)


def test_a_profile_is_told_with_what_was_set_and_what_is_the_roles_default(snapshots: Path, tmp_path: Path) -> None:
    recorded = str(snapshots / f"{CGROUPFS}.snapshot.json")
    answer = assess(tmp_path, colocation_snapshots=recorded, colocation_nri_enabled=True)
    assert f"{CGROUPFS}: MISALIGNED" in answer.output
    assert "  profile    set: nri.enabled true\n" in answer.output
    assert "             defaults of the role: cgroup_driver systemd, cpu_manager_policy static\n" in answer.output
    assert answer.report(CGROUPFS)["profile"]["specified"] is True


def test_verify_holds_nodes_against_the_defaults_that_provision_applies(tmp_path: Path) -> None:
    """This machine, whatever it is."""
    given = {"ansible_python_interpreter": sys.executable, "ansible_connection": "local", "ansible_become": False}
    playbook(tmp_path, "volcano.colocation.verify", "-i", "one,", "-e", json.dumps(given))
    profile = Answer(0, "", tmp_path).report("one")["profile"]
    assert {each["option"]: (each["value"], each["source"]) for each in profile["options"]} == {
        "cgroup_driver": ("systemd", "role-default"),
        "cpu_manager_policy": ("static", "role-default"),
        "nri.enabled": (True, "role-default"),
    }


def test_a_broken_file_stops_nobody_else(snapshots: Path, tmp_path: Path) -> None:
    directory = tmp_path / "snapshots"
    directory.mkdir()
    (directory / "a.snapshot.json").write_text("{", encoding="utf-8")
    (directory / "b.snapshot.json").write_text((snapshots / f"{DIFFERING}.snapshot.json").read_text(), encoding="utf-8")
    answer = assess(tmp_path / "run", colocation_snapshots=str(directory))
    assert answer.status == 2
    assert "a: NOT READ." in answer.output
    assert "a.snapshot.json: not a JSON document" in answer.output
    assert "b: MISALIGNED" in answer.output
    assert answer.output.index("\na     ") < answer.output.index("\nb     ")


def test_a_wrong_severity_is_refused(snapshots: Path, tmp_path: Path) -> None:
    answer = assess(tmp_path, colocation_snapshots=str(snapshots), colocation_fail_severities=["fatal"])
    assert answer.status == 2
    assert "error, warning, info" in answer.output


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    """Two names for this machine, whatever it is, and one that cannot be reached. From end to end."""
    directory = tmp_path_factory.mktemp("hosts")
    local = {"ansible_connection": "local", "ansible_become": False}
    gone = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1, "ansible_become": False}
    inventory = {"all": {"hosts": {"one": local, "two": local, "gone": gone}}}
    (directory / "inventory.json").write_text(json.dumps(inventory), encoding="utf-8")
    return assess(directory, "-i", "inventory.json", playbook=started_playbook, colocation_snapshot_directory="kept")


def test_every_host_is_in_the_table_once(hosts: Answer) -> None:
    assert hosts.output.count("FIRST FINDING") == 1
    table = hosts.output[hosts.output.index("NODE ") :].splitlines()[1:4]
    assert [line.split()[0] for line in table] == ["gone", "one", "two"]
    assert "not looked at" in table[0]
    assert hosts.output.count("Connection refused") <= 4


def test_what_was_kept_is_replayed_as_it_was(hosts: Answer, tmp_path: Path) -> None:
    kept = hosts.folder / "kept"
    assert sorted(os.listdir(kept)) == ["one.snapshot.json", "two.snapshot.json"]
    answer = assess(tmp_path, colocation_snapshots=str(kept))
    for name in ("one", "two"):
        assert answer.report(name) == hosts.report(name)
