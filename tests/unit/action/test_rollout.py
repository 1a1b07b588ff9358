# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The entries of the role rollout around a change, through ansible-playbook, on a small API server.

The change itself is a task of the test: what node_align does to a node is tried on nodes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.rollout.cordon import OURS
from ansible_collections.volcano.colocation.tests.unit.action.ansible_run import environment
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rollout.cluster import (
    ApiServer,
    node_object,
    observed,
    pod,
    serving,
)

PLAYBOOK = (sys.executable, "-m", "ansible", "playbook", "--diff", "play.yml", "-i", "hosts.yml")
ROLE = "volcano.colocation.rollout"


def entry(name: str) -> dict[str, Any]:
    return {"name": name, "ansible.builtin.include_role": {"name": ROLE, "tasks_from": name}}


def play(*change: dict[str, Any]) -> list[dict[str, Any]]:
    """As provision has it."""
    return [
        {"hosts": "all", "gather_facts": False, "tasks": [entry("preflight")]},
        {
            "hosts": "all",
            "gather_facts": False,
            "serial": 1,
            "vars": {"colocation_drain": True},
            "tasks": [
                {"block": [entry("drain"), *change, entry("release")], "rescue": [entry("failed")]},
                entry("summary"),
            ],
        },
    ]


def run(folder: Path, server: ApiServer, *change: dict[str, Any], **variables: Any) -> tuple[int, str]:
    (folder / "ansible.cfg").touch()
    (folder / "play.yml").write_text(json.dumps(play(*change)), encoding="utf-8")
    hosts = {"n1": {"node_observed": observed()}}
    inventory = {"all": {"hosts": hosts, "vars": {"ansible_connection": "local", **variables.pop("inventory", {})}}}
    (folder / "hosts.yml").write_text(json.dumps(inventory), encoding="utf-8")
    check = ["--check"] if variables.pop("check", False) else []
    with serving(server, folder) as path:
        given = {"ansible_python_interpreter": sys.executable, "colocation_kubeconfig": str(path), **variables}
        done = subprocess.run(
            [*PLAYBOOK, *check, "-e", json.dumps(given)],
            cwd=folder,
            env=environment(folder),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    return done.returncode, done.stdout + done.stderr


def test_a_node_is_drained_changed_and_opened(tmp_path: Path) -> None:
    server = ApiServer([pod("a"), pod("d", "DaemonSet")])
    seen = {"name": "Look", "ansible.builtin.assert": {"that": "rollout_drained.evicted == ['default/a']"}}
    status, output = run(tmp_path, server, seen)
    assert status == 0, output
    assert "n1: drained of 1 pod(s), then changed" in output
    assert "-pod default/a" in output
    assert [each.rpartition("/")[2] for each in server.log] == ["n1", "eviction", "n1"]
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})
    assert " changed=2 " in output


def test_check_mode_tells_the_same_and_does_nothing(tmp_path: Path) -> None:
    server = ApiServer([pod("a"), pod("d", "DaemonSet")])
    status, output = run(tmp_path, server, check=True)
    assert status == 0, output
    assert server.log == []
    assert "n1: drained of 1 pod(s), then changed" in output
    assert "-pod default/a" in output
    assert " changed=2 " in output


def test_a_change_that_fails_leaves_the_cordon_as_it_was_and_stops(tmp_path: Path) -> None:
    server = ApiServer([pod("a")])
    status, output = run(tmp_path, server, {"name": "Change", "ansible.builtin.fail": {"msg": "It did not start."}})
    assert status == 2, output
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})
    assert "Stop the rollout" in output
    assert '"msg": "It did not start.' in output


def test_a_node_that_others_cordoned_stays_so_when_its_change_fails(tmp_path: Path) -> None:
    server = ApiServer([pod("a")], node=node_object(cordoned=True))
    status, _output = run(tmp_path, server, {"name": "Change", "ansible.builtin.fail": {"msg": "No."}})
    assert status == 2
    assert server.node["spec"] == {"unschedulable": True}
    assert server.log == ["POST /api/v1/namespaces/default/pods/a/eviction"]


def test_a_node_that_cannot_be_drained_is_named_and_nothing_is_done(tmp_path: Path) -> None:
    server = ApiServer([pod("a", "")])
    change = {"name": "Change", "ansible.builtin.fail": {"msg": "No."}, "when": "rollout_drained.drained"}
    status, output = run(tmp_path, server, change)
    assert status == 0, output
    assert server.log == []
    assert "n1: left out, it cannot be drained: default/a: no controller would bring it back" in output
    assert "n1 is not drained, and its cordon as it was" in output


def test_a_node_that_is_aligned_is_opened_if_a_killed_run_left_it_closed(tmp_path: Path) -> None:
    server = ApiServer([pod("a")], node=node_object({OURS: "earlier"}, cordoned=True))
    aligned = {**observed(needs=()), "verdict": "aligned"}
    del aligned["observation"]
    status, output = run(tmp_path, server, node_observed=aligned)
    assert status == 0, output
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})
    assert "/eviction" not in "".join(server.log)


LEFT_CLOSED = {"name": "Change", "ansible.builtin.fail": {"msg": "No."}, "when": "not rollout_drained.cordoned"}


def test_a_node_that_is_to_be_changed_is_opened_until_its_turn(tmp_path: Path) -> None:
    """The rollout may stop before."""
    server = ApiServer([pod("a")], node=node_object({OURS: "earlier"}, cordoned=True))
    status, output = run(tmp_path, server, LEFT_CLOSED)
    assert status == 0, output
    assert [each.rpartition("/")[2] for each in server.log] == ["n1", "n1", "eviction", "n1"]
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})


def test_a_node_whose_change_was_cut_off_stays_closed_until_its_turn(tmp_path: Path) -> None:
    """And is drained, although nobody knows yet what it needs."""
    server = ApiServer([pod("a")], node=node_object({OURS: "earlier"}, cordoned=True))
    status, output = run(tmp_path, server, node_observed=observed(needs=(), cut_off=["t1"]))
    assert status == 0, output
    assert [each.rpartition("/")[2] for each in server.log] == ["eviction", "n1"]
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})
