# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A playbook that reads no node fails: no host matches, or tags skip its tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import Done, playbook

WITHOUT_NODES = {"bundle_build"}
PLAYBOOKS = sorted({path.stem for path in (Path(__file__).parents[3] / "playbooks").glob("*.yml")} - WITHOUT_NODES)
READING = ("assess", "provision", "restore", "verify")
INVENTORY = "[rack7]\nn1 ansible_host=127.0.0.1 ansible_port=1 ansible_become=false\n[rack8]\nn2\n"


def run(directory: Path, name: str, *arguments: str, inventory: str = INVENTORY, **options: object) -> Done:
    (directory / "inventory").write_text(inventory)
    words = ("-i", "inventory", "-e", json.dumps(options), *arguments)
    return playbook(directory, f"volcano.colocation.{name}", *words)


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_a_pattern_that_matches_no_host_fails(tmp_path: Path, name: str) -> None:
    done = run(tmp_path, name, colocation_nodes="rack9")
    assert done.status != 0
    assert "No host of the inventory matches 'rack9'. Nothing was done." in done.output


@pytest.mark.parametrize("inventory", ["", "[empty]\n"])
def test_an_empty_inventory_fails(tmp_path: Path, inventory: str) -> None:
    done = run(tmp_path, "verify", inventory=inventory)
    assert done.status != 0
    assert "No host of the inventory matches 'all'. Nothing was done." in done.output


def test_a_pattern_outside_the_limit_fails(tmp_path: Path) -> None:
    done = run(tmp_path, "verify", "--limit", "rack7", colocation_nodes="rack8")
    assert done.status != 0
    assert "No host of the inventory matches 'rack8' within --limit" in done.output


@pytest.mark.parametrize("nodes", ["rack7", ["rack7"], "rack*:!rack8", "all"])
def test_hosts_that_match_are_read(tmp_path: Path, nodes: object) -> None:
    done = run(tmp_path, "verify", "--limit", "rack7", colocation_nodes=nodes)
    assert "UNREACHABLE" in done.output
    assert "No host" not in done.output


@pytest.mark.parametrize("name", READING)
@pytest.mark.parametrize("tags", [("--tags", "kubelet"), ("--skip-tags", "all")], ids=["tags", "skip-tags"])
def test_tags_that_skip_the_tasks_fail(tmp_path: Path, name: str, tags: tuple[str, str]) -> None:
    done = run(tmp_path, name, *tags, colocation_nodes="rack7")
    assert done.status != 0, done.output
    assert "No node was read: --tags or --skip-tags skipped the tasks." in done.output
