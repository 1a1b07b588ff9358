# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrong values of variables: one short message for all hosts, before the first is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import Done, playbook

LONGEST_LINE = 600


def run(directory: Path, name: str, hosts: dict[str, dict[str, Any]], *arguments: str) -> Done:
    """The playbook on hosts that cannot be reached."""
    silent = {"ansible_host": "127.0.0.1", "ansible_port": 1, "ansible_become": False}
    inventory = {"all": {"hosts": {host: {**silent, **variables} for host, variables in hosts.items()}}}
    (directory / "inventory.json").write_text(json.dumps(inventory), encoding="utf-8")
    return playbook(directory, name, "-i", "inventory.json", *arguments)


@pytest.mark.parametrize("name", ["assess", "provision", "verify", "restore"])
def test_a_wrong_value_is_one_short_line_for_all_hosts(tmp_path: Path, name: str) -> None:
    hosts: dict[str, dict[str, Any]] = {f"n{number}": {} for number in range(1, 6)}
    wrong = '{"colocation_cgroup_driver": "sytemd"}'
    done = run(tmp_path, f"volcano.colocation.{name}", hosts, "-e", wrong)
    assert done.status != 0
    says = "colocation_cgroup_driver: 'sytemd' is not one of systemd, cgroupfs, empty; did you mean systemd?"
    assert done.output.count("fatal: ") == 1
    assert says in done.output
    assert max(map(len, done.output.splitlines())) < LONGEST_LINE
    assert "UNREACHABLE" not in done.output


@pytest.mark.parametrize(
    ("name", "variable", "value", "says"),
    [
        ("qos", "colocation_qos", {"be": {"cpu_quota": "150%"}}, "colocation_qos.be.cpu_quota: 150% is not"),
        (
            "cluster",
            "colocation_agent_state",
            "presnt",
            "'presnt' is not one of present, absent; did you",
        ),
        ("provision", "colocation_rollout_batches", {}, "colocation_rollout_batches: {} is not a list"),
    ],
)
def test_every_playbook_checks_the_variables_of_its_roles(
    tmp_path: Path, name: str, variable: str, value: object, says: str
) -> None:
    done = run(tmp_path, f"volcano.colocation.{name}", {"n1": {variable: value}})
    assert done.status != 0
    assert says in done.output


def test_hosts_with_a_problem_are_named(tmp_path: Path) -> None:
    hosts = {"n1": {"colocation_finding_codes": ["driver-mismtch"]}, "n2": {}}
    done = run(tmp_path, "volcano.colocation.assess", hosts)
    assert done.status != 0
    assert "n1: colocation_finding_codes: no finding has the code driver-mismtch; did you mean driver-" in done.output


def test_values_are_templated_with_all_hosts_and_unknown_ones_are_left_to_later_tasks(tmp_path: Path) -> None:
    hosts = {
        "n1": {"colocation_cgroup_driver": "{{ hostvars['n2'].driver }}", "colocation_drain": "{{ not_yet }}"},
        "n2": {"driver": "sytemd"},
    }
    done = run(tmp_path, "volcano.colocation.assess", hosts)
    assert "n1: colocation_cgroup_driver: 'sytemd' is not one of" in done.output
    assert "not_yet" not in done.output


def test_variables_that_import_playbook_passes_are_checked(tmp_path: Path) -> None:
    entry = {"import_playbook": "volcano.colocation.assess", "vars": {"colocation_cgroup_driver": "sytemd"}}
    (tmp_path / "site.yml").write_text(json.dumps([entry]), encoding="utf-8")
    done = run(tmp_path, "site.yml", {"n1": {"colocation_cgroup_driver": "systemd"}})
    assert done.status != 0
    assert "colocation_cgroup_driver: 'sytemd' is not one of" in done.output
    assert "UNREACHABLE" not in done.output


def test_snapshots_passed_by_import_playbook_are_refused_with_the_command(tmp_path: Path) -> None:
    entry = {"import_playbook": "volcano.colocation.assess", "vars": {"colocation_snapshots": "kept"}}
    (tmp_path / "site.yml").write_text(json.dumps([entry]), encoding="utf-8")
    done = run(tmp_path, "site.yml", {"n1": {}})
    assert done.status != 0
    assert "ansible-playbook volcano.colocation.assess -e colocation_snapshots=kept" in done.output
