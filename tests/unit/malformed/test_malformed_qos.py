# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Malformed input of cgroup_qos: a message with place and remedy, and an unchanged tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.modules import cgroup_qos
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import ROOT, Tree
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import module
from ansible_collections.volcano.colocation.tests.unit.malformed.case import everything
from ansible_collections.volcano.colocation.tests.unit.malformed.qos_settings import CASES, ENTRY, RECORD, document

STATE_DIRECTORY = "var/lib/volcano-colocation"
LOCK = (STATE_DIRECTORY, f"{STATE_DIRECTORY}/qos.lock")
"""The module creates the directory and the lock before it reads anything."""


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """The module has no option root: without this it would read the host of the tests."""
    tree = Tree(tmp_path / "node", "v2", "systemd")
    monkeypatch.setattr(cgroup_qos, "Host", lambda: Host(str(tree.directory)))
    return tree


def spoil(node: Tree, files: dict[str, str | bytes]) -> None:
    for path, text in files.items():
        target = Path(node.host.path(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_and_the_tree_stays(name: str, node: Tree) -> None:
    case = CASES[name]
    spoil(node, dict(case.files))
    before = {path: attributes for path, attributes in everything(node.directory).items() if path not in LOCK}
    for check in (True, False):
        result = module("cgroup_qos", {"cgroup_root": ROOT, **case.options}, check=check)
        assert result.get("failed"), result
        assert {
            path: attributes for path, attributes in everything(node.directory).items() if path not in LOCK
        } == before
    for words in case.says:
        assert words in result["msg"]
    assert "Traceback" not in json.dumps(result)
    assert "Error:" not in result["msg"]


def test_the_module_writes_the_entry_that_the_cases_damage(node: Tree) -> None:
    options = {"cgroup_root": ROOT, "slice": "system.slice"}
    assert module("cgroup_qos", {**options, "settings": {"cpu_weight": 200}})["changed"]
    assert json.loads(node.host.read(RECORD)) == json.loads(document(ENTRY))
    assert module("cgroup_qos", {**options, "state": "absent"})["changed"]
    assert node.read("system.slice", "cpu.weight") == "100"
