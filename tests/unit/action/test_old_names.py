# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Old names of modules and options still work; an old variable ends the run with its new name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.action_base import RENAMED
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, FIXTURES
from ansible_collections.volcano.colocation.tests.support.tasks.play_tasks import Run, run, task
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import playbook
from ansible_collections.volcano.colocation.tests.unit.docs.test_names_page import MODULE_NAMES

FACTS: dict[str, Any] = json.loads((FIXTURES / "facts" / f"{ALIGNED}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", name="old")
def _old(tmp_path_factory: pytest.TempPathFactory) -> Run:
    directory = tmp_path_factory.mktemp("old")
    (directory / "image").mkdir()
    return run(
        directory,
        [
            task("variables", MODULE_NAMES["validate_variables"]),
            task("host", MODULE_NAMES["agent_host_info"], paths=["/proc"]),
            task("sysctls", MODULE_NAMES["agent_sysctls"], switches=[], root=str(directory / "image")),
            task("report", "node_report", facts=FACTS, name="n1", folder=str(directory / "reports")),
        ],
    )


def test_an_action_is_found(old: Run) -> None:
    assert not old.results["variables"].get("failed")


def test_a_module_without_an_action_is_found(old: Run) -> None:
    assert old.results["host"]["host"]["paths"] == {"/proc": "directory"}


def test_an_action_takes_the_old_option(old: Run) -> None:
    assert (old.results["sysctls"]["changed"], old.results["sysctls"].get("failed", False)) == (False, False)
    assert Path(old.results["report"]["path"]).name == "n1.json"


def test_an_old_variable_ends_the_run_with_the_new_name(tmp_path: Path) -> None:
    old, new = next(iter(RENAMED.items()))
    options = json.dumps({old: "x"})
    done = playbook(tmp_path, "volcano.colocation.assess", "-i", "n1,", "-e", options, "-e", "ansible_connection=local")
    assert done.status != 0
    assert f"Variable {old} has a new name: {new}." in done.output
