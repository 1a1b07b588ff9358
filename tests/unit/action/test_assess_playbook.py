# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook assess on recorded snapshots without an inventory, and on hosts."""

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
class Outcome:
    status: int
    output: str
    directory: Path

    def report(self, name: str) -> Any:
        return json.loads((self.directory / "colocation-reports" / f"{name}.json").read_text(encoding="utf-8"))


def assess(directory: Path, *arguments: str, playbook: Callable[..., Done] = playbook, **variables: Any) -> Outcome:
    """Run the playbook in a directory, where its reports are written."""
    directory.mkdir(exist_ok=True)
    options = {"ansible_python_interpreter": sys.executable, **variables}
    done = playbook(directory, "volcano.colocation.assess", *arguments, "-e", json.dumps(options))
    assert "Traceback" not in done.output
    return Outcome(done.status, done.output, directory)


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("snapshots")
    for name in NAMES:
        (directory / f"{name}.snapshot.json").write_text(json.dumps(captured(name)), encoding="utf-8")
    return directory


@pytest.fixture(scope="module")
def replayed(snapshots: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return assess(
        tmp_path_factory.mktemp("replay"),
        colocation_snapshots=str(snapshots),
        colocation_detailed_hosts=len(NAMES),
        colocation_fail_severities=["error"],
        colocation_finding_severities=["warning", "error"],
    )


def test_a_directory_is_reported_without_an_inventory(replayed: Outcome) -> None:
    for name in NAMES:
        assert f"{name}: " in replayed.output
    assert replayed.output.count("FIRST FINDING") == 1
    assert f"{len(NAMES)} nodes: " in replayed.output


def test_filters_are_for_the_eye_and_reports_are_whole(replayed: Outcome) -> None:
    assert "[second-kubepods-tree]" not in replayed.output
    assert "second-kubepods-tree" in {finding["code"] for finding in replayed.report(DIFFERING)["findings"]}
    assert replayed.report(DIFFERING)["kubelet"] == golden("facts", DIFFERING)["kubelet"]


def test_it_fails_in_the_end_and_names_nodes_and_codes(replayed: Outcome) -> None:
    assert replayed.status == 2
    assert "2 node(s) have findings of error." in replayed.output
    assert f"{DIFFERING}: driver-mismatch" in replayed.output


def test_many_recorded_nodes_are_groups(snapshots: Path, tmp_path: Path) -> None:
    result = assess(tmp_path, colocation_snapshots=str(snapshots))
    assert result.status == 0, result.output
    assert f"--limit {DIFFERING}\n" in result.output
    assert f"{DIFFERING}: " not in result.output
    assert len(list((tmp_path / "colocation-reports").glob("*.json"))) == len(NAMES)


def test_without_severities_it_does_not_fail(snapshots: Path, tmp_path: Path) -> None:
    result = assess(tmp_path, "--check", colocation_snapshots=str(snapshots / f"{DIFFERING}.snapshot.json"))
    assert result.status == 0, result.output
    assert "MISALIGNED" in result.output
    assert "FIRST FINDING" not in result.output


CGROUPFS = "trixie-v2-cgroupfs-aligned"


def test_a_healthy_cgroupfs_node_is_aligned_without_a_profile(snapshots: Path, tmp_path: Path) -> None:
    result = assess(tmp_path, colocation_snapshots=str(snapshots / f"{CGROUPFS}.snapshot.json"))
    assert result.status == 0, result.output
    assert f"{CGROUPFS}: aligned" in result.output
    assert "  profile    none given" in result.output
    assert result.report(CGROUPFS) == golden("facts", CGROUPFS)


def test_a_profile_is_reported_with_set_values_and_defaults_of_the_role(snapshots: Path, tmp_path: Path) -> None:
    recorded = str(snapshots / f"{CGROUPFS}.snapshot.json")
    result = assess(tmp_path, colocation_snapshots=recorded, colocation_nri_enabled=True)
    assert f"{CGROUPFS}: MISALIGNED" in result.output
    assert "  profile    set: colocation_nri_enabled true\n" in result.output
    assert (
        "             defaults of the role: colocation_cgroup_driver systemd, colocation_cpu_manager_policy static\n"
        in result.output
    )
    assert result.report(CGROUPFS)["profile"]["specified"] is True


def test_verify_holds_nodes_against_the_defaults_that_provision_applies(tmp_path: Path) -> None:
    """This machine."""
    options = {"ansible_python_interpreter": sys.executable, "ansible_connection": "local", "ansible_become": False}
    playbook(tmp_path, "volcano.colocation.verify", "-i", "one,", "-e", json.dumps(options))
    profile = Outcome(0, "", tmp_path).report("one")["profile"]
    assert {option["option"]: (option["value"], option["source"]) for option in profile["options"]} == {
        "cgroup_driver": ("systemd", "role-default"),
        "cpu_manager_policy": ("static", "role-default"),
        "nri.enabled": (True, "role-default"),
    }


def test_a_broken_file_stops_nobody_else(snapshots: Path, tmp_path: Path) -> None:
    directory = tmp_path / "snapshots"
    directory.mkdir()
    (directory / "a.snapshot.json").write_text("{", encoding="utf-8")
    (directory / "b.snapshot.json").write_text((snapshots / f"{DIFFERING}.snapshot.json").read_text(), encoding="utf-8")
    result = assess(tmp_path / "run", colocation_snapshots=str(directory))
    assert result.status == 2
    assert "a: NOT READ." in result.output
    assert "a.snapshot.json: not a JSON document" in result.output
    assert "b: MISALIGNED" in result.output
    assert result.output.index("\na     ") < result.output.index("\nb     ")


def test_a_wrong_severity_is_refused(snapshots: Path, tmp_path: Path) -> None:
    result = assess(tmp_path, colocation_snapshots=str(snapshots), colocation_fail_severities=["fatal"])
    assert result.status == 2
    assert "error, warning, info" in result.output


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """End to end: two names for this machine, and one host that cannot be reached."""
    directory = tmp_path_factory.mktemp("hosts")
    local = {"ansible_connection": "local", "ansible_become": False}
    missing = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1, "ansible_become": False}
    inventory = {"all": {"hosts": {"one": local, "two": local, "gone": missing}}}
    (directory / "inventory.json").write_text(json.dumps(inventory), encoding="utf-8")
    return assess(directory, "-i", "inventory.json", playbook=started_playbook, colocation_snapshot_directory="kept")


def test_every_host_is_in_the_table_once(hosts: Outcome) -> None:
    assert hosts.output.count("FIRST FINDING") == 1
    table = hosts.output[hosts.output.index("NODE ") :].splitlines()[1:4]
    assert table[0].split()[0] == "gone"
    # This machine may change between the two looks: the host with the worse state comes first.
    assert sorted(line.split()[0] for line in table[1:]) == ["one", "two"]
    assert "not looked at" in table[0]
    assert hosts.output.count("Connection refused") <= 4


def test_saved_snapshots_are_replayed_unchanged(hosts: Outcome, tmp_path: Path) -> None:
    saved = hosts.directory / "kept"
    assert sorted(os.listdir(saved)) == ["one.snapshot.json", "two.snapshot.json"]
    result = assess(tmp_path, colocation_snapshots=str(saved))
    for name in ("one", "two"):
        assert result.report(name) == hosts.report(name)
