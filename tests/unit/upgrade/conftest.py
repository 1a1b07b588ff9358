# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.recorded_states import STATES


@pytest.fixture(params=STATES, name="state")
def _state(request: pytest.FixtureRequest) -> str:
    """One of the recorded versions."""
    return str(request.param)


@pytest.fixture(name="root")
def _root() -> Iterator[Path]:
    """A directory in memory if possible, because the engine syncs often."""
    directory = Path(tempfile.mkdtemp(prefix="upgrade-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    yield directory / "node"
    shutil.rmtree(directory)
