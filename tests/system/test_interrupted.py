# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever ends the engine in the middle of its work, the node is put back: by itself, before the playbook ends."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ansible_collections.volcano.colocation.tests.system.node import Node, Run

JOURNAL = "/var/lib/volcano-colocation/transactions/{}/journal.json"
UNIT = "systemctl list-units --plain --no-legend --state=active 'volcano-colocation-*.service' | cut -d' ' -f1"
PATIENCE = 400
"""Seconds; a step of an emulated node takes up to a minute."""


def reach(node: Node, step: str) -> str:
    """The unit of the transaction at work, once it is at this step."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        unit = node.shell(UNIT).strip()
        journal = JOURNAL.format(unit[len("volcano-colocation-") : -len(".service")])
        if unit and node.shell(f'grep \'"step": "{step}"\' {journal} 2>/dev/null || true'):
            return unit
        time.sleep(1)
    raise AssertionError(f"no transaction came to the step {step!r}")


def interrupted(node: Node, step: str, command: str) -> Run:
    """A provision of which the engine is ended at a step by a command on the node."""
    with ThreadPoolExecutor(max_workers=1) as background:
        running = background.submit(node.ansible, "provision")
        node.shell(command.format(unit=reach(node, step)))
        return running.result()


@pytest.mark.parametrize(
    ("step", "command"),
    [
        pytest.param("health gate", "systemctl stop --no-block {unit}", id="asked to end in the health gate"),
        pytest.param("start kubelet", "systemctl kill --signal=KILL {unit}", id="killed while kubelet starts"),
    ],
)
def test_the_node_is_as_it_was(node: Node, step: str, command: str) -> None:
    before, pods = node.tree(), node.shell("ctr -n k8s.io containers ls -q | wc -l")
    checkpoint = node.shell("cat /var/lib/kubelet/cpu_manager_state")
    run = interrupted(node, step, command)
    assert run.code != 0
    assert "The node was put back as it was" in run.output, run.output[-4000:]
    assert node.tree() == before
    assert node.shell("cat /var/lib/kubelet/cpu_manager_state") == checkpoint
    assert node.shell("systemctl is-active kubelet containerd").split() == ["active", "active"]
    assert node.shell("ctr -n k8s.io containers ls -q | wc -l") == pods
    assert node.shell(UNIT).strip() == ""
