# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The entries of the role rollout around a change, through ansible-playbook, on a small API server.

The change itself is a task of the test: what node_align does to a node is tried on nodes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.cordon_and_drain import CORDON_ANNOTATION
from ansible_collections.volcano.colocation.tests.support.clusters.drain_api_server import (
    ApiServer,
    node_object,
    observed,
    pod,
    serving,
)
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import Done, playbook, started_playbook

PLAYBOOK = ("--diff", "play.yml", "-i", "hosts.yml")
PROVISION = Path(__file__).resolve().parents[3] / "playbooks" / "provision.yml"
Task = dict[str, Any]


def named(tasks: list[Task], name: str) -> Task:
    return next(task for task in tasks if task["name"] == name)


def play(*change: Task) -> list[dict[str, Any]]:
    """The plays of provision, with ``change`` in place of align and verify."""
    _hosts, observe, rollout, *_further = yaml.safe_load(PROVISION.read_text(encoding="utf-8"))
    block = named(rollout["tasks"], "Change the node and restore its cordon")["block"]
    align, verify = named(block, "Align"), named(block, "Verify")
    block[block.index(align)] = {"name": "Align", "block": [*change, *ENDED], "when": align["when"]}
    block.remove(verify)
    first = {**observe, "tasks": [named(observe["tasks"], "Validate the batch sizes")], "become": False}
    looks = [
        named(observe["tasks"], name) for name in ("Preview draining the nodes", "Queue the nodes that have a plan")
    ]
    return [first, {**observe, "tasks": looks, "become": False}, {**rollout, "become": False}]


ENDED = ({"name": "End", "ansible.builtin.debug": {"msg": "it has ended"}},)


def run(
    directory: Path, server: ApiServer, *change: Task, playbook: Callable[..., Done] = playbook, **variables: Any
) -> tuple[int, str]:
    """Run with one host, which is drained. ``check``: in check mode; ``hosts``: other hosts by name."""
    (directory / "play.yml").write_text(json.dumps(play(*change)), encoding="utf-8")
    hosts = variables.pop("hosts", {"n1": {"node_observed": observed()}})
    inventory = {"all": {"hosts": hosts, "vars": {"ansible_connection": "local"}}}
    (directory / "hosts.yml").write_text(json.dumps(inventory), encoding="utf-8")
    check = ["--check"] if variables.pop("check", False) else []
    with serving(server, directory) as path:
        options = {
            "ansible_python_interpreter": sys.executable,
            "colocation_kubeconfig": str(path),
            "colocation_drain": True,
            **variables,
        }
        done = playbook(directory, *PLAYBOOK, *check, "-e", json.dumps(options))
    return done.status, done.output


def test_a_node_is_drained_changed_and_opened(tmp_path: Path) -> None:
    server = ApiServer([pod("a"), pod("d", "DaemonSet")])
    look_task = {"name": "Look", "ansible.builtin.assert": {"that": "rollout_drained.evicted == ['default/a']"}}
    status, output = run(tmp_path, server, look_task, playbook=started_playbook)
    assert status == 0, output
    assert "n1: drained of 1 pod(s), then changed" in output
    assert "-pod default/a" in output
    assert [request.rpartition("/")[2] for request in server.log] == ["n1", "eviction", "n1"]
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
    assert "n1: skipped, it cannot be drained: default/a: no controller would re-create it" in output
    assert "n1 is not drained; its cordon is unchanged" in output


def test_a_node_that_is_aligned_is_opened_if_a_killed_run_left_it_closed(tmp_path: Path) -> None:
    server = ApiServer([pod("a")], node=node_object({CORDON_ANNOTATION: "earlier"}, cordoned=True))
    aligned = {**observed(needs=()), "verdict": "aligned"}
    del aligned["observation"]
    status, output = run(tmp_path, server, node_observed=aligned)
    assert status == 0, output
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})
    assert "/eviction" not in "".join(server.log)


LEFT_CLOSED = {"name": "Change", "ansible.builtin.fail": {"msg": "No."}, "when": "not rollout_drained.cordoned"}


def test_a_node_that_is_to_be_changed_is_opened_until_its_turn(tmp_path: Path) -> None:
    """The rollout may stop before this."""
    server = ApiServer([pod("a")], node=node_object({CORDON_ANNOTATION: "earlier"}, cordoned=True))
    status, output = run(tmp_path, server, LEFT_CLOSED)
    assert status == 0, output
    assert [request.rpartition("/")[2] for request in server.log] == ["n1", "n1", "eviction", "n1"]
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})


