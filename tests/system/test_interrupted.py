# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever ends the engine in the middle of its work, the node is put back: by itself, before the playbook ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ansible_collections.volcano.colocation.tests.system.node import Node, Run

TRANSACTIONS = "/var/lib/volcano-colocation/transactions"
UNITS = "systemctl list-units --plain --no-legend --state=active 'volcano-colocation-*.service'"
PATIENCE = 400
"""Seconds; a step of an emulated node takes up to a minute."""

# Some steps take less time than a connection to the node: it watches its journal by itself. Ids sort by time.
AT_STEP = """timeout {patience} sh -c 'until
  id=$(ls {folder} | tail -n 1) && [ "$id" != "{last}" ] && grep -q "\\"step\\": \\"{step}\\"" {folder}/$id/journal.json
do sleep 0.02; done 2>/dev/null; systemctl {command} volcano-colocation-$id.service'"""


def interrupted(node: Node, step: str, command: str) -> Run:
    """A provision whose engine is ended by a command of systemctl once it is at a step."""
    last = node.shell(f"ls {TRANSACTIONS} 2>/dev/null | tail -n 1").strip()
    with ThreadPoolExecutor(max_workers=1) as background:
        running = background.submit(node.ansible, "provision")
        node.shell(AT_STEP.format(patience=PATIENCE, folder=TRANSACTIONS, last=last, step=step, command=command))
        return running.result()


@pytest.mark.parametrize(
    ("step", "command"),
    [
        pytest.param("health gate", "stop --no-block", id="asked to end in the health gate"),
        pytest.param("start kubelet", "kill --signal=KILL", id="killed once kubelet starts"),
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
    assert node.shell(UNITS).strip() == ""
