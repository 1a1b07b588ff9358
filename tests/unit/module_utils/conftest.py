# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.node.interrupted_nodes import Bench
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    Healthz,
    Simulation,
    document,
    misaligned,
)
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import (
    Crash,
    break_step,
    crash,
    run_transaction,
)


@pytest.fixture
def root() -> Iterator[Path]:
    """A short path, because a socket's may have 107 bytes only; in memory where possible: the engine syncs a lot."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    directory = Path(tempfile.mkdtemp(prefix="node-", dir=memory))
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(name="memory")
def _memory() -> Iterator[Path]:
    """A directory in memory where possible: the record and the engine are synced a lot."""
    directory = Path(tempfile.mkdtemp(prefix="qos-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    yield directory
    shutil.rmtree(str(directory))


@pytest.fixture
def bench(root: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(root, monkeypatch)


@pytest.fixture
def simulation(root: Path) -> Iterator[Simulation]:
    simulated = Simulation(root)
    healthz = Healthz(simulated)
    simulated.healthz_url = healthz.url
    misaligned(simulated)
    yield simulated
    healthz.close()
    if simulated.server is not None:
        simulated.server.close()


@pytest.fixture
def cut_off(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> Simulation:
    """A node whose engine was killed after it had written the files."""
    with monkeypatch.context() as patched:
        break_step(patched, "write files", crash)
        with pytest.raises(Crash):
            run_transaction(simulation, document(simulation))
    return simulation
