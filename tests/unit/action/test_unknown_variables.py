# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A misspelled variable ends every playbook before it reaches a node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.action_base import UnknownVariable, require_known
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.variable_names import VARIABLES
from ansible_collections.volcano.colocation.tests.run import variables
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import Done, playbook

COLLECTION = Path(__file__).parents[3]
PLAYBOOKS = sorted(path.stem for path in (COLLECTION / "playbooks").glob("*.yml"))
SILENT = "n1 ansible_host=127.0.0.1 ansible_port=1 ansible_become=false\n"
"""A host that cannot be reached, so a run that tries to connect reports it."""


def run(directory: Path, name: str, **options: object) -> Done:
    (directory / "inventory").write_text(SILENT)
    return playbook(directory, f"volcano.colocation.{name}", "-i", "inventory", "-e", json.dumps(options))


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_every_playbook_refuses_it_and_names_the_nearest(tmp_path: Path, name: str) -> None:
    done = run(tmp_path, name, colocation_drian=True, colocation_scheduler=True)
    assert done.status != 0
    assert "Unknown variable colocation_drian: did you mean colocation_drain?" in done.output
    assert "UNREACHABLE" not in done.output


def test_known_variables_and_names_of_others_pass(tmp_path: Path) -> None:
    done = run(tmp_path, "assess", colocation_report_directory="", site_colocation_drian=True)
    assert "Unknown variable" not in done.output
    assert "UNREACHABLE" in done.output


def test_a_task_of_the_users_own_passes_options_and_may_have_variables_of_any_name(tmp_path: Path) -> None:
    task: dict[str, Any] = {"volcano.colocation.node_table": {"nodes": []}}
    play = [{"hosts": "localhost", "gather_facts": False, "vars": {"colocation_mine": 1}, "tasks": [task]}]
    (tmp_path / "own.yml").write_text(json.dumps(play))
    assert playbook(tmp_path, "own.yml").status == 0


def test_all_are_named_at_once_and_one_like_none_has_no_suggestion() -> None:
    with pytest.raises(UnknownVariable) as refused:
        require_known(["colocation_zzz", "colocation_cgroup_drivers", "colocation_drain", "other", 1])
    assert str(refused.value).startswith(
        "Unknown variable colocation_cgroup_drivers: did you mean colocation_cgroup_driver?"
        " Unknown variable colocation_zzz. The node was not read."
    )


def test_the_list_is_that_of_the_argument_specifications() -> None:
    """`make docs` writes it."""
    assert variables.MODULE.read_text(encoding="utf-8") == variables.module()
    assert set(variables.OF_PLAYBOOKS) <= VARIABLES
