# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook restore, by its name: with a kubeconfig the cluster is looked at before the first node is.

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
PLAYBOOK = ("volcano.colocation.restore", "--check", "-i", "localhost,", "-c", "local")
SECTIONS = ("kubelet", "runtime", "sysctl", "slices", "qos")
PUT_BACK = "TASK [volcano.colocation.node : Restore what the collection changed]"


def restore(directory: Path, playbook: Callable[..., Done] = playbook, **variables: Any) -> tuple[int, str]:
    options = {"ansible_python_interpreter": sys.executable, "ansible_become": False, **variables}
    done = playbook(directory, *PLAYBOOK, "-e", json.dumps(options))
    return done.status, done.output


def test_a_cluster_that_cannot_be_asked_stops_it_before_the_first_node(tmp_path: Path) -> None:
    status, output = restore(tmp_path, colocation_kubeconfig=str(tmp_path / "nowhere.conf"))
    assert status != 0
    assert "nowhere.conf is not a file. Nothing was changed." in output
    assert PUT_BACK not in output


@pytest.mark.parametrize(
    ("variables", "playbook"),
    [
        ({}, started_playbook),
        ({"colocation_kubeconfig": "/nowhere.conf", "colocation_restore_sections": ["qos"]}, playbook),
    ],
)
def test_where_no_cluster_is_concerned_none_is_looked_at(
    tmp_path: Path, variables: dict[str, Any], playbook: Callable[..., Done]
) -> None:
    status, output = restore(tmp_path, playbook, **variables)
    assert status == 0, output
    assert PUT_BACK in output
    sections = ", ".join(variables.get("colocation_restore_sections", SECTIONS))
    assert f"localhost: there is nothing to restore ({sections}): the records on the node have no change" in output


def test_the_look_is_at_all_nodes_at_once_and_changes_nothing() -> None:
    _hosts, look, *_further = read_yaml(
        "plays:\n" + (COLLECTION / "playbooks/restore.yml").read_text().partition("---\n")[2]
    )["plays"]
    assert "serial" not in look
    for task in look["tasks"]:
        name = task["ansible.builtin.import_role"]["tasks_from"]
        tasks = read_yaml("tasks:\n" + (COLLECTION / f"roles/node/tasks/{name}.yml").read_text().partition("---\n")[2])
        assert all(task["check_mode"] is True for task in tasks["tasks"]), name
