# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Iterator

import pytest

from ansible_collections.volcano.colocation.tests.unit.module_utils.qos.trees import Tree


@pytest.fixture(name="memory")
def _memory() -> Iterator[Path]:
    """A folder in memory where possible: the record and the engine are synced a lot."""
    folder = Path(tempfile.mkdtemp(prefix="qos-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    yield folder
    shutil.rmtree(str(folder))


@pytest.fixture(params=["v1-systemd", "v1-cgroupfs", "v2-systemd", "v2-cgroupfs"], name="tree")
def _tree(request: pytest.FixtureRequest, memory: Path) -> Tree:
    mode, _dash, driver = request.param.partition("-")
    return Tree(memory, mode, driver)


@pytest.fixture(name="v2")
def _v2(memory: Path) -> Tree:
    return Tree(memory, "v2", "systemd")
