# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet 1.37 with containerd 2.4 takes the driver from the CRI, whatever its own file says. In this order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.everything import settle, state
from ansible_collections.volcano.colocation.tests.system.node import Node, throwaway
from ansible_collections.volcano.colocation.tests.system.pods import QOS_CLASSES, qos_classes

NAME = "cri"
SPEC = (
    *("--suite", "trixie", "--cgroup", "v2", "--kubelet", "1.37", "--containerd", "2.4"),
    *("--driver-kubelet", "cgroupfs", "--driver-runtime", "systemd"),
)
CGROUPFS: dict[str, Any] = {"colocation_cgroup_driver": "cgroupfs"}


@pytest.fixture(scope="module", name="cri")
def _cri(request: pytest.FixtureRequest) -> Iterator[Node]:
    yield from throwaway(request, NAME, *SPEC)


@pytest.fixture(scope="module", name="before")
def _before(cri: Node) -> dict[str, str]:
    settle(cri, "systemd")
    return state(cri)


def assessed(node: Node, folder: Path) -> dict[str, Any]:
    """The facts that `assess` writes."""
    run = node.ansible("assess", colocation_report_folder=str(folder))
    assert run.code == 0, run.output
    facts: dict[str, Any] = json.loads((folder / f"{NAME}.json").read_text())
    return facts


def driver(facts: dict[str, Any]) -> tuple[str, str]:
    """The driver in force, and who decides on it."""
    return facts["kubelet"]["cgroup_driver"], facts["kubelet"]["cgroup_driver_authority"]


def runtime_driver(node: Node) -> str:
    """SystemdCgroup of runc, by containerd's own reading of its files."""
    (line,) = {line.strip() for line in node.shell("containerd config dump").splitlines() if "SystemdCgroup" in line}
    return line


def test_the_drivers_source_is_the_cri_and_the_file_is_reported(
    cri: Node, before: dict[str, str], tmp_path: Path
) -> None:
    assert "cgroupDriver: cgroupfs" in cri.shell("cat /var/lib/kubelet/config.yaml")
    assert qos_classes(cri.containers(), "systemd") == QOS_CLASSES
    facts = assessed(cri, tmp_path)
    assert facts["kubelet"]["version"].startswith("1.37.")
    assert facts["runtime"]["version"].startswith("v2.4.")
    assert driver(facts) == ("systemd", "cri")
    assert "driver-setting-ignored" in {finding["code"] for finding in facts["findings"]}
    assert state(cri) == before


def test_kubelet_follows_containerd_to_the_other_driver(cri: Node, tmp_path: Path) -> None:
    predicted = cri.ansible("provision", "--check", **CGROUPFS)
    assert predicted.code == 0, predicted.output
    assert predicted.recap(NAME)["changed"] == 1
    assert runtime_driver(cri) == "SystemdCgroup = true"

    run = cri.ansible("provision", **CGROUPFS)
    assert run.code == 0, run.output[-4000:]
    assert runtime_driver(cri) == "SystemdCgroup = false"
    assert qos_classes(cri.containers(), "cgroupfs") == QOS_CLASSES
    facts = assessed(cri, tmp_path)
    assert driver(facts) == ("cgroupfs", "cri")
    assert "driver-setting-ignored" not in {finding["code"] for finding in facts["findings"]}

    assert cri.ansible("verify", **CGROUPFS).code == 0
    tree, services = cri.tree(), cri.services()
    again = cri.ansible("provision", **CGROUPFS)
    assert again.code == 0, again.output[-4000:]
    assert again.recap(NAME)["changed"] == 0
    assert (cri.tree(), cri.services()) == (tree, services)


def test_restore_brings_both_back(cri: Node, before: dict[str, str]) -> None:
    run = cri.ansible("restore")
    assert run.code == 0, run.output[-4000:]
    settle(cri, "systemd")
    now = state(cri)
    for what, text in before.items():
        assert now[what] == text, what
    assert qos_classes(cri.containers(), "systemd") == QOS_CLASSES
