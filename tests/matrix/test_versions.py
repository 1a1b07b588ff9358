# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Provision, verify and restore with older and newer kubelets and containerds; check mode predicts the changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.everything import MANAGED
from ansible_collections.volcano.colocation.tests.system.node import Node, throwaway
from ansible_collections.volcano.colocation.tests.system.pods import QOS_CLASSES, qos_classes

OTHER = {"systemd": "cgroupfs", "cgroupfs": "systemd"}


@dataclass(frozen=True)
class Versions:
    """``kubelet`` and ``containerd`` as the lab names them; ``driver``: the desired cgroup driver."""

    kubelet: str
    containerd: str
    suite: str
    cgroup: str
    driver: str

    @property
    def name(self) -> str:
        """The name of the test and of its node."""
        return f"{self.cgroup}-kubelet-{self.kubelet}-containerd-{self.containerd or self.suite}".replace(".", "-")

    @property
    def options(self) -> tuple[str, ...]:
        """Options of the lab's command line."""
        chosen = ("--containerd", self.containerd) if self.containerd else ()
        drivers = ("--driver-kubelet", OTHER[self.driver], "--driver-runtime", OTHER[self.driver])
        return ("--suite", self.suite, "--cgroup", self.cgroup, "--kubelet", self.kubelet, *chosen, *drivers)

    @property
    def profile(self) -> dict[str, Any]:
        """Variables in addition to the profile of the system tests; containerd 1.6 does not have NRI."""
        unsupported = {"colocation_nri_unsupported": "skip"} if self.suite == "bookworm" else {}
        return {"colocation_cgroup_driver": self.driver, **unsupported}


VERSIONS = (
    Versions("1.34", "1.7", "trixie", "v2", "systemd"),
    Versions("1.34", "2.2", "trixie", "v1", "cgroupfs"),
    Versions("1.36", "2.2", "trixie", "v2", "cgroupfs"),
    Versions("1.37", "2.4", "trixie", "v1", "systemd"),
    Versions("debian", "", "bookworm", "v1", "systemd"),
)


@pytest.fixture(scope="module", name="versions", params=VERSIONS, ids=lambda versions: versions.name)
def _versions(request: pytest.FixtureRequest) -> Versions:
    versions: Versions = request.param
    return versions


@pytest.fixture(scope="module", name="node")
def _node(request: pytest.FixtureRequest, versions: Versions) -> Iterator[Node]:
    yield from throwaway(request, versions.name, *versions.options)


def test_provision_applies_the_predicted_changes_and_restore_reverts_them(node: Node, versions: Versions) -> None:
    before = node.tree()
    assert qos_classes(node.containers(), OTHER[versions.driver]) == QOS_CLASSES
    predicted = node.ansible("provision", "--check", **versions.profile)
    assert predicted.code == 0, predicted.output[-4000:]
    assert predicted.recap(node.name)["changed"] == 1
    assert node.tree() == before

    done = node.ansible("provision", **versions.profile)
    assert done.code == 0, done.output[-4000:]
    assert qos_classes(node.containers(), versions.driver) == QOS_CLASSES
    assert node.ansible("verify", **versions.profile).code == 0
    again = node.ansible("provision", **versions.profile)
    assert again.code == 0, again.output[-4000:]
    assert again.recap(node.name)["changed"] == 0

    restored = node.ansible("restore")
    assert restored.code == 0, restored.output[-4000:]
    assert node.tree() == before
    assert qos_classes(node.containers(), OTHER[versions.driver]) == QOS_CLASSES
    assert node.shell(MANAGED).strip() == ""
