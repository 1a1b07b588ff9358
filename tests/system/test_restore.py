# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""After provision and restore files, units, cgroups and pods are as before, without traces. In this order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.everything import MANAGED, await_kubelet, cgroups, state
from ansible_collections.volcano.colocation.tests.system.node import SPEC, Node, throwaway

QOS: dict[str, Any] = {"colocation_qos": {"be": {"cpu_quota": "60%", "memory_high": "80%"}}}
KUBELET = "/var/lib/kubelet/config.yaml"


@pytest.fixture(scope="module", name="node")
def _node(request: pytest.FixtureRequest) -> Iterator[Node]:
    """A new node: the collection has not been on it."""
    yield from throwaway(request, "restore", *SPEC)


@pytest.fixture(scope="module", name="before")
def _before(node: Node) -> dict[str, str]:
    await_kubelet(node, "systemd")
    return state(node)


def test_a_node_without_a_ledger_is_not_touched(node: Node, before: dict[str, str]) -> None:
    run = node.ansible("restore")
    assert run.code == 0
    assert run.recap(node.name)["changed"] == 0
    assert state(node) == before


def test_a_change_of_another_user_is_refused_and_stays(node: Node) -> None:
    run = node.ansible("provision", **QOS)
    assert run.code == 0, run.output[-4000:]
    node.shell(f"cp -p {KUBELET} /root/committed; echo 'maxPods: 50' >> {KUBELET}")
    present = node.tree()
    run = node.ansible("restore", "--diff")
    assert run.code != 0
    assert "it was changed by someone else since transaction" in run.output
    assert "+maxPods: 50" in run.output
    assert node.tree() == present
    node.shell(f"cat /root/committed > {KUBELET}")


def test_check_mode_reports_the_restore_and_changes_nothing(node: Node) -> None:
    present, services = node.tree(), node.services()
    run = node.ansible("restore", "--check", "--diff")
    assert run.code == 0, run.output[-4000:]
    assert run.recap(node.name)["changed"] == 1
    assert f"kubelet: {KUBELET}: restore" in run.output
    assert (node.tree(), node.services()) == (present, services)


def test_settings_alone_go_back_alone(node: Node, before: dict[str, str]) -> None:
    services = node.services()
    run = node.ansible("restore", colocation_restore_sections=["qos"])
    assert run.code == 0, run.output[-4000:]
    assert node.services() == services
    assert "cpu.max max" in cgroups(node)
    assert "volcano-colocation-qos" not in node.shell("ls -R /etc/systemd/system")
    assert state(node)["files"] != before["files"]


def test_everything_is_as_it_was(node: Node, before: dict[str, str]) -> None:
    run = node.ansible("restore", "--diff")
    assert run.code == 0, run.output[-4000:]
    await_kubelet(node, "systemd")
    now = state(node)
    for what, text in before.items():
        assert now[what] == text, what
    assert node.shell(MANAGED).strip() == ""
    assert node.shell("systemctl is-active kubelet containerd").split() == ["active", "active"]


def test_a_second_restore_changes_nothing(node: Node) -> None:
    services = node.services()
    run = node.ansible("restore")
    assert run.code == 0
    assert run.recap(node.name)["changed"] == 0
    assert node.services() == services
