# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""colocation_explain: the playbook assess explains a code without an inventory and without a node."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.findings_page import explanations
from ansible_collections.volcano.colocation.tests.support.tasks.play_tasks import run, task
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import playbook, started_playbook

CODE = "driver-mismatch"
SILENT = "n1 ansible_host=127.0.0.1 ansible_port=1 ansible_become=false\n"
"""A host that cannot be reached."""


def test_a_code_is_explained_without_an_inventory(tmp_path: Path) -> None:
    done = started_playbook(tmp_path, "volcano.colocation.assess", "-e", f"colocation_explain={CODE}")
    assert done.status == 0, done.output
    assert f"\n{CODE}\n  severity: error\n  verdict: misaligned (" in done.output
    assert "Align both with provision (colocation_cgroup_driver)." in done.output
    assert done.output.count("PLAY [") == 1
    assert "skipp" not in done.output.replace("skipped=0", "")


def test_no_node_is_read_for_it(tmp_path: Path) -> None:
    (tmp_path / "inventory").write_text(SILENT)
    done = playbook(tmp_path, "volcano.colocation.assess", "-i", "inventory", "-e", f"colocation_explain={CODE}")
    assert done.status == 0, done.output
    assert "n1" not in done.output


def test_an_unknown_code_is_refused_with_the_nearest(tmp_path: Path) -> None:
    done = playbook(tmp_path, "volcano.colocation.assess", "-e", "colocation_explain=driver-mismtch")
    assert done.status != 0
    assert "colocation_explain: no finding has the code driver-mismtch; did you mean driver-mismatch?" in done.output


@pytest.mark.parametrize("name", ["provision", "verify", "restore", "qos", "cluster"])
def test_the_other_playbooks_name_the_command(tmp_path: Path, name: str) -> None:
    done = playbook(tmp_path, f"volcano.colocation.{name}", "-e", f"colocation_explain={CODE}")
    assert done.status != 0
    assert f"ansible-playbook volcano.colocation.assess -e colocation_explain={CODE}. Nothing was done." in done.output


def test_the_module_returns_the_explanation_and_names_its_option(tmp_path: Path) -> None:
    results = run(
        tmp_path,
        [task("known", "explain_finding", code=CODE), task("unknown", "explain_finding", code="driver-mismtch")],
    ).results
    assert results["known"]["remedy"] == explanations()[CODE].remedy
    assert results["known"]["page"] == f"docs/findings.md#{CODE}"
    assert results["unknown"]["msg"].startswith("code: no finding has the code driver-mismtch; did you mean")
