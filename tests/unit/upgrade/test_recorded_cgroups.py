# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cgroup settings that an older version made and recorded: read, changed and restored by this version."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock
from ansible_collections.volcano.colocation.plugins.module_utils.restore import recorded_settings
from ansible_collections.volcano.colocation.plugins.module_utils.settings import record
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import Tree
from ansible_collections.volcano.colocation.tests.support.recorded_states import STATES, recording, unpack

KINDS = [(state, kind) for state in STATES for kind in recording(state, "qos")]
SETTINGS = {"pids_max": 500, "cpu_quota": "1.5"}


@pytest.fixture(params=KINDS, ids=lambda kind: kind[1], name="kind")
def _kind(request: pytest.FixtureRequest) -> tuple[str, str]:
    parameter: tuple[str, str] = request.param
    return parameter


@pytest.fixture(name="tree")
def _tree(kind: tuple[str, str], root: Path) -> Tree:
    """A tree of the helper, replaced by the recorded one."""
    mode, _dash, driver = kind[1].partition("-")
    tree = Tree(root.with_name("made"), mode, driver)
    tree.directory.rename(root.with_name("unused"))
    unpack(recording(kind[0], "qos")[kind[1]]["tree"], tree.directory)
    return tree


def test_the_record_is_read_and_nothing_differs(tree: Tree) -> None:
    assert len(record.load(tree.host)) == 4
    assert not tree.run(qos_class="besteffort", settings=SETTINGS)["changed"]
    assert not tree.run(slice="system.slice", settings={"cpu_weight": 300})["changed"]


def test_every_file_is_restored(kind: tuple[str, str], tree: Tree) -> None:
    result = recorded_settings.restore_result(recorded_settings.restore_settings(tree.host, Clock()))
    assert result["changed"]
    assert tree.texts() == recording(kind[0], "qos")[kind[1]]["before"]


def test_a_changed_setting_is_restored_to_the_original(kind: tuple[str, str], tree: Tree) -> None:
    assert tree.run(qos_class="besteffort", settings={"pids_max": 400, "cpu_quota": "0.5"})["changed"]
    recorded_settings.restore_settings(tree.host, Clock())
    assert tree.texts() == recording(kind[0], "qos")[kind[1]]["before"]
