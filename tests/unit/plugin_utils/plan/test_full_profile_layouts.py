# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A profile of every field in each layout: afterwards the profile is effective, and a second plan is empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Impact, Plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.desired_state import resolve_profile
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.kubelet_impact import moved_checkpoints
from ansible_collections.volcano.colocation.tests.support.hosts.host_layouts import Node, profile
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.plan.test_full_profile import FULL

HOSTS = (
    "kubeadm",
    "kubespray",
    "kubeadm-1.30-config-dir",
    "kubeadm-overriding-flags",
    "k3s-1.32-drop-ins",
    "rke2-1.32-drop-ins",
)
NUMA = {
    "/sys/devices/system/node/node0/cpulist": "0\n",
    "/sys/devices/system/node/node1/cpulist": "1\n",
}
# RKE2 sets this port with a separate flag, which is refused elsewhere.
DESIRED = {option: value for option, value in FULL.items() if option != "read_only_port"}
IN_FORCE: dict[str, Any] = {
    "cgroupRoot": "/pods",
    "cpuManagerPolicyOptions": {"full-pcpus-only": "true", "distribute-cpus-across-numa": "false"},
    "topologyManagerScope": "pod",
    "systemReservedCgroup": "/system.slice",
    "enforceNodeAllocatable": ["pods", "system-reserved-compressible", "kube-reserved"],
    "memoryThrottlingFactor": 1.0,
    "failCgroupV1": False,
    "singleProcessOOMKill": True,
    "podPidsLimit": 4096,
}


def written(node: Node, options: dict[str, Any]) -> list[tuple[str | None, str]]:
    """(file, setting) of all that a plan writes; the host then has the new files."""
    snapshot = node.snapshot
    facts = interpret(snapshot)
    result = PlanDraft(facts, resolve_profile(facts, profile(options))).kubelet_changes
    node.changed(files={edit.path: edit.after for edit in file_edits(snapshot, result)})
    return [(change.path, change.setting) for change in result if change.path]


@pytest.mark.parametrize("host", HOSTS)
def test_the_profile_is_effective_afterwards(host: str, tmp_path: Path) -> None:
    node = Node(tmp_path, host, files=NUMA)
    assert written(node, DESIRED)
    settings = node.facts.kubelet.settings
    assert {key: settings[key].value for key in IN_FORCE} == IN_FORCE
    memory = settings["reservedMemory"].value
    assert [entry["numaNode"] for entry in memory] == [0, 1]
    assert written(node, DESIRED) == []


RESERVED = "--system-reserved=cpu=500m,memory=1Gi"
STATE = '{"policyName":"static","defaultCpuSet":"0-1","entries":{},"checksum":0}'


@pytest.mark.parametrize(("amount", "moved"), [("600m", True), ("500m", False)])
def test_a_reservation_by_flag_affects_the_checkpoint(amount: str, moved: bool, tmp_path: Path) -> None:
    """The file has the desired amount already; removing the flag changes the reserved set."""
    environment = "/var/lib/kubelet/kubeadm-flags.env"
    node = Node(tmp_path, "kubeadm-overriding-flags")
    line = f'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/containerd/containerd.sock {RESERVED}"\n'
    main = node.file("/var/lib/kubelet/config.yaml").replace("cpuManagerPolicy: none\n", "")
    assert "cpuManagerPolicy" not in main
    assert "systemReserved" not in main
    reserved = f"cpuManagerPolicy: static\nsystemReserved:\n  cpu: {amount}\n  memory: 1Gi\n"
    node.changed(
        files={
            environment: line,
            "/etc/default/kubelet": "KUBELET_EXTRA_ARGS=\n",
            "/var/lib/kubelet/config.yaml": main + reserved,
            "/var/lib/kubelet/cpu_manager_state": STATE,
        }
    )
    running = node.snapshot["kubelet"]["processes"][0]["argv"]
    argv = [*(word for word in running if word not in ("--cpu-manager-policy", "none")), RESERVED]
    facts = interpret_with(node, argv)
    options = {"system_reserved": {"cpu": amount, "memory": "1Gi"}}
    result = PlanDraft(facts, profile(options)).kubelet_changes
    flags = [change for change in result if change.target == "kubelet flag"]
    assert [change.path for change in flags] == [environment]
    assert (Impact.DRAIN in flags[0].needs) is moved
    if moved:
        assert moved_checkpoints(facts, Plan(changes=result), profile(options)) == [
            "/var/lib/kubelet/cpu_manager_state"
        ]


def interpret_with(node: Node, argv: list[str]) -> Any:
    snapshot = node.snapshot
    snapshot["kubelet"]["processes"][0]["argv"] = argv
    return interpret(snapshot)
