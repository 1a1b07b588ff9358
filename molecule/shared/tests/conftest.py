# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenario's records of its node, one for each moment."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

CPU_STATE = "/var/lib/kubelet/cpu_manager_state"
MOMENTS = ("aligned", "disturbed", "rebooted")


def load(name: str) -> Any:
    """Read a file that the scenario wrote."""
    return json.loads((Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / f"{name}.json").read_text())


@pytest.fixture(name="evidence", params=MOMENTS, scope="session")
def _evidence(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Output of molecule/shared/record/record.py, with the node's name and the requested driver."""
    evidence: dict[str, Any] = load(f"evidence-{request.param}")
    return evidence


@pytest.fixture(name="driver")
def _driver(evidence: dict[str, Any]) -> str:
    return str(evidence["driver"])


@pytest.fixture(name="version")
def _version(evidence: dict[str, Any]) -> str:
    """The cgroup version, from the scenario's name."""
    return str(evidence["node"])[:2]


@pytest.fixture(name="done", scope="session")
def _done(evidence: dict[str, Any]) -> dict[str, Any]:
    """The plan and the diff of the run that changed the node."""
    done: dict[str, Any] = load(f"done-{evidence['node']}")
    return done


@pytest.fixture(name="predicted", scope="session")
def _predicted(evidence: dict[str, Any]) -> dict[str, Any]:
    """The same of the run in check mode before it."""
    predicted: dict[str, Any] = load(f"predicted-{evidence['node']}")
    return predicted


@pytest.fixture(name="aligned", scope="session")
def _aligned() -> dict[str, Any]:
    """The first of the records."""
    evidence: dict[str, Any] = load(f"evidence-{MOMENTS[0]}")
    return evidence


@pytest.fixture(name="huge_pages", scope="session")
def _huge_pages() -> dict[str, Any]:
    """The record of molecule/shared/huge_pages.yml; empty if it does nothing."""
    try:
        record: dict[str, Any] = load("huge-pages")
    except FileNotFoundError:
        return {}
    return record


@pytest.fixture(name="facts", scope="session")
def _facts(evidence: dict[str, Any]) -> dict[str, Any]:
    """The facts of the aligned node, as the last run of provision reported them."""
    facts: dict[str, Any] = load(f"reports/{evidence['node']}")
    return facts


@pytest.fixture(name="exclusive")
def _exclusive(evidence: dict[str, Any]) -> str:
    """The CPUs that the checkpoint of kubelet's CPU manager gives to the one container with whole CPUs."""
    entries = json.loads(evidence["texts"][CPU_STATE])["entries"]
    (cpus,) = [cpus for containers in entries.values() for cpus in containers.values()]
    return str(cpus)


@pytest.fixture(name="pinned")
def _pinned(evidence: dict[str, Any], exclusive: str) -> list[str]:
    """The cgroups of containers that have exactly these CPUs in the kernel."""
    values = evidence["cpusets"]
    paths = [path for path, cpus in values.items() if re.search(r"[0-9a-f]{64}", path) and cpus == exclusive]
    assert paths, values
    return paths