def test_a_node_whose_change_was_cut_off_stays_closed_until_its_turn(tmp_path: Path) -> None:
    """It is also drained, although the required changes are not known yet."""
    server = ApiServer([pod("a")], node=node_object({CORDON_ANNOTATION: "earlier"}, cordoned=True))
    status, output = run(tmp_path, server, node_observed=observed(needs=(), cut_off=["t1"]))
    assert status == 0, output
    assert [request.rpartition("/")[2] for request in server.log] == ["eviction", "n1"]
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})


def test_a_node_that_was_not_ready_before_is_not_waited_for(tmp_path: Path) -> None:
    server = ApiServer([pod("a")], node=node_object(ready=False))
    status, output = run(tmp_path, server)
    assert status == 0, output
    assert "The Node n1 was not Ready before the rollout" in output
    assert server.node["spec"] == {}


def test_a_host_that_cannot_be_reached_holds_nobody_up(tmp_path: Path) -> None:
    hosts = {"n1": {"node_observed": observed()}, "n2": {"node_observed": {"unreachable": True, "msg": "timed out"}}}
    status, output = run(tmp_path, ApiServer([pod("a")]), hosts=hosts)
    assert status == 0, output
    assert "n1: drained of 1 pod(s), then changed" in output


CHANGED = {"transaction": {"state": "committed"}, "verdict": "aligned", "plan": {"changes": [1]}}
FAILED = {"failed": True, "msg": "It was rolled back.", "transaction": {"state": "rolled-back"}}
CHANGE = (
    {"name": "Change", "ansible.builtin.set_fact": {"node_aligned": "{{ becomes }}"}},
    {
        "name": "Fail",
        "ansible.builtin.fail": {"msg": "{{ becomes.msg }}"},
        "when": "becomes.failed | default(false)",
    },
)


def three(**becomes: dict[str, Any]) -> dict[str, Any]:
    observed = {"observation": "x"}
    return {name: {"becomes": becomes.get(name, CHANGED), "node_observed": observed} for name in ("n1", "n2", "n3")}


def rolled(directory: Path, **options: Any) -> tuple[int, str]:
    """Without a drain."""
    return run(directory, ApiServer(), *CHANGE, colocation_drain=False, **options)


def test_one_that_fails_stops_the_batches_after_its_own_and_one_table_tells_of_all(tmp_path: Path) -> None:
    hosts = three(n1=FAILED, n2={"failed": True, "msg": "No."})
    status, output = rolled(tmp_path, hosts=hosts, colocation_rollout_batches=[2, 1])
    assert status == 2, output
    assert output.count("3 nodes in the rollout: 1 failed, 1 rolled back, 1 not touched") == 1, output
    assert "n1  rolled back  It was rolled back." in output


def test_below_the_threshold_the_rollout_goes_on_and_its_summary_tells_who_failed(tmp_path: Path) -> None:
    status, output = rolled(
        tmp_path, hosts=three(n1=FAILED), colocation_rollout_batches=[2, 1], colocation_max_fail_percentage=50
    )
    assert status == 2, output
    assert output.rpartition("3 nodes in the rollout: ")[2].startswith("1 rolled back, 2 changed"), output


def test_contact_that_is_lost_counts_as_a_failure_without_a_drain_too(tmp_path: Path) -> None:
    nobody = {
        "ansible_connection": "ssh",
        "ansible_host": "127.0.0.1",
        "ansible_port": 1,
        "ansible_python_interpreter": "x",
    }
    reach = {"name": "Align", "ansible.builtin.command": "true", "register": "node_aligned"}
    hosts: dict[str, Any] = {name: {"node_observed": {"observation": "x"}} for name in ("n1", "n2", "n3")}
    hosts["n2"].update(nobody)
    status, output = run(
        tmp_path, ApiServer(), reach, hosts=hosts, colocation_drain=False, colocation_rollout_batches=[2, 1]
    )
    assert status == 2, output
    assert "n2  lost contact  its change ends by itself; run again" in output
    assert "1 not touched" in output
    assert "n2 could not be reached for its change, or contact was lost during it" in output


@pytest.mark.parametrize(
    "options",
    [
        {"colocation_rollout_batches": [1, 0]},
        {"colocation_rollout_batches": ["half"]},
        {"colocation_serial": -1},
        {"colocation_max_fail_percentage": "101"},
    ],
)
def test_what_ansible_would_take_for_all_nodes_at_once_is_refused_before_anything(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    status, output = rolled(tmp_path, hosts=three(), **options)
    assert status == 2, output
    assert "Nothing was changed. colocation_rollout_batches" in output
    assert "[Change" not in output


@pytest.mark.parametrize(
    "options", [{"colocation_rollout_batches": [1, "10%", "100%"]}, {"colocation_rollout_batches": "3"}]
)
def test_sizes_that_are_taken(tmp_path: Path, options: dict[str, Any]) -> None:
    status, output = rolled(tmp_path, hosts=three(), **options)
    assert status == 0, output
    assert "3 nodes in the rollout: 3 changed" in output
