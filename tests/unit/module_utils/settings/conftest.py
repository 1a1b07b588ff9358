# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import Tree


@pytest.fixture(params=["v1-systemd", "v1-cgroupfs", "v2-systemd", "v2-cgroupfs"], name="tree")
def _tree(request: pytest.FixtureRequest, memory: Path) -> Tree:
    mode, _dash, driver = request.param.partition("-")
    return Tree(memory, mode, driver)


@pytest.fixture(name="v2")
def _v2(memory: Path) -> Tree:
    return Tree(memory, "v2", "systemd")
