# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.unit.module_utils.qos.trees import Tree


@pytest.fixture(params=["v1-systemd", "v1-cgroupfs", "v2-systemd", "v2-cgroupfs"], name="tree")
def _tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    mode, _dash, driver = request.param.partition("-")
    return Tree(tmp_path, mode, driver)


@pytest.fixture(name="v2")
def _v2(tmp_path: Path) -> Tree:
    return Tree(tmp_path, "v2", "systemd")
