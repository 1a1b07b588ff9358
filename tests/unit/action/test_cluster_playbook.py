# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook cluster, by its name: the scheduler is set up where that is asked for, once the agent is planned.

Only in check mode: a node is the machine that the tests run on. What an API server says is in tests/system.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import Done, playbook, started_playbook

COLLECTION = Path(__file__).parents[3]
PLAYBOOK = ("volcano.colocation.cluster", "--check", "-i", "localhost,", "-c", "local")
PLAN = "TASK [Plan the agent and refuse unsupported requests]"
SET_UP = "TASK [volcano.colocation.scheduler : Set up the scheduler, queues, classes and admission]"
AGENT = "TASK [volcano.colocation.agent : "
MISSING = "nowhere.conf is not a file. Nothing was changed."


def cluster(directory: Path, playbook: Callable[..., Done] = playbook, **variables: Any) -> tuple[int, str]:
    kubeconfig = str(directory / "nowhere.conf")
    options = {
        "ansible_python_interpreter": sys.executable,
        "ansible_become": False,
        "colocation_kubeconfig": kubeconfig,
    }
    done = playbook(directory, *PLAYBOOK, "-e", json.dumps({**options, **variables}))
    return done.status, done.output


@pytest.mark.parametrize(
    "variables",
    [{"colocation_scheduler": "no"}, {"colocation_scheduler": True, "colocation_agent_state": "absent"}],
)
def test_the_scheduler_is_left_alone_unless_it_is_asked_for(tmp_path: Path, variables: dict[str, Any]) -> None:
    status, output = cluster(tmp_path, **variables)
    assert status != 0
    assert MISSING in output
    assert f"{AGENT}Plan " in output
    assert SET_UP not in output


def test_what_is_refused_of_the_agent_stops_it_before_the_scheduler(tmp_path: Path) -> None:
    status, output = cluster(tmp_path, colocation_scheduler=True)
    assert status != 0
    assert MISSING in output.partition(PLAN)[2]
    assert SET_UP not in output


def test_an_agent_that_is_asked_for_in_two_ways_stops_it_before_the_scheduler(tmp_path: Path) -> None:
    archive: dict[str, Any] = {
        "colocation_agent_image_archive": "/nowhere.tar",
        "colocation_agent_values_file": "/nowhere.yaml",
    }
    status, output = cluster(tmp_path, colocation_scheduler=True, **archive)
    assert status != 0
    assert "Leave one of them empty." in output
    assert SET_UP not in output


def test_what_is_refused_of_the_scheduler_stops_it_before_the_agent(tmp_path: Path) -> None:
    """The agent's own plan is left out here: its memory QoS waits for a CRD that the manifest brings."""
    memory_qos = [{"name": "a", "namespace": "default", "selector": {}}]
    waiting = {"colocation_agent_memory_qos": memory_qos, "colocation_volcano_manifest": "/nowhere.yaml"}
    status, output = cluster(tmp_path, started_playbook, colocation_scheduler=True, **waiting)
    assert status != 0
    tasks_after = output.partition("TASK [volcano.colocation.scheduler : Install Volcano]")[2]
    assert "nowhere" in tasks_after
    assert f"{AGENT}Plan " not in output


def test_an_archive_that_does_not_exist_stops_it_before_volcano_is_installed(tmp_path: Path) -> None:
    memory_qos = [{"name": "a", "namespace": "default", "selector": {}}]
    archives = {"docker.io/volcanosh/vc-scheduler:v1.14.0": "/nowhere.tar"}
    status, output = cluster(
        tmp_path,
        started_playbook,
        colocation_scheduler=True,
        colocation_agent_memory_qos=memory_qos,
        colocation_volcano_manifest="/nowhere.yaml",
        colocation_volcano_image_archives=archives,
    )
    assert status != 0
    assert "colocation_volcano_image_archives: /nowhere.tar: No such file or directory" in output
    assert "TASK [volcano.colocation.scheduler : Install Volcano]" not in output


def test_the_plan_of_the_agent_changes_nothing_and_comes_before_the_scheduler() -> None:
    text = (COLLECTION / "playbooks/cluster.yml").read_text(encoding="utf-8")
    _hosts, play = read_yaml("plays:\n" + text.partition("---\n")[2])["plays"]
    scheduler, agent = play["tasks"]
    _look, _check, plan, images, set_up = scheduler["block"]
    assert (plan["check_mode"], plan["run_once"]) == (True, True)
    assert "volcano.colocation.agent_deploy" in plan
    assert images["ansible.builtin.include_role"]["tasks_from"] == "images"
    assert set_up["ansible.builtin.include_role"]["name"] == "volcano.colocation.scheduler"
    assert agent["ansible.builtin.import_role"]["name"] == "volcano.colocation.agent"
